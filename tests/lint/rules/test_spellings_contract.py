"""The contract and conformance rules through many spellings: each fault in each way to write it, and each near miss.

A rule has faults and near misses; a spelling is a way to write what has the fault. Every fault is tried in every spelling
and must be found, every near miss in every spelling and must not be.
"""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass, field

import pytest
from mcpcore_lint.runner.engine import lint_source
from mcpcore_lint.settings import Settings

from tests.lint.fixing import fix_for_good
from tests.tables import in_one_test

PATH = "server.py"


@dataclass(frozen=True)
class Spelling:
    """A template: `<X>` is replaced by the fault or near miss."""

    code: str
    files: dict[str, str] = field(default_factory=dict)


def lint(rule, code, files, tmp_path):
    """The findings of one rule in a small project."""
    report = lint_source(code, path=PATH, settings=Settings(select=frozenset({rule})), root=str(tmp_path), files=files)
    assert not report.failures, report.failures
    return [diagnostic for diagnostic in report.diagnostics if diagnostic.rule == rule]


def written(spelling, thing):
    """The files of a spelling with `<X>` replaced."""
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
         '"aa", ErrorCode.NOT_FOUND, when="x", recovery=NOTHING',
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
    """A third of all pairs: each fault is tried in every third spelling, and each spelling with every third fault."""
    for rule, pair in faults.items():
        for number, thing in enumerate(pair[index]):
            for other, (name, spelling) in enumerate(spellings.items()):
                if (number + other) % 3 == 0:
                    yield pytest.param(rule, spelling, thing, id=f"{rule}-{number}-{name}")


# ---------------------------------------------------------------------------------------------------------------------
# Faults of one error, by the expression that makes it.
# ---------------------------------------------------------------------------------------------------------------------

SERVER_HEAD = """\
import enum
import functools
import mcpcore
import mcpcore as m
from typing import Literal
from elsewhere import TEXT, UNKNOWN, audited, load
from mcpcore import CodedError, Context, ErrorCode, FailureMode, Server, conflict, not_found, timeout, tool
from mcpcore import forbidden as no_entry, not_found as nf
from pydantic import BaseModel

TYPO = "gonne"
GONE = "gone"

class Reasons(enum.StrEnum):
    GONE = "gone"
    TYPO = "gonne"

class Gone(BaseModel):
    pmid: str

ERRORS = [
    FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_all to see what there is."),
    FailureMode("full", ErrorCode.RATE_LIMITED, when="It is full.", recovery="Ask for fewer articles at once."),
    FailureMode("told", ErrorCode.CONFLICT, when="It moved.", recovery="Read it again and write.", data=Gone),
]

"""
TOOL = "@tool(errors=ERRORS)\nasync def fetch(ctx: Context, pmid: str, more: dict) -> str:\n"


def in_tool(body):
    """A handler with the given body."""
    return Spelling(f"{SERVER_HEAD}{TOOL}{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n")


