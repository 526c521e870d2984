from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool(errors={"a": 1})
def one() -> str: ...
