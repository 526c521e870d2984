from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool()
def read(keys: list[str]) -> str:
    """Read the first table that there is."""
    table = None
    for key in keys:
        try:
            table = load(key)
            break
        except Exception:  # here
            pass
    return str(table)

@mcp.tool()
def fetch(mirrors: list[str]) -> str | None:
    """Fetch from the first mirror that answers."""
    for mirror in mirrors:
        try:
            return load(mirror)
        except Exception:  # here
            continue
    return None
