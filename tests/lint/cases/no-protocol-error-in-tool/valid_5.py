from mcp.server.lowlevel import Server
from mcp import McpError
from mcp.types import ErrorData, INVALID_PARAMS

server = Server("x")

@server.call_tool()
async def call(name, arguments):
    raise McpError(ErrorData(code=INVALID_PARAMS, message=f"Unknown tool: {name}"))
