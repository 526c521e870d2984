# message: given
from typing import Literal
from mcpcore import CodedError, Context, ErrorCode, FailureMode, not_found, tool

MODE = FailureMode("other", ErrorCode.NOT_FOUND, when="there is no other thing", recovery="Look for another thing first.")

GONE = "constant"

def raise_it(text: str, reason: str = "by_default") -> None:
    raise not_found(text, reason=reason)

def outer(text: str, *, why: str) -> None:
    raise_it(text, reason=why)

def made(text: str, reason: str) -> CodedError:
    return not_found(text, reason=reason)

def by_context(ctx: Context, reason: str) -> None:
    raise ctx.fail(reason)

class Store:
    def missing(self, key: str, reason: str) -> None:
        raise not_found(key, reason=reason)

store = Store()


@tool(errors=[MODE], read_only=True)
async def positional(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise_it(key, "given")  # here


@tool(errors=[MODE], read_only=True)
async def by_default(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise_it(key)  # here


@tool(errors=[MODE], read_only=True)
async def constant(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise_it(key, reason=GONE)  # here


@tool(errors=[MODE], read_only=True)
async def twice(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    outer(key, why="twice")  # here


@tool(errors=[MODE], read_only=True)
async def maker(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    raise made(key, "made")  # here


@tool(errors=[MODE], read_only=True)
async def context(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    by_context(ctx, "typo")  # here


@tool(errors=[MODE], read_only=True)
async def method(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    store.missing(key, "method")  # here
