# message: returns {"error": ...}
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

ACTIONS = {"list", "add"}
HANDLERS = {"list": sorted, "add": print}
STATES = frozenset(load_states())

@mcp.tool()
def notes(action: str) -> dict:
    """Notes."""
    if action not in ACTIONS:
        return {"error": f"no action {action}"}  # here
    if action == "list":
        return {"notes": []}
    elif action == "add":
        return {"notes": [1]}
    else:
        return {"error": f"unhandled {action}"}

@mcp.tool()
def tags(action: str, state: str) -> dict:
    """Tags."""
    if action not in HANDLERS or state not in STATES:
        return {"error": f"no action {action}"}  # here
    if action == "list":
        return {"tags": []}
    if action == "other":
        return {"error": "no other"}
    if state == "open":
        return {"tags": [1]}
    return {"error": f"no tags for {state}"}  # here

@mcp.tool()
def pages(kind: str) -> dict:
    """Pages."""
    if kind not in ("html"):
        return {"error": f"no kind {kind}"}  # here
    if kind == "html":
        return {"pages": []}
    return {"error": f"no pages of {kind}"}  # here
