"""Tests of the library, with a real database and a real catalogue: `pytest examples/library --reason-coverage`."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import MCPError

from examples.library.desk import Book, Desk
from examples.library.server import server
from mcpcore import Envelope
from mcpcore.testing import assert_fails, contract_suite, tool_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from mcp import Client

EMMA, DUNE = "9780141439587", "9780441172719"

pytestmark = pytest.mark.anyio
TestContracts = contract_suite(server)


class CatalogueService(BaseHTTPRequestHandler):
    """Knows one book, and answers no more than the test lets it."""

    answers = 200

    def do_GET(self) -> None:
        """Answer a request."""
        found = self.path.startswith("/books?") or self.path.endswith(DUNE)
        status = self.answers if self.answers != 200 or found else 404
        book = {"isbn": DUNE, "title": "Dune"}
        body = json.dumps([book] if "?" in self.path else book).encode()
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "7")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server uses
        """Say nothing."""


@pytest.fixture
def anyio_backend() -> str:
    """The event loop of the tests."""
    return "asyncio"


@pytest.fixture(autouse=True)
def catalogue(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[CatalogueService]]:
    """Serve the catalogue."""
    with ThreadingHTTPServer(("127.0.0.1", 0), CatalogueService) as service:
        threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        monkeypatch.setenv("LIBRARY_CATALOGUE", f"http://127.0.0.1:{service.server_port}")
        monkeypatch.setattr(CatalogueService, "answers", 200)
        yield CatalogueService
        service.shutdown()


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A library with one copy of a book and one member."""
    path = tmp_path / "library.sqlite"
    monkeypatch.setenv("LIBRARY_DATABASE", str(path))
    with closing(sqlite3.connect(path, check_same_thread=False, isolation_level=None)) as database:
        desk = Desk(database)
        desk.add(Book(isbn=EMMA, title="Emma", copies=1))
        desk.join("Ann")
        yield desk


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    """A client of the server."""
    async with tool_client(server) as client:
        yield client


async def test_a_book_is_lent_until_it_is_back(client: Client) -> None:
    """A copy can be lent once."""
    lent = await client.call_tool("lend_book", {"isbn": EMMA, "member": "Ann"})
    assert_fails(await client.call_tool("lend_book", {"isbn": EMMA, "member": "Ann"}), "all_lent")
    back = await client.call_tool("return_book", {"loan": lent.structured_content["number"]})
    assert not back.is_error
    again = await client.call_tool("return_book", {"loan": lent.structured_content["number"]})
    failure = assert_fails(again, "no_loan", data={"loan": 1})
    assert failure.message == "There is no loan 1, or its book is back."


async def test_a_book_that_is_not_there(client: Client) -> None:
    """The client is sent to the search."""
    for tool, arguments in (("get_book", {"isbn": DUNE}), ("lend_book", {"isbn": DUNE, "member": "Ann"})):
        failure = assert_fails(await client.call_tool(tool, arguments), "no_book")
        assert failure.message == f"The library has no book {DUNE}."
        assert failure.fallback_tool == "search_books"


async def test_no_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer is a failure like too many requests."""
    monkeypatch.setenv("LIBRARY_CATALOGUE", "http://127.0.0.1:1")
    async with tool_client(server) as client:
        assert_fails(await client.call_tool("search_books", {"words": "Dune"}), "catalogue_busy")


async def test_a_stranger(client: Client) -> None:
    """A tool, a resource and a prompt say the same."""
    assert_fails(await client.call_tool("lend_book", {"isbn": EMMA, "member": "Bob"}), "no_member")
    for read in (client.read_resource("library://loans/Bob"), client.get_prompt("reminder", {"member": "Bob"})):
        with pytest.raises(MCPError) as error:
            await read
        failure = Envelope.from_result(error.value)
        assert failure is not None
        assert failure.reason == "no_member"


async def test_a_book_of_the_catalogue_is_added(client: Client) -> None:
    """Only the catalogue knows titles."""
    added = await client.call_tool("add_book", {"isbn": DUNE, "copies": 2})
    assert added.structured_content == {"isbn": DUNE, "title": "Dune", "copies": 2}
    assert_fails(await client.call_tool("add_book", {"isbn": "9" * 13}), "unknown_isbn")


@pytest.mark.parametrize(("status", "seconds"), [(429, 7), (503, None)])
async def test_the_catalogue_is_busy(
    client: Client, catalogue: type[CatalogueService], status: int, seconds: int | None
) -> None:
    """Its Retry-After reaches the client."""
    catalogue.answers = status
    for tool, arguments in (("search_books", {"words": "dune"}), ("add_book", {"isbn": DUNE})):
        failure = assert_fails(await client.call_tool(tool, arguments), "catalogue_busy")
        assert failure.retry.seconds == (seconds or 30)


async def test_loans_are_renewed_as_far_as_they_can_be(client: Client, desk: Desk) -> None:
    """The result of a batch names each loan."""
    loan = desk.lend(EMMA, "Ann")
    first = await client.call_tool("renew_loans", {"loans": [loan.number, 9]})
    assert [item["weeks"] for item in first.structured_content["succeeded"]] == [8]
    assert [item["error"]["data"]["reason"] for item in first.structured_content["failed"]] == ["no_loan"]
    await client.call_tool("renew_loans", {"loans": [loan.number]})
    last = await client.call_tool("renew_loans", {"loans": [loan.number]})
    assert_fails(last, "renewed_enough", item=0)


async def test_a_reminder(client: Client, desk: Desk) -> None:
    """The prompt names the books, and the resource lists the loans."""
    desk.lend(EMMA, "Ann")
    prompt: Any = await client.get_prompt("reminder", {"member": "Ann"})
    assert "Emma" in prompt.messages[0].content.text
    listed: Any = await client.read_resource("library://loans/Ann")
    assert json.loads(listed.contents[0].text)[0]["isbn"] == EMMA
