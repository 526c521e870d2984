"""The same order desk on the SDK alone: its tools raise a `ToolError` with the same sentences.

It has the same tools, arguments, annotations and descriptions, the same database and the same breaker in front of the
payment service. Only what a client reads of a failure differs.
"""

from __future__ import annotations

from typing import Final

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from examples.orders.desk import Desk
from examples.orders.server import Card, Customer, ItemName, Key, Lines, Quantity, Short  # noqa: TC001 - the SDK reads them
from examples.orders.store import DeskError, Item, Order

READS: Final = ToolAnnotations(read_only_hint=True)
PLACES: Final = ToolAnnotations(read_only_hint=False, idempotent_hint=False, destructive_hint=False)
REFUNDS: Final = ToolAnnotations(idempotent_hint=True)


def make_server(desk: Desk) -> MCPServer[object]:
    """The server of a desk."""
    server: MCPServer[object] = MCPServer("orders")

    @server.tool(annotations=READS)
    def list_items() -> list[Item]:
        """List everything that is sold."""
        return desk.store.items()

    @server.tool(annotations=READS)
    def stock(item: ItemName) -> Item:
        """Get the price of an item, and how many are in stock."""
        try:
            return desk.store.item(item)
        except DeskError as exc:
            raise ToolError(str(exc)) from exc

    @server.tool(annotations=READS)
    def find_orders(customer: Customer) -> list[Order]:
        """Find the orders of a customer. Whether a pending one was charged is not known yet: look again in a minute."""
        return desk.find(customer)

    @server.tool(annotations=PLACES)
    def place_order(
        customer: Customer,
        item: ItemName,
        quantity: Quantity = 1,
        card: Card = "visa",
        idempotency_key: Key = None,
        if_short: Short = "fail",
    ) -> Order:
        """Place an order and charge it."""
        try:
            return desk.place(customer, item, quantity, card=card, key=idempotency_key, if_short=if_short)
        except DeskError as exc:
            raise ToolError(str(exc)) from exc

    @server.tool(annotations=PLACES)
    def place_orders(customer: Customer, lines: Lines, card: Card = "visa") -> list[Order]:
        """Place and charge several orders; some may fail while others are placed."""
        orders: list[Order] = []
        problems: list[str] = []
        for line in lines:
            try:
                orders.append(desk.place(customer, line.item, line.quantity, card=card))
            except DeskError as exc:
                problems.append(f"{line.item}: {exc}")
        if problems:
            placed = ", ".join(order.item for order in orders) or "nothing"
            raise ToolError(f"{len(problems)} of {len(lines)} orders failed. {' '.join(problems)} Placed: {placed}.")
        return orders

    @server.tool(annotations=REFUNDS)
    def refund(order_id: int) -> Order:
        """Refund an order."""
        try:
            return desk.refund(order_id)
        except DeskError as exc:
            raise ToolError(str(exc)) from exc

    return server


def main() -> None:
    """Serve over stdio."""
    with Desk.of_command_line() as desk:
        make_server(desk).run()


if __name__ == "__main__":
    main()
