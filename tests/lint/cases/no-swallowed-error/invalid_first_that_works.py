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

@mcp.tool()
def mirrored(mirrors: list[str]) -> list:
    """Fetch from the first mirror that answers."""
    for mirror in mirrors:
        try:
            return load(mirror)
        except Exception:  # here
            continue
    print("no mirror answered")
    return []

@mcp.tool()
def rows(mirrors: list[str]) -> dict:
    """Fetch from the first mirror that answers."""
    nothing = {"rows": []}
    for mirror in mirrors:
        try:
            return load(mirror)
        except Exception:  # here
            continue
    return nothing

@mcp.tool()
def shown(keys: list[str], verbose: bool) -> dict:
    """Read the first table that there is."""
    table = None
    for key in keys:
        try:
            table = load(key)
            break
        except Exception:  # here
            pass
    if table is not None:
        print(table)
    return {"table": table}

@mcp.tool()
def pages(last: int) -> dict:
    """Read the pages up to an empty one."""
    entries = []
    for page in range(last):
        try:
            batch = load(page)
            if not batch:
                break
            entries.extend(batch)
        except Exception:  # here
            continue
    if len(entries) > 10:
        entries = entries[:10]
    return {"entries": entries}
