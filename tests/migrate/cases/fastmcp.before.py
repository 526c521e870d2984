"""A FastMCP server stays one."""

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("notes")


@mcp.tool
async def read(name: str, ctx: Context) -> str:
    """Read a note."""
    await ctx.info(name)
    raise ToolError(f"There is no note {name}")


@mcp.tool(tags={"notes"})
def write(name: str, text: str) -> str:
    """Write a note."""
    if not text:
        return "Error: the text is empty"
    return "written"
