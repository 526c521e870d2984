"""Any exception becomes a valid envelope, both at the boundary and over a real server."""

# ruff: noqa: N818, PLW0108, RSE102 - exceptions named for what they do, made by functions that never look at them

from __future__ import annotations

import asyncio
import gc
import json
import logging
import re
import weakref
from collections.abc import Callable
from typing import Any

import anyio
import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from mcp import Client
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, TypeAdapter

from mcpcore import (
    CodedError,
    Context,
    Contract,
    ContractError,
    Envelope,
    ErrorCode,
    FailureMode,
    Limits,
    Retry,
    Server,
    not_found,
    tool,
)
from mcpcore.boundary.script import Boundary
from mcpcore.contract.advice import read_advice
from mcpcore.contract.codes import code_named
from mcpcore.values.jsonable import size
from mcpcore.values.unwrapping import passes_through
from mcpcore.wire.dialects.canonical import ERROR_SCHEMA
from mcpcore.wire.envelope_text import indented
from tests.boundaries import answer_to, caught, chain
from tests.tables import in_one_test

NO_MATCH = FailureMode(
    "no_match",
    ErrorCode.NOT_FOUND,
    when="Nothing matches.",
    recovery="Search first.",
    fallback_tool="search",
)
CONTRACT: Contract[Any] = Contract([NO_MATCH])
LIMITS = Limits()


class Lies(Exception):
    """Says that it is an interrupt."""

    @property
    def __class__(self) -> Any:
        return KeyboardInterrupt

    @__class__.setter
    def __class__(self, value: Any) -> None: ...


