"""Invalid arguments: the client gets issues and a hint, but none of the rejected values."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings, strategies as st
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from mcpcore import Server, tool
from mcpcore.wire.arguments import _unquoted, misfit

pytestmark = pytest.mark.usefixtures("door")


class Filter(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tags: list[str] = []
    limit: int = Field(default=10, ge=1, le=100)


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]


def refuse(value: str) -> str:
    raise ValueError(f"{value!r} is not wanted")


def refuse_custom(value: str) -> str:
    raise PydanticCustomError("unwanted", "we do not want {what} at all", {"what": value})


def refuse_at_length(value: str) -> str:
    raise ValueError("long " * 200)


class Secretive(BaseModel):
    token: str = ""

    @field_validator("token")
    @classmethod
    def checked(cls, value: str) -> str:
        assert value == "", f"no token {value}"
        return value


@tool
def f(
    pmids: Annotated[list[str], Field(description="PubMed identifiers.", min_length=1)],
    colour: Colour = Colour.RED,
    filter: Filter | None = None,
    pet: Annotated[Cat | Dog | None, Field(discriminator="kind")] = None,
    either: int | list[int] = 0,
    weights: dict[str, int] = {},  # noqa: B006
    numbered: dict[int, str] = {},  # noqa: B006
    name: Annotated[str, Field(pattern="^[a-z]+$", max_length=5)] = "a",
    ratio: Annotated[float, Field(gt=0, lt=1)] = 0.5,
    pair: tuple[int, str] = (1, "a"),
    refused: Annotated[str | None, AfterValidator(refuse)] = None,
    custom: Annotated[str | None, AfterValidator(refuse_custom)] = None,
    long: Annotated[str | None, AfterValidator(refuse_at_length)] = None,
    secretive: Secretive | None = None,
) -> str:
    return "fine"


@tool
def nothing() -> str:
    return "fine"


@dataclass
class Page:
    size: int


@tool
def paged(page: Page) -> str:
    return str(page.size)


SERVER = Server("s", tools=[f, nothing, paged])
GOOD: dict[str, Any] = {"pmids": ["1"]}


def refusal_of(call: Any, arguments: dict[str, Any], name: str = "f") -> tuple[str, list[dict[str, Any]], str]:
    error = call(SERVER, name, arguments).structured_content["error"]
    assert ("INVALID_PARAMS", "invalid_arguments") == (error["name"], error["data"]["reason"])
    assert {"kind": "not_retryable"} == error["retry"]
    return error["message"], error["data"]["issues"], error["data"]["recovery"]["hint"]


def test_unknown_fields_of_a_dataclass_are_refused_and_described_as_refused(call: Any) -> None:
    """A dataclass without a configuration has that of the arguments, which take nothing that they do not declare."""
    parameters = paged.definition.sdk.parameters

    assert parameters["additionalProperties"] is parameters["$defs"]["Page"]["additionalProperties"] is False
    message, *_ = refusal_of(call, {"page": {"size": 1, "sise": 2}}, "paged")
    assert "page.sise" in message


@pytest.mark.parametrize(
    ("arguments", "path", "kind", "hint"),
    [
        ({"pmids": None}, "pmids", "list_type", "Send 'pmids' as an array of strings with at least 1 item (PubMed identifiers)."),
        ({"pmids": []}, "pmids", "too_short", "Send 'pmids' as an array of strings with at least 1 item (PubMed identifiers)."),
        ({"pmids": ["1", 2]}, "pmids.1", "string_type", "Send 'pmids.1' as a string."),
        ({"colour": "blue"}, "colour", "enum", """Send 'colour' as one of "red", "green"."""),
        ({"color": "red"}, "color", "extra_forbidden", "There is no 'color'; did you mean 'colour'?"),
        ({"filter": {"limit": 0}}, "filter.limit", "greater_than_equal", "Send 'filter.limit' as an integer from 1 to 100."),
        ({"filter": {"tag": []}}, "filter.tag", "extra_forbidden", "There is no 'filter.tag'; did you mean 'tags'?"),
        ({"filter": {"zzzzzz": 1}}, "filter.zzzzzz", "extra_forbidden", "Leave out 'filter.zzzzzz'; known are 'tags', 'limit'."),
        ({"pet": {"kind": "cat"}}, "pet.lives", "missing", "Add 'pet.lives': an integer."),
        ({"pet": {"kind": "fish"}}, "pet", "union_tag_invalid", "Send 'pet' as an object or null."),
        ({"weights": {"a": "x"}}, "weights.a", "int_parsing", "Send 'weights.a' as an integer."),
        ({"name": "TOO"}, "name", "string_pattern_mismatch", "Send 'name' as a string of at most 5 characters matching ^[a-z]+$."),
        ({"ratio": 2}, "ratio", "less_than", "Send 'ratio' as a number greater than 0 less than 1."),
        ({"pair": [1, 2]}, "pair.1", "string_type", "Send 'pair.1' as a string."),
        ({"long": "x"}, "long", "value_error", "Send 'long' as a string or null."),
    ],
)  # fmt: skip
def test_an_issue_has_a_path_and_a_hint(arguments: dict[str, Any], path: str, kind: str, hint: str, call: Any) -> None:
    """An issue has a path, a kind and a message, and the hint is built from the schema."""
    message, issues, said = refusal_of(call, {**GOOD, **arguments})
    assert [(path, kind)] == [(issue["path"], issue["type"]) for issue in issues]
    assert {"path", "type", "message"} == issues[0].keys()
    assert len(issues[0]["message"]) <= 200
    assert hint == said
    assert message.startswith(f"The arguments do not fit f: {path}: {issues[0]['message'][:100]}")


def test_a_missing_argument_is_described(call: Any) -> None:
    """The hint for a missing argument gives its type, its bounds and its description."""
    message, _, hint = refusal_of(call, {})
    assert "The arguments do not fit f: pmids: Field required" == message
    assert "Add 'pmids': an array of strings with at least 1 item (PubMed identifiers)." == hint
    assert "no arguments are taken" in refusal_of(call, {"x": 1}, "nothing")[2]


def test_several_issues_are_named_in_the_message_and_detailed_in_the_data(call: Any) -> None:
    """The message names only the paths because the data has the details, and the hint covers at most four issues."""
    message, issues, hint = refusal_of(
        call, {"pmids": 1, "colour": 1, "ratio": 5, "name": 3, "pair": 1, "weights": 1, "x": 1}
    )
    assert "7 invalid arguments for f: pmids, colour, weights, name, ratio and 2 more" == message
    assert 7 == len(issues)
    assert 4 == hint.count("Send ")


def test_many_issues_are_cut_and_counted(call: Any) -> None:
    """The data lists twenty issues and the number of the remaining ones."""
    _, issues, _ = refusal_of(call, {"pmids": [1] * 50})
    assert 21 == len(issues)
    assert {"path": "", "type": "more", "message": "30 more"} == issues[-1]


def test_union_branches_are_not_part_of_the_path(call: Any) -> None:
    """The path names the argument and leaves out how pydantic tries each branch."""
    _, issues, hint = refusal_of(call, {**GOOD, "either": "x"})
    assert {"either"} == {issue["path"] for issue in issues}
    assert "Send 'either' as an integer or an array of integers." == hint


SECRET = "hunter2-hunter2"


@pytest.mark.parametrize(
    "arguments",
    [
        {"pmids": SECRET},
        {"pmids": {SECRET: SECRET}},
        {"colour": SECRET},
        {"filter": {"limit": SECRET}},
        {"pet": {"kind": SECRET}},
        {"either": SECRET},
        {"either": [SECRET]},
        {"weights": {"a": SECRET}},
        {"numbered": {SECRET: "x"}},
        {"name": SECRET},
        {"ratio": SECRET},
        {"pair": SECRET},
        {"pair": [1, {"a": SECRET}]},
        {"refused": SECRET},
        {"custom": SECRET},
        {"secretive": {"token": SECRET}},
    ],
)
def test_no_rejected_value_is_sent(arguments: dict[str, Any], call: Any) -> None:
    """Paths, messages, union tags, rejected keys and validator messages contain no rejected value."""
    result = call(SERVER, "f", {**GOOD, **arguments})
    assert result.is_error
    assert "hunter2" not in result.model_dump_json()
    assert "pydantic.dev" not in result.model_dump_json()


def test_a_union_of_very_many_branches_is_still_described(call: Any) -> None:
    """The description of a huge union is cut to a useful length and built in bounded time."""
    forms = {"anyOf": [{"anyOf": [{"type": "object", "properties": {"a": {"const": n}}}] * 40} for n in range(40)]}

    @tool
    def g(x: Annotated[dict[str, int], Field(json_schema_extra=forms)]) -> str:
        return ""

    error = call(Server("s", tools=[g]), "g", {"x": {"b": "no"}}).structured_content["error"]
    assert "x.b" == error["data"]["issues"][0]["path"]
    assert "Send 'x.b' as an integer." == error["data"]["recovery"]["hint"]


def test_a_validators_own_message_is_kept(call: Any) -> None:
    """A validator's message is kept without the value that it quotes, and cut to 200 characters."""
    assert "Value error, '…' is not wanted" == refusal_of(call, {**GOOD, "refused": SECRET})[1][0]["message"]
    assert "we do not want … at all" == refusal_of(call, {**GOOD, "custom": SECRET})[1][0]["message"]
    assert refusal_of(call, {**GOOD, "long": "x"})[1][0]["message"].endswith("characters in all)")


