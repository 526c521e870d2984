"""Coded errors and envelopes as values, and edge cases of the boundary."""

from __future__ import annotations

import copy
import dataclasses
import enum
import functools
import json
import logging
import numbers
import pickle
import types
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, ValidationError, create_model, model_validator

import mcpcore
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
    conflict,
    not_found,
    tool,
)
from mcpcore.boundary.script import Boundary
from mcpcore.contract.bound_fields import carried
from mcpcore.contract.recovery import recovery_of
from mcpcore.declare.decorators import MethodTool
from mcpcore.values.jsonable import to_json
from mcpcore.values.source_location import where_declared
from mcpcore.wire.arguments import _kind, misfit
from mcpcore.wire.envelope_builder import build_envelope
from tests.answers import envelope_of
from tests.boundaries import answer_to

BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="Too many.", recovery="Wait.", strategy="retry_later")


class TestCodedError:
    def test_shows_its_code_message_and_reason(self) -> None:
        """Both `repr` and `str` show them."""
        error = not_found("Gone.", {"reason": "gone"})
        assert ("Gone.", "CodedError(NOT_FOUND, 'Gone.', reason='gone')") == (str(error), repr(error))
        assert "CodedError(NOT_FOUND, 'Gone.')" == repr(not_found("Gone."))

    @pytest.mark.parametrize(("code", "says"), [(404, "is not a code"), (-32001, "NOT_FOUND: write that"), ("CONFLICT", "did you mean ErrorCode.CONFLICT"), ("zzz", "write a member")])  # fmt: skip
    def test_refuses_invalid_codes(self, code: Any, says: str) -> None:
        """The message says which values are valid."""
        with pytest.raises(TypeError, match=says):
            CodedError(code)

    def test_takes_data_in_any_shape(self) -> None:
        """Dataclasses become mappings, other values go under `value`, and models that cannot be dumped are named."""

        @dataclasses.dataclass
        class Point:
            x: int

        assert {"x": 1} == conflict(data=Point(1)).data  # type: ignore[arg-type]
        assert {"value": 3} == conflict(data=3).data  # type: ignore[arg-type]

        class Odd(BaseModel):
            def model_dump(self, **options: Any) -> Any:
                raise ValueError

        odd = Odd()
        assert {"value": odd} == conflict(data=odd).data  # type: ignore[arg-type]
        answer = answer_to(Boundary(server="s"), conflict(data=odd), contract=Contract(), name="f")  # type: ignore[arg-type]
        assert "<Odd>" == answer.structured_content["error"]["data"]["value"]

    def test_the_order_of_retry_advice(self) -> None:
        """The throw site overrides the entry, which overrides the code."""
        assert Retry.never() == conflict().advice
        assert Retry.now() == conflict(retry=Retry.now()).advice
        error = conflict(data={"reason": "busy"})
        error.declare(dataclass_entry(Retry.after(seconds=2)))
        assert Retry.after(seconds=2) == error.advice
        error.declare(BUSY)
        assert Retry.never() == error.advice

    @pytest.mark.parametrize("value", [None, 3, "", " ", {}, {"hint": ""}, {"hint": 3}, ["hint"]])
    def test_a_recovery_needs_a_hint(self, value: Any) -> None:
        """A recovery without a hint is dropped."""
        assert recovery_of(value) is None

    def test_a_recovery_may_be_any_mapping(self) -> None:
        """Read-only mappings are accepted, too."""
        assert {"hint": "H", "actions": ["a"]} == recovery_of(types.MappingProxyType({"hint": "H", "actions": ("a",)}))


def dataclass_entry(retry: Retry) -> FailureMode[Any]:
    return FailureMode("busy", ErrorCode.RATE_LIMITED, when="Too many.", recovery="Wait.", retry=retry)


