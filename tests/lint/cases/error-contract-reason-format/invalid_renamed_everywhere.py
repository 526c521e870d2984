# message: the reason 'NoMatch' is not snake_case
from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

@tool(
    errors=[
        FailureMode("NoMatch", ErrorCode.NOT_FOUND, when="x", recovery="y"),  # here
        FailureMode("queue-full", ErrorCode.RATE_LIMITED, when="x", recovery="y"),  # here
        FailureMode(reason='HTTPGone', code=ErrorCode.CONFLICT, when="x", recovery="y"),  # here
    ]
)
def one(ctx: Context[Literal["NoMatch", "queue-full", "HTTPGone"]]) -> str:
    if ctx.sdk:
        raise ctx.fail("NoMatch", "No match.")
    elif ctx.fail:
        raise not_found("No match.", data={"reason": "NoMatch"} | ctx.recovery_for("NoMatch"))
    try:
        helper(ctx)
    except Exception as exc:
        if exc.reason == "queue-full":
            raise not_found("Gone.", reason="HTTPGone") from exc
    raise ctx.fail(reason="queue-full")

def helper(ctx: Context[Literal["NoMatch"]]):
    '''NoMatch'''
    raise ctx.fail("NoMatch")
