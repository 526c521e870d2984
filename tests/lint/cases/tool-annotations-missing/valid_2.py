from fastmcp import FastMCP
from mcpcore import ErrorCode, FailureMode, tool

mcp = FastMCP("x")

@mcp.tool(annotations={"readOnlyHint": True})
@tool(errors=[FailureMode("late", ErrorCode.TIMEOUT, when="x", recovery="y")])
def one() -> str: ...

@mcp.tool(annotations={"title": "Two"})
@tool(read_only=True, errors=[FailureMode("late", ErrorCode.TIMEOUT, when="x", recovery="y")])
def two() -> str: ...

@mcp.tool
@tool(idempotent=True, errors=[FailureMode("late", ErrorCode.TIMEOUT, when="x", recovery="y")])
def three() -> str: ...
