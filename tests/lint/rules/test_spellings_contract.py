"""The contract and conformance rules through many spellings: each fault in each way to write it, and each near miss.

A rule has faults and near misses; a spelling is a way to write what has the fault. Every fault is tried in every spelling
and must be found, every near miss in every spelling and must not be.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

import pytest
from mcpcore_lint.engine import lint_source
from mcpcore_lint.settings import Settings

PATH = "server.py"


@dataclass(frozen=True)
class Spelling:
    """A way to write something: `<X>` stands for the thing itself."""

    code: str
    files: dict[str, str] = field(default_factory=dict)


def lint(rule, code, files, tmp_path):
    """The findings of one rule in a small project."""
    report = lint_source(code, path=PATH, settings=Settings(select=frozenset({rule})), root=str(tmp_path), files=files)
    assert not report.failures, report.failures
    return [each for each in report.diagnostics if each.rule == rule]


def written(spelling, thing):
    """The files of a spelling with a thing in its place."""
    return spelling.code.replace("<X>", thing), {
        name: text.replace("<X>", thing) for name, text in spelling.files.items()
    }


# ---------------------------------------------------------------------------------------------------------------------
# Faults of one entry, by the arguments of its FailureMode.
# ---------------------------------------------------------------------------------------------------------------------

HEAD = """\
import enum
import functools
import mcpcore
import mcpcore as m
from elsewhere import TEXT, UNKNOWN, audited
from functools import partial
from typing import Final
from mcpcore import Context, ErrorCode, FailureMode, FailureMode as FM, Retry, Server, tool

BLANK = "  "
FEW: Final = "Try again."
BAD_REASON = "NotFound"
NUMBER = -32001
LONG = "word " * 300
NOTHING = None

class Reasons(enum.StrEnum):
    BAD = "NotFound"
    GOOD = "not_found"

