"""Realistic responses: unusual charsets, binary, truncated, compressed and huge bodies, and many secrets."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from types import SimpleNamespace
from typing import Any, Literal

import aiohttp
import httpx
import httpx2
import pytest
import requests
from mcp.client import Client

from mcpcore import CodedError, Context, ErrorCode, FailureMode, Retry, Server, from_http_response, tool
from mcpcore.services import from_http_response_async
from tests.answers import envelope_of
from tests.serving import answering

Send = Callable[[BaseHTTPRequestHandler], None]


def plain(status: int, body: bytes, **headers: str) -> Send:
    """Send a complete answer."""

    def send(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return send


def broken(handler: BaseHTTPRequestHandler) -> None:
    """Send less than the announced length."""
    handler.send_response(500)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"half an ans")


ANSWERS: dict[str, Send] = {
    "latin": plain(500, "Zürich fällt aus".encode("latin-1"), Content_Type="text/plain; charset=ISO-8859-1"),
    "image": plain(500, bytes(range(256)) * 10, Content_Type="image/png"),
    "huge": plain(500, b"x" * 3_000_000),
    "gzip": plain(500, gzip.compress(b"packed words " * 5_000), Content_Encoding="gzip"),
    "broken": broken,
    "moved": plain(302, b"", Location="http://elsewhere/?token=hunter2hunter2"),
    "empty": plain(503, b"", Retry_After="later"),
}


class Answers(BaseHTTPRequestHandler):
    """Answers according to the name in the path."""

    def do_GET(self) -> None:
        ANSWERS[self.path.strip("/").partition("?")[0]](self)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Return the URL of a local server."""
    with answering(Answers) as address:
        yield address


async def by_all(url: str, **options: Any) -> list[CodedError]:
    """Return each client's conversion of an answer whose body has not been read yet."""
    errors = []
    for module in (httpx, httpx2):
        async with module.AsyncClient() as client, client.stream("GET", url) as response:
            errors.append(await from_http_response_async(response, body=True, **options))
        with module.Client() as client, client.stream("GET", url) as response:
            errors.append(await from_http_response_async(response, body=True, **options))
    async with aiohttp.ClientSession() as session, session.get(url, allow_redirects=False) as response:
        errors.append(await from_http_response_async(response, body=True, **options))
    got = await asyncio.to_thread(requests.get, url, stream=True, timeout=5, allow_redirects=False)
    with got as response:
        errors.append(await from_http_response_async(response, body=True, **options))
    return errors


@pytest.mark.parametrize(
    ("name", "body"),
    [("latin", "Zürich fällt aus"), ("image", None), ("broken", "half an ans"), ("empty", None)],
)
@pytest.mark.anyio
async def test_bodies_of_every_kind(url: str, name: str, body: str | None) -> None:
    """The charset is used, binary data is left out, and a truncated body counts as far as it arrived."""
    errors = await by_all(f"{url}/{name}")
    if name == "broken":
        assert {"status": 500} == errors.pop().data  # requests returns complete chunks only
    for error in errors:
        assert ErrorCode.SERVICE_UNAVAILABLE == error.code
        assert body == (error.data or {}).get("body")
        assert "retryAfter" not in (error.data or {})


@pytest.mark.anyio
async def test_large_bodies_are_cut(url: str) -> None:
    """At most the limit is kept, compressed or not, with a note."""
    for name, start in (("huge", "xxx"), ("gzip", "packed words")):
        for error in await by_all(f"{url}/{name}", body_limit=100):
            body = (error.data or {})["body"]
            assert body.startswith(start)
            assert 100 >= len(body)
            assert "cut" in body


