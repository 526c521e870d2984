"""A mypy plugin that reports reasons that a contract or a context does not declare.

mypy widens literals in lists and constants, so the types alone do not contain the reasons of a contract or of a failure
mode. Enable the plugin with `plugins = ["mcpcore.mypy"]` in `[tool.mypy]` of pyproject.toml. Expressions that it cannot
resolve are ignored.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Final

from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    DictExpr,
    Expression,
    ListExpr,
    MemberExpr,
    NameExpr,
    RefExpr,
    StarExpr,
    StrExpr,
    TupleExpr,
)
from mypy.plugin import FunctionContext, MethodContext, MethodSigContext, Plugin
from mypy.typeops import try_getting_str_literals_from_type
from mypy.types import (
    AnyType,
    CallableType,
    FunctionLike,
    Instance,
    LiteralType,
    Type,
    TypeOfAny,
    UnionType,
    get_proper_type,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mypy.checker import TypeChecker

_CONTEXT: Final = "mcpcore.declare.context.Context"
_MODE: Final = "mcpcore.contract.failure_modes.FailureMode"
_TOOL_CONTRACT: Final = "mcpcore.client.failures.ToolContract"
_DECORATORS: Final = (
    "mcpcore.declare.decorators.ToolDecorator",
    "mcpcore.declare.decorators.ResourceDecorator",
    "mcpcore.declare.decorators.PromptDecorator",
)
_FUNCTIONS: Final = (
    # To mypy, `tool` is in this stub.
    "mcpcore._shapes.tool",
    "mcpcore.declare.decorators.resource",
    "mcpcore.declare.decorators.prompt",
)
_DEPTH: Final = 10
"""How many assignments of names to names are followed."""


class ErrorsPlugin(Plugin):
    """Checks the context of a handler against `errors`."""

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        """Handle calls of `FailureMode`, of `ToolContract`, and of `tool`, `resource` and `prompt` with `errors`."""
        if fullname == _MODE:
            return _made
        return _with_reasons if fullname == _TOOL_CONTRACT or fullname in _FUNCTIONS else None

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        """Handle a misspelt reason in `ctx.fail`, which mypy itself would report with all overloads."""
        return _taking_misspelt if fullname == f"{_CONTEXT}.fail" else None

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """Handle calls of `server.tool(errors=...)`, of the decorators that such calls return, and of `ctx.fail`."""
        return {
            f"{_CONTEXT}.fail": _failed,
            f"{_CONTEXT}.recovery_for": _failed,
            f"{_CONTEXT}.guard": _guarded,
            "mcpcore.sdk.server.Server.tool": _with_reasons,
            "mcpcore.sdk.server.Server.resource": _with_reasons,
            "mcpcore.sdk.server.Server.prompt": _with_reasons,
            "mcpcore.sdk.server.Server.add_tool": _added,
            **{f"{decorator}.__call__": _decorated for decorator in _DECORATORS},
        }.get(fullname)


def plugin(version: str) -> type[Plugin]:
    """The entry point for mypy."""
    del version
    return ErrorsPlugin


def _made(ctx: FunctionContext) -> Type:
    """`FailureMode[Literal["a"], D]` instead of `FailureMode[str, D]`, for a constant of a module.

    Elsewhere the literal could cause errors in a valid program, such as one that appends to a list.
    """
    result = get_proper_type(ctx.default_return_type)
    checker: TypeChecker = ctx.api  # type: ignore[assignment] # the API is the checker
    is_constant = any(
        isinstance(statement, AssignmentStmt) and _mode_in(statement.rvalue) is ctx.context
        for statement in checker.tree.defs
    )
    reason = _argument(ctx, "reason")
    literals = None if reason is None else try_getting_str_literals_from_type(checker.lookup_type(reason))
    if not is_constant or not literals or not isinstance(result, Instance):
        return ctx.default_return_type
    text = ctx.api.named_generic_type("builtins.str", [])
    return result.copy_modified(args=[LiteralType(literals[0], fallback=text), *result.args[1:]])


def _failed(ctx: MethodContext) -> Type:
    reason = _argument(ctx, "reason")
    if reason is not None:  # pragma: no branch - the parameter is required
        _check_mode(ctx, reason)
    return ctx.default_return_type


def _taking_misspelt(ctx: MethodSigContext) -> FunctionLike:
    """The signature, which takes a misspelt reason: `_failed` reports it, in one line."""
    signature = ctx.default_signature
    (reason, *_), named = ctx.args[0] or (None,), _named(ctx)
    if not isinstance(reason, StrExpr) or named is None or reason.value in named:
        return signature
    return signature.copy_modified(arg_types=[AnyType(TypeOfAny.special_form), *signature.arg_types[1:]])


def _named(ctx: MethodContext | MethodSigContext) -> list[str] | None:
    """The reasons that a context names; None if it takes any."""
    owner = get_proper_type(ctx.type)
    return try_getting_str_literals_from_type(owner.args[0]) if isinstance(owner, Instance) else None


def _guarded(ctx: MethodContext) -> Type:
    errors = _argument(ctx, "errors")
    if isinstance(errors, DictExpr):
        for _, target in errors.items:
            if not isinstance(target, StrExpr):  # mypy reports those itself, in one line
                _check_mode(ctx, target)
    return ctx.default_return_type


def _check_mode(ctx: MethodContext, mode: Expression) -> None:
    """Report a reason, or a failure mode with one, that the context does not name."""
    checker: TypeChecker = ctx.api  # type: ignore[assignment] # the API is the checker
    named, kind = _named(ctx), get_proper_type(checker.lookup_type(mode))
    if named is None:
        return
    if isinstance(mode, StrExpr):
        reasons, of_mode = {mode.value}, ""
    elif isinstance(kind, Instance) and kind.type.fullname == _MODE:
        reasons, of_mode = _reasons(mode, checker, _DEPTH) or set(), " of this failure mode"
    else:
        return
    for reason in sorted(reasons.difference(named)):
        ctx.api.fail(f'Context does not name the reason "{reason}"{of_mode}{_meant(reason, named)}', ctx.context)


def _meant(reason: str, reasons: Iterable[str]) -> str:
    near = difflib.get_close_matches(reason, list(reasons), n=1)
    return f'; did you mean "{near[0]}"?' if near else ""


def _with_reasons(ctx: FunctionContext | MethodContext) -> Type:
    """The type that a call returns, with the reasons of its `errors` as the argument.

    `ToolDecorator[str]` becomes `ToolDecorator[Literal["a", "b"]]`, and likewise a `ToolContract`, so that a `match`
    can be complete.
    """
    result = get_proper_type(ctx.default_return_type)
    reasons = _declared(ctx)
    if not reasons or not isinstance(result, Instance) or result.type.fullname not in (_TOOL_CONTRACT, *_DECORATORS):
        return ctx.default_return_type
    text = ctx.api.named_generic_type("builtins.str", [])
    return result.copy_modified(
        args=[UnionType.make_union([LiteralType(reason, fallback=text) for reason in sorted(reasons)])]
    )


def _decorated(ctx: MethodContext) -> Type:
    owner = get_proper_type(ctx.type)
    if isinstance(owner, Instance) and owner.args:  # pragma: no branch - mypy calls this for no other class
        _check(ctx, try_getting_str_literals_from_type(owner.args[0]))
    return ctx.default_return_type


def _added(ctx: MethodContext) -> Type:
    _check(ctx, _declared(ctx))
    return ctx.default_return_type


def _check(ctx: MethodContext, declared: Iterable[str] | None) -> None:
    handler = get_proper_type(ctx.arg_types[0][0]) if ctx.arg_types and ctx.arg_types[0] else None
    if declared is None or not isinstance(handler, CallableType):
        return
    # The context comes first, or second in a method.
    for parameter in map(get_proper_type, handler.arg_types[:2]):
        if isinstance(parameter, Instance) and parameter.type.fullname == _CONTEXT:
            for reason in sorted(set(try_getting_str_literals_from_type(parameter.args[0]) or ()) - set(declared)):
                text = f'Context names the reason "{reason}", which errors does not declare{_meant(reason, declared)}'
                ctx.api.fail(text, ctx.context)


def _declared(ctx: FunctionContext | MethodContext) -> set[str] | None:
    """The reasons in the argument `errors`; None if it is missing or cannot be resolved."""
    errors = _argument(ctx, "errors")
    return None if errors is None else _reasons(errors, ctx.api, _DEPTH)  # type: ignore[arg-type] # the API is the checker


def _argument(ctx: FunctionContext | MethodContext, name: str) -> Expression | None:
    """The argument of a parameter; None if there is no such parameter, or no argument for it."""
    passed = ctx.args[ctx.callee_arg_names.index(name)] if name in ctx.callee_arg_names else None
    return passed[0] if passed else None


def _mode_in(expression: Expression) -> Expression:
    """The failure mode in `MODE.on(...)`, which has its reason; anything else as it is."""
    while isinstance(expression, CallExpr) and isinstance(expression.callee, MemberExpr):
        if expression.callee.name not in {"on", "on_code"}:
            break
        expression = expression.callee.expr
    return expression


def _reasons(expression: Expression, checker: TypeChecker, depth: int) -> set[str] | None:
    expression = _mode_in(expression)
    if isinstance(expression, StarExpr):
        return _reasons(expression.expr, checker, depth)
    if isinstance(expression, ListExpr | TupleExpr):
        parts = [_reasons(item, checker, depth) for item in expression.items]
        return None if any(part is None for part in parts) else set().union(*(part or () for part in parts))
    if isinstance(expression, RefExpr):
        # A constant, of another module too.
        mode = get_proper_type(checker.lookup_type(expression))
        if isinstance(mode, Instance) and mode.type.fullname == _MODE:
            literals = try_getting_str_literals_from_type(mode.args[0])
            if literals is not None:
                return set(literals)
    if isinstance(expression, NameExpr) and depth:
        assigned = [
            statement.rvalue
            for statement in checker.tree.defs
            if isinstance(statement, AssignmentStmt)
            and any(isinstance(target, NameExpr) and target.node is expression.node for target in statement.lvalues)
        ]
        # Of two assignments it is not certain which one the contract takes.
        return _reasons(assigned[0], checker, depth - 1) if len(assigned) == 1 else None
    if isinstance(expression, CallExpr) and isinstance(expression.callee, RefExpr) and expression.args:
        if expression.callee.fullname == "mcpcore.contract.failure_modes.Contract":
            return _reasons(expression.args[0], checker, depth)
        if expression.callee.fullname == _MODE:
            names = expression.arg_names
            reason = expression.args[names.index("reason") if "reason" in names else 0]
            literals = try_getting_str_literals_from_type(checker.lookup_type(reason))
            return None if literals is None else set(literals)
    return None
