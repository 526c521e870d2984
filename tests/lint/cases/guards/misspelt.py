"""Tools whose guards, failures and contexts misspell a declared reason: each is one finding."""

from typing import Any, Literal
from contextlib import contextmanager

from pydantic import BaseModel

import mcpcore
from mcpcore import Context, ErrorCode, FailureMode, Server, guard, not_found, conflict, tool, CodedError

ITEMS = {1: "x"}
NO_ITEM = FailureMode(
    "no_item",
    ErrorCode.NOT_FOUND,
    when="There is no such item.",
    recovery="Call list_items to find the numbers of items.",
)
BUSY = FailureMode(
    "busy", ErrorCode.RATE_LIMITED, when="The shop is busy.", recovery="Try again later, one item at a time."
)
NO_ITM = FailureMode(
    "no_itm",
    ErrorCode.NOT_FOUND,
    when="There is no such item.",
    recovery="Call list_items to find the numbers of items.",
)

TABLE = {KeyError: "no_itm"}
BASE = {KeyError: "no_itm"}


@tool(errors=[NO_ITEM])
def t1(item_id: int) -> str:
    """Read an item."""
    with guard("x", errors={KeyError: "no_itm"}):  # expect: error-contract-undeclared-reason
        return ITEMS[item_id]


@tool(errors=[NO_ITEM])
async def t2(item_id: int) -> str:
    """Read an item."""
    async with guard(errors={KeyError: "no_itm"}):  # expect: error-contract-undeclared-reason
        return ITEMS[item_id]


