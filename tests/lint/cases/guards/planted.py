"""Tools that break their contracts, most of them through guards: each breach is one finding."""

from __future__ import annotations

from typing import Any, Literal

from mcpcore import (
    CodedError,
    Context,
    ErrorCode,
    FailureMode,
    Retry,
    Server,
    conflict,
    forbidden,
    guard,
    not_found,
    prompt,
    resource,
    timeout,
    tool,
)
from modes import BUSY, DOWN, NO_ITEM, NO_ROW, STALE, NoItem, Row
from store import MissingError, Store, by_mapper, guarded, guard_for, safe

STORE = Store()
R = "Call list_items to find the right number."


@tool(errors=[NO_ITEM, STALE])  # expect: error-contract-unthrown
def v1(item_id: int) -> str:
    """Get."""
    return STORE.get(item_id)


@tool(errors=[DOWN, STALE, BUSY])  # expect: error-contract-unthrown
async def v2(item_id: int, text: str) -> str:
    """Put."""
    await STORE.put(item_id, text)
    return "x"


@tool(errors=[DOWN])
async def v3(item_id: int) -> str:
    """Guard maps another code to a declared reason."""
    with guard(errors={OSError: FailureMode("store_down", ErrorCode.CONFLICT, when="x", recovery=R)}):  # expect: error-contract-code-mismatch
        return "x"


@tool(errors=[NO_ITEM])
def v4(item_id: int) -> str:
    """Lacks data."""
    with guard(errors={KeyError: NO_ITEM}):  # expect: error-contract-data-mismatch
        return "x"


@tool(errors=[NO_ROW])
def v5(ctx: Context[Literal["no_row"]], item_id: int) -> str:
    """Wrong data."""
    with ctx.guard({KeyError: NO_ROW}, data={"rows": 1}):  # expect: error-contract-data-mismatch
        return "x"


@tool(errors=[BUSY])
def v6(item_id: int) -> str:
    """Code undeclared in guard."""
    with guard(errors={KeyError: ErrorCode.CONFLICT, OSError: "busy"}):  # expect: error-contract-conformance
        return "x"


@tool(errors=[BUSY])
def v7(item_id: int) -> str:
    """Code undeclared in guard."""
    with guard(code=ErrorCode.FORBIDDEN):  # expect: error-contract-conformance
        raise conflict("x", reason="busy")  # expect: error-contract-code-mismatch


@tool(errors=[BUSY])
def v8(ctx: Context[Literal["busy"]], item_id: int) -> str:
    """Effects."""
    raise ctx.fail("busy", effects="some")  # expect: error-contract-retry-type


@tool(errors=[FailureMode("busy", ErrorCode.RATE_LIMITED, when="x", recovery=R, effects="partially")])  # expect: error-contract-retry-type
def v9(ctx: Context[Literal["busy"]], item_id: int) -> str:
    """Effects."""
    raise ctx.fail("busy")


@tool(errors=[BUSY])
def v10(ctx: Context[Literal["busy"]], item_id: int) -> str:
    """Not raised."""
    ctx.fail("busy")  # expect: error-contract-fail-not-raised
    return "x"


@tool(errors=[BUSY])
def v11(ctx: Context[Literal["buzy"]], item_id: int) -> str:  # expect: error-contract-context-mismatch
    """Literal."""
    raise ctx.fail("busy")


@tool(errors=[BUSY])
def v12(ctx: Context[Literal["busy"]], item_id: int) -> str:
    """Factory."""
    raise not_found("x", reason="bussy")  # expect: error-contract-undeclared-reason


