# message: can raise the reason 'lost' here (fetch > fail)
from mcpcore import CodedError, ErrorCode, FailureMode, conflict, not_found, tool

def fail(reason: str, why: str = "gone") -> None:
    raise not_found(why, reason=reason)

def bail(reason, code=ErrorCode.CONFLICT):
    raise CodedError(code, "x", {"reason": reason, "other": 1})

def either(reason: str | None = None) -> None:
    raise conflict("x", reason=reason or "gone")

def handed(reason: str) -> None:
    fail(reason=reason)

@tool(
    errors=[
        FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode("held", ErrorCode.CONFLICT, when="x", recovery="y"),
    ]
)
def fetch(a: str) -> str:
    if a == "1":
        fail("gone", "lost")
    if a == "2":
        fail("lost")  # here
    if a == "3":
        bail("stale")  # here
    if a == "4":
        bail("held")
    if a == "5":
        handed("loose")  # here
    if a == "6":
        fail(a)
    fail("gone" if a else "late")  # here
