"""Functions and methods that calls register."""

from typing import Literal

from mcpcore import TODO, Context, ErrorCode, FailureMode, Server, tool


class ShopError(Exception):
    def __init__(self, message: str, code: int = 0) -> None:
        self.message = message
        super().__init__(self.message)
        self.code = code


class StockError(Exception):
    def __init__(self, item: str) -> None:
        super().__init__(f"{item} is out of stock")


class Shop:
    def __init__(self, mcp: Server) -> None:
        mcp.tool(name="sell")(self.sell)
        mcp.add_tool(self.count)

    @tool(
        errors=[
            FailureMode(
                "item_is_needed",
                ErrorCode.VALIDATION_ERROR,
                when="An item is needed.",
                recovery=TODO,
            ),
        ],
    )
    async def sell(self, ctx: Context[Literal["item_is_needed"]], item: str) -> dict[str, object]:
        """Sell an item."""
        if not item:
            raise ctx.fail("item_is_needed", "An item is needed")
        raise StockError(item)

    def count(self) -> int:
        """Count items."""
        raise OSError("The shop is closed")


@tool(
    errors=[
        FailureMode(
            "food_cannot_be_returned",
            ErrorCode.VALIDATION_ERROR,
            when="Food cannot be returned.",
            recovery=TODO,
        ),
    ],
)
async def refund(ctx: Context[Literal["food_cannot_be_returned"]], item: str) -> dict[str, object]:
    """Take an item back."""
    if item == "food":
        raise ctx.fail("food_cannot_be_returned", "Food cannot be returned")
    return {"success": True}


def register(mcp: Server) -> None:
    mcp.tool()(refund)
    Shop(mcp)


register(Server("shop", expose_internal_errors="message"))
