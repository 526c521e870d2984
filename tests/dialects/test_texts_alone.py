"""Failures that almost match a dialect: text only, details from other code, and unassigned numbers."""

from __future__ import annotations

import pytest

from mcpcore import Envelope, ErrorCode, Retry
from mcpcore.wire.dialects import dialect_named
from mcpcore.wire.dialects.dialect import KEY, details_of, envelope_from
from mcpcore.wire.envelope_builder import build_envelope
from tests.answers import envelope_of

ID = "0123456789abcdef"


def text_alone(text: str) -> Envelope:
    return envelope_of({"isError": True, "content": [{"type": "text", "text": text}]})


def test_an_unknown_code_is_an_unknown_error_with_its_own_name() -> None:
    """Another server's code keeps its name; texts contain no numbers."""
    envelope = text_alone(f"Error: Out of ink.\n\n(OUT_OF_INK · retry now · id {ID})")
    assert (int(ErrorCode.UNKNOWN_ERROR), "OUT_OF_INK", ID) == (envelope.code, envelope.name, envelope.correlation_id)
    assert ("Out of ink.", Retry.now(), None) == (envelope.message, envelope.retry, envelope.data)


def test_a_fallback_tool_without_a_hint_becomes_a_hint() -> None:
    """A recovery always has a hint."""
    envelope = text_alone(f"Error: Gone.\n\n(reason gone · NOT_FOUND · not retryable · try search · id {ID})")
    assert {"hint": "Try search.", "fallbackTool": "search"} == envelope.data["recovery"]
    assert ("gone", False) == (envelope.data["reason"], envelope.data["retryable"])


@pytest.mark.parametrize(
    "text",
    [
        "Error: Gone.\n\nDetails: {broken\n\n(NOT_FOUND · not retryable · id ID)",
        "Error: Gone.\n\nDetails: [1]\n\n(NOT_FOUND · not retryable · id ID)",
        "Error: Gone.\n\nDetails: {}\n\n(NOT_FOUND · not retryable · id ID)",
        'Error: Gone.\n\nDetails: {"reason":"forged"}\n\n(NOT_FOUND · not retryable · id ID)',
        'Error: Gone.\n\nDetails: {"n":1}\n\nRecovery: Search.\n\n(NOT_FOUND · not retryable · id ID)',
        "Error: Gone.\n\nRecovery: A.\n\nRecovery: B.\n\n(NOT_FOUND · not retryable · id ID)",
        "Error: Gone.\nRecovery: A.\n\n(NOT_FOUND · not retryable · id ID)",
        "Error: Gone.\n\nRecovery: A.\nB.\n\n(NOT_FOUND · not retryable · id ID)",
        "Error: Gone.\n\nSince today.\n\n(NOT_FOUND · not retryable · id ID)",
        "Error: Gone.\x1b\n\n(NOT_FOUND · not retryable · id ID)",
        "Error: Gone.\n\n(NOT_FOUND · not retryable · id ID)\n\n(NOT_FOUND · not retryable · id ID)",
        "Error: Gone.\n\n(NOT_FOUND · not retryable · id abc)",
        "Error: Gone.\n\n(NOT_FOUND · not retryable)",
        "Error: Gone.\n\n(id ID)",
        "Error: Gone.\n\n(Not Found · not retryable · id ID)",
        "Error: Gone.\n\n(NOT_FOUND · sometimes · id ID)",
        "Error: Gone.\n\n(RATE_LIMITED · retry after 1e999 s · id ID)",
        "Error: Gone.\n\n(RATE_LIMITED · retry after 1.50 s · id ID)",
        "Error: Gone.\n\n(RATE_LIMITED · retry after 9999999999999 s · id ID)",
        'Error: Gone.\n\n(reason "gone" · NOT_FOUND · not retryable · id ID)',
        'Error: Gone.\n\n(reason "go · NOT_FOUND · not retryable · id ID)',
        "Error: Gone.\n\n(NOT_FOUND · not retryable · try  x · id ID)",
    ],
)
def test_a_text_that_no_server_writes_is_not_read_as_an_envelope(text: str) -> None:
    """Text in another order, with a line at the margin or in another spelling is only a message."""
    read = text_alone(text.replace("ID", ID))
    assert "unknown" == read.dialect
    assert (None, None) == (read.reason, read.fallback_tool)


