"""Servers that are passed to code that cannot be read, which may register tools on them."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Final

from mcpcore_lint.engine.registrations.environment import FUNCTIONS, functions_called, named_member
from mcpcore_lint.engine.registrations.registration_forms import MAKERS
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.parse import all_parameters
from mcpcore_lint.model import CallValue, Symbol
from mcpcore_lint.names import FRAMEWORKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.engine.registrations.servers import Servers
    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.engine.syntax.scopes import Scope
    from mcpcore_lint.model import FunctionNode

# Their functions run what they get.
_RUNNERS: Final = sys.stdlib_module_names | {"anyio", "trio"}


def unread_callee(call: ast.Call, scope: Scope, servers: Servers, *, decorates: bool = False) -> ast.expr | None:
    """The function of a call that gets a server and may register tools, but cannot be read; None for other calls.

    A function of another package counts if it gets functions of the project too, or decorates one.
    """
    func, elements = named_member(call.func), servers.functions.elements
    parts = [*call.args, *(keyword.value for keyword in call.keywords)]
    if isinstance(func, ast.Attribute) and _is_server(func.value, scope, servers):
        registers = func.attr not in MAKERS and ("tool" in func.attr or func.attr.startswith("register"))
        gives = registers and _gives_function(parts, scope, servers)
        return func if gives and next(functions_called(func, scope), None) is None else None
    parts += func.args if isinstance(func, ast.Call) else []
    if not any(_is_server(part, scope, servers) for part in parts):
        return None
    for around in elements.rounds(call, scope):
        value = evaluate(func, around)
        callee = value.func if isinstance(value, CallValue) else value
        name = callee.name if isinstance(callee, Symbol) else ""
        package, _, last = name.partition(".")
        if package in FRAMEWORKS or package == "builtins":
            # `FastMCP.add_tool(mcp, fn)`, `getattr(mcp, name)`
            asks = last == "getattr" and not isinstance(parts[1], ast.Constant)
            if asks or last.rpartition(".")[2] == "add_tool":
                return func
        elif name and getattr(callee, "definition", None) is None:
            if (package not in _RUNNERS or isinstance(func, ast.Call)) and (
                decorates or _gives_function(parts, scope, servers)
            ):
                return func
        elif not name and not _is_read(func, around, servers):
            return func
    return None


def _is_server(node: ast.expr, scope: Scope, servers: Servers) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and servers.server(node, scope)[0] not in {None, "lowlevel"}


def _is_read(func: ast.expr, scope: Scope, servers: Servers) -> bool:
    """Whether a function is one of the project, by its name at least, or a method of a class that is known."""
    if isinstance(func, ast.Attribute):
        defined = scope.module.project.modules_with(scope.module, lambda text: f"def {func.attr}(" in text)
        # The class of the object is not known, but all methods of that name take a server.
        take = [_takes_server(node, module, servers) for module in defined or () for node in list(module.functions)
                if getattr(node, "name", "") == func.attr]  # fmt: skip
        if (take and all(take)) or servers.has_known_class(func.value, scope):
            return True
    servers.functions.backward = True
    behind = [target.node for target in servers.functions.behind(func, scope)]
    servers.functions.backward = False
    is_known = bool(behind) and not any(isinstance(node, ast.Lambda) for node in behind)
    return is_known or next(functions_called(func, scope), None) is not None


def _takes_server(function: FunctionNode, module: Module, servers: Servers) -> bool:
    names = (ast.copy_location(ast.Name(part.arg, ast.Load()), function) for part in all_parameters(function.args))
    return any(servers.server(name, module.scope_of(function))[0] is not None for name in names)


def _gives_function(parts: list[ast.expr], scope: Scope, servers: Servers) -> bool:
    """Whether some arguments are functions of the project, or lists of them."""

    def items() -> Iterator[tuple[ast.expr, Scope]]:
        for part in parts:
            yield part, scope
            yield from servers.functions.elements.of(part, scope)

    values = (evaluate(*placed) for placed in items())
    return any(isinstance(value, Symbol) and isinstance(value.definition, FUNCTIONS) for value in values)
