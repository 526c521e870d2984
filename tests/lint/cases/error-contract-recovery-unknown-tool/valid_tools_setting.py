# settings: {"tools": ["theirs"]}
from mcpcore import ErrorCode, FailureMode, tool

@tool(errors=[FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="theirs")])
def one() -> str: ...
