"""Failure modes, contracts and codes: valid declarations, and invalid ones that are rejected at import."""

from __future__ import annotations

import copy
import dataclasses
import enum
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Annotated, Any, Required, TypedDict

import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel, ConfigDict, Field, with_config

from mcpcore import CodedError, Contract, ContractError, CustomCode, ErrorCode, FailureMode, Retry, tool
from mcpcore.contract import codes
from mcpcore.contract.codes import code_named, code_numbered, stated_advice


def entry(reason: str = "no_match", code: Any = ErrorCode.NOT_FOUND, **more: Any) -> FailureMode[Any]:
    return FailureMode(reason, code, **{"when": "Nothing matches.", "recovery": "Search first.", **more})


@pytest.fixture
def custom(monkeypatch: pytest.MonkeyPatch) -> CustomCode:
    """An application code, the only one that is registered during the test."""
    monkeypatch.setattr(codes, "_CUSTOM_BY_NAME", {})
    monkeypatch.setattr(codes, "_CUSTOM_BY_NUMBER", {})
    return CustomCode(
        "QUOTA_SPENT", 1402, http_status=402, category="client", retry=Retry.never(), sentence="The quota is spent."
    )


class TestFailureMode:
    def test_is_frozen(self) -> None:
        """Attributes cannot be set or deleted, and the mappings inside cannot be changed."""
        mode = entry(corrective_params={"a": 1})
        with pytest.raises(FrozenInstanceError):
            mode.reason = "other"  # type: ignore[misc]
        with pytest.raises(FrozenInstanceError):
            del mode.when
        with pytest.raises(TypeError):
            mode.corrective_params["a"] = 2  # type: ignore[index]

    def test_does_not_follow_changes_to_its_arguments(self) -> None:
        """Changing a mapping or list after passing it has no effect on the failure mode."""
        params, actions = {"a": 1}, ["wait"]
        mode = entry(corrective_params=params, actions=actions)
        params["a"] = 2
        actions.append("more")
        assert {"a": 1} == mode.corrective_params
        assert ("wait",) == mode.actions

    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
    def test_survives_copying_and_pickling(self, copied: Any) -> None:
        """A copy is equal and has the same hash and repr."""
        mode = entry(
            retry=Retry.after(seconds=3),
            fallback_tool="search",
            strategy="try_alternative",
            actions=["a", "b"],
            corrective_params={"limit": 10},
            user_message="Not found.",
            data=Fact,
            example={"pmid": "1"},
        )
        again = copied(mode)
        assert mode == again
        assert hash(mode) == hash(again)
        assert repr(mode) == repr(again)

    def test_differs_if_any_field_differs(self) -> None:
        """Equality compares every field."""
        assert entry() != entry(user_message="Sorry.")
        assert entry() != "no_match"

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"reason": ""}, "the reason is empty"),
            ({"reason": "  "}, "the reason is empty"),
            ({"reason": 7}, "must be a string"),
            ({"reason": "a\nb"}, "printable"),
            ({"reason": " a"}, "without spaces around"),
            ({"reason": "x" * 201}, "at most 200"),
            ({"code": 404}, "is not a code"),
            ({"code": -32001}, "ErrorCode.NOT_FOUND: write that"),
            ({"code": "not_found"}, "did you mean ErrorCode.NOT_FOUND"),
            ({"code": True}, "is not a code"),
            ({"when": " "}, "when is blank"),
            ({"when": None}, "when must be a string"),
            ({"recovery": "\t"}, "recovery is blank"),
            ({"retry": 5}, "Retry.never"),
            ({"strategy": "panic"}, "strategy must be one of"),
            ({"effects": "some"}, "effects must be one of none, partial, unknown, not 'some'"),
            ({"fallback_tool": ""}, "fallback_tool must be"),
            ({"user_message": 3}, "user_message must be"),
            ({"actions": "wait"}, "actions must be a list"),
            ({"actions": [""]}, "actions must be a list"),
            ({"corrective_params": [1]}, "corrective_params must be a mapping"),
            ({"example": 1}, "example must be a mapping"),
            ({"data": {"a": int}}, "data must name"),
        ],
    )
    def test_invalid_is_refused_where_it_is_declared(self, change: dict[str, Any], says: str) -> None:
        """The message names this file and the entry, and describes the problem."""
        values: dict[str, Any] = {"reason": "no_match", "code": ErrorCode.NOT_FOUND, "when": "w", "recovery": "r"}
        values |= change
        with pytest.raises(ContractError) as raised:
            FailureMode(values.pop("reason"), values.pop("code"), **values)
        assert says in str(raised.value)
        assert __file__ in str(raised.value)
        assert f"FailureMode({change.get('reason', 'no_match')!r})" in str(raised.value)

    def test_invalid_in_a_decorator_is_refused_with_tool_and_place(self) -> None:
        """Among several entries on one line, the message names the wrong one."""
        with pytest.raises(ContractError) as raised:
            # fmt: off
            @tool(name="search", errors=[FailureMode("a", ErrorCode.CONFLICT, when="w", recovery="r"), FailureMode("b", ErrorCode.CONFLICT, when="", recovery="r")])
            def handler() -> None: ...
            # fmt: on
        assert "tool 'search': errors[1], FailureMode('b')" in str(raised.value)

    def test_takes_its_reason_from_an_enum_as_the_value(self) -> None:
        """The reason from a string enum is the member's value everywhere."""

        class Reasons(str, enum.Enum):  # noqa: UP042 - the older spelling is the harder one
            NO_MATCH = "no_match"

        mode = entry(Reasons.NO_MATCH)
        assert str is type(mode.reason)
        assert "no_match" == mode.reason

    def test_advice_defaults_to_the_advice_of_its_code(self) -> None:
        """An entry without its own advice uses the default of its code."""
        assert Retry.after(seconds=30) == entry(code=ErrorCode.RATE_LIMITED).advice
        assert Retry.never() == entry(code=ErrorCode.RATE_LIMITED, retry=Retry.never()).advice

    def test_recovery_on_the_wire_is_complete(self) -> None:
        """Every part has its wire name, and only the hint is always present."""
        assert {"hint": "Search first."} == entry().recovery_json()
        full = entry(
            strategy="try_alternative",
            actions=("search",),
            fallback_tool="search",
            corrective_params={"q": {1}},
            user_message="Nothing there.",
        )
        assert {
            "hint": "Search first.",
            "strategy": "try_alternative",
            "actions": ["search"],
            "fallbackTool": "search",
            "correctiveParams": {"q": [1]},
            "userMessage": "Nothing there.",
        } == full.recovery_json()


