"""error-contract-recovery-unknown-tool."""

import ast
from typing import Final

from mcpcore_lint.engine.registrations.hints import hints_of
from mcpcore_lint.model import Mapping, Parameter, ToolDef, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules._wording import shortened
from mcpcore_lint.rules.contract._entries import Checked, Entry, EntryRule, Problem

_NAMED: Final = regex(r"`([A-Za-z0-9.-]+_[A-Za-z0-9_.-]+)` tool\b(?!\s+(?:of|on|from|in)\b)")
"""A tool in the text of a recovery, unless the text says which other server has it: `ffmpeg` may be any program."""


class ContractRecoveryUnknownTool(EntryRule):
    """`fallback_tool` names a tool that does not exist, or that does not take `fallback_arguments`.

    Summary: `fallback_tool` or `recovery` names a tool that does not exist, or that cannot be called as declared
    Why: The model is sent to a tool that does not exist, and fails again. A program that calls the tool with
        `fallback_arguments` gets another failure if the tool does not accept them. It must not call the tool at all if
        the failed call may have changed something and the tool may change something too.
    How to fix: Correct the name: use the one in `tools/list`, which may differ from the function's. Name tools of other
        servers in `Server(external_tools=[...])` or `ContractMiddleware(external_tools=[...])`. Put names that the
        linter cannot see in the code under `tools` in the settings. In a `recovery`, the linter checks names such as
        `list_orders` in backticks before the word "tool", if it knows all tools of the project. Give
        `fallback_arguments` the arguments that the tool requires, and no others; leave it out if only the model can
        choose them. The linter checks the arguments if the tool is in the same file.
    When to suppress: When another server, mounted next to this one, provides the tool.

    Bad:
        FailureMode("no_match", ..., fallback_tool="serach_articles")
    Good:
        FailureMode("no_match", ..., fallback_tool="search_articles")
    """

    arguments = ("fallback_tool", "recovery")

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Check the arguments for the tool."""
        arguments = entry.model.arguments["fallback_arguments"]
        name, value = entry.model.arguments["fallback_tool"].text, arguments.value
        if isinstance(value, Mapping) and entry.model.arguments["fallback_tool"].state == "missing":
            problem = f"{entry.label} has fallback_arguments, but no fallback_tool, so the server does not start"
            entry.report(ctx, arguments, Problem(problem, "name the tool that takes them, or leave them out"))
        is_read = isinstance(value, Mapping) and value.complete
        tools = [tool for tool in ctx.tools if tool.kind == "tool" and string(tool.name) == name] if is_read else []
        if not isinstance(value, Mapping) or len(tools) != 1:
            return
        misfit = _misfit({string(key) for key, _ in value.items}, tools[0], entry)
        if misfit is not None:
            problem = f"the fallback_arguments of {entry.label} do not fit {shortened(name or '')!r}: {misfit}"
            step = "give the arguments that the tool requires, or leave fallback_arguments out"
            entry.report(ctx, arguments, Problem(problem, step))

    def check_value(self, checked: Checked) -> Problem | None:
        """Report a tool that no file of the project defines."""
        match = _NAMED.search(checked.text or "") if checked.argument.name == "recovery" else None
        name = match[1] if match is not None else checked.text
        if name is None or (checked.argument.name == "recovery" and match is None):
            return None
        sends = f"{checked.label} sends the caller to the tool {shortened(name)!r}"
        step = "use a name from tools/list, or list tools of other servers in external_tools= of the server"
        return Problem(f"{sends}, which the project does not define", step, missing_tool=name)


def _misfit(names: set[str | None], tool: ToolDef, entry: Entry) -> str | None:
    """Why `tool` cannot be called with the arguments `names`; None if it can, or if that cannot be seen."""
    parameters = [parameter for parameter in tool.handler.parameters if not parameter.injected]
    if None not in names and tool.flavour == "mcpcore" and not any(map(_may_be_renamed, parameters)):
        for name in sorted(filter(None, names.difference(parameter.name for parameter in parameters))):
            return f"it takes no argument {name!r}"
        for parameter in parameters:
            if parameter.default is None and parameter.name not in names:
                return f"it requires the argument {parameter.name!r}"
    if entry.tool is None or entry.tool.kind != "tool":
        return None
    effects = entry.model.arguments["effects"]
    is_open = effects.state == "missing" or effects.text in ("partial", "unknown")
    may_write = all(hints_of(tool).read_only in ("false", "missing") for tool in (tool, entry.tool))
    return "it is not read-only, and the failed call may have changed something" if is_open and may_write else None


def _may_be_renamed(parameter: Parameter) -> bool:
    """Whether clients may know a parameter by another name, or by several."""
    nodes = [node for node in (parameter.annotation, parameter.default) if node is not None]
    return parameter.kind.startswith("var_") or any("alias" in ast.dump(node) for node in nodes)
