"""`raise` of built-in exceptions, of the frameworks' own errors, of the project's classes, or of a function's value."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.parse import all_parameters, walk
from mcpcore_lint.migrate.body import Body, only_logs
from mcpcore_lint.migrate.messages import is_text, may_be_text
from mcpcore_lint.migrate.model import Left, Place
from mcpcore_lint.model import Symbol
from mcpcore_lint.names import BUILTIN_EXCEPTIONS, canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.engine.syntax.scopes import Scope

PROTOCOL: Final = "mcp.MCPError"
_REFUSED: Final = frozenset({PROTOCOL, "mcpcore.CodedError"})
_NOT_FAILURES: Final = frozenset({
    "BaseException", "BaseExceptionGroup", "ExceptionGroup", "KeyboardInterrupt", "SystemExit", "GeneratorExit",
    "StopIteration", "StopAsyncIteration", "NotImplementedError", "AssertionError",
})  # fmt: skip
"""Built-in exceptions that end a program, steer it, or say that it is wrong."""
_FRAMEWORK: Final = frozenset({"mcp.ToolError", "fastmcp.ToolError"})
_SHOWN: Final = 40
"""How much of an expression the report shows."""


def raised(node: ast.Raise, body: Body) -> Place | Left | None:
    """The failure that a `raise` is; None for a re-raise, or for what already is a failure of mcpcore."""
    if node.exc is None or _again(node.exc, body, node):
        return None
    call = node.exc if isinstance(node.exc, ast.Call) else None
    symbol = body.symbol(call.func if call is not None else node.exc)
    name = symbol.name if symbol is not None else ""
    if name == PROTOCOL and call is not None:
        return _protocol_error(node, call, body)
    rule = _rule(name, body)
    if rule is None:
        if name.startswith("mcpcore.") or getattr(getattr(node.exc, "func", None), "attr", "") == "fail":
            return None
        return _made(node, node.exc, name, body)
    if rule == "project-error" and (why := _changes_message(name, body)):
        return body.left(node, f"raise of {_short(name)}", why)
    if rule == "raise" and body.clause_of(node) is not None:
        rule = "rethrow"
    if call is None:
        return Place(node, rule, None, name)
    if call.keywords or len(call.args) > 1 or any(isinstance(arg, ast.Starred) for arg in call.args):
        return body.left(node, f"raise of {_short(name)} with several arguments", "say which of them is the message")
    message = call.args[0] if call.args else None
    if message is not None and not is_text(message, body.scope) and not may_be_text(message):
        return body.left(node, f"raise of {_short(name)} with a value", "write a message, and give the value as data")
    return Place(node, rule, message, name, call)


def _made(node: ast.Raise, error: ast.expr, name: str, body: Body) -> Place | Left:
    """A `raise` of an exception that another function makes, or of something that is not known."""
    made = made_error(error, body)
    if made is not None:
        # The name is that of no class, so any clause that catches a class by name may be meant for it.
        attribute = "message" if made.is_protocol_error else ""
        return Place(node, "made-error", error, f"{made.function}()", attribute=attribute, said=made.said)
    if name.startswith("builtins."):
        pattern, decide = f"raise of {_short(name)}", "raise ctx.fail if the agent can do something about it"
    else:
        pattern = f"raise of {_short(name) or ast.unparse(error)[:_SHOWN]}, which is no exception class of the project"
        decide = "raise ctx.fail instead, if clients need a code or advice"
    return body.left(node, pattern, decide)


def _rule(name: str, body: Body) -> str | None:
    short = name.removeprefix("builtins.")
    if name.startswith("builtins.") and short in BUILTIN_EXCEPTIONS:
        return None if short in _NOT_FAILURES or short.endswith("Warning") else "raise"
    if canonical(name) in _FRAMEWORK:
        return "tool-error"
    if body.hierarchy.is_kind_of(name, "builtins.Exception") and body.module.project.class_named(name) is not None:
        # A subclass of the SDK's error has its own arguments and its own way to the client.
        above = body.hierarchy.ancestors(name)[0]
        return None if above & {PROTOCOL, "mcpcore.CodedError"} else "project-error"
    return None


def _again(node: ast.expr, body: Body, statement: ast.Raise) -> bool:
    """Whether an expression is an exception that was caught before: the clause's own, or one that was kept."""
    if not isinstance(node, ast.Name):
        return False
    if body.symbol(node) is not None:
        return False
    caught = {part.name for part in body.nodes if isinstance(part, ast.ExceptHandler)}
    kept = {
        target.id
        for part in body.nodes
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Name) and part.value.id in caught
        for target in part.targets
        if isinstance(target, ast.Name)
    }
    return node.id in caught | kept and statement is not None


