"""Expressions that only convert a value: `json.dumps(answer)`, `[TextContent(type="text", text=answer)]`."""

import ast
from collections.abc import Sequence, Set as AbstractSet
from typing import Final

from mcpcore_lint.engine.registrations.environment import arguments_of, method_called
from mcpcore_lint.engine.semantics.endings import leaves
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.symbols import is_static, last_name
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import FUNCTIONS, all_parameters, own_nodes, returned
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import Symbol, Value
from mcpcore_lint.rules._bodies import Body

CALL_RESULTS: Final = frozenset({"mcp.CallToolResult", "fastmcp.ToolResult"})
CONTENTS: Final = ("structured_content", "structuredContent", "content")
"""The keywords of the content of such a result."""
_CONVERSIONS: Final = frozenset(
    {"builtins.str", "json.dumps", "orjson.dumps", "ujson.dumps", "yaml.dump", "yaml.safe_dump", "dataclasses.asdict",
     "asyncio.wait_for", "asyncio.shield", "asyncio.create_task", "asyncio.ensure_future", "asyncio.run"}
)  # fmt: skip
"""Functions that return their first argument in another form, or its result."""
_CONVERTING_METHODS: Final = frozenset(
    {"model_dump", "model_dump_json", "dict", "json", "to_dict", "decode", "encode", "result"}
)
_DROPPING: Final = frozenset({"exclude_unset", "exclude_defaults"})  # drop `success` if it has its default
_IN_A_THREAD: Final = frozenset(
    {"asyncio.to_thread", "anyio.to_thread.run_sync", "starlette.concurrency.run_in_threadpool"}
)
"""Functions that return the result of their first argument."""
_EXECUTORS: Final = {"run_in_executor": 1, "submit": 0}
"""Methods that run a function in a thread or a process, each with the place of the function among the arguments."""
_MAX_DEPTH: Final = 3
"""How many functions that convert an argument by another one are followed."""


def core_of(node: ast.expr, scope: Scope, depth: int = 0) -> ast.expr:
    """The expression inside an `await`, `json.dumps`, a list of one item, or in front of appended text.

    What is given in one of two forms is itself: `answer if isinstance(answer, str) else json.dumps(answer)`.
    """
    for _ in range(8):
        match node:
            case (
                ast.Await(value=inner)
                | ast.Starred(value=inner)
                | ast.BinOp(op=ast.Add(), left=inner)
                | ast.List(elts=[inner])
            ):
                node = inner
            case (
                ast.JoinedStr(values=[ast.FormattedValue(value=inner), *_])
                | ast.Call(func=ast.Attribute(value=ast.Constant(), attr="join"), args=[ast.List(elts=[inner, *_])])
            ):
                node = inner
            case ast.IfExp(body=body, orelse=orelse) if ast.unparse(core_of(body, scope, depth)) == ast.unparse(
                core_of(orelse, scope, depth)
            ):
                node = body
            case ast.Call() if (converted := converted_by(node, scope, depth)) is not None:
                node = converted
            case _:
                break
    return node


def converted_by(call: ast.Call, scope: Scope, depth: int = 0) -> ast.expr | None:
    """The expression that a call only converts, such as the argument of `json.dumps`; None for any other call."""
    method = call.func if isinstance(call.func, ast.Attribute) and not call.args else None
    if method is not None and method.attr in _CONVERTING_METHODS:
        held = scope.lookup_at(method.value) if isinstance(method.value, ast.Name) else None
        drops = any(
            keyword.arg in _DROPPING and getattr(keyword.value, "value", True) is not False for keyword in call.keywords
        )
        # A method of an exception makes an answer of it.
        return (
            None if drops or (held and any(isinstance(at.node, ast.ExceptHandler) for at in held[1])) else method.value
        )
    if not isinstance(call.func, (ast.Name, ast.Attribute)):
        return None
    callee = evaluate(call.func, scope)
    name = callee.name if isinstance(callee, Symbol) else ""
    if name in _CONVERSIONS and call.args:
        return call.args[0]
    at = 0 if name in _IN_A_THREAD else _EXECUTORS.get(getattr(call.func, "attr", ""), len(call.args))
    if at < len(call.args):
        run = call.args[at]
        return (
            run.body if isinstance(run, ast.Lambda) else ast.copy_location(ast.Call(run, call.args[at + 1 :], []), call)
        )
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    # A result that says whether it failed is more than its content.
    if name not in CALL_RESULTS | {"mcp.TextContent"} or not keywords.keys().isdisjoint({"is_error", "isError"}):
        return _form_of(call, callee, scope, depth)
    return next((keywords[key] for key in ("text", *CONTENTS) if key in keywords), None)


