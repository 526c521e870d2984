"""error-contract-undeclared-reason."""

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import ToolDef
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._thrown import all_thrown, report
from mcpcore_lint.rules._wording import clearly_near, near


class ContractUndeclaredReason(Rule):
    """A reason that the contract does not declare.

    Summary: the handler, or a service that it calls, raises an undeclared reason
    Why: The agent gets a reason that it cannot look up: there is no `when`, no recovery and no entry in the catalog.
        Often the service got a new reason, or the reason in the contract was renamed.
    How to fix: Declare the reason in `errors`, correct its spelling, or catch the error and raise a declared one.
    When to suppress: If the service cannot raise this reason with the arguments used here.

    Bad:
        raise not_found("no such article", data={"reason": "no_mach"})
    Good:
        raise not_found("no such article", data={"reason": "no_match"})
    """

    severity = Severity.WARNING

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each reason that leaves the handler and is not declared."""
        contract = tool.contract
        if contract is None or not contract.known:
            return
        seen: set[tuple[object, ...]] = set()
        others = {reason for other in ctx.tools if other.contract is not None for reason in other.contract.by_reason}
        for thrown in all_thrown(tool, ctx, named=True):
            reached = thrown.reached
            # Another rule reports where the handler itself calls `ctx.fail` or `ctx.guard` with the reason.
            by_handler = reached is not None and reached.form == "fail" and tool.handler.contains(reached.site)
            if by_handler or (thrown.error is not None and thrown.error.form == "fail"):
                continue
            undeclared = [reason for reason in thrown.reasons or () if reason not in contract.by_reason]
            key = (thrown.place, *undeclared)
            if not undeclared or key in seen:
                continue
            first = undeclared[0]
            if thrown.only_named and (first in others or clearly_near(first, contract.reasons) is None):
                continue  # the service may name it for another tool
            seen.add(key)
            quoted = " or ".join(map(repr, undeclared))
            guard = reached is not None and reached.form == "guard"
            how = f"guards with the reason {quoted}" if guard else f"raises the reason {quoted}"
            how = f"can raise the reason {quoted} here ({thrown.way})" if thrown.way else how
            message = f"{tool.display_name} {how}, which its contract does not declare"
            step = f"declare {first!r} in errors, or raise a declared reason"
            if close := near(first, contract.reasons):
                step = f"did you mean {close!r}? If not, declare {first!r} in errors"
            report(thrown, message, step, tool, ctx)
