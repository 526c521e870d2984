"""Bounded tracebacks and values: long, repeated and foreign ones."""

from __future__ import annotations

import linecache
import logging
from typing import Any

import pytest

from mcpcore.audit import AuditTrail, traces
from mcpcore.audit.traces import log_crash, traceback_of
from mcpcore.boundary.outcome import FailedCall
from mcpcore.boundary.script import Boundary
from mcpcore.wire.redaction import redact, redact_cut, redact_text
from mcpcore.wire.redaction.table import REDACTED

# These are the vendor's own examples of a permanent and a temporary key.
KEY = "AKIAIOSFODNN7EXAMPLE"
TEMPORARY = "ASIAIOSFODNN7EXAMPLE"


def raised(source: str, name: str = "<made>", **names: Any) -> Exception:
    """Return the exception of running `source` as a module with that name."""
    namespace = {"__name__": "made", **names}
    try:
        exec(compile(source, name, "exec"), namespace)
    except Exception as exc:
        return exc
    raise AssertionError("nothing was raised")


def test_a_failing_loader_costs_the_frames_but_not_the_record():
    """The source of a line is requested from the module's loader."""

    class Loader:
        def get_source(self, name: str) -> str:
            raise RuntimeError("the archive is gone")

    text = traceback_of(raised("1 / 0", "made_by_a_loader.py", __loader__=Loader()))
    assert text.endswith("ZeroDivisionError: division by zero\n")
    assert "<RuntimeError> while formatting the traceback\n" in text


def test_long_frames_are_left_out_as_a_whole(tmp_path):
    """The last frames and the exception are kept, and earlier frames are counted."""
    padding = "#" * 600
    source = "".join(f"def f{n}():\n    f{n + 1}()  {padding}\n" for n in range(20)) + "def f20():\n    1 / 0\nf0()\n"
    linecache.cache["<long>"] = (len(source), None, source.splitlines(keepends=True), "<long>")
    text = traceback_of(raised(source, "<long>"))
    assert len(text) <= 8_100
    assert text.startswith("Traceback (most recent call last):\n  ...\n  File ")
    assert "in f20\n" in text
    assert "in f0\n" not in text
    assert text.endswith("ZeroDivisionError: division by zero\n")


def test_endless_notes_leave_the_exception():
    """A text that fills the whole bound leaves no room for frames."""
    exc = raised("raise ValueError('m' * 3_000)")
    for number in range(20):
        exc.add_note(str(number) * 3_000)
    text = traceback_of(exc)
    assert text.startswith("ValueError: mmm")
    assert len(text) == 8_000


def test_invalid_notes_are_ignored():
    """The attribute may contain anything."""
    exc = raised("raise ValueError('x')")
    vars(exc)["__notes__"] = "no list"
    assert traceback_of(exc).endswith("ValueError: x\n")


@pytest.mark.parametrize(("depth", "said"), [(2, None), (4, "1 more time]"), (9, "6 more times]")])
def test_a_recursion_is_shortened_as_in_python(depth: int, said: str | None):
    """A repeated line is shown three times and then counted."""
    source = f"def f(n):\n    1 / n\n    f(n - 1)\nf({depth})\n"
    linecache.cache["<again>"] = (len(source), None, source.splitlines(keepends=True), "<again>")
    text = traceback_of(raised(source, "<again>"))
    assert min(depth, 3) == text.count("line 3, in f\n")
    assert (said is not None) == ("[Previous line repeated" in text)
    assert said is None or f"repeated {said}" in text


def test_endless_frames_are_not_all_cached():
    """A program that compiles code at run time does not fill the memory, and each frame is shown like the first."""
    for number in range(traces._KEPT + 5):
        assert f"in f{number}\n" in traceback_of(raised(f"def f{number}(): 1 / 0\nf{number}()"))
    assert len(traces._frames) <= traces._KEPT


@pytest.mark.usefixtures("only_warnings")
def test_a_disabled_crash_log_is_not_written(caplog):
    """A logger with a higher level gets no record, and no traceback is created for it."""
    logger = logging.getLogger("mcpcore.test_of_silence")
    logger.setLevel(logging.CRITICAL)
    exc = raised("1 / 0")
    log_crash(logger, logging.ERROR, exc, "trace", "said %s", "so")
    assert "" == caplog.text
    log_crash(logger, logging.CRITICAL, exc, "trace", "said %s", "so")
    assert "said so" in caplog.text


