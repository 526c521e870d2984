# message: fetch raises MCPError, which becomes a JSON-RPC error
from mcp import MCPError
from mcp.server.mcpserver import MCPServer
from mcp.types import ErrorData

try:
    from mcp.shared.exceptions import McpError
except ImportError:
    McpError = MCPError
app = MCPServer("x")

@app.tool()
def fetch(a: str) -> str:
    if a == "1":
        raise MCPError.from_error_data(ErrorData(code=1, message="x"))  # here
    if a == "2":
        raise MCPError.from_error_data(ErrorData(code=-32042, message="x"))
    raise MCPError(code=1, message="x")  # here
