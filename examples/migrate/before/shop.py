"""A shop on the plain SDK: its tools fail in four ways."""

from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

mcp = MCPServer("shop")
ORDERS: dict[str, int] = {"A-1": 3}


@mcp.tool()
async def get_order(order_id: str) -> dict[str, Any]:
    """Get an order."""
    try:
        if not order_id:
            raise ValueError("The order id is missing")
        return {"items": ORDERS[order_id]}
    except KeyError:
        return {"error": f"Order {order_id} not found"}
    except Exception:
        return {"error": "Failed to get the order"}


@mcp.tool()
async def count_items(order_id: str) -> int:
    """Count the items of an order."""
    try:
        return ORDERS[order_id]
    except KeyError as e:
        raise ToolError(f"There is no order {order_id}") from e


@mcp.tool()
async def cancel_order(order_id: str) -> str:
    """Cancel an order."""
    if order_id not in ORDERS:
        return f"Error: order {order_id} not found"
    del ORDERS[order_id]
    return f"Order {order_id} is cancelled."


def main() -> None:
    """Serve the tools over stdio."""
    mcp.run()


if __name__ == "__main__":
    main()
