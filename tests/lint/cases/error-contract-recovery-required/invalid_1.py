# message: 'a' does not say what the caller can do
import mcpcore
from mcpcore import ErrorCode, FailureMode, Retry, tool

@tool(
    errors=[
        FailureMode("a", ErrorCode.NOT_FOUND, when="x"),  # here
        FailureMode("b", ErrorCode.NOT_FOUND, when="x", recovery=None),  # here
        FailureMode("c", ErrorCode.NOT_FOUND, when="x", recovery={"hint": "Try again."}),  # here
        FailureMode("d", ErrorCode.NOT_FOUND, when="x", recovery=30),  # here
        FailureMode("e", ErrorCode.NOT_FOUND, when="x", recovery=Retry.now()),  # here
        FailureMode("f", ErrorCode.NOT_FOUND, when="x", recovery=("a", "b")),  # here
        mcpcore.FailureMode("g", mcpcore.ErrorCode.NOT_FOUND, when="x"),  # here
    ]
)
def one() -> str: ...
