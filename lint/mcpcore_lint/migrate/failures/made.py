"""Exceptions that a function of the project makes: `raise handle_error(e)`, or a name that holds what it returned."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.migrate.body import Body
from mcpcore_lint.migrate.model import Function
from mcpcore_lint.model import Symbol
from mcpcore_lint.names import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

PROTOCOL: Final = "mcp.MCPError"
_REFUSED: Final = frozenset({PROTOCOL, "mcpcore.CodedError"})


class Made(NamedTuple):
    """What a function makes."""

    function: str
    """The name of the function."""
    is_protocol_error: bool
    """Whether it is the SDK's own error, whose text is not its message."""


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
    inner = Body(Function(definition, owner, body.function.name), body.hierarchy)
    returns = [part.value for part in inner.nodes if isinstance(part, ast.Return)]
    if not returns or None in returns or inner.is_generator:
        return None
    short = definition.name
    if all(_is_protocol_error(value, inner) for value in returns):
        return Made(short, is_protocol_error=True)
    said = evaluate(definition.returns, owner.scope) if definition.returns is not None else None
    if isinstance(said, Symbol) and _is_failure(said.name, inner):
        return Made(short, is_protocol_error=False)
    classes = [inner.symbol(value.func) if isinstance(value, ast.Call) else None for value in returns]
    if all(kind is not None and _is_failure(kind.name, inner) for kind in classes):
        return Made(short, is_protocol_error=False)
    return None


def _is_failure(name: str, body: Body) -> bool:
    """Whether a class is an exception whose text is its message."""
    above, _ = body.hierarchy.ancestors(canonical(name))
    return "builtins.Exception" in above and above.isdisjoint(_REFUSED)


def _is_protocol_error(value: ast.expr | None, body: Body) -> bool:
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
