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
        ({"name": 7}, [("name", "string_type")]),
        ({"name": "a"}, [("name", "string_too_short")]),
        ({"name": "abcde"}, [("name", "string_too_long")]),
        ({"kind": "medium"}, [("kind", "literal_error")]),
        ({"one": 2}, [("one", "literal_error")]),
        ({"flag": "perhaps"}, [("flag", "bool_type")]),
        ({"tags": []}, [("tags", "too_short")]),
        ({"tags": ["a", "b", "c"]}, [("tags", "too_long")]),
        ({"tags": ["a", "a"]}, [("tags", "json_schema")]),
        ({"tags": [1]}, [("tags.0", "string_type")]),
        ({"filter": {}}, [("filter.by", "missing")]),
        ({"filter": {"by": "x", "bye": 1}}, [("filter.bye", "extra_forbidden")]),
        ({"either": []}, [("either", "json_schema")]),
        ({"none": 1}, [("none", "none_required")]),
        ({"both": []}, [("both", "json_schema")]),
    ],
)
def test_what_cannot_fit_is_refused(arguments: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    """Each issue has its place and its kind."""
    assert expected == issues(arguments)


def test_required_and_closed() -> None:
    """Missing and forbidden arguments are named together."""
    expected = [("count", "missing"), ("coutn", "extra_forbidden")]
    assert expected == sorted(issues({"coutn": 1}, required=["count"], additionalProperties=False))


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
