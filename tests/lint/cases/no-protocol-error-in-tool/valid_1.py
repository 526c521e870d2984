from mcp import MCPError
from mcpcore import resource, tool

@resource("x://{name}")
def read(name: str) -> str:
    raise MCPError(code=-32602, message="no")

@tool
def fetch() -> str:
    try:
        raise MCPError(code=-32602, message="no")
    except MCPError:
        return "caught"
