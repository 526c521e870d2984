"""tool-registration-unresolved."""

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.registrations.unresolved import unresolved_in
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.records import in_test_file
from mcpcore_lint.rule import Rule, RuleContext


class ToolRegistrationUnresolved(Rule):
    """The function of a registration cannot be found, so no rule checks the tool.

    Summary: a tool is registered, but its function cannot be found
    Why: No rule checks the tool. The linter reads the code and never runs it, so it cannot find a function that is only
        known at run time: its module is outside the project, a variable selects it, or it is in a table filled where
        the linter cannot follow. It also reports `server.tool(...)` if it cannot tell what the server is or if nothing
        calls the function that takes the server, `server.add_tool` if you pass the method to code that it cannot read,
        and `FastMCP.from_fastapi(app)` if it finds no routes or not the function of one, or if the call chooses among
        them. It says "no further function" where there is too much code behind a registration to read all of it, and
        reports `@server.call_tool()` on a function that does not take the name and the arguments with which the SDK
        calls it, or whose place a later one takes. Where a function serves all tools, rules check what it returns, and
        nothing else of the functions that are not found.
    How to fix: Name the functions in the settings, and every rule checks them: `handlers` lists modules and functions,
        with `*` as a wildcard. Or register functions in a way that can be followed: from a list or a table, by a prefix
        of the members of a module, or through functions that take the server.
    When to suppress: When the functions do not belong to the project: plugins, or tools of another server.

    Bad:
        for name in os.listdir("plugins"):
            server.add_tool(importlib.import_module(f"acme.tools.{name}").run)
    Good:
        [tool.mcpcore.lint]
        handlers = ["acme.tools.*:run"]
    """

    severity = Severity.INFO

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Report each registration, unless the settings name handlers."""
        if ctx.settings.handlers or in_test_file(module.path, module.source.text):
            return
        for unresolved in unresolved_in(module):
            ctx.report(
                unresolved.registration,
                f"no {unresolved.kind} is found behind `{unresolved.text}`, so {unresolved.effect}",
                help=unresolved.step,
            )
