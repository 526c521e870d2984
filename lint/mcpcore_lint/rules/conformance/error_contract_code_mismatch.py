"""error-contract-code-mismatch."""

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import ToolDef
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import codes_of
from mcpcore_lint.rules._thrown import all_thrown, report


class ContractCodeMismatch(Rule):
    """A declared reason that is raised with another code.

    Summary: a declared reason is raised with a code other than the declared one
    Why: The catalog says NOT_FOUND and the client gets CONFLICT, so a client that looks at the code does the wrong
        thing. The server logs every such failure as a broken contract.
    How to fix: Raise the reason with its declared code, as `ctx.fail` does, or change the code in the contract.
    When to suppress: Never: one of the two codes is wrong.

    Bad:
        raise conflict("no such article", data={"reason": "no_match"})  # declared as NOT_FOUND
    Good:
        raise not_found("no such article", data={"reason": "no_match"})
    """

    severity = Severity.ERROR

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each declared reason that leaves the handler with another code."""
        contract = tool.contract
        if contract is None:
            return
        seen: set[tuple[object, ...]] = set()
        for thrown in all_thrown(tool, ctx):
            if not thrown.codes or not thrown.reasons or (thrown.error is not None and thrown.error.form == "fail"):
                continue
            for reason in thrown.reasons:
                entry = contract.by_reason.get(reason)
                declared = codes_of(entry.code.value) if entry is not None else None
                wrong = [code for code in thrown.codes if declared is not None and code not in declared]
                key = (thrown.reached.call if thrown.reached else thrown.error, reason)
                # With several codes and several reasons, it is unknown which code goes with which reason.
                if not wrong or (len(thrown.reasons) > 1 and len(wrong) < len(thrown.codes)) or key in seen:
                    continue
                seen.add(key)
                codes, raised = " or ".join(declared or ()), " or ".join(wrong)
                way = f" ({thrown.way})" if thrown.way else ""
                message = f"{reason!r} is declared with {codes} and raised with {raised}{way}"
                step = "raise it with its declared code, as ctx.fail does, or change the code in errors"
                report(thrown, message, step, tool, ctx)