@tool(errors=[NO_ITEM])
def v13(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Prefer-fail."""
    raise not_found("x", {"item_id": item_id}, reason="no_item")  # expect: error-contract-prefer-fail


@tool(errors=[STALE])
def v14(ctx: Context[Literal["stale"]], item_id: int) -> str:
    """Prefer-fail."""
    raise conflict("x")  # expect: error-contract-prefer-fail


@tool(errors=[STALE])
def v15(ctx: Context[Literal["stale"]], item_id: int) -> str:
    """Mismatch."""
    if item_id:
        raise not_found("x", reason="stale")  # expect: error-contract-code-mismatch
    raise ctx.fail("stale")


@tool(errors=[STALE])
def v16(ctx: Context[Literal["stale"]], item_id: int) -> str:
    """Service reason that is undeclared."""
    if item_id:
        raise forbidden("x")  # expect: error-contract-conformance
    raise ctx.fail("stale")


def load(item_id: int) -> str:
    """x."""
    with guard(errors={KeyError: "other_reason"}):
        if item_id:
            raise KeyError(item_id)
        return "x"


@tool(errors=[STALE])
def v17(ctx: Context[Literal["stale"]], item_id: int) -> str:
    """Service reason that is undeclared."""
    if item_id:
        return load(item_id)  # expect: error-contract-undeclared-reason
    raise ctx.fail("stale")


@tool
def v18(item_id: int) -> str:  # expect: error-contract-missing
    """No contract."""
    with guard(errors={KeyError: "no_item"}):
        return "x"


@tool
def v19(item_id: int) -> str:  # expect: error-contract-missing
    """No contract."""
    raise conflict("x", effects="nothing")  # expect: error-contract-retry-type


@tool(errors=[NO_ITEM])
def v20(ctx: Context[Literal["no_item"]], item_id: int) -> str:
    """Recovery_for."""
    raise ctx.fail("no_item", data={"item_id": item_id, **ctx.recovery_for("noitem")})  # expect: error-contract-fail-undeclared


@tool(errors=[BUSY, FailureMode("busy", ErrorCode.CONFLICT, when="x", recovery=R)])  # expect: error-contract-reason-unique
def v21(ctx: Context[Literal["busy"]], item_id: int) -> str:
    """Twice."""
    raise ctx.fail("busy")


@resource("x://{item_id}", errors=[BUSY])
def v22(ctx: Context[Literal["busy"]], item_id: str) -> str:
    """Read."""
    with ctx.guard({KeyError: "bussy"}):  # expect: error-contract-fail-undeclared
        return {"1": "x"}[item_id]


@prompt(errors=[BUSY])
def v23(ctx: Context[Literal["busy"]], item_id: str) -> str:
    """Ask."""
    with guard(errors={KeyError: "bussy"}):  # expect: error-contract-undeclared-reason
        return {"1": "x"}[item_id]


@tool(errors=[BUSY])
def v24(ctx: Context[Literal["busy"]], item_id: int) -> str:
    """f."""
    raise ctx.fail("busy", retry=5)  # expect: error-contract-retry-type


@tool(errors=[BUSY])
def v25(ctx: Context[Literal["busy"]], item_id: int) -> str:
    """f."""
    with ctx.guard({TimeoutError: "busy", KeyError: NO_ITEM}, data={"item_id": 1}):  # expect: error-contract-fail-undeclared
        return "x"


@tool(
    errors=[
        STALE,
        FailureMode("full", ErrorCode.RATE_LIMITED, when="x", recovery=R, retry=Retry.now(), strategy="wait"),  # expect: error-contract-retry-type
    ]
)
def v26(ctx: Context[Literal["stale", "full"]], item_id: int) -> str:
    """f."""
    if item_id == 2:
        raise ctx.fail("full", f"{item_id} is full")  # expect: error-contract-message-data
    raise ctx.fail("stale")


@tool(errors=[BUSY, DOWN])
async def v27(item_id: int) -> str:
    """f."""
    with guard_for("store_dwn"):
        with guard(errors={KeyError: BUSY}):
            return "x"


class Service:
    """x."""

    def __init__(self) -> None:
        self.lock = 1

    @guard(errors={(KeyError, OSError): "bsy"})
    async def run(self) -> str:
        """x."""
        return "x"


@tool(errors=[BUSY])
async def v28(item_id: int) -> str:
    """f."""
    return await Service().run()  # expect: error-contract-undeclared-reason


get_fast = guard(errors={KeyError: "busy"})(lambda key: {}[key])


@tool(errors=[BUSY])
async def v29(item_id: int) -> str:
    """f."""
    return get_fast(item_id)


get_slow = guard(errors={KeyError: "bsy"})(lambda key: {}[key])


@tool(errors=[BUSY])
async def v30(item_id: int) -> str:
    """f."""
    return get_slow(item_id)  # expect: error-contract-undeclared-reason


@tool(errors=[BUSY])
async def v31(item_id: int) -> str:
    """f."""
    with guard(errors={KeyError: "bsy"}, data=lambda exc: {"a": 1}):  # expect: error-contract-undeclared-reason
        raise KeyError(item_id)


@tool(errors=[BUSY])
async def v32(item_id: int) -> str:
    """f."""
    with guard(errors={KeyError: "other"}), guard(errors={OSError: "busy"}):  # expect: error-contract-undeclared-reason
        return load(item_id)  # expect: error-contract-undeclared-reason


@tool(errors=[BUSY])
async def v33(ctx: Context[Literal["busy"]], item_id: int) -> str:
    """f."""
    raise CodedError(ErrorCode.RATE_LIMITED, "x", reason="busy")  # expect: error-contract-prefer-fail
