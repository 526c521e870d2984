from typing import Literal
from mcpcore import CodedError, Context, ErrorCode, FailureMode, not_found, tool

MODE = FailureMode("other", ErrorCode.NOT_FOUND, when="there is no other thing", recovery="Look for another thing first.")

def untyped(c, key: str) -> None:
    raise c.fail("other")

def job(c, key: str) -> None:
    raise c.fail("a text of a job")


@tool(errors=[MODE], read_only=True)
async def by_argument(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    untyped(ctx, key)


@tool(errors=[MODE], read_only=True)
async def no_context(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    job(load(key), key)


@tool(errors=[MODE], read_only=True)
async def only_there(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    untyped(ctx, key)
