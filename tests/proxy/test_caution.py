"""What the proxy says about repeating a call whose server said nothing of it, and whose crashes it masks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpcore import Envelope, Retry
from mcpcore.proxy.overlay import Overlay
from tests.answers import envelope_of
from tests.proxy.test_conversation import respond, talk
from tests.tables import in_one_test

NOTHING_SAID: list[dict[str, Any] | None] = [
    None,
    {},
    {"title": "Charge"},
    {"readOnlyHint": False},
    {"destructiveHint": True},
    {"destructiveHint": False},
    {"readOnlyHint": "yes", "idempotentHint": 1},
]
"""Annotations after which a tool may change something, and a second call may change it again."""


pytestmark = pytest.mark.usefixtures("quiet")


def failed(
    answer: str | dict[str, Any],
    annotations: object = None,
    *,
    tool: str = "charge",
    overlay: Overlay | None = None,
    **arguments: str,
) -> Envelope:
    """Return the envelope that a client gets for a failed call; `answer` is a text, or parts of the response."""
    conversation = talk(overlay=overlay, name=tool, arguments=arguments)
    conversation.listing.learn({"tools": [{"name": tool, "annotations": annotations}]})
    text = {"result": {"isError": True, "content": [{"type": "text", "text": answer}]}}
    return envelope_of(respond(conversation, **(text if isinstance(answer, str) else answer)))


AMBIGUOUS: list[str | dict[str, Any]] = [
    "Gateway timeout after the charge was submitted",
    "HTTP 502: bad gateway",
    "HTTP 503",
    "HTTP 500: retry after 5 seconds",
    "Sent 3 of 10 messages, then: HTTP 429 Too Many Requests. Retry after 5 seconds.",
    "The mail was sent, but logging it failed: 429 Too Many Requests",
    "deployed 3 of 5 hosts\nHTTP 429, retry after 30 seconds",
    "Connection reset by peer",
    "Something went wrong",
    "TypeError: 'x' object has no attribute 'y'",
    {"error": {"code": -32603, "message": "Internal error"}},
    {"error": {"code": -32001, "message": "Request timed out"}},
]


@in_one_test("annotations", NOTHING_SAID)
@in_one_test("answer", AMBIGUOUS)
def test_a_call_that_may_have_taken_effect_is_not_to_be_repeated(
    answer: str | dict[str, Any], annotations: dict[str, Any] | None
) -> None:
    """By the defaults of MCP, a tool without annotations is neither read-only nor idempotent."""
    envelope = failed(answer, annotations)
    assert ("unknown", Retry.never()) == (envelope.effects, envelope.retry)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ({"retryable": True}, Retry.now()),
        ({"retry_after_ms": 1500}, Retry.after(seconds=1.5)),
        ({"retryable": False}, Retry.never()),
    ],
)
def test_a_word_in_the_fields_of_a_failure_is_passed_on(word: dict[str, Any], expected: Retry) -> None:
    """The server says it itself; what its text or its code suggests comes after the annotations."""
    content = [{"type": "text", "text": "timed out, try again in 32 s"}]
    error = {"code": "TIMEOUT", **word}
    envelope = failed({"result": {"isError": True, "content": content, "structuredContent": {"error": error}}})
    assert ("unknown", expected) == (envelope.effects, envelope.retry)


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        ("HTTP 429: too many reservations, retry after 20 seconds", 20),
        ("Error: Rate limit exceeded, retry after 20 seconds", 20),
        ("HTTP 404: no such order", None),
        ("HTTP 401: no token", None),
        ("HTTP 403: not yours", None),
        ("HTTP 400: the amount is missing", None),
    ],
)
def test_a_call_that_was_refused_keeps_its_advice(answer: str, seconds: int | None) -> None:
    """The call had no effect, so the agent need not check."""
    envelope = failed(answer)
    assert (None, seconds) == (envelope.effects, envelope.retry.seconds)


def sent_as(**error: Any) -> dict[str, Any]:
    """Return the response of a server that sends envelopes."""
    return {"result": {"isError": True, "content": [], "structuredContent": {"error": {"message": "No.", **error}}}}


@pytest.mark.parametrize("is_error", [True, False])
def test_a_text_alone_does_not_say_that_nothing_was_changed(is_error: bool) -> None:
    """It may be that of an upstream, which a server passes on; behind the proxy, it would be the server's own word."""
    retry = {"kind": "retryable_immediate"}
    error = {"code": -32004, "name": "TIMEOUT", "message": "No.", "retry": retry, "effects": "none", "tool": "charge"}
    own = Envelope.from_json({**error, "correlationId": "a" * 16, "timestamp": "t"})
    structured = {"error": own.to_json()}
    for text in (json.dumps(structured), *([own.text()] if is_error else [])):
        result: dict[str, Any] = {"isError": is_error, "content": [{"type": "text", "text": text}]}
        read = failed({"result": result})
        assert ("TIMEOUT", "unknown", Retry.never()) == (read.name, read.effects, read.retry)
        assert "none" == failed({"result": result}, {"readOnlyHint": True}).effects
        stated = failed({"result": {**result, "structuredContent": structured}})
        assert ("none", Retry.now()) == (stated.effects, stated.retry)


