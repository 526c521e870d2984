"""What `compare` finds, by rule."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import assume, given, settings, strategies as st

from mcpcore.catalog import RULES, Catalog, Rules, ServerCatalog, compare
from mcpcore.catalog.diff import Change
from mcpcore.catalog.model import Item, Place
from mcpcore.catalog.report import SHAPES, render_changes, summary
from mcpcore.catalog.rules import at_least
from mcpcore.catalog.schemas import MAX_FIELDS, fields_of
from tests.catalog.making import catalog, failure, item
from tests.tables import in_one_test

pytestmark = pytest.mark.no_server

NEVER, NOW = {"kind": "not_retryable"}, {"kind": "retryable_immediate"}


def after(milliseconds):
    return {"kind": "retryable_after_ms", "afterMs": milliseconds}


def schema(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


TEXT, NUMBER, WHOLE = {"type": "string"}, {"type": "number"}, {"type": "integer"}
PLACE = {"path": "server.py", "function": "fetch", "line": 3}
OTHER = {"description": "Something else entirely.", "name": "other"}


def catalogs(old, new):
    """Two catalogs with one failure mode each."""
    return catalog(item(failure(**old))), catalog(item(failure(**new)))


def tools(old, new):
    """Two catalogs with one tool each."""
    return catalog(item(failure(), **old)), catalog(item(failure(), **new))


def of_data(rule, old, new):
    """A case for a field of the data."""
    definitions = {"$defs": {"A": TEXT}}
    return [
        (rule, *catalogs({"dataSchema": schema(id=old) | definitions}, {"dataSchema": schema(id=new) | definitions}))
    ]


def of_argument(rule, old, new):
    """A case for an argument."""
    return [(rule, *tools({"inputSchema": schema(id=old)}, {"inputSchema": schema(id=new)}))]


def items(inner):
    return {"type": "array", "items": inner}


def by_key(inner):
    return {"type": "object", "additionalProperties": inner}


def pair(first, second):
    return {"type": "array", "prefixItems": [first, second], "minItems": 2, "maxItems": 2}


def nullable(inner):
    return {"anyOf": [inner, {"type": "null"}], "default": None}


def kinds(kind):
    return (
        (f"{kind}-removed", catalog(item(kind=kind), item(kind=kind, **OTHER)), catalog(item(kind=kind))),
        (f"{kind}-added", catalog(item(kind=kind)), catalog(item(kind=kind), item(kind=kind, **OTHER))),
        (f"{kind}-renamed", catalog(item(failure(), kind=kind)), catalog(item(failure(), kind=kind, name="get"))),
    )


WORDS = {"when": "The queue is full.", "recovery": "Wait a while and call again."}
CASES = [
    *kinds("tool"),
    *kinds("resource"),
    *kinds("prompt"),
    ("contract-removed", catalog(item(failure())), catalog(item(contract="none"))),
    ("contract-unreadable", catalog(item(failure())), catalog(item(failure(), contract="unknown"))),
    ("contract-readable", catalog(item(contract="unknown")), catalog(item(failure()))),
    ("contract-changed", *catalogs({"retry": NEVER}, {"retry": None})),
    ("contract-changed", *catalogs({"retry": None}, {"retry": NEVER})),
    ("contract-changed", *catalogs({}, {"name": None})),
    ("contract-changed", catalog(item(contract="unknown")), catalog(item(failure(), contract="unknown"))),
    ("contract-added", catalog(item(contract="none")), catalog(item(failure()))),
    ("reason-removed", catalog(item(failure(), failure("full", **WORDS))), catalog(item(failure()))),
    ("reason-renamed", *catalogs({}, {"reason": "nothing_found", "when": "Nothing matches these ids."})),
    ("reason-added", catalog(item(failure())), catalog(item(failure(), failure("full", **WORDS)))),
    ("code-changed", *catalogs({}, {"name": "CONFLICT", "code": -32002})),
    ("code-changed", *catalogs({"name": "OURS", "code": 7}, {"name": "THEIRS", "code": 7})),
    ("code-changed", *catalogs({"name": "OURS", "code": None}, {"name": "THEIRS", "code": None})),
    ("retry-withdrawn", *catalogs({"retry": NOW}, {"retry": NEVER})),
    ("retry-withdrawn", *catalogs({"retry": after(1000)}, {"retry": None})),
    ("retry-added", *catalogs({"retry": None}, {"retry": NOW})),
    ("retry-delayed", *catalogs({"retry": NOW}, {"retry": after(5)})),
    ("retry-sooner", *catalogs({"retry": after(6)}, {"retry": after(5)})),
    ("retry-added", *catalogs({"retry": NEVER}, {"retry": after(5)})),
    ("effects-weakened", *catalogs({"effects": "none"}, {"effects": "partial"})),
    ("effects-weakened", *catalogs({"effects": "partial"}, {"effects": "unknown"})),
    ("effects-weakened", *catalogs({"effects": "none"}, {"effects": None})),
    ("effects-stated", *catalogs({}, {"effects": "unknown"})),
    ("effects-strengthened", *catalogs({}, {"effects": "none"})),
    ("effects-strengthened", *catalogs({"effects": "unknown"}, {"effects": "partial"})),
    ("data-removed", *catalogs({"dataSchema": schema(id=TEXT)}, {})),
    ("data-added", *catalogs({}, {"dataSchema": schema(id=TEXT)})),
    ("data-field-removed", *catalogs({"dataSchema": schema(id=TEXT, at=TEXT)}, {"dataSchema": schema(id=TEXT)})),
    ("data-field-added", *catalogs({"dataSchema": schema(id=TEXT)}, {"dataSchema": schema(id=TEXT, at=TEXT)})),
    ("data-field-optional", *catalogs({"dataSchema": schema(["id"], id=TEXT)}, {"dataSchema": schema(id=TEXT)})),
    ("data-field-required", *catalogs({"dataSchema": schema(id=TEXT)}, {"dataSchema": schema(["id"], id=TEXT)})),
    ("data-field-type", *catalogs({"dataSchema": schema(id=TEXT)}, {"dataSchema": schema(id=WHOLE)})),
    ("data-field-type", *catalogs({"dataSchema": schema(id={"enum": ["a"]})}, {"dataSchema": schema(id=TEXT)})),
    ("data-field-narrowed", *catalogs({"dataSchema": schema(id=NUMBER)}, {"dataSchema": schema(id=WHOLE)})),
    *of_data("data-field-type", items(TEXT), items(WHOLE)),
    *of_data("data-field-type", items(items(TEXT)), items(items(WHOLE))),
    *of_data("data-field-type", nullable(items(TEXT)), nullable(items(WHOLE))),
    *of_data("data-field-type", by_key(WHOLE), by_key(TEXT)),
    *of_data("data-field-type", pair(TEXT, WHOLE), pair(WHOLE, WHOLE)),
    *of_data("data-field-type", items({"const": "a"}), items({"enum": ["a", "b"]})),
    *of_data("data-field-type", items(TEXT), items({})),
    *of_data("data-field-type", items(TEXT), {"type": "array"}),
    *of_data("data-field-type", items(TEXT), TEXT),
    *of_data("data-field-type", TEXT, {}),
    *of_data("data-field-type", TEXT | {"format": "date-time"}, TEXT),
    *of_data("data-field-narrowed", TEXT, TEXT | {"format": "date-time"}),
    *of_data("data-field-narrowed", {}, TEXT),
    *of_data("data-field-narrowed", {"type": "array"}, items(TEXT)),
    *of_data("data-limit-loosened", WHOLE | {"minimum": 0}, WHOLE),
    *of_data("data-limit-loosened", nullable(WHOLE | {"minimum": 1}), nullable(WHOLE | {"minimum": 0})),
    *of_data("data-limit-loosened", items(TEXT) | {"maxItems": 1}, items(TEXT) | {"maxItems": 2}),
    *of_data("data-limit-loosened", TEXT | {"pattern": "^a"}, TEXT | {"pattern": "^b"}),
    *of_data("data-limit-loosened", WHOLE | {"minimum": "x"}, WHOLE | {"minimum": 1}),
    *of_data("data-limit-tightened", TEXT, TEXT | {"pattern": "^a"}),
    *of_data("data-limit-tightened", WHOLE | {"minimum": 0}, WHOLE | {"minimum": 1}),
    *of_data("data-limit-tightened", WHOLE | {"maximum": 2}, WHOLE | {"maximum": 1}),
    *of_data("data-limit-tightened", schema(), schema() | {"additionalProperties": False}),
    *of_data("data-schema-changed", TEXT, TEXT | {"contentEncoding": "base64"}),
    *of_data("data-schema-changed", TEXT | {"default": 0}, TEXT | {"default": False}),
    *of_data("data-schema-changed", {"anyOf": [items(TEXT), items(WHOLE)]}, {"anyOf": [items(TEXT), items(NUMBER)]}),
    *of_data("data-schema-changed", {"type": "array", "items": True}, {"type": "array", "items": False}),
    *of_data("data-schema-changed", {"patternProperties": {"a": TEXT}}, {"patternProperties": {"a": WHOLE}}),
    *of_data("data-schema-changed", schema(["a"]), schema(["b"])),
    *of_data("data-schema-changed", {"format": 7, "type": "string"}, TEXT),
    *of_data("data-schema-reworded", TEXT, TEXT | {"title": "Id"}),
    *of_data("data-schema-reworded", schema(["title"], title=TEXT), schema(["title"], title={"$ref": "#/$defs/A"})),
    *of_data("data-schema-reworded", nullable(TEXT), {"type": ["null", "string"], "default": None}),
    *of_data("data-schema-reworded", {"anyOf": [TEXT, WHOLE]}, {"anyOf": [WHOLE, TEXT]}),
    ("fallback-changed", *catalogs({"fallbackTool": "search"}, {"fallbackTool": "find"})),
    ("fallback-changed", *catalogs({"fallbackTool": "search"}, {})),
    ("fallback-added", *catalogs({}, {"fallbackTool": "search"})),
    ("strategy-changed", *catalogs({"strategy": "retry_later"}, {"strategy": "check_input"})),
    ("actions-changed", *catalogs({"actions": ["wait"]}, {"actions": ["wait", "call"]})),
    (
        "fallback-arguments-changed",
        *catalogs({"fallbackArguments": {"id": "{id}"}}, {"fallbackArguments": {"id": "{no}"}}),
    ),
    ("corrective-params-changed", *catalogs({"correctiveParams": {"limit": 1}}, {"correctiveParams": {"limit": True}})),
    ("when-reworded", *catalogs({}, {"when": "No article has the ids."})),
    ("recovery-reworded", *catalogs({}, {"recovery": "Search first."})),
    ("user-message-reworded", *catalogs({}, {"userMessage": "Nothing was found."})),
    ("example-changed", *catalogs({}, {"example": {"id": "1"}})),
    (
        "failures-returned",
        *tools({"defined": PLACE}, {"defined": PLACE, "failures": ["returned"], "returned": [PLACE]}),
    ),
    ("failures-raised", *tools({"defined": PLACE, "failures": ["returned"]}, {"defined": PLACE})),
    ("undeclared-added", *tools({"defined": PLACE}, {"defined": PLACE, "undeclared": [{"name": "TIMEOUT"}]})),
    ("read-only-withdrawn", *tools({"readOnly": True}, {"readOnly": False})),
    ("idempotent-withdrawn", *tools({"idempotent": True}, {})),
    ("hints-strengthened", *tools({}, {"readOnly": True})),
    ("hints-restated", *tools({"readOnly": False}, {})),
    ("hints-restated", *tools({}, {"idempotent": False})),
    ("destructive-changed", *tools({}, {"destructive": True})),
    ("argument-removed", *tools({"inputSchema": schema(id=TEXT)}, {"inputSchema": schema()})),
    ("argument-required", *tools({"inputSchema": schema(id=TEXT)}, {"inputSchema": schema(["id"], id=TEXT)})),
    ("argument-required", *tools({"inputSchema": schema()}, {"inputSchema": schema(["id"], id=TEXT)})),
    ("argument-narrowed", *tools({"inputSchema": schema(id=NUMBER)}, {"inputSchema": schema(id=WHOLE)})),
    ("argument-widened", *tools({"inputSchema": schema(id=WHOLE)}, {"inputSchema": schema(id=NUMBER)})),
    ("argument-widened", *tools({"inputSchema": schema(["id"], id=TEXT)}, {"inputSchema": schema(id=TEXT)})),
    ("argument-added", *tools({"inputSchema": schema()}, {"inputSchema": schema(id=TEXT)})),
    *of_argument("argument-narrowed", items(TEXT), items(WHOLE)),
    *of_argument("argument-narrowed", {}, TEXT),
    *of_argument("argument-narrowed", TEXT, TEXT | {"maxLength": 3}),
    (
        "argument-narrowed",
        *tools({"inputSchema": schema()}, {"inputSchema": schema() | {"additionalProperties": False}}),
    ),
    *of_argument("argument-narrowed", TEXT | {"pattern": "a"}, TEXT | {"pattern": "b"}),
    *of_argument("argument-widened", TEXT, {}),
    *of_argument("argument-widened", TEXT | {"maxLength": 3}, TEXT),
    *of_argument("input-schema-changed", TEXT | {"default": "a"}, TEXT | {"default": "b"}),
    ("input-schema-changed", *tools({"inputSchema": schema()}, {})),
    ("input-schema-changed", *tools({}, {"inputSchema": schema()})),
    *of_argument("input-schema-reworded", TEXT, TEXT | {"description": "The id."}),
    ("description-reworded", *tools({}, {"title": "Fetch"})),
]


@in_one_test(("rule", "old", "new"), CASES)
def test_each_rule_finds_its_change_and_no_other_does(rule, old, new):
    """One change is one finding, at the level of its rule, which can be changed or switched off."""
    changes = compare(old, new)
    also = {"when-reworded"} if rule == "reason-renamed" else set()
    assert [rule] == [change.rule for change in changes if change.rule not in also]
    assert RULES[rule].level == changes[0].level
    raised = compare(old, new, Rules({rule: "breaking"}))
    assert ("breaking", rule) == (raised[0].level, raised[0].rule)
    assert rule not in {change.rule for change in compare(old, new, Rules({rule: "off"}))}


def test_every_rule_has_a_case():
    """The table of rules has no rule that nothing finds."""
    assert set(RULES) == {rule for rule, *_ in CASES}


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({"reason-aded": "safe"}, "unknown rule 'reason-aded'; did you mean 'reason-added'?"),
        ({"zzz": "safe"}, "unknown rule 'zzz'"),
        ({"reason-added": "bad"}, "the level of reason-added must be one of breaking, risky, safe, off, not 'bad'"),
    ],
)
def test_unknown_rules_and_levels_are_refused(levels, message):
    """The message names the nearest rule, or the levels."""
    with pytest.raises(ValueError, match=re.escape(message) + "$"):
        Rules(levels)


def test_a_level_is_compared_by_its_gravity():
    """A breaking change is also at least safe."""
    assert at_least("breaking", "safe")
    assert not at_least("safe", "risky")


def test_the_gravest_changes_come_first():
    """The report begins with what breaks clients."""
    old = catalog(item(failure(), failure("full", **WORDS)))
    new = catalog(item(failure(recovery="Search first."), failure("busy", when="Busy.", recovery="Wait.")))
    assert ["breaking", "risky", "safe"] == [change.level for change in compare(old, new)]


def test_a_reason_of_another_code_is_not_a_renamed_one():
    """The same words under another code are another failure."""
    old, new = catalogs({}, {"reason": "gone", "name": "CONFLICT", "code": -32002})
    assert ["reason-removed", "reason-added"] == [change.rule for change in compare(old, new)]


def test_the_nearest_of_several_reasons_is_the_renamed_one():
    """Each reason is renamed once, to the one with the most similar words."""
    old = catalog(item(failure(), failure("gone", when="The article was deleted.", recovery="Look for another.")))
    new = catalog(
        item(failure("deleted", when="The article was deleted.", recovery="Look for another."), failure("nothing"))
    )
    renamed = {(change.old, change.new) for change in compare(old, new) if change.rule == "reason-renamed"}
    assert {("gone", "deleted"), ("no_match", "nothing")} == renamed


def test_what_was_unreadable_before_is_not_reported_as_new():
    """A contract that could not be read in full may have had the reasons."""
    old, new = catalog(item(contract="unknown")), catalog(item(failure()))
    assert ["contract-readable"] == [change.rule for change in compare(old, new)]
    assert ["contract-unreadable"] == [change.rule for change in compare(new, old)]


def test_a_renamed_server_keeps_its_tools():
    """The only server without a namesake is the other one; so is a tool that moved between servers."""
    former, other = catalog(item(failure()), name="old"), catalog(item(failure()), name="new")
    assert [] == compare(former, other)
    two = Catalog.of([*other.servers, ServerCatalog(name="more", items=(item(**OTHER),))])
    moved = Catalog.of(
        [ServerCatalog(name="new", items=(item(**OTHER),)), ServerCatalog(name="more", items=(item(failure()),))]
    )
    assert [] == compare(two, moved)


def test_nested_fields_and_new_objects():
    """A field inside an array has a path; the fields of a new object are not reported again."""
    inner = schema(["sku"], sku=TEXT)
    old = schema(["items"], items={"type": "array", "items": inner})
    changed = schema(["items"], items={"type": "array", "items": schema(["sku"], sku=WHOLE)})
    (change,) = compare(*catalogs({"dataSchema": old}, {"dataSchema": changed}))
    assert "items[].sku" in change.message
    (added,) = compare(*tools({"inputSchema": schema()}, {"inputSchema": schema(place=inner)}))
    assert ("argument-added", "the optional argument place is new") == (added.rule, added.message)
    wider = schema(place=schema(["sku", "at"], sku=TEXT, at=TEXT))
    (asked,) = compare(*tools({"inputSchema": schema(place=inner)}, {"inputSchema": wider}))
    assert "argument-required" == asked.rule


@pytest.mark.parametrize(
    ("old", "new", "rules"),
    [
        ({"$ref": "#/$defs/A"}, {"type": "string"}, ["data-schema-reworded"]),
        ({"anyOf": [TEXT, {"type": "null"}]}, TEXT, ["data-field-narrowed"]),
        ({"type": ["string", "null"]}, {"anyOf": [{"type": "null"}, TEXT]}, ["data-schema-reworded"]),
        ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, {"enum": ["a"]}, ["data-field-narrowed"]),
        ({"const": 1}, {"enum": [1, 2.5, None, [], {}, True]}, ["data-field-type"]),
        ({"type": 7}, {"type": [7]}, ["data-schema-changed"]),
        ({"enum": "a"}, {"enum": []}, ["data-schema-changed"]),
        ({"$ref": "https://example.com/a"}, {"$ref": "https://example.com/b"}, ["data-schema-changed"]),
        ({"anyOf": [TEXT, {}]}, TEXT, ["data-field-narrowed"]),
    ],
)
def test_types_are_compared_by_what_they_admit(old, new, rules):
    """A type is the same in any of its notations, and a reference is what it refers to."""
    definitions = {"$defs": {"A": TEXT}}
    pair = catalogs({"dataSchema": schema(id=old) | definitions}, {"dataSchema": schema(id=new) | definitions})
    assert rules == [change.rule for change in compare(*pair)]


def test_a_type_that_source_code_does_not_show_is_not_taken_for_any_type():
    """It is a change without a finer rule, since the type may be the same; pydantic's schemas say all."""
    rules = []
    for old, new in ((TEXT, {}), ({}, TEXT), (TEXT | {"title": "Id"}, {"title": "Id"})):
        pair = [
            catalog(item(failure(dataSchema=schema(id=field)), inputSchema=schema(id=field), defined=PLACE))
            for field in (old, new)
        ]
        rules.append(sorted(change.rule for change in compare(*pair)))
    unknown = ["data-schema-changed", "input-schema-changed"]
    assert [unknown, unknown, ["argument-widened", "data-field-type"]] == rules


