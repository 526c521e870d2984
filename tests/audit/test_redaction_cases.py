"""Hidden and readable parts of many kinds of text: the cases of `redaction_cases`."""

from __future__ import annotations

import json

from mcpcore.audit.record import encode
from mcpcore.wire.redaction import redact, redact_text
from tests.audit.redaction_cases import HARMLESS, SECRETS
from tests.tables import in_one_test


def test_there_are_many_cases_and_each_contains_its_secret():
    """A case without its secret would prove nothing."""
    assert len(SECRETS) >= 250
    assert len(HARMLESS) >= 200
    assert len({text for text, _ in SECRETS}) >= 250
    assert all(secret in text for text, secret in SECRETS)


@in_one_test(("text", "secret"), SECRETS)
def test_a_secret_is_hidden_in_a_record(text, secret):
    """Its position in the record does not matter."""
    record = {"timestamp": "t", "server": "s", "tool": "f", "message": text, "data": {"said": [text], "n": 1}}
    clean, line = encode(record)
    assert clean == {**record, "message": redact_text(text), "data": {"said": [redact_text(text)], "n": 1}}
    assert json.dumps(secret)[1:-1] not in line


@in_one_test("text", HARMLESS)
def test_text_without_a_secret_is_unchanged(text):
    """Harmless words must remain readable in a log."""
    assert redact_text(text) == text
    assert redact({"message": text, "lines": [text]}) == {"message": text, "lines": [text]}