def test_what_a_server_states_itself_counts() -> None:
    """Declared effects, and a code that only its application knows, say more than the annotations."""
    retry = {"kind": "retryable_after_ms", "afterMs": 2000}
    own = {"code": 41405, "name": "SEATS_SPENT_ELSEWHERE", "retry": retry, "correlationId": "a1", "timestamp": "t"}
    assert (None, 2) == ((quota := failed(sent_as(**own))).effects, quota.retry.seconds)
    busy = {**own, "code": -32000, "name": "SERVICE_UNAVAILABLE"}
    assert ("unknown", None) == ((unclear := failed(sent_as(**busy))).effects, unclear.retry.seconds)
    assert ("none", 2) == ((known := failed(sent_as(**busy, effects="none"))).effects, known.retry.seconds)


def test_tools_that_may_be_called_again_keep_the_advice() -> None:
    """A read changes nothing, and a second call of an idempotent tool changes nothing more."""
    assert ("none", 5) == ((read := failed("HTTP 503", {"readOnlyHint": True})).effects, read.retry.seconds)
    assert (None, 5) == ((put := failed("HTTP 503", {"idempotentHint": True})).effects, put.retry.seconds)


def test_a_tool_that_is_not_listed_counts_as_one_without_annotations() -> None:
    """A server that does not list its tools says nothing of them."""
    text = {"isError": True, "content": [{"type": "text", "text": "HTTP 503"}]}
    envelope = envelope_of(respond(talk(name="charge"), result=text))
    assert ("unknown", Retry.never()) == (envelope.effects, envelope.retry)


def overlay(**keys: Any) -> Overlay:
    """Return an overlay with one entry, for HTTP 503."""
    entry = {"reason": "busy", "code": "SERVICE_UNAVAILABLE", "when": "W.", "recovery": "R.", "match": {"status": 503}}
    return Overlay.of({"version": 1, "tools": {"charge": [{**entry, **keys}]}})


def test_an_entry_of_an_overlay_decides() -> None:
    """Its author knows the server; an entry that says nothing leaves it open."""
    assert Retry.never() == failed("HTTP 503", overlay=overlay()).retry
    assert Retry.never() == failed("HTTP 503. Do not retry.", overlay=overlay(retry={"after": 60})).retry
    assert (None, 20, 60, None) == tuple(
        failed("HTTP 503: try again in 20 seconds", {"readOnlyHint": is_read}, overlay=overlay(**keys)).retry.seconds
        for is_read, keys in ((False, {}), (True, {}), (True, {"retry": {"after": 60}}), (True, {"retry": "never"}))
    )
    known = failed("HTTP 503", overlay=overlay(effects="none"))
    assert ("none", 5) == (known.effects, known.retry.seconds)
    assert Retry.never() == failed("HTTP 503. Do not retry.", overlay=overlay(effects="none")).retry


@pytest.mark.parametrize(
    "said",
    [
        "Do not retry: the transfer was carried out",
        "Don\u2019t try again",
        "This must not be automatically retried.",
        "Do not call this tool again",
        "Not retryable",
        "Retrying will not help",
        "Retries are not allowed",
        "No retry.",
        "retry: false",
        "There is no point in retrying",
        "Retries are disabled",
        "Retrying would be dangerous",
        "Stop calling this tool",
    ],
)
def test_a_text_that_forbids_another_call_is_obeyed(said: str) -> None:
    """Whatever else its words mean, and also where a call can do no harm."""
    assert Retry.never() == failed(f"HTTP 429. {said}").retry
    assert Retry.never() == failed(f"HTTP 503. {said}", {"readOnlyHint": True}).retry
    sent = {"error": {"code": "RATE_LIMITED", "message": said, "retryable": True}}
    assert Retry.never() == failed({"result": {"isError": True, "content": [], "structuredContent": sent}}).retry