class Fights(Exception):
    """Raises on every operation."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __str__(self) -> str:
        raise SystemExit(3)

    __repr__ = __str__


class FightsAsBase(BaseException):
    def __getattr__(self, name: str) -> Any:
        raise ZeroDivisionError(name)

    def __str__(self) -> str:
        raise GeneratorExit


def _raising(self: Any) -> Any:
    raise RuntimeError


RAISES: Any = property(_raising)


class FightsInProperties(OSError):
    __cause__ = __context__ = errno = args = RAISES


class FightsAsGroup(ExceptionGroup[Exception]):
    exceptions = message = RAISES


class NoSuper(MCPError):
    def __init__(self) -> None: ...


class FightsWhenCoded(CodedError):
    @property
    def recovery(self) -> Any:
        raise RuntimeError("hunter2")


FightsInGroup: Any = type(
    "FightsInGroup", (CodedError,), {"code": property(lambda self: 1 / 0, lambda self, code: None)}
)


class Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        if name in ("__name__", "__module__", "__qualname__"):
            raise RuntimeError(name)
        return super().__getattribute__(name)


class FightsByClass(Exception, metaclass=Meta): ...


def from_c() -> Exception:
    return caught(lambda: json.loads("{"), ValueError)


def invalid() -> Exception:
    return caught(lambda: TypeAdapter(int).validate_python("hunter2"), ValueError)


def deep_chain(length: int = 3_000) -> Exception:
    return chain(ValueError("hunter2"), *(RuntimeError("x") for _ in range(length)))


def deep_group(depth: int = 500) -> BaseException:
    group: BaseException = ValueError("x")
    for _ in range(depth):
        group = BaseExceptionGroup("hunter2", [group, KeyError("k")])
    return group


def cyclic() -> Exception:
    first, second = ValueError("1"), KeyError("2")
    first.__cause__, second.__cause__ = second, first
    first.__context__ = first
    return first


def cancelled_elsewhere() -> BaseException:
    return asyncio.CancelledError("hunter2")


def at_depth() -> BaseException:
    def descend() -> None:
        descend()

    return caught(descend, RecursionError)


MAKERS: list[Callable[[], BaseException]] = [
    Lies,
    Fights,
    FightsAsBase,
    FightsInProperties,
    lambda: FightsAsGroup("x", [ValueError()]),
    lambda: ExceptionGroup("g", [FightsInGroup(ErrorCode.CONFLICT), ValueError()]),
    NoSuper,
    lambda: FightsWhenCoded(ErrorCode.CONFLICT),
    lambda: FightsByClass(),
    from_c,
    invalid,
    deep_chain,
    deep_group,
    cyclic,
    cancelled_elsewhere,
    at_depth,
    lambda: StopIteration("value"),
    lambda: StopAsyncIteration("value"),
    lambda: SystemExit("hunter2"),
    lambda: SystemExit(0),
    lambda: BaseException("hunter2"),
    lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "hunter2"),
    lambda: OSError(2, "hunter2", "/etc/passwd"),
    lambda: Exception("\ud800\x00\x1b[31m" * 10),
    lambda: Exception("x" * 10_000_000),
    lambda: ToolError("\ud800" * 5_000),
    lambda: ResourceError("x" * 5_000),
    lambda: MCPError(code=-32602, message="bad \ud800", data={"nan": float("nan"), "deep": deep_list()}),
    lambda: MCPError(code=2**70, message="", data=[1, object()]),
    lambda: ContractError("hunter2"),
    lambda: not_found("x" * 50_000, {"reason": "no_match", "many": list(range(100_000)), 1: float("inf")}),
    lambda: CodedError(ErrorCode.CONFLICT, None, {"retryable": "lies", "recovery": 5, "reason": 7}),
    lambda: CodedError(ErrorCode.CONFLICT, "", Gone()),
    lambda: CodedError(
        ErrorCode.TIMEOUT,
        "\x07",
        {"\ud800": 2**200},
        recovery={"hint": "h" * 9_000, "actions": [object()], "strategy": "x", "correctiveParams": {"a": deep_list()}},
    ),
    lambda: CONTRACT_ERROR(),
]


def deep_list() -> Any:
    value: Any = 1
    for _ in range(200):
        value = [value]
    return value


class Gone(dict[str, Any]):
    """A mapping that raises on every operation."""

    def get(self, *args: Any) -> Any:
        raise OSError

    items = __bool__ = __len__ = get


def CONTRACT_ERROR() -> BaseException:  # noqa: N802
    return caught(lambda: Context(CONTRACT).fail("no_mach"), ContractError)


TEXTS = st.text(st.characters(), max_size=50)
DATA = st.none() | st.dictionaries(TEXTS, st.integers() | st.floats() | TEXTS | st.binary(max_size=9), max_size=5)
# These are recipes, not exceptions, because Hypothesis inspects the values that it draws.
SIMPLE = st.one_of(
    st.integers(0, len(MAKERS) - 1).map(lambda number: ("made", number)),
    st.builds(
        lambda *args, **kwargs: ("coded", args, kwargs),
        st.sampled_from(list(ErrorCode)),
        st.none() | TEXTS,
        DATA,
        reason=st.none() | st.sampled_from(["no_match", "other"]),
        recovery=st.none() | st.just(...) | TEXTS | st.just({"hint": "H", "fallbackTool": "f"}),
        retry=st.none() | st.sampled_from([Retry.now(), Retry.after(seconds=3)]),
    ),
    st.tuples(
        st.just("plain"),
        st.sampled_from([ValueError, KeyError, OSError, RuntimeError, TimeoutError, AssertionError, MemoryError]),
        TEXTS,
    ),
)
RECIPES: Any = st.recursive(
    SIMPLE,
    lambda inner: (
        st.tuples(st.just("chain"), inner, inner, st.booleans())
        | st.tuples(st.just("group"), TEXTS, st.lists(inner, min_size=1, max_size=4))
    ),
    max_leaves=6,
)


def build(recipe: Any) -> BaseException:
    match recipe:
        case ("made", number):
            return MAKERS[number]()
        case ("coded", args, kwargs):
            return CodedError(*args, **kwargs)
        case ("plain", kind, text):
            return kind(text)  # type: ignore[no-any-return]
        case ("group", text, members):
            return BaseExceptionGroup(text, [build(member) for member in members])
        case ("chain", outer, inner, suppress):
            exc = build(outer)
            try:
                exc.__cause__ = build(inner)
                exc.__suppress_context__ = suppress
            except Exception:
                return exc
            return exc
    raise AssertionError(recipe)


@pytest.fixture(autouse=True, scope="module")
def silent() -> Any:
    """Thousands of tracebacks would only clutter the output."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def strict(text: str) -> Any:
    return json.loads(text, parse_constant=pytest.fail)


LAST_LINE = re.compile(r"\n\n\((?:reason (\S+) · )?([A-Z_]+) · (.+) · id ([0-9a-f]{16})\)\Z")


