# message: raises the reason 'lost'
import enum
from mcpcore import CodedError, Context, ErrorCode, FailureMode, conflict, not_found, tool

class Reason(enum.StrEnum):
    LOST = "lost"

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def fetch(ctx: Context, a: str) -> str:
    if a == "1":
        raise not_found("x", reason=Reason.LOST)  # here
    if a == "2":
        raise conflict("x", {"reason": "gonne"})  # here
    if a == "3":
        raise CodedError(ErrorCode.NOT_FOUND, reason="gone" if a else "left")  # here
    return help_with(ctx, a)  # here

def help_with(ctx: Context, a: str) -> str:
    raise ctx.fail("elsewhere")
