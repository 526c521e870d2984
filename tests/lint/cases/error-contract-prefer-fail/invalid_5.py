# message: fetch raises NOT_FOUND itself
from mcpcore import ErrorCode, FailureMode, not_found, tool

@tool(
    errors=[
        FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode("moved", ErrorCode.NOT_FOUND, when="x", recovery="y"),
    ]
)
def fetch(a: str) -> str:
    raise not_found("which?")  # here
