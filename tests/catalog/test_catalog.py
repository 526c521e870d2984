"""The catalog: what is read of listings, and the formats that it is written in."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from jsonschema import Draft202012Validator

from mcpcore import Contract, ErrorCode, FailureMode
from mcpcore.catalog import Catalog, CatalogError, ServerCatalog, item_of_listing, json_schema, render
from mcpcore.catalog.items import item_of_source, servers_of_source, with_source
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from tests.catalog.making import catalog, failure, item

pytestmark = pytest.mark.no_server

PLACES = [{"path": "b.py", "function": "f", "line": 9}, {"path": "a.py", "function": "f", "through": ["g"], "line": 2}]
FULL = catalog(
    item(
        failure(
            "full",
            retry={"kind": "retryable_after_ms", "afterMs": 1500},
            effects="partial",
            strategy="retry_later",
            actions=["wait"],
            fallbackTool="search",
            userMessage="Please wait.",
            correctiveParams={"limit": 1},
            example={"id": "1"},
            dataSchema={
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "kind": {"enum": ["a", 1, None]},
                    "items": {"type": "array", "items": {"type": "integer"}},
                    "either": {"anyOf": [{"type": "number"}, {"type": "null"}]},
                    "both": {"type": ["boolean", "object"]},
                    "odd": {"const": 1.5},
                    "any": {},
                    "class": {"type": "array"},
                },
                "required": ["id"],
            },
            raised=PLACES,
        ),
        failure(retry={"kind": "retryable_immediate"}),
        readOnly=True,
        idempotent=True,
        failures=["returned", "raised"],
        undeclared=[{"name": "TIMEOUT", "reason": "slow", "raised": PLACES}, {"type": "KeyError"}],
        returned=PLACES,
        defined=PLACES[0],
        problems=["errors[1] is not an object"],
    ),
    item(failure("b", name=None, code=77, retry=None), kind="resource", name="doc://{id}", description=""),
    item(kind="prompt", name="2 class", contract="none"),
)
HOSTILE = "x\n# </script><script>window.pwned=1</script>\"'><img src=x onerror=window.pwned=1> | `a` ](javascript:1) \u202e \0"
WILD = Catalog.of(
    [
        ServerCatalog(
            name=HOSTILE,
            items=(
                item(
                    failure(
                        HOSTILE, name=HOSTILE, code=None, when=HOSTILE, recovery=HOSTILE, example={HOSTILE: HOSTILE}
                    ),
                    name=HOSTILE,
                    description=HOSTILE,
                    problems=[HOSTILE],
                    undeclared=[{"type": HOSTILE, "raised": [{"path": HOSTILE}]}],
                ),
            ),
            problems=(HOSTILE,),
        ),
        ServerCatalog(name="empty"),
    ]
)


def test_the_json_fits_its_schema_and_is_read_back():
    """The JSON is valid by the published schema, and is read as the same catalog without its lines."""
    for made in (FULL, WILD, Catalog()):
        text = made.dumps()
        Draft202012Validator(json_schema()).validate(json.loads(text))
        assert text == Catalog.loads(text).dumps()
    assert '"line"' not in FULL.dumps()


def test_the_order_of_what_a_server_lists_does_not_matter():
    """Items, reasons, places and the keys of schemas are sorted; a second item of the same name is left out."""
    errors = failure("a"), failure("b", dataSchema={"b": 1, "a": 2}), failure("b", when="Again.")
    first = catalog(item(*errors), item(name="get"))
    other = catalog(item(name="get"), item(failure("b", dataSchema={"a": 2, "b": 1}), failure("a")))
    assert first.dumps() == other.dumps()
    assert ("the tool fetch is listed twice; the first is kept",) == catalog(item(), item()).servers[0].problems


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ('{"catalog": NaN}', "NaN is not a number of JSON"),
        ("[]", "it is not a catalog: it holds a list"),
        ("{}", 'it has no key "catalog"'),
        ('{"catalog": 2}', "another version of the format"),
        ('{"catalog": 1, "servers": [{"name": 1}]}', "servers.0.name: Input should be a valid string"),
        ('{"catalog": 1, "extra": 1}', "extra: Extra inputs are not permitted"),
    ],
)
def test_what_is_no_catalog_is_refused_with_its_place(text, message):
    """A message says what is wrong and where."""
    with pytest.raises(CatalogError, match=re.escape(message)):
        Catalog.loads(text, "it")


def test_a_catalog_is_read_from_a_file(tmp_path, monkeypatch):
    """A missing and a huge file are refused."""
    path = tmp_path / "lock.json"
    with pytest.raises(CatalogError, match="cannot be read: No such file"):
        Catalog.read(path)
    path.write_text(FULL.dumps(), encoding="utf-8")
    assert FULL.dumps() == Catalog.read(path).dumps()
    monkeypatch.setattr("mcpcore.catalog.model.MAX_FILE", 10)
    with pytest.raises(CatalogError, match="is larger than 10 bytes"):
        Catalog.read(path)


def test_half_of_a_surrogate_pair_and_deep_json():
    """A string that UTF-8 does not have is refused or kept; a value too deep for JSON is refused."""
    deep = current = {}
    for _ in range(100_000):
        current["a"] = current = {}
    with pytest.raises(CatalogError, match="cannot be written as JSON"):
        catalog(item(failure(example=deep))).dumps()
    assert "\ud800" in Catalog.loads(FULL.dumps().replace('"id": "1"', '"id": "\\ud800"')).dumps()


ENTRY = {"reason": "gone", "name": "NOT_FOUND", "code": -32001, "when": "w", "recovery": "r"}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (7, "errors[0] is not an object"),
        ({}, "errors[0] has no reason"),
        ({**ENTRY, "reason": 7}, "errors[0] has no reason"),
        ({**ENTRY, "reason": "a" * 300}, "errors[0]: the reason is longer than 200 characters, or not printable"),
        ({**ENTRY, "name": 7}, "errors[0] (gone): the name of the code is not a string"),
        ({**ENTRY, "code": "x"}, "errors[0] (gone): the code is not an integer"),
        ({**ENTRY, "name": None, "code": None}, "errors[0] (gone) has no code"),
        ({**ENTRY, "code": 5}, "errors[0] (gone): NOT_FOUND has the number -32001, not 5"),
        ({**ENTRY, "name": "OURS"}, "errors[0] (gone): -32001 is the number of NOT_FOUND, not of OURS"),
        ({**ENTRY, "retry": "soon"}, "errors[0] (gone): the retry advice has an unknown form"),
        ({**ENTRY, "effects": "some"}, "errors[0] (gone): the effects must be none, partial or unknown"),
        ({**ENTRY, "when": None}, "errors[0] (gone): when is missing"),
        ({**ENTRY, "recovery": 1}, "errors[0] (gone): recovery is not a string"),
        ({**ENTRY, "dataSchema": []}, "errors[0] (gone): dataSchema is not an object"),
        (
            {**ENTRY, "example": {"a": "b" * 200_000}},
            "errors[0] (gone): example is larger than 100000 characters and left out",
        ),
    ],
)
def test_a_broken_entry_of_a_server_is_marked(entry, problem):
    """No entry of a server is a crash: the broken part is named, and the rest is read."""
    read = item_of_listing(
        "tool", {"name": "fetch", "_meta": {CONTRACT_META_KEY: [entry, {**ENTRY, "reason": "fine"}]}}
    )
    assert (problem,) == read.problems
    assert "fine" in [error.reason for error in read.errors]
    assert ("declared" if len(read.errors) == 2 else "unknown") == read.contract


def test_other_broken_listings():
    """An entry without a name is left out; a contract that is no list, is too long or repeats a reason is marked."""
    assert item_of_listing("tool", {"name": 7}) is None
    assert item_of_listing("tool", object()) is None
    assert item_of_listing("resource", {"uriTemplate": "a://{b}"}).name == "a://{b}"
    long = item_of_listing("tool", {"name": "n" * 2_000, "_meta": {CONTRACT_META_KEY: [ENTRY] * 501}, "annotations": 7})
    assert 1_000 == len(long.name)
    assert "unknown" == long.contract
    assert "the contract has 501 entries, of which 500 are read" in long.problems
    assert "errors[1]: the reason 'gone' is declared twice; the first is kept" in long.problems
    odd = item_of_listing("tool", {"name": "n", "_meta": {CONTRACT_META_KEY: {}}, "annotations": {"readOnlyHint": 1}})
    assert ("dev.mcpcore/errors is not a list",) == odd.problems
    assert odd.read_only is None


def test_an_unknown_code_is_kept_and_a_known_one_completed():
    """A code of another application keeps its name and number; a number alone gets the name of the code."""
    entries = [
        {**ENTRY, "name": "OURS", "code": 7},
        {**ENTRY, "reason": "b", "name": None},
        {**ENTRY, "reason": "c", "code": None},
    ]
    read = item_of_listing("tool", {"name": "n", "_meta": {CONTRACT_META_KEY: entries}})
    assert [("OURS", 7), ("NOT_FOUND", -32001), ("NOT_FOUND", -32001)] == [(e.name, e.code) for e in read.errors]
    assert [None, "client", "client"] == [error.category for error in read.errors]


def test_the_declaration_itself_says_more():
    """Of a server in this process, strategy, actions, user message and example are known too."""
    mode = FailureMode(
        "gone", ErrorCode.NOT_FOUND, when="w", recovery="r", strategy="check_input", actions=["search"],
        user_message="Nothing.", example={"id": "1"},
    )  # fmt: skip
    listed = {"name": "n", "_meta": {CONTRACT_META_KEY: [mode.to_json(), ENTRY | {"reason": "late"}]}}
    gone, late = item_of_listing("tool", listed, contract=Contract([mode])).errors
    assert ("check_input", ("search",), "Nothing.", {"id": "1"}) == (
        gone.strategy, gone.actions, gone.user_message, gone.example
    )  # fmt: skip
    assert late.example is None


def test_source_code_adds_places_to_a_listing():
    """The places come from the source; what the listing says stays."""
    source = item_of_source(
        {
            "kind": "tool", "name": "fetch", "errors": [{"reason": "full", "name": "CONFLICT", "raised": PLACES}],
            "undeclared": [{"reason": "full"}, {"reason": "slow"}], "failures": ["returned"], "defined": PLACES[0],
        }
    )  # fmt: skip
    merged = with_source(item(failure("full"), failure("late"), failures=["raised"]), source)
    assert [2, 0] == [len(error.raised) for error in merged.errors]
    assert ["slow"] == [entry.reason for entry in merged.undeclared]
    assert {"raised", "returned"} == set(merged.failures)


def test_source_code_with_the_same_name_twice_has_several_servers():
    """Without a name that is taken twice, all tools are on one server; else those of each file are."""
    assert ["src"] == [server.name for server in servers_of_source("src", [(item(), "a.py")])]
    twice = servers_of_source("src", [(item(), "a.py"), (item(), "b.py")], ["c.py: it cannot be read"])
    assert ["a.py", "b.py", "src"] == [server.name for server in twice]
    assert 2 == len(servers_of_source("src", [(item(), "a.py"), (item(), "b.py")]))


def test_the_markdown():
    """Each failure mode is a row, and its details follow."""
    text = render(FULL, "md")
    for part in (
        "1 tool, 1 resource, 1 prompt; 3 failure modes.",
        "| `full` | `NOT_FOUND` |",
        "retry after 1.5 s | a part of it took effect",
        "- Fallback tool: search",
        "`a.py:2` (g &gt; f), `b.py:9` (f)",
        "It declares no contract.",
        "It is read-only and idempotent.",
        "- `KeyError`",
        "**Problem:** errors\\[1\\] is not an object",
    ):
        assert part in text


class Page(HTMLParser):
    """The elements and the attributes of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.ids, self.links, self.attributes = [], [], [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(value)
            if name == "href":
                self.links.append(value)


def test_a_hostile_text_is_only_text():
    """No text ends the Markdown around it, or becomes an element or an attribute of the page."""
    page = Page()
    page.feed(render(WILD, "html"))
    assert 1 == page.tags.count("script")
    assert not {"img", "iframe", "object"}.intersection(page.tags)
    assert not {name for name in page.attributes if name.startswith("on")}
    assert len(page.ids) == len(set(page.ids))
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    markdown = render(WILD, "md")
    assert not [line for line in markdown.splitlines() if line.startswith(("# <", "</"))]
    assert "<script" not in re.sub(r"```.*?```|(`+)(?!`).*?(?<!`)\1(?!`)", "", markdown, flags=re.DOTALL)


def test_ids_are_stable_and_told_apart():
    """The id of a reason is readable; names that would have the same id get different ones."""
    text = render(catalog(item(failure("a b"), failure("a-b"))), "html")
    page = Page()
    page.feed(text)
    assert "articles/tool/fetch/a-b" in page.ids
    assert 2 == len([name for name in page.ids if re.fullmatch(r"articles/tool/fetch/a-b(\.[0-9a-f]{8})?", name)])


def test_the_python_module_is_strictly_typed_and_needs_nothing(tmp_path):
    """It is imported by a bare interpreter; a wrong reason is a type error."""
    path = tmp_path / "failures.py"
    odd = (
        item(failure("class"), failure("Class"), name="class"),
        item(failure("a"), name="1x"),
        item(failure("a"), name="né"),
    )
    same = ServerCatalog(name="other", items=(item(failure("late"), failure("full", dataSchema={"properties": []})),))
    made = Catalog.of([*FULL.servers, *catalog(*odd, name="odd").servers, same, *WILD.servers])
    path.write_text(render(made, "python"), encoding="utf-8", errors="backslashreplace")
    use = tmp_path / "use.py"
    use.write_text(
        "from failures import FAILURES, FETCH, FETCH_FULL, FetchFullData, FetchReason\n"
        "good: FetchReason = FETCH_FULL\n"
        "data: FetchFullData = {'id': '1', 'either': None}\n"
        "print(FAILURES[FETCH][good].after_ms)\n"
        "wrong: FetchReason = 'typo'\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = [{str(tmp_path)!r}]; import use"],
                          capture_output=True, text=True, check=False, timeout=60)  # fmt: skip
    assert ("1500\n", "") == (done.stdout, done.stderr)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "use.py"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=tmp_path)
    assert checked.stdout.startswith("use.py:5: error: Incompatible types in assignment")
    assert "Found 1 error in 1 file" in checked.stdout


