"""Patterns compiled on first use, and the fast replacement for dataclasses."""

from __future__ import annotations

import importlib
import pkgutil
import re
from types import ModuleType

import mcpcore_lint.engine.registrations
import mcpcore_lint.engine.semantics
import mcpcore_lint.engine.syntax
import mcpcore_lint.rules
import pytest
from mcpcore_lint.dataclasses import cached_method, cached_property, light
from mcpcore_lint.engine.syntax.prefilter import REGISTERS
from mcpcore_lint.patterns import _Lazy, regex


def test_a_pattern_is_compiled_on_first_use() -> None:
    """Before the first use it is a string, and afterwards a compiled pattern."""
    word = regex(r"w(o)rd", re.IGNORECASE)
    assert "search" not in vars(word)
    match = word.search("A WORD")
    assert match is not None
    assert match[1] == "O"
    assert "search" in vars(word)
    assert word.pattern == r"w(o)rd"
    assert word.sub("-", "a word") == "a -"


@pytest.mark.parametrize("package", [mcpcore_lint.rules, mcpcore_lint.engine.syntax, mcpcore_lint.engine.registrations])
def test_every_pattern_can_be_compiled(package: ModuleType) -> None:
    """An invalid pattern is found here rather than by the first file that needs it."""
    patterns = [
        value
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        for value in vars(importlib.import_module(module.name)).values()
        if isinstance(value, _Lazy)
    ]
    assert patterns
    for pattern in patterns:
        assert isinstance(pattern.groups, int)


def test_every_mark_of_a_registration_can_be_compiled() -> None:
    """An invalid pattern is found here rather than by the first file with its bytes."""
    for _, pattern in REGISTERS:
        assert isinstance(pattern.groups, int)


def test_a_class_accepts_fields_by_position_and_by_name() -> None:
    """It has the fields of its bases and its own; a default applies to a missing argument."""

    @light
    class Base:
        first: int

    @light
    class Derived(Base):
        second: str = "two"
        third: tuple[int, ...] = ()

    made = Derived(1, third=(3,))
    assert (made.first, made.second, made.third) == (1, "two", (3,))
    assert repr(made) == "Derived(first=1, second='two', third=(3,))"
    assert Derived.__match_args__ == ("first", "second", "third")
    with pytest.raises(TypeError, match="first"):
        Derived()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="fourth"):
        Derived(1, fourth=4)  # type: ignore[call-arg]


def test_a_field_without_a_default_comes_before_those_with_one() -> None:
    """Otherwise defaults would be assigned to the wrong fields."""
    with pytest.raises(TypeError, match=r"Wrong\.second has no default"):

        @light
        class Wrong:
            first: int = 1
            second: int  # type: ignore[misc]


def test_a_cached_property_is_computed_once() -> None:
    """It is computed on the first access and then stored."""
    asked: list[int] = []

    @light
    class Answer:
        field: int

        @cached_property
        def doubled(self) -> int:
            """Twice the field."""
            asked.append(self.field)
            return 2 * self.field

    answer = Answer(21)
    assert (answer.doubled, answer.doubled) == (42, 42)
    assert asked == [21]
    assert Answer.doubled.__doc__ == "Twice the field."


def test_a_method_keeps_a_result_for_each_choice_of_arguments() -> None:
    """Each object keeps its own, and an option that is passed by its name counts as an argument."""

    class Counter:
        @cached_method
        def made(self, *parts: int, times: int = 1) -> list[int]:
            return [part * times for part in parts]

    counter = Counter()
    assert counter.made(1, 2) is counter.made(1, 2)
    assert counter.made(1, 2) is not Counter().made(1, 2)
    assert [2, 4] == counter.made(1, 2, times=2)
