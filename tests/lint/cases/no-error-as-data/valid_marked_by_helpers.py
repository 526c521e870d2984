import json

from mcp.server.fastmcp import FastMCP
from mcp.types import CallToolResult, TextContent

mcp = FastMCP("x")

def refused(payload: dict) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=json.dumps(payload))], isError=True)

def explained(error: Exception, hint: str):
    text = f"{error}: {hint}"
    return CallToolResult(content=[TextContent(type="text", text=text)], isError=True)

def kind_of(error: Exception) -> str:
    return "offline" if isinstance(error, ConnectionError) else "busy"

def rows(error: Exception):
    yield str(error)

@mcp.tool()
def count(shelf: str) -> CallToolResult:
    """Count the books of a shelf."""
    try:
        return read(shelf)
    except ConnectionError as error:
        return refused({"error": str(error)})
    except OSError as error:
        return explained(error, "ask again")

@mcp.tool()
def state(shelf: str) -> str:
    """Say whether a shelf can be read."""
    try:
        return read(shelf)
    except ConnectionError as error:
        return kind_of(error)
    except OSError as error:
        return rows(error)
