"""The rule error-contract-empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.contract._entries import contracts_of, is_mcpcore_contract

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef
    from mcpcore_lint.rules.base import Family


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
            each.state == "sequence" and each.complete and not each.entries and is_mcpcore_contract(tool, each)
            for each in contracts
        ):
            return
        ctx.report(
            contracts[0].node,
            f"the contract of {tool.display_name} is empty",
            help="leave errors out, or declare the ways in which the tool fails",
            tool=tool,
        )
