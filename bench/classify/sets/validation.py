"""Validators, parsers, tokens and retries of libraries."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: ARG001, ARG005, ICN001, UP017
from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from bench.classify.case import Case, case
from mcpcore.contract.codes import ErrorCode as C

if TYPE_CHECKING:
    from bench.classify.servers import Peers

KEY = "k" * 64


def _model(**fields: Any) -> Any:
    import pydantic

    return pydantic.create_model("Thing", **fields)


def _token(**claims: Any) -> str:
    import jwt

    return jwt.encode(claims, KEY, "HS256")


def _decode(token: str, key: str = KEY, **options: Any) -> object:
    import jwt

    return jwt.decode(token, key, ["HS256"], **options)


PAST = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)


def _retrying(exc: type[Exception], *args: object) -> Any:
    def run(p: Peers) -> None:
        import tenacity

        @tenacity.retry(stop=tenacity.stop_after_attempt(2), wait=tenacity.wait_none())
        def fail() -> None:
            raise exc(*args)

        fail()

    return run


async def _anyio() -> None:
    import anyio

    sender, receiver = anyio.create_memory_object_stream[int]()
    await receiver.aclose()
    try:
        await sender.send(1)
    finally:
        await sender.aclose()


async def _fail_after() -> None:
    import anyio

    with anyio.fail_after(0.01):
        await anyio.sleep(5)


def _google_retry(p: Peers) -> None:
    from google.api_core import exceptions, retry

    @retry.Retry(initial=0.01, maximum=0.01, timeout=0.05)
    def fail() -> None:
        raise exceptions.ServiceUnavailable("as asked")

    fail()


CASES: list[Case] = [
    case(C.VALIDATION_ERROR, "a field of the wrong type", lambda p: _model(age=(int, ...))(age="old"), "pydantic"),
    case(C.VALIDATION_ERROR, "a field that is missing", lambda p: _model(age=(int, ...))(), "pydantic"),
    case(
        C.VALIDATION_ERROR,
        "JSON of the wrong shape",
        lambda p: _model(age=(int, ...)).model_validate_json("[1]"),
        "pydantic",
    ),
    case(
        C.VALIDATION_ERROR,
        "TypeAdapter",
        lambda p: __import__("pydantic").TypeAdapter(list[int]).validate_python("x"),
        "pydantic",
    ),
    case(
        C.SERIALIZATION_ERROR,
        "a value that cannot be written",
        lambda p: __import__("pydantic_core").to_json(object()),
        "pydantic_core",
    ),
    case(
        C.INTERNAL_ERROR,
        "a model that cannot be made",
        lambda p: _model(a=(object().__class__, ...), b=(type("X", (), {}), ...)),
        "pydantic",
        bug=True,
    ),
    case(
        C.VALIDATION_ERROR,
        "an instance that does not fit",
        lambda p: __import__("jsonschema").validate({"a": 1}, {"properties": {"a": {"type": "string"}}}),
        "jsonschema",
    ),
    case(
        C.VALIDATION_ERROR,
        "properties that are not allowed",
        lambda p: __import__("jsonschema").validate({"a": 1}, {"additionalProperties": False}),
        "jsonschema",
    ),
    case(
        C.INTERNAL_ERROR,
        "a schema that is wrong",
        lambda p: __import__("jsonschema").validate(1, {"type": "invalid"}),
        "jsonschema",
        bug=True,
    ),
    case(
        C.INTERNAL_ERROR,
        "a reference to nowhere",
        lambda p: __import__("jsonschema").validate(1, {"$ref": "#/$defs/none"}),
        "jsonschema",
        bug=True,
    ),
    case(C.SERIALIZATION_ERROR, "YAML that is not", lambda p: __import__("yaml").safe_load("a: [1, 2"), "yaml"),
    case(C.SERIALIZATION_ERROR, "YAML with a tab", lambda p: __import__("yaml").safe_load("a:\n\t- b"), "yaml"),
    case(
        C.SERIALIZATION_ERROR,
        "YAML with a tag of Python's",
        lambda p: __import__("yaml").safe_load("!!python/object:os.system {}"),
        "yaml",
    ),
    case(C.SERIALIZATION_ERROR, "YAML of an object", lambda p: __import__("yaml").safe_dump(object()), "yaml"),
    case(C.SERIALIZATION_ERROR, "TOML that is not", lambda p: __import__("tomlkit").parse("a = = 1"), "tomlkit"),
    case(C.UNAUTHORIZED, "a token that has expired", lambda p: _decode(_token(exp=PAST)), "jwt"),
    case(C.UNAUTHORIZED, "a token signed by another", lambda p: _decode(_token(a=1), "x" * 64), "jwt"),
    case(C.UNAUTHORIZED, "a token that is none", lambda p: _decode("nope"), "jwt"),
    case(C.UNAUTHORIZED, "a token for others", lambda p: _decode(_token(aud="b"), audience="a"), "jwt"),
    case(
        C.UNAUTHORIZED, "a token without a claim", lambda p: _decode(_token(a=1), options={"require": ["exp"]}), "jwt"
    ),
    case(
        C.SERVICE_UNAVAILABLE,
        "keys on a dead port",
        lambda p: __import__("jwt").PyJWKClient(p.dead).get_signing_keys(),
        "jwt",
    ),
    case(
        C.VALIDATION_ERROR,
        "an address that is none",
        lambda p: __import__("email_validator").validate_email("nope", check_deliverability=False),
        "email_validator",
    ),
    case(
        C.VALIDATION_ERROR,
        "a version that is none",
        lambda p: __import__("packaging.version").version.Version("x.y"),
        "packaging",
    ),
    case(C.TIMEOUT, "timeouts until the attempts are spent", _retrying(TimeoutError, "slow"), "tenacity"),
    case(
        C.NOT_FOUND,
        "a missing file until the attempts are spent",
        _retrying(FileNotFoundError, 2, "missing"),
        "tenacity",
    ),
    case(
        C.INTERNAL_ERROR,
        "a bug until the attempts are spent",
        _retrying(AttributeError, "no such user"),
        "tenacity",
        bug=True,
    ),
    case(C.SERVICE_UNAVAILABLE, "a resource that was closed", lambda p: _anyio(), "anyio"),
    case(C.TIMEOUT, "fail_after", lambda p: _fail_after(), "anyio"),
    case(C.SERVICE_UNAVAILABLE, "503 until the time is spent", _google_retry, "google.api_core"),
]
