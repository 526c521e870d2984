"""Contracts that map exceptions and codes: what is mapped is raised and declared, and all else stays what it is."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from mcpcore import Context, ErrorCode, FailureMode, conflict, not_found, rate_limited, tool

Id = Annotated[int, Field(description="The number.")]


class Item(BaseModel):
    item_id: int


class MissingError(LookupError):
    item_id = 7


NO_ITEM = FailureMode(
    "no_item", ErrorCode.NOT_FOUND, when="There is no such item.", recovery="List the items first of all.", data=Item
)
BUSY = FailureMode("busy", ErrorCode.SERVICE_UNAVAILABLE, when="It is busy.", recovery="Call again after some minutes.")
STALE = FailureMode("stale", ErrorCode.CONFLICT, when="It has changed.", recovery="Read the item again before.")
BY_CLASS = NO_ITEM.on(MissingError, data=lambda exc: {"item_id": exc.item_id})
BY_CODE = BUSY.on_code(ErrorCode.RATE_LIMITED, ErrorCode.DATABASE_ERROR).on(TimeoutError, OSError)


def load(item_id: int) -> str:
    if item_id == 1:
        raise rate_limited("too many")
    if item_id == 2:
        raise conflict("changed")
    raise MissingError


@tool(errors=[BY_CLASS, BY_CODE])
def get(item_id: Id) -> str:
    """Get."""
    return load(item_id)  # expect: error-contract-conformance


@tool(errors=[BY_CLASS, BY_CODE, STALE.on(KeyError)])
def put(item_id: Id) -> str:
    """Put."""
    if item_id == 3:
        raise TimeoutError("slow")
    if item_id == 4:
        raise IndexError("no such item")  # expect: prefer-mcp-error-in-handler
    if item_id == 5:
        raise rate_limited("too many")
    if item_id == 6:
        raise not_found("no such item")  # expect: error-contract-prefer-fail
    return load(item_id)


@tool(errors=[NO_ITEM.on(MissingError, data=lambda exc: {"item": 7}), BUSY])
def wrong(ctx: Context[Literal["no_item", "busy"]], item_id: Id) -> str:  # expect: error-contract-data-mismatch
    """Wrong."""
    with ctx.guard({(ErrorCode.RATE_LIMITED, ErrorCode.CONFLICT): "busy"}):
        return load(item_id)


@tool(errors=[BY_CLASS, STALE])  # expect: error-contract-unthrown
def idle(item_id: Id) -> str:
    """Idle."""
    return str(item_id)
