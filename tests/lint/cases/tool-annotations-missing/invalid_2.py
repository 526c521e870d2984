# message: since nothing states idempotent
from fastmcp import FastMCP
from mcpcore import ErrorCode, FailureMode, tool

mcp = FastMCP("x")

@mcp.tool(annotations={"readOnlyHint": False})  # here
@tool(errors=[FailureMode("late", ErrorCode.TIMEOUT, when="x", recovery="y")])
def one() -> str: ...

@mcp.tool
@tool(errors=[FailureMode("late", ErrorCode.TIMEOUT, when="x", recovery="y")])
def two() -> str: ...  # here
