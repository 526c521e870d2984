"""Services: `guard`, `retrying`, errors made from HTTP responses."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Literal

from typing_extensions import assert_type

from mcpcore import CodedError, Context, ErrorCode, FailureMode, Retry, from_http_response, guard, retrying
from mcpcore.services.breaker import CircuitBreaker, CircuitOpenError

payments = CircuitBreaker("payments", failures=3, reset_after=10)


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


@payments
async def charge(cents: int, *, card: str = "visa") -> str:
    async with payments as breaker:
        assert_type(breaker, CircuitBreaker)
    assert_type(payments.state, Literal["closed", "open", "half_open"])
    return f"{card} {cents}"


def refused(error: CircuitOpenError) -> Retry | None:
    with payments:
        return error.retry


def handles(ctx: Context, response: object) -> CodedError:
    with guard("get", ctx=ctx):
        get("a")
    error = from_http_response(response, service="Store")
    assert_type(error, CodedError)
    assert_type(error.retry, Retry | None)
    return error


as_before: Callable[[str], Coroutine[Any, Any, bytes]] = again
as_charged: Callable[[int], Coroutine[Any, Any, str]] = charge
assert_type(get("a"), bytes)
get(1)  # E: all - the arguments are those of the function


async def calls() -> None:
    assert_type(await fetch("a", limit=1), bytes)
    assert_type(await again("a"), bytes)
    await fetch("a", limt=1)  # E: all - no such parameter


class OrderNotFound(Exception):
    order_id: int = 7


BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="Busy.", recovery="Wait.")
OTHER = FailureMode("other", ErrorCode.CONFLICT, when="Other.", recovery="Do other.")


@guard("Orders.get", errors={OrderNotFound: "no_order"}, data=lambda exc: {"order_id": exc.order_id})
def get_order(order_id: int) -> str:
    return str(order_id)


async def orders(ctx: Context[Literal["no_order", "busy"]]) -> str:
    with ctx.guard({OrderNotFound: "no_order", (OSError, TimeoutError): BUSY}, data=lambda exc: {"text": str(exc)}):
        get_order(7)
    async with ctx.guard({OrderNotFound: "no_order"}, data={"order_id": 7}, operation="Orders.get", message="None."):
        get_order(7)
    with ctx.guard({OrderNotFound: "no_ordr"}):  # E: all - misspelt reason
        get_order(7)
    with ctx.guard({OrderNotFound: OTHER}):  # E: plugin pyright basedpyright ty pyrefly - undeclared mode
        get_order(7)
    with ctx.guard({OrderNotFound: "no_order"}, operaton="Orders.get"):  # E: all - no such parameter
        get_order(7)

    @ctx.guard({OrderNotFound: "no_order"})
    async def guarded(order_id: int) -> str:
        return get_order(order_id)

    assert_type(await guarded(7), str)
    return await guarded("7")  # E: all - the arguments are those of the function


TABLE: Mapping[type[BaseException] | tuple[type[BaseException], ...], Literal["no_order"]] = {OrderNotFound: "no_order"}


def by_table(ctx: Context[Literal["no_order"]]) -> str:
    with ctx.guard(TABLE):
        return get_order(7)


def any_reason(ctx: Context) -> str:
    with ctx.guard({OrderNotFound: "anything", OSError: OTHER}):
        return get_order(7)
