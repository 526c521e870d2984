# message: returns an empty dict
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool()
async def fetch(a: str) -> list[str]:
    def inner():
        try:
            return load(a)
        except:
            return dict()  # here

    rows = inner()
    return rows
