"""The server: the order desk as tools that declare how they fail.

Run it with `python -m examples.orders.server DATABASE PAYMENTS_URL`.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NoReturn

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from examples.orders.desk import (
    DeclinedError,
    Desk,
    NotPaidError,
    PaymentsBusyError,
    PaymentsDownError,
    UnconfirmedError,
)
from examples.orders.store import (
    DeskError,
    IfShort,
    Item,
    KeyReusedError,
    NoItemError,
    NoOrderError,
    Order,
    OutOfStockError,
)
from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, tool
from mcpcore.services.batch import Batch, BatchResult


class ItemData(TypedDict):
    """Which item is not sold."""

    item: str


class ShortData(TypedDict):
    """How much of an item is left."""

    item: str
    left: int


NO_ITEM: Final = FailureMode(
    "no_item",
    ErrorCode.NOT_FOUND,
    when="No item of this name is sold.",
    recovery="Call list_items and use one of its names in place of '{item}'.",
    fallback_tool="list_items",
    data=ItemData,
    effects="none",
)
OUT_OF_STOCK: Final = FailureMode(
    "out_of_stock",
    ErrorCode.CONFLICT,
    when="Less is in stock than was ordered.",
    recovery="Order at most {left}, or send if_short='take_what_is_there' to get what there is.",
    corrective_params={"if_short": "take_what_is_there"},
    data=ShortData,
    effects="none",
)
CARD_DECLINED: Final = FailureMode(
    "card_declined",
    ErrorCode.FORBIDDEN,
    when="The card was declined.",
    recovery="Tell the customer, and ask for another card.",
    strategy="report_to_user",
    user_message="Your card was declined. Please use another one.",
    effects="none",
)
KEY_REUSED: Final = FailureMode(
    "key_reused",
    ErrorCode.CONFLICT,
    when="The idempotency key was used for another order.",
    recovery="Use a new idempotency key for each order.",
    effects="none",
)
PAYMENTS_BUSY: Final = FailureMode(
    "payments_busy",
    ErrorCode.RATE_LIMITED,
    when="The payment service limits requests.",
    recovery="Nothing was charged for what failed. Send it again after the wait, without what was placed already.",
    effects="none",
)
PAYMENTS_DOWN: Final = FailureMode(
    "payments_down",
    ErrorCode.SERVICE_UNAVAILABLE,
    when="The payment service is down.",
    recovery="Nothing was charged for what failed. Send it again after the wait. If it fails again, tell the customer "
    "that cards cannot be charged now.",
    effects="none",
)
UNCONFIRMED: Final = FailureMode(
    "payment_unconfirmed",
    ErrorCode.TIMEOUT,
    when="The payment service did not confirm in time, and may have charged the order.",
    recovery="Call find_orders with the same customer. An order that is paid is placed: do not order it again. For one "
    "that is pending, look again after a minute.",
    fallback_tool="find_orders",
    effects="unknown",
)
REFUND_UNCONFIRMED: Final = FailureMode(
    "refund_unconfirmed",
    ErrorCode.TIMEOUT,
    when="The payment service did not confirm the refund in time.",
    recovery="Ask for the refund again: an order is refunded only once.",
    retry=Retry.now(),
    effects="unknown",
)
NO_ORDER: Final = FailureMode(
    "no_order",
    ErrorCode.NOT_FOUND,
    when="There is no order of this number.",
    recovery="Call find_orders with the customer to see the numbers.",
    fallback_tool="find_orders",
    effects="none",
)
NOT_PAID: Final = FailureMode(
    "not_paid",
    ErrorCode.CONFLICT,
    when="The order is not paid, so nothing can be refunded.",
    recovery="Tell the customer that the order was never charged.",
    effects="none",
)


PlaceReason = Literal[
    "no_item",
    "out_of_stock",
    "card_declined",
    "payments_busy",
    "payments_down",
    "payment_unconfirmed",
]

Customer = Annotated[str, Field(description="The customer's name.", min_length=1, max_length=100)]
ItemName = Annotated[str, Field(description="The item, as list_items names it.", max_length=100)]
Quantity = Annotated[int, Field(description="How many.", ge=1, le=1000)]
Card = Annotated[str, Field(description="The card to charge.")]
Key = Annotated[
    str | None,
    Field(description="A new text for each order. With the same key, the same order is returned, not placed again."),
]
Short = Annotated[IfShort, Field(description="Whether to order less if less is in stock.")]


class Line(BaseModel):
    """One order of several."""

    item: ItemName
    quantity: Quantity = 1


Lines = Annotated[list[Line], Field(description="What to order.", min_length=1, max_length=20)]


class OrderTools:
    """The tools."""

    def __init__(self, desk: Desk) -> None:
        """Sell at `desk`."""
        self._desk = desk

    @tool(read_only=True)
    def list_items(self) -> list[Item]:
        """List everything that is sold."""
        return self._desk.store.items()

    @tool(errors=[NO_ITEM], read_only=True)
    def stock(self, ctx: Context[Literal["no_item"]], item: ItemName) -> Item:
        """Get the price of an item, and how many are in stock."""
        try:
            return self._desk.store.item(item)
        except NoItemError as exc:
            raise ctx.fail("no_item", str(exc), {"item": exc.item}) from exc

    @tool(read_only=True)
    def find_orders(self, customer: Customer) -> list[Order]:
        """Find the orders of a customer. Whether a pending one was charged is not known yet: look again in a minute."""
        return self._desk.find(customer)

    @tool(
        errors=[NO_ITEM, OUT_OF_STOCK, CARD_DECLINED, KEY_REUSED, PAYMENTS_BUSY, PAYMENTS_DOWN, UNCONFIRMED],
        read_only=False,
        idempotent=False,
        destructive=False,
    )
    def place_order(
        self,
        ctx: Context[PlaceReason | Literal["key_reused"]],
        customer: Customer,
        item: ItemName,
        quantity: Quantity = 1,
        card: Card = "visa",
        idempotency_key: Key = None,
        if_short: Short = "fail",
    ) -> Order:
        """Place an order and charge it."""
        try:
            return self._desk.place(customer, item, quantity, card=card, key=idempotency_key, if_short=if_short)
        except KeyReusedError as exc:
            raise ctx.fail("key_reused") from exc
        except UnconfirmedError as exc:
            # With a key, the second call finds the order of the first.
            retry = Retry.never() if idempotency_key is None else Retry.after(seconds=exc.seconds)
            raise ctx.fail("payment_unconfirmed", retry=retry) from exc
        except DeskError as exc:
            _fail_to_place(ctx, exc)

    @tool(
        errors=[NO_ITEM, OUT_OF_STOCK, CARD_DECLINED, PAYMENTS_BUSY, PAYMENTS_DOWN, UNCONFIRMED],
        read_only=False,
        idempotent=False,
        destructive=False,
    )
    def place_orders(
        self,
        ctx: Context[PlaceReason],
        customer: Customer,
        lines: Lines,
        card: Card = "visa",
    ) -> BatchResult[Order]:
        """Place and charge several orders; some may fail while others are placed."""
        batch = Batch[Order](ctx)
        for line in lines:
            with batch.item(line.model_dump()):
                try:
                    batch.add(self._desk.place(customer, line.item, line.quantity, card=card))
                except UnconfirmedError as exc:
                    raise ctx.fail("payment_unconfirmed") from exc
                except DeskError as exc:
                    _fail_to_place(ctx, exc)
        return batch.result()

    @tool(errors=[NO_ORDER, NOT_PAID, PAYMENTS_BUSY, PAYMENTS_DOWN, REFUND_UNCONFIRMED], idempotent=True)
    def refund(
        self,
        ctx: Context[Literal["no_order", "not_paid", "payments_busy", "payments_down", "refund_unconfirmed"]],
        order_id: Annotated[int, Field(description="The number of the order.")],
    ) -> Order:
        """Refund an order."""
        try:
            return self._desk.refund(order_id)
        except NoOrderError as exc:
            raise ctx.fail("no_order", str(exc), {"order_id": order_id}) from exc
        except NotPaidError as exc:
            raise ctx.fail("not_paid", str(exc)) from exc
        except PaymentsBusyError as exc:
            raise ctx.fail("payments_busy", retry=Retry.after(seconds=exc.seconds)) from exc
        except PaymentsDownError as exc:
            raise ctx.fail("payments_down", retry=Retry.after(seconds=exc.seconds)) from exc
        except UnconfirmedError as exc:
            raise ctx.fail("refund_unconfirmed") from exc


def _fail_to_place(ctx: Context[PlaceReason], exc: DeskError) -> NoReturn:
    """Raise the declared failure of an order that was not placed."""
    match exc:
        case NoItemError():
            raise ctx.fail("no_item", str(exc), {"item": exc.item}) from exc
        case OutOfStockError():
            raise ctx.fail("out_of_stock", str(exc), {"item": exc.item, "left": exc.left}) from exc
        case DeclinedError():
            raise ctx.fail("card_declined") from exc
        case PaymentsBusyError():
            raise ctx.fail("payments_busy", retry=Retry.after(seconds=exc.seconds)) from exc
        case PaymentsDownError():
            raise ctx.fail("payments_down", retry=Retry.after(seconds=exc.seconds)) from exc
    raise exc


def make_server(desk: Desk, **options: Any) -> Server:
    """The server of a desk; other options are those of `Server`."""
    tools = OrderTools(desk)
    return Server(
        "orders",
        tools=[tools.list_items, tools.stock, tools.find_orders, tools.place_order, tools.place_orders, tools.refund],
        **options,
    )


def main() -> None:
    """Serve over stdio."""
    with Desk.of_command_line() as desk:
        make_server(desk).run()


if __name__ == "__main__":
    main()