class Fact(BaseModel):
    pmid: str
    tries: int = Field(default=1, alias="triesMade")


class Loose(TypedDict):
    pmid: str


class Partial(TypedDict, total=False):
    pmid: Annotated[Required[str], "of an article"]
    tries: int


class Node(BaseModel):
    name: str
    children: list[Node] = []


@dataclasses.dataclass
class Plain:
    pmid: str


class TestDataModel:
    @pytest.mark.parametrize("kind", [Fact, Loose, Plain, Node])
    def test_publishes_the_schema_of_an_object(self, kind: type) -> None:
        """Models, TypedDicts, dataclasses and recursive models are published."""
        schema = entry(data=kind).data_schema()
        assert schema is not None
        assert "object" == schema["type"]
        assert schema["properties"]

    def test_ignores_reserved_keys_when_checking(self) -> None:
        """Reserved keys are not part of the entry's model; unknown keys of a TypedDict are rejected."""
        mode = entry(data=Loose)
        assert mode.check_data({"pmid": "1", "reason": "x", "retryable": True, "recovery": {}}) is None
        assert "extra" in str(mode.check_data({"pmid": "1", "extra": 1}))
        assert "pmid" in str(mode.check_data({}))
        assert entry().check_data({"anything": 1}) is None

    def test_keeps_what_a_typeddict_requires(self) -> None:
        """With `total=False`, keys are optional unless they say otherwise."""
        mode = entry(data=Partial)
        assert mode.check_data({"pmid": "1"}) is None
        assert "pmid" in str(mode.check_data({"tries": 1}))

    def test_keeps_the_configuration_that_an_author_gave_a_typeddict(self) -> None:
        """Unknown keys are rejected unless the author configures otherwise."""

        @with_config(ConfigDict(extra="allow"))
        class Open(TypedDict):
            pmid: str

        assert entry(data=Open).check_data({"pmid": "1", "more": 2}) is None

    @pytest.mark.parametrize("kind", [int, list, dict, object])
    def test_that_is_not_an_object_is_refused_at_import(self, kind: type) -> None:
        """The error names the file, the tool and the entry."""
        with pytest.raises(ContractError) as raised:

            @tool(errors=[entry("fine"), entry(data=kind)])
            def search() -> None: ...

        assert f"{__file__}:" in str(raised.value)
        assert "tool 'search': errors[1]: FailureMode('no_match', data=" in str(raised.value)

    def test_that_has_no_schema_is_refused_with_the_reason(self) -> None:
        """A field that JSON cannot represent is reported at the declaration, not when a client lists the tools."""

        class Unspeakable(BaseModel):
            callback: Callable[[], None]

        @dataclasses.dataclass
        class Undefined:
            value: Nowhere  # type: ignore[name-defined] # noqa: F821 - that is what is tested

        for kind in (Unspeakable, Undefined):
            with pytest.raises(ContractError, match=f"data={kind.__name__}\\): the type has no JSON schema: "):
                entry(data=kind).data_schema()

    def test_with_a_reserved_field_is_refused(self) -> None:
        """Only the framework writes reason, retryable and recovery."""

        class Reserved(BaseModel):
            reason: str

        with pytest.raises(ContractError, match="'reason' is reserved"):
            entry(data=Reserved).data_schema()

    def test_must_accept_its_example(self) -> None:
        """An example that does not match the model is rejected."""
        assert entry(data=Fact, example={"pmid": "1"}).data_schema()
        with pytest.raises(ContractError, match="the example does not fit the type: pmid"):
            entry(data=Fact, example={}).data_schema()