class TestEnvelope:
    def test_reads_what_it_writes(self) -> None:
        """Every property survives, whether it is read from a result, its JSON or the error alone."""
        answer = answer_to(
            Boundary(server="s"),
            Context(Contract([BUSY])).fail("busy", data={"a": 1}),
            contract=Contract([BUSY]),
            name="f",
        )
        for form in (answer, answer.model_dump(by_alias=True), json.loads(answer.model_dump_json(by_alias=True))):
            envelope = envelope_of(form)
            assert (ErrorCode.RATE_LIMITED, "busy", "Wait.") == (envelope.error_code, envelope.reason, envelope.hint)
            assert (True, "retry_later", None) == (envelope.retryable, envelope.strategy, envelope.fallback_tool)
            assert ErrorCode.RATE_LIMITED.actions == envelope.actions
            assert {"a": 1} == envelope.details

    def test_with_an_unknown_code_is_read_unchanged(self) -> None:
        """The code may belong to another application."""
        error = {"code": 9_999, "name": "THEIRS", "message": "M", "retry": {"kind": "retryable_immediate"}}
        envelope = Envelope.from_json(error)
        assert (None, "retry_later", (), None, None, None) == (
            envelope.error_code,
            envelope.strategy,
            envelope.actions,
            envelope.reason,
            envelope.recovery,
            envelope.fallback_tool,
        )
        assert Envelope.from_json({**error, "retry": {"kind": "not_retryable"}}).strategy is None
        sent = Envelope.from_json({**error, "data": {"recovery": {"hint": "H", "actions": ["x"], "fallbackTool": 3}}})
        assert (("x",), None) == (sent.actions, sent.fallback_tool)

    @pytest.mark.parametrize(
        ("error", "expected"),
        [
            ({"code": -32001, "message": "m"}, Retry.never()),
            ({"code": -32003, "message": "m"}, Retry.after(seconds=30)),
            ({"code": -32003, "message": "m", "retry": {"kind": "odd"}}, Retry.after(seconds=30)),
            ({"code": -32001, "message": "m", "data": {"retryable": True}}, Retry.now()),
            ({"code": -32003, "message": "m", "data": {"retryable": True}}, Retry.after(seconds=30)),
            ({"code": -32003, "message": "m", "data": {"retryable": False}}, Retry.never()),
            ({"code": 7, "message": "m"}, Retry.never()),
        ],
    )
    def test_without_advice_uses_the_nearest(self, error: dict[str, Any], expected: Retry) -> None:
        """`retryable` decides, or else the default of the code."""
        assert expected == Envelope.from_json(error).retry

    @pytest.mark.parametrize("error", [{}, {"code": True, "message": "m"}, {"code": "x", "message": "m"}, {"code": 1}])
    def test_refuses_invalid_values(self, error: dict[str, Any]) -> None:
        """The message names the field."""
        with pytest.raises(ValueError, match=r"error\.(code|message) must be"):
            Envelope.from_json(error)


@pytest.mark.parametrize("name", ["not_found", "rate_limited"])
def test_a_factory_is_named_and_pickled_like_a_function(name: str) -> None:
    """A table that is sent to another process may contain one."""
    factory = getattr(mcpcore, name)
    assert factory is pickle.loads(pickle.dumps(factory)) is copy.copy(factory)
    assert repr(factory) == f"<factory mcpcore.{name}>"


@pytest.mark.usefixtures("door")
def test_a_log_handler_that_raises_costs_no_answer(call: Any) -> None:
    """The application's log formatting must not affect the client."""

    class Raising(logging.Handler):
        def handle(self, record: logging.LogRecord) -> bool:
            if record.exc_info:
                raise RuntimeError
            return True

    @tool
    def f() -> None:
        raise KeyError

    handler = Raising()
    logging.getLogger("mcpcore").addHandler(handler)
    try:
        assert call(Server("s", tools=[f]), "f").is_error
    finally:
        logging.getLogger("mcpcore").removeHandler(handler)


