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
