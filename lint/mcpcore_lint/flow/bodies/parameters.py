"""Reads the parameters of a handler: arguments from the model, injected values, and the context."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, Literal

from mcpcore_lint.model import (
    CallValue,
    Const,
    ContextParameter,
    FunctionNode,
    Missing,
    Parameter,
    Symbol,
    Value,
)
from mcpcore_lint.semantics.annotations import unquote
from mcpcore_lint.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.syntax.parse import all_parameters

if TYPE_CHECKING:
    from mcpcore_lint.syntax.scopes import Scope

_INJECTING: Final = frozenset(
    {
        "CallArgument",
        "CurrentAccessToken",
        "CurrentContext",
        "CurrentDocket",
        "CurrentFastMCP",
        "CurrentHeaders",
        "CurrentRequest",
        "CurrentWorker",
        "Depends",
        "Elicit",
        "ListRoots",
        "OptionalCurrentContext",
        "Progress",
        "Resolve",
        "Sample",
        "Shared",
        "TokenClaim",
    }
)
"""Names of markers for values that the framework injects."""
_ALIASES: Final = 5
"""Aliases of an annotation are followed this deep."""


def parameters_of(node: FunctionNode, scope: Scope) -> tuple[tuple[Parameter, ...], ContextParameter | None]:
    """Return the parameters of a function, and its context parameter."""
    args = node.args
    names = all_parameters(args)
    if scope.owner is not None and names and not _is_static(node):
        names = names[1:]
    positional = [*args.posonlyargs, *args.args]
    defaults: dict[str, ast.expr] = {}
    if args.defaults:
        for arg, default in zip(positional[-len(args.defaults) :], args.defaults, strict=True):
            defaults[arg.arg] = default
    for arg, kw_default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        if kw_default is not None:
            defaults[arg.arg] = kw_default
    context: ContextParameter | None = None
    parameters: list[Parameter] = []
    outside = scope.parent or scope.module.scope
    for arg in names:
        kind: Literal["positional", "keyword", "var_positional", "var_keyword"] = "positional"
        if arg is args.vararg:
            kind = "var_positional"
        elif arg is args.kwarg:
            kind = "var_keyword"
        elif arg in args.kwonlyargs:
            kind = "keyword"
        taken = _context(arg, outside)
        if taken is not None and context is None:
            context = taken
        default_value = defaults.get(arg.arg)
        description = _description(arg, default_value, outside)
        injected = taken is not None or _injected(default_value, arg.annotation, outside)
        parameters.append(Parameter(arg.arg, arg, arg.annotation, default_value, kind, description, injected))
    return tuple(parameters), context


def _context(arg: ast.arg, scope: Scope) -> ContextParameter | None:
    annotation = arg.annotation
    if annotation is None:
        return None
    resolver = Resolver()
    symbol = resolver.annotation_symbol(annotation, scope)
    if symbol is None or symbol.name not in {"mcpcore.Context", "mcp.Context", "fastmcp.Context"}:
        return None
    ours = symbol.name == "mcpcore.Context"
    argument, where = _context_argument(annotation, scope)
    if argument is None:
        return ContextParameter(
            arg.arg, arg, annotation, None, None, bare=True, any_reason=False, resolved=True, mcpcore=ours
        )
    reasons = Resolver().literal_strings(argument, where)
    any_reason = False
    if reasons is None:
        named = Resolver().annotation_symbol(argument, where)
        any_reason = named is not None and named.name in {"typing.Any", "builtins.str", "typing.LiteralString"}
        if named is not None and named.name in {"typing.Never", "typing.NoReturn"}:
            reasons = ()
    resolved = reasons is not None or any_reason
    return ContextParameter(
        arg.arg,
        arg,
        annotation,
        argument,
        reasons,
        bare=False,
        any_reason=any_reason,
        resolved=resolved,
        mcpcore=ours,
    )


def _context_argument(annotation: ast.expr, scope: Scope) -> tuple[ast.expr | None, Scope]:
    node: ast.expr | None = unquote(annotation)
    where = scope
    for _ in range(10):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            left_none = isinstance(node.left, ast.Constant)
            node = unquote(node.right if left_none else node.left)
            continue
        if isinstance(node, ast.Subscript):
            head = evaluate(node.value, where)
            if isinstance(head, Symbol) and head.name in {"typing.Annotated", "typing.Optional"}:
                inner = node.slice
                node = unquote(inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner)
                continue
            inner = node.slice
            return (inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner), where
        if isinstance(node, (ast.Name, ast.Attribute)):
            alias = Resolver().alias_of(node, where)
            if alias is not None and alias[0] is not node:
                node, where = unquote(alias[0]), alias[1]
                continue
        break
    return None, where


def _description(arg: ast.arg, default: ast.expr | None, scope: Scope) -> Value:
    candidates: list[ast.expr] = []
    annotation = unquote(arg.annotation)
    if annotation is not None:
        target: ast.expr | None = annotation
        where = scope
        for _ in range(5):
            if isinstance(target, (ast.Name, ast.Attribute)):
                alias = Resolver().alias_of(target, where)
                if alias is None or alias[0] is target:
                    break
                target, where = unquote(alias[0]), alias[1]
            else:
                break
        if isinstance(target, ast.Subscript):
            head = evaluate(target.value, where)
            if isinstance(head, Symbol) and head.name == "typing.Annotated" and isinstance(target.slice, ast.Tuple):
                for extra in target.slice.elts[1:]:
                    value = evaluate(extra, where)
                    if isinstance(value, Const) and isinstance(value.value, str):
                        return value
                    if isinstance(value, CallValue) and value.func.name.rpartition(".")[2] in {"Field", "Doc"}:
                        position = 0 if value.func.name.endswith("Doc") else None
                        text = value.argument("documentation" if position == 0 else "description", position)
                        if not isinstance(text, Missing):
                            return text
    if default is not None:
        candidates.append(default)
    for candidate in candidates:
        value = evaluate(candidate, scope)
        if isinstance(value, CallValue) and value.func.name.rpartition(".")[2] == "Field":
            return value.argument("description")
    return Missing(arg, scope.module)


def _injected(default: ast.expr | None, annotation: ast.expr | None, scope: Scope) -> bool:
    if isinstance(default, ast.Call) and _injects(default, scope):
        return True
    node, where = unquote(annotation), scope
    for _ in range(_ALIASES):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and node.slice.elts:
            first, *extras = node.slice.elts
            if any(isinstance(extra, ast.Call) and _injects(extra, where) for extra in extras):
                return True
            node = unquote(first)  # `Annotated[Database, ...]` includes the metadata of the alias
        elif isinstance(node, (ast.Name, ast.Attribute)):
            alias = Resolver().alias_of(node, where)
            if alias is None or alias[0] is node:
                return False
            node, where = unquote(alias[0]), alias[1]
        else:
            return False
    return False


def _injects(call: ast.Call, scope: Scope) -> bool:
    func = evaluate(call.func, scope)
    if not isinstance(func, Symbol) or func.name == "typing.cast":
        value = evaluate(call, scope)
        if not isinstance(value, CallValue):
            return False
        func = value.func
    # For other callees the name is enough: evaluating a long `Field(...)` again would be slow.
    return func.name.rpartition(".")[2] in _INJECTING


def _is_static(node: FunctionNode) -> bool:
    return not isinstance(node, ast.Lambda) and any(
        isinstance(decorator, ast.Name) and decorator.id == "staticmethod" for decorator in node.decorator_list
    )
