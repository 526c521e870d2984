"""The failures that `mcpcore.guard(...)` and `ctx.guard(...)` make of exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.flow.effects import Becomes, Guard
from mcpcore_lint.meaning.resolve import Resolver
from mcpcore_lint.model import CallValue, CodeValue, Items, Mapping, Missing, Symbol, Value, options, string

if TYPE_CHECKING:
    import ast

    from mcpcore_lint.reading.scopes import Scope


def converting(call: ast.Call | None, scope: Scope, *, errors_at: int | None = None) -> Guard:
    """The guard that a call of `mcpcore.guard` makes; it says nothing if the results cannot be read.

    `errors_at` is the position of the mapping: `ctx.guard` takes it first.
    """
    if call is None:
        return Guard(converts=True)
    args, keywords, complete = Resolver().arguments(call, scope)
    made = CallValue(call, scope.module, Symbol(None, None), tuple(args), tuple(keywords), complete)
    if not complete or not isinstance(made.argument("error_mapper"), Missing):
        return Guard(converts=True)
    found: list[Becomes] = []
    table = made.argument("errors", errors_at)
    if isinstance(table, Mapping) and table.complete:
        for key, value in table.items:
            types = tuple(
                one.name if isinstance(one, Symbol) else None
                for each in options(key)
                for one in (each.items if isinstance(each, Items) else (each,))
            )
            found.append(_target(types, value))
    elif not isinstance(table, Missing):
        return Guard(converts=True)
    otherwise = made.argument("code")
    if not isinstance(otherwise, Missing):
        found.append(_target(("builtins.Exception",), otherwise))
    return Guard(converts=True, becomes=tuple(found))


def _target(types: tuple[str | None, ...], value: Value) -> Becomes:
    codes: list[str] = []
    reasons: list[str] = []
    known = True
    for each in options(value):
        if isinstance(each, CallValue) and each.func.name == "mcpcore.FailureMode":
            code, reason = each.argument("code", 1), string(each.argument("reason", 0))
        else:
            code, reason = each, string(each)
        if isinstance(code, CodeValue):
            codes.append(code.name)
        if reason is not None:
            reasons.append(reason)
        known = known and (isinstance(code, CodeValue) or reason is not None)
    if not known:
        return Becomes(types, None, None)
    return Becomes(types, tuple(dict.fromkeys(codes)) or None, tuple(dict.fromkeys(reasons)))


__all__ = ["converting"]
