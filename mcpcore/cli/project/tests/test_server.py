"""What the tools answer, and each of the ways in which they fail."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from mcpcore.testing import assert_fails, contract_suite, tool_client

from sample_server import server as module
from sample_server.library import Library
from sample_server.server import server

pytestmark = pytest.mark.anyio

TestContracts = contract_suite(server)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """Give each test its own library."""
    library = Library()
    monkeypatch.setattr(module, "library", library)
    yield library


async def test_a_book_is_found_and_borrowed(library: Library) -> None:
    async with tool_client(server) as client:
        books = await client.call_tool("find_books", {"words": "odyssey"})
        assert books.structured_content == {
            "books": [{"isbn": "9780140449136", "title": "The Odyssey"}]
        }
        loan = await client.call_tool("borrow_book", {"isbn": "9780140449136"})
        assert loan.structured_content == {"isbn": "9780140449136", "copies_left": 0}
    assert library.copies["9780140449136"] == 0


async def test_a_search_without_a_match() -> None:
    async with tool_client(server) as client:
        result = await client.call_tool("find_books", {"words": "gardening"})
    assert_fails(result, "no_match", data={"words": "gardening"})


async def test_an_unknown_isbn() -> None:
    async with tool_client(server) as client:
        result = await client.call_tool("borrow_book", {"isbn": "0000000000000"})
    assert assert_fails(result, "unknown_isbn").fallback_tool == "find_books"


async def test_a_book_whose_copies_are_lent(library: Library) -> None:
    async with tool_client(server) as client:
        result = await client.call_tool("borrow_book", {"isbn": "9780141441146"})
        failure = assert_fails(result, "all_lent")
        assert failure.fallback_arguments == {"words": "Jane Eyre"}
        editions = await client.call_tool("find_books", failure.fallback_arguments)
    assert "9780142437209" in str(editions.structured_content)
    assert library.copies["9780141441146"] == 0
