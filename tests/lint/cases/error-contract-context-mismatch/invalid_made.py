# message: names the reasons 'closed' and 'lost', which errors does not declare
from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, tool


def mode(reason: str, when: str, code: ErrorCode = ErrorCode.CONFLICT) -> FailureMode:
    """A failure mode of an order."""
    return FailureMode(reason, code, when=when, recovery="Read the state of the order first.")


def other(reason: str) -> FailureMode:
    if reason == "gone":
        return FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Look for another order.")
    return FailureMode(reason, ErrorCode.CONFLICT, when="It failed.", recovery="Look for another order.")


BUSY = mode("busy", when="The order is busy.")


@tool(errors=[BUSY])
def one(ctx: Context[Literal["busy", "closed", "lost"]]) -> str:  # here
    raise ctx.fail("busy")


@tool(errors=[mode("busy", "The order is busy.")])
def two(ctx: Context[Literal["busy"]]) -> str:
    raise ctx.fail(BUSY)


@tool(errors=[other("closed")])
def three(ctx: Context[Literal["busy"]]) -> str:
    raise ctx.fail("busy")