def test_endless_and_huge_schemas_come_to_an_end():
    """A schema that contains itself, and one with many fields, are read to a bound."""
    endless = {
        "$ref": "#/$defs/A",
        "$defs": {"A": schema(a={"$ref": "#/$defs/A"}, b={"anyOf": [{"$ref": "#/$defs/A"}]})},
    }
    huge = schema(**{f"f{number}": TEXT for number in range(3_000)})
    begun = time.process_time()
    assert [] == compare(*catalogs({"dataSchema": endless}, {"dataSchema": endless}))
    assert [] == compare(*catalogs({"dataSchema": huge}, {"dataSchema": huge}))
    assert time.process_time() - begun < 10


def test_a_schema_that_is_too_large_to_read_has_still_changed():
    """A small schema whose references multiply is read to a bound, and another one is a change without a finer rule."""
    parts = {
        f"A{at}": {"anyOf": [{"$ref": f"#/$defs/A{(at + step) % 99}"} for step in range(1, 9)]}
        | schema(**{f"p{step}": {"$ref": f"#/$defs/A{(at * 3 + step) % 99}"} for step in range(4)})
        for at in range(99)
    }
    knotted = {"$defs": parts} | schema(**{f"f{at}": {"$ref": f"#/$defs/A{at}"} for at in range(99)})
    other = {**knotted, "$defs": {**parts, "B": {}}}
    begun = time.process_time()
    assert ["data-schema-changed"] == [
        difference.rule for difference in compare(*catalogs({"dataSchema": knotted}, {"dataSchema": other}))
    ]
    assert time.process_time() - begun < 10


