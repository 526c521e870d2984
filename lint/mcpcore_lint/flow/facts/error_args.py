"""Codes and reasons that functions are given for the errors that they make: `fail(ErrorCode.CONFLICT, "locked")`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.flow.effects import Given, Handed
from mcpcore_lint.model import CodeValue, Const, Missing, Symbol, options
from mcpcore_lint.semantics.call_args import parameter_of
from mcpcore_lint.semantics.evaluate import CODES, Resolver, choice
from mcpcore_lint.semantics.type_model import method_of
from mcpcore_lint.semantics.types import is_static
from mcpcore_lint.syntax.parse import all_parameters, own_nodes, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpcore_lint.flow.effects import Parameter
    from mcpcore_lint.model import ErrorSite, FunctionNode, Value
    from mcpcore_lint.semantics.hierarchy import Hierarchy
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope


_PLACES: Final[dict[str, dict[int, str]]] = {
    "fail": {0: "reason", 2: "data"},
    "factory": {1: "data"},
    "coded": {0: "code", 2: "data"},
}
"""For each form of a coded error, the positions of what says its code and its reason."""
_LABELS: Final = frozenset({"code", "reason", "data"})
_KEPT: Final = frozenset({ast.Raise, ast.Return, ast.Expr, ast.Await})
"""What stands round a call whose errors are raised or handed back."""
_KNOWN: Final = frozenset({Missing, Const})
"""What a reason is that no argument decides."""
MAX_LABELS: Final = 4
"""How many codes or reasons one parameter is given by one call; of more, nothing is told."""


def labels_given(
    call: ast.Call,
    function: FunctionNode,
    module: Module,
    caller: tuple[Scope, Mapping[str, Value]],
    names: frozenset[str],
    given: tuple[Given, ...],
    *,
    bound: bool,
) -> tuple[Given, ...]:
    """All that a call gives, with the codes and the reasons for parameters which its function makes errors of.

    Args:
        call: The call.
        function: What is called.
        module: The file of that.
        caller: Where the call stands, and the codes and reasons that the caller's own parameters are.
        names: Those parameters.
        given: What the call gives besides, of which a text that the function asks for stays what it is.
        bound: Whether the first parameter is the object or the class itself.
    """
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    defaults = dict(zip((each.arg for each in reversed(positional)), reversed(args.defaults), strict=False))
    defaults.update(
        (each.arg, given) for each, given in zip(args.kwonlyargs, args.kw_defaults, strict=True) if given is not None
    )
    written: dict[str, ast.expr] = {}
    whole = True
    for parameter, each in zip(positional[int(bound) :], call.args, strict=False):
        if isinstance(each, ast.Starred):
            whole = False
            break
        written[parameter.arg] = each
    for keyword in call.keywords:
        if keyword.arg is not None:
            written[keyword.arg] = keyword.value
        else:
            whole = False
    scope, known = caller
    found: dict[Parameter, Given] = {each.parameter: each for each in given}
    for name in sorted(names):
        parameter_given = parameter_of(function, module, name)
        before = found.get(parameter_given)
        if before is not None and before.what[0].sort == "constant":
            continue
        resolver = Resolver()
        if name in written:
            with resolver.within(scope, dict(known)):
                value = resolver.expression(written[name], scope)
        elif whole and name in defaults:
            value = resolver.expression(defaults[name], module.scope_of(function).parent or module.scope)
        else:
            continue
        what = [_handed(each) for each in options(value)]
        if len(what) <= MAX_LABELS and None not in what:
            unique = sorted({each for each in what if each is not None}, key=repr)
            found[parameter_given] = Given(parameter_given, tuple(unique))
    return tuple(found.values())


def labels_of(function: FunctionNode, module: Module, given: tuple[Given, ...]) -> dict[str, Value]:
    """The codes and the reasons that parameters of a function are in one call, as values."""
    here = (module.path, function.lineno, function.col_offset)
    found: dict[str, Value] = {}
    for each in given:
        if each.parameter[:3] == here:
            values = [_value(one, function, module) for one in each.what]
            if None not in values:
                found[each.parameter.name] = choice([one for one in values if one is not None], function, module)
    return found


def not_for(function: FunctionNode, labels: Mapping[str, Value]) -> set[ast.AST]:
    """The statements of a function that do not run for some codes and reasons: `if reason is None`, `if reason`."""
    found: set[ast.AST] = set()
    for each in own_nodes(function):
        if isinstance(each, ast.If) and (holds := _holds(each.test, labels)) is not None:
            found.update(each.orelse if holds else each.body)
    return found


def _holds(test: ast.expr, labels: Mapping[str, Value]) -> bool | None:
    """Whether a condition holds that asks whether a label is given; None where it asks something else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _holds(test.operand, labels)
        return None if inner is None else not inner
    asked, none = test, False
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        other = test.comparators[0]
        none = isinstance(other, ast.Constant) and other.value is None
        asked = test.left if none else test
    value = labels.get(asked.id) if isinstance(asked, ast.Name) else None
    given = {not (isinstance(each, Const) and each.value is None) for each in options(value)} if value else set()
    if len(given) != 1:
        return None
    if none and isinstance(test, ast.Compare):
        return given == {isinstance(test.ops[0], ast.IsNot)}
    texts = {bool(each.value) for each in options(value) if isinstance(each, Const)} if value else set()
    return None if len(texts) > 1 else texts.pop() if texts else True


