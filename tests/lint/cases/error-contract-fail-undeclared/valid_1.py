from typing import Literal
from mcpcore import Context, ErrorCode, FailureMode, tool

GONE = "gone"

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def one(ctx: Context, reason: str, known: Literal["gone"]) -> str:
    if reason:
        raise ctx.fail(GONE)
    if known:
        raise ctx.fail(known, data=ctx.recovery_for("gone"))
    raise ctx.fail(reason)

NO_ITEM = FailureMode("no_item", ErrorCode.NOT_FOUND, when="x", recovery="y")
BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="x", recovery="y")

@tool(errors=[NO_ITEM, BUSY])
def modes(ctx: Context, a: str, table: dict) -> str:
    if a == "1":
        raise ctx.fail(NO_ITEM, data=ctx.recovery_for(NO_ITEM))
    with ctx.guard({KeyError: NO_ITEM, (OSError, ValueError): "busy"}), ctx.guard(table):
        return a

@tool(errors=load())
def two(ctx: Context) -> str:
    raise ctx.fail("anything")

@tool
def three(ctx: Context) -> str:
    raise ctx.fail("no contract")

@tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
def four(ctx: Context, other: object) -> str:
    raise other.fail("not the context")
