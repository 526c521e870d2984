"""What functions throw for what they are given: texts that they compare, and objects behind protocols."""

from __future__ import annotations

from typing import Final

import pytest

HEAD: Final = """
from __future__ import annotations
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import singledispatchmethod
from typing import Protocol
from mcpcore import CodedError, ErrorCode, conflict, forbidden, not_found, rate_limited, tool
"""
TRANSLATE: Final = """
def translate(kind):
    if kind == "gone":
        return not_found("x")
    match kind:
        case "taken" | "locked":
            return conflict("x")
        case "slow":
            raise rate_limited("x")
    return forbidden("x")
"""

CASES: Final[dict[str, tuple[str, set[tuple[str, str]]]]] = {
    "a text that an `if` asks for": (
        TRANSLATE + '@tool\ndef fetch():\n    raise translate("gone")\n',
        {("NOT_FOUND", "fetch > translate")},
    ),
    "a text that a `match` asks for, by keyword": (
        TRANSLATE + '@tool\ndef fetch():\n    raise translate(kind="locked")\n',
        {("CONFLICT", "fetch > translate")},
    ),
    "a text that nothing asks for": (
        TRANSLATE + '@tool\ndef fetch():\n    raise translate("odd")\n',
        {("FORBIDDEN", "fetch > translate")},
    ),
    "a text that is handed on": (
        TRANSLATE
        + 'def fail(kind):\n    if kind == "none":\n        return\n    raise translate(kind)\n'
        + '@tool\ndef fetch():\n    fail("taken")\n    fail("none")\n',
        {("CONFLICT", "fetch > fail > translate")},
    ),
    "a text that nobody knows": (
        TRANSLATE + "@tool\ndef fetch(kind: str):\n    raise translate(kind)\n",
        {
            ("NOT_FOUND", "fetch > translate"),
            ("CONFLICT", "fetch > translate"),
            ("FORBIDDEN", "fetch > translate"),
            ("RATE_LIMITED", "fetch > translate"),
        },
    ),
    "a text that is changed before it is asked for": (
        """
def fail(kind):
    kind = other(kind)
    if kind == 'a':
        raise not_found('x')
@tool
def fetch():
    fail('b')
""",
        {("NOT_FOUND", "fetch > fail")},
    ),
    "a text that is looked up in a table": (
        """
TABLE = {'a': not_found, 'b': conflict}
def fail(kind):
    raise TABLE[kind]('x')
@tool
def fetch():
    fail('b')
""",
        {("CONFLICT", "fetch > fail")},
    ),
    "an object behind a protocol, in a dataclass that a function makes": (
        """
class Items(Protocol):
    def get(self, key: str) -> str: ...
class Service:
    items: Items
@dataclass
class Orders:
    items: Items
    def place(self):
        return self.items.get("a")
def orders() -> Orders:
    from store import SqlItems
    return Orders(SqlItems())
@tool
def fetch():
    orders().place()
""",
        {("NOT_FOUND", "fetch > Orders.place > SqlItems.get")},
    ),
    "an object behind an abstract class, for a constructor and for a function": (
        """
from store import SqlItems
class Items(ABC):
    @abstractmethod
    def get(self, key: str) -> str: ...
class Orders:
    def __init__(self, items: Items | None = None):
        self._items = items
    def place(self):
        return self._items.get("a")
def use(items: Items):
    items.put("a")
@tool
def fetch():
    Orders(items=SqlItems()).place()
    use(SqlItems())
""",
        {("NOT_FOUND", "fetch > Orders.place > SqlItems.get"), ("CONFLICT", "fetch > use > SqlItems.put")},
    ),
    "a class method of a subclass": (
        """
class Failure(CodedError):
    CODE = ErrorCode.INTERNAL_ERROR
    def __init__(self, message=None):
        super().__init__(self.CODE, message)
    @classmethod
    def of(cls):
        return cls("x")
class Gone(Failure):
    CODE = ErrorCode.NOT_FOUND
@tool
def fetch():
    raise Gone.of()
""",
        {("NOT_FOUND", "fetch > Failure.of")},
    ),
    "what a singledispatchmethod registers": (
        """
class Store:
    @singledispatchmethod
    def add(self, what):
        raise conflict("x")
    @add.register
    def _(self, what: str):
        raise not_found("x")
    @add.register(int)
    def _(self, what):
        raise forbidden("x")
@tool
def fetch():
    Store().add("a")
""",
        {("CONFLICT", "fetch > Store.add"), ("NOT_FOUND", "fetch > Store._"), ("FORBIDDEN", "fetch > Store._")},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_thrown_goes_by_what_is_given(project, case):
    """Only what can happen with the arguments of the call is told."""
    source, expected = CASES[case]
    project.write(
        app=HEAD + source,
        store="from mcpcore import conflict, not_found\nclass SqlItems:\n    def get(self, key):\n"
        "        raise not_found(key)\n    def put(self, key):\n        raise conflict(key)\n",
    )
    assert expected == project.thrown()
