"""The server: the order desk as tools that declare how they fail.

Run it with `python -m examples.orders.server DATABASE PAYMENTS_URL`.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

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
    IfShort,
    Item,
    KeyReusedError,
    NoItemError,
    NoOrderError,
    Order,
    OutOfStockError,
)
from mcpcore import CodedError, Context, ErrorCode, FailureMode, Retry, Server, tool
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
).on(NoItemError, data=lambda exc: {"item": exc.item}, message=str)
OUT_OF_STOCK: Final = FailureMode(
    "out_of_stock",
    ErrorCode.CONFLICT,
    when="Less is in stock than was ordered.",
    recovery="Order at most {left}, or send if_short='take_what_is_there' to get what there is.",
    corrective_params={"if_short": "take_what_is_there"},
    data=ShortData,
    effects="none",
).on(OutOfStockError, data=lambda exc: {"item": exc.item, "left": exc.left}, message=str)
CARD_DECLINED: Final = FailureMode(
    "card_declined",
    ErrorCode.FORBIDDEN,
    when="The card was declined.",
    recovery="Tell the customer, and ask for another card.",
    strategy="report_to_user",
    user_message="Your card was declined. Please use another one.",
    effects="none",
).on(DeclinedError)
KEY_REUSED: Final = FailureMode(
    "key_reused",
    ErrorCode.CONFLICT,
    when="The idempotency key was used for another order.",
    recovery="Use a new idempotency key for each order.",
    effects="none",
).on(KeyReusedError)
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
).on(UnconfirmedError)
REFUND_UNCONFIRMED: Final = FailureMode(
    "refund_unconfirmed",
    ErrorCode.TIMEOUT,
    when="The payment service did not confirm the refund in time.",
    recovery="Ask for the refund again: an order is refunded only once.",
    retry=Retry.now(),
    effects="unknown",
).on(UnconfirmedError)
NO_ORDER: Final = FailureMode(
    "no_order",
    ErrorCode.NOT_FOUND,
    when="There is no order of this number.",
    recovery="Call find_orders with the customer to see the numbers.",
    fallback_tool="find_orders",
    effects="none",
).on(NoOrderError, data=lambda exc: {"order_id": exc.order_id}, message=str)
NOT_PAID: Final = FailureMode(
    "not_paid",
    ErrorCode.CONFLICT,
    when="The order is not paid, so nothing can be refunded.",
    recovery="Tell the customer that the order was never charged.",
    effects="none",
).on(NotPaidError, message=str)


Charge = Literal["payments_busy", "payments_down"]
"""The reasons that the tools which charge raise themselves, since the wait is known only then."""

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
    def stock(self, item: ItemName) -> Item:
        """Get the price of an item, and how many are in stock."""
        return self._desk.store.item(item)

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
        ctx: Context[Charge | Literal["payment_unconfirmed"]],
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
        except UnconfirmedError as exc:
            # With a key, the second call finds the order of the first.
            retry = Retry.never() if idempotency_key is None else Retry.after(seconds=exc.seconds)
            raise ctx.fail("payment_unconfirmed", retry=retry) from exc
        except (PaymentsBusyError, PaymentsDownError) as exc:
            raise _not_charged(ctx, exc) from exc

    @tool(
        errors=[NO_ITEM, OUT_OF_STOCK, CARD_DECLINED, PAYMENTS_BUSY, PAYMENTS_DOWN, UNCONFIRMED],
        read_only=False,
        idempotent=False,
        destructive=False,
    )
    def place_orders(
        self,
        ctx: Context[Charge],
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
                except (PaymentsBusyError, PaymentsDownError) as exc:
                    raise _not_charged(ctx, exc) from exc
        return batch.result()

    @tool(errors=[NO_ORDER, NOT_PAID, PAYMENTS_BUSY, PAYMENTS_DOWN, REFUND_UNCONFIRMED], idempotent=True)
    def refund(
        self,
        ctx: Context[Charge],
        order_id: Annotated[int, Field(description="The number of the order.")],
    ) -> Order:
        """Refund an order."""
        try:
            return self._desk.refund(order_id)
        except (PaymentsBusyError, PaymentsDownError) as exc:
            raise _not_charged(ctx, exc) from exc


def _not_charged(ctx: Context[Charge], exc: PaymentsBusyError | PaymentsDownError) -> CodedError:
    """The declared failure of an order that was not charged, with the wait that the payment service asks for."""
    reason: Charge = "payments_busy" if isinstance(exc, PaymentsBusyError) else "payments_down"
    return ctx.fail(reason, retry=Retry.after(seconds=exc.seconds))


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
