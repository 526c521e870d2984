"""What is hidden in texts of every kind, and what stays readable: the cases of `redaction_cases`."""

from __future__ import annotations

import json

import pytest

from mcpcore.audit.record import encode
from mcpcore.redaction import REDACTED, redact, redact_text
from tests.audit.redaction_cases import HARMLESS, SECRETS


def test_the_cases_are_many_and_each_holds_its_secret():
    """A case whose secret is not in it shows nothing."""
    assert len(SECRETS) >= 250
    assert len(HARMLESS) >= 200
    assert len({text for text, _ in SECRETS}) >= 250
    assert all(secret in text for text, secret in SECRETS)


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_is_hidden(text, secret):
    """Whatever text surrounds it; a second pass changes nothing."""
    clean = redact_text(text)
    assert secret not in clean
    assert REDACTED in clean
    assert redact_text(clean) == clean
    assert secret not in redact_text(f"while calling:\n{text}\nand then more words")


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_is_hidden_in_a_record(text, secret):
    """Wherever it is in the record."""
    record = {"timestamp": "t", "server": "s", "tool": "f", "message": text, "data": {"said": [text], "n": 1}}
    clean, line = encode(record)
    assert clean == {**record, "message": redact_text(text), "data": {"said": [redact_text(text)], "n": 1}}
    assert json.dumps(secret)[1:-1] not in line


@pytest.mark.parametrize("text", HARMLESS)
def test_what_holds_no_secret_stays_as_it_is(text):
    """Harmless words must stay readable in a log."""
    assert redact_text(text) == text
    assert redact({"message": text, "lines": [text]}) == {"message": text, "lines": [text]}
