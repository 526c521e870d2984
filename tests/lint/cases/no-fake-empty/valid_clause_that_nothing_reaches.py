from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

def read(key: str) -> list[str]:
    try:
        return open(key).readlines()
    except Exception:
        return ["unread"]

@mcp.tool()
def fetch(key: str) -> list[str]:
    """Fetch."""
    try:
        rows = read(key)
    except Exception:
        rows = []
    return rows
