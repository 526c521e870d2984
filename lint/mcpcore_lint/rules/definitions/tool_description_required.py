"""tool-description-required."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Missing, options
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._tools import in_test
from mcpcore_lint.rules.definitions._descriptions import says_nothing, sets_docstring

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef


class ToolDescriptionRequired(Rule):
    """A tool has neither a docstring nor a description."""

    id = "tool-description-required"
    severity = Severity.WARNING
    family = "definitions"
    summary = "no docstring and no description"
    why = "The model chooses a tool by its name alone if there is no description."
    bad = "@tool\ndef fetch(pmids: list[str]) -> Articles: ..."
    good = '@tool\ndef fetch(pmids: list[str]) -> Articles:\n    """Fetch articles by PMID."""'
    how_to_fix = "Write a docstring, or pass `description=`: its effect, its input and its result."
    when_to_suppress = (
        "For a tool that no model chooses, such as one that only a user interface calls. Tools in tests are not "
        "checked."
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a tool without a description."""
        if tool.kind != "tool" or tool.flavour == "lowlevel" or in_test(tool):
            return
        if not any(isinstance(value, Missing) or says_nothing(value) for value in options(tool.description)):
            return
        if _may_be_described(tool):
            return
        f_string = _has_f_string(tool)
        ctx.report(
            tool.handler.node,
            f"the tool {tool.display_name} has no description{': an f-string is no docstring' if f_string else ''}",
            help="remove the f, or pass the text as description="
            if f_string
            else "write a docstring: its effect, its input and its result",
            tool=tool,
            module=tool.handler.module,
        )


def _has_f_string(tool: ToolDef) -> bool:
    """Whether a handler begins with an f-string, which Python evaluates and drops."""
    node = tool.handler.node
    first = None if isinstance(node, ast.Lambda) else node.body[0]
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.JoinedStr)


def _may_be_described(tool: ToolDef) -> bool:
    """Whether the description may come from somewhere else than the docstring and `description=`."""
    node, registration = tool.handler.node, tool.registration
    call = registration if isinstance(registration, ast.Call) and not tool.decorator_keyword("description") else None
    # The SDK accepts name, title and description by position.
    if call is not None and (len(call.args) > 2 or any(keyword.arg is None for keyword in call.keywords)):
        return True
    if isinstance(node, ast.Lambda):
        return False
    if node.name == "__call__" and tool.handler.owner is not None and ast.get_docstring(tool.handler.owner):
        return True
    return sets_docstring(tool)