def test_numbers_and_texts_of_other_kinds_are_converted() -> None:
    """Subclasses, registered number types, hostile keys and containers without a length are converted."""

    class MyInt(int): ...

    class MyFloat(float): ...

    class MyStr(str):
        __slots__ = ()

    class Whole(numbers.Integral):  # type: ignore[misc]
        def __int__(self) -> int:
            return 3

    class Half(numbers.Real):  # type: ignore[misc]
        def __float__(self) -> float:
            return 0.5

    Whole.__abstractmethods__ = Half.__abstractmethods__ = frozenset()  # type: ignore[attr-defined]

    class Key(enum.Enum):
        ONE = 1

        @property
        def value(self) -> Any:
            raise RuntimeError

    class NoLength(dict[str, int]):
        def __iter__(self) -> Iterator[str]:
            return iter(map(str, range(20_000)))

        def items(self) -> Any:
            return ((key, 1) for key in self)

        def __len__(self) -> int:
            raise TypeError

    assert [1, 1.5, "s", 3, 0.5] == to_json([MyInt(1), MyFloat(1.5), MyStr("s"), Whole(), Half()])  # type: ignore[abstract]
    assert {"<Key>": 1} == to_json({Key.ONE: 1})
    converted = to_json(NoLength())
    assert isinstance(converted, dict)
    assert "more" == converted["…"]
    assert {"\\r": 1, "\\r (2)": 2, "\\r (3)": 3} == to_json({"\\r": 1, "\\r (2)": 2, "\r": 3})


def test_a_source_that_cannot_be_read_is_identified_by_its_line() -> None:
    """Code from a string has no source, and broken source cannot be parsed."""
    with pytest.raises(ContractError, match=r"made\.py:1: FailureMode\(''\): the reason is empty"):
        exec(compile("FailureMode('', None, when='', recovery='')", "made.py", "exec"), {"FailureMode": FailureMode})
    broken = {"where_declared": where_declared, "__name__": "x", "__loader__": Loader()}
    exec(compile("found = where_declared('a')", "broken.py", "exec"), broken)
    assert "broken.py:1: FailureMode('a')" == broken["found"]


class Loader:
    """A loader that returns source with a syntax error."""

    def get_source(self, name: str) -> str:
        return "def ("


@pytest.mark.usefixtures("door")
def test_edge_cases_of_declaring_a_tool(call: Any) -> None:
    """C objects, manually bound methods, invalid names and functions that are not methods."""

    class Store:
        @tool
        def find(self, query: str) -> str:
            """Find."""
            return query

    with pytest.raises(ContractError, match="cannot be described"):

        class Packed:
            @tool
            def nothing(*args: Any) -> str: ...  # type: ignore[misc]

    bound = types.MethodType(Store.find, Store())
    assert "x" == call(Server("s", tools=[bound]), "find", {"query": "x"}).structured_content["result"]  # type: ignore[list-item]
    assert isinstance(Store.find, MethodTool)
    with pytest.raises(ContractError, match="name must be a string"):
        tool(name=3)(lambda: 1)  # type: ignore[call-overload]
    with pytest.raises(ContractError, match="no signature"):
        tool(name="least")(functools.partial(min, 1))


