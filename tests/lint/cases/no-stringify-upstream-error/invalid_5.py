# message: the text of the caught Exception
from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.shared.exceptions import McpError
from mcp.types import ErrorData

mcp = FastMCP("x")

@mcp.tool()
def fetch(a: str) -> str:
    try:
        return open(a).read()
    except Exception as e:
        raise ToolError(f"Failed: {e!s}") from e  # here

@mcp.resource("x://y")
def read() -> str:
    try:
        return open("y").read()
    except Exception as e:
        raise McpError(ErrorData(code=-32603, message=f"Failed: {e}")) from e  # here
