"""The failure modes that the servers share."""

from __future__ import annotations

from typing import TypedDict

from pydantic import BaseModel

from mcpcore import ErrorCode, FailureMode, Retry


class NoItem(BaseModel):
    """Data."""

    item_id: int
    hint: str = ""


class Row(TypedDict):
    """Data."""

    row: int


NO_ITEM = FailureMode(
    "no_item",
    ErrorCode.NOT_FOUND,
    when="There is no such item.",
    recovery="Call list_items to find the numbers.",
    data=NoItem,
)
NO_ROW = FailureMode(
    "no_row", ErrorCode.NOT_FOUND, when="There is no such row.", recovery="Call list_items to find the rows.", data=Row
)
BUSY = FailureMode(
    "busy", ErrorCode.RATE_LIMITED, when="The shop is busy.", recovery="Call again later, with one item at a time."
)
DOWN = FailureMode(
    "store_down",
    ErrorCode.SERVICE_UNAVAILABLE,
    when="The store is down.",
    recovery="Tell the user that the store is down.",
    retry=Retry.never(),
    effects="none",
)
STALE = FailureMode(
    "stale",
    ErrorCode.CONFLICT,
    when="The item changed.",
    recovery="Get the item again and repeat the change.",
    strategy="check_input",
)
