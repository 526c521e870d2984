# message: Swallow() returns
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware, MiddlewareContext
from fastmcp.tools.tool import ToolResult

class Swallow(Middleware):
    async def on_call_tool(self, context: MiddlewareContext, call_next):
        try:
            return await call_next(context)
        except Exception as e:
            return ToolResult(content=f"Error: {e}")  # here

class Limits(Middleware):
    async def on_call_tool(self, context, call_next):
        if too_many(context):
            return ToolResult(content={"error": "too many calls"})  # here
        return await call_next(context)

class Logs(Middleware):
    async def on_call_tool(self, context, call_next):
        try:
            return await call_next(context)
        except Exception as e:
            log.exception("failed")
            raise

class Unused(Middleware):
    async def on_call_tool(self, context, call_next):
        try:
            return await call_next(context)
        except Exception as e:
            return ToolResult(content=f"Error: {e}")

mcp = FastMCP("x", middleware=[Limits(), Logs()])
mcp.add_middleware(Swallow())

@mcp.tool
def fetch(a: str) -> str:
    """Fetch."""
    raise ToolError("no a")
