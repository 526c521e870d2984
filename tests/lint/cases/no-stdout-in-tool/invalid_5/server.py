# message: print() in load writes to standard output, which over stdio carries the protocol (tool: fetch)
from fastmcp import FastMCP
from service import load

mcp = FastMCP("x")

@mcp.tool
def fetch(a: str) -> str:
    return load(a)
