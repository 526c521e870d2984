"""Which expressions register tools, resources and prompts: decorators and calls."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import CallValue, Const, Missing, Symbol, Text, Unknown, Value, options
from mcpcore_lint.registrations.bindings import bound, see
from mcpcore_lint.registrations.frames import Frame
from mcpcore_lint.registrations.handlers import DEEP, Targets
from mcpcore_lint.registrations.registrars import Wrapping, names_something
from mcpcore_lint.registrations.servers import Servers
from mcpcore_lint.registrations.sites import Maker, Site
from mcpcore_lint.registrations.tables import (
    ADDERS,
    DECORATORS,
    FROM_TOOL,
    LISTS,
    LOWLEVEL,
    LOWLEVEL_KEYWORDS,
    LOWLEVEL_REQUESTS,
    MADE,
    MIXED_IN,
    Way,
)
from mcpcore_lint.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.semantics.symbols import class_round

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.records import ToolFlavour
    from mcpcore_lint.semantics.hierarchy import Hierarchy
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

_SERVES_ALL: Final = Way("tool", name=None)
_ENTRY: Final = Way("tool", ("name_or_fn", "fn"))
"""`@app.ui()` of FastMCP's apps: a tool that opens the interface."""


class Registering:
    """Answers for one file."""

    def __init__(self, module: Module, hierarchy: Hierarchy) -> None:
        self.module = module
        self.hierarchy = hierarchy
        self.servers = Servers(module, hierarchy)
        self.targets = Targets(self.counted)
        self.wrapping = Wrapping(self)
        self._changing: list[ast.Call] = []
        """The calls of `Tool.from_tool` that are being looked through."""

    def of(self, module: Module) -> Registering:
        """The same for another file."""
        return self if module is self.module else Registering(module, self.hierarchy)

    # -- decorators --------------------------------------------------------------------------------------------------

    def maker(self, node: ast.expr, scope: Scope, depth: int = 0) -> Maker | None:
        """What an expression makes of the function that it decorates; None where it makes no tool of it."""
        if isinstance(node, ast.Call):
            made = self._method(node.func, scope, depth)
            if made is not None:
                call = self.arguments(node, scope)
                return made._replace(call=_joined(made.call, call), inner=node)
        else:
            made = self._method(node, scope, depth)
            if made is not None:
                return made
            if isinstance(node, (ast.Name, ast.Attribute)) and depth < DEEP and not self.targets.too_much():
                # Of a name that is bound to a call of `mcp.tool(...)`.
                for each, where in bound(node, scope):
                    if isinstance(each, ast.Lambda) and isinstance(each.body, ast.Call):
                        each = each.body.func  # noqa: PLW2901 - `lambda fn: mcp.tool()(fn)`
                    if isinstance(each, ast.Call):
                        found = self.maker(each, where, depth + 1)
                        if found is not None:
                            return found
        return self.wrapping.by_registrar(node, scope) if depth < DEEP else None

    def _method(self, func: ast.expr, scope: Scope, depth: int = 0) -> Maker | None:
        """What `server.tool`, `tool`, an alias of them or a `partial(...)` of them makes of functions when called."""
        value = evaluate(func, scope)
        if isinstance(value, Symbol):
            way, flavour = way_of(value.name)
            return Maker(way, flavour, None) if way is not None else None
        if isinstance(func, ast.Attribute):
            maker = self._server_method(func, scope)
            if maker is not None:
                return maker
        if depth >= DEEP or not isinstance(func, (ast.Name, ast.Attribute)) or self.targets.too_much():
            return None
        if isinstance(value, CallValue):
            if value.func.name != "functools.partial":
                return None
            first = value.args[0] if value.args else None
            if isinstance(first, Symbol):
                way, flavour = way_of(first.name)
                return Maker(way, flavour, None, _without_first(value)) if way is not None else None
        for each, where in bound(func, scope):
            maker = None
            if isinstance(each, (ast.Attribute, ast.Name)):
                maker = self._method(each, where, depth + 1)
            elif isinstance(each, ast.Call) and each.args and not isinstance(each.args[0], ast.Constant):
                callee = evaluate(each.func, where)
                if isinstance(callee, Symbol) and callee.name == "functools.partial":
                    maker = self._method(each.args[0], where, depth + 1)
                    if maker is not None:
                        maker = maker._replace(call=_without_first(self.arguments(each, where)))
            if maker is not None:
                return maker
        return None

    def _server_method(self, func: ast.Attribute, scope: Scope) -> Maker | None:
        name = func.attr
        if name not in DECORATORS and name not in LOWLEVEL and name != "ui":
            return None
        flavour, server = self.servers.server(func.value, scope)
        if flavour is None and name == "tool":
            flavour, server = self.servers.by_use(func, scope)
        if flavour is None:
            return None
        if flavour == "lowlevel":
            return Maker(_SERVES_ALL, flavour, server) if name in LOWLEVEL else None
        if name == "ui":
            made = evaluate(func.value, scope)
            app = isinstance(made, CallValue) and made.func.name == "fastmcp.FastMCPApp"
            return Maker(_ENTRY, flavour, server) if app else None
        return Maker(DECORATORS[name], flavour, server) if name in DECORATORS else None

    def arguments(self, node: ast.Call, scope: Scope) -> CallValue:
        """The arguments of a call."""
        args, keywords, complete = Resolver().arguments(node, scope)
        if not any(isinstance(each, ast.Starred) for each in node.args):
            args = [self._value(each, value, scope) for each, value in zip(node.args, args, strict=True)]
        named = {each.arg: each.value for each in node.keywords if each.arg is not None}
        keywords = [(key, self._value(named[key], value, scope) if key in named else value) for key, value in keywords]
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        func = Symbol(node.func, scope.module, name)
        return CallValue(node, scope.module, func, tuple(args), tuple(keywords), complete)

    def _value(self, node: ast.expr, value: Value, scope: Scope) -> Value:
        if not any(isinstance(each, (Unknown, Text)) for each in options(value)):
            return value
        seen, where = see(node, scope, scope.filled) if isinstance(scope, Frame) else (node, scope)
        if isinstance(seen, ast.Attribute) and seen.attr == "__doc__":
            functions = self.targets.behind(seen.value, where)
            if len(functions) == 1:
                function = functions[0].node
                doc = None if isinstance(function, ast.Lambda) else ast.get_docstring(function)
                return Const(function, functions[0].module, doc)
        if isinstance(seen, ast.Attribute) and seen.attr == "__name__":
            functions = self.targets.behind(seen.value, where)
            if len(functions) == 1:
                return functions[0].name
        if isinstance(seen, ast.JoinedStr):
            text = self.targets.items.members.text(seen, where)
            return value if text is None else Const(node, scope.module, text)
        return evaluate(seen, where) if seen is not node else value

    # -- calls -------------------------------------------------------------------------------------------------------

    def sites(self, node: ast.Call, scope: Scope) -> Iterator[Site]:
        """What a call registers: `add_tool(fn)`, `tool(errors=...)(fn)`, `mcp.tool(fn)`, `Server(tools=[fn])`."""
        func = node.func
        if isinstance(func, ast.Call):
            maker = self.maker(func, scope)
            if maker is not None and node.args:
                yield Site(maker, node.args[0], scope, func, node)
            return
        value = evaluate(func, scope)
        for each in options(value):
            if isinstance(each, Symbol):
                way, flavour = made_by(each.name)
                if way is not None:
                    yield from self._site(Maker(way, flavour, None), node, scope)
                    return
                if each.name == "builtins.map":
                    yield from self._mapped(node, scope)
                    return
                server = self.servers.flavour_of(each) if node.keywords else None
                if server is not None:
                    yield from self._constructed(server, node, scope)
                    return
        adder = self.adder(func, scope)
        if adder is not None:
            yield from self._site(adder, node, scope)
            return
        if isinstance(func, ast.Attribute) and func.attr == "__init__" and node.keywords:
            # `super().__init__(tools=[...])` in a class that is a server.
            info = class_round(scope)
            own = self.servers.flavour_of_class(info) if info is not None else None
            if own is not None:
                yield from self._constructed(own, node, scope)
            return
        if isinstance(func, ast.Attribute) and func.attr == "add_request_handler":
            yield from self._request_handler(node, scope)
            return
        if names_something(func):
            maker = self._method(func, scope)
            if maker is not None:
                yield from self._site(maker, node, scope)
                return
        if node.args and isinstance(func, ast.Name) and not isinstance(value, Symbol):
            maker = self.maker(func, scope)
            if maker is not None:
                yield Site(maker, node.args[0], scope, node, node)
                return
        if node.args or node.keywords:
            yield from self.wrapping.through_registrar(node, scope)

    def adder(self, node: ast.expr, scope: Scope) -> Maker | None:
        """What `server.add_tool` makes, also where a function is handed it under its own name."""
        if isinstance(node, ast.Attribute) and node.attr in ADDERS:
            flavour, server = self.servers.server(node.value, scope)
            if flavour is None and node.attr == "add_tool":
                flavour, server = self.servers.by_use(node, scope)
            if flavour is not None and flavour != "lowlevel":
                return Maker(ADDERS[node.attr], flavour, server)
        elif isinstance(node, ast.Name) and node.id in ADDERS:
            found = scope.lookup(node.id)
            if found is not None and all(each.kind == "parameter" for each in found[1]):
                flavour = self.servers.usual()
                return Maker(ADDERS[node.id], flavour, None) if flavour is not None else None
        return None

    def through_adder(
        self, maker: Maker, parameter: str, function: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.Call
    ) -> Iterator[Site]:
        """What a function registers by a parameter that it is handed `server.add_tool` for, in a call of this file."""
        owner = self.module.project.module_defining(function)
        for call, scope in owner.calls_near(f"{parameter}(") if owner is not None else ():
            called = isinstance(call.func, ast.Name) and call.func.id == parameter
            place = scope.lookup(parameter) if called else None
            if place is not None and place[0].node is function:
                for site in self._site(maker, call, scope):
                    yield site if owner is self.module else site._replace(registration=node)

    def _site(self, maker: Maker, node: ast.Call, scope: Scope) -> Iterator[Site]:
        """A call that takes the handler itself."""
        target: ast.expr | None = None
        first = False
        if node.args and not maker.way.keyword_only and maker.way.handler:
            target, first = node.args[0], True
        else:
            target = next((each.value for each in node.keywords if each.arg in maker.way.handler), None)
        if target is None or isinstance(target, (ast.Starred, ast.Constant)):
            return
        call = self.arguments(node, scope)
        maker = maker._replace(
            call=_joined(maker.call, _without_first(call) if first else call), inner=node, first=first
        )
        if maker.way is FROM_TOOL:
            yield from self._changed(maker, target, node, scope)
        else:
            yield Site(maker, target, scope, node, node)

    def _changed(self, maker: Maker, target: ast.expr, node: ast.Call, scope: Scope) -> Iterator[Site]:
        """`Tool.from_tool(other, name=..., transform_fn=...)`: another tool, by a new name or by a new function."""
        assert maker.call is not None
        changed = next((each.value for each in node.keywords if each.arg == "transform_fn"), None)
        named = not isinstance(maker.call.argument("name", maker.way.name), Missing)
        if changed is not None and not _is_none(changed):
            if not named:
                unknown = Unknown(node, scope.module, "it has the name of the tool that it is made of")
                call = maker.call
                keywords = (*call.keywords, ("name", unknown))
                maker = maker._replace(
                    call=CallValue(call.node, call.module, call.func, call.args, keywords, call.complete)
                )
            yield Site(maker, changed, scope, node, node)
        elif named:
            inner: list[Site] = []
            if len(self._changing) < DEEP and node not in self._changing:
                self._changing.append(node)
                made = [(target, scope)] if isinstance(target, ast.Call) else bound(target, scope)
                inner = [site for each, where in made if isinstance(each, ast.Call) for site in self.sites(each, where)]
                self._changing.pop()
            for each in inner:
                yield Site(maker, each.target, each.scope, node, node)
            if not inner:
                yield Site(maker, target, scope, node, node)

    def _mapped(self, node: ast.Call, scope: Scope) -> Iterator[Site]:
        """`map(mcp.add_tool, fns)`, `map(mcp.tool(), fns)`."""
        if len(node.args) != 2:
            return
        what, items = node.args
        maker = self.maker(what, scope) or self.adder(what, scope)
        for element, where in self.targets.elements(items, scope) if maker is not None else ():
            if maker is not None:
                yield Site(maker, element, where, node, node)

    def _constructed(self, flavour: ToolFlavour, node: ast.Call, scope: Scope) -> Iterator[Site]:
        """What the constructor of a server is given."""
        key = f"{scope.module.path}:{node.lineno}:{node.col_offset}"
        for keyword in node.keywords:
            name = keyword.arg
            if flavour == "lowlevel" and name in LOWLEVEL_KEYWORDS:
                yield Site(Maker(_SERVES_ALL, flavour, None), keyword.value, scope, node, node)
            elif flavour != "lowlevel" and name in LISTS:
                for element, where in self.targets.elements(keyword.value, scope):
                    here = where.module is scope.module and not isinstance(element, ast.Starred)
                    at = element if here and _inside(element, keyword.value) else node
                    yield Site(Maker(LISTS[name], flavour, key), element, where, at, node)

    def _request_handler(self, node: ast.Call, scope: Scope) -> Iterator[Site]:
        """`server.add_request_handler("tools/call", Params, handler)` of the low-level server."""
        assert isinstance(node.func, ast.Attribute)
        if len(node.args) < 2 or self.servers.server(node.func.value, scope)[0] != "lowlevel":
            return
        method = evaluate(node.args[0], scope)
        if isinstance(method, Const) and method.value in LOWLEVEL_REQUESTS:
            yield Site(Maker(_SERVES_ALL, "lowlevel", None), node.args[-1], scope, node, node)

    def request(self, server: ast.expr, handler: ast.expr, scope: Scope) -> Iterator[Site]:
        """`server.request_handlers[CallToolRequest] = handler` of the low-level server."""
        flavour, key = self.servers.server(server, scope)
        if flavour is not None:
            call = ast.copy_location(ast.Call(server, [handler], []), handler)
            yield Site(Maker(_SERVES_ALL, "lowlevel", key), handler, scope, handler, call)

    def counted(self, node: ast.Call, scope: Scope) -> bool:
        """Whether a call registers something itself, so that what it gives is registered already."""
        func = node.func
        if isinstance(func, ast.Call):
            return self.maker(func, scope) is not None
        for each in options(evaluate(func, scope)):
            if isinstance(each, Symbol) and (made_by(each.name)[0] or way_of(each.name)[0]) is not None:
                return True
        if isinstance(func, ast.Attribute) and (func.attr in ADDERS or func.attr in DECORATORS):
            return self.servers.server(func.value, scope)[0] is not None
        return False


