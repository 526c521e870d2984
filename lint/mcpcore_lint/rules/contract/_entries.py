"""The contracts of a tool and their failure modes, as the contract rules see them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import (
    CallValue,
    Choice,
    Const,
    Items,
    options,
)
from mcpcore_lint.rules.base import Rule, RuleContext
from mcpcore_lint.rules.contract._values import FAILURE_MODE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpcore_lint.diagnostics import Fix, Related
    from mcpcore_lint.model import Argument, Contract, ContractEntry, ToolDef
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope


_NAME: Final = "FailureMode"


_HINTS: Final = frozenset({"reason", "code", "when", "recovery"})


_NEAR: Final = (
    _NAME,
    "reason=",
    "reason =",
    "code=",
    "code =",
    "when=",
    "when =",
    "recovery=",
    "recovery =",
    "**",
)
"""What stands on the lines of a call that may make a failure mode, whatever the class is called there."""


def contracts_of(tool: ToolDef, ctx: RuleContext) -> tuple[Contract, ...]:
    """Every contract that `errors=` may be: of a conditional expression each branch; `None` is no contract."""
    from mcpcore_lint.registrations.build import Builder

    contract = tool.contract
    if contract is None:
        return ()
    if not isinstance(contract.value, Choice):
        return (contract,)
    builder = Builder(contract.module, ctx.hierarchy)
    inline = None if contract.node is tool.registration else contract.node
    return tuple(
        builder.contract_of(each, contract.node, contract.module, inline)
        for each in options(contract.value)
        if not (isinstance(each, Const) and each.value is None)
    )


def is_mcpcore_contract(tool: ToolDef, contract: Contract) -> bool:
    """Whether `errors` is mcpcore's: another framework may have an option of that name."""
    return tool.flavour == "mcpcore" or any(each.is_failure_mode for each in contract.entries)


def entries_of(contract: Contract, ctx: RuleContext) -> Iterator[tuple[int, ContractEntry]]:
    """The entries of a contract with their positions; of a conditional entry each branch."""
    from mcpcore_lint.registrations.build import Builder

    for index, entry in enumerate(contract.entries):
        if not isinstance(entry.value, Choice):
            yield index, entry
            continue
        builder = Builder(contract.module, ctx.hierarchy)
        inline = contract.node if entry.inline else None
        items = Items(contract.node, contract.module, "list", options(entry.value), complete=True)
        for each in builder.contract_of(items, contract.node, contract.module, inline).entries:
            yield index, each


def entries_in(ctx: RuleContext) -> list[Entry]:
    """The failure modes of a file: those of its tools' contracts, then those that stand at no tool.

    They are gone through once for all rules.
    """
    found: list[Entry] | None = ctx.module.memo.get("entries")
    if found is None:
        found = ctx.module.memo["entries"] = [
            Entry(each, tool, index)
            for tool in ctx.tools
            for contract in contracts_of(tool, ctx)
            for index, each in entries_of(contract, ctx)
            if each.is_failure_mode
        ]
        found += [Entry(each, None, 0) for each in declared_in(ctx.module, ctx)]
    return found


def declared_in(module: Module, ctx: RuleContext) -> tuple[ContractEntry, ...]:
    """Every `FailureMode(...)` that a file writes down elsewhere than at a tool.

    Those in a `with pytest.raises(...)` are left out: what is wrong with them is what the test wants.
    """
    if not module.source.has(_NAME):
        return ()
    # Which entries stand at a tool depends on the file whose tools are judged.
    key = ("declared in", module)
    found: tuple[ContractEntry, ...] | None = ctx.module.memo.get(key)
    if found is None:
        found = ctx.module.memo[key] = tuple(_declarations(module, ctx))
    return found


