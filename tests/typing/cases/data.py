"""Typed data: `ctx.fail(MODE, data=...)` takes data of the model that the failure mode declares."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Generic, Literal, TypedDict, TypeVar

from pydantic import BaseModel
from typing_extensions import assert_type

from mcpcore import CodedError, Context, Contract, ErrorCode, FailureMode, Server, tool


T = TypeVar("T")


class NoItem(BaseModel):
    item_id: int


class NoShelf(BaseModel):
    item_id: int


class Row(TypedDict):
    row: int


@dataclass
class Spot:
    x: int


NO_ITEM: Final = FailureMode("no_item", ErrorCode.NOT_FOUND, when="No item.", recovery="List items.", data=NoItem)
NO_SHELF = FailureMode("no_shelf", ErrorCode.NOT_FOUND, when="No shelf.", recovery="List them.", data=NoShelf)
NO_ROW = FailureMode("no_row", ErrorCode.NOT_FOUND, when="No row.", recovery="List rows.", data=Row)
SPOT = FailureMode("spot", ErrorCode.CONFLICT, when="A spot.", recovery="Wash it.", data=Spot)
BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="Busy.", recovery="Wait.")

Reasons = Literal["no_item", "no_row", "spot", "busy"]


@tool(errors=[NO_ITEM, NO_ROW, SPOT, BUSY])
def get_item(ctx: Context[Reasons], number: int) -> str:
    match number:
        case 0:
            raise ctx.fail(NO_ITEM, data=NoItem(item_id=7))
        case 1:
            raise ctx.fail(NO_ITEM, "There is no item 7.", NoItem(item_id=7), recovery=None)
        case 2:
            raise ctx.fail(NO_ITEM, "There is no item 7.", data=NoItem(item_id=7))
        case 3:
            raise ctx.fail(NO_ROW, data=Row(row=7)) from ValueError()
        case 4:
            raise ctx.fail(SPOT, data=Spot(7))
        case 5:
            raise ctx.fail(BUSY)
        case 6:
            raise ctx.fail(BUSY, "Busy.", data={"queue": 3})
        case 7:
            raise ctx.fail("no_item", data=NoItem(item_id=7))
        case 8:
            raise ctx.fail("no_item", data={"item_id": 7})
        case 9:
            raise ctx.fail("no_row", "No row.", Row(row=7))
        case 10:
            raise ctx.fail("spot", data=Spot(7))
        case _:
            assert_type(ctx.fail(NO_ITEM, data=NoItem(item_id=7)), CodedError)
            return str(ctx.recovery_for(NO_ITEM))


@tool(errors=[NO_ITEM, NO_ROW, SPOT, BUSY])
def refused(ctx: Context[Reasons], number: int) -> str:
    match number:
        case 0:
            raise ctx.fail(NO_ITEM, data=NoShelf(item_id=7))  # E: all - data of another model
        case 1:
            raise ctx.fail(NO_ITEM)  # E: all - the data is missing
        case 2:
            raise ctx.fail(NO_ITEM, "There is no item 7.")  # E: all - the data is missing
        case 3:
            raise ctx.fail(NO_ITEM, data=None)  # E: all - the data is missing
        case 4:
            raise ctx.fail(NO_ITEM, data={"item_id": 7})  # E: all - data of another type
        case 5:
            raise ctx.fail(NO_ITEM, "There is no item 7.", NoShelf(item_id=7))  # E: all - data of another model
        case 6:
            raise ctx.fail(NO_ROW, data={"row": "7"})  # E: all - a field of another type
        case 7:
            raise ctx.fail(SPOT, data=NoItem(item_id=7))  # E: all - data of another model
        case 8:
            raise ctx.fail(NO_SHELF, data=NoShelf(item_id=7))  # E: plugin pyright basedpyright ty pyrefly - undeclared mode
        case 9:
            raise ctx.fail("no_itm", data=NoItem(item_id=7))  # E: all - misspelt reason
        case 10:
            raise ctx.fail("no_item", data=7)  # E: all - data is a mapping, a model or a dataclass
        case 11:
            return str(ctx.recovery_for(NO_SHELF))  # E: plugin pyright basedpyright ty pyrefly - undeclared mode
        case _:
            raise ctx.fail(NO_ITEM, dat=NoItem(item_id=7))  # E: all - no such parameter


# mypy and pyrefly do not read a dict literal as the TypedDict; the other three do.
def literal(ctx: Context[Reasons]) -> CodedError:
    return ctx.fail(NO_ROW, data={"row": 7})  # E: mypy pyrefly - a dict, as far as these two can see


# A context that names no reasons takes any of them, and still only data that fits.
def bare(ctx: Context, number: int) -> str:
    if number == 0:
        raise ctx.fail(NO_ITEM, data=NoItem(item_id=7))
    if number == 1:
        raise ctx.fail(BUSY, "Busy.", data={"queue": 3})
    raise ctx.fail("anything", data=NoItem(item_id=7))


def bare_refused(ctx: Context) -> str:
    raise ctx.fail(NO_ITEM, data=NoShelf(item_id=7))  # E: all - data of another model


def bare_refused_missing(ctx: Context) -> str:
    raise ctx.fail(NO_ITEM)  # E: all - the data is missing


# Without its second argument, the type of a failure mode says nothing of the data.
def untyped(ctx: Context[Reasons], mode: FailureMode[Literal["busy"]], anything: Any) -> CodedError:
    ctx.fail(mode)
    ctx.fail(mode, data={"queue": 3})
    ctx.fail(mode, data=NoItem(item_id=7))
    ctx.fail(anything, data=anything)
    ctx.fail(NO_ITEM, data=anything)
    return ctx.fail(anything)


def typed(ctx: Context[Reasons], mode: FailureMode[Literal["no_item"], NoItem]) -> CodedError:
    ctx.fail(mode, data=NoShelf(item_id=7))  # E: all - data of another model
    return ctx.fail(mode, data=NoItem(item_id=7))


def local(ctx: Context[Reasons]) -> CodedError:
    mode = FailureMode("busy", ErrorCode.RATE_LIMITED, when="Busy.", recovery="Wait.")
    return ctx.fail(mode)


# Lists, contracts and annotations as they were before failure modes had a second type argument.
ERRORS = [NO_ITEM, NO_SHELF, BUSY]
listed: list[FailureMode[Literal["a", "b"]]] = [
    FailureMode("a", ErrorCode.NOT_FOUND, when="A.", recovery="Do a.", data=NoItem),
    FailureMode("b", ErrorCode.NOT_FOUND, when="B.", recovery="Do b.", data=Row),
]
annotated: FailureMode[Literal["a"], NoItem] = FailureMode(
    "a", ErrorCode.NOT_FOUND, when="A.", recovery="Do a.", data=NoItem
)
CONTRACT = Contract([NO_ITEM, NO_SHELF, BUSY])


def mode(reason: str, model: type[BaseModel] | None = None) -> FailureMode[str]:
    return FailureMode(reason, ErrorCode.NOT_FOUND, when="It is gone.", recovery="Look elsewhere.", data=model)


@tool(errors=ERRORS)
def from_list(ctx: Context[Literal["no_item", "busy"]], name: str) -> str:
    raise ctx.fail(BUSY, name)


@tool(errors=CONTRACT)
def from_contract(ctx: Context[Literal["no_shelf"]], name: str) -> str:
    raise ctx.fail(NO_SHELF, name, NoShelf(item_id=7))


@tool(errors=[*ERRORS, NO_ROW])
def unpacked(ctx: Context[Literal["no_row"]], name: str) -> str:
    raise ctx.fail(NO_ROW, name, Row(row=7))


@tool(errors=listed)
def from_annotated(ctx: Context[Literal["a"]], name: str) -> str:
    raise ctx.fail("a", name)


@tool(errors=[mode("gone")])
def from_function(ctx: Context, name: str) -> str:
    raise ctx.fail("gone", name)


Server("data", tools=[get_item, refused, from_list, from_contract, unpacked, from_annotated, from_function])


# Members of an enum as reasons, generic models, subclasses of the model, constants of a class, contexts with a lifespan.
class Why(StrEnum):
    GONE = "gone"
    TAKEN = "taken"


class Page(BaseModel, Generic[T]):
    items: list[T]


class MoreItem(NoItem):
    more: int = 0


class Modes:
    GONE: Final = FailureMode(Why.GONE, ErrorCode.NOT_FOUND, when="It is gone.", recovery="List.", data=NoItem)
    PAGE: Final = FailureMode("page", ErrorCode.NOT_FOUND, when="No page.", recovery="List.", data=Page[int])


@tool(errors=[Modes.GONE, Modes.PAGE])
async def get_page(ctx: Context[Literal[Why.GONE, "page"], Spot], number: int) -> str:
    if number == 1:
        raise ctx.fail(Modes.PAGE, data=Page[int](items=[ctx.lifespan_context.x]))
    if number == 2:
        raise ctx.fail(reason=Modes.PAGE, data=Page(items=[1]), message="No page.")
    if number == 3:
        raise ctx.fail(Modes.PAGE, data=NoItem(item_id=3))  # E: all - data of another model
    with ctx.guard({KeyError: Modes.PAGE, OSError: "page"}, data=Page[int](items=[])):
        return ""


def subclass(ctx: Context[Literal["no_item"]], error: Exception) -> None:
    raise ctx.fail(NO_ITEM, data=MoreItem(item_id=3)) from error
