"""Which successful results are definitely failures, which are only suspected, and that no success is changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcpcore.proxy.disguises import disguised_failure, suspected_failure
from tests.answers import envelope_of
from tests.proxy.test_conversation import respond, talk
from tests.tables import in_one_test

CASES = Path(__file__).parent / "cases" / "successes.json"


def text(*texts: str) -> dict[str, Any]:
    """Return a result of texts."""
    return {"content": [{"type": "text", "text": line} for line in texts]}


def structured(value: Any) -> dict[str, Any]:
    """Return a result with structured content, and its text."""
    return {**text(json.dumps(value)), "structuredContent": value}


ERROR = {"code": "nf", "message": "no such city"}
FAILURES = [
    structured({"error": ERROR}),
    structured({"error": ERROR, "data": None}),
    structured({"error": {"type": "quota", "message": "no such city", "param": None}}),
    structured({"error": "no such city", "code": "NOT_FOUND"}),
    structured({"error": "no such city", "error_type": "LookupError"}),
    structured({"ok": False, "error": ERROR}),
    structured({"success": False, "error": ERROR}),
    structured({"isError": True, "message": "no such city"}),
    structured({"is_error": True, "content": [{"type": "text", "text": "no such city"}]}),
    structured({"ok": True, "data": {"ok": False, "error": {"code": "ERR_NOT_FOUND", "message": "no such city"}}}),
    structured({"code": "NOT_FOUND", "message": "no such city", "retry": {"kind": "not_retryable"}}),
    text(json.dumps({"error": ERROR})),
    {**text("{}"), "structuredContent": {"result": json.dumps({"error": ERROR})}},
    {**text("no such city"), "is_error": True},
]


@pytest.mark.parametrize("result", FAILURES)
def test_a_certain_failure_is_one(result: dict[str, Any]) -> None:
    """Its structure says so: a flag of the protocol, a dialect, or an error with its own type or code and nothing else."""
    envelope = envelope_of(respond(talk(name="get_weather", arguments={"city": "Atlantis"}), result=result))
    assert "no such city" == envelope.message


SUSPECTED = [
    text("Error: no such city"),
    text("❌ Error fetching weather: no such city"),
    text("Database error: no such table: x"),
    text("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'x'"),
    text("Error: no such city", "second block"),
    {**text("Error: x"), "structuredContent": {"result": "Error: x"}},
    structured({"error": "no such city"}),
    structured({"error": ["one", "two"], "success": False}),
    structured({"ok": False, "message": "no such city"}),
    structured({"ok": False}),
    structured({"status": "error", "message": "no such city"}),
    structured({"error": {"code": 0, "message": "no such city"}}),
    structured({"error": {"message": "no such city"}}),
    structured({"error": ERROR, "city": "Rome"}),
    structured({"isError": True}),
]


@in_one_test("result", SUSPECTED)
def test_words_and_flags_are_only_suspected(result: dict[str, Any]) -> None:
    """They may be the answer to what was asked, so the result passes unchanged, and is counted."""
    conversation = talk(name="get_weather", arguments={"city": "Atlantis"})
    assert result == respond(conversation, result=result)["result"]
    statistics = conversation.answers.statistics
    assert ({"get_weather": 1}, {}) == (statistics.suspected, statistics.failures)


TITLES = (
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
)

SUCCESSES = [
    *map(text, TITLES),
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
    structured({"code": 200, "error": "none"}),
    structured({"error": {"code": 200, "message": "OK"}}),
    structured({"type": "warning", "error": "ENOENT", "message": "no such file or directory"}),
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


@in_one_test("result", SUCCESSES)
def test_what_may_be_a_success_stays_one(result: dict[str, Any]) -> None:
    """Other facts, other texts, and the words of the caller make a failure uncertain."""
    assert disguised_failure(result, {"city": "Atlantis"}) is None


def test_what_repeats_the_arguments_is_an_answer() -> None:
    """The text or the object may be in an argument at any depth; numbers and deep nests have no words."""
    said = json.dumps({"error": ERROR})
    nested: Any = "deep"
    for _ in range(8):
        nested = [nested]
    for arguments in ({"limit": 3, "filter": {"names": [said]}, "nested": nested}, {"value": {"error": ERROR}}):
        assert disguised_failure(text(said), arguments) is None
    assert disguised_failure(text(said), {"nested": nested}) is not None


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "/srv/last.json"},
        {"url": "https://example.com"},
        {"files": ["last.json"]},
        {"command": "cat last.json"},
        {"path": "C:\\logs"},
        {"path": "отчёты/итог"},
        {"path": "log.1"},
        {"path": ".env"},
        {"path": "~"},
        {"host": "localhost:8080"},
    ],
)
def test_a_text_may_come_from_a_place_that_the_arguments_name(arguments: dict[str, Any]) -> None:
    """A file may consist of an object with an error, so such a text is only suspected; structured content is the tool's own."""
    said = {"error": ERROR}
    assert disguised_failure(text(json.dumps(said)), arguments) is None
    assert suspected_failure(text(json.dumps(said))) is not None
    assert said == disguised_failure(structured(said), arguments)
    assert said == disguised_failure(text(json.dumps(said)), {"city": "Oslo", "ratio": 2.5, "note": "Call. Then wait."})


def test_declared_fields_are_results() -> None:
    """A tool whose output schema promises an error, or a code, answers with one."""
    for value, fields in (
        ({"error": ERROR}, {"error"}),
        ({"ok": False}, {"ok"}),
        ({"ok": False, "message": "no digit"}, {"ok", "message"}),
        ({"ok": False, "error": ""}, {"ok", "error"}),
        ({"status": "error", "message": "Build 12 failed"}, {"status", "message"}),
        ({"status": "error", "error": "Build 12 failed"}, {"status", "error"}),
        ({"success": False, "errors": ["line 1"]}, {"success", "errors"}),
    ):
        assert disguised_failure(structured(value), {}, declared=fields) is None
    for value, fields in (
        ({"success": False, "error": {"code": 1, "message": "x"}}, {"success"}),
        ({"error": "x", "code": 7}, {"city"}),
    ):
        assert value == disguised_failure(structured(value), {}, declared=fields)


def test_no_success_of_public_servers_is_changed() -> None:
    """The file holds results that mention errors: recorded from servers, and written after what tools of others answer."""
    cases = json.loads(CASES.read_text(encoding="utf-8"))
    assert len(cases) >= 200
    for case in cases:
        result = case.get("result") or (text(case["text"]) if "text" in case else structured(case["object"]))
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()
        assert [line] == talk(name=case["tool"]).from_server(line).to_client, case
