"""Failures made from HTTP responses, of httpx, httpx2, requests and aiohttp alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

from mcpcore.classification.status import (
    RETRY_AFTER_STATUSES,
    as_retry,
    code_for_status,
    parse_retry_after,
    retry_for_status,
)
from mcpcore.contract.codes import Code, Retry
from mcpcore.contract.errors import CodedError
from mcpcore.services._shared import LOGGER, declared, level_of
from mcpcore.values.escaping import clean_text
from mcpcore.values.jsonable import cut_text, to_json_object
from mcpcore.values.untrusted import json_object

_BODY_BYTES: Final = 64 * 1024
"""Bytes of a body that are read, and of the author's data that are kept."""


def from_http_response(
    response: Any,
    *,
    service: str | None = None,
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    reason: str | None = None,
    body: bool = False,
    body_limit: int = 2_000,
) -> CodedError:
    """The failure that an HTTP response reports, to be raised; for httpx, httpx2, requests and aiohttp.

    Sync: a body that has not been read stays unread. The body and the URL without its query go to the log, without
    what looks like a secret; headers and queries go nowhere.

    ```python
    async with httpx.AsyncClient() as client:
        response = await client.get("https://api.example.com/orders/7")
    if response.is_error:
        raise from_http_response(response, service="the order service")
    ```

    Args:
        response: A response with a status from 300 up.
        service: What answered, for the message; left out, nothing names it.
        message: Replaces the message.
        data: Facts to add for the client; they have the last word over `status`, `service` and the like.
        reason: The reason of the contract that this failure is; what the contract says of it holds.
        body: Whether the client may see the body, and the problem details (RFC 9457) in it.
        body_limit: Characters of the body that are kept; 0 keeps it out of everything.

    Raises:
        TypeError: If `response` is not a response.
        ValueError: If the response is not a failure.
    """
    content = _read_already(response) if body_limit > 0 else None
    return _http_error(response, content, service, message, data, reason, body=body, limit=body_limit)


async def from_http_response_async(
    response: Any,
    *,
    service: str | None = None,
    message: str | None = None,
    data: Mapping[str, Any] | None = None,
    reason: str | None = None,
    body: bool = False,
    body_limit: int = 2_000,
) -> CodedError:
    """As `from_http_response`, and reads a body that has not been read, up to 64 KiB of it.

    The parameters are those of `from_http_response`. A body that is read here cannot be read again. Of one that breaks
    off, what the client handed over counts.

    ```python
    async with aiohttp.ClientSession() as session, session.get("https://api.example.com/orders/7") as response:
        if response.status >= 400:
            raise await from_http_response_async(response, service="the order service")
    ```

    Raises:
        TypeError: If `response` is not a response.
        ValueError: If the response is not a failure.
    """
    code_for_status(_status(response))  # refuse what is no failure before anything of it is read
    content = _read_already(response) if body_limit > 0 else None
    if content is None and body_limit > 0:
        collected = bytearray()
        try:
            await _read(response, collected)
        except Exception as exc:  # noqa: BLE001 - the status tells enough; that the body broke off goes to the log
            LOGGER.warning("the body of a failed response could not be read whole: %s", type(exc).__qualname__)
        content = bytes(collected[:_BODY_BYTES])
    return _http_error(response, content, service, message, data, reason, body=body, limit=body_limit)


def _http_error(
    response: Any,
    content: bytes | None,
    service: str | None,
    message: str | None,
    data: Mapping[str, Any] | None,
    reason: str | None,
    *,
    body: bool,
    limit: int,
) -> CodedError:
    from mcpcore.wire.redaction import redact, redact_text

    status = _status(response)
    code = code_for_status(status)
    kind = _header(response, "content-type") or ""
    phrase = HTTPStatus(status).phrase if status in _KNOWN_STATUSES else ""
    text = _text(content, kind) if content else None
    # Redacted before it is cut, lest half of a secret stays.
    shown = None if text is None else cut_text(redact_text(text), limit)
    problem: Any = redact(_problem(content, kind)) if text is not None else None
    wait = parse_retry_after(_header(response, "retry-after")) if status in RETRY_AFTER_STATUSES else None
    facts = {
        "status": status,
        "service": service,
        "retryAfter": wait,
        "body": (body and shown) or None,
        "problem": (body and problem) or None,
    }
    facts = {key: value for key, value in facts.items() if value is not None}
    said = f"{service or 'The service'} answered {status}{f' {phrase}' if phrase else ''}."
    shown = shown or (f"({len(content)} bytes that are no text)" if content else "(no body read)")
    LOGGER.log(
        level_of(code),
        "%s answered %d to %s %s: %s",
        service or "a service",
        status,
        _method(response),
        _place(response),
        shown.replace("\r", "\\r").replace("\n", "\\n"),
        extra={"mcpcore": {"service": service, "status": status, "code": code.name, "problem": problem}},
    )
    return CodedError(
        code,
        said if message is None else message,
        {**facts, **_facts_of(data)},
        reason=reason,
    ).with_found_advice(_retry(status, code, wait, reason))


def _retry(status: int, code: Code, wait: float | None, reason: str | None) -> Retry | None:
    """The advice of a response; None where it says no more than its code, and what the contract declares holds."""
    advice = retry_for_status(status) if wait is None else as_retry(wait)
    entry = None if reason is None else declared(reason)
    if entry is not None and entry.retry is not None and (wait is None or not entry.retry.retryable):
        return None
    return None if advice == code.retry else advice


