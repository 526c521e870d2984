"""The failure modes of a file, and the base classes of the rules that look at them one by one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from mcpcore_lint.model import CallValue, Items, options
from mcpcore_lint.patterns import regex
from mcpcore_lint.registrations.contracts import contract_of
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._contracts import tool_entries
from mcpcore_lint.rules.contract._values import FAILURE_MODE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import Argument, ContractEntry, ToolDef, Value
    from mcpcore_lint.syntax.module import Module

_NAME: Final = "FailureMode"
_OTHER_NAMES: Final = regex(rf"\b{_NAME} as (\w+)|(\w+)[ \t]*=[ \t]*(?:\w+\.)*{_NAME}\b(?!\s*\()")
"""An import under another name, or an assignment of the class to another name."""


class Entry:
    """A failure mode with the tool that declares it, the place of a finding and its name in messages."""

    __slots__ = ("arguments", "index", "model", "tool")

    def __init__(self, entry: ContractEntry, tool: ToolDef | None, index: int) -> None:
        self.model = entry
        self.arguments = entry.arguments
        self.tool = tool if entry.inline else None
        self.index = index

    @property
    def module(self) -> Module:
        """The file that it is written in."""
        return self.model.module

    @property
    def label(self) -> str:
        """Its name in messages: the reason, else its position in the contract."""
        if self.model.reason_text is not None and self.model.reason_text.strip():
            return repr(self.model.reason_text)
        if self.tool is not None:
            return f"errors[{self.index}] of {self.tool.display_name}"
        return "this FailureMode"

    def place(self, argument: Argument) -> tuple[ast.AST, Module]:
        """Where a finding about an argument is reported: at the argument, or at the call where it is missing."""
        if argument.node is not None:
            return argument.node, self.module
        if argument.given and argument.value.node is not None:
            return argument.value.node, argument.value.module or self.module
        call = self.model.call
        return (self.model.node if call is None else call.func), self.module

    def report(
        self,
        ctx: RuleContext,
        argument: Argument,
        message: str,
        *,
        help: str,  # noqa: A002
        fix: Fix | None = None,
        missing_tool: str | None = None,
    ) -> None:
        """Report a finding about an argument."""
        node, module = self.place(argument)
        if self.model.call is None and any(_contains(entry.node, node) for entry in _declared_in(module, ctx)):
            return  # A function builds the entry. The FailureMode(...) inside it is checked once, for all calls.
        ctx.report(node, message, help=help, tool=self.tool, module=module, fix=fix, missing_tool=missing_tool)


class Problem(NamedTuple):
    """A finding about an argument of a failure mode."""

    message: str
    help: str
    fix: Fix | None = None


class EntryRule(Rule):
    """A rule about single failure modes.

    A finding in an entry that is written at its tool names the tool. A shared entry is reported once, without a tool,
    however many tools use it.
    """

    family = "contract"

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Check the failure modes of a file."""
        for entry in _file_entries(ctx):
            self.check_entry(entry, ctx)

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Check one failure mode."""
        raise NotImplementedError


class ArgumentRule(EntryRule):
    """A rule about arguments of failure modes; it reports at most one problem for each argument."""

    arguments: ClassVar[tuple[str, ...]]

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Check each value that an argument may have; Missing is the value of an argument that is left out."""
        for name in self.arguments:
            argument = entry.arguments[name]
            for value in options(argument.value):
                problem = self.check_value(value, argument, entry, ctx)
                if problem is not None:
                    entry.report(ctx, argument, problem.message, help=problem.help, fix=problem.fix)
                    break

    def check_value(self, value: Value, argument: Argument, entry: Entry, ctx: RuleContext) -> Problem | None:
        """What is wrong with a value of an argument, or None."""
        raise NotImplementedError


def _file_entries(ctx: RuleContext) -> list[Entry]:
    """The failure modes of a file: those of its tools' contracts, then the others. All rules share the list."""
    entries: list[Entry] | None = ctx.module.memo.get("entries")
    if entries is None:
        entries = ctx.module.memo["entries"] = [
            Entry(entry, tool, index)
            for tool in ctx.tools
            for index, entry in tool_entries(tool)
            if entry.is_failure_mode
        ]
        entries += [Entry(entry, None, 0) for entry in _declared_in(ctx.module, ctx)]
    return entries


def _declared_in(module: Module, ctx: RuleContext) -> tuple[ContractEntry, ...]:
    """The `FailureMode(...)` calls of a file that are not written at one of the checked tools."""
    if not module.source.has(_NAME):
        return ()
    # The answer depends on the file whose tools are checked, so that file remembers it.
    key = ("declared in", module)
    entries: tuple[ContractEntry, ...] | None = ctx.module.memo.get(key)
    if entries is None:
        entries = ctx.module.memo[key] = tuple(_find_declared(module, ctx))
    return entries


def _find_declared(module: Module, ctx: RuleContext) -> Iterator[ContractEntry]:
    at_tools = {entry.call for tool in ctx.tools for _, entry in tool_entries(tool) if entry.inline}
    text = module.source.text
    names = {_NAME, *(name for match in _OTHER_NAMES.findall(text) for name in match if name)}
    if len(names) == 1 and text.count(f"{_NAME}(") == len(at_tools):
        return
    for call, scope in module.calls_near(*sorted(names), skip=_expects_failure, decorators=True):
        func = call.func
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        if name not in names or call in at_tools:
            continue
        value = ctx.resolve(call, scope)
        if isinstance(value, CallValue) and value.node is call and value.func.name == FAILURE_MODE:
            items = Items(call, module, "list", (value,), complete=True)
            yield from contract_of(items, call, module, None).entries


def _expects_failure(node: ast.AST) -> bool:
    """Whether a node is `with pytest.raises(...)`: a test may well make a broken failure mode there."""
    return isinstance(node, ast.With) and any(
        isinstance(item.context_expr, ast.Call)
        and isinstance(item.context_expr.func, ast.Attribute)
        and item.context_expr.func.attr in {"raises", "assertRaises", "assertRaisesRegex"}
        for item in node.items
    )


def _contains(outer: ast.AST, node: ast.AST) -> bool:
    """Whether a node lies inside another one of the same file."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    first = (getattr(outer, "lineno", 0), getattr(outer, "col_offset", 0))
    last = (getattr(outer, "end_lineno", 0) or 0, getattr(outer, "end_col_offset", 0) or 0)
    return first <= (line, column) < last
