"""Arguments that do not fit: the issues, the hint, and nothing of what was sent."""

from __future__ import annotations

import enum
import json
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from mcpcore import Server, tool

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


SERVER = Server("s", tools=[f, nothing])
GOOD: dict[str, Any] = {"pmids": ["1"]}


def told(call: Any, arguments: dict[str, Any], name: str = "f") -> tuple[str, list[dict[str, Any]], str]:
    result = call(SERVER, name, arguments)
    error = result.structured_content["error"]
    assert ("INVALID_PARAMS", "invalid_arguments") == (error["name"], error["data"]["reason"])
    assert {"kind": "not_retryable"} == error["retry"]
    return error["message"], error["data"]["issues"], error["data"]["recovery"]["hint"]


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
def test_an_issue_is_told_with_its_place_and_what_to_send(
    arguments: dict[str, Any], path: str, kind: str, hint: str, call: Any
) -> None:
    """Path, kind and message; the hint is made from the schema."""
    message, issues, said = told(call, {**GOOD, **arguments})
    assert [(path, kind)] == [(issue["path"], issue["type"]) for issue in issues]
    assert {"path", "type", "message"} == issues[0].keys()
    assert len(issues[0]["message"]) <= 200
    assert hint == said
    assert message.startswith(f"The arguments do not fit f: {path}: {issues[0]['message'][:100]}")


def test_a_missing_argument_is_described(call: Any) -> None:
    """What it is, its bounds and its description."""
    message, _, hint = told(call, {})
    assert "The arguments do not fit f: pmids: Field required" == message
    assert "Add 'pmids': an array of strings with at least 1 item (PubMed identifiers)." == hint
    assert "no arguments are taken" in told(call, {"x": 1}, "nothing")[2]


def test_several_issues_are_places_in_the_message_and_issues_in_the_data(call: Any) -> None:
    """The message does not say again what the details say; the hint stops at four."""
    message, issues, hint = told(
        call, {"pmids": 1, "colour": 1, "ratio": 5, "name": 3, "pair": 1, "weights": 1, "x": 1}
    )
    assert "The arguments do not fit f in 7 ways: pmids, colour, weights, name, ratio and 2 more" == message
    assert 7 == len(issues)
    assert 4 == hint.count("Send ")


def test_many_issues_are_cut_and_counted(call: Any) -> None:
    """Twenty of them, and how many more."""
    _, issues, _ = told(call, {"pmids": [1] * 50})
    assert 21 == len(issues)
    assert {"path": "", "type": "more", "message": "30 more"} == issues[-1]


def test_the_branches_of_a_union_are_no_places(call: Any) -> None:
    """A caller knows the argument, not how pydantic tries it."""
    _, issues, hint = told(call, {**GOOD, "either": "x"})
    assert {"either"} == {issue["path"] for issue in issues}
    assert "Send 'either' as an integer or an array of integers." == hint


def test_what_is_json_in_a_string_is_read(call: Any) -> None:
    """Some hosts send lists and objects so."""
    sent = {"pmids": '["1"]', "filter": '{"limit": 3}', "either": "5"}
    assert not call(SERVER, "f", sent).is_error
    assert "int_parsing" in str(told(call, {"pmids": ["1"], "weights": '{"a": "x"}'})[1])


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
def test_no_rejected_value_is_told(arguments: dict[str, Any], call: Any) -> None:
    """Not in paths, messages, union tags, rejected keys, nor in a validator's own words."""
    result = call(SERVER, "f", {**GOOD, **arguments})
    assert result.is_error
    assert "hunter2" not in result.model_dump_json()
    assert "pydantic.dev" not in result.model_dump_json()


def test_what_a_validator_quotes_of_a_list_or_a_mapping_is_not_told(call: Any) -> None:
    """Every scalar inside what was rejected is looked for, keys too; words too short to be told apart are kept."""

    def quoting(value: Any) -> Any:
        raise ValueError(f"not {value}, at all")

    @tool
    def g(
        names: Annotated[list[str], AfterValidator(quoting)] = [],  # noqa: B006
        table: Annotated[dict[str, list[int]], AfterValidator(quoting)] = {},  # noqa: B006
        deep: Annotated[list[Any], AfterValidator(quoting)] = [],  # noqa: B006
    ) -> str:
        return ""

    server = Server("s", tools=[g])
    sent = {
        "names": [SECRET, "b"],
        "table": {SECRET: [123456, 7]},
        "deep": [None, True, [["x" * 5]] * 3, *range(900), SECRET, None],
    }
    messages = [
        call(server, "g", {key: value}).structured_content["error"]["data"]["issues"][0]["message"]
        for key, value in sent.items()
    ]
    assert ["Value error, not ['…', 'b'], at all", "Value error, not {'…': […, 7]}, at all"] == messages[:2]
    assert len(messages[2]) <= 240
    assert SECRET not in str(messages)


def test_a_schema_of_very_many_forms_is_described_all_the_same(call: Any) -> None:
    """A union of more branches than anybody reads is looked through as far as it helps, in bounded time."""
    forms = {"anyOf": [{"anyOf": [{"type": "object", "properties": {"a": {"const": n}}}] * 40} for n in range(40)]}

    @tool
    def g(x: Annotated[dict[str, int], Field(json_schema_extra=forms)]) -> str:
        return ""

    error = call(Server("s", tools=[g]), "g", {"x": {"b": "no"}}).structured_content["error"]
    assert "x.b" == error["data"]["issues"][0]["path"]
    assert "Send 'x.b' as an integer." == error["data"]["recovery"]["hint"]