def _declarations(module: Module, ctx: RuleContext) -> Iterator[ContractEntry]:
    from mcpcore_lint.registrations.build import Builder

    builder = Builder(module, ctx.hierarchy)
    at_tools = {
        id(entry.call)
        for tool in ctx.tools
        for contract in contracts_of(tool, ctx)
        for _, entry in entries_of(contract, ctx)
        if entry.inline and entry.call is not None and entry.module is module
    }
    for call, scope in _calls(module, at_tools):
        value = ctx.resolve(call, scope)
        if isinstance(value, CallValue) and value.node is call and value.func.name == FAILURE_MODE:
            items = Items(call, module, "list", (value,), complete=True)
            yield from builder.contract_of(items, call, module, None).entries


def _calls(module: Module, known: set[int]) -> Iterator[tuple[ast.Call, Scope]]:
    def skip(node: ast.AST) -> bool:
        return id(node) in known or _expected_to_fail(node)

    text = module.source.text
    written = text.count(_NAME + "(")
    # It is imported once, and called wherever else it is named: then the class goes by no other name.
    plain = _NAME in module.scope.bindings and text.count(_NAME) == written + 1
    if plain and written == len(known):
        return
    for node, scope in module.calls_near(*((_NAME,) if plain else _NEAR), skip=skip, decorators=True):
        func = node.func
        name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if name == _NAME or any(each.arg in _HINTS or each.arg is None for each in node.keywords):
            yield node, scope


def _expected_to_fail(node: ast.AST) -> bool:
    return isinstance(node, ast.With) and any(_expects_error(each.context_expr) for each in node.items)


def _expects_error(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"raises", "assertRaises", "assertRaisesRegex"}
    )


class EntryRule(Rule):
    """A rule about single failure modes, wherever they stand.

    An entry written at its tool is reported with the tool. One that several tools may share is reported for itself, so
    that it is one finding however many tools use it.
    """

    def check_file(self, module: Module, ctx: RuleContext) -> None:  # noqa: ARG002 - the context knows the file
        """Look at the failure modes of a file."""
        for entry in entries_in(ctx):
            self.check_entry(entry, ctx)

    def check_entry(self, entry: Entry, ctx: RuleContext) -> None:
        """Look at one failure mode."""
        raise NotImplementedError


class Entry:
    """A failure mode as a rule looks at it: its arguments, its name in messages, and where findings stand."""

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
        """How messages call it: by its reason, else by its place."""
        if self.model.reason_text is not None and self.model.reason_text.strip():
            return repr(self.model.reason_text)
        if self.tool is not None:
            return f"errors[{self.index}] of {self.tool.display_name}"
        return "this FailureMode"

    def place(self, argument: Argument | None = None) -> tuple[ast.AST, Module]:
        """Where a finding about an argument stands: at the argument as written, else at what it comes from."""
        if argument is not None and argument.node is not None:
            return argument.node, self.module
        if argument is not None and argument.given and argument.value.node is not None:
            return argument.value.node, argument.value.module or self.module
        call = self.model.call
        return (call.func, self.module) if call is not None else (self.model.node, self.module)

    def report(
        self,
        ctx: RuleContext,
        argument: Argument | None,
        message: str,
        *,
        help: str,  # noqa: A002
        related: Iterable[Related] = (),
        fix: Fix | None = None,
    ) -> None:
        """Report a finding about an argument (of None: about the entry as a whole)."""
        node, module = self.place(argument)
        if self.model.call is None and any(_within(node, each.node) for each in declared_in(module, ctx)):
            return  # a function makes the entry: what it writes itself is looked at there, once for all calls
        ctx.report(node, message, help=help, tool=self.tool, module=module, related=tuple(related), fix=fix)


def _within(node: ast.AST, outer: ast.AST) -> bool:
    """Whether a node stands in another one of the same file, by place."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    first = (getattr(outer, "lineno", 0), getattr(outer, "col_offset", 0))
    last = (getattr(outer, "end_lineno", 0) or 0, getattr(outer, "end_col_offset", 0) or 0)
    return first <= (line, column) < last


def holds_comment(module: Module, node: ast.AST) -> bool:
    """Whether an expression is spread over lines with a comment in it, which replacing it would lose."""
    text = module.source.segment(node)
    return "#" in text and ("\n" in text or "\r" in text)
