"""The rule error-contract-entry-type."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Items, Symbol, options
from mcpcore_lint.rules._wording import described
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.contract._entries import contracts_of, entries_of, is_mcpcore_contract
from mcpcore_lint.rules.contract._values import FAILURE_MODE, certainly_not

if TYPE_CHECKING:
    from mcpcore_lint.model import Contract, ToolDef, Value
    from mcpcore_lint.rules.base import Family


_ENTRY: Final = frozenset({FAILURE_MODE})


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
            if contract.state != "sequence" or not is_mcpcore_contract(tool, contract):
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
