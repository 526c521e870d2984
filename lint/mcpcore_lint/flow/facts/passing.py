"""The values that calls pass: kinds of unannotated parameters, and flags that decide whether a function raises.

The parameter of a helper `def load(store): store.get()` has no annotation, so the errors of `load` are computed once
for each kind of object that a call passes. The same is done for the flag of `def load(key, *, strict=True)`, if
`if strict:` guards a `raise`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.flow.effects import Parameter, Passed, key_of, place_of
from mcpcore_lint.semantics.branches import ends
from mcpcore_lint.semantics.type_model import ClassObject, Function, Instance, Kind, Outside
from mcpcore_lint.syntax.parse import BLOCKS, statements, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpcore_lint.flow.program import Program
    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.semantics.types import Inference
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

MAX_PASSED: Final = 4
"""A call with more values than this passes nothing; see `Key.passed`."""
MAX_DOTS: Final = 3
"""Deeper attributes of outside objects are unknown, so that a function which calls itself with `x.y` ends."""
_FLAGS: Final[dict[str, bool | None]] = {"None": None, "True": True, "False": False}
_SAYS_NOTHING: Final = frozenset({"Any", "object", "Callable", "Awaitable"})


def parameter_of(node: FunctionNode, module: Module, name: str) -> Parameter:
    """Return a parameter by its function and name."""
    return Parameter(module.path, node.lineno, node.col_offset, name)


def arguments_by_name(call: ast.Call, function: FunctionNode, *, bound: bool) -> dict[str, ast.expr] | None:
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


# -- kinds ------------------------------------------------------------------------------------------


def kinds_passed(
    arguments: Mapping[str, ast.expr], function: FunctionNode, module: Module, inference: Inference, scope: Scope
) -> tuple[Passed, ...]:
    """Return the kinds of values that a call passes to parameters without a useful annotation."""
    passed: list[Passed] = []
    args = function.args
    for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs):
        if arg.arg in arguments and _says_nothing(arg.annotation):
            parameter = parameter_of(function, module, arg.arg)
            for kind in inference.of(arguments[arg.arg], scope):
                passed += _passed(parameter, kind)
    return tuple(dict.fromkeys(passed)) if len(passed) <= MAX_PASSED else ()


def _says_nothing(annotation: ast.expr | None) -> bool:
    while isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    if isinstance(annotation, ast.BinOp):
        return _says_nothing(annotation.left) or _says_nothing(annotation.right)
    name = annotation.id if isinstance(annotation, ast.Name) else getattr(annotation, "attr", "")
    return annotation is None or name in _SAYS_NOTHING


def _passed(parameter: Parameter, kind: Kind) -> Iterator[Passed]:
    if isinstance(kind, Instance):
        yield Passed(parameter, "instance", place_of(kind.info))
    elif isinstance(kind, ClassObject):
        yield Passed(parameter, "class", place_of(kind.info))
    elif isinstance(kind, Function):
        yield Passed(parameter, "function", key=key_of(kind.node, kind.module, kind.receiver))
    elif isinstance(kind, Outside) and 0 < kind.name.count(".") <= MAX_DOTS and not kind.name.startswith("builtins."):
        yield Passed(parameter, "outside", kind.name)


def kinds_of(passed: tuple[Passed, ...], program: Program) -> dict[tuple[FunctionNode, str], list[Kind]]:
    """Return the kinds of parameters, by function and name, looked up in the current syntax trees."""
    kinds: dict[tuple[FunctionNode, str], list[Kind]] = {}
    for value in passed:
        module = program.project.module_at(value.parameter.path)
        node = module.function_at(value.parameter.line, value.parameter.column) if module is not None else None
        kind: Kind | None = None
        if value.sort == "outside":
            kind = Outside(value.place)
        elif value.sort == "function" and value.key is not None and (located := program.find(value.key)) is not None:
            kind = Function(*located, program.project.class_at(value.key.receiver) if value.key.receiver else None)
        elif value.sort in {"instance", "class"} and (info := program.project.class_at(value.place)) is not None:
            kind = Instance(info) if value.sort == "instance" else ClassObject(info)
        if node is not None and kind is not None:
            kinds.setdefault((node, value.parameter.name), []).append(kind)
    return kinds


# -- flags ------------------------------------------------------------------------------------------


def flags_passed(
    arguments: Mapping[str, ast.expr], function: FunctionNode, module: Module, known: Mapping[str, bool | None]
) -> tuple[Passed, ...]:
    """Return the flags (None, True or False) that a call passes to parameters which its function tests.

    Args:
        arguments: The arguments by name; a missing one has its default.
        function: The function that is called.
        module: Its file.
        known: The flags of the calling function.
    """
    passed: list[Passed] = []
    for name, default in _deciding(function, module).items():
        value = arguments.get(name, default)
        flag: bool | None = None
        if isinstance(value, ast.Constant) and _is_flag(value):
            flag = value.value  # type: ignore[assignment]
        elif isinstance(value, ast.Name) and value.id in known:
            flag = known[value.id]
        else:
            continue
        passed.append(Passed(parameter_of(function, module, name), "flag", str(flag)))
    return tuple(passed)


def flags_of(function: FunctionNode, module: Module, passed: tuple[Passed, ...]) -> dict[str, bool | None]:
    """Return the flags among the values passed to a function."""
    here = (module.path, function.lineno, function.col_offset)
    return {
        value.parameter.name: _FLAGS[value.place]
        for value in passed
        if value.sort == "flag" and value.parameter[:3] == here
    }


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
