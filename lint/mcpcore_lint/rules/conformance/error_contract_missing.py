"""error-contract-missing."""

from mcpcore_lint.diagnostics import Related, Severity
from mcpcore_lint.model import ToolDef
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._fixes import context_is_misplaced, contract_fix, throws_coded
from mcpcore_lint.rules._thrown import Thrown
from mcpcore_lint.rules._tools import may_have_contract


class ContractMissing(Rule):
    """A tool that raises coded errors and has no contract.

    Summary: a tool raises coded errors but has no contract
    Why: Only the author of the `raise` knows the failures. Agents that plan with `tools/list`, type checkers and tests
        know them only if you declare them. If the tool calls `ctx.fail`, the finding is a warning, since that call
        fails without a contract.
    How to fix: Declare each failure in `errors`. The fix writes an entry for each failure it sees. It is unsafe because
        you have to fill in the entries: lint reports each recovery that is still marked TODO.
    When to suppress: For a tool that is internal or unfinished.

    Bad:
        @tool
        def fetch(pmid: str) -> str:
            raise not_found("no such article")
    Good:
        @tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when=..., recovery=...)])
    """

    severity = Severity.INFO
    fixable = "unsafe"

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a tool without a contract that raises errors which a contract would declare."""
        files = (tool.module, tool.handler.module)
        # A tool whose files do not mention mcpcore has no codes, and following its calls would waste time.
        knows_codes = tool.flavour == "mcpcore" or any(module.source.has("mcpcore") for module in files)
        # Resources and prompts take no `errors`.
        if tool.kind != "tool" or not knows_codes or may_have_contract(tool):
            return
        thrown = throws_coded(tool, ctx)
        if not thrown:
            return
        fix = contract_fix(tool, ctx)
        by_fix = "; the fix writes the entries and leaves the recoveries to you" if fix is not None else ""
        step = f"declare its failures in errors=[...]{by_fix}"
        if tool.flavour != "mcpcore":
            step = "make it a tool of mcpcore and declare its failures in errors=[...]"
        elif context_is_misplaced(tool):
            step = "make the context the first parameter, as a contract needs, and declare the failures in errors=[...]"
        node = tool.handler.node if tool.handler.module is tool.module else tool.registration
        # Without a contract, `ctx.fail` itself ends with another error.
        forms = {getattr(made, "form", "") for error in thrown for made in (error.error, error.reached)}
        message = f"{tool.display_name} raises {_listed(thrown)} and has no contract"
        message += ", so `ctx.fail` raises another error" if "fail" in forms else ""
        weight = Severity.WARNING if "fail" in forms else None
        related = [_site(error, tool, ctx) for error in thrown[:5]]
        ctx.report(node, message, help=step, tool=tool, related=related, fix=fix, weight=weight)


def _listed(thrown: list[Thrown]) -> str:
    """The codes that are thrown; for an error with an unknown code, its reason."""
    names = list(dict.fromkeys(name for error in thrown for name in error.codes or map(repr, error.reasons or ())))
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:]))) or "coded errors"


def _site(thrown: Thrown, tool: ToolDef, ctx: RuleContext) -> Related:
    if thrown.reached is not None:
        message = f"it is raised here: {thrown.way}" if thrown.way else "it is raised here"
        return Related(thrown.reached.site.path, thrown.reached.site.span, message)
    assert thrown.error is not None
    return ctx.related(thrown.error.node, "it is raised here", tool.handler.module)
