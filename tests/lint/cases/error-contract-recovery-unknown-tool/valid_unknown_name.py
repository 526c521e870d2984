from elsewhere import PREFIX
from mcpcore import ErrorCode, FailureMode, tool

@tool(name=PREFIX + "search")
def search() -> str: ...

@tool(errors=[FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="my_search")])
def one() -> str: ...
