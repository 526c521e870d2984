from fastmcp import FastMCP

from server import add_bills, add_orders, add_prices

__all__ = ["add_bills", "add_orders"]

mcp = FastMCP("shop")
add_prices(mcp)
