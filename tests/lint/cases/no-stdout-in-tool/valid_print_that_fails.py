from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def fetch(a: str) -> str:
    try:
        return open(a).read()
    except OSError:
        print("the file cannot be read", exc_info=True)
        raise
