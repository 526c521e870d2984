"""Handlers whose body is one `try`."""

import json
import logging
import sqlite3
from typing import Any, Literal

import httpx
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcpcore import TODO, Context as ToolContext, ErrorCode, FailureMode, Server

mcp = Server("clauses")
ROWS: dict[str, int] = {}
UNREADABLE = "Error: The file cannot be read"


class OrderError(Exception):
    """An order cannot be read."""


class OrderExists(OrderError):
    """Somebody else changes the order."""


class ShopClosed(Exception):
    """The shop is closed."""


class ShopClosedToday(ShopClosed, OrderError):
    """The shop is closed today."""


@mcp.tool()
def one_clause(order_id: str) -> int:
    """Get a row."""
    try:
        # The table is small.
        return ROWS[order_id]  # or nothing
    except KeyError as e:
        raise ToolError(f"There is no order {e}") from e


@mcp.tool(
    errors=[
        FailureMode(
            "order_id_is_missing",
            ErrorCode.VALIDATION_ERROR,
            when="The order id is missing.",
            recovery=TODO,
        ),
    ],
)
async def nested_classes(fails: ToolContext[Literal["order_id_is_missing"]], order_id: str, ctx: Context) -> dict[str, Any]:
    """Read an order."""
    try:
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
    except OrderExists:
        return {"error": "The order already exists"}
    except OrderError as e:
        return {"error": str(e)}
    except (FileNotFoundError, PermissionError):
        raise ToolError("Error: The file cannot be opened")
    except OSError as error:
        raise RuntimeError(UNREADABLE)


class Shop:
    """A shop."""

    @mcp.tool()
    async def open_shop(self, name: str) -> str:
        """Open the shop."""
        try:
            return await fetched(name, "")
        except httpx.HTTPStatusError as exc:
            raise ToolError(
                f"The shop answered {exc.response.status_code} "
                f"({type(exc).__name__})"
            ) from exc

    def sell(self, item: str) -> int:
        """Sell an item."""
        try:
            return ROWS[item]
        except KeyError:
            raise RuntimeError("Nothing to sell")


mcp.add_tool(Shop().sell)


@mcp.tool()
def logs(order_id: str) -> int:
    """Log the failure."""
    try:
        return ROWS[order_id]
    except KeyError as e:
        logging.error("no order")
        raise ToolError(f"There is no order {e}") from e


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
    try:
        return ROWS[order_id]
    except Exception as e:
        raise ToolError(f"It failed: {e}") from e


@mcp.tool(
    errors=[
        FailureMode(
            "order_is_too_long",
            ErrorCode.VALIDATION_ERROR,
            when="The order is too long.",
            recovery=TODO,
        ),
        FailureMode(
            "it_already_exists",
            ErrorCode.CONFLICT,
            when="It already exists.",
            recovery=TODO,
        ),
    ],
)
def wrong_order(ctx: ToolContext[Literal["order_is_too_long", "it_already_exists"]], order_id: str) -> str:
    """Catch the base class first, so that the other clause is never used."""
    try:
        return json.dumps(ROWS[order_id])
    except OrderError as e:
        raise ctx.fail("order_is_too_long", f"The order is too long: {e}") from e
    except OrderExists as e:
        raise ctx.fail("it_already_exists", f"It already exists: {e}") from e


@mcp.tool(
    errors=[
        FailureMode(
            "value_is_too_long",
            ErrorCode.VALIDATION_ERROR,
            when="The value is too long.",
            recovery=TODO,
        ),
        FailureMode(
            "table_is_too_long",
            ErrorCode.DATABASE_ERROR,
            when="The table is too long.",
            recovery=TODO,
        ),
    ],
)
def unrelated(ctx: ToolContext[Literal["value_is_too_long", "table_is_too_long"]], order_id: str) -> str:
    """Catch two classes that a third one may derive from."""
    try:
        return json.dumps(ROWS[order_id])
    except ValueError as e:
        raise ctx.fail("value_is_too_long", f"The value is too long: {e}") from e
    except sqlite3.Error as e:
        raise ctx.fail("table_is_too_long", f"The table is too long: {e}") from e


@mcp.tool()
def related_below(order_id: str) -> str:
    """Catch two classes that a third one derives from."""
    try:
        return json.dumps(ROWS[order_id])
    except OrderError as e:
        raise ToolError(f"The order is unknown: {e}") from e
    except ShopClosed as e:
        raise ToolError(f"The shop is closed: {e}") from e


@mcp.tool()
def cleans_up(order_id: str) -> int:
    """Do something at the end."""
    try:
        return ROWS[order_id]
    except KeyError as e:
        raise ToolError(f"No order: {e}") from e
    finally:
        ROWS.clear()


@mcp.tool()
def begins(order_id: str) -> int:
    """Do something before."""
    row = ROWS["all"]
    try:
        return row + ROWS[order_id]
    except KeyError as e:
        raise ToolError(f"No row: {e}") from e


@mcp.tool()
def later_class(order_id: str) -> int:
    """Catch a class that is not defined yet."""
    try:
        return ROWS[order_id]
    except TooLate as e:
        raise ToolError(f"Too late: {e}") from e


class TooLate(Exception):
    """It is too late."""


async def fetched(name: str, text: str) -> str:
    """Fetch a text."""
    return name + text
