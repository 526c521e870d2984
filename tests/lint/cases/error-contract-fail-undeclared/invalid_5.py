# message: 'other' is not declared
from typing import Any
from mcpcore import Context, ErrorCode, FailureMode, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")
LOST = FailureMode("lost", ErrorCode.NOT_FOUND, when="x", recovery="y")

class Modes:
    GONE = GONE

def house(*errors, **options):
    return tool(errors=[LOST, *errors], **options)

def plain(name, *errors):
    return tool(errors=errors, name=name)

@tool(errors=[Modes.GONE])
def one(ctx: Context[Any], a: str) -> str:
    if a:
        raise ctx.fail("other")  # here
    raise ctx.fail("gone")

@house(GONE, title="Two")
def two(ctx: Context[Any], a: str) -> str:
    if a == "1":
        raise ctx.fail("lost")
    if a == "2":
        raise ctx.fail("other")  # here
    raise ctx.fail("gone")

@plain("three", GONE)
def three(ctx: Context[Any], a: str) -> str:
    if a:
        raise ctx.fail("other")  # here
    raise ctx.fail("gone")

@house(*load())
def four(ctx: Context[Any], a: str) -> str:
    raise ctx.fail("other")
