from mcp.shared.exceptions import McpError, UrlElicitationRequiredError
from mcp.types import ErrorData, URL_ELICITATION_REQUIRED
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool()
def fetch(a: str) -> str:
    if a:
        raise UrlElicitationRequiredError([])
    if a == "1":
        raise McpError(ErrorData(code=URL_ELICITATION_REQUIRED, message="open"))
    raise McpError(ErrorData(code=-32042, message="open"))
