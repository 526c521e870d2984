"""error-contract-conformance."""

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.semantics.codes import CODES
from mcpcore_lint.model import ToolDef
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._thrown import BASELINE, Thrown, all_thrown, declared_codes, report


class ContractConformance(Rule):
    """A code that the contract does not declare.

    Summary: a handler raises a code that is neither declared nor baseline, directly or through functions it calls
    Why: Agents plan with the contract in `tools/list`. An undeclared code reaches them without a reason or a recovery,
        and no test of the contract covers it.
    How to fix: Declare the failure in `errors`, or catch it and raise a declared one. Baseline codes need no
        declaration: INTERNAL_ERROR, SERVICE_UNAVAILABLE, TIMEOUT, VALIDATION_ERROR, SERIALIZATION_ERROR and
        REQUEST_CANCELLED.
    When to suppress: If the call cannot fail in this way with the arguments used here.

    Bad:
        @tool(errors=[])
        def fetch(pmid: str) -> str:
            raise not_found("no such article")
    Good:
        @tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when=..., recovery=...)])
    """

    severity = Severity.WARNING

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each undeclared code that leaves the handler without a reason."""
        declared = declared_codes(tool.contract) if tool.contract is not None else None
        if declared is None:
            return
        groups: dict[tuple[object, ...], tuple[Thrown, list[str]]] = {}
        for thrown in all_thrown(tool, ctx):
            codes = () if thrown.reasons else thrown.codes or ()
            undeclared = [code for code in codes if code not in declared and code not in BASELINE]
            if undeclared:
                # A raise of one of several factories is one finding.
                key = (thrown.reached.call if thrown.reached else thrown.error, *(undeclared if thrown.way else ()))
                group = groups.setdefault(key, (thrown, []))[1]
                group += (code for code in undeclared if code not in group)
        for thrown, undeclared in groups.values():
            named = " or ".join(undeclared)
            how = f"can raise {named} here ({thrown.way})" if thrown.way else f"raises {named}"
            message = f"{tool.display_name} {how}, which its contract does not declare"
            code = f"ErrorCode.{undeclared[0]}" if undeclared[0] in CODES.by_name else undeclared[0]
            step = f"declare it with a reason, a when and a recovery: FailureMode(..., {code}, ...)"
            report(thrown, message, f"{step}; or catch it here" if thrown.way else step, tool, ctx)
