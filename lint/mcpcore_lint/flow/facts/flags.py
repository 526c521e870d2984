"""The flags that calls pass, as in `load(key, strict=False)`, and the statements that do not run with them.

If `if strict:` guards a `raise` in `def load(key, *, strict=True)`, the errors of `load` depend on the call.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

from mcpcore_lint.semantics.branches import ends
from mcpcore_lint.syntax.parse import BLOCKS, statements, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.syntax.module import Module

Flags: TypeAlias = "tuple[tuple[str, bool | None], ...]"
"""Parameters of a function, each with the flag that a call passes: None, True or False."""


def flags_passed(
    call: ast.Call, function: FunctionNode, module: Module, known: Mapping[str, bool | None], *, bound: bool
) -> Flags:
    """Return the flags that a call passes to parameters which its function tests.

    Args:
        call: The call.
        function: The function that is called.
        module: Its file.
        known: The flags of the calling function.
        bound: Whether the first parameter is the object or the class itself.
    """
    deciding = _deciding(function, module)
    arguments = _arguments_by_name(call, function, bound=bound) if deciding else None
    flags: list[tuple[str, bool | None]] = []
    for name, default in deciding.items() if arguments is not None else ():
        value = (arguments or {}).get(name, default)
        if isinstance(value, ast.Constant) and _is_flag(value):
            flags.append((name, value.value))  # type: ignore[arg-type]
        elif isinstance(value, ast.Name) and value.id in known:
            flags.append((name, known[value.id]))
    return tuple(flags)


def _arguments_by_name(call: ast.Call, function: FunctionNode, *, bound: bool) -> dict[str, ast.expr] | None:
    """Return the arguments of a call by parameter name; None if it uses `*` or `**`.

    Args:
        call: The call.
        function: The function that is called.
        bound: Whether the first parameter is the object or the class itself.
    """
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    positional = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)][int(bound) :]
    arguments = dict(zip(positional, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None:
            return None
        arguments[keyword.arg] = keyword.value
    return arguments


def unreached(function: FunctionNode, flags: Mapping[str, bool | None]) -> set[ast.AST]:
    """Return the statements of a function that do not run with these flags."""
    dead: set[ast.AST] = set()
    for block in _blocks(function) if flags else ():
        for at, statement in enumerate(block):
            holds = _holds(statement.test, flags) if isinstance(statement, ast.If) else None
            if holds is None or not isinstance(statement, ast.If):
                continue
            dead.update(statement.orelse if holds else statement.body)
            if ends(statement.body if holds else statement.orelse):
                dead.update(block[at + 1 :])
                break
    return dead


def _blocks(function: FunctionNode) -> Iterator[list[ast.stmt]]:
    if isinstance(function, ast.Lambda):
        return
    yield function.body
    for statement in statements(function.body):
        for name in BLOCKS.get(type(statement), ()):
            block = getattr(statement, name)
            if block and isinstance(block[0], ast.stmt):
                yield block


def _holds(test: ast.expr, flags: Mapping[str, bool | None]) -> bool | None:
    """Return whether a condition holds; None if the flags do not decide it."""
    if isinstance(test, ast.Name):
        return bool(flags[test.id]) if test.id in flags else None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _holds(test.operand, flags)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        parts = [_holds(part, flags) for part in test.values]
        decides = isinstance(test.op, ast.Or)
        return decides if decides in parts else None if None in parts else not decides
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name):
        other = test.comparators[0]
        if test.left.id in flags and isinstance(other, ast.Constant):
            same = flags[test.left.id] is other.value
            if isinstance(test.ops[0], (ast.Is, ast.Eq)):
                return same
            return not same if isinstance(test.ops[0], (ast.IsNot, ast.NotEq)) else None
    return None


def _is_flag(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def _deciding(function: FunctionNode, module: Module) -> dict[str, ast.expr | None]:
    """Return the parameters with a flag as default that the function tests but never assigns, with the default."""
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    defaults = dict(zip((arg.arg for arg in reversed(positional)), reversed(args.defaults), strict=False))
    defaults |= {
        arg.arg: value for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is not None
    }
    flags = {name: value for name, value in defaults.items() if _is_flag(value)}
    if not flags or isinstance(function, ast.Lambda):
        return {}
    key = ("flags", function)
    if key not in module.memo:
        module.complete(function)
        tests = [statement.test for statement in statements(function.body) if isinstance(statement, ast.If)]
        names = {part.id for part in walk([*tests]) if isinstance(part, ast.Name)}
        bindings = module.scope_of(function).bindings
        module.memo[key] = {
            name: value for name, value in flags.items() if name in names and len(bindings.get(name, ())) == 1
        }
    deciding: dict[str, ast.expr | None] = module.memo[key]
    return deciding
