"""Arguments from schemas: the valid ones fit, the bad ones break the schema in one place, and nothing raises."""

from __future__ import annotations

import jsonschema
import pytest

from mcpcore.check.probe_arguments import MOST, draw, marker_of, planted
from mcpcore.client.failures import ListedTool

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "parent": {"$ref": "#/$defs/Person"}},
    "required": ["name"],
}
SCHEMAS = {
    "every kind": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 3, "maxLength": 90},
            "when": {"type": "string", "format": "date-time"},
            "code": {"type": "string", "pattern": "^[0-9]{5}$"},
            "level": {"enum": ["low", "high"]},
            "always": {"const": 7},
            "count": {"type": "integer", "minimum": 5, "multipleOf": 4},
            "share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "less": {"type": "integer", "maximum": -3},
            "below": {"type": "integer", "exclusiveMaximum": 1},
            "above": {"type": "integer", "exclusiveMinimum": 9},
            "on": {"type": "boolean"},
            "none": {"type": "null"},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 3},
            "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False},
            "maybe": {"anyOf": [{"type": "null"}, {"type": "integer"}], "default": None},
            "listed": {"type": ["null", "string"], "examples": ["one"]},
            "who": {"$ref": "#/$defs/Person"},
            "more": {"allOf": [{"$ref": "#/$defs/Person"}, {"properties": {"age": {"type": "integer"}}}]},
            "loose": {"items": {"type": "integer"}},
            "few": {"type": "array", "maxItems": 2},
            "some": {"type": "string", "minLength": 1},
            "anything": {},
        },
        "required": ["text", "when", "code", "count", "who", "pair", "loose", "more"],
        "additionalProperties": False,
        "$defs": {"Person": PERSON},
    },
    "no arguments": {"type": "object"},
    "nested": {"properties": {"inner": {"properties": {"a": {"type": "string"}}, "required": ["a"]}}},
    "one text": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "short text": {"type": "object", "properties": {"text": {"type": "string", "maxLength": 30}}},
}
UNUSABLE = {
    "remote": {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}, "required": ["a"]},
    "contradictory": {"type": "object", "properties": {"a": False}, "required": ["a"]},
    "endless": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "required": ["a"],
        "$defs": {"A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"]}},
    },
    "pattern": {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+b{7}$"}}, "required": ["a"]},
    "look-around": {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=a)b"}}, "required": ["a"]},
    "huge": {"type": "object", "description": "x" * 200_000},
    "long": {"type": "object", "properties": {"a": {"type": "string", "minLength": 50_000}}, "required": ["a"]},
    "no object of properties": {"type": "object", "properties": [1]},
}


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_valid_arguments_fit_and_bad_ones_break_the_schema(schema, seed):
    drawn = draw(ListedTool(name="t", input_schema=schema), seed=seed)
    validator = jsonschema.Draft202012Validator(schema)

    assert drawn.usable
    assert drawn.valid
    assert all(validator.is_valid(probe.arguments) for probe in (*drawn.valid, *drawn.hostile))
    for probe in drawn.bad:
        assert validator.is_valid(probe.arguments) is not probe.strict
        assert probe.strict or probe.kind == "unknown"
        assert probe.argument in probe.arguments or probe.kind == "missing"


@pytest.mark.parametrize("schema", UNUSABLE.values(), ids=UNUSABLE)
def test_a_schema_that_nothing_can_be_drawn_from_is_said_to_be_unusable(schema):
    assert not draw(ListedTool(name="t", input_schema=schema), seed=0).usable


def test_the_same_seed_draws_the_same_calls_and_few_of_them():
    tool = ListedTool(name="t", input_schema=SCHEMAS["every kind"])

    assert draw(tool, seed=3) == draw(tool, seed=3)
    assert draw(tool, seed=3) != draw(tool, seed=4)
    kinds = [probe.kind for probe in draw(tool, seed=3).bad]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "missing": MOST,
        "wrong-type": MOST,
        "out-of-range": MOST,
        "unknown": 1,
    }


def test_a_schema_without_required_arguments_gets_no_call_without_one():
    drawn = draw(ListedTool(name="t", input_schema={"type": "object", "required": "text"}), seed=0)

    assert not drawn.usable or all(probe.kind != "missing" for probe in drawn.bad)


def test_the_wrong_value_is_in_no_other_argument():
    drawn = draw(ListedTool(name="t", input_schema=SCHEMAS["one text"]), seed=0)

    assert all(planted(marker_of(0)) not in str(probe.arguments) for probe in (*drawn.valid, *drawn.hostile))
    assert any(planted(marker_of(0)) in str(probe.arguments) for probe in drawn.bad)
