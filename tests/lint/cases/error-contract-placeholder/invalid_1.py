# message: the recovery of 'shared' has the placeholder {item}, which is not a required field of Stock
from dataclasses import dataclass, field
from typing import Annotated, NotRequired, Required, TypedDict

from mcpcore import Context, ErrorCode, FailureMode, tool
from pydantic import BaseModel, Field


class Stock(BaseModel):
    left: int
    item: str = Field(serialization_alias="itemName")
    note: str = ""


@dataclass
class Order:
    number: int
    lines: list[str] = field(default_factory=list)


class Paper(TypedDict, total=False):
    pmid: Annotated[Required[str], "an id"]
    year: int


CONSTANT = "Order {left} of {item}."
C = ErrorCode.CONFLICT
SHARED = FailureMode("shared", C, when="{left}", recovery=CONSTANT, data=Stock)  # here


@tool(
    errors=[
        FailureMode("too_many", C, when="Only {left} are left.", recovery="Order at most {lef}.", data=Stock),  # here
        FailureMode("optional", C, when="Note: {note}", recovery="Read the note of the item.", data=Stock),  # here
        FailureMode("user", C, when="a", recovery="b", user_message="{left.__class__}", data=Stock),  # here
        FailureMode(
            "position",
            C,
            when="{}",  # here
            recovery="{0}",  # here
            data=Stock,
        ),
        FailureMode(
            "format",
            C,
            when="{left:>3}",  # here
            recovery="{left!r}",  # here
            data=Stock,
        ),
        FailureMode(
            "single",
            C,
            when="a { b",  # here
            recovery="a } b",  # here
            data=Stock,
        ),
        FailureMode("lines", C, when="{number}: {lines}", recovery="Order at most {number}.", data=Order),  # here
        FailureMode("paper", C, when="{pmid} of {year}", recovery="Search for {pmid} again.", data=Paper),  # here
    ]
)
def order(ctx: Context, item: str) -> str:
    """Order something."""
    raise ctx.fail("too_many", data={"left": 1, "itemName": item})
