"""Errors that lists and tables keep before they are raised, and `ctx.fail` with some arguments filled in."""

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
    "one of a list, whichever it is": (
        "errors = [not_found('x'), conflict('x')]\nraise errors[a]",
        {("NOT_FOUND", "fetch"), ("CONFLICT", "fetch")},
    ),
    "each of a list": (
        "errors = (not_found('x'), conflict('x'))\nfor each in errors:\n    raise each",
        {("NOT_FOUND", "fetch"), ("CONFLICT", "fetch")},
    ),
    "one of a table, by its key": (
        "errors = {'a': not_found('x'), 'b': conflict('x')}\nraise errors['a']",
        {("NOT_FOUND", "fetch")},
    ),
    "one of a table, whichever it is": (
        "errors = {'a': not_found('x'), 'b': conflict('x')}\nraise errors[a]",
        {("NOT_FOUND", "fetch"), ("CONFLICT", "fetch")},
    ),
}


def indented(body):
    """The body of a function."""
    return "\n    ".join(body.splitlines())


@pytest.mark.parametrize("case", CASES)
def test_an_error_that_is_kept_is_known_where_it_is_raised(project, case):
    """What is raised is what the list or the table holds there."""
    body, expected = CASES[case]
    project.write(app=f"{HEAD}\n@tool\ndef fetch(a):\n    {indented(body)}\n")
    assert expected == project.thrown()


def test_a_list_that_is_changed_may_hold_anything(project):
    """Nothing is told of a list that is added to."""
    body = "errors = [not_found('x')]\nerrors.append(other(a))\nraise errors[0]"
    project.write(app=f"{HEAD}\n@tool\ndef fetch(a):\n    {indented(body)}\n")
    assert not project.thrown()
    assert ["raise errors[]"] == [each.name for each in project.reach().unresolved if each.name.startswith("raise")]


def test_fail_with_arguments_filled_in_is_fail(project):
    """`partial(ctx.fail, reason)` is `ctx.fail` where it is called."""
    body = "gone = partial(ctx.fail, 'gone', data={'a': a})\nraise gone(message='It is gone.')"
    errors = "FailureMode('gone', ErrorCode.NOT_FOUND, when='x', recovery='y')"
    project.write(app=f"{HEAD}\n@tool(errors=[{errors}])\ndef fetch(ctx: Context[Any], a):\n    {indented(body)}\n")
    tool = project.tools()["fetch"]
    (error,) = tool.handler.fail_calls
    assert ("gone", "It is gone.", "raised") == (error.reason.value, error.message.text, error.fate)
    assert "NOT_FOUND" == error.code.name
    assert error.data.given