@tool(errors=[NO_ITEM])
def t3(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Read an item."""
    with ctx.guard({KeyError: "no_itm"}):  # expect: error-contract-fail-undeclared
        return ITEMS[item_id]


@tool(errors=[NO_ITEM])
async def t4(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Read an item."""
    async with ctx.guard(errors={KeyError: "no_itm"}):  # expect: error-contract-fail-undeclared
        return ITEMS[item_id]


@tool(errors=[NO_ITEM, BUSY])
def t5(ctx: Context[Literal["no_item", "busy"]], item_id: int) -> str:
    """Read an item."""
    with ctx.guard({**BASE, OSError: "busy"}):  # expect: error-contract-fail-undeclared
        return ITEMS[item_id]


@tool(errors=[NO_ITEM, BUSY])
def t6(item_id: int) -> str:
    """Read an item."""
    with guard(errors=BASE | {OSError: BUSY}):  # expect: error-contract-undeclared-reason
        return ITEMS[item_id]


@tool(errors=[NO_ITEM])
def t7(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Read an item."""

    @ctx.guard(TABLE)  # expect: error-contract-fail-undeclared
    def inner() -> str:
        return ITEMS[item_id]

    return inner()


@tool(errors=[NO_ITEM])
def t8(item_id: int) -> str:
    """Read an item."""

    @guard(errors=TABLE)  # expect: error-contract-undeclared-reason
    def inner() -> str:
        return ITEMS[item_id]

    return inner()


def service_with(item_id: int) -> str:
    with guard(errors={KeyError: "no_itm"}):
        return ITEMS[item_id]


@tool(errors=[NO_ITEM])
def t9(item_id: int) -> str:
    """Read an item."""
    return service_with(item_id)  # expect: error-contract-undeclared-reason


@guard("x", errors={(KeyError, IndexError): "no_itm"})
def service_deco(item_id: int) -> str:
    return ITEMS[item_id]


@tool(errors=[NO_ITEM])
def t10(item_id: int) -> str:
    """Read an item."""
    return service_deco(item_id)  # expect: error-contract-undeclared-reason


class Store:
    @guard("Store.get", errors={KeyError: NO_ITM})
    async def get(self, item_id: int) -> str:
        return ITEMS[item_id]


store = Store()


@tool(errors=[NO_ITEM])
async def t11(item_id: int) -> str:
    """Read an item."""
    return await store.get(item_id)  # expect: error-contract-undeclared-reason


@tool(errors=[NO_ITEM])
@guard(errors={KeyError: "no_itm"})  # expect: error-contract-undeclared-reason
async def t12(item_id: int) -> str:
    """Read an item."""
    return ITEMS[item_id]


store_guard = guard("store", errors={KeyError: "no_itm"})


@tool(errors=[NO_ITEM])
async def t13(item_id: int) -> str:
    """Read an item."""
    with store_guard:  # expect: error-contract-undeclared-reason
        return ITEMS[item_id]


@tool(errors=[NO_ITEM])
async def t14(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Read an item."""
    g = ctx.guard({KeyError: "no_itm"})  # expect: error-contract-fail-undeclared
    with g:
        return ITEMS[item_id]


@tool(errors=[NO_ITEM])
async def t15(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Read an item."""
    g = ctx.guard
    with g({KeyError: "no_itm"}):  # expect: error-contract-fail-undeclared
        return ITEMS[item_id]


@tool(errors=[NO_ITEM])
async def t16(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Read an item."""
    raise ctx.fail("no_itm")  # expect: error-contract-fail-undeclared


@tool(errors=[NO_ITEM])
async def t17(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Read an item."""
    raise not_found("No.", reason="no_itm")  # expect: error-contract-undeclared-reason


@tool(errors=[NO_ITEM])
async def t18(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Read an item."""
    raise not_found("No.", {"item_id": item_id, **ctx.recovery_for("no_itm")}, reason="no_item")  # expect: error-contract-fail-undeclared, error-contract-prefer-fail


@tool(errors=[NO_ITEM])
async def t19(ctx: Context[Literal["no_itm"]], item_id: int) -> str:  # expect: error-contract-context-mismatch
    """Read an item."""
    raise ctx.fail("no_item")


@tool(errors=[NO_ITEM])
async def t20(item_id: int) -> str:
    """Read an item."""
    with guard("x", errors={KeyError: "no_itm"}):  # expect: error-contract-undeclared-reason
        return load(item_id)


def load(item_id: int) -> str:
    raise KeyError(item_id)


def helper21(ctx: Context[Any], item_id: int) -> str:
    with ctx.guard({KeyError: "no_itm"}):
        return ITEMS[item_id]


@tool(errors=[NO_ITEM])
async def t21(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Read an item."""
    return helper21(ctx, item_id)  # expect: error-contract-undeclared-reason


@tool(errors=[NO_ITEM])
async def t22(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Read an item."""
    with ctx.guard({KeyError: NO_ITM}):  # expect: error-contract-fail-undeclared
        return ITEMS[item_id]


@tool(errors=[NO_ITEM])
async def t23(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Read an item."""
    with guard(errors={KeyError: NO_ITM}):  # expect: error-contract-undeclared-reason
        return ITEMS[item_id]


@tool(errors=[NO_ITEM])
async def t24(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Read an item."""
    raise ctx.fail(NO_ITM)  # expect: error-contract-fail-undeclared


def my_guard(reason):
    return guard(errors={KeyError: reason})


@tool(errors=[NO_ITEM])
async def t25(item_id: int) -> str:
    """Read an item."""
    with my_guard("no_itm"):
        return ITEMS[item_id]


@contextmanager
def guarded():
    with guard("store", errors={KeyError: "no_itm"}):
        yield


@tool(errors=[NO_ITEM])
async def t26(item_id: int) -> str:
    """Read an item."""
    with guarded():  # expect: error-contract-undeclared-reason
        return ITEMS[item_id]


@store_guard
def deco2(item_id: int) -> str:
    return ITEMS[item_id]


@tool(errors=[NO_ITEM])
async def t27(item_id: int) -> str:
    """Read an item."""
    return deco2(item_id)  # expect: error-contract-undeclared-reason


@tool(errors=[NO_ITEM])  # expect: error-contract-unthrown
async def t28(item_id: int) -> str:
    """Read an item."""
    with guard("x", errors={KeyError: "other"}):  # expect: error-contract-undeclared-reason
        return load(item_id)


@tool(errors=[NO_ITEM])
async def t29(item_id: int) -> str:
    """Read an item."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        stack.enter_context(guard(errors={KeyError: "no_itm"}))  # expect: error-contract-undeclared-reason
        return ITEMS[item_id]


@tool(errors=[NO_ITEM])
async def t30(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Read an item."""
    errors = {KeyError: "no_itm"}
    with ctx.guard(errors):  # expect: error-contract-fail-undeclared
        return ITEMS[item_id]


@tool(errors=[NO_ITEM])
async def t31(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Read an item."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        stack.enter_context(ctx.guard(errors={KeyError: "no_itm"}))  # expect: error-contract-fail-undeclared
        return ITEMS[item_id]


@tool(errors=[NO_ITEM])
async def t32(item_id: int) -> str:
    """Read an item."""
    get = guard(errors={KeyError: "no_itm"})(ITEMS.__getitem__)  # expect: error-contract-undeclared-reason
    return get(item_id)  # expect: error-contract-undeclared-reason


@tool(errors=[NO_ITEM])
async def t33(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Read an item."""
    get = ctx.guard(errors={KeyError: "no_itm"})(ITEMS.__getitem__)  # expect: error-contract-fail-undeclared
    return get(item_id)