def test_a_text_just_over_the_bound_is_searched_whole():
    """A word that is split by the cut cannot hide a secret."""
    text = "a" * 90 + " password=hunter2hunter2 and more"
    redacted = redact_cut(text, 100)
    assert redacted.endswith(f"... ({len(text)} characters)")
    assert "hunter2" not in redacted
    assert text[:20] == redact_cut(text[:20], 100)


@pytest.mark.parametrize(
    "text",
    [
        f"the key {KEY} was refused",
        f"the key {TEMPORARY} was refused",
        f"\u0130 {TEMPORARY}",
        "process_key=1 and access_key=hunter2-hunter2",
        "at postgresql://me:hunter2-hunter2@db/x",
        "PA\u017f\u017fWORD=hunter2-hunter2",
        "postgres\u0131 postgresql+asyncpg://me:hunter2-hunter2@db/x",
        f"\u0130 {KEY}",
        "monkey=1 and secret_key=hunter2-hunter2",
        "git+ssh://me:hunter2-hunter2@host/x and own+odd://x",
    ],
)
def test_secrets_with_odd_letters_and_odd_schemes_are_found(text: str):
    """Odd letters do not hide a name, and not every word that ends in `key` is one."""
    redacted = redact_text(text)
    assert "hunter2" not in redacted
    assert KEY not in redacted
    assert TEMPORARY not in redacted


def test_text_without_a_secret_keeps_its_odd_letters():
    """Text without secrets is unchanged."""
    for text in ("\u017fome words \u0131 \u212a", "monkey=1", "own+odd://x", "x+y://"):
        assert text == redact_text(text)


def test_only_the_secret_in_a_value_is_replaced():
    """In wide and narrow mappings, below lists and next to numbers, everything else is unchanged."""
    wide = {f"field_{n}": "words" for n in range(12)}
    secret = f"with {KEY}"
    for key in (KEY, TEMPORARY):
        assert key not in str(redact({"a": "words", "b": f"with {key}", "c": f"and {key}"}))
    value = {
        "wide": {**wide, "here": secret},
        "narrow": {"here": secret, "n": 1.5, "deep": [[secret, 2.5], {"odd key \u00e9": "kept", "password": secret}]},
        "plain": [1, 2.5, None, True],
        "named": {"password": "pw-of-somebody", "a key that follows": "words"},
    }
    clean = redact(value)
    assert KEY not in str(clean)
    assert {"password": REDACTED, "a key that follows": "words"} == clean["named"]
    assert wide == {key: item for key, item in clean["wide"].items() if key != "here"}
    assert (1.5, "kept") == (clean["narrow"]["n"], clean["narrow"]["deep"][1]["odd key \u00e9"])
    assert value["plain"] == list(clean["plain"])


@pytest.mark.parametrize("kind", [list, tuple, dict])
def test_endless_nesting_is_replaced(kind: type):
    """It is too deep for any reader, and may be a cycle."""
    value: Any = "x"
    for _ in range(200):
        value = {"a": value} if kind is dict else kind([value])
    redacted = redact({"value": value, "n": 1})
    assert "x" not in str(redacted).replace(REDACTED, "")
    assert 1 == redacted["n"]


def test_each_of_thousands_of_keys_is_checked():
    """The cache of keys has fewer entries than that."""
    value = {f"{n}th field": f"with {KEY}" if n == 7 else "words" for n in range(5_000)}
    clean = redact({**value, "password": "of a user"})
    assert REDACTED == clean.pop("password")
    assert list(value) == list(clean)
    assert [7] == [number for number, key in enumerate(value) if clean[key] != value[key]]
    assert KEY not in str(clean)


@pytest.mark.usefixtures("only_warnings")
def test_a_text_is_searched_once_for_log_and_record_and_then_released(monkeypatch, caplog):
    """Both contain the same text, and after the record is made nothing refers to it."""

    class Sink:
        def failure(self, record, line):
            messages.append(record["exception"]["message"])

    messages = []
    searched = []
    monkeypatch.setattr(traces, "redact_cut", lambda text, limit: searched.append(text) or redact_cut(text, limit))
    boundary = Boundary(server="s", audit=AuditTrail(sinks=[Sink()]))
    for text in ("password=hunter2 was refused", "password=hunter2 was refused", "token=abc was refused"):
        boundary.record_failure(raised(f"raise RuntimeError({text!r})"), FailedCall(name="f"))
        assert searched == [text]
        assert traces._last_message == ("", "")
        searched.clear()
    assert messages == [f"password={REDACTED} was refused"] * 2 + [f"token={REDACTED} was refused"]
    assert f"RuntimeError: token={REDACTED} was refused" in caplog.text
