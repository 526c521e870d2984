# message: find returns {"error": ...}
import functools
import typing
from collections.abc import Callable
from typing import Any, TypeVar, cast

from acme import schema, store
from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError

mcp = FastMCP("x")
F = TypeVar("F", bound=Callable[..., Any])

def guarded(func: F) -> F:
    @functools.wraps(func)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return await func(*args, **kwargs)
        except OSError as error:
            raise ToolError(str(error)) from error
    return cast(F, wrapper)

def named(name: str) -> Callable[[F], F]:
    def decorator(func: F) -> F:
        @functools.wraps(func)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            store.note(name)
            return await func(*args, **kwargs)
        return typing.cast("F", wrapper)
    return decorator

def judged(func: F) -> F:
    @functools.wraps(func)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        answer = await func(*args, **kwargs)
        if "error" in answer:
            raise ToolError(answer["error"])
        return answer
    return cast(F, wrapper)

@mcp.tool()
@guarded
async def find(title: str) -> dict:
    """Find."""
    try:
        return store.find(title)
    except KeyError:
        return {"error": "no such title"}  # here

@mcp.tool()
@named("lend")
async def lend(title: str) -> dict:
    """Lend."""
    try:
        return store.lend(title)
    except KeyError:
        return {"error": "no such title"}  # here

def converted(func: F) -> F:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        return await func(*args, **kwargs)
    return schema.cast(func, wrapper)

@mcp.tool()
@converted
async def keep(title: str) -> dict:
    """Keep."""
    try:
        return store.keep(title)
    except KeyError:
        return {"error": "no such title"}

@mcp.tool()
@judged
async def bring(title: str) -> dict:
    """Bring."""
    try:
        return store.bring(title)
    except KeyError:
        return {"error": "no such title"}