def _form_of(call: ast.Call, callee: Value, scope: Scope, depth: int) -> ast.expr | None:
    """The argument, or the object, that a function of the project only converts: `as_text(answer)`."""
    method = method_called(call.func, scope) if isinstance(call.func, ast.Attribute) else None
    node = method[0] if method is not None else getattr(callee, "definition", None)
    module = scope.module.project.module_defining(node) if isinstance(node, FUNCTIONS) else None
    if module is None or not isinstance(node, FUNCTIONS) or depth > _MAX_DEPTH:
        return None
    key = ("converted", node, depth)
    converted = module.once(key, lambda: _converted_parameter(node, module.scope_of(node), depth + 1), None)
    if converted is None:
        return None
    is_bound = method is not None and not is_static(node)
    if is_bound and isinstance(call.func, ast.Attribute) and converted == next(iter(all_parameters(node.args))).arg:
        return call.func.value
    return arguments_of(node, call, bound_first=is_bound).get(converted)


def _converted_parameter(node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, depth: int) -> str | None:
    """The parameter that each answer of a function is another form of; None if the function may judge it first.

    Such a function may test the parameter, but hands it to no other function, and raises nothing.
    """
    forms = {_converted_name(value, scope, depth) for value in returned(node)}
    name = forms.pop() if len(forms) == 1 else ""
    if name not in {parameter.arg for parameter in all_parameters(node.args)} or not leaves([*node.body], scope):
        return None
    # Any other decorator may replace the answer.
    if not all(last_name(decorator) == "staticmethod" for decorator in node.decorator_list):
        return None
    held = {name} | {other for other in scope.bindings if _converted_name(ast.Name(other), scope, depth) == name}
    for part in own_nodes(node):
        match part:
            case ast.Raise() | ast.Assert() | ast.Yield() | ast.YieldFrom() | ast.Return(value=None):
                return None
            case ast.Name(id=used) if used in held and not _is_kept_by(part, name, scope, depth):
                return None
    return name


def _is_kept_by(use: ast.Name, name: str, scope: Scope, depth: int) -> bool:
    """Whether the statement that uses a value returns it, tests it, or gives another form of it a name."""
    match scope.module.around(use, ast.stmt):
        case ast.Return() | ast.If():
            return True
        case (
            ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(target=ast.Name(), value=ast.expr() as value)
        ):
            return _converted_name(value, scope, depth) == name
    return False


def _converted_name(node: ast.expr, scope: Scope, depth: int) -> str:
    """The name of which an expression is another form, also behind a name that has one value."""
    core = core_of(node, scope, depth)
    bindings = scope.bindings.get(getattr(core, "id", ""), [])
    made = bindings[0].value if [binding.kind for binding in bindings] == ["assign"] else None
    if made is None or depth > _MAX_DEPTH:  # two names may have the value of each other
        return getattr(core, "id", "")
    return _converted_name(made, scope, depth + 1)


def _is_form_of(node: ast.expr, names: AbstractSet[str], scope: Scope) -> bool:
    """Whether an expression is the value that some names hold in another form, or a text with it in it."""
    match node:
        case ast.Name():
            return node.id in names
        case ast.IfExp(body=body, orelse=orelse):
            return all(_is_form_of(branch, names, scope) for branch in (body, orelse))
        case ast.List(elts=[_] as parts) | ast.JoinedStr(values=parts):
            return any(_is_form_of(part, names, scope) for part in parts)
        case ast.FormattedValue(value=inner) | ast.Await(value=inner):
            return _is_form_of(inner, names, scope)
    converted = converted_by(node, scope) if isinstance(node, ast.Call) else None
    return converted is not None and _is_form_of(converted, names, scope)


def converts(function: ast.FunctionDef | ast.AsyncFunctionDef, module: Module, name: str) -> bool:
    """Whether each answer of a function is its argument in another form, or a text with the argument in it."""
    scope, held, answers = module.scope_of(function), {name}, returned(function)
    for part in own_nodes(function):
        match part:
            case (
                ast.Assign(targets=[ast.Name(id=target)], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value)
                | ast.AugAssign(target=ast.Name(id=target), value=value)
            ) if _is_form_of(value, held, scope):
                held.add(target)
    return bool(answers) and all(_is_form_of(answer, held, scope) for answer in answers)


def all_have_part(answers: Sequence[ast.expr], name: str, body: Body) -> bool:
    """Whether each answer of a function has a parameter that it does not change, or a dict with it, as a part."""
    held = {name}
    for part in body.all(ast.Assign):
        if isinstance(part.value, (ast.Dict, ast.Name)) and not held.isdisjoint(body.names_in(part.value)):
            held.add(getattr(getattr(part.targets[0], "value", part.targets[0]), "id", ""))
    return len(body.module.scope_of(body.root).bindings.get(name, ())) == 1 <= len(answers) and all(
        isinstance(answer, (ast.Dict, ast.Name)) and not held.isdisjoint(body.names_in(answer)) for answer in answers
    )