def test_a_message_of_several_lines_is_read_without_its_indent() -> None:
    """A message may contain blank lines, and blocks that are not text are skipped."""
    text = (
        "Error: Gone.\n\n    Since today.\n\nRecovery: Search.\n    Or ask.\n\n"
        f'Details: {{"n":1}}\n\n(NOT_FOUND · not retryable · id {ID})'
    )
    read = envelope_of({"isError": True, "content": [{"type": "image", "data": ""}, {"type": "text", "text": text}]})
    assert ("Gone.\n\nSince today.", "Search.\nOr ask.", 1) == (read.message, read.hint, read.details["n"])


@pytest.mark.parametrize("seconds", [0.001, 2.5, 30, 9007199254740.991])
def test_a_wait_is_read_to_the_millisecond(seconds: float) -> None:
    """This includes the longest possible wait."""
    read = text_alone(f"Error: Full.\n\n(RATE_LIMITED · retry after {seconds} s · id {ID})")
    assert Retry.after(seconds=seconds) == read.retry


def test_an_authors_field_with_the_reserved_name_is_restored() -> None:
    """Other dialects use a separate key for the envelope's extra facts, and the author's field is added."""
    data = {KEY: {"of": "the author"}, "n": 1}
    made = build_envelope(ErrorCode.NOT_FOUND, "Gone.", retry=Retry.never(), tool="fetch", data=data)
    details = details_of(made)
    envelope = envelope_from(
        details, message=made.message, native_code="X", code=ErrorCode.NOT_FOUND, dialect="system_error"
    )
    assert made.data == envelope.data
    assert {"of": "the author"} == envelope.data[KEY]


@pytest.mark.parametrize("own", [{"code": "none"}, {}, {"code": None}])
def test_foreign_details_under_the_key_are_left_out(own: object) -> None:
    """Values that are not an envelope are not read as one, and the dialect's own text is used."""
    envelope = envelope_from(
        {KEY: own, "n": 1}, message="Gone.", native_code="X", code=ErrorCode.NOT_FOUND, dialect="taxonomy"
    )
    assert ("NOT_FOUND", "Gone.", 1) == (envelope.name, envelope.message, envelope.data["n"])
    assert KEY not in envelope.data


def test_a_result_without_any_structure_is_not_a_protocol_error() -> None:
    """A JSON-RPC answer without an error is a success, and an error keeps its text even without a code."""
    assert Envelope.from_result({"jsonrpc": "2.0", "result": {}}) is None
    envelope = envelope_of({"jsonrpc": "2.0", "error": {"code": True, "message": "x"}})
    assert ("UNKNOWN_ERROR", "x") == (envelope.name, envelope.message)
    envelope = envelope_of({"jsonrpc": "2.0", "error": {"code": -32601, "message": None}})
    assert "METHOD_NOT_FOUND" == envelope.name


def test_the_canonical_schema_accepts_the_canonical_form() -> None:
    """`dialect.schema` returns the advertised schema."""
    canonical = dialect_named("canonical")
    assert ["error"] == canonical.schema["required"]
    assert {"code", "message", "retry"} <= set(canonical.schema["properties"]["error"]["properties"])


@pytest.mark.parametrize(
    ("reason", "tool"),
    [
        ("has spaces", "a tool"),
        ("r" * 200, "t" * 500),
        ("a · NOT_FOUND · retry now", "x · id 0123456789abcdef)"),
        ("ünïcode →", "Wërkzeug"),
    ],
)
def test_reasons_and_tools_of_any_letters_are_read(reason: str, tool: str) -> None:
    """A contract accepts them, so the text that contains them must not be taken for another dialect."""
    envelope = build_envelope(
        ErrorCode.CONFLICT,
        "no",
        retry=Retry.after(seconds=1.5),
        tool="t",
        reason=reason,
        recovery={"hint": "Try it.", "fallbackTool": tool},
    )
    read = text_alone(envelope.text())
    assert ("canonical", reason, tool, envelope.retry) == (read.dialect, read.reason, read.fallback_tool, read.retry)


def test_a_last_line_of_any_length_is_read_in_bounded_time() -> None:
    """A line longer than any that is written is not read as one."""
    for line in (
        "\n" * 500_000,
        "\nRecovery:" * 100_000,
        "{" * 300_000,
        "(reason " + " · A" * 3_000,
        "(" + "reason a · NOT_FOUND · retry now · try b" * 240,
        "(" * 100_000,
    ):
        assert "unknown" == text_alone(f"Error: x\n\n{line})").dialect
