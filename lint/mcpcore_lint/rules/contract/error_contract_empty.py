"""error-contract-empty."""

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import ToolDef
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._tools import contracts_of, is_mcpcore_contract


class ContractEmpty(Rule):
    """`errors` is an empty list.

    Summary: `errors=[]`: leave it out, or declare real failure modes
    Why: Clients read an empty contract as a promise that the tool never fails, which few tools can keep.
    How to fix: Leave `errors` out, or declare how the tool fails.
    When to suppress: While you are still writing the tool.

    Bad:
        @tool(errors=[])
        def fetch() -> str: ...
    Good:
        @tool
        def fetch() -> str: ...
    """

    severity = Severity.WARNING

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a contract that is certainly empty, whichever branch of a conditional expression is used."""
        contracts = contracts_of(tool)
        empty = (other.state == "sequence" and other.complete and not other.entries for other in contracts)
        if contracts and all(empty) and all(is_mcpcore_contract(tool, contract) for contract in contracts):
            message = f"the contract of {tool.display_name} is empty"
            step = "leave errors out, or declare how the tool fails"
            ctx.report(contracts[0].node, message, help=step, tool=tool)