ERROR_SPELLINGS = {
    "raised": in_tool("raise <X>"),
    "with a cause": in_tool("try:\n    load(pmid)\nexcept Exception as error:\n    raise <X> from error"),
    "built first": in_tool("error = <X>\nif pmid:\n    raise error\nreturn pmid"),
    "annotated": in_tool("error: CodedError = <X>\nraise error"),
    "conditional": in_tool("raise (<X> if pmid else UNKNOWN)"),
    "walrus": in_tool("if (error := <X>) and pmid:\n    raise error\nreturn pmid"),
    "with_traceback": in_tool("raise (<X>).with_traceback(None)"),
    "called nested": in_tool("def inner():\n    raise <X>\nreturn inner()"),
    "match": in_tool("match pmid:\n    case '1' | '2' if more:\n        raise <X>\n    case _:\n        return pmid"),
    "finally": in_tool("try:\n    return load(pmid)\nfinally:\n    if more:\n        raise <X>"),
    "loop": in_tool("for each in more:\n    while each:\n        raise <X>\nelse:\n    return pmid"),
    "with": in_tool("async with load(pmid) as one, UNKNOWN:\n    raise <X>"),
    "re-raised by name": in_tool("try:\n    raise <X>\nexcept CodedError as error:\n    raise error"),
    "re-raised bare": in_tool("try:\n    raise <X>\nexcept m.CodedError:\n    print(pmid)\n    raise"),
    "missed by its clause": in_tool("try:\n    raise <X>\nexcept OSError:\n    return ''"),
    "group": in_tool("raise ExceptionGroup('all', [<X>])"),
    "one line": in_tool("if pmid: raise <X>"),
    "method": Spelling(
        f"{SERVER_HEAD}server = Server('x')\nclass Tools:\n    @server.tool(errors=[*ERRORS])\n"
        "    async def fetch(self, ctx: Context, pmid: str, more: dict) -> str:\n        raise <X>\n"
    ),
    "under decorators": Spelling(
        f"{SERVER_HEAD}@m.tool(errors=tuple(ERRORS))\n@audited('x')\n@functools.cache\n"
        "def fetch(ctx: Context, pmid: str, more: dict) -> str:\n    raise <X>\n"
    ),
    "nested tool": Spelling(
        f"{SERVER_HEAD}def register(server: Server) -> None:\n    @server.tool(errors=ERRORS)\n"
        "    def fetch(ctx: Context, pmid: str, more: dict) -> str:\n        raise <X>\n"
    ),
    "add_tool": Spelling(
        f"{SERVER_HEAD}def fetch(ctx: Context, pmid: str, more: dict) -> str:\n    raise <X>\n"
        "Server('x').add_tool(fetch, errors=ERRORS)\n"
    ),
    "tabs": Spelling(
        f"{SERVER_HEAD}@tool(errors=ERRORS)\ndef fetch(ctx: Context, pmid: str, more: dict) -> str:\n\tif pmid:\n\t\traise <X>\n"
    ),
}

