"""Redacting hostile text takes time linear in its length."""

from __future__ import annotations

import time
from itertools import islice

import pytest

from bench.redaction.hostile import AFTER, EVERYTHING, NEARLY, ODD, families, texts
from mcpcore.wire.redaction import PATTERNS, REDACTED, redact_shapes, redact_text

LENGTH = 4_000
TIMES = 4
SLACK = 0.05
"""Seconds that a measurement may be off, on a machine that does other work."""


def seconds(text: str) -> float:
    """Return the processor time to redact a text for a log and a client."""
    began = time.process_time()
    redact_text(text)
    redact_shapes(text)
    return time.process_time() - began


def is_linear(unit: str, form: int) -> bool:
    """Return whether a text four times as long takes about four times as long, and not sixteen times."""
    short, long = (next(islice(texts(unit, length), form, None)) for length in (LENGTH, TIMES * LENGTH))
    # What takes less than the slack need not be compared with anything.
    return any((took := seconds(long)) < SLACK or took < 1.5 * TIMES * seconds(short) + SLACK for _ in range(3))


STARTS = sorted({start for row in PATTERNS for start in (*row.starts, *row.hints) if not start.startswith("*")})


@pytest.mark.parametrize("start", STARTS)
def test_time_is_linear_for_each_prefix(start):
    """This uses some of the strings that may follow; the benchmark uses all."""
    assert [(after, form) for after in AFTER[::12] for form in (0, 1) if not is_linear(start + after, form)] == []


@pytest.mark.parametrize("unit", [*NEARLY, *(odd + NEARLY[0] for odd in ODD)])
def test_time_is_linear_for_near_matches(unit):
    """In each form, 100 KB take at most ten times the limit of the benchmark."""
    assert [form for form in range(4) if not is_linear(unit, form)] == []
    for text in islice(texts(unit, 100_000), 2):
        assert seconds(text) < 0.5


def test_the_families_cover_each_row():
    """A new row is measured like the others."""
    units = [unit for family in families().values() for unit in family]
    assert all(any(start in unit for unit in units) for start in STARTS)


@pytest.mark.parametrize("name", ["pwd", "secret key", "token"])
@pytest.mark.parametrize("after", ["\\", " ", "=,"])
def test_the_end_of_a_text_with_endless_secret_names_is_hidden(name, after):
    """Hiding too much is safe, but reading on is not."""
    text = EVERYTHING + f"{name}{after}" * 20_000 + "password=hunter2 and more"
    clean = redact_text(text)
    assert clean.startswith(EVERYTHING[:10])
    assert clean.endswith(REDACTED)
    assert "hunter2" not in clean
    assert redact_text(clean) == clean


def test_a_text_with_many_secret_names_is_read_to_its_end():
    """Ordinary text has fewer than 5,000 such names."""
    text = "the token was refused\n" * 4_900 + "password=hunter2 and more"
    assert redact_text(text) == text.replace("hunter2", REDACTED)
