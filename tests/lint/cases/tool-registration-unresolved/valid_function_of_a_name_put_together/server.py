from fastmcp import FastMCP


def add_orders(mcp: FastMCP) -> None:
    @mcp.tool()
    def get_order(number: int) -> int:
        """Get an order."""
        return number


def add_bills(mcp: FastMCP) -> None:
    @mcp.tool()
    def get_bill(number: int) -> int:
        """Get a bill."""
        return number
