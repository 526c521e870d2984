"""The flags that calls pass, as in `load(key, strict=False)`, and the statements that do not run with them.

If `if strict:` guards a `raise` in `def load(key, *, strict=True)`, the errors of `load` depend on the call.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.engine.syntax.parse import statements, walk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.model import FunctionNode


def is_flag(node: ast.expr | None) -> bool:
    """Whether an expression is None, True or False."""
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def flags_of(function: FunctionNode, module: Module) -> dict[str, ast.expr]:
    """Return the parameters with a flag as default that a function tests but never assigns, with the default."""
    args = function.args
    names = [arg.arg for arg in (*args.posonlyargs, *args.args)][-len(args.defaults) or None :]
    names += [arg.arg for arg in args.kwonlyargs]
    flags = {name: value for name, value in zip(names, (*args.defaults, *args.kw_defaults), strict=False) if value}
    flags = {name: value for name, value in flags.items() if is_flag(value)}
    if not flags or isinstance(function, ast.Lambda):
        return {}
    key = ("flags", function)
    if key not in module.memo:
        module.complete(function)
        tests = [statement.test for statement in statements(function.body) if isinstance(statement, ast.If)]
        tested = {part.id for part in walk([*tests]) if isinstance(part, ast.Name)}
        bindings = module.scope_of(function).bindings
        module.memo[key] = {
            name: value for name, value in flags.items() if name in tested and len(bindings.get(name, ())) == 1
        }
    known: dict[str, ast.expr] = module.memo[key]
    return known


def outcome(test: ast.expr, flags: Mapping[str, object]) -> bool | None:
    """Return the outcome of a test; None if the flags do not decide it."""
    match test:
        case ast.Name(id=name) if name in flags:
            return bool(flags[name])
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = outcome(operand, flags)
            return None if inner is None else not inner
        case ast.BoolOp(op=op, values=values):
            parts = [outcome(part, flags) for part in values]
            decides = isinstance(op, ast.Or)
            return decides if decides in parts else None if None in parts else not decides
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(value=other)]) if name in flags:
            same = flags[name] is other
            if isinstance(op, (ast.Is, ast.Eq)):
                return same
            return not same if isinstance(op, (ast.IsNot, ast.NotEq)) else None
    return None
