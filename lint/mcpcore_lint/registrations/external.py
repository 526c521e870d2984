"""The tools of other servers that a project names: `Server(external_tools=["search_web"])`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import CallValue, Items, Symbol, Value, is_left_out, options, string
from mcpcore_lint.semantics.evaluate import evaluate

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

OPTION: Final = "external_tools"
_HANDING_ON: Final = frozenset({"builtins.dict", "functools.partial"})
"""What keeps options for a server that is made later."""


def external_tools(module: Module) -> tuple[str | None, ...]:
    """The names that a file gives as `external_tools=`; None for each that cannot be known."""
    if not module.source.has(OPTION):
        return ()
    return tuple(dict.fromkeys(_names(module)))


def _names(module: Module) -> Iterator[str | None]:
    for call, scope in module.calls_near(OPTION, decorators=True):
        for keyword in call.keywords:
            if keyword.arg == OPTION and not _is_foreign(evaluate(call.func, scope)):
                yield from _named(keyword.value, scope)


def _named(node: ast.expr, scope: Scope) -> Iterator[str | None]:
    for option in options(evaluate(node, scope)):
        value = option
        if isinstance(value, CallValue) and value.func.name == "builtins.frozenset" and len(value.args) == 1:
            value = value.args[0]
        if isinstance(value, Items):
            yield from (string(name) for item in value.items for name in options(item))
        if not is_left_out(value) and not (isinstance(value, Items) and value.complete):
            yield None


def _is_foreign(callee: Value) -> bool:
    """Whether a function or a class is another library's, whose option of that name says nothing about servers."""
    if not isinstance(callee, Symbol) or callee.definition is not None or callee.name in _HANDING_ON:
        return False
    return not callee.name.startswith("mcpcore.")


__all__ = ["external_tools"]
