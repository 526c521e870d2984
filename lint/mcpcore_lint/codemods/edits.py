"""Describes the changes of fixes, for the rules that offer them; `rewrite` carries them out with libcst."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.codemods.imports import Imported, import_name
from mcpcore_lint.diagnostics import Change

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from mcpcore_lint.diagnostics import Edit
    from mcpcore_lint.syntax.module import Module

__all__ = [
    "Imported",
    "add_argument",
    "apply",
    "arguments_in_order",
    "change",
    "import_name",
    "remove_argument",
    "replace_node",
    "rewrite_call",
]


def change(module: Module, transformation: str, node: ast.AST, *arguments: str | int) -> Change:
    """A change of a node by one of `codemods.transformations`."""
    return Change(transformation, *module.source.node_range(node), arguments)


def replace_node(module: Module, node: ast.AST, code: str) -> Change:
    """Replace an expression; the parentheses around it stay."""
    return change(module, "replace", node, code)


def arguments_in_order(call: ast.Call) -> list[ast.expr | ast.keyword]:
    """The arguments of a call in the order in which they are written."""
    return sorted([*call.args, *call.keywords], key=lambda argument: (argument.lineno, argument.col_offset))


def rewrite_call(
    module: Module, call: ast.Call, arguments: Sequence[ast.expr | ast.keyword | str], *, function: str = ""
) -> Change:
    """Change the arguments of a call, and the function too if one is given; a text is a new argument."""
    old = arguments_in_order(call)
    new = [each if isinstance(each, str) else old.index(each) for each in arguments]
    return change(module, "rewrite_call", call, function, *new)


def remove_argument(module: Module, call: ast.Call, argument: ast.expr | ast.keyword) -> Change:
    """Take an argument out of a call."""
    return rewrite_call(module, call, [each for each in arguments_in_order(call) if each is not argument])


def add_argument(module: Module, call: ast.Call, code: str) -> Change:
    """Put an argument behind the last one of a call."""
    return rewrite_call(module, call, [*arguments_in_order(call), code])


def apply(text: str, edits: Sequence[Edit]) -> str:
    """A text with edits made; equal edits are made once."""
    parts: list[str] = []
    position = 0
    for edit in sorted(set(edits)):
        parts.append(text[position : edit.start])
        parts.append(edit.text)
        position = edit.end
    parts.append(text[position:])
    return "".join(parts)
