"""Errors that the `__exit__` of a project class passes on, swallows or replaces."""

from __future__ import annotations

from typing import Final

import pytest

HEAD: Final = """
from mcpcore import CodedError, ErrorCode, conflict, forbidden, not_found, rate_limited, tool
"""

EXITS: Final[dict[str, tuple[str, set[str]]]] = {
    "asks first whether there is one": (
        "if kind is None:\n            return False\n        raise conflict('x') from exc",
        {"CONFLICT"},
    ),
    "tests for an error and lets it pass": (
        "if exc is not None:\n            self.close()\n        return None",
        {"FORBIDDEN", "OSError"},
    ),
    "swallows all": ("self.close()\n        return True", set()),
    "by an unknown condition": ("return self.handles(exc)", set()),
}


@pytest.mark.parametrize("kind", ["", "a"])
@pytest.mark.parametrize("case", EXITS)
def test_the_conditions_of_an_exit_are_read(project, case, kind):
    """Only errors that its conditions pass on, and those that it raises itself, leave the block."""
    body, expected = EXITS[case]
    word = "async " if kind else ""
    source = f"""
class Scope:
    {word}def __{kind}enter__(self): ...
    {word}def __{kind}exit__(self, kind, exc, trace):
        {body}
def load(a):
    if a:
        raise OSError
    raise forbidden("x")
@tool
{word}def fetch(a: int):
    {word}with Scope():
        load(a)
"""
    project.write(app=HEAD + source)
    assert expected == {code for code, _ in project.thrown()}
