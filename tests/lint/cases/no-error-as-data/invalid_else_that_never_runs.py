from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def add(phone: str = "", name: str = "") -> str:
    """Add."""
    if not phone and not name:
        return "Error: give a phone number or a name"  # here
    if name:
        return "added"
    elif phone:
        return "added"
    else:
        return "Error: no phone number"

@mcp.tool
def changed(phone: str = "", name: str = "") -> str:
    """Add."""
    if not phone and not name:
        return "Error: give a phone number or a name"  # here
    name = clean(name)
    if name:
        return "added"
    elif phone:
        return "added"
    else:
        return "Error: no phone number"  # here

@mcp.tool
def chain(kind: str, order: str) -> str:
    """Get options."""
    if kind not in ["calls", "puts"] or order not in ("up", "down", "none"):
        return "Error: give calls or puts"  # here
    if order == "up" or order == "down":
        return order
    elif kind == "calls":
        return "Error: no order"  # here
    elif kind == "puts":
        return "puts"
    else:
        return "Error: unknown kind"