def _facts_of(data: Any) -> Mapping[str, Any]:
    """`data` as a mapping: a model or a dataclass has its facts in fields."""
    if data is None or type(data) is dict:
        return data or {}
    # Anything else may have no end, or raise when it is read.
    return to_json_object(data, room=_BODY_BYTES)


_BINARY: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]")
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_CHARSETS: Final = re.compile(
    r"utf-?(8|16|32)([-_]?[bl]e)?(-sig)?|us-ascii|ascii|latin-?1|iso-?8859-\d+|windows-\d+|cp\d+|"
    r"shift[-_]jis|euc[-_](jp|kr)|gb(k|2312|18030)|big5|koi8-[ru]",
    re.IGNORECASE,
)
"""Charsets that texts on the web have; Python's other codecs are transformations, of which some are slow."""


def _text(content: bytes, kind: str) -> str | None:
    """A body as text; None if it is not text."""
    named = _CHARSET.search(kind)
    charset = named[1] if named is not None and _CHARSETS.fullmatch(named[1]) else "utf-8"
    try:
        text = content.decode(charset, "replace")
    except (LookupError, ValueError):
        text = content.decode("utf-8", "replace")
    strange = len(_BINARY.findall(text))
    return clean_text(text) if strange * 10 <= len(text) else None


_KNOWN_STATUSES: Final = frozenset(status.value for status in HTTPStatus)
_PROBLEM_FIELDS: Final = {"type": str, "title": str, "status": int, "detail": str, "instance": str}
"""RFC 9457, section 3.1."""


def _status(response: Any) -> int:
    status = getattr(response, "status_code", None)
    if status is None:
        status = getattr(response, "status", None)
    if isinstance(status, bool) or not isinstance(status, int):
        raise TypeError(f"not an HTTP response of httpx, requests or aiohttp: {type(response).__qualname__}")
    return int(status)


def _header(response: Any, name: str) -> str | None:
    """A header, whatever case it has: a response made by hand may have a plain dict."""
    headers = getattr(response, "headers", None)
    try:
        value = headers.get(name) if headers is not None else None
        if value is None and isinstance(headers, Mapping):
            value = next((field for key, field in headers.items() if str(key).lower() == name), None)
    except Exception:  # noqa: BLE001 - the status alone makes the failure
        return None
    return value if isinstance(value, str) else None


def _read_already(response: Any) -> bytes | None:
    """The body, where it has been read; nothing is read for it."""
    kept = getattr(response, "_content", None)  # httpx, httpx2, requests
    if kept is None or kept is False:
        kept = getattr(response, "_body", None)  # aiohttp
    return bytes(kept[:_BODY_BYTES]) if isinstance(kept, bytes | bytearray) else None


async def _read(response: Any, collected: bytearray) -> None:
    """Read the body into `collected`, about as much as is kept; what is there before something breaks stays."""
    if getattr(response, "is_stream_consumed", False) or getattr(response, "_content_consumed", False):
        return
    if hasattr(getattr(response, "stream", None), "__aiter__"):  # httpx, httpx2
        async for chunk in response.aiter_bytes():
            collected += chunk
            if len(collected) >= _BODY_BYTES:
                return
        return
    stream: Any = getattr(response, "content", None) if hasattr(response, "_body") else None
    if stream is not None:  # aiohttp
        while len(collected) < _BODY_BYTES and (chunk := await stream.read(_BODY_BYTES - len(collected))):
            collected += chunk
        return
    pieces: Any = None
    if hasattr(response, "iter_bytes"):  # httpx, httpx2, sync
        pieces = response.iter_bytes()
    elif hasattr(response, "iter_content"):  # requests
        pieces = response.iter_content(_CHUNK)
    if pieces is not None:
        import anyio.to_thread

        await anyio.to_thread.run_sync(_collect, pieces, collected)


_CHUNK: Final = 8 * 1024


def _collect(pieces: Iterable[bytes], collected: bytearray) -> None:
    for piece in pieces:
        collected += piece
        if len(collected) >= _BODY_BYTES:
            return


def _problem(content: bytes | None, kind: str) -> dict[str, Any] | None:
    """The problem details of a response, without extensions; None where it has none."""
    if not content or kind.partition(";")[0].strip().lower() != "application/problem+json":
        return None
    parsed = json_object(content)
    if parsed is None:
        return None
    fields: dict[str, Any] = {}
    for name, expected in _PROBLEM_FIELDS.items():
        value = parsed.get(name)
        if isinstance(value, bool) or not isinstance(value, expected):
            continue
        if name in ("type", "instance"):
            value = _without_query(str(value))
        fields[name] = cut_text(clean_text(value), 500) if isinstance(value, str) else value
    return fields or None


def _without_query(reference: str) -> str:
    """A URI reference without credentials and query."""
    try:
        parts = urlsplit(reference)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
    except ValueError:
        return reference.partition("?")[0]


def _method(response: Any) -> str:
    method = getattr(response, "method", None)
    if not isinstance(method, str):
        try:
            method = response.request.method
        except Exception:  # noqa: BLE001 - a response that was made by hand has no request, and says so by raising
            return "?"
    return method if isinstance(method, str) else "?"


def _place(response: Any) -> str:
    """Where the response came from, without credentials, query and fragment."""
    from mcpcore.wire.redaction import redact_text

    try:
        parts = urlsplit(str(response.url))
        place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    except Exception:  # noqa: BLE001 - see _method
        return "?"
    return redact_text(clean_text(place))
