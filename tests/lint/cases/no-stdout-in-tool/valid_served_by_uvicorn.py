import uvicorn
from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool
def fetch(a: str) -> str:
    print(a)
    return a

uvicorn.run(mcp.http_app(), port=8000)
