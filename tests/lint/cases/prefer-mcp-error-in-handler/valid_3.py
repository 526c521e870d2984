from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def buy(item: str) -> str:
    'Buy an item.'
    raise NotImplementedError  # a middleware answers
