from mcp.server import Server
from mcp.server.fastmcp import FastMCP
from mcp.types import TextContent

from .sessions import sessions

server = Server("x")
mcp = FastMCP("x")

def tap(session, arguments):
    if not session:
        return [TextContent(type="text", text="Error: no session")]
    return [TextContent(type="text", text=session.tap(arguments["x"]))]

def swipe(session, arguments):
    if session is None:
        return [TextContent(type="text", text="Error: no session")]
    return [TextContent(type="text", text=session.swipe(arguments["x"]))]

def pressed(session, key):
    if not session:
        return {"error": "no session"}
    return {"pressed": session.press(key)}

@server.call_tool()
async def call(name: str, arguments: dict):
    session = sessions.get(arguments["id"])
    if session is None:
        raise ValueError("no session")
    if name == "tap":
        return tap(session, arguments)
    if name == "swipe":
        return swipe(session, arguments)
    raise ValueError(name)

@mcp.tool()
def press(key: str) -> dict:
    """Press."""
    session = sessions.get("default")
    if session is None:
        raise ValueError("no session")
    return pressed(session, key)