@pytest.mark.parametrize(
    "said",
    [
        "Do not retry before 20 s",
        "Do not retry for at least 30 seconds",
        "Do not retry immediately",
        "Do not immediately retry",
        "Do not retry more than once a minute",
        "No retries are left, try again later",
        "Cannot send now, retry later",
    ],
)
def test_a_text_that_asks_for_a_pause_stays_retryable(said: str) -> None:
    """It says when to call again."""
    assert failed(f"HTTP 429. {said}").retryable


TRACE = """Traceback (most recent call last):
  File "<user>", line 3
NameError: name 'rows' is not defined"""


EVALUATED = "ReferenceError: rows is not defined\n    at evalmachine.<anonymous>:1:5\n    at [eval]:1:1"


@pytest.mark.parametrize("trace", [TRACE, EVALUATED])
def test_the_crash_of_what_a_tool_ran_is_its_answer(trace: str) -> None:
    """An agent that runs code has to read why it failed; code that was not read from a file is that of the caller."""
    assert trace == failed(trace, tool="anything").message
    assert "rows" not in str(failed({"error": {"code": -32603, "message": trace}}, tool="anything").to_json())


@in_one_test(
    "text",
    [
        TRACE.replace("<user>", "/home/ada/charge.py"),
        f'{TRACE.replace("<user>", "charge.py")}\n  File "/usr/lib/python3.11/json/__init__.py", line 346',
        "rows.js:1\nError: 7\n    at Object.<anonymous> (/home/ada/rows.js:1:7)\n    at node:internal/main/run_main:36:49",
        "ok\nAssertionError: 1 != 2",
        "Segmentation fault (core dumped)",
    ],
)
def test_what_a_program_of_the_caller_prints_is_its_answer(text: str) -> None:
    """The arguments name its file, perhaps without the folder; a program that crashed in itself has no traceback here."""
    assert text == failed(text, command="python3 charge.py; node rows.js").message
    assert "INTERNAL_ERROR" == failed(f'{text}\n  File "/srv/app.py", line 8').name


@pytest.mark.parametrize("file", ["/srv/app.py", "<frozen importlib._bootstrap>"])
@pytest.mark.parametrize("tool", ["run_python", "read_file", "get_weather"])
def test_the_crash_of_a_tool_is_masked(tool: str, file: str) -> None:
    """The client gets nothing of its text, whatever the tool is called; one frame of the server is enough."""
    for crash in (
        TRACE.replace("<user>", file),
        f'{TRACE}\n  File "{file}", line 8',
        "NameError: name 'rows' is not defined",
    ):
        envelope = failed(crash, tool=tool)
        assert ("INTERNAL_ERROR", "The tool failed unexpectedly.") == (envelope.name, envelope.message)
        assert "rows" not in str(envelope.to_json())


@pytest.mark.parametrize("annotations", [{"readOnlyHint": True}, {"idempotentHint": True}])
@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("The CRM does not answer. Wait a few seconds and call again.", 5),
        ("The CRM is asleep. Wait 20 seconds, then retry.", 20),
        ("The CRM is asleep; call again in a minute.", 5),
        ("The CRM does not answer.", None),
        ("The CRM is asleep. Wake it and try again.", None),
    ],
)
def test_words_without_certainty_give_no_code(said: str, seconds: int | None, annotations: dict[str, Any]) -> None:
    """A wait that the text asks for becomes advice where a second call does no harm, and nowhere else."""
    for envelope, expected in ((failed(said, annotations), seconds), (failed(said), None)):
        assert ("UNKNOWN_ERROR", said, True) == (envelope.name, envelope.message, envelope.inferred)
        assert expected == envelope.retry.seconds
    # The code of the protocol is the server's own word, however little it says.
    named = failed({"error": {"code": -32603, "message": said}}).name
    assert ("INTERNAL_ERROR", Retry.never()) == (named, failed(f"{said} Do not retry.", annotations).retry)


def test_what_the_proxy_adds_is_marked_as_inferred() -> None:
    """In both forms, after the server's own words; what a server or an overlay states itself is not."""
    plain = failed("HTTP 404: no such order")
    assert plain.text().startswith("Error: HTTP 404: no such order\n\n(inferred · NOT_FOUND · ")
    read = Envelope.from_result({"isError": True, "content": [{"type": "text", "text": plain.text()}]})
    assert (True, True, True) == (plain.inferred, plain.to_json()["inferred"], read is not None and read.inferred)
    for stated in (failed("HTTP 503", overlay=overlay()), failed(sent_as(code=41405, name="SEATS_SPENT_ELSEWHERE"))):
        assert (False, False) == (stated.inferred, "inferred" in f"{stated.to_json()}{stated.text()}")
