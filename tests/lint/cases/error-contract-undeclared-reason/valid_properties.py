from functools import cached_property
from typing import Literal
from mcpcore import CodedError, Context, ErrorCode, FailureMode, conflict, not_found, tool

MODE = FailureMode("other", ErrorCode.NOT_FOUND, when="there is no other thing", recovery="Look for another thing first.")

class Service:
    @property
    def token(self) -> str:
        raise not_found("no token", reason="other")

    @property
    def size(self) -> int:
        return 1

    @size.setter
    def size(self, value: int) -> None:
        raise conflict("fixed", reason="fixed")

    def plain(self) -> str:
        raise conflict("not called", reason="not_called")

service = Service()


@tool(errors=[MODE], read_only=True)
async def declared(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    return service.token


@tool(errors=[MODE], read_only=True)
async def sized(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    return str(service.size)


@tool(errors=[MODE], read_only=True)
async def passed_on(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    return str(service.plain)
