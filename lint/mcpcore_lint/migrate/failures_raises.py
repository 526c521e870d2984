"""`raise` of built-in exceptions, of the frameworks' own errors, of the project's classes, or of a function's value."""

from __future__ import annotations

import ast
from typing import Final

from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.migrate.body import Body
from mcpcore_lint.migrate.messages import is_text, may_be_text
from mcpcore_lint.migrate.model import Left, Place
from mcpcore_lint.names import BUILTIN_EXCEPTIONS, canonical

PROTOCOL: Final = "mcp.MCPError"
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
    if node.exc is None or _again(node.exc, body):
        return None
    call = node.exc if isinstance(node.exc, ast.Call) else None
    symbol = body.symbol(call.func if call is not None else node.exc)
    name = symbol.name if symbol is not None else ""
    short = name.rpartition(".")[2]
    rule = _rule(name, body)
    if rule is None:
        if name.startswith("mcpcore.") or getattr(getattr(node.exc, "func", None), "attr", "") == "fail":
            return None
        return _unknown(node, node.exc, name, body)
    if rule == "project-error" and (why := _changes_message(name, body)):
        return body.left(node, f"raise of {short}", why)
    if rule == "raise" and body.clause_of(node) is not None:
        rule = "rethrow"
    if call is None:
        return Place(node, rule, None, name)
    if call.keywords or len(call.args) > 1 or any(isinstance(arg, ast.Starred) for arg in call.args):
        return body.left(node, f"raise of {short} with several arguments", "say which of them is the message")
    message = call.args[0] if call.args else None
    if message is not None and not is_text(message, body.scope) and not may_be_text(message):
        return body.left(node, f"raise of {short} with a value", "write a message, and give the value as data")
    return Place(node, rule, message, name, call)


def _unknown(node: ast.Raise, error: ast.expr, name: str, body: Body) -> Left:
    """A `raise` of something that is no exception class of the project, such as one that another function makes."""
    short = name.rpartition(".")[2]
    if name.startswith("builtins."):
        pattern, decide = f"raise of {short}", "raise ctx.fail if the agent can do something about it"
    else:
        pattern = f"raise of {short or ast.unparse(error)[:_SHOWN]}, which is no exception class of the project"
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
        return None if body.hierarchy.ancestors(name)[0] & {PROTOCOL, "mcpcore.CodedError"} else "project-error"
    return None


def _again(node: ast.expr, body: Body) -> bool:
    """Whether an expression is an exception that was caught before: the clause's own, or one that was kept."""
    if not isinstance(node, ast.Name) or body.symbol(node) is not None:
        return False
    caught = {part.name for part in body.nodes if isinstance(part, ast.ExceptHandler)}
    kept = {
        target.id
        for part in body.nodes
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Name) and part.value.id in caught
        for target in part.targets
        if isinstance(target, ast.Name)
    }
    return node.id in caught | kept


def _changes_message(name: str, body: Body) -> str:
    """Why the message of a project's exception is not its only argument; empty if it is."""
    # The base classes are among the ancestors of the class, so all of them are looked at, in any order.
    above = [name, *(ancestor for ancestor in body.hierarchy.ancestors(name)[0] if ancestor != name)]
    infos = [info for info in map(body.module.project.class_named, above) if info is not None]
    names = {info.node.name for info in infos}
    for info in infos:
        made = info.methods.get("__init__")
        inherits = any(ast.unparse(base).rpartition(".")[2] in names for base in info.node.bases)
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
