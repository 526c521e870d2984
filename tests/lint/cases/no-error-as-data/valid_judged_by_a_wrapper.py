from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("x")


class Find:
    """Find a book."""

    async def execute(self, title: str) -> dict:
        """Find it."""
        return {"error": f"no {title}"}


def wrapped(cls):
    async def run(**kwargs):
        tool = cls()
        result = await tool.execute(**kwargs)
        if "error" in result:
            raise ToolError(result["error"])
        return result

    return run


mcp.tool(name="find", description="Find a book.")(wrapped(Find))
