"""The lending library as it was written before `FailureMode.on`: each handler maps its exceptions itself."""

from __future__ import annotations

import os
import sqlite3
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import httpx2
from pydantic import BaseModel, Field

from examples.library.catalogue import Catalogue, Title
from examples.library.desk import (
    MAX_WEEKS,
    AllLentError,
    Book,
    BookNotFoundError,
    Desk,
    Loan,
    LoanNotFoundError,
    MemberNotFoundError,
)
from mcpcore import CodedError, Context, ErrorCode, FailureMode, Server, prompt, resource, tool
from mcpcore.services.batch import Batch, BatchResult

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.server import MCPServer

Isbn = Annotated[str, Field(pattern=r"^\d{13}$", description="The ISBN of a book, 13 digits.")]
LoanNumber = Annotated[int, Field(description="The number of a loan.")]


class Library(NamedTuple):
    """What the server opens when it starts."""

    desk: Desk
    catalogue: Catalogue


@asynccontextmanager
async def open_library(_: MCPServer[Library]) -> AsyncIterator[Library]:
    """Open the database and the connection to the catalogue."""
    path = os.environ.get("LIBRARY_DATABASE", "library.sqlite")
    url = os.environ.get("LIBRARY_CATALOGUE", "http://127.0.0.1:8081")
    with closing(sqlite3.connect(path, check_same_thread=False, isolation_level=None)) as database:
        async with httpx2.AsyncClient(base_url=url, timeout=5) as client:
            yield Library(Desk(database), Catalogue(client))


class IsbnData(BaseModel):
    """The book that was asked for."""

    isbn: str


class LoanData(BaseModel):
    """The loan that was asked for."""

    loan: int


NO_BOOK = FailureMode(
    "no_book",
    ErrorCode.NOT_FOUND,
    when="The library has no book {isbn}.",
    recovery="Call search_books to find the ISBN, then add_book.",
    data=IsbnData,
    fallback_tool="search_books",
)
NO_MEMBER = FailureMode(
    "no_member", ErrorCode.NOT_FOUND, when="Nobody of that name is a member.", recovery="Ask the user for the name."
)
NO_LOAN = FailureMode(
    "no_loan",
    ErrorCode.NOT_FOUND,
    when="There is no loan {loan}, or its book is back.",
    recovery="Read library://loans/{{member}} for the loans of a member.",
    data=LoanData,
)
ALL_LENT = FailureMode(
    "all_lent", ErrorCode.CONFLICT, when="Every copy is lent.", recovery="Tell the user, or offer another book."
)
UNKNOWN_ISBN = FailureMode(
    "unknown_isbn", ErrorCode.NOT_FOUND, when="No book has this ISBN.", recovery="Call search_books to find the ISBN."
)
CATALOGUE_BUSY = FailureMode(
    "catalogue_busy",
    ErrorCode.RATE_LIMITED,
    when="The catalogue answers no more requests now.",
    recovery="Wait as long as the advice says, then call again.",
    effects="none",
)
BUSY = (ErrorCode.RATE_LIMITED, ErrorCode.SERVICE_UNAVAILABLE)
RENEWED_ENOUGH = FailureMode(
    "renewed_enough",
    ErrorCode.CONFLICT,
    when=f"A loan lasts at most {MAX_WEEKS} weeks.",
    recovery="Ask the member to bring the book back.",
)


@tool(errors=[CATALOGUE_BUSY], read_only=True)
async def search_books(ctx: Context[Literal["catalogue_busy"], Library], words: str) -> list[Title]:
    """Search the national catalogue for books by words of their titles."""
    with ctx.guard({httpx2.ConnectError: "catalogue_busy"}):
        try:
            return await ctx.lifespan_context.catalogue.search(words)
        except CodedError as exc:
            if exc.code in BUSY:
                raise ctx.fail("catalogue_busy", retry=exc.retry) from exc
            raise


