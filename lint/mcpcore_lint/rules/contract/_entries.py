"""The failure modes of a file, the base class of the rules about them, and what a value of theirs certainly is not."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from typing import ClassVar, Final, NamedTuple

from mcpcore_lint.diagnostics import Fix, Severity
from mcpcore_lint.engine.registrations.contracts import contract_of
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.model import (
    Argument,
    CallValue,
    CodeValue,
    Const,
    ContractEntry,
    Items,
    Mapping,
    Missing,
    Symbol,
    Text,
    ToolDef,
    Value,
    options,
    string,
)
from mcpcore_lint.names import FACTORIES
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._tools import tool_entries
from mcpcore_lint.rules._wording import described, is_placeholder

FAILURE_MODE: Final = "mcpcore.FailureMode"
NOT_ENTRIES: Final = frozenset(
    f"mcpcore.{name}"
    for name in ("CodedError", "Contract", "ErrorCode", "Retry", "Retry.after", "Retry.never", "Retry.now", *FACTORIES)
)
"""Names of mcpcore that make something other than a failure mode."""

_REQUIRED: Final = frozenset({"reason", "code", "when", "recovery"})
_NAME: Final = "FailureMode"
_NOT_CALLED: Final = regex(rf"{_NAME}\b(?!\s*\()(?: as (\w+))?")
_ASSIGNED_TO: Final = regex(r"(\w+)[ \t]*=[ \t]*(?:\w+\.)*\Z")


class Entry(NamedTuple):
    """A failure mode with the tool at which it is written, and its position in the contract."""

    model: ContractEntry
    tool: ToolDef | None = None
    position: int = 0

    @property
    def label(self) -> str:
        """Its name in messages: the reason, else its position in the contract."""
        if self.model.reason_text is not None and self.model.reason_text.strip():
            return repr(self.model.reason_text)
        if self.tool is not None:
            return f"errors[{self.position}] of {self.tool.display_name}"
        return "this FailureMode"

    @property
    def is_made(self) -> bool:
        """Whether a function of the project makes it."""
        return self.model.call is None and isinstance(self.model.value.node, ast.Call)

    def is_written(self, value: Value) -> bool:
        """Whether a value is written here, and not in the function of the project that makes the failure mode."""
        return not self.is_made or value.node in walk([*ast.iter_child_nodes(self.model.value.node)])  # type: ignore[arg-type]

    def place(self, argument: Argument) -> tuple[ast.AST, Module]:
        """Where a finding about an argument is reported: at the argument, or at the call where it is not written."""
        if argument.node is not None:
            return argument.node, self.model.module
        if argument.given and argument.value.node is not None and self.is_written(argument.value):
            return argument.value.node, argument.value.module or self.model.module
        return getattr(self.model.node, "func", self.model.node), self.model.module

    def report(self, ctx: RuleContext, argument: Argument, problem: Problem) -> None:
        """Report a finding about an argument."""
        node, module = self.place(argument)
        message, step, fix, missing = problem
        ctx.report(node, message, help=step, tool=self.tool, module=module, fix=fix, missing_tool=missing)


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
        return string(self.value)

    @property
    def blank(self) -> bool:
        """Whether the value is an empty string, or one of spaces only."""
        return self.text is not None and not self.text.strip()

    def problem(self, what: str, step: str, fix: Fix | None = None) -> Problem:
        """A finding that begins with the name of the argument: `what` is the rest of the sentence."""
        return Problem(f"the {self.argument.name} of {self.label} {what}", step, fix)

    def no_string(self, missing: str, step: str) -> Problem | None:
        """The finding about a value that is missing, or certainly is not a string."""
        if isinstance(self.value, Missing):
            return Problem(f"{self.label} {missing}", f"add {self.argument.name}=...: {step}")
        is_text = self.text is not None or isinstance(self.value, Text)
        if not (is_text or is_placeholder(self.value)) and certainly_not(
            self.value, frozenset({"builtins.str"}), self.ctx
        ):
            return self.problem(f"is {described(self.value)}, not a string", step)
        return None


class EntryRule(Rule):
    """A rule about the arguments of single failure modes, most of which keep the server from starting.

    A finding in an entry that is written at its tool names the tool. A shared entry is reported once, without a tool,
    however many tools use it. Each argument has at most one problem, apart from values that name missing tools.
    """

    severity = Severity.ERROR
    when_to_suppress = "Never: the server does not start."
    arguments: ClassVar[tuple[str, ...]] = ()

    def check_file(self, module: Module, ctx: RuleContext) -> None:
        """Check each value that an argument of a failure mode of the file may have, and each failure mode."""
        values = module.once("entry values", lambda: _values_of(entries_in(module, ctx)))
        for name in self.arguments:
            reported: Argument | None = None
            for value, argument, entry in values.get(name, ()):
                problem = self.check_value(Checked(value, argument, entry, ctx)) if argument is not reported else None
                if problem is not None and entry.is_written(value):
                    entry.report(ctx, argument, problem)
                    # Such a finding may be dropped when all files are known, so the other values count too.
                    reported = argument if problem.missing_tool is None else reported
        if type(self).check_entry is not EntryRule.check_entry:
            for entry in entries_in(module, ctx):
                self.check_entry(entry, ctx)

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Check a failure mode as a whole."""

    def check_value(self, checked: Checked) -> Problem | None:
        """What is wrong with a value of an argument, or None."""
        raise NotImplementedError


