import functools
from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.shared.exceptions import McpError
from mcp.types import INVALID_PARAMS, ErrorData

mcp = FastMCP("x")

def coded(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        try:
            return func(*args, **kwargs)
        except ValueError as e:
            raise McpError(ErrorData(code=INVALID_PARAMS, message=str(e))) from e
        except (LookupError, OSError) as e:
            raise ToolError("it is not there") from e
    return wrapper

@mcp.tool()
@coded
def fetch(pmid: str) -> str:
    if not pmid:
        raise ValueError("pmid is empty")
    raise KeyError(pmid)

def made(func):
    def as_error(e):
        if isinstance(e, McpError):
            return e
        return McpError(ErrorData(code=INVALID_PARAMS, message=str(e)))

    async def wrapper(*args, **kwargs):
        try:
            return await func(*args, **kwargs)
        except Exception as e:
            raise as_error(e) from e
    return wrapper

@mcp.tool()
@made
async def find(pmid: str) -> str:
    raise ValueError("pmid is empty")
