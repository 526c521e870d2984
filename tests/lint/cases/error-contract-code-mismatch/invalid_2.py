# message: 'gone' is declared with NOT_FOUND and raised with CONFLICT (fetch > fail)
from mcpcore import CodedError, ErrorCode, FailureMode, conflict, tool

def fail(reason: str) -> None:
    raise conflict("x", reason=reason)

def bail(code: ErrorCode, reason: str = "gone") -> CodedError:
    return CodedError(code, "x", reason=reason)

@tool(
    errors=[
        FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode("held", ErrorCode.CONFLICT, when="x", recovery="y"),
    ]
)
def fetch(a: str) -> str:
    if a == "1":
        fail("gone")  # here
    if a == "2":
        fail("held")
    if a == "3":
        raise bail(ErrorCode.NOT_FOUND)
    if a == "4":
        raise bail(reason="held", code=ErrorCode.NOT_FOUND)  # here
    raise bail(ErrorCode.CONFLICT, a)
