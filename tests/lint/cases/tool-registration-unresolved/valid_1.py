import inspect

from fastmcp import FastMCP

mcp = FastMCP("acme")

def find(q: str) -> str: ...

TOOLS = [find]
for fn in TOOLS:
    mcp.tool()(fn)
for name in ("find",):
    mcp.add_tool(globals()[name])
