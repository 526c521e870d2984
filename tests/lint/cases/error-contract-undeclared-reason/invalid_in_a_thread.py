# message: can raise the reason 'lost' here
import asyncio
from functools import partial

import anyio
from mcpcore import Context, ErrorCode, FailureMode, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="The page was deleted.", recovery="Look for a newer page.")


def load(ctx: Context, key: str) -> str:
    if not key:
        raise ctx.fail("gone")
    raise ctx.fail("lost")


@tool(errors=[GONE], read_only=True)
async def fetch(ctx: Context, key: str) -> str:
    """Fetch a page."""
    return await asyncio.to_thread(load, ctx, key)  # here


@tool(errors=[GONE], read_only=True)
async def fetch_partly(ctx: Context, key: str) -> str:
    """Fetch a page."""
    return await anyio.to_thread.run_sync(partial(load, ctx, key))  # here
