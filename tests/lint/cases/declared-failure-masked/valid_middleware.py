from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware
from mcpcore import Context, ErrorCode, FailureMode, tool
from mcpcore.integrations.fastmcp import ContractMiddleware

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="it was deleted", recovery="Look for another one by its title.")

class Around(Middleware):
    async def on_call_tool(self, context, call_next):
        try:
            return await call_next(context)
        except Exception as error:
            raise ToolError("failed") from error

mcp = FastMCP("x", middleware=[Around(), ContractMiddleware()])

@mcp.tool
@tool(errors=[GONE])
async def passed(ctx: Context, a: str) -> str:
    raise ctx.fail("gone")
