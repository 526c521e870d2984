from functools import partial

from mcpcore import Context, ErrorCode, FailureMode, Retry, tool

SLOW = FailureMode("slow", ErrorCode.TIMEOUT, when="It is slow.", recovery="Ask for less.", retry=Retry.now())
command = partial(tool, read_only=False, idempotent=False)


@command(errors=[SLOW])  # here
def one(ctx: Context) -> str:
    """One."""
    raise ctx.fail("slow")


@command(errors=[SLOW], idempotent=True)
def two(ctx: Context) -> str:
    """Two."""
    raise ctx.fail("slow")
