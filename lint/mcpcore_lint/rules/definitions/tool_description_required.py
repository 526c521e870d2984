"""tool-description-required."""

import ast

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import ToolDef, options
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._tools import in_test, says_nothing, sets_docstring


class ToolDescriptionRequired(Rule):
    """A tool has neither a docstring nor a description.

    Summary: the tool has neither a docstring nor a description
    Why: Without a description, the model chooses the tool by its name alone.
    How to fix: Write a docstring, or pass `description=`: say what the tool does, takes and returns.
    When to suppress: For a tool that no model chooses, such as one that only a user interface calls. Tools in tests are
        not checked.
    """

    severity = Severity.WARNING
    bad = "@tool\ndef fetch(pmids: list[str]) -> Articles: ..."
    good = '@tool\ndef fetch(pmids: list[str]) -> Articles:\n    """Fetch articles by PMID."""'

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a tool without a description."""
        if (
            tool.kind != "tool"
            or tool.flavour == "lowlevel"
            or in_test(tool)
            or not any(map(says_nothing, options(tool.description)))
            or _may_be_described(tool)
        ):
            return
        node = tool.handler.node
        first = None if isinstance(node, ast.Lambda) else node.body[0]
        message = f"the tool {tool.display_name} has no description"
        step = "write a docstring: its effect, its input and its result"
        # Python evaluates an f-string at the beginning of a function, and drops it.
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.JoinedStr):
            message, step = f"{message}: an f-string is not a docstring", "remove the f, or pass it as description="
        ctx.report(node, message, help=step, tool=tool, module=tool.handler.module)


def _may_be_described(tool: ToolDef) -> bool:
    """Whether the description may come from somewhere else than the docstring and `description=`."""
    node, registration = tool.handler.node, tool.registration
    call = registration if isinstance(registration, ast.Call) and not tool.decorator_keyword("description") else None
    # The SDK accepts name, title and description by position.
    if call is not None and (len(call.args) > 2 or any(keyword.arg is None for keyword in call.keywords)):
        return True
    if isinstance(node, ast.Lambda):
        return False
    owner = tool.handler.owner if node.name == "__call__" else None
    return (owner is not None and bool(ast.get_docstring(owner))) or sets_docstring(tool)
