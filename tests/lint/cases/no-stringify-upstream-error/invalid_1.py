# message: the client reads a traceback in the message of ToolError
# settings: {"select": null}
import traceback
from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError

mcp = FastMCP("x")

@mcp.tool()
def fetch(a: str) -> str:
    'Fetch an article.'
    try:
        return open(a).read()
    except Exception as e:
        raise ToolError(f"Failed: {traceback.format_exc()}") from e  # here
