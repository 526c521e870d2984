# message: fetch raises ValueError, whose text SDK 1 sends, without a next step for the agent
from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError

mcp = FastMCP("x")

def partly(func):
    def wrapper(*args, **kwargs):
        try:
            return func(*args, **kwargs)
        except KeyError as e:
            raise ToolError("no such key") from e
        except TypeError:
            raise
    return wrapper

@mcp.tool()
@partly
def fetch(pmid: str) -> str:
    if not pmid:
        raise ValueError("pmid is empty")  # here
    raise TypeError("pmid is a number")  # here
