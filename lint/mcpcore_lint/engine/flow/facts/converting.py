"""Reads `mcpcore.guard(...)` and `ctx.guard(...)`: the errors that they raise instead of exceptions."""

import ast
from typing import Final

from mcpcore_lint.engine.flow.bodies.errors import arguments_of, evaluate_arguments
from mcpcore_lint.engine.flow.bodies.raises import class_names
from mcpcore_lint.engine.flow.effects import Becomes, Guard, Throw
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import (
    CallValue,
    CodeValue,
    Contract,
    ErrorForm,
    Items,
    Mapping,
    Missing,
    Symbol,
    Value,
    is_left_out,
    options,
    string,
)

_GUARD: Final = "mcpcore.guard"
_ANY: Final = ("builtins.Exception",)


def guards_made(node: ast.expr, scope: Scope, at: ast.expr | None = None) -> list[Guard]:
    """Return the guards that an expression may be: calls of `mcpcore.guard`, direct or indirect.

    Names, imports and functions of the project that return a guard are followed to the call.

    Args:
        node: The expression.
        scope: The scope of the expression.
        at: The node to report, if it is not the expression.
    """
    if isinstance(node, ast.Call) and not _may_make_guard(evaluate(node.func, scope)):
        return []
    calls = options(evaluate(node, scope))
    return [
        _guard(call, at or node, scope) for call in calls if isinstance(call, CallValue) and call.func.name == _GUARD
    ]


def _may_make_guard(function: Value) -> bool:
    """Whether a function may return a guard. Most context managers are ruled out here cheaply."""
    return any(
        isinstance(option, CallValue)
        or (isinstance(option, Symbol) and (option.name == _GUARD or isinstance(option.definition, ast.FunctionDef)))
        for option in options(function)
    )


def guard_of_context(call: ast.Call, scope: Scope, at: ast.expr | None = None) -> Guard:
    """Return the guard of a `ctx.guard` call; `at` is the name that it was assigned to, if any."""
    return _guard(evaluate_arguments(call, scope), at or call, scope, errors_at=0, form="fail")


def guard_of_contract(contract: Contract | None) -> Guard:
    """Return the guard that a contract is around its handler: what `on` and `on_code` map, if anything."""
    becomes: list[Becomes] = []
    for option in (option for entry in contract.entries for option in options(entry.value)) if contract else ():
        for mapped in option.mapped if isinstance(option, CallValue) else ():
            if mapped.module is not None and isinstance(mapped.node, ast.Call):
                data = mapped.argument("data")
                keys = None if is_left_out(data) else _data_keys(data)
                # All calls of a chain begin at the same place.
                place = mapped.node.args[0] if mapped.node.args else mapped.node
                throw = _thrown(place, mapped.module.scope, "guard", *_labels(option), keys)
                types = tuple(name for argument in mapped.args for name in class_names(argument))
                codes = frozenset(name for argument in mapped.args for name in _code_names(argument))
                becomes.append(Becomes(types if mapped.complete else (None,), throw, codes))
    return Guard(converts=True, keeps=True, becomes=tuple(becomes))


def _code_names(value: Value) -> frozenset[str]:
    """Return the codes among the keys of a guard."""
    items = [item for option in options(value) for item in (option.items if isinstance(option, Items) else (option,))]
    return frozenset(item.name for item in items if isinstance(item, CodeValue))


def unread_guard(node: ast.expr, scope: Scope) -> Guard:
    """Return a guard whose errors cannot be read."""
    return Guard(converts=True, becomes=(Becomes((None,), _thrown(node, scope, "guard", None, None)),))


def _guard(
    call: CallValue, at: ast.expr, scope: Scope, *, errors_at: int | None = None, form: ErrorForm = "guard"
) -> Guard:
    """Return the guard of a call; `errors_at` is the position of the mapping, which is 0 for `ctx.guard`."""
    if not call.complete or not isinstance(call.argument("error_mapper"), Missing):
        return unread_guard(at, scope)
    arguments = arguments_of(call, {"errors": errors_at, "data": None})
    argument, keys = arguments["errors"], _data_keys(arguments["data"].value)
    table = argument.value
    # If merged tables name a class twice, the last entry counts.
    entries: dict[object, Becomes] = {}
    if isinstance(table, Mapping):
        places: list[ast.expr] = [at] * len(table.items)
        # A dict at the call has a place for each entry; those of merged tables may be in other files.
        if call.node is at and isinstance(argument.node, ast.Dict) and len(argument.node.values) == len(places):
            places = argument.node.values
        for place, (key, value) in zip(places, table.items, strict=True):
            types = tuple(class_names(key))
            codes, reasons = _labels(value)
            if form == "fail" and reasons:
                codes = None  # the contract declares the code of the reason
            names = _code_names(key)
            # Two unknown classes may differ, so such an entry replaces no other.
            entries[(types, names) if None not in types else place] = Becomes(
                types, _thrown(place, scope, form, codes, reasons, keys), names
            )
        if not table.complete:
            entries[None] = unread_guard(at, scope).becomes[0]
    elif not isinstance(table, Missing):
        return unread_guard(at, scope)
    becomes = [*entries.values()]
    otherwise = call.argument("code")
    if not is_left_out(otherwise) and string(otherwise) is None:
        becomes.append(Becomes(_ANY, _thrown(at, scope, "guard", *_labels(otherwise))))
    return Guard(converts=True, becomes=tuple(becomes))


def _thrown(
    place: ast.expr,
    scope: Scope,
    form: ErrorForm,
    codes: tuple[str, ...] | None,
    reasons: tuple[str, ...] | None,
    keys: tuple[str, ...] | None = None,
) -> Throw:
    module = scope.module
    span = module.source.span(place)
    return Throw("mcpcore.CodedError", form, codes, reasons, module.path, span, is_named_only=True, data_keys=keys)


def _data_keys(data: Value) -> tuple[str, ...] | None:
    """Return all keys of the data of a guard, or of the data that its lambda returns; None if unknown."""
    if is_left_out(data):
        return ()
    if isinstance(data.node, ast.Lambda) and data.module is not None:
        data = evaluate(data.node.body, data.module.scope_of(data.node))
    if not isinstance(data, Mapping) or not data.complete or len(data.keys) != len(data.items):
        return None
    return data.keys


def _labels(value: Value) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the codes and reasons of an entry in the mapping of a guard; None for unknown ones."""
    codes: list[str] = []
    reasons: list[str] = []
    for option in options(value):
        if isinstance(option, CallValue) and option.func.name == "mcpcore.FailureMode":
            code, reason = option.argument("code", 1), string(option.argument("reason", 0))
        else:
            code, reason = option, string(option)
        exists = isinstance(code, CodeValue) and code.exists
        if isinstance(code, CodeValue) and exists:
            codes.append(code.name)
        if reason is not None:
            reasons.append(reason)
        elif not exists:
            return None, None
    return tuple(dict.fromkeys(codes)) or None, tuple(dict.fromkeys(reasons))
