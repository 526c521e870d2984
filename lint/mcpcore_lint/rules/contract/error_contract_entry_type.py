"""error-contract-entry-type."""

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Items, Symbol, ToolDef, Value
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._tools import contracts_of, element_of, entries_of, is_mcpcore_contract
from mcpcore_lint.rules._wording import described
from mcpcore_lint.rules.contract._entries import FAILURE_MODE, certainly_not


class ContractEntryType(Rule):
    """An entry of `errors` is not a FailureMode.

    Summary: an entry is not a FailureMode
    Why: The server fails at import: only a `FailureMode` connects a reason with a code, an explanation and a recovery
        hint.
    How to fix: Write `FailureMode(...)`. Unpack a shared list with `*`: `errors=[*COMMON, mode]`.
    When to suppress: Never: the server does not start.

    Bad:
        @tool(errors=["no_match", not_found("...")])
    Good:
        @tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")])
    """

    severity = Severity.ERROR

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each entry that is certainly something else."""
        for contract in contracts_of(tool):
            if contract.state != "sequence" or not is_mcpcore_contract(tool, contract):
                continue
            for index, entry in entries_of(contract):
                if entry.is_failure_mode or not certainly_not(entry.value, frozenset({FAILURE_MODE}), ctx):
                    continue
                inline = entry.value.node if entry.inline else None
                message = f"errors[{index}] of {tool.display_name} is {described(entry.value)}, not a FailureMode"
                ctx.report(inline or element_of(contract, entry), message, help=_suggestion(entry.value), tool=tool)


def _suggestion(value: Value) -> str:
    is_contract = isinstance(value, CallValue) and value.func.name == "mcpcore.Contract"
    if is_contract or isinstance(value, Items):
        return "unpack it with a star: errors=[*COMMON, ...]"
    verb = "call it" if isinstance(value, Symbol) and value.name == FAILURE_MODE else "write"
    return f'{verb}: FailureMode("reason", ErrorCode.NOT_FOUND, when="...", recovery="...")'
