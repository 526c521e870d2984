"""The tools of the server, and how each of them fails."""

from __future__ import annotations

from typing import Annotated, Literal

from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, tool
from pydantic import BaseModel, Field

from sample_server.library import AllLentError, Library, UnknownIsbnError

library = Library()


class Book(BaseModel):
    """A book of the library."""

    isbn: str
    title: str


class Books(BaseModel):
    """The books that a search found."""

    books: list[Book]


class Loan(BaseModel):
    """A lent copy of a book."""

    isbn: str
    copies_left: int


@tool(
    title="Find books",
    read_only=True,
    errors=[
        FailureMode(
            "no_match",
            ErrorCode.NOT_FOUND,
            when="No title contains all of the words.",
            recovery="Search again with one distinctive word of the title.",
        ),
    ],
)
async def find_books(
    ctx: Context[Literal["no_match"]],
    words: Annotated[
        str, Field(description="Words of the title.", min_length=1, max_length=100)
    ],
) -> Books:
    """Find books by the words of their titles."""
    books = library.find(words)
    if not books:
        raise ctx.fail("no_match", data={"words": words})
    return Books(books=[Book(isbn=isbn, title=library.titles[isbn]) for isbn in books])


@tool(
    title="Borrow a book",
    read_only=False,
    destructive=False,
    idempotent=False,
    errors=[
        FailureMode(
            "unknown_isbn",
            ErrorCode.NOT_FOUND,
            when="No book has this ISBN.",
            recovery="Call find_books with words of the title to get the ISBN.",
            fallback_tool="find_books",
            effects="none",
        ).on(UnknownIsbnError, data=lambda exc: {"isbn": exc.isbn}),
        FailureMode(
            "all_lent",
            ErrorCode.CONFLICT,
            when="All copies of the book are lent.",
            recovery="Call find_books for another edition, or wait a day for a copy.",
            retry=Retry.after(seconds=24 * 60 * 60),
            fallback_tool="find_books",
            fallback_arguments={"words": "{title}"},
            effects="none",
        ).on(
            AllLentError,
            data=lambda exc: {"title": exc.title},
            message=lambda exc: f"All copies of {exc.title} are lent.",
        ),
    ],
)
async def borrow_book(
    isbn: Annotated[
        str, Field(description="The ISBN as 13 digits.", pattern=r"^\d{13}$")
    ],
) -> Loan:
    """Borrow a copy of a book."""
    return Loan(isbn=isbn, copies_left=library.lend(isbn))


server = Server("sample-server", tools=[find_books, borrow_book])

if __name__ == "__main__":
    server.run()
