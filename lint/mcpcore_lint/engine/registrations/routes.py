"""The routes of a web application, of which a server makes tools: `FastMCP.from_fastapi(app)`, `FastApiMCP(app)`."""

import ast
from collections.abc import Iterator
from typing import Final

from mcpcore_lint.engine.registrations.contents import ROUTES
from mcpcore_lint.engine.registrations.environment import Placed
from mcpcore_lint.engine.registrations.functions import Functions
from mcpcore_lint.engine.registrations.registration_forms import OF_ROUTES, ROUTE, Maker, Site
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import Items, Symbol, ToolDef, string

_APPLICATION: Final = frozenset({"app", "fastapi", "openapi_spec"})
_FILTERS: Final = frozenset({"route_maps", "route_map_fn", "include_tags", "include_operations"})
"""Arguments that choose among the routes."""
_LEFT_OUT: Final = {"exclude_tags": "tags", "exclude_operations": "operation_id"}
"""Arguments that leave routes out, each with the argument of the route that it is about."""


def is_route(tool: ToolDef) -> bool:
    """Whether a tool is a route of a web application, whose answer also has an HTTP status."""
    func = getattr(tool.registration, "func", None)
    return getattr(func, "attr", getattr(func, "id", "")) in {name.rpartition(".")[2] for name in OF_ROUTES}


def applications(module: Module) -> Iterator[tuple[ast.Call, Placed]]:
    """The calls of a file that make tools of routes, each with the application."""
    for call, scope in module.calls_near("from_fastapi", "from_openapi", "FastApiMCP("):
        func = evaluate(call.func, scope)
        keywords = [keyword.value for keyword in call.keywords if keyword.arg in _APPLICATION]
        for application in (*call.args, *keywords)[:1]:
            if isinstance(func, Symbol) and func.name in OF_ROUTES:
                yield from ((call, placed) for placed in _application(application, scope, func.name))


def _application(node: ast.expr, scope: Scope, maker: str) -> Iterator[Placed]:
    """The application; for `from_openapi`, the one that describes itself, since other texts describe other servers."""
    if not maker.endswith("from_openapi"):
        yield node, scope
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "openapi":
        yield node.func.value, scope


def routes(call: ast.Call, application: Placed, module: Module, functions: Functions) -> list[Site]:
    """The functions of the routes of which a call makes tools; none if the call chooses among them."""
    if any(keyword.arg in _FILTERS for keyword in call.keywords):
        return []
    maker = Maker(ROUTE, "fastmcp", f"{module.path}:{call.lineno}:{call.col_offset}")
    functions.backward = True
    functions.steps = 0
    placed = functions.elements.of(*application)
    functions.backward = False
    return [Site(maker, node, scope, call, call) for node, scope in placed]


def is_hidden(node: ast.AST, call: ast.Call, module: Module, scope: Scope) -> bool:
    """Whether a route is no tool: it is hidden, or the call leaves it out by its tag or its name."""
    for decorator in getattr(node, "decorator_list", ()):
        if not isinstance(decorator, ast.Call) or getattr(decorator.func, "attr", "") not in ROUTES:
            continue
        named = {keyword.arg: keyword.value for keyword in decorator.keywords}
        if getattr(named.get("include_in_schema"), "value", True) is False:
            return True
        for keyword in call.keywords:
            about = named.get(_LEFT_OUT.get(keyword.arg or "", ""))
            if about is not None and _texts(about, module.scope) & _texts(keyword.value, scope):
                return True
    return False


def _texts(node: ast.expr, scope: Scope) -> set[str | None]:
    value = evaluate(node, scope)
    texts = {string(item) for item in value.items} if isinstance(value, Items) else {string(value)}
    return texts - {None}