QUOTING: dict[str, Any] = {
    "the first": lambda value: value[0],
    "the 2000th": lambda value: value[1999],
    "the last": lambda value: value[-1],
    "the whole": lambda value: value,
}


@pytest.mark.parametrize("quoted", QUOTING)
@pytest.mark.parametrize("nested", [False, True])
def test_a_value_too_large_to_search_is_not_quoted(
    call: Any, quoted: str, nested: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Wherever a long list holds the quoted value, neither the answer nor the audit log shows it."""

    def quoting(value: Any) -> Any:
        raise ValueError(f"{QUOTING[quoted](value)} is not wanted")

    @tool
    def g(x: Annotated[list[Any], AfterValidator(quoting)]) -> str:
        return ""

    sent: list[Any] = [SECRET, *range(1_998), SECRET, *range(3_000), SECRET]
    with caplog.at_level("INFO"):
        result = call(Server("s", tools=[g]), "g", {"x": [[element] for element in sent] if nested else sent})
    assert SECRET not in result.model_dump_json()
    assert SECRET not in caplog.text
    issue = result.structured_content["error"]["data"]["issues"][0]
    assert issue["message"].startswith("Breaks a rule of the tool's own; ")


@pytest.mark.no_server
def test_a_message_is_kept_only_if_all_quoted_values_can_be_searched() -> None:
    """Bytes, escaped text and member names can be searched for; messages that quote other objects are dropped."""

    class Names(enum.StrEnum):
        SECRET = "the hidden one"

    def refusal(value: Any, words: str) -> str:
        def refuse(_: Any) -> Any:
            raise ValueError(words)

        with pytest.raises(ValidationError) as raised:
            TypeAdapter(Annotated[Any, AfterValidator(refuse)]).validate_python(value)
        return misfit(raised.value, {}, "f").issues[0]["message"]

    odd = 'pass"wört\n'
    assert "Value error, … …" == refusal(b"hunter2", "hunter2 b'hunter2'").replace("b'…'", "…")
    assert 'Value error, "…" "…"' == refusal([odd], f"{json.dumps(odd)} {json.dumps(odd, ensure_ascii=False)}")
    assert "Value error, …" == refusal({odd: None}, repr(odd)[1:-1])
    assert "Value error, … …" == refusal((Names.SECRET, True), f"{Names.SECRET} the hidden one")
    left_out = refusal(object(), "hunter2")
    assert left_out.startswith("Breaks a rule of the tool's own; ")
    assert [left_out] * 3 == [
        refusal("a", "long" * 5_000),
        refusal([["a"] * 600, ["b"] * 600], "hunter2"),
        refusal([[1] * 499] + [[[1]]] * 400, "hunter2"),
    ]


@pytest.mark.no_server
@given(
    st.recursive(
        st.text(min_size=4, max_size=12) | st.integers(min_value=1_000) | st.none(),
        lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(min_size=4, max_size=8), inner, max_size=3),
        max_leaves=20,
    ),
    st.integers(0, 1_500),
    st.randoms(),
)
@settings(max_examples=100, deadline=None)
def test_a_quoting_message_shows_nothing_that_was_sent(value: Any, more: int, rng: Any) -> None:
    """The message never contains the secret, however many values surround it."""
    values = [value, *([0] * more)]
    values.insert(rng.randrange(len(values) + 1), SECRET)
    for words in (f"{SECRET} is not wanted", f"not {values}", f"not {json.dumps(values)}"):
        assert SECRET not in _unquoted(words, values)


class Login(BaseModel):
    password: str
    again: str
    kind: str = ""

    @field_validator("again")
    @classmethod
    def the_same(cls, value: str, info: ValidationInfo) -> str:
        known = info.data.get("password", "")
        if info.data and value != known:
            raise ValueError(f"{value} is not {known}, nor {known.upper()}")
        return value

    @field_validator("kind")
    @classmethod
    def named_as_pydantic_names_it(cls, value: str, info: ValidationInfo) -> str:
        raise PydanticCustomError("missing", "nothing but {what}", {"what": info.data.get("password")})

    @model_validator(mode="after")
    def whole(self) -> Any:
        raise ValueError(f"all of {self!r}, such as {self.password}")


def near(value: str, info: ValidationInfo) -> str:
    raise ValueError(f"hint is not near {info.data['password']}, the password")


def borrow(value: str, info: ValidationInfo) -> str:
    raise PydanticCustomError("greater_than", "above {what}", {"what": info.data["password"]})


def lower(value: str, info: ValidationInfo) -> str:
    raise ValueError(f"not like {info.data['password'].lower()}")


def test_a_validator_that_quotes_another_argument_does_not_show_it(
    call: Any, caplog: pytest.LogCaptureFixture, door: str
) -> None:
    """This applies to contract tools and SDK tools, at the root and in models, for raw and validated values."""

    @tool
    def contract(password: str, hint: Annotated[str, AfterValidator(near)] = "", login: Login | None = None) -> str:
        return ""

    server = Server("s", tools=[contract])

    @server.tool()
    def plain(password: str, hint: Annotated[str, AfterValidator(near)] = "", login: Login | None = None) -> str:
        return ""

    logins = [{"again": "a"}, {"again": SECRET}, {"again": SECRET, "kind": "x"}]
    with caplog.at_level("INFO"):
        # FastMCP does not pass the other arguments to validators of its plain tools.
        for name in ("contract", "plain") if door == "server" else ("contract",):
            for more in (
                {"hint": "h"},
                *({"login": {"password": SECRET, **login}} for login in logins),
                *({"login": json.dumps({"password": SECRET, **login})} for login in logins),
                {"hint": "{no json", "login": {"password": "[1, ", "again": SECRET}},
            ):
                result = call(server, name, {"password": SECRET, **more})
                assert "invalid_arguments" == result.structured_content["error"]["data"]["reason"]
                assert "hunter2" not in result.model_dump_json().lower()
    assert "hunter2" not in caplog.text.lower()
    assert (
        "hint is not near …, the password"
        in refusal_of(lambda *sent: call(server, *sent[1:]), {"password": SECRET, "hint": "h"}, "contract")[0]
    )


def test_misleading_names_and_letters_do_not_defeat_the_search(call: Any) -> None:
    """A faked pydantic error type and letters with a two-letter lower case do not reveal a value."""

    @tool
    def g(
        password: str,
        borrowed: Annotated[str, AfterValidator(borrow)] = "",
        dotted: Annotated[str, AfterValidator(lower)] = "",
    ) -> str:
        return ""

    server = Server("s", tools=[g])
    for more, expected in (({"borrowed": "b"}, "above …"), ({"dotted": "d"}, "Breaks a rule of the tool's own; ")):
        result = call(server, "g", {"password": "İstanbul-hunter2", **more})
        assert expected in result.structured_content["error"]["message"]
        assert "hunter2" not in result.model_dump_json()


def test_a_message_from_pydantic_is_kept_whole(call: Any) -> None:
    """Pydantic's own wording is not a quote, even if an argument happens to equal one of its words."""
    for name in ("valid", "integer", "string"):
        issues = refusal_of(call, {"pmids": ["valid", "integer", "should"], "ratio": name, "weights": {"a": name}})[1]
        assert [
            "Input should be a valid integer, unable to parse string as an integer",
            "Input should be a valid number, unable to parse string as a number",
        ] == [issue["message"] for issue in issues]


def test_a_crash_in_a_validator_is_a_crash(call: Any) -> None:
    """A crash in a validator is not the caller's fault, so the caller does not see its text."""

    def crash(value: str) -> str:
        raise KeyError(SECRET)

    @tool
    def g(x: Annotated[str, AfterValidator(crash)]) -> str:
        return x

    result = call(Server("s", tools=[g]), "g", {"x": "a"})
    assert "INTERNAL_ERROR" == result.structured_content["error"]["name"]
    assert "hunter2" not in result.model_dump_json()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(sorted(f.definition.sdk.parameters["properties"])) | st.text(max_size=20)


@pytest.mark.no_server
@given(st.dictionaries(NAMES, JSON, max_size=5))
@settings(max_examples=200, deadline=None)
def test_any_arguments_succeed_or_are_reported(arguments: dict[str, Any]) -> None:
    """For any JSON arguments, the report is bounded and has content."""
    try:
        f.definition.validate(arguments)
    except ValidationError as error:
        message, issues, hint, _ = misfit(error, f.definition.sdk.parameters, "f")
        assert message
        assert 0 < len(issues) <= 21
        assert hint
        json.dumps(issues).encode()
        assert len(message) < 2_500
