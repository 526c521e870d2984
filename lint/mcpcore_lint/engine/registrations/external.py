"""The tools of other servers that a project names: `Server(external_tools=["search_web"])`."""

import ast
from collections.abc import Iterator
from typing import Final

from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import CallValue, Items, is_left_out, options, string

OPTION: Final = "external_tools"


def external_tools(module: Module) -> tuple[str | None, ...]:
    """The names that a file gives as `external_tools=`; None for each that cannot be known."""
    if not module.source.has(OPTION):
        return ()
    calls = module.calls_near(OPTION, decorators=True)
    values = [(keyword.value, scope) for call, scope in calls for keyword in call.keywords if keyword.arg == OPTION]
    return tuple(dict.fromkeys(name for node, scope in values for name in _named(node, scope)))


def _named(node: ast.expr, scope: Scope) -> Iterator[str | None]:
    for value in options(evaluate(node, scope)):
        if isinstance(value, CallValue) and value.func.name == "builtins.frozenset" and len(value.args) == 1:
            value = value.args[0]  # noqa: PLW2901
        if isinstance(value, Items):
            yield from (string(name) for item in value.items for name in options(item))
        if not is_left_out(value) and not (isinstance(value, Items) and value.complete):
            yield None
