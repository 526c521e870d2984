# settings: {"select": null}
from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError

mcp = FastMCP("x")

@mcp.tool()
def fetch(a: str) -> str:
    'Fetch an article.'
    try:
        return open(a).read()
    except Exception as e:
        raise ToolError(f"Failed to fetch {a}: {e}") from e
