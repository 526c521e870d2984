"""Codes that are thrown and do not fit the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rules._bodies import codes_known
from mcpcore_lint.rules._thrown import BASELINE, Thrown, all_thrown, declared_codes, report
from mcpcore_lint.rules.base import Rule, RuleContext

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef


class ContractConformance(Rule):
    """A code that the contract does not declare."""

    id = "error-contract-conformance"
    severity = Severity.WARNING
    family = "conformance"
    summary = (
        "a handler throws a code that is neither declared nor baseline, directly or through functions that it calls"
    )
    why = (
        "The contract in `tools/list` is what agents plan with. A code that it does not name reaches them without a "
        "reason and without a recovery, and no test of the contract ever sees it."
    )
    bad = '@tool(errors=[])\ndef fetch(pmid: str) -> str:\n    raise not_found("no such article")'
    good = (
        '@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when=..., recovery=...)])\n'
        'def fetch(ctx: Context[Literal["no_match"]], pmid: str) -> str:\n    raise ctx.fail("no_match")'
    )
    how_to_fix = (
        "Declare the failure in `errors`, or catch it and raise one that is declared. Baseline codes need no "
        "declaration: INTERNAL_ERROR, SERVICE_UNAVAILABLE, TIMEOUT, VALIDATION_ERROR, SERIALIZATION_ERROR and "
        "REQUEST_CANCELLED."
    )
    when_to_suppress = "Where the call cannot fail in this way with the arguments that it is given here."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each code that leaves the handler, has no declared reason and is not declared itself."""
        contract = tool.contract
        if contract is None or not codes_known(contract):
            return
        declared = declared_codes(contract)
        seen: set[tuple[object, ...]] = set()
        everything = all_thrown(tool, ctx)
        for thrown in everything:
            if thrown.codes is None or thrown.reasons:
                continue
            codes = thrown.codes
            if thrown.error is None and not thrown.way:  # one of several factories makes it: all are told at once
                codes = _of_the_same(thrown, everything)
            strange = [each for each in codes if each not in declared and each not in BASELINE]
            if not strange:
                continue
            key = (thrown.reached.call if thrown.reached else thrown.error, *strange)
            if key in seen:
                continue
            seen.add(key)
            named = " or ".join(strange)
            how = f"can throw {named} here ({thrown.way})" if thrown.way else f"throws {named}"
            report(
                thrown,
                f"{tool.display_name} {how}, which its contract does not declare",
                f"declare it with a reason, a when and a recovery: FailureMode(..., ErrorCode.{strange[0]}, ...)"
                + ("; or catch it here" if thrown.way else ""),
                tool,
                ctx,
            )


def _of_the_same(thrown: Thrown, everything: list[Thrown]) -> tuple[str, ...]:
    """The codes without a reason that one `raise` may throw."""
    same = [each for each in everything if each.error is None and each.raised_here is thrown.raised_here]
    return tuple(dict.fromkeys(code for each in same if not each.reasons and not each.way for code in each.codes or ()))
