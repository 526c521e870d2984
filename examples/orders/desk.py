"""The order desk itself, which knows neither MCP nor contracts. Both servers call it.

An order is reserved in the database, charged at the payment service, and then marked as paid. The number of the order
is the idempotency key of its charge, so that charging it again does no harm.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

import httpx2

from examples.orders.store import DeskError, IfShort, Order, Store
from mcpcore import CodedError, ErrorCode, from_http_response
from mcpcore.services.breaker import CircuitBreaker, CircuitOpenError

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

PAYMENT_TIMEOUT: Final = 1.0
"""Seconds to wait for an answer of the payment service."""

RESET_AFTER: Final = 2.0
"""Seconds for which the payment service is not called after `FAILURES` failures in a row."""

FAILURES: Final = 2
MIN_WAIT: Final = 0.5
"""Seconds to wait after a single failure."""


class DeclinedError(DeskError):
    """The card was declined."""

    def __init__(self) -> None:
        super().__init__("The card was declined.")


class PaymentsBusyError(DeskError):
    """The payment service limits requests, and charged nothing."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The payment service limits requests. Try again in {seconds:g} s.")
        self.seconds = seconds


class PaymentsDownError(DeskError):
    """The payment service is down, and charged nothing."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The payment service is down. Try again in {seconds:.1f} s.")
        self.seconds = seconds


class UnconfirmedError(DeskError):
    """The payment service may have done what it was asked to do."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__("The payment service did not confirm in time. It may have done what it was asked to do.")
        self.seconds = seconds


class NotPaidError(DeskError):
    """An order that is not paid cannot be refunded."""

    def __init__(self, order_id: int) -> None:
        super().__init__(f"Order {order_id} is not paid.")
        self.order_id = order_id


class Payments:
    """The payment service, behind a circuit breaker."""

    def __init__(self, url: str, *, timeout: float, reset_after: float) -> None:
        """Call the service at `url`; see `Desk` for the options."""
        self._client = httpx2.Client(base_url=url, timeout=timeout)
        self.breaker = CircuitBreaker("payments", failures=FAILURES, reset_after=reset_after)

    def close(self) -> None:
        """Close the connections to the service."""
        self._client.close()

    def charge(self, order: Order, card: str) -> str:
        """Charge an order, once however often it is called; the id of the charge.

        Raises:
            DeskError: If the card is declined, or the service is busy, down or did not confirm.
        """
        body = {"customer": order.customer, "cents": order.cents, "card": card}
        answer = self._call("POST", "/charges", json=body, headers={"Idempotency-Key": _key(order)})
        return str(answer["id"])

    def refund(self, charge: str) -> None:
        """Refund a charge, once however often it is called.

        Raises:
            DeskError: If the service is busy, down or did not confirm.
        """
        self._call("POST", "/refunds", json={"charge": charge})

    def find(self, order: Order) -> str | None:
        """The id of the charge of an order, if it was charged.

        Raises:
            DeskError: If the service is busy, down or did not answer.
        """
        try:
            return str(self._call("GET", f"/charges/{_key(order)}")["id"])
        except CodedError as exc:
            if exc.code is not ErrorCode.NOT_FOUND:
                raise
            return None

    def _call(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        try:
            with self.breaker:
                response = self._client.request(method, path, **options)
                if response.is_error:
                    raise from_http_response(response, service="The payment service")
                return dict(response.json())
        except CircuitOpenError as exc:
            raise PaymentsDownError(exc.advice.seconds or 0.0) from exc
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as exc:
            raise self._down() from exc
        except httpx2.TransportError as exc:  # it may have arrived
            raise UnconfirmedError from exc
        except CodedError as exc:
            if exc.code is ErrorCode.RATE_LIMITED:
                raise PaymentsBusyError(exc.advice.seconds or 0.0) from exc
            if exc.code is ErrorCode.SERVICE_UNAVAILABLE:
                raise self._down() from exc
            if exc.data is not None and exc.data.get("status") == 402:
                raise DeclinedError from exc
            raise

    def _down(self) -> PaymentsDownError:
        return PaymentsDownError(max(MIN_WAIT, self.breaker.retry_after))


class Desk:
    """Takes orders, and refunds them."""

    def __init__(
        self,
        database: Path | str,
        payments: str,
        *,
        timeout: float = PAYMENT_TIMEOUT,
        reset_after: float = RESET_AFTER,
    ) -> None:
        """Open a desk.

        Args:
            database: The path of the database, which is created if it is not there.
            payments: The URL of the payment service.
            timeout: Seconds to wait for an answer of the payment service.
            reset_after: Seconds for which the payment service is not called after several failures in a row.
        """
        self.store = Store(database)
        self.payments = Payments(payments, timeout=timeout, reset_after=reset_after)

    @classmethod
    def of_command_line(cls) -> Desk:
        """The desk that the arguments of the program describe."""
        parser = argparse.ArgumentParser(description="Serve the order desk over stdio.")
        parser.add_argument("database", help="the path of the database, which is created if it is not there")
        parser.add_argument("payments", help="the URL of the payment service")
        parser.add_argument("--timeout", type=float, default=PAYMENT_TIMEOUT, metavar="SECONDS")
        parser.add_argument("--reset-after", type=float, default=RESET_AFTER, metavar="SECONDS")
        options = parser.parse_args()
        return cls(options.database, options.payments, timeout=options.timeout, reset_after=options.reset_after)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the database, and the connections to the payment service."""
        self.payments.close()
        self.store.close()

    def place(
        self, customer: str, item: str, quantity: int, *, card: str, key: str | None = None, if_short: IfShort = "fail"
    ) -> Order:
        """Place and charge an order; the same order again if its key is known.

        Raises:
            UnconfirmedError: If the order may have been charged. It stays pending.
            DeskError: If the order cannot be placed. Then nothing was changed.
        """
        order, is_new = self.store.reserve(customer, item, quantity, key=key, if_short=if_short)
        if order.status != "pending":
            return order
        try:
            return self.store.pay(order, self.payments.charge(order, card))
        except (PaymentsBusyError, PaymentsDownError) as exc:
            if not is_new:  # an earlier attempt may have charged it
                raise UnconfirmedError(exc.seconds) from exc
            self.store.cancel(order)
            raise
        except DeclinedError:
            self.store.cancel(order)
            raise

    def find(self, customer: str) -> list[Order]:
        """The orders of a customer. The payment service is asked about those that are pending; nothing is changed."""
        return [self._as_charged(order) for order in self.store.orders(customer)]

    def _as_charged(self, order: Order) -> Order:
        if order.status != "pending":
            return order
        try:
            charge = self.payments.find(order)
        except DeskError:  # then it is not known
            return order
        return order if charge is None else order.model_copy(update={"status": "paid", "charge": charge})

    def refund(self, order_id: int) -> Order:
        """Refund an order; a refunded order stays refunded.

        Raises:
            DeskError: If the order is not there or not paid, or the payment service is busy, down or did not confirm.
        """
        order = self.store.order(order_id)
        if order.status == "refunded":
            return order
        charge = order.charge or self.payments.find(order)
        if charge is None:
            raise NotPaidError(order_id)
        self.store.pay(order, charge)
        self.payments.refund(charge)
        return self.store.refund(order)


def _key(order: Order) -> str:
    return f"order-{order.id}"
