# message: fetch raises McpError, whose text SDK 1 sends without its code and data
from mcp.server.fastmcp import FastMCP
from mcp.shared.exceptions import McpError as Err
from mcp.types import ErrorData, INVALID_PARAMS

server = FastMCP("x")

@server.tool()
async def fetch(a: str) -> str:
    raise Err(ErrorData(code=INVALID_PARAMS, message="no"))  # here
