# message: print() in add_tools.get_order
from fastmcp import FastMCP


def add_tools(server: FastMCP) -> None:
    @server.tool()
    def get_order(number: int) -> int:
        """Get an order."""
        print("order", number)  # here
        return number
