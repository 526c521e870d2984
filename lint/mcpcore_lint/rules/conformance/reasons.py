"""Reasons that are thrown and do not fit the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.rules._bodies import codes_of, reasons_known
from mcpcore_lint.rules._thrown import Thrown, all_thrown, in_handler, only_named, report
from mcpcore_lint.rules._wording import near
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.conformance.failing import clearly_near

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef


class ContractUndeclaredReason(Rule):
    """A reason that the contract lacks."""

    id = "error-contract-undeclared-reason"
    severity = Severity.WARNING
    family = "conformance"
    summary = "a reason is raised, by the handler or a service that it reaches, that the contract lacks"
    why = (
        "The agent reads a reason that it cannot look up: no `when`, no recovery, nothing in the catalogue. Often the "
        "service was given a new reason, or the contract's was renamed."
    )
    bad = 'raise not_found("no such article", data={"reason": "no_mach"})'
    good = 'raise not_found("no such article", data={"reason": "no_match"})'
    how_to_fix = "Declare the reason in `errors`, correct its spelling, or catch the error and raise a declared one."
    when_to_suppress = "Where the service cannot raise this reason with the arguments that it is given here."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each reason that leaves the handler and is not declared."""
        contract = tool.contract
        if contract is None or not reasons_known(contract):
            return
        seen: set[tuple[object, ...]] = set()
        elsewhere = {each for other in ctx.tools if other.contract is not None for each in other.contract.by_reason}
        for thrown in (*all_thrown(tool, ctx), *only_named(tool, ctx)):
            if (thrown.error is not None and thrown.error.form == "fail") or _asked_in_the_handler(thrown, tool):
                continue
            strange = [each for each in thrown.reasons or () if each not in contract.by_reason]
            key = (thrown.place, *strange)
            if not strange or key in seen:
                continue
            close = near(strange[0], contract.reasons)
            if thrown.is_only_named(tool) and (
                strange[0] in elsewhere or clearly_near(strange[0], contract.reasons) is None
            ):
                continue  # the service may name it for another tool
            seen.add(key)
            how = f"raises the reason {_quoted(strange)}"
            if thrown.way:
                how = f"can raise the reason {_quoted(strange)} here ({thrown.way})"
            elif thrown.reached is not None and thrown.reached.form == "guard":
                how = f"guards with the reason {_quoted(strange)}"
            report(
                thrown,
                f"{tool.display_name} {how}, which its contract lacks",
                f"did you mean {close!r}? Else declare {strange[0]!r} in errors"
                if close
                else f"declare {strange[0]!r} in errors, or raise a declared reason",
                tool,
                ctx,
            )


def _asked_in_the_handler(thrown: Thrown, tool: ToolDef) -> bool:
    """Whether the handler calls `ctx.fail` or `ctx.guard` with the reason, which another rule reports."""
    return thrown.reached is not None and thrown.reached.form == "fail" and in_handler(thrown.reached, tool)


def _quoted(names: list[str]) -> str:
    return " or ".join(repr(each) for each in names)


class ContractCodeMismatch(Rule):
    """A declared reason with another code."""

    id = "error-contract-code-mismatch"
    severity = Severity.ERROR
    family = "conformance"
    summary = "a declared reason is raised with a code other than the declared one"
    why = (
        "The catalogue says NOT_FOUND and the wire says CONFLICT: a client that goes by the code does the wrong thing, "
        "and the boundary logs every such failure as a broken contract."
    )
    bad = 'raise conflict("no such article", data={"reason": "no_match"})  # declared as NOT_FOUND'
    good = 'raise not_found("no such article", data={"reason": "no_match"})'
    how_to_fix = "Raise the reason with its declared code (`ctx.fail` does), or change the code in the contract."
    when_to_suppress = "Never: one of the two is wrong."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each declared reason that leaves the handler with a code that is not its own."""
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
                if entry is None or declared is None:
                    continue
                wrong = [each for each in thrown.codes if each not in declared]
                # With several codes and several reasons nobody can tell which goes with which.
                if not wrong or (len(thrown.reasons) > 1 and len(wrong) < len(thrown.codes)):
                    continue
                key = (thrown.reached.call if thrown.reached else thrown.error, reason)
                if key in seen:
                    continue
                seen.add(key)
                way = f" ({thrown.way})" if thrown.way else ""
                report(
                    thrown,
                    f"{reason!r} is declared with {' or '.join(declared)} and raised with {' or '.join(wrong)}{way}",
                    "raise it with its declared code, as ctx.fail does, or change the code in errors",
                    tool,
                    ctx,
                )
