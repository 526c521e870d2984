"""error-contract-recovery-unknown-tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const
from mcpcore_lint.rules._wording import near, shortened
from mcpcore_lint.rules.contract._entries import ArgumentRule, Entry, Problem

if TYPE_CHECKING:
    from mcpcore_lint.model import Argument, Value
    from mcpcore_lint.rule import RuleContext


class ContractRecoveryUnknownTool(ArgumentRule):
    """`fallback_tool` names a tool that does not exist."""

    id = "error-contract-recovery-unknown-tool"
    severity = Severity.ERROR
    summary = "`fallback_tool` names a tool that the project does not define"
    why = "The model is sent to a tool that does not exist, and fails there again."
    bad = 'FailureMode("no_match", ..., fallback_tool="serach_articles")'
    good = 'FailureMode("no_match", ..., fallback_tool="search_articles")'
    how_to_fix = (
        "Correct the name: use the one in `tools/list`, which may differ from the function's. Name tools of other "
        "servers in `Server(external_tools=[...])` or `ContractMiddleware(external_tools=[...])`. Names that the "
        "linter cannot see in the code go under `tools` in the settings."
    )
    when_to_suppress = "When another server, mounted beside this one, provides the tool."
    arguments = ("fallback_tool",)

    def check_value(self, value: Value, argument: Argument, entry: Entry, ctx: RuleContext) -> Problem | None:
        """Report a tool that no file of the project defines."""
        name = value.value if isinstance(value, Const) else None
        tools = ctx.project_tools() if isinstance(name, str) else None
        # A package of contracts that other projects use has no tools.
        if not isinstance(name, str) or tools is None or name in tools or not tools:
            return None
        close = near(name, tools)
        return Problem(
            f"{entry.label} sends the caller to the tool {shortened(name)!r}, which the project does not define",
            f"did you mean {close!r}?"
            if close
            else "use a name from tools/list, or list tools of other servers in external_tools= of the server",
        )
