"""Words of a caller that a message quotes do not decide its code; those of another program do."""

from __future__ import annotations

import pytest

from mcpcore.classification import classify
from mcpcore.classification.matcher import without_values
from tests.classify.quotation_cases import CALLERS, PLAIN, STATUS_LINES, UPSTREAM, WORDS
from tests.tables import in_one_test


@in_one_test("phrase", CALLERS)
def test_the_words_of_a_caller_decide_nothing(phrase):
    """The code is that of the same message with words that say nothing."""
    expected = classify(RuntimeError(phrase.format(PLAIN)))
    assert {words: classify(RuntimeError(phrase.format(words))) for words in WORDS} == dict.fromkeys(WORDS, expected)


@pytest.mark.parametrize("phrase", STATUS_LINES)
def test_a_status_line_that_is_the_value_of_a_thing_decides_nothing(phrase):
    """No program answers so."""
    expected = classify(RuntimeError(phrase.format(PLAIN)))
    assert {words: classify(RuntimeError(phrase.format(words))) for words in WORDS[:3]} == dict.fromkeys(
        WORDS[:3], expected
    )


@in_one_test(("message", "code"), UPSTREAM)
def test_the_words_of_another_program_decide(message, code):
    """Clients quote the status line, the message or the details of what they were answered."""
    assert classify(RuntimeError(message)).name == code


def test_what_is_no_value_stays_as_it_is():
    """Neither a colon in a sentence, nor an apostrophe, nor a quotation at the beginning."""
    for text in ("it's 12:30 already", "a = b", "'a b c'", "name: 'x", "that isn't 'so'", "the key: must be set"):
        assert without_values(text) == text
