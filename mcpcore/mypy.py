"""A mypy plugin: a `Context` that names a reason which `errors` does not declare becomes an error.

mypy widens literals in a list, so that the types alone cannot tell it which reasons a contract has. Turn it on with
`plugins = ["mcpcore.mypy"]` in the section `[tool.mypy]` of pyproject.toml. What cannot be resolved is left alone.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Final

from mypy.nodes import AssignmentStmt, CallExpr, Expression, ListExpr, NameExpr, RefExpr, StarExpr, TupleExpr
from mypy.plugin import FunctionContext, MethodContext, Plugin
from mypy.typeops import try_getting_str_literals_from_type
from mypy.types import CallableType, Instance, LiteralType, Type, UnionType, get_proper_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mypy.checker import TypeChecker

_CONTEXT: Final = "mcpcore.context.Context"
_DECORATORS: Final = (
    "mcpcore.tool.ToolDecorator",
    "mcpcore.declare.resource.ResourceDecorator",
    "mcpcore.declare.prompt.PromptDecorator",
)
_FUNCTIONS: Final = (
    "mcpcore._shapes.tool",
    "mcpcore.tool.tool",
    "mcpcore.declare.resource.resource",
    "mcpcore.declare.prompt.prompt",
)
_DEPTH: Final = 10
"""Names that stand for names: how far they are followed."""


class ErrorsPlugin(Plugin):
    """Ties `errors` to the handler's context."""

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        """Handle calls of `tool(errors=...)`, `resource(uri, errors=...)` and `prompt(errors=...)`."""
        return _decorator if fullname in _FUNCTIONS else None

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """Where `server.tool(errors=...)`, `server.add_tool(..., errors=...)` and the decorator itself are called."""
        return {
            "mcpcore.server.Server.tool": _decorator,
            "mcpcore.server.Server.resource": _decorator,
            "mcpcore.server.Server.prompt": _decorator,
            "mcpcore.server.Server.add_tool": _added,
            **{f"{decorator}.__call__": _decorated for decorator in _DECORATORS},
        }.get(fullname)


def plugin(version: str) -> type[Plugin]:
    """What mypy asks for."""
    del version
    return ErrorsPlugin


def _decorator(ctx: FunctionContext | MethodContext) -> Type:
    """`ToolDecorator[Literal["a", "b"]]` where mypy says `ToolDecorator[str]`."""
    result = get_proper_type(ctx.default_return_type)
    reasons = _declared(ctx)
    if not reasons or not isinstance(result, Instance) or result.type.fullname not in _DECORATORS:
        return ctx.default_return_type
    text = ctx.api.named_generic_type("builtins.str", [])
    return result.copy_modified(
        args=[UnionType.make_union([LiteralType(reason, fallback=text) for reason in sorted(reasons)])]
    )


def _decorated(ctx: MethodContext) -> Type:
    owner = get_proper_type(ctx.type)
    if isinstance(owner, Instance) and owner.args:  # pragma: no branch - mypy asks for this class alone
        _check(ctx, try_getting_str_literals_from_type(owner.args[0]))
    return ctx.default_return_type


def _added(ctx: MethodContext) -> Type:
    _check(ctx, _declared(ctx))
    return ctx.default_return_type


def _check(ctx: MethodContext, declared: Iterable[str] | None) -> None:
    handler = get_proper_type(ctx.arg_types[0][0]) if ctx.arg_types and ctx.arg_types[0] else None
    if declared is None or not isinstance(handler, CallableType):
        return
    for parameter in map(get_proper_type, handler.arg_types[:2]):
        if isinstance(parameter, Instance) and parameter.type.fullname == _CONTEXT:
            for reason in sorted(set(try_getting_str_literals_from_type(parameter.args[0]) or ()) - set(declared)):
                near = difflib.get_close_matches(reason, list(declared), n=1)
                meant = f'; did you mean "{near[0]}"?' if near else ""
                ctx.api.fail(f'Context names the reason "{reason}", which errors does not declare{meant}', ctx.context)


def _declared(ctx: FunctionContext | MethodContext) -> set[str] | None:
    """The reasons of the argument `errors`; None where there is none, or where they cannot be told."""
    if "errors" not in ctx.callee_arg_names:
        return None
    given = ctx.args[ctx.callee_arg_names.index("errors")]
    return _reasons(given[0], ctx.api, _DEPTH) if given else None  # type: ignore[arg-type] # the API is the checker


def _reasons(expression: Expression, checker: TypeChecker, depth: int) -> set[str] | None:
    if isinstance(expression, StarExpr):
        return _reasons(expression.expr, checker, depth)
    if isinstance(expression, ListExpr | TupleExpr):
        found = [_reasons(item, checker, depth) for item in expression.items]
        return None if any(reasons is None for reasons in found) else set().union(*(set(each or ()) for each in found))
    if isinstance(expression, NameExpr) and depth:
        assigned = [
            statement.rvalue
            for statement in checker.tree.defs
            if isinstance(statement, AssignmentStmt)
            and any(isinstance(target, NameExpr) and target.node is expression.node for target in statement.lvalues)
        ]
        return _reasons(assigned[0], checker, depth - 1) if len(assigned) == 1 else None
    if isinstance(expression, CallExpr) and isinstance(expression.callee, RefExpr) and expression.args:
        if expression.callee.fullname == "mcpcore.contract.Contract":
            return _reasons(expression.args[0], checker, depth)
        if expression.callee.fullname == "mcpcore.contract.FailureMode":
            names = expression.arg_names
            reason = expression.args[names.index("reason") if "reason" in names else 0]
            literals = try_getting_str_literals_from_type(checker.lookup_type(reason))
            return None if literals is None else set(literals)
    return None
