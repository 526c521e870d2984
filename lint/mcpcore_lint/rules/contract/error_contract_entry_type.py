"""error-contract-entry-type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Items, Symbol
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._contracts import contracts_of, element_of, entries_of, is_mcpcore_contract
from mcpcore_lint.rules._wording import described
from mcpcore_lint.rules.contract._values import FAILURE_MODE, certainly_not

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef, Value

_ENTRY: Final = frozenset({FAILURE_MODE})


class ContractEntryType(Rule):
    """An entry of `errors` is not a FailureMode."""

    id = "error-contract-entry-type"
    severity = Severity.ERROR
    family = "contract"
    summary = "an entry is not a FailureMode"
    why = (
        "The server fails at import: only a `FailureMode` connects a reason with a code, an explanation and a recovery "
        "hint."
    )
    bad = '@tool(errors=["no_match", not_found("...")])'
    good = '@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")])'
    how_to_fix = "Write `FailureMode(...)`. Unpack a shared list with `*`: `errors=[*COMMON, mode]`."
    when_to_suppress = "Never: the server does not start."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each entry that is certainly something else."""
        for contract in contracts_of(tool):
            if contract.state != "sequence" or not is_mcpcore_contract(tool, contract):
                continue
            for index, entry in entries_of(contract):
                value = entry.value
                if entry.is_failure_mode or not certainly_not(value, _ENTRY, ctx):
                    continue
                ctx.report(
                    value.node if entry.inline and value.node is not None else element_of(contract, entry),
                    f"errors[{index}] of {tool.display_name} is {described(value)}, not a FailureMode",
                    help=_suggestion(value),
                    tool=tool,
                )


def _suggestion(value: Value) -> str:
    is_contract = isinstance(value, CallValue) and value.func.name == "mcpcore.Contract"
    if is_contract or isinstance(value, Items):
        return "unpack it with a star: errors=[*COMMON, ...]"
    verb = "call it" if isinstance(value, Symbol) and value.name == FAILURE_MODE else "write"
    return f'{verb}: FailureMode("reason", ErrorCode.NOT_FOUND, when="...", recovery="...")'
