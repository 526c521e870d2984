"""Adds the middleware of mcpcore to FastMCP servers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.codemods.rewrite import Rewriter
from mcpcore_lint.diagnostics import Edit, Fix
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.migrate.model import Left
from mcpcore_lint.migrate.names import Names
from mcpcore_lint.model import Symbol

if TYPE_CHECKING:
    from mcpcore_lint.engine.syntax.module import Module

_PACKAGE = "mcpcore.integrations.fastmcp"
_NAME = "ContractMiddleware"


_UNDOING: Final = {
    "RetryMiddleware": "remove it, and add ContractMiddleware() as the first middleware",
    "ErrorHandlingMiddleware": "write transform_errors=False, and add ContractMiddleware() as the first middleware",
}
"""Middleware of FastMCP beside which `ContractMiddleware` refuses to serve, and what to do."""


def _undoes(call: ast.Call, made: object, name: str) -> bool:
    if not (isinstance(made, Symbol) and made.name.startswith("fastmcp.") and made.name.endswith(f".{name}")):
        return False
    option = next((keyword.value for keyword in call.keywords if keyword.arg == "transform_errors"), None)
    return not (isinstance(option, ast.Constant) and option.value is False)


def plan_middleware(module: Module) -> tuple[list[Edit], list[Left]]:
    """The edits that add `ContractMiddleware` to the servers that a file makes."""
    if module.source.has(_NAME) or not module.source.has("FastMCP"):
        return [], []
    names = Names(module)
    edits: list[Edit] = []
    left = [
        Left(module.path, call.lineno, (), f"{name} undoes contracts", advice)
        for name, advice in _UNDOING.items()
        for call, scope in module.calls_near(f"{name}(")
        if _undoes(call, evaluate(call.func, scope), name)
    ]
    if left:
        return [], left
    rewriter = Rewriter(module.path, module.source.text, module.tree)
    for call, scope in module.calls_near("FastMCP("):
        symbol = evaluate(call.func, scope)
        if not (isinstance(symbol, Symbol) and symbol.name == "fastmcp.FastMCP"):
            continue
        made = f"{names.spell(_PACKAGE, _NAME)}()"
        argument = next((keyword for keyword in call.keywords if keyword.arg == "middleware"), None)
        change = None
        if argument is None and not any(keyword.arg is None for keyword in call.keywords):
            arguments = [*codemods.arguments_in_order(call), f"middleware=[{made}]"]
            change = codemods.rewrite_call(module, call, arguments)
        elif argument is not None and isinstance(argument.value, ast.List):
            segment = module.source.segment(argument.value)
            separator = ", " if argument.value.elts else ""
            change = codemods.replace_node(module, argument.value, f"[{made}{separator}{segment[1:].lstrip()}")
        new = rewriter.edits(Fix("", (change,))) if change is not None else ()
        edits += new
        if not new:
            pattern, decide = "the middleware of the server", "add ContractMiddleware() as its first middleware"
            left.append(Left(module.path, call.lineno, (), pattern, decide))
    if edits:
        edits += names.edits({(_PACKAGE, _NAME)})
    return edits, left
