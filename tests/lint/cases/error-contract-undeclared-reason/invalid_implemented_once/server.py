# message: no_row
from functools import cached_property
from typing import Literal
from mcpcore import CodedError, Context, ErrorCode, FailureMode, conflict, not_found, tool
from app.ports import Store
from app.service import service

MODE = FailureMode("other", ErrorCode.NOT_FOUND, when="there is no other thing", recovery="Look for another thing first.")

async def fetch(store: Store, key: str) -> str:
    return await store.load(key)


@tool(errors=[MODE], read_only=True)
async def by_protocol(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    return await service.get(key)  # here


@tool(errors=[MODE], read_only=True)
async def by_abc(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    service.put(key)  # here


@tool(errors=[MODE], read_only=True)
async def by_parameter(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    return await fetch(load(), key)  # here
