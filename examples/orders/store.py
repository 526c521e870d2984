"""The database: what is in stock, and the orders. Each change is one transaction."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IfShort = Literal["fail", "take_what_is_there"]

_SCHEMA: Final = """
create table if not exists items (
    name text primary key,
    cents integer not null,
    stock integer not null check (stock >= 0)
);
create table if not exists orders (
    id integer primary key autoincrement,
    customer text not null,
    item text not null references items,
    quantity integer not null check (quantity > 0),
    status text not null check (status in ('pending', 'paid', 'refunded')),
    charge text,
    key text unique
);
insert or ignore into items values ('lamp', 4000, 500), ('desk', 25000, 3), ('chair', 9000, 12), ('shelf', 12000, 0);
"""
_ORDER: Final = """
select orders.id, customer, item, quantity, quantity * cents as cents, status, charge
from orders join items on items.name = orders.item
"""


class DeskError(Exception):
    """The order desk cannot do what it was asked to do."""


class NoItemError(DeskError):
    """Nothing of this name is sold."""

    def __init__(self, item: str) -> None:
        super().__init__(f"There is no item {item!r}.")
        self.item = item


class OutOfStockError(DeskError):
    """There is less in stock than was ordered."""

    def __init__(self, item: str, left: int) -> None:
        super().__init__(f"Only {left} of {item!r} are left.")
        self.item = item
        self.left = left


class KeyReusedError(DeskError):
    """An idempotency key came with another order before."""

    def __init__(self) -> None:
        super().__init__("This idempotency key was used for another order.")


class NoOrderError(DeskError):
    """There is no order of this number."""

    def __init__(self, order_id: int) -> None:
        super().__init__(f"There is no order {order_id}.")
        self.order_id = order_id


class Item(BaseModel):
    """An item that is sold."""

    name: str
    cents: int = Field(description="The price of one.")
    stock: int = Field(description="How many there are.")


class Order(BaseModel):
    """An order."""

    id: int
    customer: str
    item: str
    quantity: int
    cents: int = Field(description="The price in all.")
    status: Literal["pending", "paid", "refunded"] = Field(
        description="Whether a pending order was charged is not known yet."
    )
    charge: str | None = Field(default=None, description="The charge of the payment service.")


class Store:
    """The database in a file; any thread may use it."""

    def __init__(self, path: Path | str) -> None:
        """Open the database at `path`, and create it if it is not there."""
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._database.row_factory = sqlite3.Row
        self._database.executescript(_SCHEMA)
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._database.execute("begin immediate")
            try:
                yield self._database
            except BaseException:
                self._database.execute("rollback")
                raise
            self._database.execute("commit")

    def items(self) -> list[Item]:
        """Everything that is sold."""
        with self._transaction() as database:
            return [Item(**row) for row in database.execute("select * from items order by name")]

    def item(self, name: str) -> Item:
        """One item.

        Raises:
            NoItemError: If no item has this name.
        """
        with self._transaction() as database:
            return _item(database, name)

    def reserve(
        self, customer: str, item: str, quantity: int, *, key: str | None, if_short: IfShort
    ) -> tuple[Order, bool]:
        """A pending order that takes its items from the stock, and whether it is new.

        With a key that is known already, it is the order of that key, in whatever state it is.

        Raises:
            NoItemError: If there is no such item.
            OutOfStockError: If there is too little of it.
            KeyReusedError: If the key belongs to an order of another customer or item.
        """
        with self._transaction() as database:
            row = None if key is None else database.execute(f"{_ORDER} where key = ?", (key,)).fetchone()
            if row is not None:
                order = Order(**row)
                if (order.customer, order.item) != (customer, item):
                    raise KeyReusedError
                return order, False
            left = _item(database, item).stock
            if left < quantity and (if_short == "fail" or not left):
                raise OutOfStockError(item, left)
            quantity = min(quantity, left)
            database.execute("update items set stock = stock - ? where name = ?", (quantity, item))
            insert = "insert into orders (customer, item, quantity, status, key) values (?, ?, ?, 'pending', ?)"
            order_id = database.execute(insert, (customer, item, quantity, key)).lastrowid
            assert order_id is not None
            return _order(database, order_id), True

    def pay(self, order: Order, charge: str) -> Order:
        """Mark a pending order as paid."""
        with self._transaction() as database:
            update = "update orders set status = 'paid', charge = ? where id = ? and status = 'pending'"
            database.execute(update, (charge, order.id))
            return _order(database, order.id)

    def cancel(self, order: Order) -> None:
        """Forget a pending order, and put its items back."""
        with self._transaction() as database:
            done = database.execute("delete from orders where id = ? and status = 'pending'", (order.id,))
            if done.rowcount:
                _put_back(database, order)

    def refund(self, order: Order) -> Order:
        """Mark a paid order as refunded, and put its items back."""
        with self._transaction() as database:
            done = database.execute(
                "update orders set status = 'refunded' where id = ? and status = 'paid'", (order.id,)
            )
            if done.rowcount:
                _put_back(database, order)
            return _order(database, order.id)

    def order(self, order_id: int) -> Order:
        """One order.

        Raises:
            NoOrderError: If no order has this number.
        """
        with self._transaction() as database:
            return _order(database, order_id)

    def orders(self, customer: str) -> list[Order]:
        """The orders of a customer."""
        with self._transaction() as database:
            return [Order(**row) for row in database.execute(f"{_ORDER} where customer = ? order by id", (customer,))]


def _item(database: sqlite3.Connection, name: str) -> Item:
    row = database.execute("select * from items where name = ?", (name,)).fetchone()
    if row is None:
        raise NoItemError(name)
    return Item(**row)


def _order(database: sqlite3.Connection, order_id: int) -> Order:
    row = database.execute(f"{_ORDER} where orders.id = ?", (order_id,)).fetchone()
    if row is None:
        raise NoOrderError(order_id)
    return Order(**row)


def _put_back(database: sqlite3.Connection, order: Order) -> None:
    database.execute("update items set stock = stock + ? where name = ?", (order.quantity, order.item))
