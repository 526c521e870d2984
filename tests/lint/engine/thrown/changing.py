"""Changes to a list or table after its creation, which are tracked by variable and not by name."""

from __future__ import annotations

from typing import Final

_TABLE: Final = """
def lost():
    raise not_found("x")
def taken():
    raise conflict("x")
TABLE = {"a": lost}
"""
_FETCH: Final = '@tool\ndef fetch():\n    return TABLE["a"]()\n'
_KEPT: Final = {
    "a local of that name elsewhere": 'def other():\n    TABLE = {}\n    TABLE["x"] = 1\n',
    "a parameter of that name elsewhere": 'def other(TABLE):\n    TABLE.update(x=1)\n    TABLE["x"] = 1\n',
    "a local in a nested function": "def other():\n    def inner():\n        TABLE = []\n        TABLE.append(1)\n",
    "a local of the function round a nested one": "def other():\n    TABLE = []\n    def inner():\n        TABLE.append(1)\n",
    "a longer name": 'TABLES = {}\nTABLES["x"] = 1\nMY_TABLE = []\nMY_TABLE.append(1)\n',
    "a comparison": 'def other():\n    return TABLE["a"] == 1\n',
    "a look-up": 'def other():\n    return TABLE.get("a")\n',
}
_CHANGED: Final = {
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
_LOCAL: Final = """
def taken():
    raise conflict("x")
@tool
def fetch():
    errors = [not_found("x")]
    {}
    raise errors[0]
def other():
    errors = []
    {}
"""

CASES: Final[dict[str, tuple[str, str]]] = {
    **{f"kept: {name}": (_TABLE + text + _FETCH, "NOT_FOUND: fetch > lost") for name, text in _KEPT.items()},
    **{f"changed: {name}": (_TABLE + text + _FETCH, "?: TABLE[]") for name, text in _CHANGED.items()},
    "a list of the same name in another function": (
        _LOCAL.format("pass", "errors.append(taken())"),
        "NOT_FOUND: fetch",
    ),
    "a list of the function": (_LOCAL.format("errors.append(conflict('x'))", "pass"), "?: raise errors[]"),
    "a list of the function, in a nested one": (
        _LOCAL.format("def add():\n        errors.append(conflict('x'))", "pass"),
        "?: raise errors[]",
    ),
    "a parameter of a nested function": (
        _LOCAL.format("def add(errors):\n        errors.append(conflict('x'))", "pass"),
        "NOT_FOUND: fetch",
    ),
    "an item of a list, by its place": (
        "@tool\ndef fetch(a):\n    errors = [not_found('x'), conflict('x')]\n    raise errors[1]",
        "CONFLICT: fetch",
    ),
    "an item of a table, by its key": (
        "@tool\ndef fetch(a):\n    errors = {'a': not_found('x'), 'b': conflict('x')}\n    raise errors['a']",
        "NOT_FOUND: fetch",
    ),
    "a list that is changed may hold anything": (
        "@tool\ndef fetch(a):\n    errors = [not_found('x')]\n    errors.append(other(a))\n    raise errors[0]",
        "?: raise errors[]\n?: other",
    ),
}
