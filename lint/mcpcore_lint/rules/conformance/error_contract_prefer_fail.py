"""error-contract-prefer-fail."""

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import ToolDef
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import codes_of, to_be_filled_in
from mcpcore_lint.rules._fixes import fail_fix
from mcpcore_lint.rules._thrown import Thrown, all_thrown, declared_codes, report


class ContractPreferFail(Rule):
    """A declared code that is raised without `ctx.fail`.

    Summary: a declared code is raised directly instead of through `ctx.fail(reason)`
    Why: Without the reason, the agent gets neither the recovery nor the retry advice that the contract promises. With
        the reason, as in `not_found(..., reason="no_match")`, it gets both, but type checkers do not compare the reason
        and the code with the contract.
    How to fix: Raise `ctx.fail` with the reason of the matching entry. The fix does this if exactly one entry has the
        code. It keeps the other arguments and adds the context parameter and the imports if they are missing.
    When to suppress: If the failure is not declared and only shares its code with a declared one.

    Bad:
        raise not_found("no such article", data={"pmid": pmid})
    Good:
        raise ctx.fail("no_match", "no such article", data={"pmid": pmid})
    """

    severity = Severity.WARNING
    fixable = True

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each error with a declared code that the handler raises without `ctx.fail`."""
        contract = tool.contract
        if contract is None or not contract.entries:
            return
        seen: set[object] = set()
        for thrown in all_thrown(tool, ctx):
            error = thrown.error
            here = thrown.reached is None or (thrown.raised_here is not None and thrown.reasons == ())
            if not here or (error is not None and error.form == "fail") or len(thrown.codes or ()) != 1:
                continue
            if error is not None and error.type_name != "mcpcore.CodedError" and thrown.reasons:
                continue  # an exception class of the project that sets the reason
            entries = [
                entry
                for entry in contract.entries
                if codes_of(entry.code.value) == thrown.codes
                and (not thrown.reasons or entry.reason_text in thrown.reasons)
                # INTERNAL_ERROR of a template may be a guess.
                and (thrown.reasons or thrown.codes != ("INTERNAL_ERROR",) or not to_be_filled_in(entry))
            ]
            key = thrown.reached.call if thrown.reached is not None else error
            if not entries or key in seen:
                continue
            seen.add(key)
            reasons = [entry.reason_text for entry in entries if entry.reason_text is not None]
            calls = ", ".join(f"ctx.fail({reason!r})" for reason in reasons)
            fix = None
            if error is not None and codes_of(error.code) is not None and len(entries) == len(reasons) == 1:
                fix = fail_fix(tool, contract, error, reasons[0], ctx) if declared_codes(contract) is not None else None
            step = f"raise {calls}" if len(reasons) == 1 else f"raise the one that fits: {calls or 'ctx.fail(...)'}"
            report(thrown, f"{tool.display_name} {_problem(thrown)}", step, tool, ctx, fix)


def _problem(thrown: Thrown) -> str:
    code = " or ".join(thrown.codes or ())
    if thrown.reasons == ():
        return f"raises {code} itself, so the client gets neither the declared reason nor its recovery"
    named = " or ".join(map(repr, thrown.reasons or ()))
    how = f"the declared reason {named}" if named else f"{code} with a reason that is not a constant"
    return f"raises {how} without ctx.fail, so type checkers do not check it"
