"""What each type checker sees, counted in the cases of the tests."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Final

from pages.markdown import table

CASES: Final = Path(__file__).parents[2] / "tests" / "typing" / "cases"

CHECKERS: Final = {
    "mypy": "mypy",
    "plugin": "mypy with the plugin",
    "pyright": "pyright",
    "basedpyright": "basedpyright",
    "ty": "ty",
    "pyrefly": "pyrefly",
}
"""The names of the checkers in the cases, and on the page."""

MISTAKES: Final = {
    "misspelt reason": "a misspelt reason",
    "undeclared reason": "a `Context` that names an undeclared reason",
    "undeclared mode": "a failure mode that the context does not name",
    "data of another model": "data of another model",
    "the data is missing": "missing data",
    "misspelt in a comparison": "a caller compares with a misspelt reason",
    "a reason is missing": "a `match` of a caller without one of the reasons",
    "misspelt option": "a misspelt option",
    "mapping": "a wrong use of `on` or `on_code`",
}
"""The mistakes that have a row, as the cases call them."""

_EXPECTED: Final = re.compile(r"#\s*E:\s*(?P<checkers>[a-z ]+?)\s*-\s*(?P<why>\S.*)$", re.MULTILINE)


def checkers() -> str:
    """How many places of the cases each checker reports."""
    counts: dict[str, dict[str, int]] = {why: defaultdict(int) for why in MISTAKES}
    for path in sorted(CASES.glob("*.py")):
        # The cases of `on` and `on_code` are many different mistakes, which count together.
        together = path.stem if path.stem in counts else None
        for match in _EXPECTED.finditer(path.read_text(encoding="utf-8")):
            named = set(match["checkers"].split())
            why = together or match["why"]
            for checker in CHECKERS:
                if why in counts and (named & {checker, "all"} or (checker == "plugin" and "mypy" in named)):
                    counts[why][checker] += 1
    rows: list[list[object]] = [
        [MISTAKES[why], *(found[checker] or "" for checker in CHECKERS)] for why, found in counts.items()
    ]
    return table(["mistake", *CHECKERS.values()], rows)
