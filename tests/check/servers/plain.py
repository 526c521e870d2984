"""A server of the SDK without contracts."""

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("plain", version="1.0")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def divide(dividend: int, divisor: int = 0) -> float:
    """Divide."""
    return dividend / divisor


@server.tool()
def write(text: str) -> str:
    """Write."""
    return text


if __name__ == "__main__":
    server.run()