@pytest.mark.anyio
async def test_a_redirect_that_was_not_followed_is_an_invalid_request(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Its target appears nowhere."""
    for error in await by_all(f"{url}/moved?q=queryquery"):
        assert (ErrorCode.INVALID_REQUEST, "The service answered 302 Found.") == (error.code, error.message)
    assert "hunter2" not in caplog.text
    assert "queryquery" not in caplog.text
    assert "/moved" in caplog.text


@pytest.mark.parametrize("status", [100, 103, 200, 204, 299, 1000])
@pytest.mark.anyio
async def test_successful_responses_are_refused_unread(status: int) -> None:
    """Both functions refuse them before touching the body."""
    response = SimpleNamespace(status=status, headers={})
    with pytest.raises(ValueError, match="300 to 999"):
        from_http_response(response)
    with pytest.raises(ValueError, match="300 to 999"):
        await from_http_response_async(response)
    for wrong in (SimpleNamespace(status=True), SimpleNamespace(status_code=None), None):
        with pytest.raises(TypeError):
            await from_http_response_async(wrong)


@pytest.mark.anyio
async def test_a_custom_response_object_is_enough() -> None:
    """It may have an enum status, plain or broken headers in any case, and no readable body."""
    error = await from_http_response_async(
        SimpleNamespace(status_code=HTTPStatus.TOO_MANY_REQUESTS, headers={"RETRY-AFTER": "7"})
    )
    assert (ErrorCode.RATE_LIMITED, Retry.after(seconds=7)) == (error.code, error.retry)
    assert {"status": 429, "retryAfter": 7} == error.data
    bare = from_http_response(SimpleNamespace(status=799, headers=SimpleNamespace(), method="PUT", url="/x"))
    assert (ErrorCode.SERVICE_UNAVAILABLE, "The service answered 799.") == (bare.code, bare.message)
    consumed = SimpleNamespace(status=500, headers=None, is_stream_consumed=True)
    assert {"status": 500} == (await from_http_response_async(consumed, body=True)).data
    assert {"status": 500} == from_http_response(SimpleNamespace(status=500, headers=None, method=3)).data


PROBLEM = {
    "type": "https://ann:pw@example.org/out?key=1#credit",
    "title": "Out of\x00 credit",
    "status": 403,
    "detail": "The token=hunter2hunter2 is spent. " + "x" * 1_000,
    "instance": "/bills/7?session=abc",
    "balance": 30,
}


@pytest.mark.parametrize("kind", ["application/problem+json; charset=utf-8", "Application/Problem+JSON"])
def test_problem_details_are_read_without_secrets_and_queries(kind: str) -> None:
    """The fields of RFC 9457 are bounded, and extensions are left out."""
    response = httpx.Response(403, headers={"Content-Type": kind}, content=json.dumps(PROBLEM).encode())
    problem = (from_http_response(response, body=True).data or {})["problem"]
    assert ("https://example.org/out#credit", "/bills/7", 403) == (
        problem["type"],
        problem["instance"],
        problem["status"],
    )
    assert problem["title"].isprintable()
    assert "hunter2" not in problem["detail"]
    assert 500 >= len(problem["detail"])
    assert "balance" not in problem


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("application/problem+json", "[1]"),
        ("application/problem+json", "{"),
        ("application/problem+json", '{"status": true, "title": 3}'),
        ("application/problem+json", "[" * 60_000),
        ("application/json", '{"title": "x"}'),
        ("text/plain; x=application/problem+json", '{"title": "x"}'),
    ],
)
def test_other_bodies_are_not_read_as_problem_details(kind: str, content: str) -> None:
    """These are other content types, other JSON and invalid JSON."""
    response = httpx.Response(400, headers={"Content-Type": kind}, text=content)
    assert "problem" not in (from_http_response(response, body=True).data or {})


def test_an_unparsable_reference_still_loses_its_query() -> None:
    """The part before the question mark is kept."""
    body = json.dumps({"type": "http://[broken/?key=1"})
    response = httpx.Response(400, headers={"Content-Type": "application/problem+json"}, text=body)
    assert "http://[broken/" == (from_http_response(response, body=True).data or {})["problem"]["type"]


def test_invalid_charsets_are_read_as_utf_8() -> None:
    """Some Python codecs have names that no service should use."""
    for charset in ("zip", "idna", "rot13", "utf-99", "cp99999", "utf-16"):
        response = httpx.Response(500, headers={"Content-Type": f"text/plain; charset={charset}"}, content=b"plain")
        error = from_http_response(response, body=True)
        assert charset == "utf-16" or "plain" == (error.data or {})["body"]


@dataclass
class Account:
    account: int


def test_the_authors_data_overrides_the_default_facts() -> None:
    """A dataclass works, too."""
    response = httpx.Response(404)
    data: Any = Account(7)
    assert {"status": 404, "account": 7} == from_http_response(response, data=data).data
    error = from_http_response(response, message="No page.", service="Wiki", data={"status": "gone", "service": "W"})
    assert ("No page.", {"status": "gone", "service": "W"}) == (error.message, error.data)


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize(
    ("status", "wait", "reason", "advice"),
    [
        (503, None, "down", Retry.after(seconds=60)),
        (503, "7", "down", Retry.after(seconds=7)),
        (503, "7", "closed", Retry.never()),
        (503, None, "quiet", ErrorCode.SERVICE_UNAVAILABLE.retry),
        (501, None, "quiet", Retry.never()),
        (503, "7", "unknown", Retry.after(seconds=7)),
    ],
)
@pytest.mark.anyio
async def test_the_declaration_of_the_contract_applies(
    status: int, wait: str | None, reason: str, advice: Retry
) -> None:
    """Its recovery always applies; its advice applies unless the response asks to wait, and "never" stays."""

    def entry(name: Any, retry: Retry | None) -> FailureMode[Any]:
        recovery = "Look at the status page of the service."
        return FailureMode(name, ErrorCode.SERVICE_UNAVAILABLE, when="Down.", recovery=recovery, retry=retry)

    errors = [entry("down", Retry.after(seconds=60)), entry("closed", Retry.never()), entry("quiet", None)]

    @tool(errors=errors, read_only=True)
    def get(ctx: Context[Literal["down", "closed", "quiet"]]) -> None:
        headers = {} if wait is None else {"Retry-After": wait}
        raise from_http_response(httpx.Response(status, headers=headers), reason=reason)

    async with Client(Server("s", tools=[get])) as client:
        envelope = envelope_of(await client.call_tool("get", {}))
    assert (reason, advice) == (envelope.reason, envelope.retry)
    assert (envelope.hint is None) == (reason == "unknown")
