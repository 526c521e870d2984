"""What start-up leaves for later: the patterns of the rules."""

from __future__ import annotations

import importlib
import pkgutil
import re

import mcpcore_lint.rules
from mcpcore_lint.rules._patterns import _Lazy, regex


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


def test_every_pattern_of_the_rules_can_be_compiled() -> None:
    """A fault in one is found here, and not when a file first has what it is for."""
    patterns = [
        value
        for each in pkgutil.walk_packages(mcpcore_lint.rules.__path__, "mcpcore_lint.rules.")
        for value in vars(importlib.import_module(each.name)).values()
        if isinstance(value, _Lazy)
    ]
    assert len(patterns) > 20
    for each in patterns:
        assert isinstance(each.groups, int)
