"""Which calls never come back, and which statements can therefore not be reached."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import Symbol, Unknown
from mcpcore_lint.registrations.callers import method_called
from mcpcore_lint.registrations.servers import arguments_of
from mcpcore_lint.syntax.parse import own_nodes

if TYPE_CHECKING:
    from mcpcore_lint.rules._bodies import Body
    from mcpcore_lint.syntax.module import Module

NEVER: Final = frozenset({"NoReturn", "Never"})
ENDS_THE_PROCESS: Final = frozenset({"sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit"})


def unreachable(statement: ast.stmt, body: Body) -> bool:
    """Whether a statement stands behind a call, in its own block, that never comes back."""
    block = body.block_of(statement)
    if statement not in block:
        return False
    return any(
        isinstance(each, ast.Expr) and _never_comes_back(each.value, body) for each in block[: block.index(statement)]
    )


def _never_comes_back(node: ast.expr, body: Body) -> bool:
    if isinstance(node, ast.Await):
        node = node.value
    if not isinstance(node, ast.Call):
        return False
    scope = body.scope(node)
    value = body.value(node.func)
    if isinstance(value, Symbol):
        if value.name in ENDS_THE_PROCESS:
            return True
        if not isinstance(value.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        owner = body.module.project.module_defining(value.definition)
        return owner is not None and _never_returns(value.definition, owner, node, bound_first=False)
    if isinstance(node.func, ast.Attribute) and isinstance(value, Unknown):
        found = method_called(node.func, scope)
        return found is not None and _never_returns(found[0], found[1], node, bound_first=True)
    return False


def _never_returns(
    function: ast.FunctionDef | ast.AsyncFunctionDef, owner: Module, call: ast.Call, *, bound_first: bool
) -> bool:
    """Whether a function of the project always raises when it is called so."""
    if _says_never(function.returns):
        return True
    overloads = _overloads(function, owner)
    if any(
        _says_never(each.returns) and _fits(each, call, bound_first=bound_first) for each in overloads
    ):  # fmt: skip
        return True
    if overloads or (function.returns is not None and not _is_none(function.returns)):
        return False
    nodes = own_nodes(function)
    if any(isinstance(each, (ast.Return, ast.Yield, ast.YieldFrom)) for each in nodes):
        return False
    return always_raises(function.body)


def _says_never(annotation: ast.expr | None) -> bool:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value.rpartition(".")[2] in NEVER
    name = annotation.attr if isinstance(annotation, ast.Attribute) else getattr(annotation, "id", "")
    return name in NEVER


def _is_none(annotation: ast.expr) -> bool:
    return isinstance(annotation, ast.Constant) and annotation.value in {None, "None"}


def _overloads(
    function: ast.FunctionDef | ast.AsyncFunctionDef, owner: Module
) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The `@overload`s of a function."""
    if not owner.source.has("overload"):
        return []
    scope = owner.scope_of(function)
    return [
        node
        for node, inner in owner.functions.items()
        if not isinstance(node, ast.Lambda)
        and node.name == function.name
        and node is not function
        and inner.owner is scope.owner
        and inner.parent is scope.parent
        and any(
            (each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "")) == "overload"
            for each in node.decorator_list
        )
    ]


def _fits(overload: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call, *, bound_first: bool) -> bool:
    """Whether a call means an overload, as far as its parameters that allow certain constants alone tell."""
    given = arguments_of(overload, call, bound_first=bound_first)
    args = overload.args
    positional = [*args.posonlyargs, *args.args]
    defaults = dict(
        zip((each.arg for each in positional[len(positional) - len(args.defaults) :]), args.defaults, strict=True)
    )
    defaults |= {
        each.arg: default
        for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
        if default is not None
    }
    for each in (*positional, *args.kwonlyargs):
        allowed = _constants(each.annotation)
        if not allowed:
            continue
        value = given.get(each.arg, defaults.get(each.arg))
        if not isinstance(value, ast.Constant) or repr(value.value) not in allowed:
            return False
    return True


def _constants(annotation: ast.expr | None) -> set[str]:
    """What a `Literal[...]` allows; nothing where it is something else."""
    if not isinstance(annotation, ast.Subscript):
        return set()
    base = annotation.value
    if (base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")) != "Literal":
        return set()
    items = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    return {repr(each.value) for each in items if isinstance(each, ast.Constant)}


def always_raises(statements: list[ast.stmt]) -> bool:
    """Whether every way through some statements ends in a `raise`; a `return` among them is for the caller to find."""
    for each in statements:
        match each:
            case ast.Raise():
                return True
            case ast.If() if each.orelse:
                if always_raises(each.body) and always_raises(each.orelse):
                    return True
            case ast.With() | ast.AsyncWith():
                # What a context manager is may swallow it; those that do say so by their name.
                if always_raises(each.body) and "suppress" not in ast.unparse(each.items[0].context_expr):
                    return True
            case ast.Try():
                clauses = all(always_raises(one.body) for one in each.handlers)
                if always_raises(each.finalbody) or (always_raises([*each.body, *each.orelse]) and clauses):
                    return True
    return False
