from mcp.server.fastmcp import FastMCP

from .sessions import sessions

mcp = FastMCP("x")

def pressed(session, key):
    if not session:
        return {"error": "no session"}
    return {"pressed": session.press(key)}

@mcp.tool()
def press(key: str) -> dict:
    """Press."""
    session = sessions.get("default")
    if session is None:
        raise ValueError("no session")
    return pressed(session, key)
