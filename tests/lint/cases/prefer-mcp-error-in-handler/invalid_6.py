# message: ToolError
from mcpcore import Context, ErrorCode, FailureMode, tool
from mcp.server.mcpserver.exceptions import ToolError

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fetch(ctx: Context) -> str:
    raise ToolError("gone")  # here