class TestContract:
    def test_reads_as_a_sequence_and_by_reason(self) -> None:
        """A contract supports index, slice, lookup by reason, iteration, membership and addition."""
        first, second = entry("one"), entry("two", ErrorCode.CONFLICT)
        contract = Contract([first, second])
        assert (2, first, second) == (len(contract), contract[0], contract["two"])
        assert Contract([second]) == contract[1:]
        assert ("one", "two") == contract.reasons
        assert frozenset({ErrorCode.NOT_FOUND, ErrorCode.CONFLICT}) == contract.codes
        assert "one" in contract
        assert first in contract
        assert "three" not in contract
        assert contract == Contract([first]) + [second] == [first] + Contract([second])  # noqa: RUF005 - the sums are what is tested
        assert hash(contract) == hash(Contract((first, second)))
        assert contract is copy.copy(contract)
        assert contract != [first, second]
        assert "one" == contract.near("on")
        assert contract.near("zzz") is None
        assert contract.get(["unhashable"]) is None
        assert "Contract([FailureMode('one'" in repr(contract)
        with pytest.raises(KeyError):
            contract["three"]

    @pytest.mark.parametrize(
        ("errors", "says"),
        [
            ([entry("a"), entry("b"), entry("a")], "errors[2]: the reason 'a' is declared already, by errors[0]"),
            ([entry("a"), "b"], "errors[1] is a str, not a FailureMode"),
            (entry("a"), "errors must be a list of FailureMode, not FailureMode"),
            ("a", "errors must be a list of FailureMode, not str"),
            (3, "errors must be a list of FailureMode, not int"),
        ],
    )
    def test_invalid_is_refused_with_file_tool_and_entry(self, errors: Any, says: str) -> None:
        """The decorator's message names all three."""
        with pytest.raises(ContractError) as raised:

            @tool(errors=errors)
            def search() -> None: ...

        assert f"{__file__}:" in str(raised.value)
        assert f"tool 'search': {says}" in str(raised.value)

    def test_is_published_entry_by_entry(self) -> None:
        """`tools/list` always has reason, code, name, when, recovery and retry, and other fields if declared."""
        contract = Contract([entry(fallback_tool="search", data=Loose), entry("plain", ErrorCode.TIMEOUT)])
        first, second = contract.to_json()
        assert isinstance(first, dict)
        assert "search" == first["fallbackTool"]
        assert "dataSchema" in first
        assert {
            "reason": "plain",
            "code": -32004,
            "name": "TIMEOUT",
            "when": "Nothing matches.",
            "recovery": "Search first.",
            "retry": {"kind": "retryable_immediate"},
        } == second