ERROR_FAULTS = {
    "error-contract-conformance": (
        ["no_entry('x')", "m.forbidden('x', data=more)", "CodedError(ErrorCode.FORBIDDEN, 'x')",
         "mcpcore.CodedError(code=m.ErrorCode.UNAUTHORIZED)", "CodedError(-32005, 'x')", "m.errors.forbidden()"],
        ["ctx.fail('gone')", "not_found('x')", "timeout('x')", "m.validation_error('x')",
         "CodedError(ErrorCode.INTERNAL_ERROR, 'x')", "CodedError(UNKNOWN, 'x')", "UNKNOWN.forbidden('x')",
         "no_entry('x', reason='other')"],
    ),
    "error-contract-prefer-fail": (
        ["not_found('x')", "nf('x', {'a': pmid})", "m.not_found()", "CodedError(ErrorCode.NOT_FOUND, 'x')",
         "CodedError(-32001, message='x')", "m.rate_limited(f'no {pmid}')"],
        ["ctx.fail('gone')", "no_entry('x')", "timeout('x')", "not_found('x', reason='other')",
         "UNKNOWN.not_found('x')", "CodedError(UNKNOWN)"],
    ),
    "error-contract-fail-undeclared": (
        ["ctx.fail('gonne')", "ctx.fail(reason='gonne')", "ctx.fail(TYPO, 'x')", "ctx.fail(Reasons.TYPO)",
         "ctx.fail('go' + 'nne')", "ctx.fail('gone' if more else 'gonne')", "ctx.fail(Reasons.TYPO.value)"],
        ["ctx.fail('gone')", "ctx.fail(GONE)", "ctx.fail(Reasons.GONE)", "ctx.fail(pmid)", "ctx.fail(TEXT)",
         "UNKNOWN.fail('gonne')", "ctx.fail(f'{pmid}')", "not_found('x', reason='gonne')"],
    ),
    "error-contract-undeclared-reason": (
        ["not_found('x', reason='gonne')", "m.conflict(reason=TYPO)", "no_entry('x', None, reason=Reasons.TYPO)",
         "CodedError(ErrorCode.NOT_FOUND, 'x', reason='gonne')", "CodedError(-32001, reason='gon' 'ne')"],
        ["not_found('x', reason='gone')", "not_found('x', reason=TEXT)", "not_found('x', reason=pmid)", "not_found('x')",
         "ctx.fail('gonne')", "not_found('x', reason=None)", "not_found('x', data={'reason': 'gone'})"],
    ),
    "error-contract-code-mismatch": (
        ["conflict('x', reason='gone')", "m.timeout(reason=GONE)", "no_entry('x', reason=Reasons.GONE)",
         "CodedError(ErrorCode.CONFLICT, 'x', reason='gone')", "CodedError(-32001, reason='full')"],
        ["not_found('x', reason='gone')", "CodedError(-32001, 'x', reason='gone')", "conflict('x', reason=TEXT)",
         "CodedError(UNKNOWN, reason='gone')", "conflict('x', reason='other')", "ctx.fail('gone')"],
    ),
    "error-contract-data-mismatch": (
        ["ctx.fail('told')", "ctx.fail('told', data={})", "ctx.fail('told', 'x', {'id': pmid})",
         "ctx.fail('told', data={'pmid': pmid, 'extra': 1})", "ctx.fail('told', data=dict(id=pmid))",
         "ctx.fail(reason='told', data=None)"],
        ["ctx.fail('told', data={'pmid': pmid})", "ctx.fail('told', data=more)", "ctx.fail('told', data={**more})",
         "ctx.fail('told', data=Gone(pmid=pmid).model_dump())", "ctx.fail('gone', data={'x': 1})",
         "ctx.fail('told', data=dict(pmid=pmid))", "ctx.fail(pmid, data={'x': 1})"],
    ),
    "error-contract-message-data": (
        ["ctx.fail('gone', f'no {pmid}')", "ctx.fail('gone', message=f'no {pmid!r}', data={})",
         "ctx.fail('gone', 'no {}'.format(pmid))", "ctx.fail('gone', 'no %s' % pmid)", "ctx.fail('gone', 'no ' + pmid)",
         "ctx.fail('gone', f'no {pmid}', data={'other': 1})"],
        ["ctx.fail('gone', f'no {pmid}', data={'pmid': pmid})", "ctx.fail('gone', 'none')", "ctx.fail('gone')",
         "ctx.fail('gone', f'no {pmid}', data=more)", "ctx.fail('gone', f'no {GONE}')",
         "ctx.fail('gone', f'no {pmid}', {'id': pmid})", "ctx.fail('gone', TEXT)"],
    ),
}  # fmt: skip


@in_one_test("spelling", ERROR_SPELLINGS.values())
def test_a_reason_that_is_raised_in_any_way_is_thrown(spelling, tmp_path):
    """However a declared reason is raised, it counts as raised, and other reasons do not."""
    code, files = written(spelling, "ctx.fail('gone')")
    unsure = "UNKNOWN" in code.replace(SERVER_HEAD, "")
    messages = [finding.message for finding in lint("error-contract-unthrown", code, files, tmp_path)]
    assert not any("'gone'" in message for message in messages)
    assert unsure or [message for message in messages if "'full'" in message]


@in_one_test("spelling", ERROR_SPELLINGS.values())
def test_a_coded_error_without_a_contract_is_found_however_it_is_raised(spelling, tmp_path):
    """A tool without a contract needs one, unless it raises only baseline codes."""
    for thing, expected in (("nf('x')", True), ("timeout('x')", False), ("UNKNOWN('x')", False)):
        code, files = written(spelling, thing)
        for errors_argument in ("(errors=ERRORS)", "(errors=[*ERRORS])", "(errors=tuple(ERRORS))"):
            code = code.replace(errors_argument, "()")
        code = code.replace(", errors=ERRORS)", ")")
        assert bool(lint("error-contract-missing", code, files, tmp_path)) is expected, code


