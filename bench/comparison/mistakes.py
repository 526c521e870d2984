"""Tools whose code and contract disagree, for the linter of mcpcore; `mistakes.mjs` has them for mcp-ts-core."""

from __future__ import annotations

from mcpcore import ErrorCode, FailureMode, conflict, tool

RESERVED = "The book is reserved by someone else."


def catalogue() -> None:
    """A function that the handler calls."""
    raise conflict(RESERVED)


@tool(
    errors=[
        FailureMode(
            "unknown_book",
            ErrorCode.NOT_FOUND,
            when="There is no such book.",
            recovery="Call search_books to find the id.",
        )
    ]
)
def throws_an_undeclared_code(book: str) -> str:
    """Reserve a book."""
    raise conflict(f"{RESERVED} {book}")


@tool(
    errors=[
        FailureMode(
            "unknown_book",
            ErrorCode.NOT_FOUND,
            when="There is no such book.",
            recovery="Call search_books to find the id.",
        )
    ]
)
def calls_a_function_that_throws_one(book: str) -> str:
    """Reserve a book."""
    catalogue()
    return book


@tool(
    errors=[
        FailureMode(
            "unknown_book",
            ErrorCode.NOT_FOUND,
            when="There is no such book.",
            recovery="Call search_books to find the id.",
        )
    ]
)
def never_throws_what_it_declares(book: str) -> str:
    """Reserve a book."""
    return book
