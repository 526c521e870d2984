"""Exceptions that are no failures of the tool, and errors about a tool that does not exist."""

import ast
import re
from collections.abc import Sequence
from typing import Final

from mcpcore_lint.engine.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.symbols import class_round, last_name
from mcpcore_lint.engine.semantics.type_model import ClassObject, Instance, ancestry, method_of
from mcpcore_lint.engine.semantics.types import Inference
from mcpcore_lint.engine.syntax.module import ClassInfo
from mcpcore_lint.engine.syntax.parse import SCOPES, body_of as syntax_of, children, walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import CatchSite, ErrorSite, FunctionNode, Handler, Symbol, ToolDef
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules._accepted import is_about_own_json
from mcpcore_lint.rules._thrown import guards

NOT_FAILURES: Final = frozenset(
    f"builtins.{name}"
    for name in ("StopIteration", "StopAsyncIteration", "GeneratorExit", "KeyboardInterrupt", "AssertionError")
)
"""Builtin exceptions that control the program or mean a bug. The agent needs no advice about them."""

_UNKNOWN_TOOL: Final = regex(
    r"\b(?:unknown|no such|unsupported|invalid) tool\b|\btool\b.*\b(?:not found|unknown)\b", re.IGNORECASE
)

_LOGGING: Final = frozenset({"debug", "info", "warning", "error", "exception"})
_RAISING: Final = (
    *(ast.Subscript, ast.BinOp, ast.Raise, ast.Assert, ast.With, ast.AsyncWith, ast.For, ast.AsyncFor),
    *(ast.comprehension, ast.Import, ast.ImportFrom, ast.Yield, ast.YieldFrom, ast.Delete),
)
"""What may raise besides calls and attributes."""
_RETURNING: Final = frozenset(
    f"builtins.{name}" for name in ("bool", "callable", "id", "isinstance", "str", "type")
) | {"time.time", "time.monotonic", "time.perf_counter"}
"""Functions outside the project that return for nearly each value."""
_BINDING: Final = frozenset({"staticmethod", "classmethod", "property", "cached_property"})
_BROAD: Final = frozenset({"Exception", "BaseException"})


def about_an_unknown_tool(error: ErrorSite, tool: ToolDef) -> bool:
    """Whether a low-level handler, which dispatches to every tool, says that a tool does not exist."""
    if tool.flavour != "lowlevel":
        return False
    if error.type_name == "builtins.NotImplementedError" or _UNKNOWN_TOOL.search(ast.unparse(error.node)):
        return True
    # Or its line runs for none of the tools that the handler dispatches to.
    line = error.node.lineno
    routes = [route for route in tool.serves if route.inside.node is tool.handler.node]
    return bool(routes) and all(any(first <= line <= last for first, last in route.elsewhere) for route in routes)


def is_idle(catch: CatchSite | None, function: Handler, ctx: RuleContext) -> bool:
    """Whether nothing reaches a clause: the guarded statements can raise nothing that the project's code shows."""
    return catch is not None and (
        is_about_own_json(catch, function)
        or (
            _raises_nothing(catch.try_body, function, catch.function, ctx)
            # A function that a clause calls may raise.
            and not any(guards(catch, span) for _, _, span in ctx.stopped(function))
        )
    )


def _raises_nothing(statements: Sequence[ast.AST], function: Handler, inside: FunctionNode, ctx: RuleContext) -> bool:
    """Whether some statements of a function, or of one nested in it, raise nothing. What is not known may raise."""
    nodes = _exposed(statements)
    if any(isinstance(node, _RAISING) for node in nodes):
        return False
    # What logs returns nothing to use, unlike `client.info()`.
    alone = (getattr(node.value, "value", node.value) for node in nodes if isinstance(node, ast.Expr))
    logs = {call for call in alone if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in _LOGGING}
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    methods = {call.func for call in calls}
    scope = function.module.scope_of(inside)
    return all(
        call in logs or _returns(call, scope) or _all_return(ctx.called(function, call), ctx) for call in calls
    ) and all(
        isinstance(getattr(node, "value", None), ast.Call)
        if isinstance(node, ast.Await)
        else node in methods or _is_stored(node, scope, ctx)
        for node in nodes
        if isinstance(node, (ast.Await, ast.Attribute))
    )


def _exposed(statements: Sequence[ast.AST]) -> list[ast.AST]:
    """The nodes of some statements whose exceptions no clause inside them answers."""
    nodes: list[ast.AST] = []
    stack = [*statements]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Try) and _answers_all(node):
            stack += [*node.orelse, *node.finalbody]
        else:
            nodes.append(node)
            stack += children(node) if not isinstance(node, SCOPES) else []
    return nodes


def _answers_all(node: ast.Try) -> bool:
    """Whether the clauses of a `try` answer each exception."""
    return any(clause.type is None or ast.unparse(clause.type) in _BROAD for clause in node.handlers) and not any(
        isinstance(part, ast.Raise) for part in walk([*node.handlers])
    )


def _returns(call: ast.Call, scope: Scope) -> bool:
    func = evaluate(call.func, scope) if isinstance(call.func, (ast.Name, ast.Attribute)) else None
    return isinstance(func, Symbol) and func.name in _RETURNING


def _all_return(functions: Sequence[FunctionNode], ctx: RuleContext) -> bool:
    return bool(functions) and all(_always_returns(function, ctx) for function in functions)


def _always_returns(function: FunctionNode, ctx: RuleContext) -> bool:
    """Whether a function of the project raises nothing. One that calls itself may."""
    module = ctx.project.module_defining(function)
    if module is None or not {*map(last_name, getattr(function, "decorator_list", ()))} <= _BINDING:
        return False
    return module.once(
        ("always returns", function),
        lambda: _raises_nothing(
            syntax_of(function), HandlerBuilder.of(function, module, ctx.hierarchy).model, function, ctx
        ),
        False,  # noqa: FBT003 - for a function that calls itself
    )


def _is_stored(node: ast.AST, scope: Scope, ctx: RuleContext) -> bool:
    """Whether reading an attribute only reads what the classes of the project store, or runs code that returns."""
    if not isinstance(node, ast.Attribute) or isinstance(node.ctx, ast.Store):
        return True
    kinds = Inference(class_round(scope)).of(node.value, scope)
    owners = [kind.info for kind in kinds if isinstance(kind, (Instance, ClassObject))]
    methods = [method_of(info, node.attr) for info in owners]
    return (
        bool(owners)
        and len(owners) == len(kinds)
        and all(
            _always_returns(method[0], ctx) if method is not None else _has(info, node.attr)
            for info, method in zip(owners, methods, strict=True)
        )
    ) or isinstance(evaluate(node, scope), Symbol)


def _has(info: ClassInfo, name: str) -> bool:
    return any(name in owner.attributes or name in owner.instance_attributes for owner in ancestry(info))
