# message: no server is found behind `mcp`
from fastmcp import FastMCP


def add_orders(mcp: FastMCP) -> None:
    @mcp.tool()  # here
    def get_order(number: int) -> dict:
        return {"error": f"no order {number}"}


def add_bills(server: FastMCP) -> None:
    server.add_tool(get_bill)  # here


def add_prices(mcp: FastMCP) -> None:
    @mcp.tool()
    def get_price(number: int) -> int:
        """Get a price."""
        return number


def get_bill(number: int) -> dict:
    return {"error": f"no bill {number}"}
