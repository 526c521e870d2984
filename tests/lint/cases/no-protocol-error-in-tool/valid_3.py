# settings: {"select": null}
from mcp.server.fastmcp import FastMCP
from mcp import McpError
from mcp.types import ErrorData, INVALID_PARAMS

mcp = FastMCP("x")

@mcp.tool()
def fetch(a: str) -> str:
    raise McpError(ErrorData(code=INVALID_PARAMS, message="no such article"))