def check(structured: dict[str, Any], text: str, *, limits: Limits = LIMITS) -> Envelope:
    """Check the rules that every failure on the wire must follow."""
    assert {"error"} == structured.keys()
    error = strict(json.dumps(structured).encode().decode())["error"]
    text.encode()
    jsonschema.validate(error, ERROR_SCHEMA)
    assert error["name"] == code_named(error["name"]).name
    assert re.fullmatch(r"[0-9a-f]{16}", error["correlationId"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", error["timestamp"])
    assert 0 < len(error["message"]) <= limits.message
    assert error["retry"] in ({"kind": "not_retryable"}, {"kind": "retryable_immediate"}) or (
        "retryable_after_ms" == error["retry"]["kind"] and error["retry"]["afterMs"] >= 0
    )
    data = error.get("data")
    last = LAST_LINE.search(text)
    assert last is not None, text
    assert text.startswith(f"Error: {indented(error['message'])}")
    assert error["name"] == last[2]
    assert (error["advice"], error["correlationId"]) == (last[3], last[4])
    if data is None:
        assert last[1] is None
        assert "Details:" not in text
    else:
        assert size(data) <= limits.data
        assert data["retryable"] == (error["retry"]["kind"] != "not_retryable")
        assert data.get("reason") == last[1]
        assert "retryable" == list(data)[-1]
        recovery = data.get("recovery")
        if recovery is not None:
            assert 0 < len(recovery["hint"]) <= limits.hint
            assert f"\n\nRecovery: {indented(recovery['hint'])}\n\n" in text
            advice = read_advice(last[3])
            assert advice is not None
            assert recovery.get("fallbackTool") == advice.fallback_tool
        own = {key: value for key, value in data.items() if key not in ("reason", "retryable", "recovery")}
        if own:
            details = text.split("\n\nDetails: ", 1)[1].rsplit("\n\n(", 1)[0]
            assert len(details.encode()) <= limits.details
            assert strict(details) == own or "…" in details
    envelope = Envelope.from_json(error)
    assert error == envelope.to_json()
    assert Envelope.from_result({"isError": True, "structuredContent": structured}) == envelope
    return envelope


@given(RECIPES)
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_exception_becomes_a_valid_envelope(recipe: Any) -> None:
    """The result is strict JSON within the schema and the limits, and its text and structured content agree."""
    answer = answer_to(BOUNDARY, build(recipe), contract=CONTRACT, name="f", context={"role": "reader"})
    assert answer.is_error
    (block,) = answer.content
    envelope = check(answer.structured_content, block.text)  # type: ignore[union-attr]
    assert ("f", {"role": "reader"}) == (envelope.tool, envelope.context)


BOUNDARY = Boundary(server="s")


@in_one_test("number", range(len(MAKERS)))
def test_the_smallest_limits_hold(number: int) -> None:
    """An envelope stays within the smallest limits that can be configured."""
    limits = Limits(message=40, hint=40, data=4096, depth=2, details=64)
    answer = answer_to(Boundary(server="s", limits=limits), MAKERS[number](), contract=CONTRACT, name="f")
    check(answer.structured_content, answer.content[0].text, limits=limits)  # type: ignore[union-attr]


@in_one_test("number", range(len(MAKERS)))
def test_exposed_exceptions_are_valid_too(number: int) -> None:
    """With internal errors exposed, a hostile exception is shown as far as possible."""
    answer = answer_to(Boundary(server="s", expose=True), MAKERS[number](), contract=CONTRACT, name="f")
    envelope = check(answer.structured_content, answer.content[0].text)  # type: ignore[union-attr]
    if envelope.data is not None:
        assert "exception" in envelope.data or "…" in envelope.data


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
async def test_every_hostile_exception_gets_an_answer_over_a_server(era: str) -> None:
    """The client of the SDK, which validates structured content, accepts failures of async and sync handlers."""

    class Result(BaseModel):
        made: int

    @tool(errors=[NO_MATCH])
    async def in_loop(number: int) -> Result:
        raise MAKERS[number]()

    @tool(errors=[NO_MATCH])
    def in_thread(number: int) -> Result:
        raise MAKERS[number]()

    async with Client(Server("s", tools=[in_loop, in_thread]), mode=era) as client:
        schemas = {listed.name: listed.output_schema for listed in (await client.list_tools()).tools}
        for name in ("in_loop", "in_thread"):
            for number in range(len(MAKERS)):
                try:
                    result = await client.call_tool(name, {"number": number})
                except Exception as escaped:
                    pytest.fail(f"{name} {number}: {type(escaped)}")
                assert result.is_error
                check(result.structured_content, result.content[0].text)  # type: ignore[union-attr]
                jsonschema.validate(result.structured_content, schemas[name])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "exc",
    [
        KeyboardInterrupt(),
        GeneratorExit(),
        BaseExceptionGroup("g", [ValueError(), BaseExceptionGroup("g", [KeyboardInterrupt()])]),
    ],
)
def test_exits_pass_through(exc: BaseException) -> None:
    """Exits propagate, whether raised alone or inside a group."""
    assert passes_through(exc)


@pytest.mark.anyio
async def test_other_exceptions_do_not_pass_through() -> None:
    """Only real exits propagate, and a cancellation only if this task is being cancelled."""
    for make in MAKERS:
        assert not passes_through(make())


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
async def test_a_failed_call_keeps_nothing_alive() -> None:
    """Neither the exception nor the values in its frames outlive the answer, even without garbage collection."""

    class Held:
        pass

    alive: list[weakref.ref[Any]] = []

    @tool(errors=[NO_MATCH])
    async def crash(ctx: Context[Any]) -> None:
        held = Held()
        alive.append(weakref.ref(held))
        raise ValueError("x")

    @tool(errors=[NO_MATCH])
    def declared(ctx: Context[Any]) -> None:
        held = Held()
        alive.append(weakref.ref(held))
        raise ctx.fail("no_match", data={"a": 1})

    async with Client(Server("s", tools=[crash, declared])) as client:
        await client.call_tool("crash", {})
        gc.collect()
        gc.disable()
        try:
            for name in ("crash", "declared"):
                await client.call_tool(name, {})
                await anyio.sleep(0.05)  # the worker thread releases its last result
        finally:
            gc.enable()
        assert [None] * 3 == [ref() for ref in alive]
