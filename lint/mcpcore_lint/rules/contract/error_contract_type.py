"""error-contract-type."""

import ast
from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, ToolDef
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._contracts import contracts_of, is_mcpcore_contract
from mcpcore_lint.rules._wording import described
from mcpcore_lint.rules.contract._entries import FAILURE_MODE, certainly_not

_SEQUENCES: Final = frozenset({"builtins.list", "builtins.tuple", "mcpcore.Contract"})


class ContractType(Rule):
    """`errors` is neither a list nor a tuple."""

    severity = Severity.ERROR
    summary = "`errors` is present but is not a list or tuple"
    why = """The server fails at import. Clients see the entries in `tools/list` in the order of the contract; a set or
    a dict has no order, or loses the types of the reasons."""
    bad = '@tool(errors={"no_match": ErrorCode.NOT_FOUND})'
    good = '@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")])'
    how_to_fix = "Pass a list or a tuple of `FailureMode`, even for a single one: `errors=[mode]`."
    when_to_suppress = "Never: the server does not start."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a contract that is certainly something else."""
        for contract in contracts_of(tool):
            if contract.state == "sequence" or not is_mcpcore_contract(tool, contract):
                continue
            # `Contract(...)` accepts any iterable.
            in_contract = isinstance(contract.node, ast.Call) and not isinstance(contract.value, CallValue)
            if in_contract or not certainly_not(contract.value, _SEQUENCES, ctx):
                continue
            single = isinstance(contract.value, CallValue) and contract.value.func.name == FAILURE_MODE
            what = described(contract.value)
            message = f"the errors of {tool.display_name} is {what}, not a list or tuple of FailureMode"
            step = "put it into a list: errors=[...]" if single else "write errors=[FailureMode(...), ...]"
            ctx.report(contract.node, message, help=step, tool=tool)
            return
