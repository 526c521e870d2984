# message: no function is found behind `tool`
from itertools import chain

from fastmcp import FastMCP

mcp = FastMCP("shop")


def get_order(number: int) -> int:
    """Get an order."""
    return number


def get_bill(number: int) -> int:
    """Get a bill."""
    return number


ORDERS = [get_order]
BILLS = [get_bill]

for tool in chain(ORDERS, BILLS):
    mcp.add_tool(tool)  # here
for tool in filter(callable, BILLS):
    mcp.add_tool(tool)  # here
