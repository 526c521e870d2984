"""Methods that return their own object, and objects that only store their arguments."""

from __future__ import annotations

from typing import Final

import pytest

from tests.lint.engine.thrown_cases import Cases, expected_of, found_of, params

CASES: Final[Cases] = {
    "a tuple with names that keeps a function": (
        """
        from typing import Callable, NamedTuple
        class Step(NamedTuple):
            name: str
            run: Callable[[int], int]
        def bad(n):
            raise forbidden("x")
        @tool
        def fetch():
            step = Step("x", bad)
            return step.name
        """,
        "",
    ),
    "a dataclass that keeps a function": (
        """
        from dataclasses import dataclass
        from typing import Callable
        @dataclass
        class Step:
            name: str
            run: Callable[[int], int]
        def bad(n):
            raise forbidden("x")
        @tool
        def fetch():
            step = Step("x", run=bad)
            return step.name
        """,
        "",
    ),
    "a class that runs what it is made with": (
        """
        class Step:
            def __init__(self, run):
                run(1)
        def bad(n):
            raise forbidden("x")
        @tool
        def fetch():
            return Step(bad)
        """,
        "FORBIDDEN: fetch > Step.__init__ > bad",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", params(CASES, {}))
def test_stored_and_returned_objects(project, name):
    """An instance has its class, and a stored function runs where the object runs it."""
    text, expected = CASES[name]
    assert expected_of(expected) == found_of(project, text)
