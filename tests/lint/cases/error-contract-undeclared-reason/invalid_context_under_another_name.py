# message: typo
from typing import Literal
from mcpcore import CodedError, Context, ErrorCode, FailureMode, not_found, tool

MODE = FailureMode("other", ErrorCode.NOT_FOUND, when="there is no other thing", recovery="Look for another thing first.")

def typed(c: Context, key: str) -> None:
    raise c.fail("typo")

def untyped(c, key: str) -> None:
    raise c.fail("typo")

def further(key, context):
    untyped(context, key)

class Finder:
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def find(self, key: str) -> str:
        raise self.ctx.fail("typo")


@tool(errors=[MODE], read_only=True)
async def by_type(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    typed(ctx, key)  # here


@tool(errors=[MODE], read_only=True)
async def by_argument(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    untyped(ctx, key)  # here


@tool(errors=[MODE], read_only=True)
async def by_keyword(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    further(key, context=ctx)  # here


@tool(errors=[MODE], read_only=True)
async def in_an_object(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    return Finder(ctx).find(key)  # here
