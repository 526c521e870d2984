from pathlib import Path

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool()
def state(name: str) -> dict:
    """State."""

    def exists(path: str) -> bool:
        try:
            return bool(path and Path(path).exists())
        except Exception:
            return False

    return {"name": name, "exists": exists(name)}