def test_many_removed_and_added_reasons_come_to_an_end():
    """The comparison of words is bounded."""
    long = "word " * 900
    pair = [[failure(f"{side}{at}", when=f"{side} {at} {long}") for at in range(300)] for side in ("old", "new")]
    begun = time.process_time()
    assert compare(catalog(item(*pair[0])), catalog(item(*pair[1])))
    assert time.process_time() - begun < 20


TEXTS = st.text(max_size=4)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
SCHEMAS = st.none() | st.fixed_dictionaries(
    {
        "properties": JSON | st.dictionaries(st.sampled_from("abc"), JSON, max_size=2),
        "required": JSON,
        "$defs": JSON,
    },
    optional={"anyOf": JSON, "$ref": st.sampled_from(["#", "#/$defs/a", "x", ""]), "enum": JSON},
)
FAILURES = st.builds(
    failure,
    st.sampled_from(["a", "b", "", "\n|", "<b>"]),
    name=st.none() | st.sampled_from(["NOT_FOUND", "OURS", "<"]),
    code=st.none() | st.integers(),
    when=TEXTS,
    retry=st.sampled_from([None, NEVER, NOW, after(1)]),
    effects=st.sampled_from([None, "none", "partial", "unknown"]),
    dataSchema=SCHEMAS,
    example=st.none() | st.dictionaries(TEXTS, JSON, max_size=2),
)
ITEMS = st.builds(
    lambda errors, **plain: item(*errors, **plain),
    st.lists(FAILURES, max_size=3),
    kind=st.sampled_from(["tool", "resource", "prompt"]),
    name=st.sampled_from(["a", "b", "c\u202e", "::error::"]),
    description=TEXTS,
    contract=st.sampled_from(["declared", "none", "unknown"]),
    readOnly=st.none() | st.booleans(),
    inputSchema=SCHEMAS,
    defined=st.none() | st.just(PLACE),
    problems=st.lists(TEXTS, max_size=1),
)
CATALOGS = st.lists(st.builds(ServerCatalog, name=TEXTS, items=st.lists(ITEMS, max_size=3).map(tuple)), max_size=2).map(
    Catalog.of
)


