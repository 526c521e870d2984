from mcpcore import CustomCode, ErrorCode, FailureMode, tool

@tool(
    errors=[
        FailureMode("a", ErrorCode.INTERNAL_ERROR, when="x", recovery="y"),
        FailureMode("b", UNKNOWN_ERROR, when="x", recovery="y"),
        FailureMode("c", ErrorCode.UNKNOWN, when="x", recovery="y"),
    ]
)
def one() -> str: ...
