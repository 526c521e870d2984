"""HTTP clients, clouds and AI services, against real answers of a server on loopback."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG001, ARG005, E501, PLW0108
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.classify.case import Case, case
from mcpcore.contract.codes import ErrorCode as C

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.classify.servers import Peers


STATUSES = ((400, C.INVALID_PARAMS), (401, C.UNAUTHORIZED), (403, C.FORBIDDEN), (404, C.NOT_FOUND), (409, C.CONFLICT),
            (422, C.VALIDATION_ERROR), (429, C.RATE_LIMITED), (500, C.SERVICE_UNAVAILABLE), (503, C.SERVICE_UNAVAILABLE),
            (504, C.TIMEOUT))  # fmt: skip


# httpx and httpx2: one API
def _httpx(name: str) -> list[Case]:
    def module() -> Any:
        return __import__(name)

    def get(url: Callable[[Peers], str], **options: Any) -> Callable[[Peers], object]:
        return lambda p: module().get(url(p), **options).raise_for_status().json()

    return [
        *(
            case(label, f"answered {status}", get(lambda p, s=status: p.url(s)), name)
            for status, label in (*STATUSES, (302, C.INVALID_REQUEST), (501, C.SERVICE_UNAVAILABLE))
        ),
        case(C.SERVICE_UNAVAILABLE, "a dead port", get(lambda p: p.dead), name),
        case(C.SERVICE_UNAVAILABLE, "an unknown host", get(lambda p: "http://no-such-host.invalid/"), name),
        case(C.TIMEOUT, "a slow server", get(lambda p: p.url("slow/1"), timeout=0.05), name),
        case(C.SERVICE_UNAVAILABLE, "a server that hangs up", get(lambda p: p.url("hangup")), name),
        case(C.SERVICE_UNAVAILABLE, "a body that ends early", get(lambda p: p.url("short")), name),
        case(
            C.SERVICE_UNAVAILABLE,
            "TLS with a server that has none",
            get(lambda p: p.url(200).replace("http:", "https:")),
            name,
        ),
        case(C.INVALID_REQUEST, "redirects without end", get(lambda p: p.url("redirect"), follow_redirects=True), name),
        case(C.SERIALIZATION_ERROR, "a body that is not gzip", get(lambda p: p.url("badgzip")), name),
        case(C.SERIALIZATION_ERROR, "a body that is not JSON", get(lambda p: p.url("text")), name),
        case(C.VALIDATION_ERROR, "an URL without a scheme", get(lambda p: "example.com/a"), name),
        case(C.VALIDATION_ERROR, "an URL with a wrong port", get(lambda p: "http://example.com:port/"), name),
        case(C.INTERNAL_ERROR, "a stream read twice", lambda p: _read_twice(module(), p), name, bug=True),
    ]


def _read_twice(httpx: Any, p: Peers) -> None:
    with httpx.stream("GET", p.url(200)) as response:
        list(response.iter_raw())
        list(response.iter_raw())


def _requests(url: Callable[[Peers], str], **options: Any) -> Callable[[Peers], object]:
    def run(p: Peers) -> object:
        import requests

        with requests.get(url(p), **({"timeout": 3} | options)) as response:
            response.raise_for_status()
            return response.json()

    return run


def _requests_retrying(p: Peers) -> None:
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3 import Retry

    with requests.Session() as session:
        session.mount("http://", HTTPAdapter(max_retries=Retry(1, backoff_factor=0, status_forcelist=[503])))
        session.get(p.url(503))


def _urllib3(url: Callable[[Peers], str], **options: Any) -> Callable[[Peers], object]:
    def run(p: Peers) -> object:
        import urllib3

        with urllib3.PoolManager() as pool:
            return pool.request("GET", url(p), **options)

    return run


def _aiohttp(url: Callable[[Peers], str], **options: Any) -> Callable[[Peers], object]:
    async def run(p: Peers) -> object:
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=options.pop("timeout", 3))
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url(p), **options) as response:
            response.raise_for_status()
            return await response.json()

    return run


# AI services
def _ai(name: str, status: int, body: object = None, **headers: str) -> Callable[[Peers], object]:
    def run(p: Peers) -> object:
        answer = {"error": {"message": "as asked", "type": "asked"}} if body is None else body
        return _models(name, p.answering(status, answer, **headers))

    return run


def _models(name: str, base_url: str, **options: Any) -> object:
    module = __import__(name)
    client = getattr(module, "OpenAI" if name == "openai" else "Anthropic")(
        base_url=base_url, api_key="k", max_retries=0, **options
    )
    with client:
        return client.models.list()


def _models_cases(name: str) -> list[Case]:
    return [
        *(case(label, f"answered {status}", _ai(name, status), name) for status, label in STATUSES),
        case(C.SERVICE_UNAVAILABLE, "a dead port", lambda p: _models(name, p.dead), name),
        case(C.TIMEOUT, "a slow server", lambda p: _models(name, p.url("slow/1"), timeout=0.05), name),
    ]


# AWS
def _aws(status: int, code: str, service: str = "dynamodb") -> Callable[[Peers], object]:
    def run(p: Peers) -> object:
        if service == "s3":
            body: object = f"<Error><Code>{code}</Code><Message>as asked</Message></Error>".encode()
            client = _aws_client(p, "s3", p.answering(status, body))
            return client.get_object(Bucket="bucket", Key="key")
        client = _aws_client(
            p, "dynamodb", p.answering(status, {"__type": f"com.amazonaws#{code}", "message": "as asked"})
        )
        return client.list_tables()

    return run


def _aws_client(p: Peers, service: str, url: str | None, **options: Any) -> Any:
    import botocore.session
    from botocore.config import Config

    session = botocore.session.Session()
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b"} if options.pop("keys", True) else {}
    config = Config(
        retries={"total_max_attempts": 1}, read_timeout=options.pop("read_timeout", 3), s3={"addressing_style": "path"}
    )
    return session.create_client(
        service, region_name=options.pop("region", "eu-west-1"), endpoint_url=url, config=config, **keys
    )


# Google, gRPC, Azure, Elasticsearch
def _google(status: int) -> Callable[[Peers], object]:
    def run(p: Peers) -> object:
        import requests
        from google.api_core import exceptions

        with requests.get(p.url(status), timeout=3) as response:
            raise exceptions.from_http_response(response)

    return run


def _grpc(status: str, *, google: bool = False, deadline: float = 3) -> Callable[[Peers], object]:
    def run(p: Peers) -> object:
        import grpc

        with grpc.insecure_channel(p.grpc) as channel:
            ask = channel.unary_unary("/bench/Ask")
            if google:
                from google.api_core import grpc_helpers

                ask = grpc_helpers.wrap_errors(ask)
            return ask(status.encode(), timeout=deadline)

    return run


async def _grpc_aio(p: Peers) -> object:
    import grpc.aio

    async with grpc.aio.insecure_channel(p.grpc) as channel:
        return await channel.unary_unary("/bench/Ask")(b"NOT_FOUND", timeout=3)


def _grpc_dead(p: Peers) -> object:
    import grpc

    with grpc.insecure_channel(f"127.0.0.1:{p.dead_port}") as channel:
        return channel.unary_unary("/bench/Ask")(b"x", timeout=3)


def _azure(url: Callable[[Peers], str], **options: Any) -> Callable[[Peers], object]:
    def run(p: Peers) -> object:
        from azure.core import PipelineClient, exceptions
        from azure.core.pipeline.policies import RetryPolicy
        from azure.core.rest import HttpRequest

        errors: Any = {401: exceptions.ClientAuthenticationError, 404: exceptions.ResourceNotFoundError,
                       409: exceptions.ResourceExistsError}  # fmt: skip
        with PipelineClient(url(p), policies=[RetryPolicy.no_retries()]) as client:
            response = client.send_request(HttpRequest("GET", url(p)), **options)
            exceptions.map_error(response.status_code, response, errors)
            response.raise_for_status()
            return response.json()

    return run


def _elastic(url: Callable[[Peers], str], **options: Any) -> Callable[[Peers], object]:
    def run(p: Peers) -> object:
        import elasticsearch

        with elasticsearch.Elasticsearch(url(p), max_retries=0, retry_on_status=(), **options) as client:
            return client.get(index="things", id="1")

    return run


PRODUCT = {"X_Elastic_Product": "Elasticsearch", "Content_Type": "application/vnd.elasticsearch+json;compatible-with=9"}


CASES: list[Case] = [
    *_httpx("httpx"),
    *_httpx("httpx2"),
    *(
        case(label, f"answered {status}", _requests(lambda p, s=status: p.url(s)), "requests")
        for status, label in STATUSES
    ),
    case(C.SERVICE_UNAVAILABLE, "a dead port", _requests(lambda p: p.dead), "requests"),
    case(C.SERVICE_UNAVAILABLE, "an unknown host", _requests(lambda p: "http://no-such-host.invalid/"), "requests"),
    case(C.TIMEOUT, "a slow server", _requests(lambda p: p.url("slow/1"), timeout=0.05), "requests"),
    case(C.SERVICE_UNAVAILABLE, "a server that hangs up", _requests(lambda p: p.url("hangup")), "requests"),
    case(
        C.SERVICE_UNAVAILABLE,
        "TLS with a server that has none",
        _requests(lambda p: p.url(200).replace("http:", "https:")),
        "requests",
    ),
    case(C.INVALID_REQUEST, "redirects without end", _requests(lambda p: p.url("redirect")), "requests"),
    case(C.SERIALIZATION_ERROR, "a body that is not JSON", _requests(lambda p: p.url("text")), "requests"),
    case(C.SERIALIZATION_ERROR, "a body that is not gzip", _requests(lambda p: p.url("badgzip")), "requests"),
    case(C.VALIDATION_ERROR, "an URL without a scheme", _requests(lambda p: "example.com"), "requests"),
    case(
        C.VALIDATION_ERROR, "an URL with a scheme of its own", _requests(lambda p: "gopher://example.com"), "requests"
    ),
    case(C.SERVICE_UNAVAILABLE, "503 until the retries are spent", _requests_retrying, "requests"),
    case(C.SERVICE_UNAVAILABLE, "a dead port", _urllib3(lambda p: p.dead, retries=1), "urllib3"),
    case(C.TIMEOUT, "a slow server", _urllib3(lambda p: p.url("slow/1"), timeout=0.05, retries=0), "urllib3"),
    case(
        C.TIMEOUT,
        "a slow server, without retries",
        _urllib3(lambda p: p.url("slow/1"), timeout=0.05, retries=False),
        "urllib3",
    ),
    case(
        C.SERVICE_UNAVAILABLE, "a server that hangs up", _urllib3(lambda p: p.url("hangup"), retries=False), "urllib3"
    ),
    case(C.VALIDATION_ERROR, "an URL that does not parse", _urllib3(lambda p: "http://[bad"), "urllib3"),
    *(
        case(label, f"answered {status}", _aiohttp(lambda p, s=status: p.url(s)), "aiohttp")
        for status, label in STATUSES
    ),
    case(C.SERVICE_UNAVAILABLE, "a dead port", _aiohttp(lambda p: p.dead), "aiohttp"),
    case(C.SERVICE_UNAVAILABLE, "an unknown host", _aiohttp(lambda p: "http://no-such-host.invalid/"), "aiohttp"),
    case(C.TIMEOUT, "a slow server", _aiohttp(lambda p: p.url("slow/1"), timeout=0.05), "aiohttp"),
    case(C.SERVICE_UNAVAILABLE, "a server that hangs up", _aiohttp(lambda p: p.url("hangup")), "aiohttp"),
    case(C.SERVICE_UNAVAILABLE, "a body that ends early", _aiohttp(lambda p: p.url("short")), "aiohttp"),
    case(
        C.SERVICE_UNAVAILABLE,
        "TLS with a server that has none",
        _aiohttp(lambda p: p.url(200).replace("http:", "https:")),
        "aiohttp",
    ),
    case(C.INVALID_REQUEST, "redirects without end", _aiohttp(lambda p: p.url("redirect")), "aiohttp"),
    case(C.SERIALIZATION_ERROR, "a body of another type", _aiohttp(lambda p: p.url("text")), "aiohttp"),
    case(C.VALIDATION_ERROR, "an URL that does not parse", _aiohttp(lambda p: "http:///nothing"), "aiohttp"),
    *_models_cases("openai"),
    *_models_cases("anthropic"),
    case(
        C.RATE_LIMITED,
        "a quota that is spent",
        _ai("openai", 429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}),
        "openai",
    ),
    case(
        C.VALIDATION_ERROR,
        "a context that is too long",
        _ai("openai", 400, {"error": {"message": "maximum context length", "code": "context_length_exceeded"}}),
        "openai",
    ),
    case(
        C.SERVICE_UNAVAILABLE,
        "overloaded",
        _ai("anthropic", 529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        "anthropic",
    ),
    *(
        case(label, code, _aws(status, code), "botocore")
        for status, code, label in (
            (400, "ThrottlingException", C.RATE_LIMITED),
            (400, "ProvisionedThroughputExceededException", C.RATE_LIMITED),
            (400, "ResourceNotFoundException", C.NOT_FOUND),
            (400, "ConditionalCheckFailedException", C.CONFLICT),
            (400, "ValidationException", C.VALIDATION_ERROR),
            (400, "AccessDeniedException", C.FORBIDDEN),
            (400, "UnrecognizedClientException", C.UNAUTHORIZED),
            (400, "ExpiredTokenException", C.UNAUTHORIZED),
            (500, "InternalServerError", C.SERVICE_UNAVAILABLE),
            (400, "ResourceInUseException", C.CONFLICT),
        )
    ),
    *(
        case(label, code, _aws(status, code, "s3"), "botocore")
        for status, code, label in (
            (404, "NoSuchKey", C.NOT_FOUND),
            (404, "NoSuchBucket", C.NOT_FOUND),
            (403, "AccessDenied", C.FORBIDDEN),
            (503, "SlowDown", C.RATE_LIMITED),
            (403, "SignatureDoesNotMatch", C.UNAUTHORIZED),
            (412, "PreconditionFailed", C.CONFLICT),
            (409, "BucketAlreadyExists", C.CONFLICT),
        )
    ),
    case(C.SERVICE_UNAVAILABLE, "a dead port", lambda p: _aws_client(p, "dynamodb", p.dead).list_tables(), "botocore"),
    case(
        C.TIMEOUT,
        "a slow server",
        lambda p: _aws_client(p, "dynamodb", p.url("slow/1"), read_timeout=0.05).list_tables(),
        "botocore",
    ),
    case(
        C.VALIDATION_ERROR,
        "a parameter that is missing",
        lambda p: _aws_client(p, "s3", p.dead).get_object(Bucket="b"),
        "botocore",
    ),
    case(C.CONFIGURATION_ERROR, "a service that is none", lambda p: _aws_client(p, "nosuch", p.dead), "botocore"),
    case(
        C.INTERNAL_ERROR,
        "an operation misspelt",
        lambda p: _aws_client(p, "s3", p.dead).get_objekt(),
        "botocore",
        bug=True,
    ),
    *(case(label, f"answered {status}", _google(status), "google.api_core") for status, label in STATUSES),
    *(
        case(label, name, _grpc(name), "grpc")
        for name, label in (
            ("NOT_FOUND", C.NOT_FOUND),
            ("ALREADY_EXISTS", C.CONFLICT),
            ("PERMISSION_DENIED", C.FORBIDDEN),
            ("UNAUTHENTICATED", C.UNAUTHORIZED),
            ("RESOURCE_EXHAUSTED", C.RATE_LIMITED),
            ("UNAVAILABLE", C.SERVICE_UNAVAILABLE),
            ("INVALID_ARGUMENT", C.VALIDATION_ERROR),
            ("DEADLINE_EXCEEDED", C.TIMEOUT),
            ("CANCELLED", C.REQUEST_CANCELLED),
            ("INTERNAL", C.SERVICE_UNAVAILABLE),
            ("ABORTED", C.CONFLICT),
            ("UNIMPLEMENTED", C.SERVICE_UNAVAILABLE),
        )
    ),
    *(
        case(label, f"gRPC {name}", _grpc(name, google=True), "google.api_core")
        for name, label in (
            ("NOT_FOUND", C.NOT_FOUND),
            ("RESOURCE_EXHAUSTED", C.RATE_LIMITED),
            ("ABORTED", C.CONFLICT),
            ("CANCELLED", C.REQUEST_CANCELLED),
        )
    ),
    case(C.TIMEOUT, "a deadline that passes", _grpc("SLOW", deadline=0.05), "grpc"),
    case(C.NOT_FOUND, "NOT_FOUND, asyncio", _grpc_aio, "grpc"),
    case(C.SERVICE_UNAVAILABLE, "a dead port", lambda p: _grpc_dead(p), "grpc"),
    *(
        case(label, f"answered {status}", _azure(lambda p, s=status: p.url(s)), "azure.core")
        for status, label in STATUSES
    ),
    case(C.SERVICE_UNAVAILABLE, "a dead port", _azure(lambda p: p.dead), "azure.core"),
    case(C.TIMEOUT, "a slow server", _azure(lambda p: p.url("slow/1"), read_timeout=0.05), "azure.core"),
    *(
        case(
            label,
            f"answered {status}",
            _elastic(lambda p, s=status: p.answering(s, {"error": "as asked"}, **PRODUCT)),
            "elasticsearch",
        )
        for status, label in STATUSES
    ),
    case(C.SERVICE_UNAVAILABLE, "a dead port", _elastic(lambda p: p.dead.rstrip("/")), "elasticsearch"),
    case(
        C.TIMEOUT,
        "a slow server",
        _elastic(lambda p: p.url("slow").replace("slow", "slow/1"), request_timeout=0.05),
        "elasticsearch",
    ),
]
