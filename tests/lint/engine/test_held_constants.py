"""Codes and reasons stored in attributes of classes, base classes, objects and other modules."""

from __future__ import annotations

from typing import Final

import pytest

HEAD: Final = """
from __future__ import annotations
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import ClassVar, Final
from mcpcore import CodedError, ErrorCode, tool
"""

KNOWN: Final[dict[str, tuple[str, set[tuple[str, str]]]]] = {
    "members of enums, of modules and of what those import": (
        """
import codes
from codes import table
class Codes(Enum):
    GONE = ErrorCode.NOT_FOUND
@tool
def fetch(a: int):
    if a == 1:
        raise CodedError(Codes.GONE.value)
    if a == 2:
        raise CodedError(codes.TAKEN)
    if a == 3:
        raise CodedError(table.Table.DENIED)
    raise CodedError(codes.table.BUSY)
""",
        {(code, "fetch") for code in ("NOT_FOUND", "CONFLICT", "FORBIDDEN", "RATE_LIMITED")},
    ),
}

UNKNOWN: Final[dict[str, str]] = {
    "a field that the constructor may be given": """
@dataclass
class Service:
    CODE: ErrorCode = ErrorCode.NOT_FOUND
    def get(self):
        raise CodedError(self.CODE)
""",
    "an attribute that a method assigns from an argument": """
class Service:
    CODE = ErrorCode.NOT_FOUND
    def __init__(self, code=None):
        self.CODE = code
    def get(self):
        raise CodedError(self.CODE)
""",
    "an attribute that other code assigns": """
class Service:
    code = ErrorCode.NOT_FOUND
    def get(self):
        raise CodedError(self.code)
def change(service: Service):
    service.code = compute()
""",
    "an attribute that is bound twice": """
class Service:
    CODE = ErrorCode.NOT_FOUND
    if STRICT:
        CODE = ErrorCode.CONFLICT
    def get(self):
        raise CodedError(self.CODE)
""",
    "a property": """
class Service:
    @property
    def CODE(self):
        return compute()
    def get(self):
        raise CodedError(self.CODE)
""",
    "an attribute that is made of itself": """
class Service:
    def __init__(self):
        self.CODE = self.CODE
    def get(self):
        raise CodedError(self.CODE)
""",
}


@pytest.mark.parametrize("case", KNOWN)
def test_a_code_in_an_attribute_is_known(project, case):
    """An error has the code that the attribute has in the class of its object."""
    source, expected = KNOWN[case]
    project.write(
        app=HEAD + source,
        codes__init="from mcpcore import ErrorCode\nfrom codes import table\nTAKEN = ErrorCode.CONFLICT\n",
        codes__table="from mcpcore import ErrorCode\nBUSY = ErrorCode.RATE_LIMITED\n"
        "class Table:\n    DENIED = ErrorCode.FORBIDDEN\n",
    )
    assert expected == project.thrown()


@pytest.mark.parametrize("case", UNKNOWN)
def test_an_attribute_that_may_change_stays_unknown(project, case):
    """No code is reported if the attribute may hold another value."""
    project.write(app=HEAD + UNKNOWN[case] + "@tool\ndef fetch():\n    Service().get()\n")
    assert {throw.codes for throw in project.reach().throws} == {None}


NARROWED: Final[dict[str, tuple[str, set[tuple[str, str]]]]] = {
    "what goes on either way": (
        "except CodedError as exc:\n        if exc.code is ErrorCode.CONFLICT:\n            a += 1\n        raise",
        {("NOT_FOUND", "fetch > load"), ("CONFLICT", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "the class of the error": (
        "except Exception as exc:\n        if type(exc) is CodedError:\n            return None\n        raise",
        set(),
    ),
    "a class that is not known": (
        "except Exception as exc:\n        if isinstance(exc, known()):\n            return None\n        raise",
        set(),
    ),
    "a match of the class": (
        "except Exception as exc:\n        match exc:\n            case CodedError():\n                return None\n            case _:\n                raise",
        set(),
    ),
    "a match of the class and something else of it": (
        "except Exception as exc:\n        match exc:\n            case CodedError(hint=None):\n                return None\n            case _:\n                raise",
        set(),
    ),
    "a match of something else": (
        "except CodedError as exc:\n        match a:\n            case 1:\n                return None\n        raise",
        {("NOT_FOUND", "fetch > load"), ("CONFLICT", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "by an unknown condition": (
        "except CodedError as exc:\n        if exc.code == expected():\n            raise\n        return None",
        set(),
    ),
    "by a function that is asked": (
        "except CodedError as exc:\n        if known(exc):\n            return None\n        raise",
        set(),
    ),
    "by its text": (
        'except CodedError as exc:\n        text = str(exc)\n        if "x" in text:\n            return None\n        raise',
        set(),
    ),
    "by what is not known of its code": (
        "except CodedError as exc:\n        if exc.code in codes():\n            return None\n        raise",
        set(),
    ),
    "by a condition on another value": (
        "except CodedError as exc:\n        if a == expected():\n            raise\n        return None",
        {("NOT_FOUND", "fetch > load"), ("CONFLICT", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
}


@pytest.mark.parametrize("case", NARROWED)
def test_a_clause_that_compares_code_or_reason_passes_on_only_matches(project, case):
    """If a clause re-raises under a condition, only errors that can meet the condition leave it."""
    clause, expected = NARROWED[case]
    project.write(
        app=HEAD
        + f"""
from mcpcore import conflict, forbidden, not_found
KNOWN = frozenset([ErrorCode.CONFLICT, ErrorCode.NOT_FOUND])
TABLE = {{ErrorCode.CONFLICT: 1}}
def load(a):
    if a == 1:
        raise not_found("x", reason="gone")
    if a == 2:
        raise conflict("x", reason="taken")
    raise forbidden("x")
@tool
def fetch(a: int):
    try:
        load(a)
    {clause}
"""
    )
    assert expected == project.thrown()


def test_an_unreadable_condition_of_a_reraise_is_unknown(project):
    """Errors re-raised under a condition that the linter cannot read are reported as unknown."""
    source = """
from mcpcore import not_found
def load():
    raise not_found("x")
def middle():
    try:
        load()
    except CodedError as exc:
        if known(exc):
            return
        raise
@tool
def fetch(a: int):
    middle()
"""
    project.write(app=HEAD + source)
    reach = project.reach()
    assert not reach.throws
    assert [("known", True), ("NOT_FOUND", True)] == [(call.name, call.project) for call in reach.unresolved]
