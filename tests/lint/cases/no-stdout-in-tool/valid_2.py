from fastmcp import FastMCP

mcp = FastMCP("x")

def print(text):
    log.append(text)

@mcp.tool
def fetch(a: str) -> str:
    print(a)
    return a