@settings(max_examples=60)
@given(old=CATALOGS, new=CATALOGS)
def test_any_two_catalogs_can_be_compared_and_a_catalog_is_itself(old, new):
    """A catalog is read back as the same; nothing differs from itself; every report of any pair is made."""
    again = Catalog.loads(old.dumps())
    assert again.dumps() == old.dumps()
    assert [] == compare(old, again)
    changes = compare(old, new)
    for shape in SHAPES:
        assert render_changes(changes, shape).endswith("\n")
    json.loads(render_changes(changes, "json"))


ONES = {
    "title": TEXTS,
    "description": TEXTS,
    "contract": st.sampled_from(["declared", "none", "unknown"]),
    "readOnly": st.none() | st.booleans(),
    "destructive": st.none() | st.booleans(),
    "inputSchema": SCHEMAS,
    "errors": st.lists(FAILURES.map(lambda error: error.model_dump(by_alias=True)), max_size=2),
}
PARTS = {
    "reason": TEXTS,
    "code": st.none() | st.integers(),
    "name": st.none() | TEXTS,
    "when": TEXTS,
    "recovery": TEXTS,
    "retry": st.sampled_from([None, NEVER, NOW, after(1), after(2)]),
    "effects": st.sampled_from([None, "none", "partial", "unknown"]),
    "strategy": st.sampled_from([None, "retry_later", "check_input"]),
    "actions": st.lists(TEXTS, max_size=2),
    "fallbackTool": st.none() | TEXTS,
    "correctiveParams": st.none() | st.dictionaries(TEXTS, JSON, max_size=2),
    "userMessage": st.none() | TEXTS,
    "dataSchema": SCHEMAS,
    "example": st.none() | st.dictionaries(TEXTS, JSON, max_size=2),
}


