"""The routes of a web application, of which a server makes tools: `FastMCP.from_fastapi(app)`, `FastApiMCP(app)`."""

import ast
from collections.abc import Iterator
from typing import Final

from mcpcore_lint.engine.registrations.callers import scope_around
from mcpcore_lint.engine.registrations.contents import ROUTED, ROUTES, modules_of
from mcpcore_lint.engine.registrations.environment import (
    DEEP,
    FUNCTIONS,
    Placed,
    arguments_of,
    assignments_of,
    class_of,
    functions_run,
    written_scope,
)
from mcpcore_lint.engine.registrations.functions import Functions
from mcpcore_lint.engine.registrations.registration_forms import OF_ROUTES, ROUTE, Maker, Site
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.types import Inference
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import argument_of, walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import Items, Symbol, ToolDef, Unknown, string

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
    functions.applications.clear()
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


# -- routes that are not read ------------------------------------------------------------------------------------------


def unread_use(node: ast.expr, scope: Scope, depth: int = 0) -> ast.expr | None:
    """The first use of an application or a router that may add a route and is not read: `get = app.get`.

    Args:
        node: The name or the attribute that is the application, or an expression that cannot be read.
        scope: The scope that it is read in.
        depth: How many functions it was passed to.
    """
    sources = assignments_of(node, scope)
    place = scope.lookup(node.id) if isinstance(node, ast.Name) else None
    is_given = place is not None and place[1][0].kind == "parameter"
    is_unknown = not sources and not is_given and isinstance(evaluate(node, scope), Unknown)
    if depth > DEEP or is_unknown or (place is None and not isinstance(node, ast.Attribute)):
        return node
    made = (value for value, _ in sources if any(word.arg == "routes" for word in getattr(value, "keywords", ())))
    uses = (_unread(part, module, depth) for part, module in _mentions(node, scope))
    return next(made, None) or next(filter(None, uses), None)


def _mentions(node: ast.expr, scope: Scope) -> Iterator[tuple[ast.expr, Module]]:
    """The places where the project mentions a variable, or an attribute of the objects of a class."""
    place = scope.lookup(node.id) if isinstance(node, ast.Name) else None
    home = written_scope(place[0]) if place is not None else None
    info = class_of(node.value, scope) if isinstance(node, ast.Attribute) else None
    owner, name = info or home, getattr(node, "attr", getattr(node, "id", ""))
    everywhere = owner is not None and (home is None or home.is_module)
    for module in modules_of(owner.module, name) if everywhere and owner is not None else [home.module] if home else ():
        for part in walk([module.tree]):
            loaded = isinstance(part, type(node)) and isinstance(getattr(part, "ctx", None), ast.Load)
            if loaded and isinstance(part, ast.expr) and getattr(part, "attr", getattr(part, "id", "")) == name:
                where = scope_around(part, module).lookup(name)
                same = where is not None and (written_scope(where[0]) is home or where[1][0].target is not None)
                yield from [(part, module)] if isinstance(part, ast.Attribute) or same else []


def _unread(part: ast.expr, module: Module, depth: int) -> ast.expr | None:
    """A use of an application, if it may add a route and is not read."""
    parents = module.parents
    above = parents.get(part)
    if isinstance(above, ast.Attribute) and above.attr == "router":
        part, above = above, parents.get(above)
    outer = parents.get(above) if above is not None else None
    around = parents.get(outer) if outer is not None else None
    decorates = isinstance(around, FUNCTIONS) and outer in around.decorator_list
    decorates |= isinstance(around, ast.Call) and around.func is outer
    # Only the functions that get it first are read.
    call = outer if isinstance(outer, ast.Call) and depth < 2 else None
    match above:
        case ast.Attribute(attr="routes"):
            return above if getattr(outer, "attr", "") in {"append", "extend", "insert"} else None
        case ast.Attribute(attr=attr) if attr in ROUTED:
            return above if call is None or argument_of(call, *ROUTED[attr]) is None else None
        case ast.Attribute(attr=attr) if attr in ROUTES:
            return above if call is None or not decorates else None
        case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]):
            # It is used under another name.
            name = target.id if isinstance(target, ast.Name) else f".{target.attr}"
            return part if any(module.source.has(f"{name}.{method}(") for method in (*ROUTES, *ROUTED)) else None
        case ast.Call() | ast.keyword():
            made = above if isinstance(above, ast.Call) else outer
            return _passed(made, part, module, depth) if isinstance(made, ast.Call) else None
    return None


def _passed(call: ast.Call, part: ast.expr, module: Module, depth: int) -> ast.expr | None:
    """The use of an application by the function that gets it."""
    scope = scope_around(call, module)
    symbol, called = evaluate(call.func, scope), next(functions_run(call, scope), None)
    if called is None:
        asks = getattr(symbol, "name", "") == "builtins.getattr" and not isinstance(call.args[1], ast.Constant)
        is_method = isinstance(call.func, ast.Attribute) and bool(Inference().of(call.func.value, scope))
        return call.func if asks or not (isinstance(symbol, Symbol) or is_method) else None
    arguments = arguments_of(called.function, call, bound_first=called.bound_first)
    names = [ast.Name(name, ast.Load()) for name, argument in arguments.items() if argument is part]
    inside, deeper = called.owner.scope_of(called.function), depth + (1 if isinstance(part, ast.Name) else 2)
    return next(filter(None, (unread_use(ast.copy_location(name, call), inside, deeper) for name in names)), None)
