from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError

mcp = FastMCP("x")

@mcp.tool()
def fetch(pmid: str) -> str:
    raise ToolError("no such article: call search first")
