"""A store whose operations are guarded in every way that the documentation shows."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator

import httpx

from mcpcore import CodedError, ErrorCode, conflict, from_http_response, guard, not_found, retrying

ITEMS = {1: "apple"}
TABLE: dict[type[BaseException] | tuple[type[BaseException], ...], str] = {
    (httpx.TimeoutException, httpx.ConnectError): "store_down",
    ConnectionError: "store_down",
}


class StaleError(Exception):
    """Is a part of the store."""


class MissingError(LookupError):
    """Is a part of the store."""

    item_id = 1


guarded = guard("store", errors={**TABLE, StaleError: "stale"})


@contextlib.contextmanager
def safe(operation: str) -> Iterator[None]:
    """Is a part of the store."""
    with guard(operation, errors=TABLE, message="The store is down."):
        yield


def guard_for(reason: str) -> guard:
    """Is a part of the store."""
    return guard("x", errors={OSError: reason})


class Store:
    """Is a part of the store."""

    @guard("Store.get", errors={KeyError: "no_item"}, data=lambda exc: {"item_id": exc.args[0]})
    def get(self, item_id: int) -> str:
        """Is a part of the store."""
        return ITEMS[item_id]

    @guarded
    async def put(self, item_id: int, text: str) -> None:
        """Is a part of the store."""
        ITEMS[item_id] = text

    @guard(errors={Exception: "store_down"})
    async def rows(self) -> AsyncIterator[int]:
        """Is a part of the store."""
        for row in ITEMS:
            yield row

    def find(self, item_id: int) -> str:
        """Is a part of the store."""
        with safe("find"):
            return ITEMS[item_id]

    def count(self) -> int:
        """Is a part of the store."""
        with guard_for("store_down"):
            return len(ITEMS)

    @staticmethod
    @guard(code=ErrorCode.SERVICE_UNAVAILABLE)
    def ping() -> None:
        """Is a part of the store."""

    def ask(self, client: httpx.Client) -> str:
        """Is a part of the store."""
        response = client.get("https://x.example")
        if response.is_error:
            raise from_http_response(response, service="x", reason="store_down")
        return response.text

    @retrying(attempts=3)
    def slow(self) -> str:
        """Is a part of the store."""
        with guard("slow", errors={TimeoutError: "store_down"}):
            return "x"


def by_mapper(exc: Exception) -> CodedError:
    """Is a part of the store."""
    return conflict("x", reason="stale") if isinstance(exc, KeyError) else not_found("x", reason="no_item")
