"""Codes and reasons that attributes hold: of the class, of one it inherits from, of an object, of another module."""

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
    "an attribute of the class": (
        """
class Service:
    CODE = ErrorCode.NOT_FOUND
    def get(self):
        raise CodedError(self.CODE)
@tool
def fetch():
    Service().get()
""",
        {("NOT_FOUND", "fetch > Service.get")},
    ),
    "of the class method's class, of its type, of its __class__": (
        """
class Service:
    CODE: ClassVar[ErrorCode] = ErrorCode.NOT_FOUND
    OTHER: Final = ErrorCode.CONFLICT
    @classmethod
    def get(cls):
        raise CodedError(cls.CODE)
    def put(self):
        if self:
            raise CodedError(type(self).OTHER)
        raise CodedError(self.__class__.CODE)
@tool
def fetch():
    Service.get()
    Service().put()
""",
        {
            ("NOT_FOUND", "fetch > Service.get"),
            ("CONFLICT", "fetch > Service.put"),
            ("NOT_FOUND", "fetch > Service.put"),
        },
    ),
    "of a base, set again by the subclass that is used": (
        """
class Base:
    CODE = ErrorCode.NOT_FOUND
    def get(self):
        raise CodedError(self.CODE)
class Store(Base):
    CODE = ErrorCode.CONFLICT
class Plain(Base):
    pass
@tool
def fetch():
    Store().get()
    Plain().get()
""",
        {("CONFLICT", "fetch > Base.get"), ("NOT_FOUND", "fetch > Base.get")},
    ),
    "declared by the base, set by the subclass": (
        """
class Base:
    CODE: ClassVar[ErrorCode]
    def get(self):
        raise CodedError(self.CODE)
class Store(Base):
    CODE = ErrorCode.CONFLICT
@tool
def fetch():
    Store().get()
""",
        {("CONFLICT", "fetch > Base.get")},
    ),
    "of whichever subclass stands behind an annotation": (
        """
class Base:
    CODE: ClassVar[ErrorCode]
class Store(Base):
    CODE = ErrorCode.CONFLICT
class Other(Base):
    CODE = ErrorCode.FORBIDDEN
def check(store: Base):
    raise CodedError(store.CODE)
@tool
def fetch():
    check(make())
""",
        {("CONFLICT", "fetch > check"), ("FORBIDDEN", "fetch > check")},
    ),
    "assigned once by the constructor": (
        """
class Service:
    def __init__(self):
        self._code = ErrorCode.NOT_FOUND
        self.LIMIT = ErrorCode.RATE_LIMITED
    def get(self):
        raise CodedError(self._code)
    def put(self):
        raise CodedError(self.LIMIT)
@tool
def fetch():
    service = Service()
    service.get()
    service.put()
""",
        {("NOT_FOUND", "fetch > Service.get"), ("RATE_LIMITED", "fetch > Service.put")},
    ),
    "a default of a dataclass that is made without arguments": (
        """
@dataclass(frozen=True)
class Policy:
    missing: ErrorCode = ErrorCode.NOT_FOUND
    busy: ErrorCode = field(default=ErrorCode.RATE_LIMITED)
POLICY = Policy()
OTHER = Policy(ErrorCode.CONFLICT, busy=ErrorCode.FORBIDDEN)
@tool
def fetch(a: int):
    if a == 1:
        raise CodedError(POLICY.missing)
    if a == 2:
        raise CodedError(POLICY.busy)
    if a == 3:
        raise CodedError(OTHER.missing)
    raise CodedError(OTHER.busy)
""",
        {(code, "fetch") for code in ("NOT_FOUND", "RATE_LIMITED", "CONFLICT", "FORBIDDEN")},
    ),
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
    "an attribute that somebody else assigns": """
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
def test_a_code_that_an_attribute_holds_is_known(project, case):
    """What is thrown has the code that the attribute is, for the class whose object it is."""
    source, expected = KNOWN[case]
    project.write(
        app=HEAD + source,
        codes__init="from mcpcore import ErrorCode\nfrom codes import table\nTAKEN = ErrorCode.CONFLICT\n",
        codes__table="from mcpcore import ErrorCode\nBUSY = ErrorCode.RATE_LIMITED\n"
        "class Table:\n    DENIED = ErrorCode.FORBIDDEN\n",
    )
    assert expected == project.thrown()


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_may_be_something_else_too_stays_unknown(project, case):
    """No code is told where the attribute may hold another one."""
    project.write(app=HEAD + UNKNOWN[case] + "@tool\ndef fetch():\n    Service().get()\n")
    assert {each.codes for each in project.reach().throws} == {None}


NARROWED: Final[dict[str, tuple[str, set[tuple[str, str]]]]] = {
    "what is raised again by its code": (
        "except CodedError as exc:\n        if exc.code == ErrorCode.NOT_FOUND:\n            raise\n        return None",
        {("NOT_FOUND", "fetch > load")},
    ),
    "what is not raised again by its code": (
        "except CodedError as exc:\n        if exc.code is not ErrorCode.NOT_FOUND:\n            raise exc\n        return None",
        {("CONFLICT", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "one of several codes, after a clause that leaves": (
        """except CodedError as exc:
        if exc.code not in {ErrorCode.CONFLICT, ErrorCode.NOT_FOUND}:
            return None
        raise""",
        {("NOT_FOUND", "fetch > load"), ("CONFLICT", "fetch > load")},
    ),
    "by the reason": (
        'except CodedError as exc:\n        if "taken" == exc.reason:\n            raise\n        return None',
        {("CONFLICT", "fetch > load")},
    ),
    "by any but a reason": (
        'except CodedError as exc:\n        if exc.reason in ("taken", "gone"):\n            return None\n        raise',
        {("FORBIDDEN", "fetch > load")},
    ),
    "by what cannot be told": (
        "except CodedError as exc:\n        if exc.code == expected():\n            raise\n        return None",
        {("NOT_FOUND", "fetch > load"), ("CONFLICT", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
}


@pytest.mark.parametrize("case", NARROWED)
def test_a_clause_that_asks_for_code_or_reason_passes_only_those_on(project, case):
    """What a clause raises again only under a condition is known by that condition."""
    clause, expected = NARROWED[case]
    project.write(
        app=HEAD
        + f"""
from mcpcore import conflict, forbidden, not_found
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
