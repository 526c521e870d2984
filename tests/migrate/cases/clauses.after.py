"""Handlers whose body is one `try`."""

import json
import logging
import sqlite3
from typing import Any, Literal

from mcp.server.mcpserver import Context
from mcpcore import TODO, Context as ToolContext, ErrorCode, FailureMode, Server, tool

mcp = Server("clauses")
ROWS: dict[str, int] = {}
UNREADABLE = "Error: The file cannot be read"


class OrderError(Exception):
    """An order cannot be read."""


class OrderLocked(OrderError):
    """Somebody else changes the order."""


class ShopClosed(Exception):
    """The shop is closed."""


class ShopClosedToday(ShopClosed, OrderError):
    """The shop is closed today."""


THERE_IS_NO_ORDER = FailureMode(
    "there_is_no_order",
    ErrorCode.NOT_FOUND,
    when="There is no order {key}.",
    recovery=TODO,
)


@mcp.tool(errors=[THERE_IS_NO_ORDER.on(KeyError, message=lambda e: f"There is no order {e}")])
def one_clause(order_id: str) -> int:
    """Get a row."""
    # The table is small.
    return ROWS[order_id]  # or nothing


@mcp.tool(
    errors=[
        FailureMode(
            "order_id_is_missing",
            ErrorCode.VALIDATION_ERROR,
            when="The order id is missing.",
            recovery=TODO,
        ),
        FailureMode(
            "order_is_locked",
            ErrorCode.CONFLICT,
            when="The order is locked.",
            recovery=TODO,
        ).on(OrderLocked, message="The order is locked"),
        FailureMode(
            "file_cannot_be_opened",
            ErrorCode.INTERNAL_ERROR,
            when="The file cannot be opened.",
            recovery=TODO,
        ).on(FileNotFoundError, PermissionError, message="The file cannot be opened"),
        FailureMode(
            "file_cannot_be_read",
            ErrorCode.INTERNAL_ERROR,
            when="The file cannot be read.",
            recovery=TODO,
        ).on(OSError, message=lambda error: UNREADABLE.removeprefix("Error: ")),
    ],
)
async def nested_classes(fails: ToolContext[Literal["order_id_is_missing"]], order_id: str, ctx: Context) -> dict[str, Any]:
    """Read an order."""
    text = """
        not
    moved
"""
    if not order_id:
        raise fails.fail("order_id_is_missing", "The order id is missing")
    for _ in range(3):
        text += await fetched(
            order_id,
            text,
        )
    return {"text": text}


class Shop:
    """A shop."""

    @mcp.tool()
    async def open_shop(self, name: str) -> str:
        """Open the shop."""
        return await fetched(name, "")

    @tool(
        errors=[
            FailureMode(
                "nothing_to_sell",
                ErrorCode.INTERNAL_ERROR,
                when="Nothing to sell.",
                recovery=TODO,
            ).on(KeyError, message="Nothing to sell"),
        ],
    )
    def sell(self, item: str) -> int:
        """Sell an item."""
        return ROWS[item]


mcp.add_tool(Shop().sell)


@mcp.tool(errors=[THERE_IS_NO_ORDER])
def logs(ctx: ToolContext[Literal["there_is_no_order"]], order_id: str) -> int:
    """Log the failure."""
    try:
        return ROWS[order_id]
    except KeyError as e:
        logging.error("no order")
        raise ctx.fail("there_is_no_order", f"There is no order {e}") from e


@mcp.tool(
    errors=[
        FailureMode(
            "order_is_unknown",
            ErrorCode.VALIDATION_ERROR,
            when="The order is unknown.",
            recovery=TODO,
        ),
    ],
)
def another_variable(ctx: ToolContext[Literal["order_is_unknown"]], order_id: str) -> int:
    """Name an argument in the message."""
    try:
        return ROWS[order_id]
    except KeyError as e:
        raise ctx.fail("order_is_unknown", f"Order {order_id} is unknown: {e}") from e


@mcp.tool()
def everything(order_id: str) -> int:
    """Catch everything."""
    return ROWS[order_id]