def labelled(function: FunctionNode, module: Module, hierarchy: Hierarchy) -> frozenset[str]:
    """The parameters of a function that say the code or the reason of an error which it makes, or has made."""
    key = ("labelled", function)
    known: frozenset[str] | None = module.memo.get(key)
    if known is None:
        module.memo[key] = frozenset()  # where it calls itself
        known = module.memo[key] = frozenset(_labelled(function, module, hierarchy))
    return known


def _labelled(function: FunctionNode, module: Module, hierarchy: Hierarchy) -> Iterator[str]:
    builder = HandlerBuilder.of(function, module, hierarchy)
    errors = builder.model.errors
    open_ = [
        each
        for each in errors
        if not (type(each.code) is CodeValue and type(each.reason) in _KNOWN)
        and each.form in _PLACES
        and each.function is function
    ]
    calls: list[ast.Call] = []
    # What makes no coded error hands on to what does at most, and then its file speaks of such errors.
    if module.source.has("mcpcore"):
        parents, made = builder.parents, {each.node for each in errors}
        calls = [
            each
            for each in builder.calls
            if type(parents.get(each)) in _KEPT
            and (each.args or each.keywords)
            and each not in made
            and each not in builder.function_of
        ]
    if not (open_ or calls):
        return
    scope = module.scope_of(function)
    bindings = scope.bindings
    names = {each.arg for each in all_parameters(function.args) if len(bindings.get(each.arg, ())) == 1}
    if not names:
        return
    for error in open_:
        for argument in _saying(error, error.node) if isinstance(error.node, ast.Call) else ():
            yield from (each.id for each in walk([argument]) if isinstance(each, ast.Name) and each.id in names)
    for call in calls:
        handed = {each.id for each in call.args if type(each) is ast.Name and each.id in names}
        handed |= {each.value.id for each in call.keywords if type(each.value) is ast.Name and each.value.id in names}
        target = _called(call, builder, scope) if handed else None
        if target is not None:
            yield from _handed_on(call, *target, handed, hierarchy)


def _handed_on(
    call: ast.Call, function: FunctionNode, module: Module, handed: set[str], hierarchy: Hierarchy
) -> Iterator[str]:
    """The names that a call hands on to parameters of which its function makes errors."""
    names = labelled(function, module, hierarchy)
    if not names:
        return
    positional = [*function.args.posonlyargs, *function.args.args]
    if module.scope_of(function).owner is not None and not is_static(function):
        positional = positional[1:]
    for parameter, each in zip(positional, call.args, strict=False):
        if parameter.arg in names and isinstance(each, ast.Name) and each.id in handed:
            yield each.id
    for keyword in call.keywords:
        if keyword.arg in names and isinstance(keyword.value, ast.Name) and keyword.value.id in handed:
            yield keyword.value.id


def _called(call: ast.Call, builder: HandlerBuilder, scope: Scope) -> tuple[FunctionNode, Module] | None:
    """The function of the project that a call names, or the method of the same object."""
    func, module = call.func, scope.module
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in {"self", "cls"}:
        info = module.classes.get(scope.owner) if scope.owner is not None else None
        method = method_of(info, func.attr) if info is not None else None
        return (method[0], method[1].module) if method is not None else None
    value = builder.callee(func, scope)
    definition = value.definition if isinstance(value, Symbol) else None
    if not isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return None
    owner = module.project.module_defining(definition)
    return (definition, owner) if owner is not None else None


def _saying(error: ErrorSite, call: ast.Call) -> Iterator[ast.expr]:
    """The arguments that say the code and the reason of an error."""
    if error.type_name != "mcpcore.CodedError":
        yield from call.args
        yield from (each.value for each in call.keywords)
        return
    places = _PLACES[error.form]
    parts = [(places.get(at), each) for at, each in enumerate(call.args)]
    parts += [(each.arg, each.value) for each in call.keywords]
    for name, each in parts:
        if name == "data" and isinstance(each, ast.Dict):
            for key, value in zip(each.keys, each.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "reason":
                    yield value
        elif name in _LABELS and name != "data":
            yield each


def _handed(value: Value) -> Handed | None:
    if isinstance(value, CodeValue):
        return Handed("code", value.name) if value.exists else None
    if isinstance(value, Const):
        if value.value is None:
            return Handed("none")
        if isinstance(value.value, str):
            return Handed("text", value.value)
        name = CODES.name_of(value.value) if type(value.value) is int else None
        return Handed("code", name) if name is not None else None
    return None


def _value(handed: Handed, function: FunctionNode, module: Module) -> Value | None:
    if handed.sort == "code":
        return CodeValue(function, module, handed.place, CODES.by_name.get(handed.place))
    if handed.sort in {"text", "constant"}:
        return Const(function, module, handed.place)
    return Const(function, module, None) if handed.sort == "none" else None


__all__ = ["labelled", "labels_given", "labels_of", "not_for"]
