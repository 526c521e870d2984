"""What `errors=` of a tool is: the contract and its entries."""

import ast
from collections.abc import Set as AbstractSet
from typing import Final

from mcpcore_lint.engine.flow.bodies.errors import arguments_of
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.model import (
    Argument,
    CallValue,
    CodeValue,
    Const,
    Contract,
    ContractEntry,
    Items,
    Mapping,
    Missing,
    Symbol,
    Text,
    Unknown,
    Value,
)
from mcpcore_lint.names import ENTRY_ARGUMENTS, ENTRY_POSITIONAL

_POSITIONS: Final = {
    name: ENTRY_POSITIONAL.index(name) if name in ENTRY_POSITIONAL else None for name in ENTRY_ARGUMENTS
}


def contract_given(call: CallValue, registration: ast.expr, module: Module, *, own: bool) -> Contract | None:
    """The contract among the arguments of a registration; only one of mcpcore's own may have it in its `**kwargs`."""
    value = call.argument("errors")
    if isinstance(value, Missing) or (not own and value.node is call.node):
        return None
    keywords = registration.keywords if isinstance(registration, ast.Call) else []
    node = next((keyword.value for keyword in keywords if keyword.arg == "errors"), None)
    if isinstance(value, Const) and value.value is None and node is not None:
        return None
    return contract_of(value, registration if node is None else node, module, node)


def contract_of(value: Value, node: ast.expr, module: Module, inline: ast.expr | None) -> Contract:
    """The contract that a value is; `inline` is the expression whose entries are written at the tool itself."""
    if isinstance(value, CallValue) and value.func.name == "mcpcore.Contract":
        value = value.argument("entries", 0)
        if isinstance(value, Missing):
            value = Items(value.node, value.module, "tuple", (), complete=True)
    if isinstance(value, Items) and value.kind != "set":
        items = list(value.items)
        inside = _nodes_in(inline, items) if inline is not None else set()
        entries = tuple(_entry(item, module, inside) for item in items)
        return Contract(node, value, module, "sequence", entries, value.complete)
    known = isinstance(value, (Const, Text, Mapping, Items, CodeValue))
    entry = isinstance(value, CallValue) and value.func.name == "mcpcore.FailureMode"
    return Contract(node, value, module, "not_a_sequence" if known or entry else "unknown", (), complete=known)


def _nodes_in(inline: ast.expr, items: list[Value]) -> AbstractSet[ast.AST | None]:
    """The nodes of an expression; those right below it where the items are among them, as nearly all are."""
    below: set[ast.AST | None] = {*inline.elts} if isinstance(inline, (ast.List, ast.Tuple)) else set()
    return below if all(item.node in below for item in items) else {*walk([inline])}


def _entry(value: Value, module: Module, inside: AbstractSet[ast.AST | None]) -> ContractEntry:
    where = value.module or module
    is_failure_mode = isinstance(value, CallValue) and value.func.name == "mcpcore.FailureMode"
    if is_failure_mode and isinstance(value, CallValue):
        arguments = arguments_of(value, _POSITIONS)
    else:
        arguments = {name: Argument(name, Unknown(value.node, where)) for name in ENTRY_ARGUMENTS}
    symbol = value.func if isinstance(value, CallValue) else value
    ours = isinstance(symbol, Symbol) and symbol.name.startswith(("mcpcore.", "builtins."))
    known = ours or isinstance(value, (Const, Text, Items, Mapping, CodeValue))
    is_visible = is_failure_mode and not isinstance(getattr(symbol, "definition", None), ast.FunctionDef)
    call = value.node if is_visible and isinstance(value.node, ast.Call) else None
    return ContractEntry(value, where, known, is_failure_mode, call, arguments, value.node in inside)
