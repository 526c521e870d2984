"""Errors that depend on arguments: strings that a function compares, and objects behind protocols."""

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
    "an unknown text": (
        TRANSLATE + "@tool\ndef fetch(kind: str):\n    raise translate(kind)\n",
        {
            ("NOT_FOUND", "fetch > translate"),
            ("CONFLICT", "fetch > translate"),
            ("FORBIDDEN", "fetch > translate"),
            ("RATE_LIMITED", "fetch > translate"),
        },
    ),
    "a text that is changed before it is compared": (
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
}


@pytest.mark.parametrize("case", CASES)
def test_errors_depend_on_the_arguments(project, case):
    """Only errors that the arguments of the call make possible are reported."""
    source, expected = CASES[case]
    project.write(
        app=HEAD + source,
        store="from mcpcore import conflict, not_found\nclass SqlItems:\n    def get(self, key):\n"
        "        raise not_found(key)\n    def put(self, key):\n        raise conflict(key)\n",
    )
    assert expected == project.thrown()