def entries_in(module: Module, ctx: RuleContext) -> list[Entry]:
    """The failure modes of a file: those of its tools' contracts, then the others. All rules share the list."""
    return module.once(
        "entries",
        lambda: [
            *(
                Entry(entry, tool if entry.inline else None, index)
                for tool in ctx.tools
                for index, entry in tool_entries(tool)
                if entry.is_failure_mode
            ),
            *map(Entry, _find_declared(module, ctx)),
        ],
    )


def _values_of(entries: list[Entry]) -> dict[str, list[tuple[Value, Argument, Entry]]]:
    """The values that the arguments of failure modes may have, by the names of the arguments."""
    values: dict[str, list[tuple[Value, Argument, Entry]]] = {}
    for entry in entries:
        for name, argument in entry.model.arguments.items():
            # Most arguments are optional, and nothing is wrong with one that is left out.
            if argument.given or name in _REQUIRED:
                values.setdefault(name, []).extend((value, argument, entry) for value in options(argument.value))
    return values


def _find_declared(module: Module, ctx: RuleContext) -> Iterator[ContractEntry]:
    """The `FailureMode(...)` calls of a file that are not written at one of its tools."""
    text = module.source.text
    if not module.source.has(_NAME):
        return
    at_tools = {entry.call for tool in ctx.tools for _, entry in tool_entries(tool) if entry.inline} - {None}
    names = {_NAME, *_other_names(text)}
    # Every call in the text is one of a tool, so the search would find no other.
    if len(names) == 1 and text.count(f"{_NAME}(") == len(at_tools):
        return
    for call, scope in module.calls_near(*sorted(names), skip=_expects_failure, decorators=True):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        value = ctx.resolve(call, scope) if name in names and call not in at_tools else None
        if isinstance(value, CallValue) and value.node is call and value.func.name == FAILURE_MODE:
            items = Items(call, module, "list", (value,), complete=True)
            yield from contract_of(items, call, module, None).entries


def _other_names(text: str) -> Iterator[str]:
    """The names under which a file imports `FailureMode`, or to which it assigns it."""
    for match in _NOT_CALLED.finditer(text):
        assigned = _ASSIGNED_TO.search(text[text.rfind("\n", 0, match.start()) + 1 : match.start()])
        name = match[1] or (assigned and assigned[1])
        if name:
            yield name


def _expects_failure(node: ast.AST) -> bool:
    """Whether a node is `with pytest.raises(...)`: a test may well make a broken failure mode there."""
    return isinstance(node, ast.With) and any(
        re.search(r"\.(?:raises|assertRaises\w*)\(", ast.unparse(item.context_expr)) for item in node.items
    )


def certainly_not(value: Value, classes: frozenset[str], ctx: RuleContext) -> bool:
    """Whether a value is certainly no instance of the named classes."""
    if isinstance(value, (Const, Text, Items, Mapping, CodeValue)):
        return True
    if isinstance(value, Symbol):
        # A class or a function is no instance. A name of another package may be anything.
        return (
            value.definition is not None
            or value.name in {*NOT_ENTRIES, *classes, FAILURE_MODE}
            or value.name.startswith("builtins.")
        )
    if not isinstance(value, CallValue) or value.func.name in classes:
        return False
    builtin = value.func.name.removeprefix("builtins.") if value.func.name.startswith("builtins.") else ""
    if value.func.name in NOT_ENTRIES | {FAILURE_MODE} or isinstance(getattr(builtins, builtin, None), type):
        return True
    if isinstance(value.func.definition, ast.ClassDef):
        bases, complete = ctx.hierarchy.ancestors(value.func.name, value.func)
        return complete and not bases & classes
    return False
