"""Built-in exceptions, rethrown exceptions, mappings, JSON and texts."""

import json
from typing import Any, Literal

import httpx
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from mcpcore import TODO, Context as ToolContext, ErrorCode, FailureMode, Server

mcp = Server("orders", instructions="Ask for orders.", expose_internal_errors="message")
ORDERS: dict[str, int] = {}


ORDER_ID_IS_MISSING = FailureMode(
    "order_id_is_missing",
    ErrorCode.VALIDATION_ERROR,
    when="The order id is missing.",
    recovery=TODO,
)
ORDER_NOT_FOUND = FailureMode(
    "order_not_found",
    ErrorCode.NOT_FOUND,
    when="The order was not found.",
    recovery=TODO,
)
SHOP_DID_NOT_ANSWER = FailureMode(
    "shop_did_not_answer",
    ErrorCode.SERVICE_UNAVAILABLE,
    when="The shop did not answer.",
    recovery=TODO,
)


@mcp.tool(name="get", annotations=ToolAnnotations(readOnlyHint=True), errors=[ORDER_ID_IS_MISSING, ORDER_NOT_FOUND, SHOP_DID_NOT_ANSWER])
async def get_order(fails: ToolContext[Literal["order_id_is_missing", "order_not_found", "shop_did_not_answer"]], order_id: str, ctx: Context) -> dict[str, Any]:
    """Get an order."""
    if not order_id:
        raise fails.fail("order_id_is_missing", "The order id is missing")  # empty
    try:
        return {"items": ORDERS[order_id]}
    except KeyError as e:
        error_msg = f"Order {order_id} not found: {e}"
        await ctx.error(error_msg)
        raise fails.fail("order_not_found", error_msg) from e
    except httpx.HTTPError as exc:
        raise fails.fail("shop_did_not_answer", "The shop did not answer") from exc


# Adds an order.
@mcp.tool(
    errors=[
        FailureMode(
            "there_are_items",
            ErrorCode.VALIDATION_ERROR,
            when="There are {items} items, which is not enough.",
            recovery=TODO,
        ),
    ],
)
def add_order(
    ctx: ToolContext[Literal["there_are_items"]],
    order_id: str,
    items: int,  # at least one
) -> str:
    """Add an order."""
    if items < 1:
        raise ctx.fail(
            "there_are_items",
            f"There are {items} items, "
            "which is not enough"
        )
    ORDERS[order_id] = items
    return "added"


@mcp.tool(errors=[ORDER_ID_IS_MISSING])
async def find(ctx: ToolContext[Literal["order_id_is_missing"]], words: str) -> str:
    """Find orders."""
    if not words:
        raise ctx.fail("order_id_is_missing", "Order id is missing", data={"code": 400}, recovery="Give some words.")
    return json.dumps({"orders": []})


@mcp.tool(
    errors=[
        FailureMode(
            "order_was_not_found",
            ErrorCode.NOT_FOUND,
            when="The order was not found.",
            recovery=TODO,
        ),
    ],
)
async def ship(ctx: ToolContext[Literal["order_was_not_found"]], order_id: str) -> CallToolResult | str:
    """Ship an order."""
    if order_id not in ORDERS:
        raise ctx.fail("order_was_not_found", f"Order {order_id} was not found")
    return "shipped"


@mcp.tool(errors=[ORDER_ID_IS_MISSING, ORDER_NOT_FOUND, SHOP_DID_NOT_ANSWER])
async def get_again(order_id: str, ctx: Context) -> dict[str, Any]:
    """Get an order in another way."""
    return await get_order(order_id, ctx)


@mcp.tool(
    errors=[
        FailureMode(
            "x_is_required",
            ErrorCode.VALIDATION_ERROR,
            when="x is required.",
            recovery=TODO,
        ),
    ],
)
async def listed(ctx: ToolContext[Literal["x_is_required"]], x: int) -> list[TextContent]:
    """Answer with a list."""
    if not x:
        raise ctx.fail("x_is_required", "x is required")
    return []


@mcp.tool(
    errors=[
        FailureMode(
            "there_is_no_query",
            ErrorCode.NOT_FOUND,
            when="There is no query.",
            recovery=TODO,
        ),
        FailureMode(
            "sql_must_not_drop_tables",
            ErrorCode.VALIDATION_ERROR,
            when="sql must not drop tables.",
            recovery=TODO,
        ),
    ],
)
async def rows(ctx: ToolContext[Literal["there_is_no_query", "sql_must_not_drop_tables"]], sql: str) -> list[dict[str, Any]]:
    """Answer with rows."""
    if not sql:
        raise ctx.fail("there_is_no_query", "There is no query")
    if "drop" in sql:
        raise ctx.fail("sql_must_not_drop_tables", "sql must not drop tables")
    return [{"row": 1}]


@mcp.tool()
def plain(x: int) -> int:
    """Cannot fail."""
    return x
