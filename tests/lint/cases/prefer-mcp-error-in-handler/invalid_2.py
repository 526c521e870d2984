# message: fetch raises ValueError, whose text SDK 2 hides
from contextlib import contextmanager
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

app = MCPServer("x")

@contextmanager
def partly():
    try:
        yield
    except KeyError as e:
        raise ToolError(str(e)) from e
    except TypeError:
        raise

@app.tool()
def fetch(pmid: str) -> str:
    'Fetch an article.'
    with partly():
        if not pmid:
            raise ValueError("pmid is empty")  # here
        if pmid == "1":
            raise TypeError("pmid is a number")  # here
