from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError

mcp = FastMCP("x")

@mcp.tool()
async def fetch(a: str) -> str:
    try:
        return await load(a)
    except* ValueError as error:
        try:
            return ""
        except KeyError as inner_error:
            raise ToolError from inner_error
        raise ToolError("x") from error