# ---------------------------------------------------------------------------------------------------------------------
# Faults of a contract as a whole, of a context, of a result, and errors that are never raised.
# ---------------------------------------------------------------------------------------------------------------------

A = 'FailureMode("aa", ErrorCode.NOT_FOUND, when="x", recovery="y")'
B = 'FailureMode("bb", ErrorCode.CONFLICT, when="x", recovery="y")'
FILE_FAULTS = {
    "error-contract-type": (
        [f"@tool(errors={A})\ndef one() -> str: ...", f'@tool(errors={{"aa": {A}}})\ndef one() -> str: ...',
         "@tool(errors='aa')\ndef one() -> str: ...", f"ERRORS = {{{A}, {B}}}\n@tool(errors=ERRORS)\ndef one() -> str: ...",
         "@tool(errors=True)\ndef one() -> str: ...",
         f"def one() -> str: ...\nServer('x').add_tool(one, errors={A})"],
        [f"@tool(errors=[{A}])\ndef one() -> str: ...", f"@tool(errors=({A},))\ndef one() -> str: ...",
         "@tool(errors=UNKNOWN)\ndef one() -> str: ...", f"@tool(errors=list([{A}]))\ndef one() -> str: ...",
         f"@tool(errors=m.Contract([{A}]))\ndef one() -> str: ..."],
    ),
    "error-contract-empty": (
        ["@tool(errors=[])\ndef one() -> str: ...", "@tool(errors=())\ndef one() -> str: ...",
         "ERRORS = []\n@m.tool(errors=[*ERRORS])\ndef one() -> str: ...", "@tool(errors=[] + [])\ndef one() -> str: ...",
         "@tool(\n  errors = [ # nothing yet\n  ]\n , )\ndef one() -> str: ...", "@tool(errors=list())\ndef one() -> str: ..."],
        [f"@tool(errors=[{A}])\ndef one() -> str: ...", "@tool(errors=[*UNKNOWN])\ndef one() -> str: ...",
         "@tool\ndef one() -> str: ...", "@tool(errors=UNKNOWN or [])\ndef one() -> str: ...",
         f"@tool(errors=[] + [{A}])\ndef one() -> str: ..."],
    ),
    "error-contract-entry-type": (
        ["@tool(errors=['aa'])\ndef one() -> str: ...", "@tool(errors=[not_found('x')])\ndef one() -> str: ...",
         f"ERRORS = [{A}]\n@tool(errors=[ERRORS])\ndef one() -> str: ...", "@tool(errors=[FailureMode])\ndef one() -> str: ...",
         "@tool(errors=(ErrorCode.NOT_FOUND,))\ndef one() -> str: ...", "@tool(errors=[None])\ndef one() -> str: ...",
         "@tool(errors=[dict(reason='aa')])\ndef one() -> str: ..."],
        [f"ERRORS = [{A}]\n@tool(errors=[*ERRORS])\ndef one() -> str: ...", "@tool(errors=[UNKNOWN])\ndef one() -> str: ...",
         "@tool(errors=[load()])\ndef one() -> str: ...", "@tool(errors=[*load()])\ndef one() -> str: ...",
         f"def make(): return {A}\n@tool(errors=[make()])\ndef one() -> str: ..."],
    ),
    "error-contract-reason-unique": (
        [f"@tool(errors=[{A}, {A}])\ndef one() -> str: ...", f"ONE = {A}\n@tool(errors=[ONE, ONE])\ndef one() -> str: ...",
         f"COMMON = [{A}]\n@tool(errors=[*COMMON, {A}])\ndef one() -> str: ...",
         f"COMMON = ({A},)\n@tool(errors=COMMON + COMMON)\ndef one() -> str: ...",
         f"@tool(errors=[{A}, *UNKNOWN, {B}, {A}])\ndef one() -> str: ...",
         f"@tool(errors=[{A}, FailureMode(Reasons.AA, ErrorCode.TIMEOUT, when='x', recovery='y')])\ndef one() -> str: ..."],
        [f"@tool(errors=[{A}, {B}])\ndef one() -> str: ...", f"@tool(errors=[{A}, *UNKNOWN])\ndef one() -> str: ...",
         f"ONE = {A}\n@tool(errors=[ONE])\ndef one() -> str: ...\n@tool(errors=[ONE])\ndef two() -> str: ...",
         f"@tool(errors=[{A}] if UNKNOWN else [{A}])\ndef one() -> str: ...",
         f"@tool(errors=[{A}, FailureMode(TEXT, ErrorCode.TIMEOUT, when='x', recovery='y')])\ndef one() -> str: ..."],
    ),
    "error-contract-context-mismatch": (
        [f"@tool(errors=[{A}])\ndef one(ctx: Context) -> str: ...",
         f'@tool(errors=[{A}])\ndef one(ctx: Context[Literal["zz"]]) -> str: ...',
         f'R = Literal["zz"]\n@tool(errors=[{A}])\ndef one(ctx: m.Context[R]) -> str: ...',
         f'@tool(errors=[{A}, {B}])\ndef one(ctx: Context[Literal["aa"]]) -> str:\n    raise ctx.fail("bb")',
         f"@tool(errors=[{A}])\ndef one(c: 'Context[Literal[\"zz\"]]') -> str: ...",
         f'@tool(errors=[{A},  # first\n])\ndef one(ctx: Context [ Literal [ "zz" , ] ], ) -> str: ...',
         f'@tool(errors=[{A}])\ndef one(text: str, ctx: Context[Literal["aa"]]) -> str: ...',
         f'class T:\n    @tool(errors=[{A}])\n    def one(self, text: str, *, ctx: Context[Literal["aa"]]) -> str: ...'],
        [f'@tool(errors=[{A}])\ndef one(ctx: Context[Literal["aa"]]) -> str: ...', "@tool\ndef one(ctx: Context) -> str: ...",
         f"@tool(errors=[{A}, *UNKNOWN])\ndef one(ctx: Context) -> str: ...", f"@tool(errors=[{A}])\ndef one(text: str) -> str: ...",
         f"@tool(errors=[{A}])\ndef one(ctx: Context[UNKNOWN]) -> str: ...",
         f'class T:\n    @tool(errors=[{A}])\n    def one(self, ctx: Context[Literal["aa"]], text: str) -> str: ...'],
    ),
    "output-error-field": (
        ["class O(BaseModel):\n    error: str\n@tool\ndef one() -> O: ...",
         "class P(BaseModel):\n    error: str = ''\nclass O(P): ...\n@m.tool()\nasync def one() -> O: ...",
         "class O(TypedDict):\n    error: str\n@tool\ndef one() -> O: ...",
         "@dataclasses.dataclass\nclass O:\n    error: str\n@tool\ndef one() -> O: ...",
         "class O(BaseModel):\n    problem: str = Field(serialization_alias='error')\n@tool\ndef one() -> 'O': ..."],
        ["class O(BaseModel):\n    errors: list[str]\n@tool\ndef one() -> O: ...",
         "class O(BaseModel):\n    error: str\n@tool\ndef one() -> list[O]: ...",
         "class O(BaseModel):\n    error: str\ndef one() -> O: ...", "@tool\ndef one() -> UNKNOWN: ...",
         "class O(BaseModel):\n    error: str = Field('', exclude=True)\n@tool\ndef one() -> O: ..."],
    ),
    "error-contract-fail-not-raised": (
        [f'@tool(errors=[{A}])\ndef one(ctx: Context) -> str:\n    {line}\n    return ""'
         for line in ('ctx.fail("aa")', 'return ctx.fail("aa")', "not_found('x')", 'error = ctx.fail("aa")',
                      'if ctx: m.conflict("x")', "CodedError(-32001)", 'with UNKNOWN:\n        ctx.fail("aa")  # why')],
        [f'@tool(errors=[{A}])\ndef one(ctx: Context) -> str:\n    {line}\n    return ""'
         for line in ('raise ctx.fail("aa")', 'UNKNOWN(ctx.fail("aa"))', 'error = not_found("x")\n    raise error',
                      'errors = [ctx.fail("aa")]\n    print(errors)', 'UNKNOWN.error = ctx.fail("aa")',
                      'make = lambda: ctx.fail("aa")\n    raise make()', 'ctx.recovery_for("aa")')],
    ),
}  # fmt: skip
FILE_HEAD = """\
import dataclasses
import enum
import mcpcore as m
from typing import Literal, TypedDict
from elsewhere import TEXT, UNKNOWN, load
from mcpcore import CodedError, Context, ErrorCode, FailureMode, Server, not_found, tool
from pydantic import BaseModel, Field

class Reasons(enum.StrEnum):
    AA = "aa"

"""


