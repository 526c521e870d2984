"""Parameters that are None, True or False in a call, and decide which errors are raised."""

from __future__ import annotations

from typing import Final

import pytest

HEAD: Final = """
from mcpcore import conflict, forbidden, not_found, tool
def load(n, strict=False, key=None, *, quiet: bool = True):
"""
LOST: Final = {"NOT_FOUND"}

CASES: Final[dict[str, tuple[str, str, set[str]]]] = {
    "left out": ("if strict:\n    raise not_found('x')", "load(n)", set()),
    "given": ("if strict:\n    raise not_found('x')", "load(n, True)", LOST),
    "given by name": ("if strict:\n    raise not_found('x')", "load(n, strict=True)", LOST),
    "given as it is": ("if strict:\n    raise not_found('x')", "load(n, strict=False)", set()),
    "given what is not known": ("if strict:\n    raise not_found('x')", "load(n, strict=n > 3)", LOST),
    "given with all else": ("if strict:\n    raise not_found('x')", "load(n, **more)", LOST),
    "given one by one": ("if strict:\n    raise not_found('x')", "load(*more)", LOST),
    "None": ("if key is not None:\n    raise not_found('x')", "load(n)", set()),
    "not None": ("if key is not None:\n    raise not_found('x')", "load(n, key='x')", LOST),
    "is None": ("if key is None:\n    raise not_found('x')", "load(n)", LOST),
    "is None, and something is given": ("if key is None:\n    raise not_found('x')", "load(n, key=True)", set()),
    "the other branch": ("if strict:\n    return 1\nelse:\n    raise not_found('x')", "load(n)", LOST),
    "behind a branch that leaves": ("if not strict:\n    return 1\nraise not_found('x')", "load(n)", set()),
    "behind a branch that leaves otherwise": (
        "if not strict:\n    return 1\nraise not_found('x')",
        "load(n, True)",
        LOST,
    ),
    "one of two": ("if strict or n:\n    raise not_found('x')", "load(n)", LOST),
    "both": ("if strict and n:\n    raise not_found('x')", "load(n)", set()),
    "one of two that both are not": ("if strict or key:\n    raise not_found('x')", "load(n)", set()),
    "within a loop": ("for each in n:\n    if quiet:\n        continue\n    raise not_found('x')", "load(n)", set()),
    "by a call": ("if strict:\n    check()\nif not n:\n    raise conflict('x')", "load(n)", {"CONFLICT"}),
    "compared": ("if strict == True:\n    raise not_found('x')", "load(n)", set()),
    "set in between": ("if n:\n    strict = True\nif strict:\n    raise not_found('x')", "load(n)", LOST),
    "handed on": ("if strict:\n    raise not_found('x')", "through(n)", set()),
    "handed on as it is given": ("if strict:\n    raise not_found('x')", "through(n, sure=True)", LOST),
    "handed over to others": ("if strict:\n    raise not_found('x')", "list(map(load, n))", LOST),
}


@pytest.mark.parametrize("case", CASES)
def test_errors_excluded_by_a_flag_are_not_reported(project, case):
    """Only the branches that run for the argument, or for the default, count."""
    body, call, expected = CASES[case]
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    source = f"""{HEAD}{lines}
def check():
    raise not_found("x")
def through(n, sure=False):
    if sure and n == 7:
        raise TypeError
    return load(n, strict=sure)
def run(what):
    return what(1)
@tool
def fetch(n: int):
    return {call}
"""
    project.write(app=source)
    assert expected == {code for code, _ in project.thrown()} - {"TypeError"}


def test_methods_and_recursive_functions(project):
    """`self` does not shift the arguments, and recursion ends."""
    source = """
        from mcpcore import conflict, not_found, tool
        class Store:
            def get(self, key, strict=False):
                if strict:
                    raise not_found("x")
        def walk(n, deep=False):
            if deep:
                raise conflict("x")
            return walk(n - 1, deep=deep) or walk(n - 2, not deep)
        @tool
        def fetch(n: int):
            Store().get(n)
            Store().get(n, True)
        @tool
        def other(n: int):
            Store().get("x", False)
            walk(n)
        """
    project.write(app=source)
    assert {("NOT_FOUND", "fetch > Store.get")} == project.thrown()
    assert {"CONFLICT"} == {code for code, _ in project.thrown("other")}
