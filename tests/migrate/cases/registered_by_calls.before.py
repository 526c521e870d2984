"""Functions and methods that calls register."""

from mcp.server.fastmcp import FastMCP


class ShopError(Exception):
    def __init__(self, message: str, code: int = 0) -> None:
        self.message = message
        super().__init__(self.message)
        self.code = code


class StockError(Exception):
    def __init__(self, item: str) -> None:
        super().__init__(f"{item} is out of stock")


class Shop:
    def __init__(self, mcp: FastMCP) -> None:
        mcp.tool(name="sell")(self.sell)
        mcp.add_tool(self.count)

    async def sell(self, item: str) -> dict[str, object]:
        """Sell an item."""
        if not item:
            raise ShopError("An item is needed")
        raise StockError(item)

    def count(self) -> int:
        """Count items."""
        raise OSError("The shop is closed")


async def refund(item: str) -> dict[str, object]:
    """Take an item back."""
    if item == "food":
        raise ValueError("Food cannot be returned")
    return {"success": True}


def register(mcp: FastMCP) -> None:
    mcp.tool()(refund)
    Shop(mcp)


register(FastMCP("shop"))