def _changes_message(name: str, body: Body) -> str:
    """Why the message of a project's exception is not its only argument; empty if it is."""
    project = body.module.project
    # The base classes are among the ancestors of the class, so all of them are looked at, in any order.
    above = [name, *(ancestor for ancestor in body.hierarchy.ancestors(name)[0] if ancestor != name)]
    infos = [info for info in map(project.class_named, above) if info is not None]
    names = {info.node.name for info in infos}
    for info in infos:
        made = info.methods.get("__init__")
        inherits = any(_short(ast.unparse(base)) in names for base in info.node.bases)
        if info.methods.keys() & {"__str__", "__new__"} or (
            made is not None and not _passes_message(made, alone=not inherits)
        ):
            return "the class makes its message itself; raise it through ctx.fail, with what it keeps as data"
    return ""


def _passes_message(method: ast.FunctionDef | ast.AsyncFunctionDef, *, alone: bool) -> bool:
    """Whether the `__init__` of an exception passes its first argument on: `super().__init__(message)`.

    Args:
        method: The method.
        alone: Whether it must be the only argument, since a built-in class shows all of them.
    """
    names = [parameter.arg for parameter in (*method.args.posonlyargs, *method.args.args)][:2]
    if len(names) < 2:
        return False
    me, message = names
    same = {message, f"{me}.{message}"}
    for node in walk([*method.body]):
        match node:
            case ast.Assign(targets=[ast.Attribute() as target], value=ast.Name(id=name)) if name == message:
                same.add(ast.unparse(target))
            case ast.Assign(targets=[ast.Name(id=name)]) if name == message:
                return False
    calls = [
        node
        for node in walk([*method.body])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__init__"
    ]
    if len(calls) != 1 or not calls[0].args or (alone and (len(calls[0].args) > 1 or calls[0].keywords)):
        return False
    return ast.unparse(calls[0].args[0]) in same


def _protocol_error(node: ast.Raise, call: ast.Call, body: Body) -> Place | Left:
    """`MCPError(code, message)` of SDK 2, or `McpError(ErrorData(code=..., message=...))` of SDK 1."""
    inner = call
    if len(call.args) == 1 and not call.keywords and isinstance(call.args[0], ast.Call):
        inner = call.args[0]
    keywords = {keyword.arg: keyword.value for keyword in inner.keywords}
    message = keywords.get("message") or (inner.args[1] if len(inner.args) > 1 else None)
    data = "data" in keywords or len(inner.args) > 2
    if message is None or data or not (is_text(message, body.scope) or may_be_text(message)):
        return body.left(node, "raise of the SDK's own error", "raise ctx.fail, unless the protocol needs this code")
    return Place(node, "tool-error", message, PROTOCOL)


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def mentions_name(node: ast.AST, name: str) -> bool:
    """Whether a name appears in an expression."""
    return any(isinstance(part, ast.Name) and part.id == name for part in walk([node]))


# -- exceptions that a function makes: `raise handle_error(e)`, or a name that holds what it returned -----------------


class Made(NamedTuple):
    """What a function makes."""

    function: str
    """The name of the function."""
    is_protocol_error: bool
    """Whether it is the SDK's own error, whose text is not its message."""
    said: tuple[ast.expr, Scope] | None = None
    """Its message, if it always makes the same one, with the scope of the names in it."""


