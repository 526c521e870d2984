from typing import Annotated

McpServer = lookalike()
mcp = McpServer("a framework that reads plain strings")

@mcp.tool
def close(database: Annotated[str, "Of which session."]) -> str:
    """Close it."""

@mcp.tool
def edit(action: str, where: dict | None = None) -> str:
    """Edit it.

    Actions:
      plan -> what would be done
      make -> what was done
    """
