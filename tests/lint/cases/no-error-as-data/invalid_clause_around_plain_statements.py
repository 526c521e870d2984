# message: read_order returns {"error": ...}
import logging

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("orders")
logger = logging.getLogger(__name__)


@mcp.tool()
def count_orders(shop: str) -> dict:
    """Count orders."""
    try:
        if not shop:
            shop = "main"
        logger.info("counting the orders of %s", shop)
        return {"shop": shop, "note": f"{shop} has no orders", "count": 0}
    except Exception as error:
        return {"error": str(error)}


@mcp.tool()
async def read_order(order) -> dict:
    """Read an order."""
    try:
        answer = await order
        return {"order": answer}
    except Exception as error:
        return {"error": str(error)}  # here


@mcp.tool()
def price_order(order) -> dict:
    """Price an order."""
    try:
        price = order.price
        return {"price": price}
    except Exception as error:
        return {"error": str(error)}  # here


@mcp.tool()
def show_price(price: float | None = None) -> dict:
    """Show a price."""
    try:
        return {"price": f"{price:.2f}"}
    except Exception as error:
        return {"error": str(error)}  # here


@mcp.tool()
def list_shops() -> dict:
    """List the shops."""
    try:
        shops = {"names": ["main", "north"], "range": (1, 20)}
        return {"shops": shops}
    except Exception as error:
        return {"error": str(error)}


@mcp.tool()
def first_shop(shops: list[str]) -> dict:
    """The first of two shops."""
    try:
        first, _ = shops
        return {"shop": first}
    except Exception as error:
        return {"error": str(error)}  # here
