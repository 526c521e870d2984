"""A connection to a URL with headers of the user, such as a token, whose values come back from no server."""

from __future__ import annotations

import logging
from base64 import b64decode
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from anyio.abc import ObjectReceiveStream
from mcp_types import jsonrpc_message_adapter

from mcpcore.values.untrusted import quietly
from mcpcore.wire.redaction.known import KnownSecrets

HIDDEN: Final = "[hidden header]"
"""What replaces the value of a header in messages of the server."""

_LEAST: Final = 6
"""Characters of a value that is hidden; a shorter one, such as `1`, is no secret, and is in many texts by chance."""

_NUMBERS: Final = frozenset({"id", "code"})
"""Keys of messages whose numbers the protocol needs."""

_CONNECTING: Final = 30.0
_READING: Final = 300.0
"""Seconds, as in the SDK: a server may hold a stream of answers open."""


@asynccontextmanager
async def http_transport(url: str, headers: Mapping[str, str]) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of streamable HTTP, with headers that are sent to the origin of the URL alone.

    A server can send the value of a header back, in a message, a name or a schema. It is replaced by `HIDDEN`, so that
    no output, report or record holds it, however it is encoded.

    Args:
        url: The URL of the server.
        headers: The names and the values.

    Raises:
        BaseExceptionGroup: If the connection fails.
    """
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    timeout = httpx2.Timeout(_CONNECTING, read=_READING)
    # The SDK follows redirects only within the origin.
    async with (
        httpx2.AsyncClient(headers=dict(headers), timeout=timeout) as client,
        streamable_http_client(url, http_client=client) as (read, write),
    ):
        yield (_Hiding(read, secrets_of(headers)) if headers else read), write


def secrets_of(headers: Mapping[str, str]) -> KnownSecrets:
    """What hides the values of headers, and the secrets within them."""
    return KnownSecrets((text for text in _secrets(headers) if len(text) >= _LEAST), HIDDEN)


def _secrets(headers: Mapping[str, str]) -> Iterator[str]:
    """The values, what follows a scheme such as `Bearer`, the password of `Basic`, and the values of cookies."""
    for name, value in headers.items():
        scheme, _, credential = value.partition(" ")
        yield value
        yield credential
        if scheme.lower() == "basic":
            decoded = quietly(lambda encoded=credential: b64decode(encoded).decode(), "")  # type: ignore[misc]
            yield decoded
            yield decoded.partition(":")[2]
        if name.lower() == "cookie":
            yield from (pair.partition("=")[2].strip() for pair in value.split(";"))


class HidingFormatter(logging.Formatter):
    """Formats the records of a log without the values of headers."""

    def __init__(self, form: str, headers: Mapping[str, str]) -> None:
        """Format with `form`, and hide the values of `headers`."""
        super().__init__(form)
        self._secrets = secrets_of(headers)

    def format(self, record: logging.LogRecord) -> str:
        """The record as text."""
        return self._secrets.hide(super().format(record))


class _Hiding(ObjectReceiveStream[Any]):
    """A stream of messages in which secrets are replaced."""

    def __init__(self, inner: Any, secrets: KnownSecrets) -> None:
        self._inner = inner
        self._secrets = secrets

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def receive(self) -> Any:
        received = await self._inner.receive()
        if isinstance(received, Exception):
            text = str(received)
            hidden = self._secrets.hide(text)
            return received if hidden == text else ValueError(hidden)
        # Without defaults, which the server did not send.
        message = received.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
        hidden = self._hidden(message)
        if hidden != message:
            received.message = jsonrpc_message_adapter.validate_python(hidden, by_name=False)
        return received

    def _hidden(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._secrets.hide(value)
        if isinstance(value, list):
            return [self._hidden(item) for item in value]
        if isinstance(value, dict):
            return {
                self._hidden(key): item if key in _NUMBERS and isinstance(item, int) else self._hidden(item)
                for key, item in value.items()
            }
        # The value of a header may be a number.
        if isinstance(value, int | float):
            text = str(value)
            return value if self._secrets.hide(text) == text else HIDDEN
        return value

    async def aclose(self) -> None:
        await self._inner.aclose()
