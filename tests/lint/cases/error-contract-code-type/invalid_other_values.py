# message: 'a' has no code
from http import HTTPStatus

from mcpcore import ErrorCode, FailureMode, tool

@tool(
    errors=[
        FailureMode("a", when="x", recovery="y"),  # here
        FailureMode("b", 404, when="x", recovery="y"),  # here
        FailureMode("c", "NOT_FOUND", when="x", recovery="y"),  # here
        FailureMode("d", code=None, when="x", recovery="y"),  # here
        FailureMode("e", ErrorCode, when="x", recovery="y"),  # here
        FailureMode("f", HTTPStatus.NOT_FOUND, when="x", recovery="y"),  # here
        FailureMode("g", ValueError, when="x", recovery="y"),  # here
        FailureMode("h", ErrorCode.CONFLICT if x else "CONFLICT", when="x", recovery="y"),  # here
        FailureMode("i", True, when="x", recovery="y"),  # here
        FailureMode("j", [ErrorCode.CONFLICT], when="x", recovery="y"),  # here
    ]
)
def one() -> str: ...
