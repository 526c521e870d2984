"""A server that keeps its contracts, with guards in every form that the documentation shows."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, guard, prompt, resource, timeout, tool, conflict
from mcpcore.services.batch import Batch, BatchResult
from modes import BUSY, DOWN, NO_ITEM, NO_ROW, STALE, NoItem, Row
from store import MissingError, Store, by_mapper, guarded, guard_for, safe

STORE = Store()
Id = Annotated[int, Field(description="The number.")]
SHARED = {KeyError: NO_ITEM, TimeoutError: "busy"}


@tool(errors=[NO_ITEM])
def get(item_id: Id) -> str:
    """Get."""
    return STORE.get(item_id)


@tool(errors=[DOWN, STALE])
async def put(item_id: Id, text: Annotated[str, Field(description="x")]) -> str:
    """Put."""
    await STORE.put(item_id, text)
    return "x"


@tool(errors=[DOWN])
async def rows() -> list[int]:
    """Rows."""
    return [row async for row in STORE.rows()]


@tool(errors=[DOWN])
def find(item_id: Id) -> str:
    """Find."""
    return STORE.find(item_id)


@tool(errors=[DOWN])
def count() -> int:
    """Count."""
    STORE.ping()
    return STORE.count()


@tool(errors=[DOWN])
def slow() -> str:
    """Slow."""
    return STORE.slow()


@tool(errors=[NO_ITEM, BUSY])
def typed(ctx: Context[Literal["no_item", "busy"]], item_id: Id) -> str:
    """Typed."""
    with ctx.guard({MissingError: NO_ITEM}, data=lambda exc: NoItem(item_id=exc.item_id)):
        with ctx.guard({TimeoutError: "busy"}):
            return STORE.get(item_id)


@tool(errors=[NO_ITEM, BUSY])
def shared(ctx: Context[Literal["no_item", "busy"]], item_id: Id) -> str:
    """Shared."""
    with ctx.guard(SHARED, data=lambda exc: {"item_id": item_id}):
        return STORE.get(item_id)


@tool(errors=[NO_ITEM, STALE])
def mapped(item_id: Id) -> str:
    """Mapped."""
    with guard(error_mapper=by_mapper):
        return {1: "x"}[item_id]


@tool(errors=[STALE, DOWN])
async def combined(item_id: Id) -> str:
    """Combined."""
    async with guarded:
        return STORE.find(item_id)


@tool(errors=[DOWN])
async def made(item_id: Id) -> str:
    """Made."""
    with guard_for("store_down"):
        return "x"


@tool(errors=[NO_ROW])
def nested(ctx: Context[Literal["no_row"]], item_id: Id) -> str:
    """Nested."""

    @ctx.guard({KeyError: NO_ROW}, data=Row(row=1))
    def inner() -> str:
        return {1: "x"}[item_id]

    return inner()


@tool(errors=[NO_ROW])
@guard(errors={KeyError: "no_row"}, data={"row": 1})
def decorated(item_id: Id) -> str:
    """Decorated."""
    return {1: "x"}[item_id]


@tool(errors=[BUSY])
def factory(ctx: Context[Literal["busy"]], item_id: Id) -> str:
    """Fail."""
    if item_id == 1:
        raise timeout("Too late.", effects="none")
    raise ctx.fail("busy", effects="none", retry=Retry.after(seconds=40))


@tool(errors=[NO_ITEM])
def batch(ctx: Context[Literal["no_item"]], items: Annotated[list[int], Field(description="x")]) -> BatchResult[str]:
    """Batch."""
    done = Batch[str](ctx)
    for item_id in items:
        with done.item(item_id), ctx.guard({KeyError: "no_item"}, data={"item_id": item_id}):
            done.add({1: "x"}[item_id])
    return done.result()


@resource("x://{item_id}", errors=[NO_ITEM])
def read(ctx: Context[Literal["no_item"]], item_id: str) -> str:
    """Read."""
    with ctx.guard({KeyError: NO_ITEM}, data={"item_id": 1}):
        return {"1": "x"}[item_id]


@prompt(errors=[BUSY])
def ask(ctx: Context[Literal["busy"]], item_id: str) -> str:
    """Ask."""
    with guard(errors={KeyError: "busy"}):
        return {"1": "x"}[item_id]


def helper(ctx: Context[Literal["busy"]]) -> str:
    """x."""
    with ctx.guard({OSError: "busy"}):
        return open("x").read()


@tool(errors=[BUSY])
def helped(ctx: Context[Literal["busy"]]) -> str:
    """Helped."""
    return helper(ctx)


@tool(errors=[BUSY, DOWN])
def several(ctx: Context[Any]) -> str:
    """Several."""
    table = {OSError: "busy"} | {TimeoutError: DOWN}
    with ctx.guard(table):
        return "x"


server = Server(
    "x",
    tools=[
        get,
        put,
        rows,
        find,
        count,
        slow,
        typed,
        shared,
        mapped,
        combined,
        made,
        nested,
        decorated,
        factory,
        batch,
        helped,
        several,
    ],
    resources=[read],
    prompts=[ask],
)
