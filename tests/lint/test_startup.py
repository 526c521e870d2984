"""What is made anew at each start of the linter: named tuples, and the patterns of the rules."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import re

import mcpcore_lint.rules
from mcpcore_lint.rules._patterns import _Lazy, regex
from mcpcore_lint.tuples import NamedTuple


class Point(NamedTuple):
    """A point."""

    x: int
    y: int = 2
    """The height."""

    @property
    def total(self) -> int:
        """Both together."""
        return self.x + self.y


def test_a_named_tuple_has_fields_defaults_and_methods() -> None:
    """It is what `typing.NamedTuple` makes of the same class."""
    point = Point(1)
    assert point == (1, 2)
    assert point.total == 3
    assert point._replace(y=5) == Point(1, y=5)
    assert (Point._fields, Point._field_defaults, Point.__doc__) == (("x", "y"), {"y": 2}, "A point.")
    assert repr(point) == "Point(x=1, y=2)"


def test_a_named_tuple_goes_from_process_to_process() -> None:
    """It is found again by its module and its name."""
    again = pickle.loads(pickle.dumps(Point(3)))
    assert type(again) is Point
    assert again == Point(3)


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
