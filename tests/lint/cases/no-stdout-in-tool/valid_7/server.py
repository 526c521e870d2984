from fastmcp import FastMCP
from service import Service

mcp = FastMCP("x")

@mcp.tool
def fetch(a: str) -> str:
    return Service().fetch(a)
