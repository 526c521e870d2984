from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def fetch(a: str) -> str:
    print(a)
    return a

if __name__ == "__main__":
    mcp.run(transport="streamable-http")
