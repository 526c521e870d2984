"""The national catalogue: an HTTP service that knows every book."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from mcpcore import from_http_response

if TYPE_CHECKING:
    import httpx2


class Title(BaseModel):
    """A book in the catalogue."""

    isbn: str
    title: str


class Catalogue:
    """A client of the catalogue. Its errors have the code that belongs to the status of the response."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def search(self, words: str) -> list[Title]:
        """Find books by words of their titles."""
        response = await self._client.get("/books", params={"words": words})
        if response.is_error:
            raise from_http_response(response, service="the catalogue")
        return [Title(**book) for book in response.json()]

    async def title(self, isbn: str) -> Title:
        """Look up the title of a book."""
        response = await self._client.get(f"/books/{isbn}")
        if response.is_error:
            raise from_http_response(response, service="the catalogue")
        return Title(**response.json())