@tool(errors=[NO_BOOK], read_only=True)
def get_book(ctx: Context[Literal["no_book"], Library], isbn: Isbn) -> Book:
    """Get a book of the library."""
    with ctx.guard({BookNotFoundError: NO_BOOK}, data=lambda exc: IsbnData(isbn=exc.isbn)):
        return ctx.lifespan_context.desk.book(isbn)


@tool(errors=[UNKNOWN_ISBN, CATALOGUE_BUSY], read_only=False)
async def add_book(
    ctx: Context[Literal["unknown_isbn", "catalogue_busy"], Library], isbn: Isbn, copies: int = 1
) -> Book:
    """Add copies of a book to the library."""
    with ctx.guard({httpx2.ConnectError: "catalogue_busy"}):
        try:
            title = await ctx.lifespan_context.catalogue.title(isbn)
        except CodedError as exc:
            if exc.code == ErrorCode.NOT_FOUND:
                raise ctx.fail("unknown_isbn") from exc
            if exc.code in BUSY:
                raise ctx.fail("catalogue_busy", retry=exc.retry) from exc
            raise
    ctx.lifespan_context.desk.add(Book(isbn=isbn, title=title.title, copies=copies))
    return ctx.lifespan_context.desk.book(isbn)


@tool(errors=[NO_BOOK, NO_MEMBER, ALL_LENT], read_only=False)
def lend_book(ctx: Context[Literal["no_book", "no_member", "all_lent"], Library], isbn: Isbn, member: str) -> Loan:
    """Lend a book to a member."""
    with (
        ctx.guard({BookNotFoundError: NO_BOOK}, data=lambda exc: IsbnData(isbn=exc.isbn)),
        ctx.guard({MemberNotFoundError: "no_member", AllLentError: "all_lent"}),
    ):
        return ctx.lifespan_context.desk.lend(isbn, member)


@tool(errors=[NO_LOAN], read_only=False)
def return_book(ctx: Context[Literal["no_loan"], Library], loan: LoanNumber) -> Loan:
    """Take a book back."""
    with ctx.guard({LoanNotFoundError: NO_LOAN}, data=lambda exc: LoanData(loan=exc.loan)):
        return ctx.lifespan_context.desk.take_back(loan)


@tool(errors=[NO_LOAN, RENEWED_ENOUGH], read_only=False)
def renew_loans(
    ctx: Context[Literal["no_loan", "renewed_enough"], Library], loans: list[LoanNumber]
) -> BatchResult[Loan]:
    """Renew loans by four weeks each."""
    batch = Batch[Loan](ctx)
    for loan in loans:
        with batch.item(loan), ctx.guard({LoanNotFoundError: NO_LOAN}, data=lambda exc: LoanData(loan=exc.loan)):
            if ctx.lifespan_context.desk.loan(loan).weeks >= MAX_WEEKS:
                raise ctx.fail("renewed_enough")
            batch.add(ctx.lifespan_context.desk.renew(loan))
    return batch.result()


@resource("library://loans/{member}", errors=[NO_MEMBER], mime_type="application/json")
def loans(ctx: Context[Literal["no_member"], Library], member: str) -> list[Loan]:
    """The books that a member has."""
    with ctx.guard({MemberNotFoundError: "no_member"}):
        return ctx.lifespan_context.desk.loans_of(member)


@prompt(errors=[NO_MEMBER])
def reminder(ctx: Context[Literal["no_member"], Library], member: str) -> str:
    """Write to a member whose books are due."""
    with ctx.guard({MemberNotFoundError: "no_member"}):
        lent = ctx.lifespan_context.desk.loans_of(member)
    titles = [ctx.lifespan_context.desk.book(loan.isbn).title for loan in lent]
    return f"Write a friendly reminder to {member}, who has: {', '.join(titles) or 'no books'}."


server = Server(
    "library",
    tools=[search_books, get_book, add_book, lend_book, return_book, renew_loans],
    resources=[loans],
    prompts=[reminder],
    lifespan=open_library,
)

if __name__ == "__main__":
    server.run()
