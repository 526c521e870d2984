# message: as_error() returns {"error": ...}
import json

from fastmcp import FastMCP

mcp = FastMCP("x")

def as_error(e):
    answer = {}
    if isinstance(e, OSError):
        answer.update({"error": str(e), "status": 500})  # here
    else:
        answer["error"] = "unexpected"
    return json.dumps(answer)

def other_way(q):
    answer = {}
    if not q:
        answer["error"] = "nothing was asked"
    answer["rows"] = open(q).readlines()
    return json.dumps(answer)

def formatted(answer, kind="json"):
    if kind == "json":
        return json.dumps(answer)
    return str(answer)

@mcp.tool
def fetch(q: str) -> str:
    """Fetch."""
    try:
        return open(q).read()
    except OSError as e:
        return as_error(e)

@mcp.tool
def search(q: str) -> str:
    """Search."""
    try:
        return open(q).read()
    except OSError:
        return other_way(q)

@mcp.tool
def show(q: str) -> str:
    """Show."""
    try:
        return open(q).read()
    except OSError as e:
        answer = {"success": False, "reason": str(e)}
        return formatted(answer, kind="json")  # here
