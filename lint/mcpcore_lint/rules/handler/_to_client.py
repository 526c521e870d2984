"""Follows a returned value to the client: whatever takes it on the way may make it a failure after all."""

import ast
from typing import Any, Final

from mcpcore_lint.engine.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.engine.registrations.functions import passed_on
from mcpcore_lint.engine.registrations.routes import is_route
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.symbols import class_info, last_name
from mcpcore_lint.engine.semantics.type_model import method_of
from mcpcore_lint.engine.syntax.parse import all_parameters, mentions, walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import CallValue, Handler, Symbol, ToolDef
from mcpcore_lint.rule import RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, names_of
from mcpcore_lint.rules.handler._failures import MARKING_KEYS, MARKS, normalized

_HARMLESS: Final = frozenset({"isinstance", "len", "str", "repr", "type", "dict", "list", "bool", "print", "cast"})
_TESTS: Final = (ast.If, ast.IfExp, ast.Match, ast.While, ast.Assert)
_MAX_DEPTH: Final = 3
"""How many functions that pass a value on to each other are read."""


def reaches_client(handler: Handler, tool: ToolDef, ctx: RuleContext) -> bool:
    """Whether what a handler returns certainly reaches the client as a successful result."""
    if is_route(tool) and any(getattr(node, "attr", "") == "status_code" for node in body_of(handler).nodes):
        return False  # the route gives its answer a status
    # Dispatchers pass the calls of tools to the function.
    if any(
        call is not None and is_judged(caller, call, ctx)
        for other in ctx.tools
        for route in other.serves
        if route.handler is not None and route.handler.node is handler.node
        for caller, call in (*route.way, (route.inside, route.call))
    ):
        return False
    if any(is_judged(method, call, ctx) for method, calls in middleware_of(tool, ctx) for call in calls):
        return False
    return is_kept(handler, ctx, tool)


def middleware_of(tool: ToolDef, ctx: RuleContext, *, inside: str = "") -> list[tuple[Handler, list[ast.Call]]]:
    """The methods `on_call_tool` of the middleware that the file of a tool adds, each with the calls of the tool.

    With `inside`, only those that are added after the middleware of that name, so that it calls them.
    """
    parts = {part for call, _ in tool.module.calls_near("iddleware") for part in walk([call])}
    made = [part for part in parts if isinstance(part, ast.Call)]
    calls = sorted(made, key=lambda call: (call.lineno, call.col_offset))
    names = [last_name(call.func) for call in calls]
    methods: list[tuple[Handler, list[ast.Call]]] = []
    for call in calls[names.index(inside) :] if inside in names else [] if inside else calls:
        value = evaluate(call, tool.module.scope)
        info = class_info(value.func) if isinstance(value, CallValue) else None
        method = method_of(info, "on_call_tool") if info is not None else None
        if method is not None:
            model = HandlerBuilder.of(method[0], method[1].module, ctx.hierarchy).model
            following = method[0].args.args[-1].arg
            passes = [part for part in body_of(model).all(ast.Call) if getattr(part.func, "id", "") == following]
            methods.append((model, passes))
    return methods


def is_kept(handler: Handler, ctx: RuleContext, tool: ToolDef | None = None) -> bool:
    """Whether the decorators of a function certainly keep its result."""
    wrappers = ctx.wrappers(handler, tool)
    return wrappers is not None and all(
        calls and not any(is_judged(wrapper, call, ctx) for call in calls)
        for wrapper in wrappers
        for calls in (calls_of_wrapped(wrapper),)
    )


