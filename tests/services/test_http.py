"""HTTP responses of four clients, from a real local server, become coded errors."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from typing import Any

import aiohttp
import httpx
import httpx2
import pytest
import requests

from mcpcore import ErrorCode, Retry, from_http_response
from mcpcore.services import code_for_status, from_http_response_async
from tests.serving import answering

PROBLEM = {"type": "https://example.org/out", "title": "Out of credit", "status": 403, "detail": "Balance 30", "x": 1}


class Answers(BaseHTTPRequestHandler):
    """Answers with the status given in the path."""

    def do_GET(self) -> None:
        status = int(self.path.strip("/").split("?")[0])
        body = json.dumps(PROBLEM).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/problem+json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Set-Cookie", "session=verysecretcookie")
        if status == 429:
            self.send_header("Retry-After", "7")
        if status == 503:
            import time

            self.send_header("Retry-After", formatdate(time.time() + 120, usegmt=True))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Return the URL of a local server."""
    with answering(Answers) as address:
        yield address


@pytest.mark.parametrize("client", [httpx, httpx2, requests])
def test_sync_clients(client: Any, url: str) -> None:
    """The status decides, and problem details are read only if the client may see the body."""
    response = client.get(f"{url}/403?token=querysecret")
    error = from_http_response(response, service="Bank", data={"account": 1})
    assert (ErrorCode.FORBIDDEN, "Bank answered 403 Forbidden.") == (error.code, error.message)
    assert {"status": 403, "service": "Bank", "account": 1} == error.data
    seen = from_http_response(response, body=True).data or {}
    assert ("Out of credit", True) == (seen["problem"]["title"], "Balance 30" in seen["body"])
    assert "x" not in seen["problem"]


@pytest.mark.parametrize("client", [httpx, httpx2, requests])
def test_retry_after_is_read_as_seconds_and_as_a_date(client: Any, url: str) -> None:
    """Both forms become retry advice and data for the client."""
    limited = from_http_response(client.get(f"{url}/429"))
    assert (ErrorCode.RATE_LIMITED, Retry.after(seconds=7), 7) == (
        limited.code,
        limited.retry,
        (limited.data or {})["retryAfter"],
    )
    down = from_http_response(client.get(f"{url}/503"))
    assert down.retry is not None
    assert 110 <= (down.retry.seconds or 0) <= 121


def test_an_unread_body_stays_unread_in_sync_code(url: str) -> None:
    """Streams of httpx and requests are not consumed."""
    with httpx.stream("GET", f"{url}/500") as response:
        assert "body" not in (from_http_response(response, body=True).data or {})
        assert not response.is_stream_consumed
    with requests.get(f"{url}/500", stream=True, timeout=5) as answer:
        assert "body" not in (from_http_response(answer, body=True).data or {})
        assert "Balance" in answer.text


@pytest.mark.anyio
async def test_async_clients_read_unread_bodies(url: str) -> None:
    """Streams of httpx, httpx2 and aiohttp are read up to a limit."""

    errors = []
    for module in (httpx, httpx2):
        async with module.AsyncClient() as client, client.stream("GET", f"{url}/500") as response:
            errors.append(await from_http_response_async(response, body=True, body_limit=20))
    async with aiohttp.ClientSession() as session, session.get(f"{url}/429") as answer:
        errors.append(from_http_response(answer))
        errors.append(await from_http_response_async(answer, body=True))
    first, second, unread, limited = errors
    for error in (first, second):
        assert error.data is not None
        assert (ErrorCode.SERVICE_UNAVAILABLE, True) == (error.code, len(error.data["body"]) <= 60)
    assert "body" not in (unread.data or {})
    assert (ErrorCode.RATE_LIMITED, "Out of credit") == (limited.code, (limited.data or {})["problem"]["title"])


def test_the_log_has_the_body_but_no_credentials_or_queries(url: str, caplog: pytest.LogCaptureFixture) -> None:
    """Headers and the query appear nowhere, and the body is cut to its limit."""
    with caplog.at_level(logging.DEBUG, "mcpcore.services"):
        error = from_http_response(httpx.get(f"{url}/500?api_key=querysecret"), service="Bank")
    text = caplog.text + str(caplog.records[-1].__dict__) + repr(error.data) + error.message
    assert "Balance 30" in caplog.text
    assert "querysecret" not in text
    assert "verysecretcookie" not in text
    assert "Balance" not in repr(error.data)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (302, ErrorCode.INVALID_REQUEST),
        (400, ErrorCode.INVALID_PARAMS),
        (402, ErrorCode.FORBIDDEN),
        (408, ErrorCode.TIMEOUT),
        (423, ErrorCode.CONFLICT),
        (422, ErrorCode.VALIDATION_ERROR),
        (451, ErrorCode.INVALID_REQUEST),
        (500, ErrorCode.SERVICE_UNAVAILABLE),
        (504, ErrorCode.TIMEOUT),
    ],
)
def test_the_status_table(status: int, code: ErrorCode) -> None:
    """It works alone and through a custom response object, which has no request."""
    assert code == code_for_status(status)
    assert code == from_http_response(httpx.Response(status)).code


def test_501_is_not_retryable() -> None:
    """A server will not soon implement a method that it does not implement."""
    assert Retry.never() == from_http_response(httpx.Response(501)).retry


def test_other_values_than_failed_responses_are_refused() -> None:
    """A success and an unrelated object get clear errors."""
    with pytest.raises(ValueError, match="failed response"):
        from_http_response(httpx.Response(200))
    with pytest.raises(TypeError, match="not an HTTP response"):
        from_http_response("503")
