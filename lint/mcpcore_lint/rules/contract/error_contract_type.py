"""error-contract-type."""

import ast
from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, ToolDef
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._tools import contracts_of, is_mcpcore_contract
from mcpcore_lint.rules._wording import described
from mcpcore_lint.rules.contract._entries import FAILURE_MODE, certainly_not

_SEQUENCES: Final = frozenset({"builtins.list", "builtins.tuple", "mcpcore.Contract"})


class ContractType(Rule):
    """`errors` is neither a list nor a tuple.

    Summary: `errors` is present but is not a list or tuple
    Why: A single `FailureMode`, a dict, a text or a number fails at import. A set or a frozenset runs, but type
        checkers refuse it, and it has no order: after each start of the server, clients may see the failure modes in
        another order. Lists, tuples and `Contract(...)` are not reported, nor are values that the linter cannot know,
        such as the result of a function.
    How to fix: Pass a list or a tuple of `FailureMode`, even for a single one: `errors=[mode]`.
    When to suppress: For a set, if the order may change. Everything else fails at import.

    Bad:
        @tool(errors={"no_match": ErrorCode.NOT_FOUND})
    Good:
        @tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="...", recovery="...")])
    """

    severity = Severity.ERROR

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