def test_the_python_module_of_nothing_is_valid():
    """Without failure modes the module is empty, but valid."""
    ast.parse(render(catalog(item(contract="none")), "python"))


def test_an_unknown_format_is_refused():
    """The message lists the formats."""
    with pytest.raises(ValueError, match="choose one of md, json, html, python"):
        render(FULL, "pdf")


def test_the_page_of_a_plain_failure_and_of_a_full_one():
    """Details that are missing have no row."""
    plain = render(catalog(item(failure(when="", recovery="", retry=None), defined=PLACES[0], returned=PLACES)), "html")
    assert "<dt>When</dt>" not in plain
    assert "Returned as data" in plain
    full = render(FULL, "html")
    for title in ("When", "Recovery", "Effects", "Strategy", "Corrected call", "Data", "Example", "Raised at"):
        assert f"<dt>{title}</dt>" in full
    assert "Problem: errors[1] is not an object" in full


def test_a_type_without_an_end_is_any():
    """The Python module of a schema that contains itself is finite, and no long type is cut to a narrower one."""
    endless = {
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"type": "array", "items": {"$ref": "#/$defs/A"}}},
    }
    assert "list[list[list[list[list[list[Any]]]]]]" in render(catalog(item(failure(dataSchema=endless))), "python")
    for count, wide in (
        (20, "{\n    'a': NotRequired[Literal[0] | Literal[1]"),
        (21, "{\n    'a': NotRequired[Any],\n}"),
    ):
        union = {"properties": {"a": {"anyOf": [{"const": number} for number in range(count)]}}}
        assert f"'FetchNoMatchData', {wide}" in render(catalog(item(failure(dataSchema=union))), "python")
    many = {"properties": {f"k{number}": {} for number in range(201)}}
    assert "FetchNoMatchData: TypeAlias = dict[" in render(catalog(item(failure(dataSchema=many))), "python")
