# message: _rows() returns an empty list after any exception, and the client gets that, so that a failure looks like
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

def _rows():
    try:
        return load()
    except:
        return []  # here

@mcp.resource("data://rows")
def rows() -> list[str]:
    """Rows."""
    return _rows()
