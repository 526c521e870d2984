# message: the reason 'held' is declared, but nothing that two calls raises it; other tools
from typing import Any
from mcpcore import Context, ErrorCode, FailureMode, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")
HELD = FailureMode("held", ErrorCode.CONFLICT, when="x", recovery="y")
BOTH = [GONE, HELD]

@tool(errors=BOTH)
def one(ctx: Context[Any], a: str) -> str:
    raise ctx.fail("gone" if a else "held")

@tool(
    errors=[
        GONE,
        HELD,  # here
    ]
)
def two(ctx: Context[Any], a: str) -> str:
    raise ctx.fail("gone")

@tool(errors=BOTH)  # here
def three(ctx: Context[Any], a: str) -> str:
    raise ctx.fail("gone")

@tool(errors=BOTH)
def four(ctx: Context[Any], a: str) -> str:
    return elsewhere(ctx)
