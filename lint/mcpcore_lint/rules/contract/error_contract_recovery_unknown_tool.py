"""error-contract-recovery-unknown-tool."""

from __future__ import annotations

from mcpcore_lint.rules._wording import shortened
from mcpcore_lint.rules.contract._entries import Checked, EntryRule, Problem


class ContractRecoveryUnknownTool(EntryRule):
    """`fallback_tool` names a tool that does not exist."""

    summary = "`fallback_tool` names a tool that the project does not define"
    why = "The model is sent to a tool that does not exist, and fails there again."
    bad = 'FailureMode("no_match", ..., fallback_tool="serach_articles")'
    good = 'FailureMode("no_match", ..., fallback_tool="search_articles")'
    how_to_fix = """Correct the name: use the one in `tools/list`, which may differ from the function's. Name tools of
    other servers in `Server(external_tools=[...])` or `ContractMiddleware(external_tools=[...])`. Names that the linter
    cannot see in the code go under `tools` in the settings."""
    when_to_suppress = "When another server, mounted beside this one, provides the tool."
    arguments = ("fallback_tool",)

    def check_value(self, checked: Checked) -> Problem | None:
        """Report a tool that no file of the project defines."""
        if checked.text is None:
            return None
        sends = f"{checked.label} sends the caller to the tool {shortened(checked.text)!r}"
        step = "use a name from tools/list, or list tools of other servers in external_tools= of the server"
        return Problem(f"{sends}, which the project does not define", step, missing_tool=checked.text)