class TestCustomCode:
    def test_is_accepted_wherever_a_code_is_accepted(self, custom: CustomCode) -> None:
        """Contracts and coded errors accept it, and lookup works by name and by number."""
        assert custom is entry(code=custom).code
        assert 402 == CodedError(custom).code.http_status
        assert custom is code_named("QUOTA_SPENT") is code_numbered(1402)
        assert 1402 == custom.value
        assert "QUOTA_SPENT" == str(custom)
        assert "<CustomCode.QUOTA_SPENT: 1402>" == repr(custom)

    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
    def test_is_a_singleton_when_copied(self, custom: CustomCode, copied: Any) -> None:
        """A copy is the same object."""
        assert custom is copied(custom)

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"name": "NOT_FOUND"}, "taken by NOT_FOUND"),
            ({"name": "QUOTA_SPENT"}, "taken by QUOTA_SPENT"),
            ({"number": 1402}, "taken by QUOTA_SPENT (1402)"),
            ({"name": "lower"}, "UPPER_SNAKE_CASE"),
            ({"name": ""}, "UPPER_SNAKE_CASE"),
            ({"name": 3}, "UPPER_SNAKE_CASE"),
            ({"number": -32000}, "reserved"),
            ({"number": -32768}, "reserved"),
            ({"number": 2**53}, "53 bits"),
            ({"number": True}, "plain int"),
            ({"number": 1.5}, "plain int"),
            ({"number": ErrorCode.CONFLICT}, "plain int"),
            ({"http_status": 200}, "400 to 599"),
            ({"http_status": "402"}, "400 to 599"),
            ({"category": "nobody"}, "category must be one of"),
            ({"retry": None}, "must be a Retry"),
            ({"sentence": " "}, "sentence"),
            ({"strategy": "panic"}, "strategy must be one of"),
        ],
    )
    def test_taken_reserved_or_malformed_is_refused(
        self, custom: CustomCode, change: dict[str, Any], says: str
    ) -> None:
        """The message names the code and says how to fix it."""
        values: dict[str, Any] = {
            "name": "OTHER_CODE",
            "number": 1403,
            "http_status": 402,
            "category": "client",
            "retry": Retry.never(),
            "sentence": "No.",
        }
        values |= change
        with pytest.raises((ValueError, TypeError)) as raised:
            CustomCode(values.pop("name"), values.pop("number"), **values)
        assert says in str(raised.value)
        assert "CustomCode(" in str(raised.value)
        assert code_numbered(1403) is None

    @pytest.mark.parametrize("number", [-32769, -31999, 0, 1, 2**53 - 1])
    def test_may_have_any_number_outside_the_reserved_range(self, custom: CustomCode, number: int) -> None:
        """The limits of the reserved range are exact."""
        made = CustomCode(
            "EDGE", number, http_status=400, category="server", retry=Retry.now(), sentence="At the edge."
        )
        assert number == int(made)


class TestRetry:
    @given(st.floats(min_value=0, max_value=1e9))
    def test_keeps_milliseconds_over_the_wire(self, seconds: float) -> None:
        """Advice that is written and read again is equal to the original."""
        advice = Retry.after(seconds=seconds)
        assert advice == Retry.from_json(advice.to_json())
        assert advice.seconds is not None
        assert advice.seconds * 1000 >= seconds * 1000 - 1e-3

    @pytest.mark.parametrize(
        ("seconds", "error", "message"),
        [
            *((seconds, ValueError, "finite") for seconds in (-1, float("nan"), float("inf"), 1e300)),
            *((seconds, TypeError, "a number of seconds") for seconds in (True, "3", None)),
        ],
    )
    def test_refuses_invalid_waits(self, seconds: Any, error: type[Exception], message: str) -> None:
        """A wait is a number of seconds, finite and not negative."""
        with pytest.raises(error, match=message):
            Retry.after(seconds=seconds)

    @pytest.mark.parametrize("advice", [Retry.never(), Retry.now(), Retry.after(seconds=1.5)])
    def test_is_a_frozen_value(self, advice: Retry) -> None:
        """Retry advice is comparable, hashable, picklable and immutable."""
        again = pickle.loads(pickle.dumps(advice))
        assert (advice, hash(advice), repr(advice)) == (again, hash(again), repr(again))
        assert advice != "never"
        with pytest.raises(AttributeError):
            advice.kind = "retryable_immediate"
        with pytest.raises(AttributeError):
            del advice.kind

    @pytest.mark.parametrize("bad", [{}, {"kind": "maybe"}, {"kind": "retryable_after_ms"}, {"kind": "retryable_after_ms", "afterMs": True}])  # fmt: skip
    def test_refuses_invalid_advice(self, bad: dict[str, Any]) -> None:
        """Only the three valid forms are accepted."""
        with pytest.raises(ValueError, match="not a retry advice"):
            Retry.from_json(bad)

    @pytest.mark.parametrize("kind", [type("Nested", (), {"__repr__": lambda _: 1 / 0})(), "maybe", None, 10**400])
    def test_takes_nothing_else_of_a_stranger_for_advice(self, kind: Any) -> None:
        """Not even a value that cannot be written into a message, such as one that is nested too deeply."""
        assert stated_advice({"kind": kind}) is None

    def test_describes_itself_in_words(self) -> None:
        """The text surface and programs read the same advice."""
        assert ["not retryable", "retry now", "retry after 1.5 s"] == [
            advice.phrase for advice in (Retry.never(), Retry.now(), Retry.after(seconds=1.5))
        ]
        assert [None, 0.0, 1.5] == [advice.seconds for advice in (Retry.never(), Retry.now(), Retry.after(seconds=1.5))]
        with pytest.raises(ValueError, match="goes with the kind"):
            Retry("not_retryable", 3)
        with pytest.raises(ValueError, match="is not one of"):
            Retry("sometimes")  # type: ignore[arg-type]
