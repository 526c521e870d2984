# message: _answer() returns {"ok": False}
from fastmcp import FastMCP

mcp = FastMCP("x")

def _answer(ok: bool, *, reason: str = "") -> dict:
    answer = {"ok": ok}
    if reason:
        answer["error"] = reason
    return answer  # here

@mcp.tool
def close(ticket: str) -> dict:
    """Close a ticket."""
    try:
        open(ticket).close()
    except OSError:
        return _answer(False, reason="closed")
    return _answer(True)
