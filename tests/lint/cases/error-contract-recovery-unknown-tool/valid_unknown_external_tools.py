from elsewhere import OTHERS
from mcpcore import ErrorCode, FailureMode, Server, tool

@tool(errors=[FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="search_web")])
def one() -> str: ...

server = Server("x", tools=[one], external_tools=OTHERS)
