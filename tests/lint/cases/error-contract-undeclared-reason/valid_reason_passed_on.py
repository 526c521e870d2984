from typing import Literal
from mcpcore import CodedError, Context, ErrorCode, FailureMode, not_found, tool

MODE = FailureMode("other", ErrorCode.NOT_FOUND, when="there is no other thing", recovery="Look for another thing first.")

import asyncio
from functools import wraps

def raise_it(text: str, reason: str = "other") -> None:
    raise not_found(text, reason=reason)

def either(text: str, reason: str) -> None:
    reason = reason or "x"
    raise not_found(text, reason=reason)

def logged(fn):
    @wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)
    return wrapper

@logged
def wrapped(text: str, reason: str) -> None:
    raise not_found(text, reason=reason)


@tool(errors=[MODE], read_only=True)
async def declared(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise_it(key, "other")


@tool(errors=[MODE], read_only=True)
async def by_default(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise_it(key)


@tool(errors=[MODE], read_only=True)
async def unknown(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise_it(key, load(key))


@tool(errors=[MODE], read_only=True)
async def rebound(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    either(key, "given")


@tool(errors=[MODE], read_only=True)
async def spread(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise_it(*load(key))


@tool(errors=[MODE], read_only=True)
async def thread(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    await asyncio.to_thread(raise_it, key, "other")


@tool(errors=[MODE], read_only=True)
async def through_a_wrapper(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    wrapped(key, "other")
