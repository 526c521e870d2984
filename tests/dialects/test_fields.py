"""What is read of the fields of failures in no dialect; the vectors show the shapes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mcpcore import Envelope, ErrorCode, Retry
from mcpcore.contract.checks import MAX_REASON
from mcpcore.values.bounds import HINT, MESSAGE
from mcpcore.wire.dialects.fields import CONTAINERS, NAMES, WORDS
from mcpcore.wire.tool_failure import TOOL_FAILURE
from tests.answers import envelope_of


def read(structured: Any, **more: Any) -> Envelope:
    return envelope_of({"isError": True, "content": [], "structuredContent": structured, **more})


@pytest.mark.parametrize(
    ("structured", "expected"),
    [
        ({"Error-Code": "E7", "Suggested_Tool": "look.up", "suggestions": ["Do a.", {"action": "Do b."}, 7]},
         ("E7", "Do a.; Do b.", "look.up")),
        ({"type": "urn:problem:out-of-credit"}, ("out-of-credit", None, None)),
        ({"type": "https://x.test/probs#late/?a=1"}, ("late", None, None)),
        ({"type": "about:blank", "title": "Gone"}, (None, None, None)),
        ({"error": {"type": "error", "reason": "a sentence of its own", "code": "odd_one"}}, ("odd_one", None, None)),
        ({"code": "NOT_FOUND", "type": "unknown"}, (None, None, None)),
        ({"code": "x" * (MAX_REASON + 1), "hint": "keyword", "suggested_tool": "a b"}, (None, None, None)),
        ({"error": {"recovery": "Order less."}}, (None, "Order less.", None)),
        ({"error": {"recovery": "transient"}}, (None, None, None)),
        ({"error": "no_such_user", "message": "No."}, ("no_such_user", None, None)),
        # The facts of an author may have any names.
        ({"error": {"code": -32001, "name": "NOT_FOUND", "message": "No.", "retry": {"kind": "not_retryable"},
                    "data": {"suggestion": "Delete it.", "recovery": None, "suggested_tool": "delete"}}},
         (None, None, None)),
        ({"hint": "a\u202e\x1bb c", "code": "e"}, ("e", "a\\u202e\\u001bb c", None)),
    ],
)  # fmt: skip
def test_reason_hint_and_tool(structured: Any, expected: Any) -> None:
    """The most telling field of a usable value counts, escaped."""
    envelope = read(structured)
    assert expected == (envelope.reason, envelope.hint, envelope.fallback_tool)


@pytest.mark.parametrize(
    ("structured", "code", "native"),
    [
        ({"code": "ThrottlingException"}, ErrorCode.RATE_LIMITED, "ThrottlingException"),
        ({"status": "404"}, ErrorCode.NOT_FOUND, "404"),
        ({"code": 5, "details": [{"@type": "type.googleapis.com/google.rpc.Help"}]}, ErrorCode.NOT_FOUND, 5),
        ({"code": 5}, ErrorCode.UNKNOWN_ERROR, 5),
        ({"code": "UNKNOWN", "status": 403}, ErrorCode.FORBIDDEN, "UNKNOWN"),
        ({"code": True, "status": False}, ErrorCode.UNKNOWN_ERROR, None),
        ({"status": 501}, ErrorCode.SERVICE_UNAVAILABLE, 501),
    ],
)
def test_the_code(structured: Any, code: ErrorCode, native: Any) -> None:
    """A name that is known, a status, and small numbers where they can only be those of gRPC."""
    envelope = read(structured)
    assert (code, native) == (envelope.error_code, envelope.native_code)
    assert (structured == {"status": 501}) == (envelope.retry_stated and envelope.retry == Retry.never())


def test_a_dialect_keeps_its_word_and_gets_what_it_has_no_field_for() -> None:
    """`ok_envelope` has no hint; a code that it knows is no reason, and its own fields count first."""
    for native, reason in (("CARD_DECLINED", "CARD_DECLINED"), ("ERR_NOT_FOUND", None)):
        error = {"code": native, "message": "No.", "suggestion": "Use another."}
        envelope = read({"ok": False, "error": error, "effect_disposition": "partial", "request_id": "r1"})
        assert ("ok_envelope", "Use another.", reason) == (envelope.dialect, envelope.hint, envelope.reason)
        assert ("partial", "r1") == (envelope.effects, envelope.correlation_id)


def test_the_facts_of_a_protocol_error_are_in_its_data() -> None:
    """Its number is that of the protocol."""
    error = {"code": -32603, "message": "No.", "data": {"error": {"code": "no_seat", "hint": "Take a later one."}}}
    envelope = envelope_of({"jsonrpc": "2.0", "id": 1, "error": error})
    assert ("no_seat", "Take a later one.", -32603) == (envelope.reason, envelope.hint, envelope.native_code)
    assert "late" == envelope_of({"jsonrpc": "2.0", "id": 1, "error": {"code": "late", "message": "No."}}).reason


NAME = st.sampled_from([*(name for names in NAMES.values() for name in names), *WORDS, *CONTAINERS, "kind", "x"])
LEAF = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        ["transient", "reliability", "governance", "unknown", "none", "404", "a" * 5000, "\x1b[2J\u202e x", "30s"]
    )
)
JSON = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=5), max_leaves=20
)


@given(
    structured=JSON, failure=st.dictionaries(NAME | st.just("class"), LEAF, max_size=6) | LEAF, as_text=st.booleans()
)
def test_whatever_is_sent_can_be_read(structured: Any, failure: Any, as_text: bool) -> None:
    """Nothing raises, all texts are bounded and escaped, and a success stays one."""
    content = [{"type": "text", "text": json.dumps(structured)}] if as_text else []
    parts = {"_meta": {TOOL_FAILURE: failure}, "structuredContent": None if as_text else structured, "content": content}
    envelope = envelope_of({"isError": True, **parts})
    texts = [envelope.message, envelope.hint or "", envelope.reason or "", envelope.fallback_tool or ""]
    for text, limit in zip(texts, (MESSAGE, HINT, MAX_REASON, 128), strict=True):
        assert len(text) <= limit
        assert not {"\x1b", "\u202e"} & set(text)
    if isinstance(failure, dict) and failure.get("class") != "reliability":
        assert not envelope.retryable
    json.dumps(envelope.to_json())
    assert Envelope.from_result({"isError": False, **parts, "structuredContent": {"value": structured}}) is None
