# message: no_token
from functools import cached_property
from typing import Literal
from mcpcore import CodedError, Context, ErrorCode, FailureMode, conflict, not_found, tool

MODE = FailureMode("other", ErrorCode.NOT_FOUND, when="there is no other thing", recovery="Look for another thing first.")

class Service:
    @property
    def token(self) -> str:
        raise conflict("no token", reason="no_token")

    @cached_property
    def client(self) -> str:
        raise conflict("no client", reason="no_client")

    async def send(self, key: str) -> str:
        return self.client + key

class Special(Service): ...

service = Service()


@tool(errors=[MODE], read_only=True)
async def reads(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    return service.token  # here


@tool(errors=[MODE], read_only=True)
async def cached(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    return Service.token


@tool(errors=[MODE], read_only=True)
async def in_a_method(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    return await service.send(key)  # here


@tool(errors=[MODE], read_only=True)
async def annotated(ctx: Context[Literal["other"]], key: str) -> str:
    """Fetch."""
    if not key:
        raise ctx.fail("other")
    held: Special = load(key)
    return held.token  # here
