"""Methods that return their own object, and objects that only store their arguments.

An instance has its class, and a stored function runs where the object runs it.
"""

from __future__ import annotations

from typing import Final

CASES: Final[dict[str, tuple[str, str]]] = {
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
