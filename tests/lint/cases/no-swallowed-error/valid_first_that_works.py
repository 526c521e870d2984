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

@mcp.tool()
def fetch(mirrors: list[str]) -> str:
    """Fetch from the first mirror that answers."""
    for mirror in mirrors:
        try:
            return load(mirror)
        except Exception:
            continue
    return "No mirror answered."

@mcp.tool()
def signature(symbol: str) -> dict:
    """Look a symbol up."""
    for split in range(3):
        try:
            module = load(symbol[:split])
        except Exception:
            continue
        return {"text": module.text}
    return {"text": "There is no such symbol."}

@mcp.tool()
def load_one(mirrors: list[str]) -> str:
    """Fetch from the first mirror that answers."""
    for mirror in mirrors:
        try:
            data = load(mirror)
            break
        except Exception:
            continue
    else:
        return "No mirror answered."
    return data
