"""From the words of a command line to the arguments of a tool."""

from __future__ import annotations

import contextlib
import io
import json
import sys

import pytest
from hypothesis import example, given, strategies as st

from mcpcore.cli.arguments import parse_arguments
from mcpcore.cli.problems import Problem

SCHEMA = {
    "type": "object",
    "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}}}, "Loop": {"$ref": "#/$defs/Loop"}},
    "properties": {
        "text": {"type": "string"},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "flag": {"type": "boolean"},
        "names": {"type": "array", "items": {"type": "string"}},
        "ids": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
        "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "mode": {"enum": ["fast", "slow"]},
        "level": {"enum": [1, 2]},
        "point": {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}]},
        "loop": {"$ref": "#/$defs/Loop"},
        "types": {"type": ["integer", "null"]},
        "anything": {},
        "bare": {"type": "array"},
        "elsewhere": {"$ref": "https://example.com/schema.json"},
        "nowhere": {"$ref": "#/$defs/Point/properties/x/type/deeper"},
        "odd": {"anyOf": [True, {"type": "integer"}]},
    },
    "additionalProperties": False,
}


def parse(*words, schema=SCHEMA):
    return parse_arguments(words, schema, tool="the_tool")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), {}),
        (("text=",), {"text": ""}),
        (("text=5",), {"text": "5"}),
        (("text=a=b",), {"text": "a=b"}),
        (("text=null",), {"text": "null"}),
        (("maybe=null",), {"maybe": None}),
        (("maybe=x",), {"maybe": "x"}),
        (("count=-3",), {"count": -3}),
        (("count=12345678901234567890",), {"count": 12345678901234567890}),
        (("ratio=1e3",), {"ratio": 1000.0}),
        (("ratio=2",), {"ratio": 2}),
        (("flag=yes",), {"flag": True}),
        (("flag=False",), {"flag": False}),
        (("names=a",), {"names": ["a"]}),
        (("names=a", "count=1", "names=2"), {"names": ["a", "2"], "count": 1}),
        (('names=["a", "b"]',), {"names": ["a", "b"]}),
        (("names=[]",), {"names": []}),
        (("ids=1", "ids=2"), {"ids": [1, 2]}),
        (("ids=null",), {"ids": None}),
        (("either=a",), {"either": "a"}),
        (("either=a", "either=b"), {"either": ["a", "b"]}),
        (("mode=slow",), {"mode": "slow"}),
        (("level=2",), {"level": 2}),
        (('point={"x": 1}',), {"point": {"x": 1}}),
        (("types=null",), {"types": None}),
        (("types=4",), {"types": 4}),
        (("anything=4",), {"anything": 4}),
        (("anything=a b",), {"anything": "a b"}),
        (("loop=x",), {"loop": "x"}),
        (("bare=1", "bare=x"), {"bare": [1, "x"]}),
        (("bare=[1, 2]",), {"bare": [1, 2]}),
        (("elsewhere=4",), {"elsewhere": 4}),
        (("nowhere=x",), {"nowhere": "x"}),
        (("odd=7",), {"odd": 7}),
        (('count:="x"',), {"count": "x"}),
        (("text:=5",), {"text": 5}),
        (("text=a:=b",), {"text": "a:=b"}),
        (('{"text": 5, "unknown": [1]}',), {"text": 5, "unknown": [1]}),
    ],
)  # fmt: skip
def test_words_become_the_arguments_that_the_schema_asks_for(words, expected):
    """Each value has the type of its argument, and `:=` and JSON are sent as they are."""
    assert expected == parse(*words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("txt=a",), "did you mean text?"),
        (("zzzz=a",), "it has text, maybe"),
        (("a",), "write text=…"),
        (("=a",), "neither key=value"),
        (("count=1.5",), "an integer"),
        (("count=x",), "an integer"),
        (("count=",), "an integer"),
        (("ratio=nan",), "a number"),
        (("ratio=much",), "a number"),
        (("odd=x",), "an integer"),
        (("names=[a",), "is not JSON"),
        (("flag=maybe",), "true or false"),
        (("mode=fats",), "did you mean mode=fast?"),
        (("level=3",), "one of 1, 2"),
        (("ids=1", "ids=x"), "an integer"),
        (("text=a", "text=b"), "not a list"),
        (("text=a", "text:=1"), "given twice"),
        (("point=x",), "a JSON object"),
        (("text:={",), "is not JSON"),
        (("text:=[NaN]",), "is not JSON"),
        (("[1]",), "neither key=value"),
        (('{"a": 1',), "is not JSON"),
        (('{"a": 1}', "text=a"), "follows arguments given as JSON"),
        (("text=@/does/not/exist",), "cannot be read"),
        (("text=@\0",), "cannot be read"),
        (("flag=\n",), "true or false"),
        (("point=[1]",), "a JSON object"),
    ],
)
def test_what_does_not_fit_is_told_with_the_argument_and_what_fits(words, said):
    """A word that cannot be sent is a problem that names the way out."""
    with pytest.raises(Problem) as caught:
        parse(*words)
    assert said in f"{caught.value.message} {caught.value.hint}"


