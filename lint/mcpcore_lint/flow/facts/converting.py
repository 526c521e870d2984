"""The failures that `mcpcore.guard(...)` and `ctx.guard(...)` make of exceptions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.flow.bodies.errors import arguments_of
from mcpcore_lint.flow.effects import Becomes, Guard, Throw
from mcpcore_lint.model import (
    CallValue,
    CodeValue,
    Items,
    Mapping,
    Missing,
    Symbol,
    Value,
    is_left_out,
    options,
    string,
)
from mcpcore_lint.semantics.call_results import made
from mcpcore_lint.semantics.evaluate import Resolver, evaluate

if TYPE_CHECKING:
    from mcpcore_lint.model import ErrorForm
    from mcpcore_lint.syntax.scopes import Scope

_GUARD: Final = "mcpcore.guard"
_ANY: Final = ("builtins.Exception",)


def guards_made(node: ast.expr, scope: Scope, at: ast.expr | None = None) -> list[Guard]:
    """The guards that an expression may be: a call of `mcpcore.guard`, or what leads to one.

    A name, an import and a function of the project that returns a guard lead to its call.

    Args:
        node: The expression.
        scope: The names that it sees.
        at: Where the guard is in force, if not at the expression.
    """
    if isinstance(node, ast.Call) and not _may_make_guard(evaluate(node.func, scope)):
        return []
    value = evaluate(node, scope)
    found = [made(each, Resolver()) for each in options(value)]
    return [
        _guard(each, at or node, scope) for each in found if isinstance(each, CallValue) and each.func.name == _GUARD
    ]


def _may_make_guard(function: Value) -> bool:
    """Whether a call of a function may return a guard: most context managers come from elsewhere."""
    return any(
        isinstance(option, CallValue)
        or (isinstance(option, Symbol) and (option.name == _GUARD or isinstance(option.definition, ast.FunctionDef)))
        for option in options(function)
    )


def guard_of_context(call: ast.Call, scope: Scope, at: ast.expr | None = None) -> Guard:
    """The guard that a call of `ctx.guard` makes; `at` is where a name of it stands."""
    args, keywords, complete = Resolver().arguments(call, scope)
    value = CallValue(call, scope.module, Symbol(None, None), tuple(args), tuple(keywords), complete)
    return _guard(value, at or call, scope, errors_at=0, form="fail")


def unread_guard(node: ast.expr, scope: Scope) -> Guard:
    """A guard whose errors cannot be read."""
    return Guard(converts=True, becomes=(Becomes((None,), _thrown(node, scope, "guard", None, None)),))


def _guard(
    call: CallValue, at: ast.expr, scope: Scope, *, errors_at: int | None = None, form: ErrorForm = "guard"
) -> Guard:
    """The guard that a call makes; `errors_at` is the position of the mapping, which `ctx.guard` takes first."""
    if not call.complete or not isinstance(call.argument("error_mapper"), Missing):
        return unread_guard(at, scope)
    arguments = arguments_of(call, {"errors": errors_at, "data": None})
    argument, keys = arguments["errors"], _data_keys(arguments["data"].value)
    table = argument.value
    # Where merged tables name a class twice, the last entry counts.
    found: dict[object, Becomes] = {}
    if isinstance(table, Mapping):
        places: list[ast.expr] = [at] * len(table.items)
        if call.node is at and isinstance(argument.node, ast.Dict) and len(argument.node.values) == len(places):
            places = argument.node.values
        for place, (key, value) in zip(places, table.items, strict=True):
            types = tuple(
                kind.name if isinstance(kind, Symbol) else None
                for option in options(key)
                for kind in (option.items if isinstance(option, Items) else (option,))
            )
            codes, reasons = _labels(value)
            if form == "fail" and reasons:
                codes = None  # the context looks the reason up: the code is the declared one
            found[types if None not in types else place] = Becomes(
                types, _thrown(place, scope, form, codes, reasons, keys)
            )
        if not table.complete:
            found[None] = unread_guard(at, scope).becomes[0]
    elif not isinstance(table, Missing):
        return unread_guard(at, scope)
    becomes = [*found.values()]
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
    """All keys of the data that a guard gives, or that its function returns; None where they are not known."""
    if is_left_out(data):
        return ()
    if isinstance(data.node, ast.Lambda) and data.module is not None:
        data = evaluate(data.node.body, data.module.scope_of(data.node))
    if not isinstance(data, Mapping) or not data.complete or len(data.keys) != len(data.items):
        return None
    return data.keys


def _labels(value: Value) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """The codes and the reasons of an entry in the table of a guard; None where one is not known."""
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


__all__ = ["guard_of_context", "guards_made", "unread_guard"]
