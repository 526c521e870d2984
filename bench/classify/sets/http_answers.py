"""HTTP, gRPC and model clients against real responses."""

# The cases do on purpose what the rules forbid, each in one line.
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.classify.case import Case, case
from mcpcore.contract.codes import ErrorCode as E

if TYPE_CHECKING:
    from bench.classify.servers import Peers


# HTTP clients and model APIs against real answers.


async def _httpx(peers: Peers, path: str, **settings: Any) -> None:
    import httpx

    async with httpx.AsyncClient(**settings) as client:
        (await client.post(peers.url(path), json={})).raise_for_status()


def _requests(peers: Peers, path: str, **settings: Any) -> None:
    import requests

    requests.delete(peers.url(path), **settings).raise_for_status()


async def _aiohttp(url: str, **settings: Any) -> None:
    import aiohttp

    async with aiohttp.ClientSession(**settings) as session, session.get(url, raise_for_status=True) as answer:
        await answer.read()


def _urllib3(peers: Peers) -> None:
    import urllib3

    with urllib3.PoolManager(retries=False) as pool:
        pool.request("GET", peers.dead)


def _urlopen(peers: Peers) -> None:
    import urllib.request

    urllib.request.urlopen(peers.url("429"), timeout=2)


async def _websocket(peers: Peers, path: str) -> None:
    from websockets.asyncio.client import connect

    async with connect(peers.url(path).replace("http:", "ws:"), open_timeout=2):
        pass


def _openai(url: str, **settings: Any) -> Any:
    import openai

    with openai.OpenAI(api_key="k", base_url=url, max_retries=0, **settings) as client:
        return client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "hi"}])


def _anthropic(url: str) -> Any:
    import anthropic

    with anthropic.Anthropic(api_key="k", base_url=url, max_retries=0) as client:
        return client.messages.create(
            model="claude-sonnet-4", max_tokens=8, messages=[{"role": "user", "content": "hi"}]
        )


def _elastic(peers: Peers, status: int, kind: str, reason: str) -> Any:
    from elasticsearch import Elasticsearch

    body = {"error": {"root_cause": [], "type": kind, "reason": reason}, "status": status}
    url = peers.answering(status, body, X_Elastic_Product="Elasticsearch")
    with Elasticsearch(url, max_retries=0, retry_on_status=()) as client:
        return client.get(index="logs", id="1")


def _grpc(peers: Peers, status: str, seconds: float = 5) -> None:
    import grpc

    with grpc.insecure_channel(peers.grpc) as channel:
        channel.unary_unary("/bench/Ask")(status.encode(), timeout=seconds)


CASES: list[Case] = [
    case(E.CONFLICT, "POST answered 409", lambda peers: _httpx(peers, "409"), "httpx"),
    case(E.SERVICE_UNAVAILABLE, "POST answered 501", lambda peers: _httpx(peers, "501"), "httpx"),
    case(E.SERVICE_UNAVAILABLE, "peer hangs up", lambda peers: _httpx(peers, "hangup"), "httpx"),
    case(E.TIMEOUT, "slow answer to a POST", lambda peers: _httpx(peers, "slow/1", timeout=0.1), "httpx"),
    case(E.TIMEOUT, "DELETE answered 504", lambda peers: _requests(peers, "504"), "requests"),
    case(E.FORBIDDEN, "DELETE answered 403", lambda peers: _requests(peers, "403"), "requests"),
    case(E.SERVICE_UNAVAILABLE, "answer cut short", lambda peers: _requests(peers, "short"), "requests"),
    case(
        E.SERVICE_UNAVAILABLE,
        "TLS spoken to a plain port",
        lambda peers: __import__("requests").get(peers.http.replace("http:", "https:"), timeout=2),
        "requests",
    ),
    case(E.UNAUTHORIZED, "GET answered 401", lambda peers: _aiohttp(peers.url("401")), "aiohttp"),
    case(E.SERVICE_UNAVAILABLE, "GET on a dead port", lambda peers: _aiohttp(peers.dead), "aiohttp"),
    case(
        E.TIMEOUT,
        "GET with a total timeout",
        lambda peers: _aiohttp(peers.url("slow/1"), timeout=__import__("aiohttp").ClientTimeout(total=0.1)),
        "aiohttp",
    ),
    case(E.SERVICE_UNAVAILABLE, "connection pool on a dead port", _urllib3, "urllib3"),
    case(E.RATE_LIMITED, "urlopen answered 429", _urlopen),
    case(E.UNAUTHORIZED, "handshake answered 401", lambda peers: _websocket(peers, "401"), "websockets"),
    case(
        E.UNAUTHORIZED,
        "wrong key",
        lambda peers: _openai(
            peers.answering(
                401, {"error": {"message": "Incorrect API key provided: sk-***", "code": "invalid_api_key"}}
            )
        ),
        "openai",
    ),
    case(
        E.NOT_FOUND,
        "model that nobody has",
        lambda peers: _openai(
            peers.answering(
                404,
                {
                    "error": {
                        "message": "The model `gpt-9` does not exist or you do not have access to it.",
                        "code": "model_not_found",
                    }
                },
            )
        ),
        "openai",
    ),
    case(E.TIMEOUT, "completion too slow", lambda peers: _openai(peers.url("slow/1"), timeout=0.1), "openai"),
    case(
        E.SERVICE_UNAVAILABLE,
        "overloaded",
        lambda peers: _anthropic(
            peers.answering(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
        ),
        "anthropic",
    ),
    case(
        E.FORBIDDEN,
        "key without the permission",
        lambda peers: _anthropic(
            peers.answering(
                403,
                {
                    "type": "error",
                    "error": {"type": "permission_error", "message": "Your API key does not have permission"},
                },
            )
        ),
        "anthropic",
    ),
    case(
        E.NOT_FOUND,
        "index",
        lambda peers: _elastic(peers, 404, "index_not_found_exception", "no such index [logs]"),
        "elasticsearch",
    ),
    case(
        E.CONFLICT,
        "version",
        lambda peers: _elastic(
            peers, 409, "version_conflict_engine_exception", "[1]: version conflict, current version [2] is higher"
        ),
        "elasticsearch",
    ),
    case(
        E.RATE_LIMITED,
        "queue capacity",
        lambda peers: _elastic(
            peers, 429, "es_rejected_execution_exception", "rejected execution of coordinating operation"
        ),
        "elasticsearch",
    ),
    case(
        E.UNAUTHORIZED,
        "security",
        lambda peers: _elastic(
            peers, 401, "security_exception", "missing authentication credentials for REST request [/logs/_doc/1]"
        ),
        "elasticsearch",
    ),
    case(E.FORBIDDEN, "PERMISSION_DENIED", lambda peers: _grpc(peers, "PERMISSION_DENIED"), "grpc"),
    case(E.REQUEST_CANCELLED, "CANCELLED", lambda peers: _grpc(peers, "CANCELLED"), "grpc"),
    case(E.TIMEOUT, "deadline passed", lambda peers: _grpc(peers, "SLOW", 0.2), "grpc"),
]
