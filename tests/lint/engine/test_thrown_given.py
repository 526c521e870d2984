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
