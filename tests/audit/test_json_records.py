"""Records as JSON: keys that name secrets, text that JSON cannot represent, and parts that were searched before."""

from __future__ import annotations

import json

from hypothesis import example, given, strategies as st

from mcpcore.audit.record import encode, encode_failure
from mcpcore.wire.redaction import REDACTED, SECRET_NAMES, Clean, Searched
from tests.tables import in_one_test


def record_of(data, message="m"):
    return {
        "timestamp": "t",
        "surface": "tool",
        "code": 1,
        "server": "s",
        "tool": "f",
        "message": message,
        "data": data,
    }


@in_one_test("name", SECRET_NAMES)
@in_one_test("dress", ["{}", "{}\n", " {}", "-{}-", "{}é", '"{}"', "{}\\"])
def test_every_secret_name_hides_its_value(name, dress):
    """Any punctuation may surround the name."""
    key = dress.format(name.upper())
    clean, _ = encode(record_of({key: "hunter2"}))
    assert clean["data"] == {key: REDACTED}


def test_the_value_of_a_long_key_is_hidden():
    """A key that is too long to be examined counts as the name of a secret."""
    clean, line = encode(record_of({"k" * 300: "hunter2", "pad": "p" * 500}))
    assert "hunter2" not in line
    assert clean["data"]["k" * 300] == REDACTED


def test_half_of_a_surrogate_pair_is_escaped():
    """UTF-8 cannot represent it, but ASCII JSON can."""
    _, line = encode(record_of({}, "\ud800"))
    assert json.loads(line)["message"] == "\ud800"


def test_parts_that_were_searched_before_become_plain_values():
    """This holds even if another part of the record has a secret."""
    crash = {"exception": Searched(type="E", message="password=[redacted]", causes=[]), "traceback": Clean("E: boom")}
    clean, line = encode({**record_of({}, "password=hunter2"), **crash})
    assert json.loads(line) == clean == {**record_of({}, f"password={REDACTED}"), **crash}
    assert type(clean["exception"]) is dict
    assert type(clean["traceback"]) is str


def test_a_text_that_holds_the_separator_is_searched_as_well():
    """Texts are searched together, with NUL between them."""
    clean, _ = encode(record_of({"a": "x\0y", "b": "password=hunter2", "c": "\0token=abc"}))
    assert clean["data"] == {"a": "x\0y", "b": f"password={REDACTED}", "c": f"\0token={REDACTED}"}


WORDS = st.text(st.sampled_from('ab 1é\\"\n_:=') | st.characters()) | st.sampled_from(
    ["token=abc", "password", "pin", "value"]
)


@given(WORDS, WORDS, st.dictionaries(WORDS, WORDS | st.lists(st.dictionaries(WORDS, WORDS)), max_size=2))
@example("a", "a", {"id": "A-9", "near": [{"n": 1.5}]})
@example("a", "password=hunter2", {})
@example("a", "a", {"password": "hunter2"})
def test_the_parts_of_an_envelope_make_the_same_record(tool, message, data):
    """Their JSON is that of the whole record, or there may be something in it that has to be hidden or escaped."""
    head = {"timestamp": "t", "surface": "tool", "code": 1, "name": "N", "retry": {"kind": "retryable"}}
    record = {**head, "correlationId": "1f", "server": "s", "tool": tool, "reason": None, "message": message}
    record |= {"context": {"role": tool}, "data": data} if data else {}
    written = encode_failure(record, json.dumps(data, ensure_ascii=False, separators=(",", ":")) if data else "")
    assert written in (None, encode(record)[1])
    assert written is not None or not (tool == message == "a" and "id" in data)