def made_error(node: ast.expr, body: Body) -> Made | None:
    """The function of the project that makes the exception of an expression; None if it may be another one."""
    makers = {_maker(call, body) for call in _calls(node, body)}
    return makers.pop() if len(makers) == 1 else None


def _calls(node: ast.expr, body: Body) -> Iterator[ast.expr | None]:
    """The calls that an expression may be: itself, or what was assigned to the name."""
    if not isinstance(node, ast.Name):
        yield node
        return
    for binding in body.scope.bindings.get(node.id, ()):
        yield binding.value


def _maker(node: ast.expr | None, body: Body) -> Made | None:
    symbol = body.symbol(node.func) if isinstance(node, ast.Call) else None
    definition = symbol.definition if symbol is not None else None
    if symbol is None or not isinstance(definition, ast.FunctionDef) or definition.decorator_list:
        return None
    owner = body.module.project.module_defining(definition)
    if owner is None:  # pragma: no cover - each function that a name leads to is in a module of the project
        return None
    inner = Body(definition, owner, body.tool, body.hierarchy)
    returns = [part.value for part in inner.nodes if isinstance(part, ast.Return)]
    if not returns or None in returns or inner.is_generator:
        return None
    short = definition.name
    texts = [value.args[0] for value in returns if isinstance(value, ast.Call) and len(value.args) == 1]
    text = texts[0] if len(texts) == len(returns) == 1 else None
    said = (text, inner.scope) if text is not None and is_text(text, inner.scope) else None
    if all(_makes_protocol_error(value, inner) for value in returns):
        return Made(short, is_protocol_error=True)
    annotated = evaluate(definition.returns, owner.scope) if definition.returns is not None else None
    if isinstance(annotated, Symbol) and _is_failure(annotated.name, inner):
        return Made(short, is_protocol_error=False, said=said)
    classes = [inner.symbol(value.func) if isinstance(value, ast.Call) else None for value in returns]
    if all(kind is not None and _is_failure(kind.name, inner) for kind in classes):
        return Made(short, is_protocol_error=False, said=said)
    return None


def raised_by_call(node: ast.Expr, call: ast.Call, body: Body) -> Place | None:
    """The failure of a function that does nothing but raise its only argument in an exception: `make_error("...")`."""
    symbol = body.symbol(call.func)
    definition = symbol.definition if symbol is not None else None
    owner = body.module.project.module_defining(definition) if isinstance(definition, ast.FunctionDef) else None
    if owner is None or not isinstance(definition, ast.FunctionDef) or definition.decorator_list:
        return None
    match call.args, call.keywords, definition.body[-1], all_parameters(definition.args):
        case [message], [], ast.Raise(exc=ast.Call(func=kind, args=[ast.Name(id=name)], keywords=[])), [parameter]:
            inner = Body(definition, owner, body.tool, body.hierarchy)
            error = inner.symbol(kind)
            texts = is_text(message, body.scope) or may_be_text(message)
            same = name == parameter.arg and all(map(only_logs, definition.body[:-1])) and texts
            if (
                same
                and error is not None
                and _is_failure(error.name, inner)
                and not _changes_message(error.name, inner)
            ):
                return Place(node, "made-error", message, error.name)
    return None


def _is_failure(name: str, body: Body) -> bool:
    """Whether a class is an exception whose text is its message."""
    above, _ = body.hierarchy.ancestors(canonical(name))
    return "builtins.Exception" in above and above.isdisjoint(_REFUSED)


def _makes_protocol_error(value: ast.expr | None, body: Body) -> bool:
    """Whether an expression is `MCPError(code, message)`, without data."""
    if not isinstance(value, ast.Call):
        return False
    symbol = body.symbol(value.func)
    return (
        symbol is not None
        and symbol.name == PROTOCOL
        and len(value.args) + len(value.keywords) == 2
        and all(keyword.arg in {"code", "message"} for keyword in value.keywords)
    )
