"""Code excluded from coverage gives the reason on its line, so `make coverage` counts all other code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import mcpcore

PACKAGE = Path(mcpcore.__file__).parent
MARK = re.compile(r"#\s*pragma:\s*no\b(?P<rest>.*)")
GIVEN = re.compile(r" (?:cover|branch) - \S+ \S+")


def marks(source: str) -> list[tuple[int, bool]]:
    """Return the excluded lines, and whether each has a reason."""
    return [
        (number, GIVEN.match(match["rest"]) is not None)
        for number, line in enumerate(source.splitlines(), 1)
        if (match := MARK.search(line)) is not None
    ]


@pytest.mark.parametrize("rest", [" cover", " branch", " cover -", " cover - x", " cover: never"])
def test_a_mark_without_a_reason_is_found(rest):
    """Neither the bare mark nor a single word is a reason."""
    assert marks(f"x = 1  # pragma: no{rest}\n") == [(1, False)]
    assert marks("x = 1  # pragma: no cover - only Windows does\n") == [(1, True)]


def test_every_excluded_line_has_a_reason():
    """This checks the whole package. Patterns that exclude lines are in pyproject.toml, with their reasons."""
    lines = [(path, *mark) for path in sorted(PACKAGE.rglob("*.py")) for mark in marks(path.read_text("utf-8"))]
    assert len(lines) > 10
    assert [f"{path}:{line}" for path, line, has_reason in lines if not has_reason] == []
