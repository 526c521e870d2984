"""Errors that `mcpcore.guard` converts, and generators that never run."""

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
    "the most specific class": ("with STORE:", "raise KeyError", {("guard", ("NOT_FOUND",), ())}),
    "a class above": ("with STORE:", "raise IndexError", {("guard", ("CONFLICT",), ())}),
    "one of several classes": ("with STORE:", "raise FileExistsError", {("guard", None, ("slow",))}),
    "no class that is named": ("with STORE:", "raise RuntimeError", {("other", None, ())}),
    "any other": ("with guard(code=ErrorCode.FORBIDDEN):", "raise RuntimeError", {("guard", ("FORBIDDEN",), ())}),
    "a failure mode": (
        "with guard(errors={ValueError: LOST}):",
        "raise ValueError",
        {("guard", ("NOT_FOUND",), ("lost",))},
    ),
    "what is coded already": ("with STORE:", "raise not_found('x')", {("factory", ("NOT_FOUND",), ())}),
    "a custom mapper": ("with guard(error_mapper=mine):", "raise KeyError", {("other", None, ())}),
    "a table that is not known": ("with guard(errors=given()):", "raise KeyError", {("other", None, ())}),
    "a class that is not known": (
        "with guard(errors={acme.Down: LOST}, code=ErrorCode.FORBIDDEN):",
        "raise KeyError",
        {("guard", ("FORBIDDEN",), ())},
    ),
    "a class that may be a kind of another": (
        "with guard(errors={acme.Down: LOST}, code=ErrorCode.FORBIDDEN):",
        "raise Mine()",
        {("other", None, ())},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_guard_converts_errors_as_declared(project, case):
    """The class of the raised error decides, as at run time; an error of unknown class gets no code."""
    block, raised, expected = CASES[case]
    project.write(
        app=f"{HEAD}import acme\nclass Mine(acme.Lost, Exception): ...\ndef load():\n    {block}\n        {raised}\n@tool\ndef fetch():\n    load()\n"
    )
    converted = {
        (throw.form, throw.codes, throw.reasons) for throw in project.reach().throws if not throw.is_named_only
    }
    assert expected == converted


NAMED: Final = {
    "a block": "def load():\n    with guard(errors={KeyError: LOST}):\n        return ROWS[1]\n",
    "an async block": "async def load():\n    async with guard(errors={Exception: 'lost'}):\n        return ROWS[1]\n",
    "a decorator": "@guard(errors={LookupError: 'lost'})\ndef load():\n    return ROWS[1]\n",
    "a guard by its name": "G = guard(errors={KeyError: 'lost'})\ndef load():\n    with G:\n        return ROWS[1]\n",
    "a decorator by its name": "G = guard(errors={KeyError: 'lost'})\n@G\ndef load():\n    return ROWS[1]\n",
    "a table by its name": "T = {KeyError: 'lost'}\ndef load():\n    with guard(errors=T):\n        return ROWS[1]\n",
    "tables that are merged": "T = {OSError: LOST}\ndef load():\n    with guard(errors={**T, KeyError: LOST}):\n        return 1\n",
    "a union of tables": "T = {OSError: LOST}\ndef load():\n    with guard(errors=T | {KeyError: LOST}):\n        return 1\n",
    "a generator round a block": (
        "import contextlib\n@contextlib.contextmanager\ndef safe():\n    with guard(errors={KeyError: 'lost'}):\n        yield\n"
        "def load():\n    with safe():\n        return ROWS[1]\n"
    ),
    "an exit stack": (
        "import contextlib\ndef load():\n    with contextlib.ExitStack() as stack:\n"
        "        stack.enter_context(guard(errors={KeyError: 'lost'}))\n        return ROWS[1]\n"
    ),
    "a method": (
        "class Store:\n    @guard('Store.get', errors={KeyError: 'lost'})\n    def get(self):\n        return ROWS[1]\n"
        "def load():\n    return Store().get()\n"
    ),
}


@pytest.mark.parametrize("case", NAMED)
def test_a_guard_names_its_errors_whatever_its_body(project, case):
    """The errors that a guard names may leave it, even if no matching exception is seen in its body."""
    project.write(app=f"{HEAD}ROWS = {{}}\n{NAMED[case]}@tool\nasync def fetch():\n    load()\n    await load()\n")
    assert {("lost",)} == {throw.reasons for throw in project.reach().throws if throw.is_named_only}


def test_errors_of_a_guard_can_be_caught_outside_it(project):
    """A clause around a guard catches the guard's errors like any others."""
    project.write(
        app=HEAD
        + "from mcpcore import CodedError\ndef load():\n    try:\n        with guard(errors={KeyError: 'lost'}):\n"
        + "            return 1\n    except CodedError:\n        return 0\n@tool\ndef fetch():\n    load()\n"
    )
    assert () == project.reach().throws


def test_a_guard_as_a_decorator_converts_too(project):
    """`@guard(errors=...)` acts like `with guard(errors=...)` around the body, also for other packages' errors."""
    project.write(
        app=HEAD
        + '@guard(errors={httpx.TransportError: "down"})\ndef load():\n    httpx.get("x")\n'
        + "@tool\ndef fetch():\n    load()\n"
    )
    assert {("down",)} == {throw.reasons for throw in project.reach().throws if throw.source == "project"}


ODD: Final = (
    "with guard(*args):",
    "with guard(**kw), guard(errors={**kw}):",
    "with guard(errors={1: 2}), guard(errors={KeyError: None}), guard(errors=[KeyError]):",
    "with guard, guard()()(), guard(errors={}, data=lambda: (yield)):",
    "with guard(errors={KeyError: ErrorCode.NOPE}), guard(code=None), guard(code='x'):",
    "with G, H, I:",
    "with (w := guard(errors=dict(KeyError='x'))), w:",
)


@pytest.mark.parametrize("block", ODD)
def test_an_invalid_guard_names_no_error(project, block):
    """Unreadable, mistyped or self-referential arguments give no reason and no code."""
    own = "G = guard(errors={KeyError: G})\nH = guard(errors=H)\nI = guard(errors={KeyError: None}, data=I)\n"
    project.write(app=f"{HEAD}{own}@tool\ndef fetch(*args, **kw):\n    {block}\n        return 1\n")
    assert not [throw for throw in project.reach().throws if throw.codes or throw.reasons not in {None, (), ("x",)}]