def file_cases(index):
    """The whole files of each rule."""
    return [
        pytest.param(rule, f"{FILE_HEAD}{code}\n", id=f"{rule}-{number}")
        for rule, pair in FILE_FAULTS.items()
        for number, code in enumerate(pair[index])
    ]


def cases(index):
    """A program for each fault, or near miss: of an entry in each way to write a contract, of an error, and of a tool."""
    for faults, spellings in ((ENTRY_FAULTS, ENTRY_SPELLINGS), (ERROR_FAULTS, ERROR_SPELLINGS)):
        for case in product(faults, spellings, index):
            rule, spelling, thing = case.values
            yield pytest.param(rule, *written(spelling, thing), id=case.id)
    for case in file_cases(index):
        yield pytest.param(*case.values, {}, id=case.id)


@in_one_test(("rule", "code", "files"), list(cases(0)))
def test_a_fault_is_found_however_it_is_written(rule, code, files, tmp_path):
    """Each fault is found in each way to write a contract, or to raise an error."""
    ast.parse(code)
    assert lint(rule, code, files, tmp_path), f"{rule} must find something in:\n{code}"


@in_one_test(("rule", "code", "files"), list(cases(1)))
def test_a_near_miss_is_left_alone_however_it_is_written(rule, code, files, tmp_path):
    """Near misses have no finding in any of these ways."""
    ast.parse(code)
    messages = [finding.message for finding in lint(rule, code, files, tmp_path)]
    assert not messages, f"{rule} must find nothing in:\n{code}"


