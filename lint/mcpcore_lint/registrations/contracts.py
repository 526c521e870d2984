"""What `errors=` of a tool is: the contract and its entries."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.flow.bodies.errors import arguments_of
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
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope


_POSITIONS: Final = {
    name: ENTRY_POSITIONAL.index(name) if name in ENTRY_POSITIONAL else None for name in ENTRY_ARGUMENTS
}


def contract_given(call: CallValue, registration: ast.expr, scope: Scope) -> Contract | None:
    """The contract among the arguments of a registration."""
    value = call.argument("errors")
    if isinstance(value, Missing):
        return None
    node = _keyword_value(call.node, "errors")
    if isinstance(value, Const) and value.value is None and node is not None:
        return None
    return contract_of(value, registration if node is None else node, call.module or scope.module, node)


def contract_of(value: Value, node: ast.expr, module: Module, inline: ast.expr | None) -> Contract:
    """The contract that a value is; `inline` is the expression whose entries are written at the tool itself."""
    if isinstance(value, CallValue) and value.func.name == "mcpcore.Contract":
        value = value.argument("entries", 0)
        if isinstance(value, Missing):
            value = Items(value.node, value.module, "tuple", (), complete=True)
    if isinstance(value, Items) and value.kind != "set":
        items = list(value.items)
        inside = _nodes_in(inline, items) if inline is not None else set()
        entries = tuple(_entry(each, module, inside) for each in items)
        return Contract(node, value, module, "sequence", entries, value.complete)
    known = isinstance(value, (Const, Text, Mapping, Items, CodeValue))
    entry = isinstance(value, CallValue) and value.func.name == "mcpcore.FailureMode"
    return Contract(node, value, module, "not_a_sequence" if known or entry else "unknown", (), complete=known)


def _nodes_in(inline: ast.expr, items: list[Value]) -> AbstractSet[ast.AST | None]:
    """The nodes of an expression; those right below it where the items are among them, as nearly all are."""
    below: set[ast.AST | None] = {*inline.elts} if isinstance(inline, (ast.List, ast.Tuple)) else set()
    return below if all(each.node in below for each in items) else {*walk([inline])}


def _entry(value: Value, module: Module, inside: AbstractSet[ast.AST | None]) -> ContractEntry:
    where = value.module or module
    if isinstance(value, CallValue) and value.func.name == "mcpcore.FailureMode":
        call = value.node if isinstance(value.node, ast.Call) else None
        arguments = arguments_of(value, _POSITIONS)
        return ContractEntry(
            value, where, resolved=True, is_failure_mode=True, call=call, arguments=arguments, inline=call in inside
        )
    blank = {name: Argument(name, Unknown(value.node, where)) for name in ENTRY_ARGUMENTS}
    known = (
        isinstance(value, (Const, Text, Items, Mapping, CodeValue))
        or (isinstance(value, CallValue) and value.func.name.startswith(("mcpcore.", "builtins.")))
        or (isinstance(value, Symbol) and value.name.startswith(("mcpcore.", "builtins.")))
    )
    return ContractEntry(
        value,
        where,
        resolved=known,
        is_failure_mode=False,
        call=None,
        arguments=blank,
        inline=value.node in inside,
    )


def _keyword_value(node: ast.AST | None, name: str) -> ast.expr | None:
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg == name:
                return keyword.value
    return None


__all__ = ["contract_given", "contract_of"]
