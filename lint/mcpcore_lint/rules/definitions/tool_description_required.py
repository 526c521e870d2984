"""The rule tool-description-required."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, ClassVar

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Missing, options, string
from mcpcore_lint.rules._test_tools import in_test
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.definitions._descriptions import is_blank, sets_docstring

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef
    from mcpcore_lint.rules.base import Family


class ToolDescriptionRequired(Rule):
    """A tool that does not say what it does."""

    id = "tool-description-required"
    severity = Severity.WARNING
    family: ClassVar[Family] = "definitions"
    summary = "no docstring and no description"
    why = "The description is all that a model has to choose a tool by, beside its name."
    bad = "@tool\ndef fetch(pmids: list[str]) -> Articles: ..."
    good = '@tool\ndef fetch(pmids: list[str]) -> Articles:\n    """Fetch articles by PMID."""'
    how_to_fix = "Write a docstring, or give `description=`: what the tool does, on what, and what it gives back."
    when_to_suppress = (
        "For a tool that no model chooses, such as one that only a user interface calls. Tools in tests are left alone."
    )

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a tool without a word about it."""
        if tool.kind != "tool" or in_test(tool):
            return
        if tool.flavour == "lowlevel":
            self._check_listed(tool, ctx)
            return
        described = options(tool.description)
        if not any(isinstance(each, Missing) or is_blank(each) for each in described):
            return
        if _described_otherwise(tool):
            return
        formatted = _has_formatted_docstring(tool)
        ctx.report(
            tool.handler.node,
            f"the tool {tool.display_name} has no description" + (": an f-string is no docstring" if formatted else ""),
            help="write it without the f, or give the text as description="
            if formatted
            else "write a docstring: what the tool does, on what, and what it gives back",
            tool=tool,
            module=tool.handler.module,
        )

    @staticmethod
    def _check_listed(tool: ToolDef, ctx: RuleContext) -> None:
        """Report the same of the tools that are listed beside a low-level handler."""
        from mcpcore_lint.rules.definitions._listed import listed

        for each in listed(ctx, tool):
            if any(isinstance(one, Missing) or is_blank(one) for one in options(each.described)):
                name = string(each.name)
                ctx.report(
                    each.places.get("description", each.call),
                    f"the tool {name} has no description" if name else "a tool of the list has no description",
                    help="give description=: what the tool does, on what, and what it gives back",
                    module=each.module,
                )


def _has_formatted_docstring(tool: ToolDef) -> bool:
    """Whether a handler begins with an f-string, which Python evaluates and drops."""
    node = tool.handler.node
    first = None if isinstance(node, ast.Lambda) else node.body[0]
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.JoinedStr)


def _described_otherwise(tool: ToolDef) -> bool:
    """Whether a description may come from where the model of the tool does not look."""
    node = tool.handler.node
    registration = tool.registration
    if isinstance(registration, ast.Call) and tool.decorator_keyword("description") is None:
        # The SDK takes name, title and description by position.
        if len(registration.args) > 2:
            return True
        if any(keyword.arg is None for keyword in registration.keywords):
            return True
    if isinstance(node, ast.Lambda):
        return False
    if node.name == "__call__" and tool.handler.owner is not None and ast.get_docstring(tool.handler.owner):
        return True
    if sets_docstring(tool):
        return True
    # A decorator below the registration may bring a docstring: functools.wraps keeps one, others make one.
    below = [each for each in node.decorator_list if each is not registration]
    if registration in node.decorator_list:
        below = node.decorator_list[node.decorator_list.index(registration) + 1 :]
    return any(isinstance(each, ast.Call) and _says_something(each) for each in below)


def _says_something(call: ast.Call) -> bool:
    values = [*call.args, *(each.value for each in call.keywords)]
    return any(isinstance(each, ast.Constant) and isinstance(each.value, str) and " " in each.value for each in values)
