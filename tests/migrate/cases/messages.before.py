"""Built-in exceptions, rethrown exceptions, mappings, JSON and texts."""

import json
from typing import Any

import httpx
from mcp.server.fastmcp import Context, FastMCP
from mcp.types import CallToolResult, TextContent, ToolAnnotations

mcp = FastMCP("orders", "Ask for orders.")
ORDERS: dict[str, int] = {}


@mcp.tool("get", annotations=ToolAnnotations(readOnlyHint=True))
async def get_order(order_id: str, ctx: Context) -> dict[str, Any]:
    """Get an order."""
    if not order_id:
        raise ValueError("The order id is missing")  # empty
    try:
        return {"items": ORDERS[order_id]}
    except KeyError as e:
        error_msg = f"Order {order_id} not found: {e}"
        await ctx.error(error_msg)
        return {"error": error_msg}
    except httpx.HTTPError:
        raise RuntimeError("The shop did not answer")
    except Exception as e:
        raise RuntimeError(f"Failed to read order: {e}") from e


# Adds an order.
@mcp.tool()
def add_order(
    order_id: str,
    items: int,  # at least one
) -> str:
    """Add an order."""
    try:
        if items < 1:
            raise ValueError(
                f"There are {items} items, "
                "which is not enough"
            )
        ORDERS[order_id] = items
    except Exception as exc:
        return f"Error: {exc}"
    return "added"


@mcp.tool()
async def find(words: str) -> str:
    """Find orders."""
    if not words:
        return json.dumps({"error": "Order id is missing", "code": 400, "hint": "Give some words."}, indent=2)
    return json.dumps({"orders": []})


@mcp.tool()
async def ship(order_id: str) -> CallToolResult | str:
    """Ship an order."""
    if order_id not in ORDERS:
        return CallToolResult(isError=True, content=[TextContent(type="text", text=f"Order {order_id} was not found")])
    return "shipped"


@mcp.tool()
async def get_again(order_id: str, ctx: Context) -> dict[str, Any]:
    """Get an order in another way."""
    return await get_order(order_id, ctx)


@mcp.tool()
async def listed(x: int) -> list[TextContent]:
    """Answer with a list."""
    if not x:
        return [TextContent(type="text", text="Error: x is required")]
    return []


@mcp.tool()
async def rows(sql: str) -> list[dict[str, Any]]:
    """Answer with rows."""
    if not sql:
        return [{"error": "There is no query"}]
    if "drop" in sql:
        return {"status": "error", "reason": "sql must not drop tables"}
    return [{"row": 1}]


@mcp.tool()
def plain(x: int) -> int:
    """Cannot fail."""
    return x
