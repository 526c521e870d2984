"""Callees that start from a local value, so that no qualified name describes them.

No finding depends on this module. Without it, a cold run of `bench.lint` takes 15 percent longer.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.names import PLAIN_BUILTINS
from mcpcore_lint.semantics.annotations import MAX_DEPTH

if TYPE_CHECKING:
    from mcpcore_lint.syntax.scopes import Scope

_VALUES: Final = frozenset(
    {ast.Constant, ast.JoinedStr, ast.List, ast.Dict, ast.Set, ast.Tuple, ast.ListComp, ast.DictComp, ast.SetComp,
     ast.GeneratorExp, ast.Compare, ast.BinOp, ast.UnaryOp, ast.Await, ast.Subscript}
)  # fmt: skip
_LOCAL: Final = frozenset({"parameter", "with", "opaque", "augmented"})
"""Kinds of bindings whose value has no qualified name."""
_ASSIGNING: Final = frozenset({"assign", "annotated"})
_BUILDERS: Final = frozenset(
    {"bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "len", "list", "repr", "set", "sorted", "str",
     "tuple"}
)  # fmt: skip
"""Builtins whose results have no attributes from the project."""


def is_local(func: ast.expr, scope: Scope, *, built: bool = False) -> bool:
    """Whether a callee starts from a local value or a plain builtin, so that it has no qualified name.

    Args:
        func: The callee.
        scope: The scope of the call.
        built: Whether to include attributes of a builtin's result: `seen.add` after `seen = set()`.
    """
    root = func
    called = False
    steps = 0
    while not isinstance(root, ast.Name):
        if isinstance(root, ast.Attribute):
            root = root.value
            called = False
        elif isinstance(root, ast.Call) and root is not func:
            root = root.func
            called = True
        else:
            return isinstance(root, (ast.Constant, ast.JoinedStr))
        steps += 1
        if steps == 2 * MAX_DEPTH:
            # The chain is too long to follow to its start.
            return True
    match = scope.lookup(root.id)
    if match is None:
        return root.id in PLAIN_BUILTINS if root is func else built and called and root.id in _BUILDERS
    built = built and root is not func
    owner, bindings = match
    for binding in bindings:
        kind = binding.kind
        if (
            kind not in _LOCAL
            and not (kind == "assign" and type(binding.value) in _VALUES)
            and not (built and kind in _ASSIGNING and _is_built(binding.value, owner))
        ):
            return False
    return True


def _is_built(node: ast.expr | None, scope: Scope) -> bool:
    """Whether an expression is a call of a builtin that builds a value."""
    if type(node) is not ast.Call or type(node.func) is not ast.Name:
        return False
    return node.func.id in _BUILDERS and scope.lookup(node.func.id) is None
