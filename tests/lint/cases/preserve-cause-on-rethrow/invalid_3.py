# message: without `from`
from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError

mcp = FastMCP("x")

@mcp.tool()
async def fetch(a: str) -> str:
    try:
        return await load(a)
    except* ValueError:
        try:
            return ""
        except KeyError:
            raise ToolError  # here
        raise ToolError("x")  # here
