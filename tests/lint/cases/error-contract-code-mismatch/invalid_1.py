# message: 'gone' is declared with NOT_FOUND and raised with CONFLICT
from mcpcore import CodedError, Context, CustomCode, ErrorCode, FailureMode, conflict, not_found, tool

QUOTA = CustomCode("QUOTA", 7, http_status=429, category="upstream", retry=None, sentence="x")
ERRORS = [
    FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y"),
    FailureMode("quota", QUOTA, when="x", recovery="y"),
]

def service():
    raise conflict("x", data={"reason": "gone"})

@tool(errors=ERRORS + [])
def fetch(ctx: Context, a: str) -> str:
    if a == "1":
        raise conflict("x", reason="gone")  # here
    if a == "2":
        raise CodedError(ErrorCode.RATE_LIMITED, "x", {"reason": "quota"})  # here
    if a == "3":
        raise CodedError(QUOTA, "x", {"reason": "quota"})
    return service()  # here