def test_a_tool_without_arguments_says_that_it_takes_none():
    """Where there is nothing to choose from, the message does not list it."""
    with pytest.raises(Problem) as caught:
        parse("a=1", schema={"type": "object", "properties": {}})
    assert "it takes none" in str(caught.value.hint)
    for schema in (None, {"type": "object"}, {"properties": {}}, {"properties": "none"}):
        with pytest.raises(Problem, match="neither key=value nor a JSON object") as caught:
            parse("word", schema=schema)
        assert "write key=value" in str(caught.value.hint)


def test_values_come_from_files_and_from_standard_input(tmp_path, monkeypatch):
    """`@FILE` is the text of a file, `@-` and `-` are standard input."""

    def type_in(text):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    file = tmp_path / "a.json"
    file.write_text('{"x": 1}\n', encoding="utf-8")
    assert parse(f"text=@{file}") == {"text": '{"x": 1}\n'}
    assert parse(f"point=@{file}") == {"point": {"x": 1}}
    assert parse(f"point:=@{file}") == {"point": {"x": 1}}
    assert parse(f"@{file}") == {"x": 1}
    type_in("in")
    assert parse("text=@-") == {"text": "in"}
    type_in('{"x": 2}')
    assert parse("-") == {"x": 2}
    for text, kind in (("[1]", "a list"), ("null", "null"), ("7.5", "a number"), ('"a"', "a string")):
        type_in(text)
        with pytest.raises(Problem, match=f"a JSON object, not {kind}"):
            parse("-")
    file.write_bytes(b"\xff")
    with pytest.raises(Problem, match="not UTF-8"):
        parse(f"text=@{file}")


def test_without_a_schema_values_are_guessed():
    """A tool that is not listed gets JSON where a value is JSON, else text."""
    assert parse("a=1", "b=x", "c=1", "c=y", schema=None) == {"a": 1, "b": "x", "c": [1, "y"]}
    assert parse("new=1", schema={"additionalProperties": True}) == {"new": 1}
    for text in ("[" * 100_000, "NaN", "-Infinity", "1e400", '{"a": [NaN]}'):
        assert parse(f"a={text}", schema=None) == {"a": text}


@given(st.dictionaries(st.sampled_from(["text", "maybe"]), st.text().filter(lambda t: t[:1] != "@")))
def test_text_arrives_as_it_was_typed(values):
    """A string argument is never read as anything but text."""
    expected = {key: None if key == "maybe" and text.strip().lower() in ("null", "none") else text
                for key, text in values.items()}  # fmt: skip
    assert expected == parse(*[f"{key}={text}" for key, text in values.items()])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values, st.sampled_from(list(SCHEMA["properties"])))
def test_raw_json_arrives_as_it_was_typed(value, key):
    """`key:=JSON` sends any value whatever the schema says."""
    assert {key: value} == parse(f"{key}:={json.dumps(value)}")


@example(["-"], None)
@given(st.lists(st.text(), max_size=4), st.none() | st.just(SCHEMA) | json_values.filter(lambda v: isinstance(v, dict)))
def test_no_words_and_no_schema_crash_the_parser(words, schema):
    """Whatever is typed and whatever a server lists, the answer is arguments or a problem."""
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Problem):
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))  # which the word `-` reads
        assert isinstance(parse(*words, schema=schema), dict)


def test_closed_standard_input_has_no_arguments(monkeypatch):
    """Python has no stream for a descriptor that was closed before it began."""
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(Problem, match="standard input"):
        parse("-")


@given(st.from_type(dict) | json_values)
def test_a_hostile_property_schema_does_not_crash_the_parser(part):
    """A schema of a single argument may be anything."""
    for words in (("a=1",), ("a=1", "a=2")):
        with contextlib.suppress(Problem):
            assert isinstance(parse(*words, schema={"properties": {"a": part}}), dict)
