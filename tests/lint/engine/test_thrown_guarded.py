"""What `mcpcore.guard` makes of errors, where its arguments say it, and generators that never run."""

from __future__ import annotations

from typing import Final

import pytest

HEAD: Final = """
import httpx
from mcpcore import ErrorCode, FailureMode, guard, not_found, tool
LOST = FailureMode("lost", ErrorCode.NOT_FOUND, when="x", recovery="y")
MAPPED = {LookupError: ErrorCode.CONFLICT, KeyError: ErrorCode.NOT_FOUND, (httpx.TimeoutException, OSError): "slow"}
STORE = guard("store", errors=MAPPED)
"""

CASES: Final[dict[str, tuple[str, str, set[tuple[str, tuple[str, ...] | None, tuple[str, ...] | None]]]]] = {
    "the most specific class": ("with STORE:", "raise KeyError", {("coded", ("NOT_FOUND",), ())}),
    "a class above": ("with STORE:", "raise IndexError", {("coded", ("CONFLICT",), ())}),
    "one of several classes": ("with STORE:", "raise FileExistsError", {("coded", None, ("slow",))}),
    "no class that is named": ("with STORE:", "raise RuntimeError", {("other", None, ())}),
    "any other": ("with guard(code=ErrorCode.FORBIDDEN):", "raise RuntimeError", {("coded", ("FORBIDDEN",), ())}),
    "a failure mode": (
        "with guard(errors={ValueError: LOST}):",
        "raise ValueError",
        {("coded", ("NOT_FOUND",), ("lost",))},
    ),
    "what is coded already": ("with STORE:", "raise not_found('x')", {("factory", ("NOT_FOUND",), ())}),
    "a mapper of its own": ("with guard(error_mapper=mine):", "raise KeyError", {("other", None, ())}),
    "a table that is not known": ("with guard(errors=given()):", "raise KeyError", {("other", None, ())}),
    "a class that is not known": (
        "with guard(errors={acme.Down: LOST}, code=ErrorCode.FORBIDDEN):",
        "raise KeyError",
        {("coded", ("FORBIDDEN",), ())},
    ),
    "a class that may be a kind of another": (
        "with guard(errors={acme.Down: LOST}, code=ErrorCode.FORBIDDEN):",
        "raise Mine()",
        {("other", None, ())},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_guard_gives_errors_the_code_or_reason_that_it_says(project, case):
    """The class of what is raised decides, as at run time; where that is not known, nothing is told."""
    block, raised, expected = CASES[case]
    project.write(
        app=f"{HEAD}import acme\nclass Mine(acme.Lost, Exception): ...\ndef load():\n    {block}\n        {raised}\n@tool\ndef fetch():\n    load()\n"
    )
    found = {(each.form, each.codes, each.reasons) for each in project.reach().throws}
    assert expected == found


def test_a_guard_as_a_decorator_converts_too(project):
    """`@guard(errors=...)` is as `with guard(errors=...)` round the body, for what other packages raise too."""
    project.write(
        app=HEAD
        + '@guard(errors={httpx.TransportError: "down"})\ndef load():\n    httpx.get("x")\n'
        + "@tool\ndef fetch():\n    load()\n"
    )
    assert {("down",)} == {each.reasons for each in project.reach().throws if each.source == "project"}


def test_a_generator_that_is_only_asked_for_never_runs(project):
    """Asking whether there is a generator does not run it; looping over it does."""
    source = """
        from mcpcore import conflict, not_found, tool
        def lines():
            raise conflict("x")
            yield
        @tool
        def fetch():
            made = lines()
            if made is None or not made:
                raise not_found("x")
            %s
        """
    project.write(app=source % "return 1")
    assert {("NOT_FOUND", "fetch")} == project.thrown()
    project.write(app=source % "return list(made)")
    assert {("NOT_FOUND", "fetch"), ("CONFLICT", "fetch > lines")} == project.thrown()