def calls_of_wrapped(wrapper: Handler) -> list[ast.Call]:
    """The calls by which a wrapper calls the function that it wraps, or else may pass it to a function that does."""
    scope = wrapper.module.scope_of(wrapper.node)

    def outer(node: ast.expr) -> Scope | None:
        match = scope.lookup(node.id) if isinstance(node, ast.Name) else None
        return match[0] if match is not None and match[0] is not scope and match[1][0].kind == "parameter" else None

    calls = [*body_of(wrapper).all(ast.Call)]
    around = [outer(call.func) for call in calls]
    # The parameters further out are those of a decorator with arguments, such as a model of the tool's input.
    inner = max(filter(None, around), key=lambda where: getattr(where.node, "lineno", 0), default=None)
    direct = [call for call, where in zip(calls, around, strict=True) if where is not None and where is inner]
    if not direct and isinstance(wrapper.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        passed = passed_on(wrapper.module, wrapper.node, of_self=scope.owner is not None)
        direct = [call for call in calls if call.func in passed or any(argument in passed for argument in call.args)]
    return direct or [call for call in calls if any(map(outer, call.args))]


def is_judged(
    function: Handler, call: ast.expr, ctx: RuleContext, depth: int = 0, *, answer: ast.expr | None = None
) -> bool:
    """Whether a function may fail because of the result of a call, or passes the result to code that is not known.

    If `answer` is the expression that returns the result, only the code before it counts.
    """
    body = body_of(function)
    names = names_of(call, body)
    last = answer.end_lineno if answer is not None and not any(part.finalbody for part in body.all(ast.Try)) else None

    def counts(node: ast.AST) -> bool:
        return last is None or getattr(node, "lineno", 0) <= last

    around = body.around(call)

    def concerns(node: ast.AST | None) -> bool:
        return node in around or not names.isdisjoint(body.names_in(node))

    tests: list[Any] = [test for kind in _TESTS for test in body.all(kind)]
    for test in filter(counts, tests):
        condition = test.subject if isinstance(test, ast.Match) else test.test
        if isinstance(test, ast.Match) or any(
            looks_for_failure(condition, name) for name in names & body.names_in(condition)
        ):
            after: list[ast.AST] = [test, *body.after(test)] if concerns(condition) else []
            if any(_may_fail(node, body) and counts(node) for node in walk(after)):
                return True
    # A dispatcher may call hundreds of functions in one chain of `elif`: most calls do not concern the result.
    return any(node.arg in MARKS and concerns(node.value) for node in body.all(ast.keyword)) or any(
        concerns(argument) and not body.is_kept_going(other) and _is_judge(other, function, ctx, depth)
        for other in body.all(ast.Call)
        if other is not call and counts(other)
        for argument in (*other.args, *(keyword.value for keyword in other.keywords))
    )


def looks_for_failure(test: ast.expr, name: str) -> bool:
    """Whether a test may look for a failure in an answer, rather than test whether the answer is empty."""
    return mentions(test, name) and any(
        (isinstance(node, ast.Call) and mentions(node, name) and getattr(node.func, "id", "") != "len")
        or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        or (isinstance(node, ast.Attribute) and normalized(node.attr) in MARKING_KEYS)
        for node in walk([test])
    )


def _may_fail(node: ast.AST, body: Body) -> bool:
    """Whether a node raises, or may mark a result as failed."""
    if isinstance(node, ast.keyword):
        return node.arg in MARKS and not (isinstance(node.value, ast.Constant) and node.value.value is False)
    return isinstance(node, ast.stmt) and body.raises([node])


def _is_judge(call: ast.Call, function: Handler, ctx: RuleContext, depth: int, *, dropped: bool = False) -> bool:
    """Whether a function that gets a result may fail because of it, or is not known; `dropped`: its own is not used."""
    body = body_of(function)
    parent = body.parents.get(call)
    dropped = dropped or isinstance(body.parents.get(parent) if isinstance(parent, ast.Await) else parent, ast.Expr)
    if last_name(call.func) in _HARMLESS or isinstance(getattr(call.func, "value", None), ast.Constant):
        return False  # as is a method of a text: `", ".join(answer)`
    located = [(node, ctx.project.module_defining(node)) for node in ctx.called(function, call)]
    for node, module in located:
        if module is None or depth > _MAX_DEPTH:
            return True
        key: Any = ("judges", node, dropped)
        if key not in module.memo:
            module.memo[key] = False
            helper = HandlerBuilder.of(node, module, ctx.hierarchy).model
            inner = body_of(helper)
            parameters = {arg.arg for arg in all_parameters(node.args)}
            module.memo[key] = any(
                _may_fail(part, inner) and not any(inner.clauses_above(part)) for part in inner.nodes
            ) or any(
                _is_judge(other, helper, ctx, depth + 1, dropped=dropped)
                for other in inner.all(ast.Call)
                if any(mentions(argument, name) for argument in other.args for name in parameters)
                and not inner.is_kept_going(other)
            )
        if module.memo[key]:
            return True
    # The result may be given to a method of an unknown object, whose own result is used.
    known = located or isinstance(evaluate(call.func, body.scope(call)), Symbol)
    return not known and not dropped
