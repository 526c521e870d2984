"""Changes to a list or table after its creation are tracked by variable, not by name."""

from __future__ import annotations

from typing import Final

import pytest

HEAD: Final = """
from mcpcore import conflict, forbidden, not_found, tool
def lost():
    raise not_found("x")
def taken():
    raise conflict("x")
"""
FETCH: Final = '@tool\ndef fetch():\n    return TABLE["a"]()\n'
KEPT: Final = {
    "a local of that name elsewhere": 'def other():\n    TABLE = {}\n    TABLE["x"] = 1\n',
    "a parameter of that name elsewhere": 'def other(TABLE):\n    TABLE.update(x=1)\n    TABLE["x"] = 1\n',
    "a local in a nested function": "def other():\n    def inner():\n        TABLE = []\n        TABLE.append(1)\n",
    "a local of the function round a nested one": "def other():\n    TABLE = []\n    def inner():\n        TABLE.append(1)\n",
    "a longer name": 'TABLES = {}\nTABLES["x"] = 1\nMY_TABLE = []\nMY_TABLE.append(1)\n',
    "a comparison": 'def other():\n    return TABLE["a"] == 1\n',
    "a look-up": 'def other():\n    return TABLE.get("a")\n',
}
CHANGED: Final = {
    "at the top": 'TABLE["a"] = taken\n',
    "under a condition at the top": 'if lost:\n    TABLE["a"] = taken\n',
    "by a method": "TABLE.update(a=taken)\n",
    "by an operator": 'TABLE |= {"a": taken}\n',
    "in a function": 'def other():\n    TABLE["a"] = taken\n',
    "in a method": 'class Other:\n    def set(self):\n        TABLE["a"] = taken\n',
    "in the body of a class": 'class Other:\n    TABLE["a"] = taken\n',
    "in a nested function": 'def other():\n    def inner():\n        TABLE["a"] = taken\n',
    "in a function that says it is global": 'def other():\n    global TABLE\n    TABLE |= {"a": taken}\n',
    "in a function beside one that has its own": (
        'def other():\n    TABLE = {}\n    TABLE["x"] = 1\ndef another():\n    TABLE["a"] = taken\n'
    ),
    "in a lambda": "other = lambda: TABLE.update(a=taken)\n",
}


@pytest.mark.parametrize("case", KEPT)
def test_changing_another_variable_of_the_same_name(project, case):
    """The table stays known."""
    project.write(app=HEAD + 'TABLE = {"a": lost}\n' + KEPT[case] + FETCH)
    assert {("NOT_FOUND", "fetch > lost")} == project.thrown()


@pytest.mark.parametrize("case", CHANGED)
def test_changing_the_variable_makes_it_unknown(project, case):
    """The linter reports nothing about its content."""
    project.write(app=HEAD + 'TABLE = {"a": lost}\n' + CHANGED[case] + FETCH)
    assert not project.thrown()


@pytest.mark.parametrize(
    ("inside", "outside", "expected"),
    [
        ("pass", "errors.append(taken())", {("NOT_FOUND", "fetch")}),
        ("errors.append(conflict('x'))", "pass", set()),
        ("def add():\n        errors.append(conflict('x'))", "pass", set()),
        ("def add(errors):\n        errors.append(conflict('x'))", "pass", {("NOT_FOUND", "fetch")}),
    ],
)
def test_a_local_changes_only_in_its_own_function(project, inside, outside, expected):
    """Lists of the same name in two functions are independent."""
    source = f"""
@tool
def fetch():
    errors = [not_found("x")]
    {inside}
    raise errors[0]
def other():
    errors = []
    {outside}
"""
    project.write(app=HEAD + source)
    assert expected == project.thrown()
