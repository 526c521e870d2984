from functools import partial
from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, tool

command = partial(tool, read_only=False, idempotent=True)


@command(errors=[FailureMode("slow", ErrorCode.TIMEOUT, when="It is slow.", recovery="Ask for fewer rows.")])
def one(ctx: Context[Literal["slow"]]) -> str:
    """One."""
    raise ctx.fail("slow")
