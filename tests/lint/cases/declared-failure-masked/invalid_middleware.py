# message: the declared failure 'gone' never reaches the client: Masks.on_call_tool replaces it
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware
from mcpcore import Context, ErrorCode, FailureMode, tool
from mcpcore.integrations.fastmcp import ContractMiddleware

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="it was deleted", recovery="Look for another one by its title.")

class Masks(Middleware):
    async def on_call_tool(self, context, call_next):
        try:
            return await call_next(context)
        except Exception as error:
            raise ToolError("failed") from error

mcp = FastMCP("x", middleware=[ContractMiddleware(), Masks()])

@mcp.tool
@tool(errors=[GONE])
async def replaced(ctx: Context, a: str) -> str:
    raise ctx.fail("gone")  # here
