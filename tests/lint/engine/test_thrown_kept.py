"""Errors stored in lists and tables before they are raised, and partial applications of `ctx.fail`."""

from __future__ import annotations

from typing import Final

import pytest

HEAD: Final = """
from functools import partial
from typing import Any, Literal
from mcpcore import Context, ErrorCode, FailureMode, conflict, forbidden, not_found, tool
"""

CASES: Final[dict[str, tuple[str, set[tuple[str, str]]]]] = {
    "one of a list, by its place": (
        "errors = [not_found('x'), conflict('x')]\nraise errors[1]",
        {("CONFLICT", "fetch")},
    ),
    "one of a table, by its key": (
        "errors = {'a': not_found('x'), 'b': conflict('x')}\nraise errors['a']",
        {("NOT_FOUND", "fetch")},
    ),
}


def indented(body):
    """Indent lines as the body of a function."""
    return "\n    ".join(body.splitlines())


@pytest.mark.parametrize("case", CASES)
def test_a_stored_error_is_known_where_it_is_raised(project, case):
    """The raised error is the item of the list or table."""
    body, expected = CASES[case]
    project.write(app=f"{HEAD}\n@tool\ndef fetch(a):\n    {indented(body)}\n")
    assert expected == project.thrown()


def test_a_list_that_is_changed_may_hold_anything(project):
    """No error of a list that is appended to is reported."""
    body = "errors = [not_found('x')]\nerrors.append(other(a))\nraise errors[0]"
    project.write(app=f"{HEAD}\n@tool\ndef fetch(a):\n    {indented(body)}\n")
    assert not project.thrown()
    assert ["raise errors[]"] == [call.name for call in project.reach().unresolved if call.name.startswith("raise")]