def test_edge_cases_of_describing_arguments() -> None:
    """Root-level rules, constants, endless unions and dangling references."""

    class Whole(BaseModel):
        a: int = 0

        @model_validator(mode="after")
        def check(self) -> Whole:
            raise ValueError("a and b exclude one another")

    with pytest.raises(ValidationError) as raised:
        Whole()
    error = misfit(raised.value, Whole.model_json_schema(), "f")
    assert "The arguments do not fit f: Value error, a and b exclude one another" == error.message
    assert "Send arguments that meet the rules of the tool together." == error.hint
    model = create_model("M", x=(Annotated[set[int], Field(max_length=1)], ...), y=(Any, Field(max_length=1)))
    with pytest.raises(ValidationError) as raised:
        model(x=[1, 2], y="ab")
    assert "Correct 'y'." in misfit(raised.value, {"properties": {"x": True, "y": {"$ref": "#/$defs/Gone"}}}, "f").hint
    root: dict[str, Any] = {"anyOf": [{"$ref": "#/$defs/A"}], "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}}
    assert "" == _kind(root, root, depth=3)
    assert '"x"' == _kind({"const": "x"}, {}, depth=3)
    assert "an array of values out of 1, 2" == _kind({"type": "array", "items": {"enum": [1, 2]}}, {}, depth=3)
    assert "a string of 3 characters" == _kind({"type": "string", "minLength": 3, "maxLength": 3}, {}, depth=3)


def test_the_package_lists_its_public_names() -> None:
    """Each public name exists, and no other is listed."""
    for name in mcpcore.__all__:
        assert getattr(mcpcore, name) is not None
    assert set(mcpcore.__all__) <= set(dir(mcpcore))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        mcpcore.nothing  # noqa: B018


class Unreadable(Mapping[str, Any]):
    """A mapping whose own code raises."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError

    def __len__(self) -> int:
        return 1


def test_a_recovery_without_a_sentence_adds_to_the_declared_one() -> None:
    """Parameters that correct this very call are added to the declared recovery; alone they have no meaning."""
    entry = FailureMode(
        "gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="List them first.", strategy="check_input"
    )
    partial = {"corrective_params": {"id": 7}, "strategy": "TRY_ALTERNATIVE"}
    failure = Context(Contract([entry])).fail("gone", recovery=partial)
    assert {
        "hint": "List them first.",
        "strategy": "try_alternative",
        "correctiveParams": {"id": 7},
    } == failure.recovery
    assert failure.recovery == copy.copy(failure).recovery
    assert CodedError(ErrorCode.NOT_FOUND, recovery=partial).recovery is None
    assert "Ask." == (Context(Contract([entry])).fail("gone", recovery="Ask.").recovery or {}).get("hint")
    for nothing in (None, {}, {"hint": " "}, Unreadable()):
        recovery = Context(Contract([entry])).fail("gone", recovery=nothing).recovery
        assert (None if nothing is None else "List them first.") == (recovery or {}).get("hint")


@pytest.mark.no_server
def test_a_subclass_cannot_spoil_its_failures_with_class_attributes() -> None:
    """A subclass may use the names of a failure's own attributes for something else."""

    class DownError(CodedError):
        retry = 3  # type: ignore[assignment]
        entry = "ledger-7"  # type: ignore[assignment]
        omits_recovery = True

    error = DownError(ErrorCode.TIMEOUT, "The depot is slow.", recovery="Ask the depot.")
    assert (None, None, False) == (error.retry, error.entry, error.omits_recovery)
    CodedError.__init__(error, ErrorCode.NOT_FOUND, "Gone.")
    assert (None, False, None) == (error.retry, error.retry_is_declared, error.recovery)


@pytest.mark.no_server
def test_an_envelope_has_no_more_fields_than_it_sends() -> None:
    """Neither a dump nor a copy has the details twice, and a change of the data shows in the text."""
    from dataclasses import asdict

    def envelope() -> Envelope:
        limits = Limits()
        data = {"a": {"b": [1]}}
        return build_envelope(ErrorCode.CONFLICT, "m", retry=Retry.never(), tool="t", data=data, limits=limits)

    assert "_details" not in asdict(envelope())
    changed = envelope()
    assert '{"a":{"b":[1]}}' in changed.text()
    changed.data["a"]["b"].append(2)  # type: ignore[index]
    assert '{"a":{"b":[1,2]}}' in changed.text()


@pytest.mark.no_server
def test_what_others_put_on_an_exception_binds_nothing() -> None:
    """The attribute of the bound fields may hold anything."""
    error = conflict("x")
    error.__mcpcore_bound__ = 3  # type: ignore[attr-defined]
    assert {} == carried(error)


@pytest.mark.no_server
def test_a_recovery_may_be_a_kind_of_text() -> None:
    """As a member of an enumeration of texts is."""

    class Steps(enum.StrEnum):
        WAIT = "Wait a minute."

    assert {"hint": "Wait a minute."} == recovery_of(Steps.WAIT)
