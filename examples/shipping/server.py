"""The shipping desk: a FastMCP server with a database, contract tools, plain tools and a mounted stock server."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastmcp import FastMCP
from fastmcp.dependencies import Depends
from pydantic import BaseModel, Field

from mcpcore import Context, ErrorCode, FailureMode, Retry, tool
from mcpcore.integrations.fastmcp import ContractMiddleware

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCHEMA = """
create table orders (id text primary key, item text, quantity integer, shipped integer);
create table stock (item text primary key, quantity integer);
insert into orders values ('A-1', 'lamp', 2, 0), ('A-2', 'desk', 1, 1);
insert into stock values ('lamp', 5), ('desk', 0);
"""

_database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
_database.row_factory = sqlite3.Row
_database.executescript(_SCHEMA)


@contextmanager
def connection() -> Iterator[sqlite3.Connection]:
    """The database of a call, which is rolled back where the call fails."""
    _database.execute("begin immediate")
    try:
        yield _database
    except BaseException:
        _database.execute("rollback")
        raise
    _database.execute("commit")


Database = Annotated[sqlite3.Connection, Depends(connection)]
OrderId = Annotated[str, Field(description="The id of an order, such as A-1.", pattern=r"^[A-Z]-\d+$")]


class Order(BaseModel):
    """An order."""

    id: str
    item: str
    quantity: int
    shipped: bool


NO_ORDER = FailureMode(
    "no_order",
    ErrorCode.NOT_FOUND,
    when="There is no order of that id.",
    recovery="Call list_orders to see the ids.",
    fallback_tool="list_orders",
)
SHIPPED = FailureMode(
    "shipped", ErrorCode.CONFLICT, when="The order is shipped already.", recovery="Place a new order instead."
)
OUT_OF_STOCK = FailureMode(
    "out_of_stock",
    ErrorCode.CONFLICT,
    when="There is less in stock than the order needs.",
    recovery="Wait for the next delivery, or lower the quantity.",
    retry=Retry.after(seconds=3600),
)

stock: FastMCP[Any] = FastMCP("stock")


@stock.tool
def count(item: str, db: Database) -> int:
    """How many of an item are in stock."""
    row = db.execute("select quantity from stock where item = ?", (item,)).fetchone()
    return int(row["quantity"])  # an item that nobody sells is a crash, and is masked


def make_server() -> FastMCP[Any]:
    """The server; its failures are recorded in the file that MCPCORE_AUDIT names."""
    mcp: FastMCP[Any] = FastMCP("shipping")
    mcp.add_middleware(ContractMiddleware(describe_failures=True))
    mcp.mount(stock, namespace="stock")

    @mcp.tool
    def list_orders(db: Database) -> list[str]:
        """The ids of all orders."""
        return [row["id"] for row in db.execute("select id from orders order by id")]

    @mcp.tool(tags={"orders"})
    @tool(errors=[NO_ORDER])
    def get_order(ctx: Context[Literal["no_order"]], order_id: OrderId, db: Database) -> Order:
        """Get an order."""
        row = db.execute("select * from orders where id = ?", (order_id,)).fetchone()
        if row is None:
            raise ctx.fail("no_order", f"There is no order {order_id}.", data={"order_id": order_id})
        return Order(**row)

    @mcp.tool(timeout=10)
    @tool(errors=[NO_ORDER, SHIPPED, OUT_OF_STOCK])
    def ship_order(
        ctx: Context[Literal["no_order", "shipped", "out_of_stock"]], order_id: OrderId, db: Database
    ) -> Order:
        """Ship an order."""
        row = db.execute("select * from orders where id = ?", (order_id,)).fetchone()
        if row is None:
            raise ctx.fail("no_order", f"There is no order {order_id}.", data={"order_id": order_id})
        order = Order(**row)
        if order.shipped:
            raise ctx.fail("shipped", data={"order_id": order_id})
        left = db.execute("select quantity from stock where item = ?", (order.item,)).fetchone()["quantity"]
        if left < order.quantity:
            raise ctx.fail("out_of_stock", data={"needed": order.quantity, "left": left})
        db.execute("update stock set quantity = quantity - ? where item = ?", (order.quantity, order.item))
        db.execute("update orders set shipped = 1 where id = ?", (order_id,))
        return order.model_copy(update={"shipped": True})

    return mcp
