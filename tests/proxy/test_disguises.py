"""Which successful results are definitely failures, and which are not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpcore.proxy.disguises import disguised_failure


def text(*texts: str) -> dict[str, Any]:
    """Return a result of texts."""
    return {"content": [{"type": "text", "text": one} for one in texts]}


def structured(value: Any) -> dict[str, Any]:
    """Return a result with structured content, and its text."""
    return {**text(json.dumps(value)), "structuredContent": value}


FAILURES = [
    (text("Error: no such city"), "Error: no such city"),
    (text("ERROR: no such city"), "ERROR: no such city"),
    (text("❌ Error: no such city"), "❌ Error: no such city"),
    (text("Error fetching weather: no such city"), "Error fetching weather: no such city"),
    (text("Error: boom\n    at f (/srv/a.js:1:2)"), "Error: boom\n    at f (/srv/a.js:1:2)"),
    (text("Database error: no such table: x"), "Database error: no such table: x"),
    (
        text("Error: no table\nLINE 1: SELECT x\n               ^"),
        "Error: no table\nLINE 1: SELECT x\n               ^",
    ),
    ({**text("Error: x"), "structuredContent": {"result": "Error: x"}}, "Error: x"),
    (structured({"error": "no such city"}), "no such city"),
    (structured({"error": {"code": "nf", "message": "no such city"}}), "no such city"),
    (structured({"success": False, "error": "no such city", "data": None}), "no such city"),
    (structured({"ok": False, "message": "no such city"}), "no such city"),
    (structured({"status": "error", "message": "no such city"}), "no such city"),
    (structured({"success": False, "error": ["one", "two"]}), "one; two"),
    (structured({"isError": True, "message": "no such city"}), "no such city"),
    (structured({"error": "no such city", "city": "Atlantis"}), "no such city"),
    (text('{"error": "no such city"}'), "no such city"),
    ({**text("{}"), "structuredContent": {"result": '{"error": "no such city"}'}}, "no such city"),
]


@pytest.mark.parametrize(("result", "words"), FAILURES)
def test_a_certain_failure_is_one(result: dict[str, Any], words: str) -> None:
    """The words of the failure are found."""
    found = disguised_failure(result, "get_weather", {"city": "Atlantis"})
    assert found is not None
    assert words == found[0]


SUCCESSES = [
    text("Error: no such city", "second block"),
    text("The last line says\nError: no such city"),
    text("Errors: 0"),
    text("Error handling is a topic"),
    text("Error: " + "x" * 5_000),
    text("Error: Atlantis"),
    text("[]"),
    {"content": [{"type": "image", "data": "", "mimeType": "image/png"}]},
    structured({"error": None, "value": 1}),
    structured({"error": "", "value": 1}),
    structured({"error": "E501", "line": 3}),
    structured({"errors": ["E501 line too long"]}),
    structured({"success": True, "error": "old"}),
    structured({"success": False, "passed": 3, "failures": 1}),
    structured({"success": False}),
    structured({"ok": False, "reason": "no digit"}),
    structured({"status": "error", "details": "the database is down"}),
    structured({"success": False, "errors": ["line 1"]}),
    structured({"status": "failed", "job": "nightly"}),
    structured({"message": "hello"}),
    structured({"result": 3}),
    structured([1]),
    {"content": "broken"},
    {"content": [None]},
    {},
]


@pytest.mark.parametrize("result", SUCCESSES)
def test_what_may_be_a_success_stays_one(result: dict[str, Any]) -> None:
    """Other facts, other texts, and the words of the caller make a failure uncertain."""
    assert disguised_failure(result, "get_weather", {"city": "Atlantis"}) is None


def test_the_words_of_the_caller_are_found_at_any_depth() -> None:
    """An answer that repeats them is not about a failure; numbers and deep nests have no words."""
    nested: Any = "deep"
    for _ in range(8):
        nested = [nested]
    arguments = {"limit": 3, "filter": {"names": ["Atlantis"]}, "nested": nested}
    assert disguised_failure(text("Error: Atlantis"), "spell", arguments) is None
    assert disguised_failure(text("Error: deep"), "spell", arguments) is not None


@pytest.mark.parametrize("tool", ["read_file", "catLog", "echo", "run-command", "get_logs"])
def test_tools_that_show_texts_of_others_are_believed(tool: str) -> None:
    """A file may consist of the line of an error, or of an object with one."""
    for result in (text("Error: disk full"), text('{"error": "disk full"}')):
        assert disguised_failure(result, tool, {}) is None


def test_a_tool_that_reads_rows_shows_no_texts() -> None:
    """`read_query` has `read` in its name, and answers from a table."""
    assert disguised_failure(text("Error: only SELECT"), "read_query", {}) is not None


def test_declared_fields_are_results() -> None:
    """A tool whose output schema has `error`, a flag or a status may succeed with one; a flag with an error says more."""
    for value, fields in (
        ({"error": "x"}, {"error"}),
        ({"ok": False}, {"ok"}),
        ({"ok": False, "message": "no digit"}, {"ok", "message"}),
        ({"ok": False, "error": ""}, {"ok", "error"}),
        ({"status": "error", "message": "Build 12 failed"}, {"status", "message"}),
        ({"status": "error", "error": "Build 12 failed"}, {"status", "error"}),
        ({"success": False, "errors": ["line 1"]}, {"success", "errors"}),
    ):
        assert disguised_failure(structured(value), "check", {}, declared=fields) is None
    for value, fields in (
        ({"success": False, "error": "x"}, {"success", "error"}),
        ({"success": False, "error": {"code": 1, "message": "x"}}, {"success"}),
        ({"success": False, "status": "error", "error": "x"}, {"status"}),
        ({"success": False, "message": "x"}, {"city"}),
    ):
        found = disguised_failure(structured(value), "check", {}, declared=fields)
        assert found is not None
        assert "x" == found[0]


@pytest.mark.parametrize(
    "said",
    [
        "Error rate: 0.02 %",
        "Error budget: 99.95 % left",
        "Error count: 0",
        "Error handling guide: see chapter 4",
        "Error handling guide\nUse try.",
        "Error handling: see chapter 4",
        "Error reporting: enabled",
        "Error tracking for servers: add a DSN",
        "Error logging setup: done",
        "Error processing guide: see chapter 4",
        "Error parsing: a survey",
        "Error code: E42 means that the disk is full",
        "Error 404: the page was not found",
        "Error margin: 3 cm",
        "Error in measurement: ±3 °C",
        "Error (noun): a mistake",
        "API error rate: 3 %",
        "Error: 0",
        "Error: none",
    ],
)
def test_titles_and_quantities_are_no_failures(said: str) -> None:
    """Only `Error:`, and what a program was doing when the error came up, begin a failure."""
    assert disguised_failure(text(said), "get_metrics", {}) is None


@pytest.mark.parametrize(
    "said",
    [
        "Error: 404 Not Found",
        "Error fetching https://a.example/: 404",
        "Error executing tool lend: no such book",
        "Error listing canaries: access denied",
        "Error parsing the answer: unexpected end",
        "Unexpected error calling the API: no route",
        "Error in lend: no such book",
        "Error while connecting: refused",
        "Error occurred: no such book",
        "Error from the API: no such book",
    ],
)
def test_what_programs_write_is_a_failure(said: str) -> None:
    """The verbs are those of public servers."""
    assert disguised_failure(text(said), "get_metrics", {}) == (said, None)


TRACE = """Traceback (most recent call last):
  File "/srv/app.py", line 3, in lend
    raise ValueError(name)
          ^^^^^^^^^^^^^^^^
app.errors.Missing: no such book"""
CHAIN = "\n\nDuring handling of the above exception, another exception occurred:\n\n"


def test_a_traceback_alone_is_a_failure() -> None:
    """A program that writes its traceback as the answer has crashed; a tool that runs others has not."""
    for said in (
        TRACE,
        TRACE.replace("\n", "\r\n"),
        f"{TRACE}{CHAIN}{TRACE}\n",
        f"{TRACE}\n[SQL: SELECT 1]\nfield.name\n  Input should be a string",
    ):
        assert disguised_failure(text(said), "lend", {}) == (said.strip(), None)
        assert disguised_failure(text(said), "run_python", {}) is None
        assert disguised_failure(text(said), "explain", {"trace": f"{said}\n"}) is None
    for said in (
        f"{TRACE}\n\nThe name is not in the list.",
        f"{TRACE}\nThe name is not in the list.",
        f"The log says:\n{TRACE}",
        "Traceback (most recent call last):",
        f"{TRACE}{CHAIN}What comes next is unknown.",
        TRACE + "x" * 20_000,
    ):
        assert disguised_failure(text(said), "lend", {}) is None
