from contextvars import ContextVar

from fastmcp import FastMCP
from mcpcore import Context, ErrorCode, FailureMode, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="it was deleted", recovery="Call the `list_books` tool first.")
mcp = FastMCP("x")
current = ContextVar("current")

@tool(errors=[GONE])
async def find(ctx: Context, title: str) -> str:
    """Find."""
    raise ctx.fail("gone")

@current.get().tool
async def lend(title: str) -> str:
    """Lend."""
