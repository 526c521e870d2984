"""Decides what happens to a raised failure on its way out: clauses around it, decorators, and callers of the tool."""

from __future__ import annotations

import ast
import re
from typing import Final

from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.parse import all_parameters, own_nodes, walk, walk_shallow
from mcpcore_lint.migrate.body import Body, only_logs
from mcpcore_lint.migrate.model import Left, Place
from mcpcore_lint.model import CallValue, Symbol

_UNDOES: Final = re.compile(r"transaction|begin|atomic|savepoint|\bconn(?:ection)?\b|connect\(", re.IGNORECASE)
"""Context managers that may commit on a `return` and roll back on a `raise`."""
_CACHES: Final = re.compile(r"cache|memo", re.IGNORECASE)
_PLAIN: Final = frozenset({"staticmethod", "abstractmethod", "abc.abstractmethod", "override", "typing.override"})
_FAILURE = "mcpcore.CodedError"
_KINDS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def check(place: Place, answers: set[ast.AST], body: Body) -> list[ast.Try] | Left | None:
    """The `try` statements that need `except CodedError: raise` first; None if the raise is caught and handled.

    Args:
        place: The failure.
        answers: The statements of the function that say that it failed.
        body: The function.
    """
    shields: list[ast.Try] = []
    for context in body.withs(place.node):
        if _swallows(context, body):
            return body.left(
                place.node, "a context manager around the failure", "say what it does with a raised failure"
            )
        if isinstance(place.node, ast.Return) and _UNDOES.search(ast.unparse(context)):
            return body.left(
                place.node, "a failure is returned inside a transaction", "raise ctx.fail if that may roll it back"
            )
    handled, raised = place.raised == "", place.raised
    for statement in body.tries(place.node):
        leaves = any(isinstance(part, (ast.Return, ast.Break, ast.Continue)) for part in statement.finalbody)
        if leaves or not isinstance(statement, ast.Try):
            pattern = "a failure inside except*, or before a finally that leaves the function"
            return body.left(place.node, pattern, "raise ctx.fail where nothing drops or groups it")
        clause = next(
            (handler for handler in statement.handlers if not handled and body.catches(handler, raised)), None
        )
        if clause is not None and not _raises_again(clause):
            # The exception that the clause raises instead goes on to the next `try`.
            last = clause.body[-1]
            handled = not isinstance(last, ast.Raise)
            raised = _raised_class(last, body) if isinstance(last, ast.Raise) else raised
            verdict = _verdict(clause, answers)
            if verdict == "goes on":
                return None
            if verdict == "cleans up":
                return body.left(
                    place.node, "the clause that catches this does more than log", "do that before ctx.fail as well"
                )
        if any(body.is_broad(handler) for handler in statement.handlers) and not _shielded(statement, body):
            shields.append(statement)
    return shields


def _raises_again(clause: ast.ExceptHandler) -> bool:
    """Whether a clause always raises the exception that it caught, after logging or cleaning up."""
    last = clause.body[-1]
    again = isinstance(last, ast.Raise) and (
        last.exc is None or (isinstance(last.exc, ast.Name) and last.exc.id == clause.name)
    )
    leaving = (ast.Return, ast.Break, ast.Continue, ast.Raise)
    return again and not any(isinstance(part, leaving) and part is not last for part in walk_shallow([*clause.body]))


def _raised_class(statement: ast.Raise, body: Body) -> str:
    """The class that a statement raises, by its qualified name; empty if it is not known."""
    error = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    symbol = body.symbol(error) if error is not None else None
    return symbol.name if symbol is not None else ""


def _verdict(clause: ast.ExceptHandler, answers: set[ast.AST]) -> str:
    """How a clause handles an exception: it "answers", "cleans up" and answers, or "goes on"."""
    *before, last = clause.body
    if not (isinstance(last, ast.Raise) or last in answers):
        nested = [part for part in walk([last]) if part in answers or isinstance(part, ast.Raise)]
        return "cleans up" if nested and isinstance(last, (ast.If, ast.Match)) else "goes on"
    plain = all(only_logs(statement) or isinstance(statement, (ast.Assign, ast.AnnAssign)) for statement in before)
    return "answers" if plain else "cleans up"


def _shielded(statement: ast.Try, body: Body) -> bool:
    """Whether a `try` with a clause that catches everything already lets failures of mcpcore pass."""
    first = next(clause for clause in statement.handlers if body.is_broad(clause) or _FAILURE in body.caught(clause))
    return _FAILURE in body.caught(first) or _raises_again(first)


def _swallows(context: ast.expr, body: Body) -> bool:
    """Whether a context manager may swallow or change an exception."""
    value = evaluate(context, body.scope)
    func = value.func if isinstance(value, CallValue) else body.symbol(getattr(context, "func", context))
    if func is None:
        return False
    if func.name in {"contextlib.suppress", "mcpcore.guard"}:
        return True
    definition = func.definition
    if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
        # A context manager of the project that catches around its `yield`, and does more than look.
        return any(
            isinstance(part, ast.Try) and not all(map(_raises_again, part.handlers)) for part in own_nodes(definition)
        )
    if isinstance(definition, ast.ClassDef):
        exits = [part for part in definition.body if getattr(part, "name", "") in {"__exit__", "__aexit__"}]
        return any(
            isinstance(part, ast.Return)
            and part.value is not None
            and not (isinstance(part.value, ast.Constant) and not part.value.value)
            for method in exits
            for part in walk([method])
        )
    return False


# -- decorators --------------------------------------------------------------------------------------------------------


def blocking(body: Body, registrations: set[ast.expr]) -> tuple[str, str] | None:
    """The decorator of a tool that may keep a context or a failure out, and what to do; None if all let them pass."""
    outside = body.scope.parent or body.module.scope
    for decorator in body.node.decorator_list:
        written = ast.unparse(decorator)
        maker = evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator, outside)
        # The decorators of mcpcore and FastMCP pass on what the function raises.
        is_own = isinstance(maker, Symbol) and maker.name in {"mcpcore.tool", "fastmcp.tool"}
        if decorator in registrations or is_own or written in _PLAIN:
            continue
        definition = maker.definition if isinstance(maker, Symbol) else None
        if registers(decorator) and definition is not None and any(map(registers, walk([definition]))):
            continue  # it hands the function to the decorator of the server
        # A library's decorator passes on what it does not know.
        passes = isinstance(maker, Symbol) and definition is None
        if isinstance(definition, _KINDS):
            passes = _returns_argument(definition, decorator)
        if not passes or written in {"classmethod", "property"} or _CACHES.search(written):
            name = written.partition("(")[0] + "()" * isinstance(decorator, ast.Call)
            return f"the decorator @{name}", "convert the tool by hand, since the decorator may answer for it"
    return None


def registers(node: ast.AST) -> bool:
    """Whether an expression is written as a decorator that registers a tool, such as `@app.tool()`."""
    return getattr(node.func if isinstance(node, ast.Call) else node, "attr", "") == "tool"


def _returns_argument(maker: ast.FunctionDef | ast.AsyncFunctionDef, decorator: ast.expr) -> bool:
    """Whether a decorator returns the function itself, or the function that it returns does so when it is called."""
    inner = [node for node in own_nodes(maker) if isinstance(node, _KINDS)] if isinstance(decorator, ast.Call) else []
    for function in inner or [maker]:
        names = {parameter.arg for parameter in all_parameters(function.args)}
        returned = [node.value for node in own_nodes(function) if isinstance(node, ast.Return)]
        if not returned or not all(isinstance(value, ast.Name) and value.id in names for value in returned):
            return False
    return True
