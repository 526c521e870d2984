"""The rule tool-annotations-missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import is_left_out
from mcpcore_lint.registrations.hints import IDEMPOTENT, READ_ONLY, hints_of
from mcpcore_lint.rules._advice import CHANGED_BY_HINTS, advice_of
from mcpcore_lint.rules._test_tools import in_test
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.contract._entries import contracts_of, entries_of

if TYPE_CHECKING:
    from mcpcore_lint.model import ContractEntry, ToolDef
    from mcpcore_lint.registrations.hints import Hints
    from mcpcore_lint.rules.base import Family


class ToolAnnotationsMissing(Rule):
    """Advice that nobody vouches for."""

    id = "tool-annotations-missing"
    severity = Severity.INFO
    family: ClassVar[Family] = "definitions"
    summary = "a contract tool whose default retry advice depends on annotations that it lacks"
    why = (
        "A TIMEOUT or SERVICE_UNAVAILABLE without `retry` tells the agent to call again. That is right for a tool that "
        "only reads, or that may be called twice. For a tool that does its work a second time it is wrong, and the "
        "runtime withholds the advice there; but it can only know that from the annotations."
    )
    bad = '@tool(errors=[FailureMode("timed_out", ErrorCode.TIMEOUT, when="...", recovery="...")])'
    good = (
        "@tool(\n"
        "    annotations=ToolAnnotations(read_only_hint=True),\n"
        '    errors=[FailureMode("timed_out", ErrorCode.TIMEOUT, when="...", recovery="...")],\n'
        ")"
    )
    how_to_fix = (
        "Write `annotations=ToolAnnotations(read_only_hint=True)` if the tool changes nothing; else "
        "`ToolAnnotations(read_only_hint=False, idempotent_hint=True)` if a second call changes nothing more, and "
        "`idempotent_hint=False` if it does. Or give the entry its own `retry` or `effects`."
    )
    when_to_suppress = "Where the annotations are set elsewhere, by code that the linter does not read."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report the hints that a tool lacks, with the entries whose advice depends on them."""
        if tool.kind != "tool" or tool.contract is None or in_test(tool):
            return
        missing = _missing(hints_of(tool))
        if not missing:
            return
        entries = [entry for contract in contracts_of(tool, ctx) for _, entry in entries_of(contract, ctx)]
        names = dict.fromkeys(repr(entry.reason_text) for entry in entries if _depends(entry))
        if not names:
            return
        keyword = tool.decorator_keyword("annotations")
        ctx.report(
            tool.span if keyword is None else keyword.value,
            f"the retry advice of {_joined(list(names))} depends on {_joined(missing)}, which the annotations of "
            f"{tool.display_name} do not state",
            help=_step(missing),
            tool=tool,
            module=tool.handler.module if keyword is None else None,
        )


def _missing(hints: Hints) -> list[str]:
    """The hints without which the advice is not settled; none where one of them cannot be seen."""
    if hints.idempotent == "true" or hints.read_only == "true" or "unknown" in hints:
        return []
    return [
        names[0] for names, hint in ((READ_ONLY, hints.read_only), (IDEMPOTENT, hints.idempotent)) if hint == "missing"
    ]


def _depends(entry: ContractEntry) -> bool:
    """Whether an entry leaves its advice to a code whose advice the annotations change."""
    code = entry.code_value
    if not entry.is_failure_mode or code is None or code.custom or code.name not in CHANGED_BY_HINTS:
        return False
    if entry.reason_text is None or not all(is_left_out(entry.arguments[each].value) for each in ("retry", "effects")):
        return False
    advice = advice_of(entry.arguments["retry"].value, code)
    return advice is not None and advice.seconds is not None


def _step(missing: list[str]) -> str:
    if READ_ONLY[0] not in missing:
        return "add idempotent_hint=True if a second call changes nothing more, idempotent_hint=False if it does"
    if IDEMPOTENT[0] not in missing:
        return "add read_only_hint=True if the tool changes nothing, read_only_hint=False if it does"
    return (
        "write annotations=ToolAnnotations(read_only_hint=True) if the tool changes nothing; else "
        "ToolAnnotations(read_only_hint=False, idempotent_hint=...), True if a second call changes nothing more"
    )


def _joined(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
