"""The rule error-contract-recovery-unknown-tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const, options
from mcpcore_lint.rules._wording import near, shortened
from mcpcore_lint.rules.contract._entries import Entry, EntryRule

if TYPE_CHECKING:
    from mcpcore_lint.rules.base import Family, RuleContext


class ContractRecoveryUnknownTool(EntryRule):
    """A way out that is not there."""

    id = "error-contract-recovery-unknown-tool"
    severity = Severity.ERROR
    family: ClassVar[Family] = "contract"
    summary = "`fallback_tool` names a tool that the project does not define"
    why = "The agent is sent to a tool that does not exist, fails there again, and has lost the way."
    bad = 'FailureMode("no_match", ..., fallback_tool="serach_articles")'
    good = 'FailureMode("no_match", ..., fallback_tool="search_articles")'
    how_to_fix = (
        "Correct the name: it is the one in `tools/list`, not the function's where the two differ. Name the tools of "
        "other servers in `Server(external_tools=[...])` or `ContractMiddleware(external_tools=[...])`; those that the "
        "code cannot name go under `tools` in the settings."
    )
    when_to_suppress = "When another server, mounted beside this one, brings the tool."

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Report a tool that no file of the project defines."""
        fallback = entry.arguments["fallback_tool"]
        if not fallback.given:
            return
        defined = ctx.project_tools()
        if defined is None:
            return
        for value in options(fallback.value):
            if not isinstance(value, Const) or not isinstance(value.value, str) or value.value in defined:
                continue
            if not defined:
                # A package of contracts for others to use has no tools of its own.
                return
            close = near(value.value, defined)
            entry.report(
                ctx,
                fallback,
                f"{entry.label} sends the caller to the tool {shortened(value.value)!r}, which the project does not "
                "define",
                help=f"did you mean {close!r}?"
                if close
                else "name a tool as tools/list shows it, or list tools of other servers in external_tools= of the "
                "server",
            )
            return
