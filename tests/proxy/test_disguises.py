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
    (structured({"success": False}), "The tool says that it failed, and not why."),
    (structured({"success": False, "error": "no such city", "data": None}), "no such city"),
    (structured({"ok": False, "message": "no such city"}), "no such city"),
    (structured({"status": "error", "message": "no such city"}), "no such city"),
    (structured({"success": False, "errors": ["one", "two"]}), "one; two"),
    (structured({"error": "no such city", "city": "Atlantis"}), "no such city"),
    (text('{"error": "no such city"}'), "no such city"),
    ({**text("{}"), "structuredContent": {"result": '{"error": "no such city"}'}}, "no such city"),
]


@pytest.mark.parametrize(("result", "words"), FAILURES)
def test_a_certain_failure_is_one(result: dict[str, Any], words: str) -> None:
    """The words of the failure are found."""
    found = disguised_failure(result, "get_weather", {"city": "Atlantis"}, has_error_field=False)
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
    assert disguised_failure(result, "get_weather", {"city": "Atlantis"}, has_error_field=False) is None


@pytest.mark.parametrize("tool", ["read_file", "catLog", "echo", "run-command", "get_logs"])
def test_tools_that_show_texts_of_others_are_believed(tool: str) -> None:
    """A file may consist of the line of an error, or of an object with one."""
    for result in (text("Error: disk full"), text('{"error": "disk full"}')):
        assert disguised_failure(result, tool, {}, has_error_field=False) is None


def test_a_tool_that_reads_rows_shows_no_texts() -> None:
    """`read_query` has `read` in its name, and answers from a table."""
    assert disguised_failure(text("Error: only SELECT"), "read_query", {}, has_error_field=False) is not None


def test_a_declared_field_error_is_a_result() -> None:
    """A tool whose output schema has `error` may succeed with one; a flag says otherwise."""
    assert disguised_failure(structured({"error": "x"}), "check", {}, has_error_field=True) is None
    assert (
        disguised_failure(structured({"success": False, "error": "x"}), "check", {}, has_error_field=True) is not None
    )