@st.composite
def places_in(draw, value):
    """The keys to a value somewhere in `value`."""
    keys = []
    while isinstance(value, dict | list) and value and (not keys or draw(st.booleans())):
        keys.append(draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value)))))
        value = value[keys[-1]]
    return keys


@st.composite
def edits(draw):
    """A tool, and the same tool with another value in one place."""
    plain = json.loads(draw(ITEMS).model_dump_json(by_alias=True))
    edited = json.loads(json.dumps(plain))
    owner, parts = edited, ONES
    if edited["errors"] and draw(st.booleans()):
        owner, parts = draw(st.sampled_from(edited["errors"])), PARTS
    key = draw(st.sampled_from(sorted(parts)))
    keys = draw(places_in(owner[key])) if key in {"inputSchema", "dataSchema", "example"} else []
    if keys:
        for step in [key, *keys[:-1]]:
            owner = owner[step]
        owner[keys[-1]] = draw(JSON | st.sampled_from([TEXT, NUMBER, items(TEXT), {"$ref": "#"}]))
    else:
        owner[key] = draw(parts[key])
    return plain, edited


@settings(max_examples=150)
@given(edits())
def test_any_other_value_is_at_least_one_change(pair):
    """Two tools that differ in any value that clients see have a change between them."""
    old, new = (Item.model_validate(plain) for plain in pair)
    both = (
        Catalog(servers=(ServerCatalog(name="s", items=(old,)),)),
        Catalog(servers=(ServerCatalog(name="s", items=(new,)),)),
    )
    for version in (old, new):
        assume(len({error.reason for error in version.errors}) == len(version.errors))  # else it is a broken file
    assert (Catalog.of(both[0].servers).dumps() != Catalog.of(both[1].servers).dumps()) == bool(compare(*both))