# ---------------------------------------------------------------------------------------------------------------------
# Fixes.
# ---------------------------------------------------------------------------------------------------------------------

FIXED = {
    "error-contract-code-type",
    "error-contract-context-mismatch",
    "error-contract-fail-not-raised",
    "error-contract-fail-undeclared",
    "error-contract-prefer-fail",
    "error-contract-reason-format",
}


def fix_cases():
    """Each spelling of fixable code."""
    yield from (case for case in cases(0) if case.values[0] in FIXED)
    for name, spelling in ERROR_SPELLINGS.items():
        code, files = written(spelling, "nf('x')")
        for errors_argument in ("(errors=ERRORS)", "(errors=[*ERRORS])", "(errors=tuple(ERRORS))"):
            code = code.replace(errors_argument, "()")
        code = code.replace(", errors=ERRORS)", ")")
        yield pytest.param("error-contract-missing", code, files, id=f"error-contract-missing-{name}")


@in_one_test(("rule", "code", "files"), list(fix_cases()))
def test_a_fix_in_any_spelling_parses_and_is_idle_the_second_time(rule, code, files, tmp_path):
    """Fixed code parses, keeps its line ends, and is not changed by a second run."""
    chosen = Settings(select=frozenset({rule}))
    results = []
    for end in ("\n", "\r\n"):
        text = code.replace("\n", end)
        fixed, _ = fix_for_good(text, path=PATH, settings=chosen, root=str(tmp_path), files=files, unsafe=True)
        assert fixed.after.count("\n") == fixed.after.count(end)
        results.append(fixed.after.replace("\r\n", "\n"))
    assert results[0] == results[1]
