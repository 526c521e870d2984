"""The failure modes of a file, and the base classes of the rules that look at them one by one."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from mcpcore_lint.model import CallValue, Items, Missing, options
from mcpcore_lint.registrations.contracts import contract_of
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._contracts import tool_entries
from mcpcore_lint.rules._wording import described
from mcpcore_lint.rules.contract._values import FAILURE_MODE, not_a_string

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.diagnostics import Fix
    from mcpcore_lint.model import Argument, ContractEntry, ToolDef, Value
    from mcpcore_lint.syntax.module import Module

_NAME: Final = "FailureMode"
_OTHER_NAMES: Final = rf"\b{_NAME} as (\w+)|(\w+)[ \t]*=[ \t]*(?:\w+\.)*{_NAME}\b(?!\s*\()"
"""An import under another name, or an assignment of the class to another name."""


class Entry:
    """A failure mode with the tool that declares it, the place of a finding and its name in messages."""

    __slots__ = ("arguments", "index", "model", "module", "tool")

    def __init__(self, entry: ContractEntry, tool: ToolDef | None, index: int) -> None:
        self.model = entry
        self.arguments = entry.arguments
        self.module = entry.module
        self.tool = tool if entry.inline else None
        self.index = index

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
        return getattr(self.model.node, "func", self.model.node), self.module

    def report(self, ctx: RuleContext, argument: Argument, problem: Problem) -> None:
        """Report a finding about an argument."""
        node, module = self.place(argument)
        ctx.report(
            node,
            problem.message,
            help=problem.help,
            tool=self.tool,
            module=module,
            fix=problem.fix,
            missing_tool=problem.missing_tool,
        )


class Problem(NamedTuple):
    """A finding about an argument of a failure mode."""

    message: str
    help: str
    fix: Fix | None = None
    missing_tool: str | None = None
    """A tool that the argument names: the finding counts only if no file of the project defines it."""


class Checked(NamedTuple):
    """A value that an argument of a failure mode may have; Missing is that of an argument that is left out."""

    value: Value
    argument: Argument
    entry: Entry
    ctx: RuleContext

    @property
    def label(self) -> str:
        """The name of the failure mode in messages."""
        return self.entry.label

    @property
    def text(self) -> str | None:
        """The value, if it is a constant string."""
        value = getattr(self.value, "value", None)
        return value if isinstance(value, str) else None

    def problem(self, what: str, step: str, fix: Fix | None = None) -> Problem:
        """A finding that begins with the name of the argument: `what` is the rest of the sentence."""
        return Problem(f"the {self.argument.name} of {self.label} {what}", step, fix)

    def no_string(self, missing: str, step: str) -> Problem | None:
        """The finding about a value that is missing, or certainly is not a string."""
        if isinstance(self.value, Missing):
            return Problem(f"{self.label} {missing}", f"add {self.argument.name}=...: {step}")
        if not_a_string(self.value, self.ctx):
            return self.problem(f"is {described(self.value)}, not a string", step)
        return None


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
    """A rule about arguments; each has at most one problem, apart from values that name missing tools."""

    arguments: ClassVar[tuple[str, ...]]

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Check each value that an argument may have."""
        for name in self.arguments:
            argument = entry.arguments[name]
            for value in options(argument.value):
                problem = self.check_value(Checked(value, argument, entry, ctx))
                if problem is not None:
                    entry.report(ctx, argument, problem)
                    # Such a finding may be dropped when all files are known, so the other values count too.
                    if problem.missing_tool is None:
                        break

    def check_value(self, checked: Checked) -> Problem | None:
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
    # The answer depends on the file whose tools are checked, so that file remembers it.
    key = ("declared in", module)
    if key not in ctx.module.memo:
        ctx.module.memo[key] = tuple(_find_declared(module, ctx)) if module.source.has(_NAME) else ()
    entries: tuple[ContractEntry, ...] = ctx.module.memo[key]
    return entries


def _find_declared(module: Module, ctx: RuleContext) -> Iterator[ContractEntry]:
    at_tools = {entry.call for tool in ctx.tools for _, entry in tool_entries(tool) if entry.inline}
    names = {_NAME, *(name for match in re.findall(_OTHER_NAMES, module.source.text) for name in match if name)}
    if len(names) == 1 and module.source.text.count(f"{_NAME}(") == len(at_tools):
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