def change(**values):
    plain = {"level": "risky", "rule": "reason-added", "server": "s", "kind": "tool", "name": "fetch", "reason": None}
    return Change(**{**plain, "message": "the reason is new", **values})


def test_the_reports():
    """Text, JSON, Markdown and annotations say the same; the place is that of the newer source."""
    place = Place(path="a,b.py", function="fetch", line=7)
    changes = [
        change(level="breaking", rule="when-reworded", reason="full", old="a", new="b" * 200, place=place),
        change(),
    ]
    text = render_changes(changes, "text")
    assert "breaking  tool fetch, full: the reason is new  [when-reworded]" in text
    assert "…" in text
    assert "2 changes: 1 breaking, 1 risky." in text
    assert {"breaking": 1, "risky": 1, "safe": 0} == json.loads(render_changes(changes, "json"))["summary"]
    assert 7 == json.loads(render_changes(changes, "json"))["changes"][0]["line"]
    markdown = render_changes(changes, "md")
    assert "### Breaking" in markdown
    assert "### Safe" not in markdown
    github = render_changes(changes, "github").splitlines()
    expected = "::error file=a%2Cb.py,line=7,title=breaking%3A when-reworded::tool fetch, full: the reason is new"
    assert expected == github[0]
    assert "the contracts are the same" == summary([])
    several = [change(), change(server="other")]
    assert "other: tool fetch" in render_changes(several, "text")
    assert "| server |" in render_changes(several, "md")
    assert "file=x.py,title" in render_changes([change(place=Place(path="x.py"))], "github")
    assert '"path": "x.py"' in render_changes([change(place=Place(path="x.py"))], "json")
    with pytest.raises(ValueError, match="unknown format"):
        render_changes([], "pdf")


