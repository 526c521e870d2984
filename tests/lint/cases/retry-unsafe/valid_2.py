from fastmcp import FastMCP
from mcpcore import ErrorCode, FailureMode, Retry, tool

mcp = FastMCP("x")

@mcp.tool(annotations={"readOnlyHint": False, "idempotentHint": True})
@tool(
    annotations={"readOnlyHint": False, "idempotentHint": False},
    errors=[FailureMode("a", ErrorCode.TIMEOUT, when="x", recovery="y", retry=Retry.now())],
)
def one() -> str: ...
