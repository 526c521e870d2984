"""Services: `guard`, `retrying`, errors made from HTTP responses."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from typing_extensions import assert_type

from mcpcore import CodedError, Context, ErrorCode, Retry, from_http_response, guard, retrying


@guard("Store.get", errors={KeyError: ErrorCode.NOT_FOUND, (OSError, ValueError): "broken"})
def get(key: str) -> bytes:
    with guard("inner", code=ErrorCode.DATABASE_ERROR, context={"key": key}):
        return key.encode()


@guard()
async def fetch(key: str, *, limit: int = 3) -> bytes:
    async with guard("inner", message="The store failed."):
        return key.encode()[:limit]


@retrying(attempts=3)
async def again(key: str) -> bytes:
    return key.encode()


def handles(ctx: Context, response: object) -> CodedError:
    with guard("get", ctx=ctx):
        get("a")
    error = from_http_response(response, service="Store")
    assert_type(error, CodedError)
    assert_type(error.retry, Retry | None)
    return error


as_before: Callable[[str], Coroutine[Any, Any, bytes]] = again
assert_type(get("a"), bytes)
get(1)  # E: all - the arguments are those of the function


async def calls() -> None:
    assert_type(await fetch("a", limit=1), bytes)
    assert_type(await again("a"), bytes)
    await fetch("a", limt=1)  # E: all - no such parameter
