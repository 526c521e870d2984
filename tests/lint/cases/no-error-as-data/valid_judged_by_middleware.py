from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware

class Judge(Middleware):
    async def on_call_tool(self, context, call_next):
        answer = await call_next(context)
        if "error" in answer.structured_content:
            raise ToolError(answer.structured_content["error"])
        return answer

mcp = FastMCP("x", middleware=[Judge()])

@mcp.tool
def fetch(a: str) -> dict:
    """Fetch."""
    return {"error": f"no {a}"}
