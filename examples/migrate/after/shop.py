"""A shop on the plain SDK: its tools fail in four ways."""

from typing import Any, Literal

from mcpcore import TODO, Context, ErrorCode, FailureMode, Server

mcp = Server("shop")
ORDERS: dict[str, int] = {"A-1": 3}


ORDER_NOT_FOUND = FailureMode(
    "order_not_found",
    ErrorCode.NOT_FOUND,
    when="The order was not found.",
    recovery=TODO,
)


@mcp.tool(
    errors=[
        FailureMode(
            "order_id_is_missing",
            ErrorCode.VALIDATION_ERROR,
            when="The order id is missing.",
            recovery=TODO,
        ),
        ORDER_NOT_FOUND,
    ],
)
async def get_order(ctx: Context[Literal["order_id_is_missing", "order_not_found"]], order_id: str) -> dict[str, Any]:
    """Get an order."""
    try:
        if not order_id:
            raise ctx.fail("order_id_is_missing", "The order id is missing")
        return {"items": ORDERS[order_id]}
    except KeyError as exc:
        raise ctx.fail("order_not_found", f"Order {order_id} not found") from exc


@mcp.tool(
    errors=[
        FailureMode(
            "there_is_no_order",
            ErrorCode.NOT_FOUND,
            when="There is no order {order_id}.",
            recovery=TODO,
        ),
    ],
)
async def count_items(ctx: Context[Literal["there_is_no_order"]], order_id: str) -> int:
    """Count the items of an order."""
    try:
        return ORDERS[order_id]
    except KeyError as e:
        raise ctx.fail("there_is_no_order", f"There is no order {order_id}") from e


@mcp.tool(errors=[ORDER_NOT_FOUND])
async def cancel_order(ctx: Context[Literal["order_not_found"]], order_id: str) -> str:
    """Cancel an order."""
    if order_id not in ORDERS:
        raise ctx.fail("order_not_found", f"order {order_id} not found")
    del ORDERS[order_id]
    return f"Order {order_id} is cancelled."


def main() -> None:
    """Serve the tools over stdio."""
    mcp.run()


if __name__ == "__main__":
    main()
