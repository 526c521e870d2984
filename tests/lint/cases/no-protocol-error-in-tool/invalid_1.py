# message: fetch raises MCPError
import mcp
from mcp.shared.exceptions import MCPError as Err
from mcp.types import INVALID_PARAMS
from mcp.server.mcpserver import MCPServer

server = MCPServer("x")

class Mine(Err): ...

@server.tool()
async def fetch(a: str) -> str:
    if a == "1":
        raise Err(code=INVALID_PARAMS, message="no")  # here
    if a == "2":
        raise mcp.MCPError(code=-32602, message="no")  # here
    error = Mine(code=1, message=a)  # here
    raise error
