"""tool-name-format."""

from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Text, ToolDef, Value, options, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._tools import name_place

TOOL_NAME: Final = regex(r"[A-Za-z0-9._-]{1,128}\Z")
"""Specification of 2025-11-25, server/tools, "Tool Names"."""
_OTHER_CHARACTER: Final = regex(r"[^A-Za-z0-9._-]")


class ToolNameFormat(Rule):
    """A tool has a name that clients do not accept.

    Summary: the tool's name does not match `[A-Za-z0-9._-]{1,128}`
    Why: Hosts drop the tool, or fail to list any tools: they use the name for the model's function calls, which accept
        no other characters. The protocol allows letters, digits, dots, underscores and hyphens, 128 at most.
    How to fix: Use only the allowed characters. A name for people belongs in `title`.
    When to suppress: When the only client is your own.

    Bad:
        @tool(name="Search articles")
        def search() -> str: ...
    Good:
        @tool(name="search_articles", title="Search articles")
        def search() -> str: ...
    """

    severity = Severity.ERROR

    def check_tool(self, tool: ToolDef, ctx: RuleContext) -> None:
        """Report a name that certainly has other characters, none, or too many."""
        if tool.kind != "tool" or tool.flavour == "lowlevel":
            return
        problem = next(filter(None, map(_problem, options(tool.name))), None)
        if problem is not None:
            node, module = name_place(tool)
            step = "use letters, digits, '.', '_' and '-', 128 at most; a text for people belongs in title"
            ctx.report(node, problem, help=step, tool=tool, module=module)


def _problem(value: Value) -> str | None:
    if isinstance(value, Text):
        match = _OTHER_CHARACTER.search("".join(part or "" for part in value.parts))
        return f"the tool name contains {match[0]!r}" if match else None
    name = string(value)
    if name is None or TOOL_NAME.match(name):
        return None
    if not name:
        return "the tool name is empty"
    if name == "<lambda>":
        return "a lambda has no name for the tool"
    if len(name) > 128:
        return f"the tool name has {len(name)} characters; 128 are allowed"
    characters = dict.fromkeys(_OTHER_CHARACTER.findall(name))
    return f"the tool name {name!r} contains {', '.join(map(repr, characters))}"
