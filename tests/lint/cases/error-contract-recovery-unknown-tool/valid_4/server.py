from mcpcore import ErrorCode, FailureMode, Server, tool

THIRD = "third"

@tool(
    errors=[
        FailureMode("a", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="search_web"),
        FailureMode("b", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="second"),
        FailureMode("c", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="third"),
        FailureMode("d", ErrorCode.NOT_FOUND, when="x", recovery="y", fallback_tool="fourth"),
    ]
)
def one() -> str: ...

server = Server("x", tools=[one], external_tools=["search_web"])
other = Server("y", external_tools=("second", THIRD))
