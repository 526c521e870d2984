from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def link(a: str) -> str:
    try:
        return load(a)
    except Exception as error:
        print(error)
    return "Could not load it."
