"""tool-annotations-missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import is_left_out
from mcpcore_lint.registrations.hints import IDEMPOTENT, READ_ONLY, hints_of
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._advice import CHANGED_BY_HINTS, advice_of
from mcpcore_lint.rules._contracts import tool_entries
from mcpcore_lint.rules._tools import in_test

if TYPE_CHECKING:
    from mcpcore_lint.model import ContractEntry, ToolDef
    from mcpcore_lint.registrations.hints import Hints


class ToolAnnotationsMissing(Rule):
    """The retry advice of a failure depends on annotations that the tool does not have."""

    id = "tool-annotations-missing"
    severity = Severity.INFO
    family = "definitions"
    summary = "a contract tool whose default retry advice depends on annotations that it lacks"
    why = (
        "The client calls again after a TIMEOUT or SERVICE_UNAVAILABLE without `retry`, even if a second "
        "call does the work twice. The runtime withholds that advice for a tool that is neither read-only nor "
        "idempotent, but it knows this only from the annotations."
    )
    bad = '@tool(errors=[FailureMode("timed_out", ErrorCode.TIMEOUT, when="...", recovery="...")])'
    good = (
        "@tool(\n"
        "    annotations=ToolAnnotations(read_only_hint=True),\n"
        '    errors=[FailureMode("timed_out", ErrorCode.TIMEOUT, when="...", recovery="...")],\n'
        ")"
    )
    how_to_fix = (
        "Write `annotations=ToolAnnotations(read_only_hint=True)` if the tool changes nothing. Otherwise write "
        "`ToolAnnotations(read_only_hint=False, idempotent_hint=True)` if a second call changes nothing more, and "
        "`idempotent_hint=False` if it does. Or declare `retry` or `effects` for the failure mode."
    )
    when_to_suppress = "When code that the linter does not read sets the annotations."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report the hints that a tool lacks, with the reasons whose advice depends on them."""
        if tool.kind != "tool" or tool.contract is None or in_test(tool):
            return
        missing = _missing_hints(hints_of(tool))
        if not missing:
            return
        reasons = dict.fromkeys(repr(entry.reason_text) for _, entry in tool_entries(tool) if _depends_on_hints(entry))
        if not reasons:
            return
        *others, last = reasons
        listed = f"{', '.join(others)} and {last}" if others else last
        keyword = tool.decorator_keyword("annotations")
        ctx.report(
            tool.span if keyword is None else keyword.value,
            f"the retry advice of {listed} depends on {' and '.join(missing)}, which the annotations of "
            f"{tool.display_name} do not state",
            help=_step(missing),
            tool=tool,
            module=tool.handler.module if keyword is None else None,
        )


def _missing_hints(hints: Hints) -> list[str]:
    """The hints that decide about the advice and are not set; none if one of them cannot be seen."""
    if hints.idempotent == "true" or hints.read_only == "true" or "unknown" in hints:
        return []
    values = ((READ_ONLY, hints.read_only), (IDEMPOTENT, hints.idempotent))
    return [names[0] for names, value in values if value == "missing"]


def _depends_on_hints(entry: ContractEntry) -> bool:
    """Whether an entry has the advice of its code, and that advice depends on the annotations."""
    code = entry.code_value
    if not entry.is_failure_mode or code is None or code.custom or code.name not in CHANGED_BY_HINTS:
        return False
    if entry.reason_text is None or not all(is_left_out(entry.arguments[name].value) for name in ("retry", "effects")):
        return False
    advice = advice_of(entry.arguments["retry"].value, code)
    return advice is not None and advice.seconds is not None


def _step(missing: list[str]) -> str:
    if READ_ONLY[0] not in missing:
        return "add idempotent_hint=True if a second call changes nothing more, otherwise idempotent_hint=False"
    if IDEMPOTENT[0] not in missing:
        return "add read_only_hint=True if the tool changes nothing, otherwise read_only_hint=False"
    return (
        "write annotations=ToolAnnotations(read_only_hint=True) if the tool changes nothing; otherwise "
        "ToolAnnotations(read_only_hint=False, idempotent_hint=...), True if a second call changes nothing more"
    )
