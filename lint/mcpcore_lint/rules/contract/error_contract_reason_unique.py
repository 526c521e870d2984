"""The rule error-contract-reason-unique."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, ClassVar

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rules._wording import shortened
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.contract._entries import Entry, contracts_of, entries_of

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Related
    from mcpcore_lint.model import Contract, ContractEntry, ToolDef
    from mcpcore_lint.rules.base import Family


class ContractReasonUnique(Rule):
    """One reason for two failures."""

    id = "error-contract-reason-unique"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "the same reason twice in one contract"
    why = "`ctx.fail(reason)` can mean only one of them, so the contract is refused at import."
    bad = 'errors=[FailureMode("no_match", ...), FailureMode("no_match", ...)]'
    good = 'errors=[FailureMode("no_match", ...), FailureMode("no_access", ...)]'
    how_to_fix = "Give each failure mode a reason of its own, or join the two."
    when_to_suppress = "Never: the tool cannot be imported."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each reason that the contract has had before."""
        for contract in contracts_of(tool, ctx):
            first: dict[str, tuple[int, ContractEntry]] = {}
            for index, entry in entries_of(contract, ctx):
                text = entry.reason_text
                if not entry.is_failure_mode or text is None or not text.strip():
                    continue
                if text not in first:
                    first[text] = (index, entry)
                elif first[text][0] != index:
                    self._report(text, first[text][1], entry, contract, tool, ctx)

    @staticmethod
    def _report(
        text: str, before: ContractEntry, entry: ContractEntry, contract: Contract, tool: ToolDef, ctx: RuleContext
    ) -> None:
        message = f"the reason {shortened(text)!r} is declared twice"
        step = "give each failure mode a reason of its own, or join the two"
        wrapped = Entry(entry, tool, 0)
        if entry.inline:
            node, module, owner = *wrapped.place(entry.reason), tool
        elif entry.call is not before.call and _in_one_list(before, entry):
            node, module, owner = *wrapped.place(entry.reason), None
        else:
            # Each of the two is right by itself: it is this tool that brings them together.
            node, module, owner = contract.node, contract.module, tool
        related: tuple[Related, ...] = ()
        if before.call is not None and before.call is not entry.call:
            related = (ctx.related(before.call, "declared first here", before.module),)
        ctx.report(node, message, help=step, tool=owner, module=module, related=related)


def _in_one_list(left: ContractEntry, right: ContractEntry) -> bool:
    """Whether two entries stand in the same list or tuple of one file."""
    if left.module is not right.module:
        return False
    parents = left.module.parents

    def display(entry: ContractEntry) -> ast.AST | None:
        return parents.get(entry.node)

    above = display(left)
    return isinstance(above, (ast.List, ast.Tuple)) and above is display(right)
