"""The lending desk: books, members and loans in SQLite. It knows nothing of MCP."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterator

_SCHEMA = """
create table if not exists books (isbn text primary key, title text not null, copies integer not null);
create table if not exists members (name text primary key);
create table if not exists loans (
    number integer primary key, isbn text not null, member text not null, weeks integer not null default 4
);
"""
MAX_WEEKS = 12


class BookNotFoundError(LookupError):
    """The library does not have a book."""

    def __init__(self, isbn: str) -> None:
        super().__init__(f"no book {isbn} in the table of books")
        self.isbn = isbn


class MemberNotFoundError(LookupError):
    """Nobody of that name is a member."""


class LoanNotFoundError(LookupError):
    """There is no loan of that number, or its book is back."""

    def __init__(self, loan: int) -> None:
        super().__init__(f"no loan {loan} in the table of loans")
        self.loan = loan


class AllLentError(Exception):
    """Every copy of a book is lent."""


class Book(BaseModel):
    """A book of the library."""

    isbn: str
    title: str
    copies: int


class Loan(BaseModel):
    """A book that a member has."""

    number: int
    isbn: str
    member: str
    weeks: int


class Desk:
    """The books and loans of a library."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        database.row_factory = sqlite3.Row
        database.executescript(_SCHEMA)

    def book(self, isbn: str) -> Book:
        """Look up a book, or raise `BookNotFoundError`."""
        row = self._database.execute("select * from books where isbn = ?", (isbn,)).fetchone()
        if row is None:
            raise BookNotFoundError(isbn)
        return Book(**row)

    def add(self, book: Book) -> None:
        """Add a book, or more copies of it."""
        self._database.execute(
            "insert into books values (?, ?, ?) on conflict do update set copies = copies + excluded.copies",
            (book.isbn, book.title, book.copies),
        )

    def join(self, member: str) -> None:
        """Make somebody a member."""
        self._database.execute("insert or ignore into members values (?)", (member,))

    def lend(self, isbn: str, member: str) -> Loan:
        """Lend a book, or raise `BookNotFoundError`, `MemberNotFoundError` or `AllLentError`."""
        with self._transaction():
            book = self.book(isbn)
            self.loans_of(member)
            (lent,) = self._database.execute("select count(*) from loans where isbn = ?", (isbn,)).fetchone()
            if lent >= book.copies:
                raise AllLentError(isbn)
            query = "insert into loans (isbn, member) values (?, ?) returning *"
            return Loan(**self._database.execute(query, (isbn, member)).fetchone())

    def loan(self, number: int) -> Loan:
        """Look up a loan, or raise `LoanNotFoundError`."""
        row = self._database.execute("select * from loans where number = ?", (number,)).fetchone()
        if row is None:
            raise LoanNotFoundError(number)
        return Loan(**row)

    def loans_of(self, member: str) -> list[Loan]:
        """List what a member has, or raise `MemberNotFoundError`."""
        if self._database.execute("select 1 from members where name = ?", (member,)).fetchone() is None:
            raise MemberNotFoundError(member)
        query = "select * from loans where member = ? order by number"
        return [Loan(**row) for row in self._database.execute(query, (member,))]

    def take_back(self, number: int) -> Loan:
        """End a loan, or raise `LoanNotFoundError`."""
        loan = self.loan(number)
        self._database.execute("delete from loans where number = ?", (number,))
        return loan

    def renew(self, number: int) -> Loan:
        """Add four weeks to a loan, up to `MAX_WEEKS`."""
        weeks = min(self.loan(number).weeks + 4, MAX_WEEKS)
        self._database.execute("update loans set weeks = ? where number = ?", (weeks, number))
        return self.loan(number)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._database.execute("rollback")
            raise
        self._database.execute("commit")
