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
    "one code or another": (
        "except CodedError as exc:\n        if exc.code is ErrorCode.CONFLICT or ErrorCode.FORBIDDEN == exc.code:\n            return None\n        raise",
        {("NOT_FOUND", "fetch > load")},
    ),
    "one code or another, raised again": (
        'except CodedError as exc:\n        if exc.code is ErrorCode.CONFLICT or exc.reason == "gone":\n            raise\n        return None',
        {("NOT_FOUND", "fetch > load"), ("CONFLICT", "fetch > load")},
    ),
    "neither of two": (
        "except CodedError as exc:\n        if not (exc.code is ErrorCode.CONFLICT or exc.code is ErrorCode.FORBIDDEN):\n            raise\n        return None",
        {("NOT_FOUND", "fetch > load")},
    ),
    "a code and what has nothing to do with the error": (
        "except CodedError as exc:\n        if exc.code is ErrorCode.CONFLICT and a > 3:\n            return None\n        raise",
        {("NOT_FOUND", "fetch > load"), ("CONFLICT", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "a code or what has nothing to do with the error": (
        "except CodedError as exc:\n        if exc.code is ErrorCode.CONFLICT or a > 3:\n            return None\n        raise",
        {("NOT_FOUND", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "a set that is made of one": (
        "except CodedError as exc:\n        if exc.code in frozenset({ErrorCode.CONFLICT}):\n            return None\n        raise",
        {("NOT_FOUND", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "a set with a name": (
        "except CodedError as exc:\n        if exc.code not in KNOWN:\n            raise\n        return None",
        {("FORBIDDEN", "fetch > load")},
    ),
    "the keys of a table": (
        "except CodedError as exc:\n        if exc.code in TABLE:\n            return None\n        raise",
        {("NOT_FOUND", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "a code in a variable": (
        "except CodedError as exc:\n        code = exc.code\n        if code is ErrorCode.CONFLICT:\n            return None\n        raise",
        {("NOT_FOUND", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "a code that is named in the condition": (
        "except CodedError as exc:\n        if (code := exc.code) is ErrorCode.CONFLICT or code is ErrorCode.NOT_FOUND:\n            return None\n        raise",
        {("FORBIDDEN", "fetch > load")},
    ),
    "an answer in a variable": (
        "except CodedError as exc:\n        known = exc.code is ErrorCode.CONFLICT\n        if known:\n            return None\n        raise",
        {("NOT_FOUND", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "the name of a code": (
        'except CodedError as exc:\n        if exc.code.name == "CONFLICT":\n            return None\n        raise',
        {("NOT_FOUND", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "the number of a code": (
        "except CodedError as exc:\n        if exc.code == -32002 or exc.code.value == -32001:\n            return None\n        raise",
        {("FORBIDDEN", "fetch > load")},
    ),
    "no reason": (
        "except CodedError as exc:\n        if exc.reason is None:\n            return None\n        raise",
        {("NOT_FOUND", "fetch > load"), ("CONFLICT", "fetch > load")},
    ),
    "a reason at all": (
        "except CodedError as exc:\n        if not exc.reason:\n            raise\n        return None",
        {("FORBIDDEN", "fetch > load")},
    ),
    "a chain of conditions": (
        'except CodedError as exc:\n        if exc.code is ErrorCode.CONFLICT:\n            return None\n        elif exc.reason == "gone":\n            return 1\n        else:\n            a += 1\n        raise',
        {("FORBIDDEN", "fetch > load")},
    ),
    "conditions within one another": (
        "except CodedError as exc:\n        if exc.reason is not None:\n            if exc.code is ErrorCode.CONFLICT:\n                return None\n        raise",
        {("NOT_FOUND", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "what goes on either way": (
        "except CodedError as exc:\n        if exc.code is ErrorCode.CONFLICT:\n            a += 1\n        raise",
        {("NOT_FOUND", "fetch > load"), ("CONFLICT", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "getattr of the code": (
        'except CodedError as exc:\n        if getattr(exc, "code", None) is ErrorCode.CONFLICT:\n            return None\n        raise',
        {("NOT_FOUND", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "the class of the error": (
        "except Exception as exc:\n        if type(exc) is CodedError:\n            return None\n        raise",
        set(),
    ),
    "a class of others": (
        "except Exception as exc:\n        import acme\n        if isinstance(exc, acme.Lost):\n            return None\n        raise",
        {("NOT_FOUND", "fetch > load"), ("CONFLICT", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "a class that is not known": (
        "except Exception as exc:\n        if isinstance(exc, known()):\n            return None\n        raise",
        set(),
    ),
    "a match of the code": (
        "except CodedError as exc:\n        match exc.code:\n            case ErrorCode.CONFLICT:\n                return None\n        raise",
        {("NOT_FOUND", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "a match that raises for one": (
        "except CodedError as exc:\n        match exc.code:\n            case ErrorCode.CONFLICT:\n                raise\n            case _:\n                return None",
        {("CONFLICT", "fetch > load")},
    ),
    "a match of two codes at once": (
        "except CodedError as exc:\n        match exc.code:\n            case ErrorCode.CONFLICT | ErrorCode.NOT_FOUND:\n                return None\n            case other:\n                raise",
        {("FORBIDDEN", "fetch > load")},
    ),
    "a match of the reason": (
        'except CodedError as exc:\n        match exc.reason:\n            case "gone" | None:\n                return None\n            case _:\n                raise',
        {("CONFLICT", "fetch > load")},
    ),
    "a match of the class": (
        "except Exception as exc:\n        match exc:\n            case CodedError():\n                return None\n            case _:\n                raise",
        set(),
    ),
    "a match of another class": (
        "except Exception as exc:\n        match exc:\n            case OSError():\n                return None\n            case _:\n                raise",
        {("NOT_FOUND", "fetch > load"), ("CONFLICT", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "a match of the class and the code": (
        'except Exception as exc:\n        match exc:\n            case CodedError(code=ErrorCode.CONFLICT, reason="taken"):\n                raise\n            case CodedError(code=ErrorCode.FORBIDDEN):\n                raise exc',
        {("CONFLICT", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "a match of the class and something else of it": (
        "except Exception as exc:\n        match exc:\n            case CodedError(hint=None):\n                return None\n            case _:\n                raise",
        set(),
    ),
    "a match with a condition": (
        "except CodedError as exc:\n        match a:\n            case 1 if exc.code is ErrorCode.CONFLICT:\n                return None\n            case 2 | 3:\n                a = 1\n            case _ if exc.code is ErrorCode.FORBIDDEN:\n                raise\n        return None",
        {("FORBIDDEN", "fetch > load")},
    ),
    "a match of something else": (
        "except CodedError as exc:\n        match a:\n            case 1:\n                return None\n        raise",
        {("NOT_FOUND", "fetch > load"), ("CONFLICT", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "a match that leaves by one case of several": (
        "except CodedError as exc:\n        match exc.code:\n            case ErrorCode.NOT_FOUND:\n                a = 1\n            case ErrorCode.CONFLICT:\n                return None\n            case _:\n                a = 2\n        raise",
        {("NOT_FOUND", "fetch > load"), ("FORBIDDEN", "fetch > load")},
    ),
    "by what cannot be told": (
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
    "by what is asked of something else": (
        "except CodedError as exc:\n        if a == expected():\n            raise\n        return None",
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


def test_what_is_raised_again_in_doubt_is_named_as_unknown(project):
    """What may come through a condition that is not read is not told, and said to be unknown."""
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
    assert [("known", True), ("NOT_FOUND", True)] == [(each.name, each.project) for each in reach.unresolved]
