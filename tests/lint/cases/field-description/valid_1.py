from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def edit(action: str, where: dict | None = None) -> str:
    """Edit it.

    Actions:
      plan -> what would be done
      make -> what was done
    """
