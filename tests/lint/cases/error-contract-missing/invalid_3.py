# message: fetch raises NOT_FOUND
from fastmcp import FastMCP
from mcpcore import not_found

mcp = FastMCP("x")

@mcp.tool
def fetch(a: str) -> str:  # here
    raise not_found("x")