def way_of(name: str) -> tuple[Way | None, ToolFlavour]:
    """What a decorator of mcpcore or FastMCP that stands by itself makes."""
    package, _, rest = name.partition(".")
    if package == "mcpcore":
        way = DECORATORS.get(rest)
        return (way._replace(name=None, handler=("fn",)) if way is not None else None), "mcpcore"
    if package == "fastmcp":
        last = name.rpartition(".")[2]
        return DECORATORS.get(last) or MIXED_IN.get(last), "fastmcp"
    return None, "sdk"


def made_by(name: str) -> tuple[Way | None, ToolFlavour]:
    """What a class or a class method of a framework makes of a function, to be added to a server later."""
    package, _, rest = name.partition(".")
    if package not in {"mcp", "fastmcp"}:
        return None, "sdk"
    parts = rest.split(".")
    way = MADE.get(".".join(parts[-2:])) or MADE.get(parts[-1])
    return way, "fastmcp" if package == "fastmcp" else "sdk"


def _joined(before: CallValue | None, call: CallValue) -> CallValue:
    """The arguments of `partial(mcp.tool, ...)` and those of its call."""
    if before is None:
        return call
    given = {name for name, _ in call.keywords}
    keywords = (*(each for each in before.keywords if each[0] not in given), *call.keywords)
    return CallValue(
        call.node, call.module, call.func, (*before.args, *call.args), keywords, before.complete and call.complete
    )


def _without_first(call: CallValue) -> CallValue:
    return CallValue(call.node, call.module, call.func, call.args[1:], call.keywords, call.complete)


def _inside(node: ast.expr, outer: ast.expr) -> bool:
    return (
        (outer.lineno, outer.col_offset)
        <= (node.lineno, node.col_offset)
        <= (
            outer.end_lineno or outer.lineno,
            outer.end_col_offset or 0,
        )
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


__all__ = ["Registering", "made_by", "way_of"]
