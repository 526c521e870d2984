"""What start-up leaves for later: the patterns."""

from __future__ import annotations

import importlib
import pkgutil
import re

import mcpcore_lint.meaning
import mcpcore_lint.reading
import mcpcore_lint.registrations
import mcpcore_lint.rules
import pytest
from mcpcore_lint.patterns import _Lazy, holds_any, regex
from mcpcore_lint.running.marks import REGISTERS


def test_a_pattern_is_compiled_when_it_is_asked() -> None:
    """Before, it is a text; then it is what `re.compile` makes of it."""
    word = regex(r"w(o)rd", re.IGNORECASE)
    assert "search" not in vars(word)
    found = word.search("A WORD")
    assert found is not None
    assert found[1] == "O"
    assert "search" in vars(word)
    assert word.pattern == r"w(o)rd"
    assert word.sub("-", "a word") == "a -"


@pytest.mark.parametrize(
    "package", [mcpcore_lint.rules, mcpcore_lint.reading, mcpcore_lint.meaning, mcpcore_lint.registrations]
)
def test_every_pattern_can_be_compiled(package) -> None:
    """A fault in one is found here, and not when a file first has what it is for."""
    patterns = [
        value
        for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        for value in vars(importlib.import_module(each.name)).values()
        if isinstance(value, _Lazy)
    ]
    assert patterns
    for each in patterns:
        assert isinstance(each.groups, int)


def test_every_mark_of_a_registration_can_be_compiled() -> None:
    """A fault in one of those patterns would be met by the first file that has its marks."""
    for _, pattern in REGISTERS:
        assert isinstance(pattern.groups, int)


def test_a_look_before_a_pattern_asks_for_any_of_its_words() -> None:
    """A word within a word counts; no words are nowhere."""
    assert holds_any("retried later", ("wait", "retr"))
    assert not holds_any("retried later", ("wait",))
    assert not holds_any("retried later", ())
