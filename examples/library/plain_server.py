"""The same six tools, resource and prompt on the SDK alone, with sentences that a model can read."""

from __future__ import annotations

from typing import Any, Final

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, ToolAnnotations

from examples.library.catalogue import Title  # noqa: TC001 - the SDK reads it
from examples.library.desk import (
    MAX_WEEKS,
    AllLentError,
    Book,
    BookNotFoundError,
    Loan,
    LoanNotFoundError,
    MemberNotFoundError,
)
from examples.library.server import Isbn, Library, LoanNumber, open_library
from mcpcore import CodedError, ErrorCode

Desk = Context[Library, Any]
READS: Final = ToolAnnotations(read_only_hint=True)
WRITES: Final = ToolAnnotations(read_only_hint=False)
BUSY: Final = (ErrorCode.RATE_LIMITED, ErrorCode.SERVICE_UNAVAILABLE)

server = MCPServer("library", lifespan=open_library)


def library(ctx: Desk) -> Library:
    """What the server opened."""
    return ctx.request_context.lifespan_context


@server.tool(annotations=READS)
async def search_books(ctx: Desk, words: str) -> list[Title]:
    """Search the national catalogue for books by words of their titles."""
    try:
        return await library(ctx).catalogue.search(words)
    except CodedError as exc:
        raise ToolError(_busy(exc)) from exc


@server.tool(annotations=READS)
def get_book(ctx: Desk, isbn: Isbn) -> Book:
    """Get a book of the library."""
    try:
        return library(ctx).desk.book(isbn)
    except BookNotFoundError as exc:
        raise ToolError(_no_book(isbn)) from exc


@server.tool(annotations=WRITES)
async def add_book(ctx: Desk, isbn: Isbn, copies: int = 1) -> Book:
    """Add copies of a book to the library."""
    try:
        title = await library(ctx).catalogue.title(isbn)
    except CodedError as exc:
        if exc.code == ErrorCode.NOT_FOUND:
            raise ToolError("No book has this ISBN. Call search_books to find the ISBN.") from exc
        raise ToolError(_busy(exc)) from exc
    library(ctx).desk.add(Book(isbn=isbn, title=title.title, copies=copies))
    return library(ctx).desk.book(isbn)


@server.tool(annotations=WRITES)
def lend_book(ctx: Desk, isbn: Isbn, member: str) -> Loan:
    """Lend a book to a member."""
    try:
        return library(ctx).desk.lend(isbn, member)
    except BookNotFoundError as exc:
        raise ToolError(_no_book(isbn)) from exc
    except MemberNotFoundError as exc:
        raise ToolError("Nobody of that name is a member. Ask the user for the name.") from exc
    except AllLentError as exc:
        raise ToolError("Every copy is lent. Tell the user, or offer another book.") from exc


@server.tool(annotations=WRITES)
def return_book(ctx: Desk, loan: LoanNumber) -> Loan:
    """Take a book back."""
    try:
        return library(ctx).desk.take_back(loan)
    except LoanNotFoundError as exc:
        raise ToolError(_no_loan(loan)) from exc


@server.tool(annotations=WRITES)
def renew_loans(ctx: Desk, loans: list[LoanNumber]) -> dict[str, list[Any]]:
    """Renew loans by four weeks each."""
    renewed: list[Any] = []
    failed: list[Any] = []
    for loan in loans:
        try:
            if library(ctx).desk.loan(loan).weeks >= MAX_WEEKS:
                why = f"A loan lasts at most {MAX_WEEKS} weeks. Ask the member to bring the book back."
                failed.append({"loan": loan, "why": why})
                continue
            renewed.append(library(ctx).desk.renew(loan))
        except LoanNotFoundError:
            failed.append({"loan": loan, "why": _no_loan(loan)})
    return {"renewed": renewed, "failed": failed}


@server.resource("library://loans/{member}", mime_type="application/json")
def loans(ctx: Desk, member: str) -> list[Loan]:
    """The books that a member has."""
    try:
        return library(ctx).desk.loans_of(member)
    except MemberNotFoundError as exc:
        raise ResourceError("Nobody of that name is a member. Ask the user for the name.") from exc


@server.prompt()
def reminder(ctx: Desk, member: str) -> str:
    """Write to a member whose books are due."""
    try:
        titles = [library(ctx).desk.book(loan.isbn).title for loan in library(ctx).desk.loans_of(member)]
    except MemberNotFoundError as exc:
        raise MCPError(INVALID_PARAMS, "Nobody of that name is a member. Ask the user for the name.") from exc
    return f"Write a friendly reminder to {member}, who has: {', '.join(titles) or 'no books'}."


def _no_book(isbn: str) -> str:
    return f"The library has no book {isbn}. Call search_books to find the ISBN, then add_book."


def _no_loan(loan: int) -> str:
    return f"There is no loan {loan}, or its book is back. Read library://loans/{{member}} for the loans of a member."


def _busy(exc: CodedError) -> str:
    if exc.code not in BUSY:
        raise exc
    return "The catalogue answers no more requests now. Wait 30 seconds, then call again."


if __name__ == "__main__":
    server.run()
