# message: 'a' sends the caller to the tool 'web', which the project does not define
from mcpcore import ErrorCode, FailureMode, Server, tool

@tool(errors=[FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="web")])  # here
def one() -> str: ...

server = Server("x", tools=[one], external_tools=["search_web", "weather"])
