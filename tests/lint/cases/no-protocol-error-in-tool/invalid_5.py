# message: MCPError
from mcp import MCPError
from mcpcore import tool

@tool
def fetch(a: str) -> str:
    def inner() -> None:
        raise MCPError(code=-32603, message="no")  # here

    inner()
    return a
