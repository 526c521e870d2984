"""error-contract-reason-unique."""

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import ContractEntry, ToolDef
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._tools import contracts_of, entries_of
from mcpcore_lint.rules._wording import shortened
from mcpcore_lint.rules.contract._entries import Entry


class ContractReasonUnique(Rule):
    """Two entries of a contract have the same reason.

    Summary: the contract declares the same reason twice
    Why: The server fails at import: `ctx.fail(reason)` and clients could not tell the two failures apart.
    How to fix: Give each failure mode its own reason, or merge the two.
    When to suppress: Never: the server does not start.

    Bad:
        errors=[FailureMode("no_match", ...), FailureMode("no_match", ...)]
    Good:
        errors=[FailureMode("no_match", ...), FailureMode("no_access", ...)]
    """

    severity = Severity.ERROR

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each reason that an earlier entry of the contract has."""
        for contract in contracts_of(tool):
            first: dict[str, tuple[int, ContractEntry]] = {}
            for index, entry in entries_of(contract):
                reason = entry.reason_text
                if not entry.is_failure_mode or reason is None or not reason.strip():
                    continue
                position, earlier = first.setdefault(reason, (index, entry))
                if position == index:
                    continue
                # Two shared entries that are right by themselves are wrong in this tool, which brings them together.
                inline = Entry(entry, tool, index).place(entry.reason)
                node, module = inline if entry.inline else (contract.node, contract.module)
                message = f"the reason {shortened(reason)!r} is declared twice"
                step = "give each failure mode its own reason, or merge the two"
                other = earlier.call if earlier.call is not entry.call else None
                related = [] if other is None else [ctx.related(other, "declared first here", earlier.module)]
                ctx.report(node, message, help=step, tool=tool, module=module, related=related)