def test_a_foreign_name_begins_no_line_and_no_command():
    """Line feeds, workflow commands, table cells, links and mentions in names stay text."""
    name = "x\n::error::boom | <script> [a](b) @all %0A"
    changes = [change(name=name, message=name, reason=name)]
    assert "\n::error::boom" not in render_changes(changes, "github")
    assert "%250A" in render_changes(changes, "github")
    markdown = render_changes(changes, "md")
    # In a code span nothing is Markdown; elsewhere every special character is escaped.
    plain = re.sub(r"(`+).*?\1", "", markdown)
    assert "<script>" not in plain
    assert "[a]" not in plain
    assert "@" not in plain
    assert 5 == len([line for line in markdown.splitlines() if line.startswith(("|", "##"))])


def test_of_two_likely_names_the_likest_wins():
    """A tool is renamed once; the other one was removed."""
    old = catalog(
        item(name="a", description="Fetch many articles."), item(name="b", description="Fetch many articles!")
    )
    new = catalog(item(name="c", description="Fetch many articles."))
    assert {"tool-removed", "tool-renamed"} == {change.rule for change in compare(old, new)}


def test_values_too_deep_for_json_are_compared():
    """They cannot come from a file, and are no crash either."""
    deep = current = {}
    for _ in range(100_000):
        current["a"] = current = {}
    other = {"a": deep}
    assert "example-changed" in {
        change.rule for change in compare(*catalogs({"example": {"a": 1}}, {"example": other}))
    }


def test_a_code_with_another_number_is_shown_with_it():
    """The name alone would look like no change."""
    old, new = catalog(item(failure())), catalog(item(failure(code=7)))
    (difference,) = compare(old, new)
    assert "the code changed from NOT_FOUND (-32001) to NOT_FOUND (7)" == difference.message


def test_a_tool_with_other_reasons_is_another_tool():
    """Its description alone does not make it a renamed one."""
    old, new = catalog(item(failure("a"), name="get")), catalog(item(failure("b"), name="find"))
    assert {"tool-removed", "tool-added"} == {change.rule for change in compare(old, new)}


def test_a_schema_is_read_up_to_a_bound():
    """Neither thousands of fields nor unions in unions take long."""
    assert MAX_FIELDS == len(fields_of({"properties": {str(number): {} for number in range(MAX_FIELDS + 10)}}))
    union = {"type": "string"}
    for _ in range(20):
        union = {"anyOf": [union]}
    assert None is fields_of({"properties": {"a": union}})["a"].types
    twice = {"properties": {"a": {"type": "string"}}, "anyOf": [{"properties": {"a": {"type": "null"}}}]}
    assert {"string"} == fields_of(twice)["a"].types
