"""Reads the decorators of a function: the functions that replace it, and the guards that they put around it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from mcpcore_lint.engine.flow.effects import Blind, Event, Guard, Key, Parameter, Program, key_of, parameter_of
from mcpcore_lint.engine.flow.facts.converting import guard_of_context, guards_made
from mcpcore_lint.engine.flow.facts.except_clauses import yield_guards
from mcpcore_lint.engine.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.engine.syntax.parse import all_parameters, own_statements, returned
from mcpcore_lint.model import CallValue, FunctionNode, Symbol, Value

if TYPE_CHECKING:
    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.engine.syntax.scopes import Scope

    _Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


class Decorations(NamedTuple):
    """The wrappers and guards that the decorators of a function add."""

    wrappers: tuple[tuple[Key, Parameter], ...] = ()
    """The functions that replace it, each with the parameter that holds the decorated function."""
    guards: tuple[Guard, ...] = ()
    """The context managers that decorate it, the innermost first."""
    events: tuple[Event, ...] = ()
    """The errors that the guards name, and the decorators that are not followed as unresolved calls."""

    def __bool__(self) -> bool:
        return any(self)


def decorations_of(node: FunctionNode, module: Module, program: Program) -> Decorations:
    """Return the wrappers and guards that the decorators of a function add."""
    if isinstance(node, ast.Lambda) or not node.decorator_list:
        return Decorations()
    return module.once(("decorations of", node), lambda: _read(node, module, program))


def _read(node: _Function, module: Module, program: Program) -> Decorations:
    wrappers: list[tuple[Key, Parameter]] = []
    guards: list[Guard] = []
    unread: list[Event] = []
    outside = module.scope_of(node).parent or module.scope
    for decorator in node.decorator_list:
        # The last decorator in the source is the innermost, so its guards come first.
        if isinstance(decorator, ast.Call) and _is_guard_of_context(decorator.func, outside):
            guards[:0] = [guard_of_context(decorator, outside)]
            continue
        if converting := guards_made(decorator, outside):
            guards[:0] = converting
            continue
        maker = evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator, outside)
        definition = maker.definition if isinstance(maker, Symbol) else None
        owner = program.project.module_defining(definition) if isinstance(definition, ast.FunctionDef) else None
        if _is_unread(maker, owner, called=isinstance(decorator, ast.Call)):
            span = module.source.span(decorator)
            why = "this decorator is not followed"
            blind = Blind(ast.unparse(decorator), module.path, span, takes_context=False, project=True, why=why)
            unread.append(Event(span, (), blind))
        elif isinstance(definition, ast.FunctionDef) and owner is not None:
            wrappers += _wrapper_of_function(definition, owner, node, called=isinstance(decorator, ast.Call))
            if isinstance(decorator, ast.Call) and definition is not node:
                guards[:0] = yield_guards(program, definition, owner)
    named = (
        # Only the guards outside its own apply to an error that a guard names.
        Event(entry.throw.span, tuple(guards[at + 1 :]), entry.throw)
        for at, guard in enumerate(guards)
        for entry in guard.becomes
    )
    return Decorations(tuple(wrappers), tuple(guards), (*named, *unread))


def _is_guard_of_context(func: ast.expr, scope: Scope) -> bool:
    """Whether a decorator is `ctx.guard` on a parameter that is annotated as `Context`."""
    if not (isinstance(func, ast.Attribute) and func.attr == "guard" and isinstance(func.value, ast.Name)):
        return False
    match = scope.lookup(func.value.id)
    for binding in match[1] if match is not None else ():
        if binding.kind == "parameter" and match is not None:
            symbol = Resolver().annotation_symbol(binding.annotation, match[0].parent or match[0])
            return symbol is not None and symbol.name == "mcpcore.Context"
    return False


def _is_unread(maker: Value, owner: Module | None, *, called: bool) -> bool:
    """Whether a decorator of the project may replace the function in a way that is not followed.

    Such are objects, and decorators that apply other decorators.

    Args:
        maker: The decorator, or the function that makes it.
        owner: The file of that function.
        called: Whether the decorator is a call, as in `@retry(3)`.
    """
    if isinstance(maker, CallValue):
        is_partial = maker.func.name == "functools.partial" and not _makes_tools(maker.at(0))
        return is_partial or maker.func.definition is not None
    definition = maker.definition if isinstance(maker, Symbol) else None
    if not isinstance(definition, ast.FunctionDef) or owner is None:
        is_partial = isinstance(maker, Symbol) and maker.name == "functools.partial"
        return isinstance(definition, ast.ClassDef) or is_partial
    # A decorator with arguments returns the function that gets the decorated one.
    made = [function for function, outer in _returned(definition) if outer is definition] if called else []
    return not all(
        _is_plain(node.value, owner.scope_of(function))
        for function in (definition, *made)
        for node in own_statements(function)
        if isinstance(node, ast.Return)
    )


def _is_plain(node: ast.expr | None, scope: Scope) -> bool:
    """Whether an expression is a function or a parameter, or the call of a nested function or of mcpcore's `tool`."""
    name = node.func if isinstance(node, ast.Call) else node
    if name is not node and name is not None and _makes_tools(evaluate(name, scope)):
        return True
    if not isinstance(name, ast.Name):
        return not isinstance(node, ast.Call)
    kinds = {binding.kind for binding in scope.bindings.get(name.id, ())}
    return kinds == {"function"} if isinstance(node, ast.Call) else kinds <= {"function", "parameter"}


def _makes_tools(maker: Value) -> bool:
    return isinstance(maker, Symbol) and maker.name.startswith("mcpcore.")


def _wrapper_of_function(
    maker: ast.FunctionDef, module: Module, node: _Function, *, called: bool
) -> list[tuple[Key, Parameter]]:
    """Return the function that a decorator returns. The decorator may take arguments, none, or support both.

    A decorator may have one wrapper for functions that are async, and one for others.
    """

    def fits(pair: tuple[_Function, _Function]) -> bool:
        return type(pair[0]) is not type(node)

    for function, decorator in sorted(_returned(maker), key=fits):
        given = {parameter.arg for parameter in all_parameters(function.args)}
        if called and {getattr(value, "id", "") for value in returned(function)} in [{name} for name in given]:
            return []  # `@register("name")` returns the function that it gets
        # `def retry(times)` returns the decorator, `def retry(run)` the replacement of `run`.
        inner = [] if decorator is not maker else sorted(_returned(function), key=fits)
        if inner and isinstance(function, ast.FunctionDef):
            function, decorator = inner[0][0], function  # noqa: PLW2901 - continue one level deeper
        parameters = all_parameters(decorator.args)
        if parameters:
            return [(key_of(function, module, None), parameter_of(decorator, module, parameters[0].arg))]
    return []


def _returned(node: _Function) -> list[tuple[_Function, _Function]]:
    """Return the nested functions that a function returns, each with the function whose parameter it closes over."""
    inside = own_statements(node)
    nested = {inner.name: inner for inner in inside if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef))}
    pairs: list[tuple[_Function, _Function]] = []
    values = returned(node) if nested else []
    while values:
        match values.pop(0):
            case ast.IfExp(body=body, orelse=orelse):
                values += [body, orelse]
            case ast.Name(id=name) if name in nested:
                pairs.append((nested[name], node))
            case ast.Call(func=ast.Name(id=name)) if name in nested:
                decorator = nested[name]
                pairs.extend(pair for pair in _returned(decorator) if pair[1] is decorator)
    return pairs
