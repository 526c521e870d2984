from typing import Any, Literal

import mcpcore
from mcpcore import CodedError, Context, ErrorCode, FailureMode

ERRORS = (
    FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y"),
    FailureMode("slow", ErrorCode.TIMEOUT, when="x", recovery="y"),
)

class Tools:
    @mcpcore.tool(errors=[*ERRORS])
    def fetch(
        self,
        ctx: Context[Literal["gone", "slow"]],
        pmid: str,
    ) -> str:
        if pmid == "1":
            raise ctx.fail("gone")
        if pmid == "2":
            raise ctx.fail("slow", "x")
        if pmid == "3":
            raise ctx.fail(message="x", reason="slow")
        if pmid == "4":
            raise ctx.fail("gone", "x", data={"reason": "gone", "pmid": pmid})
        if pmid == "5":
            raise ctx.fail("gone", "x", {"reason": "gone"})
        if pmid == "6":
            raise ctx.fail(message="x", reason="gone")
        raise ctx.fail("gone", "x", retry=None)

@mcpcore.tool(errors=ERRORS)
def other(context: Context[Any]) -> str:
    error = context.fail("gone", "a")
    if context:
        error = context.fail("slow", "b")
    raise error
