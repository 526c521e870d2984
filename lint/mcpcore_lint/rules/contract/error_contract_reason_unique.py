"""error-contract-reason-unique."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._contracts import contracts_of, entries_of
from mcpcore_lint.rules._wording import shortened
from mcpcore_lint.rules.contract._entries import Entry

if TYPE_CHECKING:
    from mcpcore_lint.model import Contract, ContractEntry, ToolDef
    from mcpcore_lint.syntax.module import Module


class ContractReasonUnique(Rule):
    """Two entries of a contract have the same reason."""

    id = "error-contract-reason-unique"
    severity = Severity.ERROR
    family = "contract"
    summary = "the same reason twice in one contract"
    why = "The server fails at import: `ctx.fail(reason)` and clients could not tell the two failures apart."
    bad = 'errors=[FailureMode("no_match", ...), FailureMode("no_match", ...)]'
    good = 'errors=[FailureMode("no_match", ...), FailureMode("no_access", ...)]'
    how_to_fix = "Give each failure mode its own reason, or merge the two."
    when_to_suppress = "Never: the server does not start."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each reason that an earlier entry of the contract has."""
        for contract in contracts_of(tool):
            first: dict[str, tuple[int, ContractEntry]] = {}
            for index, entry in entries_of(contract):
                reason = entry.reason_text
                if not entry.is_failure_mode or reason is None or not reason.strip():
                    continue
                position, earlier = first.setdefault(reason, (index, entry))
                if position != index:
                    self._report(reason, earlier, entry, contract, tool, ctx)

    @staticmethod
    def _report(
        reason: str, earlier: ContractEntry, entry: ContractEntry, contract: Contract, tool: ToolDef, ctx: RuleContext
    ) -> None:
        # Two shared entries that are right by themselves are wrong in this tool, which brings them together.
        node: ast.AST = contract.node
        module: Module = contract.module
        owner: ToolDef | None = tool
        if entry.inline:
            node, module = Entry(entry, tool, 0).place(entry.reason)
        elif entry.call is not earlier.call and _in_one_list(earlier, entry):
            (node, module), owner = Entry(entry, None, 0).place(entry.reason), None
        other = earlier.call if earlier.call is not entry.call else None
        ctx.report(
            node,
            f"the reason {shortened(reason)!r} is declared twice",
            help="give each failure mode its own reason, or merge the two",
            tool=owner,
            module=module,
            related=() if other is None else [ctx.related(other, "declared first here", earlier.module)],
        )


def _in_one_list(left: ContractEntry, right: ContractEntry) -> bool:
    """Whether two entries are written in the same list or tuple."""
    if left.module is not right.module:
        return False
    parent = left.module.parents.get(left.node)
    return isinstance(parent, (ast.List, ast.Tuple)) and parent is left.module.parents.get(right.node)