@mcp.tool(
    errors=[
        FailureMode(
            "order_is_bad",
            ErrorCode.INTERNAL_ERROR,
            when="The order is bad.",
            recovery=TODO,
        ),
        FailureMode(
            "it_is_locked",
            ErrorCode.CONFLICT,
            when="It is locked.",
            recovery=TODO,
        ),
    ],
)
def wrong_order(ctx: ToolContext[Literal["order_is_bad", "it_is_locked"]], order_id: str) -> str:
    """Catch the base class first, so that the other clause is never used."""
    try:
        return json.dumps(ROWS[order_id])
    except OrderError as e:
        raise ctx.fail("order_is_bad", f"The order is bad: {e}") from e
    except OrderLocked as e:
        raise ctx.fail("it_is_locked", f"It is locked: {e}") from e


@mcp.tool(
    errors=[
        FailureMode(
            "value_is_bad",
            ErrorCode.VALIDATION_ERROR,
            when="The value is bad.",
            recovery=TODO,
        ),
        FailureMode(
            "table_is_bad",
            ErrorCode.DATABASE_ERROR,
            when="The table is bad.",
            recovery=TODO,
        ),
    ],
)
def unrelated(ctx: ToolContext[Literal["value_is_bad", "table_is_bad"]], order_id: str) -> str:
    """Catch two classes that a third one may derive from."""
    try:
        return json.dumps(ROWS[order_id])
    except ValueError as e:
        raise ctx.fail("value_is_bad", f"The value is bad: {e}") from e
    except sqlite3.Error as e:
        raise ctx.fail("table_is_bad", f"The table is bad: {e}") from e


@mcp.tool(
    errors=[
        FailureMode(
            "order_is_unknown",
            ErrorCode.INTERNAL_ERROR,
            when="The order is unknown.",
            recovery=TODO,
        ),
        FailureMode(
            "shop_is_closed",
            ErrorCode.INTERNAL_ERROR,
            when="The shop is closed.",
            recovery=TODO,
        ),
    ],
)
def related_below(ctx: ToolContext[Literal["order_is_unknown", "shop_is_closed"]], order_id: str) -> str:
    """Catch two classes that a third one derives from."""
    try:
        return json.dumps(ROWS[order_id])
    except OrderError as e:
        raise ctx.fail("order_is_unknown", f"The order is unknown: {e}") from e
    except ShopClosed as e:
        raise ctx.fail("shop_is_closed", f"The shop is closed: {e}") from e


@mcp.tool(
    errors=[
        FailureMode(
            "no_order",
            ErrorCode.INTERNAL_ERROR,
            when="No order.",
            recovery=TODO,
        ),
    ],
)
def cleans_up(ctx: ToolContext[Literal["no_order"]], order_id: str) -> int:
    """Do something at the end."""
    try:
        return ROWS[order_id]
    except KeyError as e:
        raise ctx.fail("no_order", f"No order: {e}") from e
    finally:
        ROWS.clear()


@mcp.tool(
    errors=[
        FailureMode(
            "no_row",
            ErrorCode.INTERNAL_ERROR,
            when="No row.",
            recovery=TODO,
        ),
    ],
)
def begins(ctx: ToolContext[Literal["no_row"]], order_id: str) -> int:
    """Do something before."""
    row = ROWS["all"]
    try:
        return row + ROWS[order_id]
    except KeyError as e:
        raise ctx.fail("no_row", f"No row: {e}") from e


@mcp.tool(
    errors=[
        FailureMode(
            "too_late",
            ErrorCode.INTERNAL_ERROR,
            when="Too late.",
            recovery=TODO,
        ),
    ],
)
def later_class(ctx: ToolContext[Literal["too_late"]], order_id: str) -> int:
    """Catch a class that is not defined yet."""
    try:
        return ROWS[order_id]
    except TooLate as e:
        raise ctx.fail("too_late", f"Too late: {e}") from e


class TooLate(Exception):
    """It is too late."""


async def fetched(name: str, text: str) -> str:
    """Fetch a text."""
    return name + text
