# message: returns {"error": ...}; the client sees a successful call
from mcp.server import Server
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")
server = Server("x")

def page(limit):
    if not limit:
        return {"error": "limit must not be 0"}  # here
    return {"rows": load(limit)}

@mcp.tool()
def rows(limit: int | None = None) -> dict:
    """Rows."""
    if limit is None:
        raise ValueError("no limit")
    return page(limit)

def named(name):
    if not name:
        return {"error": "an empty name"}  # here
    return {"rows": load(name)}

@server.call_tool()
async def call(name: str, arguments: dict):
    if name == "find":
        wanted = arguments.get("name")
        if wanted is None:
            raise ValueError("no name")
        return named(wanted)
    raise ValueError(name)
