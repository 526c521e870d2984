# message: swallows cancellation
from fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.resource("x://y")
async def read() -> str:
    try:
        return await load()
    except* BaseException as group:  # here
        print(group)
