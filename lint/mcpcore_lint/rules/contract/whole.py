"""The rules about `errors` as a whole, and about what may stand in it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, CodeValue, Const, Items, Mapping, Symbol, Text, options
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.contract.entries import (
    FAILURE_MODE,
    NOT_ENTRIES,
    certainly_not,
    contracts_of,
    described,
    entries_of,
)
from mcpcore_lint.semantics.evaluate import evaluate

if TYPE_CHECKING:
    from mcpcore_lint.model import Contract, ToolDef, Value
    from mcpcore_lint.rules.base import Family

_NOT_SEQUENCES: Final = frozenset(
    {"builtins.dict", "builtins.set", "builtins.frozenset", "builtins.str", "builtins.iter"}
)
_ENTRY: Final = frozenset({FAILURE_MODE})


class ContractType(Rule):
    """`errors` that is no list."""

    id = "error-contract-type"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "`errors` is present but is not a list or tuple"
    why = (
        "A contract is a sequence: its order is the order in `tools/list`. Anything else is refused at import, or "
        "loses the order and the types of the reasons."
    )
    bad = '@tool(errors={"no_match": ErrorCode.NOT_FOUND})'
    good = '@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")])'
    how_to_fix = "Give a list or a tuple of `FailureMode`, also where there is only one: `errors=[mode]`."
    when_to_suppress = "Never: the tool cannot be imported."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a contract that is something else for certain."""
        if tool.contract is None and (none := _given_none(tool)) is not None:
            ctx.report(
                none,
                f"the errors of {tool.display_name} is None, not a list or tuple of FailureMode",
                help="leave errors out, or write errors=[FailureMode(...), ...]",
                tool=tool,
            )
        for contract in contracts_of(tool, ctx):
            if contract.state == "sequence" or not _ours(tool, contract):
                continue
            what = _no_sequence(contract.value)
            if what is None or _in_contract(contract.value):
                continue
            single = isinstance(contract.value, CallValue) and contract.value.func.name == FAILURE_MODE
            step = "write errors=[...], also for one failure mode" if single else "write errors=[FailureMode(...), ...]"
            ctx.report(
                contract.node,
                f"the errors of {tool.display_name} is {what}, not a list or tuple of FailureMode",
                help=step,
                tool=tool,
            )
            return


def _ours(tool: ToolDef, contract: Contract) -> bool:
    """Whether `errors` is mcpcore's: another framework may have an option of that name."""
    return tool.flavour == "mcpcore" or any(each.is_failure_mode for each in contract.entries)


def _given_none(tool: ToolDef) -> ast.expr | None:
    """The None that `@mcpcore.tool(errors=None)` is given, which refuses it; a server's own `tool` takes it."""
    call = tool.registration
    for each in call.keywords if isinstance(call, ast.Call) and tool.flavour == "mcpcore" else ():
        if each.arg == "errors" and isinstance(each.value, ast.Constant) and each.value.value is None:
            maker = evaluate(call.func, tool.module.scope) if isinstance(call, ast.Call) else None
            return each.value if isinstance(maker, Symbol) and maker.name == "mcpcore.tool" else None
    return None


def _no_sequence(value: Value) -> str | None:
    """What a value is that is for certain neither a list nor a tuple; None where it may be one."""
    written = {ast.GeneratorExp: "a generator", ast.DictComp: "a dict", ast.SetComp: "a set"}.get(type(value.node))
    if isinstance(value, (Const, Text, Mapping, CodeValue)):
        return described(value)
    if isinstance(value, Items):
        return None if value.kind != "set" else "a frozenset" if _calls_frozenset(value) else "a set"
    if isinstance(value, CallValue):
        name = value.func.name
        if name in {"builtins.list", "builtins.tuple", "builtins.sorted", "mcpcore.Contract"}:
            return None
        known = name in NOT_ENTRIES or name in _NOT_SEQUENCES or name == FAILURE_MODE
        return described(value) if known else None
    if isinstance(value, Symbol):
        named = value.name == FAILURE_MODE or value.name in NOT_ENTRIES or value.name.startswith("builtins.")
        return described(value) if named or isinstance(value.definition, ast.ClassDef) else None
    return written


