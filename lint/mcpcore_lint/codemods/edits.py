"""Describes the changes of fixes, for the rules that offer them; `rewrite` carries them out with libcst.

A change that might lose a comment is None, and a fix with such a change is not offered.
"""

from __future__ import annotations

import io
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
    "add_parameter",
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
    start, end = module.source.node_range(node)
    # A function or a clause is found by its start; changes inside its body are independent.
    return Change(transformation, start, start if hasattr(node, "body") else end, arguments)


def replace_node(module: Module, node: ast.AST, code: str) -> Change | None:
    """Replace an expression; the parentheses around it stay."""
    return None if has_comment(module.source.segment(node)) else change(module, "replace", node, code)


def arguments_in_order(call: ast.Call) -> list[ast.expr | ast.keyword]:
    """The arguments of a call in the order in which they are written."""
    return sorted([*call.args, *call.keywords], key=lambda argument: (argument.lineno, argument.col_offset))


def rewrite_call(
    module: Module, call: ast.Call, arguments: Sequence[ast.expr | ast.keyword | str], *, function: str = ""
) -> Change | None:
    """Change the arguments of a call, and the function too if one is given; a text is a new argument."""
    if has_comment(module.source.segment(call)):
        return None
    old = arguments_in_order(call)
    new = [each if isinstance(each, str) else old.index(each) for each in arguments]
    return change(module, "rewrite_call", call, function, *new)


def remove_argument(module: Module, call: ast.Call, argument: ast.expr | ast.keyword) -> Change | None:
    """Take an argument out of a call."""
    return rewrite_call(module, call, [each for each in arguments_in_order(call) if each is not argument])


def add_argument(module: Module, call: ast.Call, code: str) -> Change | None:
    """Put an argument behind the last one of a call."""
    return rewrite_call(module, call, [*arguments_in_order(call), code])


def add_parameter(
    module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, code: str, index: int
) -> Change | None:
    """Add a positional parameter to a function: as the first one, or as the second behind `self`."""
    positional = [*function.args.posonlyargs, *function.args.args]
    source = module.source
    header = source.text[source.node_range(function)[0] : source.node_range(function.body[0])[0]]
    if len(positional) < index or has_comment(header[: header.rfind(")")]):
        return None
    return change(module, "add_parameter", function, code, index)


def has_comment(code: str) -> bool:
    """Whether a part of a file contains a comment."""
    if "#" not in code:
        return False
    # A run without fixes does not need it.
    import tokenize

    try:
        return any(token.type == tokenize.COMMENT for token in tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return True


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
