"""Which arguments are refused before the server is called: only those that cannot fit."""

from __future__ import annotations

import time
from typing import Any

import pytest

from mcpcore.proxy.listings import Listing
from tests.hostile.test_policy import EXPONENTIAL, TRAP

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "ratio": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "name": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$", "format": "uuid"},
        "kind": {"enum": ["big", "small"]},
        "one": {"const": 1},
        "flag": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2, "uniqueItems": True},
        "filter": {"type": "object", "properties": {"by": {"type": "string"}}, "required": ["by"], "additionalProperties": False},
        "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "none": {"type": "null"},
        "both": {"type": ["integer", "null"]},
        "steps": {"type": "integer", "multipleOf": 5},
        "size": {"type": "integer", "enum": [1, 2]},
        "nested": {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "string"}}},
        "one_of": {"oneOf": [{"type": "integer"}, {"type": "string"}]},
        "maybe": {"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": "array"}},
        "never": {"not": {"type": "string"}},
    },
}  # fmt: skip


def issues(arguments: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
    """Return the places and the kinds of what does not fit."""
    listing = Listing()
    listing.learn({"tools": [{"name": "find", "inputSchema": {**SCHEMA, **more}}]})
    failure = listing.misfit("find", arguments)
    if failure is None:
        return []
    assert failure.data is not None
    return [(issue["path"], issue["type"]) for issue in failure.data["issues"]]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {
            "count": 3,
            "ratio": 0.5,
            "name": "ab",
            "kind": "big",
            "one": 1,
            "flag": True,
            "tags": ["a"],
            "filter": {"by": "x"},
        },
        {"count": "3", "ratio": "0.5", "flag": "true", "tags": '["a"]', "filter": '{"by": "x"}', "one": "1"},
        {"count": 3.0},
        {"size": "2"},
        {"name": "ABC"},
        {"unknown": 1},
        {"either": None},
        {"either": "7"},
        {"both": None},
        {"none": None},
        {"name": None, "tags": None, "filter": None},
        {"filter": {"by": "x", "more": 1}},
        {"name": 7777, "flag": "perhaps", "tags": "a,b", "filter": "by x"},
        {"count": True, "ratio": "", "flag": 1, "steps": "0x10"},
        {"kind": " BIG ", "size": True, "tags": [1, True]},
        {"kind": 5, "size": "2"},
        {"nested": [{"deep": None}]},
        {"one_of": 5},
        {"one_of": "5"},
        {"maybe": 3, "never": "x"},
    ],
)
def test_what_a_server_may_accept_reaches_it(arguments: dict[str, Any]) -> None:
    """Converted values, other patterns and unnamed arguments are for the server to judge."""
    assert [] == issues(arguments)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"count": "three"}, [("count", "int_type")]),
        ({"count": 0}, [("count", "greater_than_equal")]),
        ({"count": 10}, [("count", "less_than_equal")]),
        ({"ratio": 0}, [("ratio", "greater_than")]),
        ({"ratio": 1}, [("ratio", "less_than")]),
        ({"ratio": "NaN"}, [("ratio", "float_type")]),
        ({"steps": 7}, [("steps", "multiple_of")]),
        ({"ratio": "abc"}, [("ratio", "float_type")]),
        ({"ratio": []}, [("ratio", "float_type")]),
        ({"count": "3.5"}, [("count", "int_type")]),
        ({"count": 3.5}, [("count", "int_type")]),
        ({"name": {}}, [("name", "string_type")]),
        ({"name": "a"}, [("name", "string_too_short")]),
        ({"name": "abcde"}, [("name", "string_too_long")]),
        ({"kind": "medium"}, [("kind", "literal_error")]),
        ({"one": 2}, [("one", "literal_error")]),
        ({"kind": ["big"]}, [("kind", "literal_error")]),
        ({"flag": 3}, [("flag", "bool_type")]),
        ({"flag": []}, [("flag", "bool_type")]),
        ({"tags": []}, [("tags", "too_short")]),
        ({"tags": ["a", "b", "c"]}, [("tags", "too_long")]),
        ({"tags": ["a", "a"]}, [("tags", "json_schema")]),
        ({"tags": [[1]]}, [("tags.0", "string_type")]),
        ({"tags": 1}, [("tags", "list_type")]),
        ({"filter": 1}, [("filter", "dict_type")]),
        ({"one_of": []}, [("one_of", "json_schema")]),
        ({"nested": [{"deep": {}}]}, [("nested.0.deep", "string_type")]),
        ({"filter": {}}, [("filter.by", "missing")]),
        ({"filter": {"bye": 1}}, [("filter.by", "missing"), ("filter.bye", "extra_forbidden")]),
        ({"either": []}, [("either", "json_schema")]),
        ({"none": 1}, [("none", "none_required")]),
        ({"both": []}, [("both", "json_schema")]),
    ],
)
def test_what_cannot_fit_is_refused(arguments: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    """Each issue has its place and its kind."""
    assert expected == issues(arguments)


def test_required_and_closed() -> None:
    """A name that was most likely meant for a missing one is named with it; other unnamed arguments are not."""
    expected = [("count", "missing"), ("coutn", "extra_forbidden")]
    assert expected == sorted(issues({"coutn": 1, "zzz": 2}, required=["count"], additionalProperties=False))
    assert [("count", "missing")] == issues({"coutn": 1}, required=["count"])
    assert [] == issues({"coutn": 1}, additionalProperties=False)


def test_required_properties() -> None:
    """Null passes for a scalar but not for a list, and a server has its defaults itself."""
    required = ["name", "kind", "tags"]
    assert [("tags", "list_type")] == issues({"name": None, "kind": None, "tags": None}, required=required)
    assert [("name", "missing"), ("tags", "missing")] == sorted(issues({"kind": "big"}, required=required))
    properties = {"size": {"type": "integer", "default": 3}, "any": True}
    assert [] == issues({"any": None}, properties=properties, required=["size", "any"])
    assert [("any", "missing")] == issues({}, properties=properties, required=["size", "any"])


def test_what_is_too_large_is_left_to_the_server() -> None:
    """Neither a huge schema nor huge arguments are checked here."""
    assert [] == issues({"count": 0}, description="x" * 200_000)
    assert [] == issues({"count": 0, "name": "x" * 200_000})


def test_a_tool_without_a_schema_takes_anything() -> None:
    """Neither do unknown tools."""
    listing = Listing()
    listing.learn({"tools": [{"name": "find"}, {"inputSchema": {}}, 7], "nextCursor": "more"})
    assert listing.misfit("find", {"a": 1}) is None
    assert listing.misfit("other", {"a": 1}) is None
    assert not listing.complete


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ({"properties": {"q": {"$ref": "#/$defs/d0"}}, "$defs": EXPONENTIAL}, {"q": 1}),
        ({"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}, {TRAP: 1}),
        ({"propertyNames": {"pattern": "^(a|a)*$"}}, {TRAP: 1}),
        ({"properties": {"q": {"uniqueItems": True}}}, {"q": [{"a": number} for number in range(8_000)]}),
    ],
    ids=["references", "additional", "names", "unique"],
)
def test_a_schema_cannot_keep_the_proxy_busy(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    """All clients of the proxy would wait. Arguments that cannot be checked in time go to the server unchecked."""
    listing = Listing()
    listing.learn({"tools": [{"name": "find", "inputSchema": schema}]})
    began = time.thread_time()
    listing.misfit("find", arguments)
    assert time.thread_time() - began < 3