def test_a_validators_own_message_is_kept(call: Any) -> None:
    """Without the value that it quotes, cut to 200 characters."""
    assert "Value error, '…' is not wanted" == told(call, {**GOOD, "refused": SECRET})[1][0]["message"]
    assert "we do not want … at all" == told(call, {**GOOD, "custom": SECRET})[1][0]["message"]
    assert told(call, {**GOOD, "long": "x"})[1][0]["message"].endswith("characters in all)")


QUOTING: dict[str, Any] = {
    "the first": lambda value: value[0],
    "the 2000th": lambda value: value[1999],
    "the last": lambda value: value[-1],
    "the whole": lambda value: value,
}


@pytest.mark.parametrize("quoted", QUOTING)
@pytest.mark.parametrize("nested", [False, True])
def test_of_more_than_is_searched_nothing_is_quoted(
    call: Any, quoted: str, nested: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Wherever the quoted value stands in a long list, neither the answer nor the audit log shows it."""

    def quoting(value: Any) -> Any:
        raise ValueError(f"{QUOTING[quoted](value)} is not wanted")

    @tool
    def g(x: Annotated[list[Any], AfterValidator(quoting)]) -> str:
        return ""

    sent: list[Any] = [SECRET, *range(1_998), SECRET, *range(3_000), SECRET]
    with caplog.at_level("INFO"):
        result = call(Server("s", tools=[g]), "g", {"x": [[one] for one in sent] if nested else sent})
    assert SECRET not in result.model_dump_json()
    assert SECRET not in caplog.text
    issue = result.structured_content["error"]["data"]["issues"][0]
    assert issue["message"].startswith("Breaks a rule of the tool's own; ")


@pytest.mark.no_server
def test_a_message_of_odd_values_is_told_only_where_all_of_it_can_be_searched() -> None:
    """Bytes, texts that JSON and Python escape, and names of members are found; other objects are not searched."""
    from pydantic import TypeAdapter, ValidationError

    from mcpcore.arguments import misfit

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
def test_what_is_shown_of_a_quoting_message_holds_nothing_that_was_sent(value: Any, more: int, rng: Any) -> None:
    """However many values there are and wherever the secret stands among them, its text is not in the message."""
    from mcpcore.arguments import _unquoted

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
    """Of contract tools and the SDK's own, at the root and in models, as sent and as another validator made it."""

    @tool
    def contract(password: str, hint: Annotated[str, AfterValidator(near)] = "", login: Login | None = None) -> str:
        return ""

    server = Server("s", tools=[contract])

    @server.tool()
    def plain(password: str, hint: Annotated[str, AfterValidator(near)] = "", login: Login | None = None) -> str:
        return ""

    logins = [{"again": "a"}, {"again": SECRET}, {"again": SECRET, "kind": "x"}]
    with caplog.at_level("INFO"):
        # To validators of its plain tools, FastMCP does not show the other arguments.
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
        in told(lambda *sent: call(server, *sent[1:]), {"password": SECRET, "hint": "h"}, "contract")[0]
    )


def test_letters_and_names_that_deceive_a_search_hide_nothing(call: Any) -> None:
    """An error that borrows a name of pydantic's with other facts, and letters whose lower case is two letters."""

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


def test_a_message_of_pydantics_own_stays_whole_whatever_else_was_sent(call: Any) -> None:
    """Words that pydantic says are no quotes, though an argument happens to be one of them."""
    for name in ("valid", "integer", "string"):
        issue = told(call, {"pmids": ["valid", "integer", "should"], "ratio": name, "weights": {"a": name}})[1]
        assert [
            "Input should be a valid integer, unable to parse string as an integer",
            "Input should be a valid number, unable to parse string as a number",
        ] == [one["message"] for one in issue]


def test_tags_by_a_function_are_no_places(call: Any) -> None:
    """A discriminator of the author's own."""

    def kind_of(value: Any) -> str | None:
        return value.get("kind") if isinstance(value, dict) else None

    @tool
    def g(pet: Annotated[Annotated[Cat, Tag("cat")] | Annotated[Dog, Tag("dog")], Discriminator(kind_of)]) -> str:
        return ""

    result = call(Server("s", tools=[g]), "g", {"pet": {"kind": SECRET}})
    assert "hunter2" not in result.model_dump_json()
    result = call(Server("s", tools=[g]), "g", {"pet": {"kind": "cat"}})
    assert "pet.lives" == result.structured_content["error"]["data"]["issues"][0]["path"]


def test_a_crash_in_a_validator_is_a_crash(call: Any) -> None:
    """It is not the caller's fault, and its text is not the caller's to read."""

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
def test_any_arguments_are_a_success_or_told(arguments: dict[str, Any]) -> None:
    """Whatever JSON is sent, the misfit is bounded and says something."""
    from pydantic import ValidationError

    from mcpcore.arguments import misfit

    try:
        f.definition.validate(arguments)
    except ValidationError as error:
        message, issues, hint = misfit(error, f.definition.sdk.parameters, "f")
        assert message
        assert 0 < len(issues) <= 21
        assert hint
        json.dumps(issues).encode()
        assert len(message) < 2_500