def _in_contract(value: Value) -> bool:
    """Whether a value is what a `Contract(...)` is made of, which may be anything that can be iterated over."""
    if value.module is None or value.node is None or isinstance(value, Mapping):
        return False
    parent = value.module.parents.get(value.node)
    return isinstance(parent, ast.Call) or (isinstance(parent, ast.keyword) and parent.arg != "errors")


def _calls_frozenset(value: Items) -> bool:
    return isinstance(value.node, ast.Call) and ast.unparse(value.node.func) == "frozenset"


class ContractEmpty(Rule):
    """`errors=[]` says less than leaving it out."""

    id = "error-contract-empty"
    severity = Severity.WARNING
    family: ClassVar[Family] = "contract"
    summary = "`errors=[]`: leave it out, or declare real failure modes"
    why = "An empty contract promises that the tool never fails, which few tools can keep, and declares nothing."
    bad = "@tool(errors=[])\ndef fetch() -> str: ..."
    good = "@tool\ndef fetch() -> str: ..."
    how_to_fix = "Leave `errors` out, or declare the ways in which the tool fails."
    when_to_suppress = "While a tool is being written."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a contract that has no entry for certain, whichever branch is taken."""
        contracts = contracts_of(tool, ctx)
        if not contracts or not all(
            each.state == "sequence" and each.complete and not each.entries and _ours(tool, each) for each in contracts
        ):
            return
        ctx.report(
            contracts[0].node,
            f"the contract of {tool.display_name} is empty",
            help="leave errors out, or declare the ways in which the tool fails",
            tool=tool,
        )


class ContractEntryType(Rule):
    """An entry that is no failure mode."""

    id = "error-contract-entry-type"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "an entry is not a FailureMode"
    why = "Only a `FailureMode` ties a reason to a code, a circumstance and a recovery; all else is refused at import."
    bad = '@tool(errors=["no_match", not_found("...")])'
    good = '@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")])'
    how_to_fix = "Write a `FailureMode(...)`; put a list of entries into another with `*`: `errors=[*COMMON, mode]`."
    when_to_suppress = "Never: the tool cannot be imported."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each entry that is something else for certain."""
        for contract in contracts_of(tool, ctx):
            if contract.state != "sequence" or not _ours(tool, contract):
                continue
            for index, entry in entries_of(contract, ctx):
                value = entry.value
                if entry.is_failure_mode or not certainly_not(value, _ENTRY, ctx):
                    continue
                # An entry of a shared list is wrong for this tool: the list may be something else for others.
                at = value.node if entry.inline and value.node is not None else _written(contract, value)
                ctx.report(
                    at,
                    f"errors[{index}] of {tool.display_name} is {described(value)}, not a FailureMode",
                    help=_instead(value),
                    tool=tool,
                )


def _written(contract: Contract, value: Value) -> ast.AST:
    """The part of `errors=...` that a value comes from: the name of it in the list, else the whole."""
    if isinstance(contract.node, (ast.List, ast.Tuple)) and len(contract.node.elts) == len(contract.entries):
        for node, entry in zip(contract.node.elts, contract.entries, strict=True):
            if not isinstance(node, ast.Starred) and value in options(entry.value):
                return node
    return contract.node


def _instead(value: Value) -> str:
    if isinstance(value, (Items, CallValue)) and (isinstance(value, Items) or value.func.name == "mcpcore.Contract"):
        inner = value.items if isinstance(value, Items) else ()
        if isinstance(value, CallValue) or all(
            isinstance(each, CallValue) and each.func.name == FAILURE_MODE for each in inner
        ):
            return "unpack it with a star: errors=[*COMMON, ...]"
    if isinstance(value, Symbol) and value.name == FAILURE_MODE:
        return 'call it: FailureMode("reason", ErrorCode.NOT_FOUND, when="...", recovery="...")'
    return 'write FailureMode("reason", ErrorCode.NOT_FOUND, when="...", recovery="...")'
