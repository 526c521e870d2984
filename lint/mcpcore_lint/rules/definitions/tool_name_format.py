"""The rule tool-name-format."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Text, options, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.definitions._names import name_place

if TYPE_CHECKING:
    from mcpcore_lint.model import ToolDef, Value
    from mcpcore_lint.rules.base import Family


TOOL_NAME: Final = regex(r"[A-Za-z0-9._-]{1,128}\Z")
"""Specification of 2025-11-25, server/tools, "Tool Names"."""


_ALLOWED: Final = regex(r"[A-Za-z0-9._-]")


class ToolNameFormat(Rule):
    """A name that clients refuse."""

    id = "tool-name-format"
    severity = Severity.ERROR
    family: ClassVar[Family] = "definitions"
    summary = "not `[A-Za-z0-9._-]{1,128}`"
    why = (
        "The protocol allows letters, digits, dots, underscores and hyphens, 128 at most. Hosts pass the name on to a "
        "model's function calls, which allow no more, and drop the tool or fail the whole list otherwise."
    )
    bad = '@tool(name="Search articles")\ndef search() -> str: ...'
    good = '@tool(name="search_articles", title="Search articles")\ndef search() -> str: ...'
    how_to_fix = "Use the allowed characters, and put what people read into `title`."
    when_to_suppress = "When a client of your own is the only one."

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a name that is known to have other characters, none, or too many."""
        if tool.kind != "tool":
            return
        if tool.flavour == "lowlevel":
            self._check_listed(tool, ctx)
            return
        for value in options(tool.name):
            problem = _name_problem(value)
            if problem is None:
                continue
            node, module = name_place(tool)
            ctx.report(node, problem, help=_ALLOWED_HELP, tool=tool, module=module)
            return

    @staticmethod
    def _check_listed(tool: ToolDef, ctx: RuleContext) -> None:
        """Report the same of the tools that are listed beside a low-level handler."""
        from mcpcore_lint.rules.definitions._listed import listed

        for each in listed(ctx, tool):
            problem = next((found for value in options(each.name) if (found := _name_problem(value))), None)
            if problem is not None:
                ctx.report(each.places["name"], problem, help=_ALLOWED_HELP, module=each.module)


_ALLOWED_HELP: Final = "use letters, digits, '.', '_' and '-', 128 at most; what people read goes into title"


def _name_problem(value: Value) -> str | None:
    if isinstance(value, Text):
        strange = [each for part in value.parts for each in part or "" if not _ALLOWED.match(each)]
        return f"the tool name has {strange[0]!r} in it" if strange else None
    name = string(value)
    if name is None or TOOL_NAME.match(name):
        return None
    if not name:
        return "the tool name is empty"
    if name == "<lambda>":
        return "a lambda has no name that a tool could go by"
    if len(name) > 128:
        return f"the tool name has {len(name)} characters; 128 are allowed"
    strange = list(dict.fromkeys(each for each in name if not _ALLOWED.match(each)))
    return f"the tool name {name!r} has {', '.join(map(repr, strange))} in it"
