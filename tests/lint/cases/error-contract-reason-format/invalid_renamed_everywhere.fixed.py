from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, not_found, tool

@tool(
    errors=[
        FailureMode("no_match", ErrorCode.NOT_FOUND, when="x", recovery="y"),
        FailureMode("queue_full", ErrorCode.RATE_LIMITED, when="x", recovery="y"),
        FailureMode(reason="http_gone", code=ErrorCode.CONFLICT, when="x", recovery="y"),
    ]
)
def one(ctx: Context[Literal["no_match", "queue_full", "http_gone"]]) -> str:
    if ctx.sdk:
        raise ctx.fail("no_match", "No match.")
    elif ctx.fail:
        raise not_found("No match.", data={"reason": "no_match"} | ctx.recovery_for("no_match"))
    try:
        helper(ctx)
    except Exception as exc:
        if exc.reason == "queue_full":
            raise not_found("Gone.", reason="http_gone") from exc
    raise ctx.fail(reason="queue_full")

def helper(ctx: Context[Literal["no_match"]]):
    '''NoMatch'''
    raise ctx.fail("no_match")
