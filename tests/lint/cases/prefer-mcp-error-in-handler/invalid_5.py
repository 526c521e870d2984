# message: fetch raises ValueError, whose text SDK 1 sends, without a next step for the agent
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")

@mcp.tool()
def fetch(page: int) -> str:
    if page < 1:
        raise ValueError(f"page is at least 1, not {page}")  # here
    raise Exception("no page")  # here
