from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool()
def read(keys: list[str]) -> str:
    """Read the first table that there is."""
    table = None
    for key in keys:
        if key:
            try:
                table = load(key)
                break
            except Exception:
                pass
    if table is None:
        return "There is no table."
    return table.text
