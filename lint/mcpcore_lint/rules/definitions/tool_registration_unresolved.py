"""The rule tool-registration-unresolved."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.records import in_test_file
from mcpcore_lint.registrations.unresolved import unresolved_in
from mcpcore_lint.rules.base import Rule, RuleContext

if TYPE_CHECKING:
    from mcpcore_lint.rules.base import Family
    from mcpcore_lint.syntax.module import Module


class ToolRegistrationUnresolved(Rule):
    """Tools that nobody looks at."""

    id = "tool-registration-unresolved"
    severity = Severity.INFO
    family: ClassVar[Family] = "definitions"
    summary = "a registration whose function cannot be found"
    why = (
        "The linter reads the code and never runs it. Where the function that is registered is only known at run time, "
        "because its module is imported by a name from a file or it is picked by a variable, no rule holds for it."
    )
    bad = (
        "for name in settings.modules:\n"
        '    module = importlib.import_module(f"acme.tools.{name}")\n'
        "    server.add_tool(module.run)"
    )
    good = '[tool.mcpcore.lint]\nhandlers = ["acme.tools.*:run"]'
    how_to_fix = (
        "Name the functions in the settings: `handlers` takes the module and the function, both with stars, and every "
        "rule then holds for them. Or write down what is registered: a list of functions, the members of a module with "
        "a prefix, a table of names and objects that factories make are followed, through imports, wrappers, filters "
        "and the functions that are handed the server."
    )
    when_to_suppress = "Where the functions are no code of the project: plugins, or tools of another server."

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Report each registration once; the settings that name functions answer for all."""
        if ctx.settings.handlers or in_test_file(module.path):
            return
        for each in unresolved_in(module):
            ctx.report(
                each.registration,
                f"no function is found behind `{each.what}`, so no rule checks it",
                help=f'name the functions in [tool.mcpcore.lint], such as handlers = ["{each.example}"]',
            )