"""
USE = "@tool(errors=ERRORS)\ndef one(text: str) -> str: ...\n"
ENTRY_SPELLINGS = {
    "inline": Spelling(f"{HEAD}@tool(errors=[FailureMode(<X>)])\ndef one() -> str: ...\n"),
    "alias": Spelling(f"{HEAD}@tool(errors=[FM(<X>)])\ndef one() -> str: ...\n"),
    "module attribute": Spelling(f"{HEAD}@mcpcore.tool(errors=(m.FailureMode(<X>),))\ndef one() -> str: ...\n"),
    "constant": Spelling(f"{HEAD}ERRORS = [FailureMode(<X>)]\n{USE}"),
    "typed constant": Spelling(f"{HEAD}ERRORS: Final[list[FailureMode]] = [FailureMode(<X>)]\n{USE}"),
    "constant entry": Spelling(f"{HEAD}FIRST = FailureMode(<X>)\nERRORS = (FIRST,)\n{USE}"),
    "concatenated": Spelling(
        f'{HEAD}ERRORS = [FailureMode("zz", ErrorCode.TIMEOUT, when="It is slow.", recovery="Call list_all to see '
        f'what there is.")] + [FailureMode(<X>)]\n{USE}'
    ),
    "unpacked": Spelling(f"{HEAD}COMMON = [FailureMode(<X>)]\nERRORS = [*COMMON]\n{USE}"),
    "unpacked beside unknown": Spelling(f"{HEAD}ERRORS = [*UNKNOWN, FailureMode(<X>)]\n{USE}"),
    "conditional": Spelling(f"{HEAD}ERRORS = [FailureMode(<X>)] if UNKNOWN else []\n{USE}"),
    "conditional entry": Spelling(f"{HEAD}ERRORS = [FailureMode(<X>) if UNKNOWN else UNKNOWN]\n{USE}"),
    "walrus": Spelling(f"{HEAD}@tool(errors=(ERRORS := [FailureMode(<X>)]))\ndef one() -> str: ...\n"),
    "imported": Spelling(
        f"from modes import ERRORS\nfrom mcpcore import tool\n{USE}",
        {"modes.py": f"{HEAD}ERRORS = [FailureMode(<X>)]\n"},
    ),
    "imported and unpacked": Spelling(
        "import pack.modes as there\nfrom mcpcore import tool\n@tool(errors=[*there.ERRORS])\ndef one() -> str: ...\n",
        {"pack/__init__.py": "", "pack/modes.py": f"{HEAD}ERRORS = (FailureMode(<X>),)\n"},
    ),
    "method": Spelling(
        f"{HEAD}server = Server('x')\nclass Tools:\n    @server.tool(errors=[FailureMode(<X>)])\n"
        "    async def one(self) -> str: ...\n"
    ),
    "under decorators": Spelling(
        f"{HEAD}@tool(errors=[FailureMode(<X>)])\n@audited('x')\n@functools.wraps(len)\nasync def one() -> str: ...\n"
    ),
    "nested": Spelling(
        f"{HEAD}def make(server):\n    errors = [FailureMode(<X>)]\n    @tool(errors=errors)\n    def one() -> str: ...\n"
        "    return one\n"
    ),
    "add_tool": Spelling(
        f"{HEAD}server = Server('x')\ndef one() -> str: ...\nserver.add_tool(one, errors=[FailureMode(<X>)])\n"
    ),
    "partial": Spelling(f"{HEAD}Mode = partial(FailureMode)\nERRORS = [Mode(<X>)]\n{USE}"),
    "odd layout": Spelling(
        f"{HEAD}@tool (errors = [ # first\n\tFailureMode ( # second\n\t\t<X>\n\t) , # third\n ] , )\ndef one() -> str: ...\n"
    ),
    "one line": Spelling(f"{HEAD}@tool(errors=[FailureMode(<X>),],)\ndef one() -> str: return ''\n"),
    "unused": Spelling(f"{HEAD}ONE = FailureMode(<X>)\n@tool\ndef one() -> str: ...\n"),
}

WORDS = 'when="It is gone.", recovery="Call list_all to see what there is."'
GOOD = 'recovery="Call list_all to see what there is."'
ENTRY_FAULTS = {
    "error-contract-code-type": (
        [f'"aa", "NOT_FOUND", {WORDS}', f'"aa", -32001, {WORDS}', f'reason="aa", code=NUMBER, {WORDS}',
         f'"aa", {WORDS}', f'"aa", None, {WORDS}', f'"aa", ValueError, {WORDS}'],
        [f'"aa", ErrorCode.NOT_FOUND, {WORDS}', f'"aa", code=m.ErrorCode.CONFLICT, {WORDS}', f'"aa", UNKNOWN, {WORDS}',
         f'"aa", ErrorCode["NOT_FOUND"], {WORDS}', f'"aa", ErrorCode(-32001), {WORDS}', f'"aa", {WORDS}, **UNKNOWN'],
    ),
    "error-contract-code-unknown": (
        [f'"aa", ErrorCode.NOTFOUND, {WORDS}', f'"aa", m.ErrorCode.not_found, {WORDS}',
         f'"aa", code=ErrorCode.RATELIMITED, {WORDS}', f'"aa", mcpcore.ErrorCode.GONE, {WORDS}',
         f'"aa", ErrorCode["GONE"], {WORDS}'],
        [f'"aa", ErrorCode.NOT_FOUND, {WORDS}', f'"aa", code=m.ErrorCode.CONFLICT, {WORDS}',
         f'"aa", UNKNOWN.NOTFOUND, {WORDS}', f'"aa", ErrorCode["NOT_FOUND"], {WORDS}', f'"aa", -32001, {WORDS}'],
    ),
    "error-contract-code-unknown-error": (
        [f'"aa", ErrorCode.UNKNOWN_ERROR, {WORDS}', f'"aa", m.ErrorCode.UNKNOWN_ERROR, {WORDS}',
         f'reason="aa", code=mcpcore.ErrorCode.UNKNOWN_ERROR, {WORDS}',
         f'code=(ErrorCode.UNKNOWN_ERROR), reason="aa", {WORDS}', f'"aa", ErrorCode["UNKNOWN_ERROR"], {WORDS}'],
        [f'"aa", ErrorCode.INTERNAL_ERROR, {WORDS}', f'"unknown_error", ErrorCode.TIMEOUT, {WORDS}',
         f'"aa", UNKNOWN, {WORDS}', f'"aa", UNKNOWN.UNKNOWN_ERROR, {WORDS}', f'"aa", "UNKNOWN_ERROR", {WORDS}'],
    ),
    "error-contract-reason-required": (
        [f'"", ErrorCode.NOT_FOUND, {WORDS}', f'reason="", code=ErrorCode.NOT_FOUND, {WORDS}',
         f"code=ErrorCode.NOT_FOUND, {WORDS}", f"NOTHING, ErrorCode.NOT_FOUND, {WORDS}",
         f'reason=f"", code=ErrorCode.NOT_FOUND, {WORDS}'],
        [f'"aa", ErrorCode.NOT_FOUND, {WORDS}', f"TEXT, ErrorCode.NOT_FOUND, {WORDS}",
         f"Reasons.GOOD, ErrorCode.NOT_FOUND, {WORDS}", f'f"{{TEXT}}", ErrorCode.NOT_FOUND, {WORDS}',
         f"code=ErrorCode.NOT_FOUND, {WORDS}, **UNKNOWN", f'**{{"reason": "aa"}}, code=ErrorCode.NOT_FOUND, {WORDS}'],
    ),
    "error-contract-reason-format": (
        [f'"NotFound", ErrorCode.NOT_FOUND, {WORDS}', f"BAD_REASON, ErrorCode.NOT_FOUND, {WORDS}",
         f"Reasons.BAD, ErrorCode.NOT_FOUND, {WORDS}", f'reason="not-found", code=ErrorCode.NOT_FOUND, {WORDS}',
         f'"{"a" * 64}", ErrorCode.NOT_FOUND, {WORDS}', f'"not " "found", ErrorCode.NOT_FOUND, {WORDS}'],
        [f'"not_found", ErrorCode.NOT_FOUND, {WORDS}', f'"{"a" * 63}", ErrorCode.NOT_FOUND, {WORDS}',
         f"Reasons.GOOD, ErrorCode.NOT_FOUND, {WORDS}", f"TEXT, ErrorCode.NOT_FOUND, {WORDS}",
         f'"http_404", ErrorCode.NOT_FOUND, {WORDS}', f'f"{{TEXT}} x", ErrorCode.NOT_FOUND, {WORDS}'],
    ),
    "error-contract-when-required": (
        [f'"aa", ErrorCode.NOT_FOUND, {GOOD}', f'"aa", ErrorCode.NOT_FOUND, when="", {GOOD}',
         f'"aa", ErrorCode.NOT_FOUND, when=BLANK, {GOOD}', f'"aa", ErrorCode.NOT_FOUND, when=NOTHING, {GOOD}',
         f'"aa", ErrorCode.NOT_FOUND, when="TODO: say when this happens", {GOOD}',
         f'"aa", ErrorCode.NOT_FOUND, when="todo", {GOOD}', f'"aa", ErrorCode.NOT_FOUND, when="FIXME later", {GOOD}'],
        [f'"aa", ErrorCode.NOT_FOUND, when="Gone.", {GOOD}', f'"aa", ErrorCode.NOT_FOUND, when=TEXT, {GOOD}',
         f'"aa", ErrorCode.NOT_FOUND, when=TEXT.format(1), {GOOD}', f'"aa", ErrorCode.NOT_FOUND, {GOOD}, **UNKNOWN',
         f'"aa", ErrorCode.NOT_FOUND, when=f"{{TEXT}}", {GOOD}',
         f'"aa", ErrorCode.NOT_FOUND, when="Todos cannot be listed.", {GOOD}',
         f'"aa", ErrorCode.NOT_FOUND, when="The TODO list is empty.", {GOOD}'],
    ),
    "error-contract-recovery-required": (
        ['"aa", ErrorCode.NOT_FOUND, when="x"', '"aa", ErrorCode.NOT_FOUND, when="x", recovery=None',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery=["Call it."]',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery=NOTHING', '"aa", ErrorCode.NOT_FOUND, when="x", recovery=1 + 2',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery={"hint": TEXT}'],
        [f'"aa", ErrorCode.NOT_FOUND, {WORDS}', '"aa", ErrorCode.NOT_FOUND, when="x", recovery=TEXT',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery="a" + TEXT', '"aa", ErrorCode.NOT_FOUND, when="x", **UNKNOWN',
         '"aa", ErrorCode.NOT_FOUND, when="x", **{"recovery": TEXT}'],
    ),
    "error-contract-recovery-empty": (
        ['"aa", ErrorCode.NOT_FOUND, when="x", recovery=""', '"aa", ErrorCode.NOT_FOUND, when="x", recovery=BLANK',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery="" ""', '"aa", ErrorCode.NOT_FOUND, when="x", recovery=" " + BLANK',
         '"aa", ErrorCode.NOT_FOUND, when="x", **{"recovery": "\\n"}',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery=TEXT if TEXT else ""'],
        [f'"aa", ErrorCode.NOT_FOUND, {WORDS}', '"aa", ErrorCode.NOT_FOUND, when="x", recovery=TEXT',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery="" + TEXT', '"aa", ErrorCode.NOT_FOUND, when="x"',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery=f"{TEXT}"'],
    ),
    "error-contract-recovery-min-words": (
        ['"aa", ErrorCode.NOT_FOUND, when="x", recovery="Try again."',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery=FEW',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery="Try " "again."',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery="Try " + "it."',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery="TODO: say which tool the caller may call next"',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery="todo - say which tool the caller may call next"',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery=f"TODO: say what the caller does about {TEXT}"'],
        [f'"aa", ErrorCode.NOT_FOUND, {WORDS}', '"aa", ErrorCode.NOT_FOUND, when="x", recovery=TEXT',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery=f"Call {TEXT}"',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery=""',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery="Todos are listed by list_todos alone."',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery="Add it to the TODO list."'],
    ),
    "error-contract-recovery-unknown-tool": (
        [f'"aa", ErrorCode.NOT_FOUND, {WORDS}, fallback_tool="on"',
         f'"aa", ErrorCode.NOT_FOUND, {WORDS}, fallback_tool=BLANK',
         f'"aa", ErrorCode.NOT_FOUND, {WORDS}, fallback_tool="o" + "ne_more"',
         f'"aa", ErrorCode.NOT_FOUND, {WORDS}, **{{"fallback_tool": "two"}}',
         f'"aa", ErrorCode.NOT_FOUND, {WORDS}, fallback_tool="one" if TEXT else "two"'],
        [f'"aa", ErrorCode.NOT_FOUND, {WORDS}, fallback_tool="one"',
         f'"aa", ErrorCode.NOT_FOUND, {WORDS}, fallback_tool=TEXT',
         f'"aa", ErrorCode.NOT_FOUND, {WORDS}, fallback_tool=None',
         f'"aa", ErrorCode.NOT_FOUND, {WORDS}, fallback_tool=f"{{TEXT}}"',
         f'"aa", ErrorCode.NOT_FOUND, {WORDS}, **UNKNOWN'],
    ),
    "error-contract-retry-type": (
        [f'"aa", ErrorCode.CONFLICT, {WORDS}, retry=True', f'"aa", ErrorCode.CONFLICT, {WORDS}, retry="never"',
         f'"aa", ErrorCode.CONFLICT, {WORDS}, retry=30', f'"aa", ErrorCode.CONFLICT, {WORDS}, retry=Retry',
         f'"aa", ErrorCode.CONFLICT, {WORDS}, retry={{"after": 3}}',
         f'"aa", ErrorCode.CONFLICT, {WORDS}, retry=Retry.never'],
        [f'"aa", ErrorCode.CONFLICT, {WORDS}, retry=Retry.never()', f'"aa", ErrorCode.CONFLICT, {WORDS}, retry=None',
         f'"aa", ErrorCode.CONFLICT, {WORDS}, retry=m.Retry.after(seconds=3)',
         f'"aa", ErrorCode.CONFLICT, {WORDS}, retry=UNKNOWN', f'"aa", ErrorCode.CONFLICT, {WORDS}, retry=UNKNOWN.now()'],
    ),
    "error-contract-retry-contradiction": (
        [f'"aa", ErrorCode.NOT_FOUND, {WORDS}, retry=Retry.now()',
         f'"aa", ErrorCode.NOT_FOUND, {WORDS}, retry=m.Retry.after(seconds=3)',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery="Wait 30 seconds and call again."',
         '"aa", ErrorCode.CONFLICT, when="x", recovery="Wait a minute and try again.", retry=Retry.never()',
         f'reason="aa", code=ErrorCode.VALIDATION_ERROR, {WORDS}, retry=Retry.now()'],
        [f'"aa", ErrorCode.NOT_FOUND, {WORDS}', f'"aa", ErrorCode.NOT_FOUND, {WORDS}, retry=Retry.never()',
         '"aa", ErrorCode.RATE_LIMITED, when="x", recovery="Wait 30 seconds and call again."',
         f'"aa", UNKNOWN, {WORDS}, retry=Retry.now()', f'"aa", ErrorCode.NOT_FOUND, {WORDS}, retry=UNKNOWN'],
    ),
    "error-contract-hint-too-long": (
        [f'"aa", ErrorCode.NOT_FOUND, when="x", recovery="{"word " * 101}"',
         f'"aa", ErrorCode.NOT_FOUND, when="{"w" * 1001}", {GOOD}',
         f'"aa", ErrorCode.NOT_FOUND, {WORDS}, user_message="{"w" * 501}"',
         f'"aa", ErrorCode.NOT_FOUND, when="x", recovery="{"w" * 300}" "{"w" * 300}"',
         f'"aa", ErrorCode.NOT_FOUND, when="x", recovery=f"{"w" * 501}{{TEXT}}"'],
        [f'"aa", ErrorCode.NOT_FOUND, when="x", recovery="{"w" * 500}"',
         f'"aa", ErrorCode.NOT_FOUND, when="{"w" * 1000}", {GOOD}', f'"aa", ErrorCode.NOT_FOUND, {WORDS}',
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery=TEXT * 600',
         f'"aa", ErrorCode.NOT_FOUND, when="x", recovery=f"{"w" * 400}{{TEXT}}"'],
    ),
}  # fmt: skip


def product(faults, spellings, index):
    """A third of all pairs, such that each fault meets every third spelling and each spelling every third fault."""
    for rule, pair in faults.items():
        for number, thing in enumerate(pair[index]):
            for other, (name, spelling) in enumerate(spellings.items()):
                if (number + other) % 3 == 0:
                    yield pytest.param(rule, spelling, thing, id=f"{rule}-{number}-{name}")


@pytest.mark.parametrize(("rule", "spelling", "thing"), list(product(ENTRY_FAULTS, ENTRY_SPELLINGS, 0)))
def test_a_fault_of_an_entry_is_found_however_the_contract_is_written(rule, spelling, thing, tmp_path):
    """Each fault is found in each way to write a contract."""
    code, files = written(spelling, thing)
    ast.parse(code)
    assert lint(rule, code, files, tmp_path), f"{rule} must find something in:\n{code}"


@pytest.mark.parametrize(("rule", "spelling", "thing"), list(product(ENTRY_FAULTS, ENTRY_SPELLINGS, 1)))
def test_a_near_miss_of_an_entry_is_left_alone_however_the_contract_is_written(rule, spelling, thing, tmp_path):
    """What only looks like a fault is found in no way to write a contract."""
    code, files = written(spelling, thing)
    ast.parse(code)
    found = [each.message for each in lint(rule, code, files, tmp_path)]
    assert not found, f"{rule} must find nothing in:\n{code}"
