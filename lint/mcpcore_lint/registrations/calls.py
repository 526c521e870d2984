"""Which expressions register tools, resources and prompts: decorators and calls."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.dataclasses import replace
from mcpcore_lint.model import CallValue, Const, Missing, Symbol, Text, Unknown, Value, options
from mcpcore_lint.registrations.environment import DEEP, Frame, bound, see
from mcpcore_lint.registrations.functions import Functions
from mcpcore_lint.registrations.registrars import Registrars, frame_of, may_register
from mcpcore_lint.registrations.servers import Servers
from mcpcore_lint.registrations.ways import (
    ADDERS,
    DECORATORS,
    FROM_TOOL,
    LISTS,
    LOWLEVEL_DECORATOR,
    LOWLEVEL_KEYWORD,
    MADE,
    MIXED_IN,
    SERVES_ALL,
    Maker,
    Site,
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


class Calls:
    """Finds the registrations of one file."""

    def __init__(self, module: Module, hierarchy: Hierarchy) -> None:
        self.module = module
        self.hierarchy = hierarchy
        self.servers = Servers(module, hierarchy)
        self.functions = Functions(self.registers)
        self.registrars = Registrars(self)

    def of(self, module: Module) -> Calls:
        """The same for another file."""
        return self if module is self.module else Calls(module, self.hierarchy)

    # -- decorators --------------------------------------------------------------------------------------------------

    def maker(self, node: ast.expr, scope: Scope, depth: int = 0) -> Maker | None:
        """The maker that a decorator is; None if it registers nothing."""
        if isinstance(node, ast.Call):
            maker = self._method(node.func, scope, depth)
            if maker is not None:
                return self.evaluated(maker._replace(inner=node), scope)
        else:
            maker = self._method(node, scope, depth)
            if maker is not None:
                return maker
            if isinstance(node, (ast.Name, ast.Attribute)) and depth < DEEP and not self.functions.too_many_steps():
                # A name that is bound to `mcp.tool(...)`.
                for value, where in bound(node, scope):
                    maker = self.maker(value, where, depth + 1) if isinstance(value, ast.Call) else None
                    if maker is not None:
                        return maker
        return self.registrars.decorator(node, scope) if depth < DEEP else None

    def _method(self, func: ast.expr, scope: Scope, depth: int = 0) -> Maker | None:
        """The maker of `server.tool`, of `tool`, of an alias of them or of `partial(...)` of them."""
        value = evaluate(func, scope)
        if isinstance(value, Symbol):
            way, flavour = way_of(value.name)
            return Maker(way, flavour, None) if way is not None else None
        if isinstance(func, ast.Attribute):
            maker = self._server_method(func, scope)
            if maker is not None:
                return maker
        if depth >= DEEP or not isinstance(func, (ast.Name, ast.Attribute)) or self.functions.too_many_steps():
            return None
        for target, where in bound(func, scope):
            maker = None
            if isinstance(target, (ast.Attribute, ast.Name)):
                maker = self._method(target, where, depth + 1)
            elif isinstance(target, ast.Call) and target.args and not isinstance(target.args[0], ast.Constant):
                callee = evaluate(target.func, where)
                if isinstance(callee, Symbol) and callee.name == "functools.partial":
                    maker = self._method(target.args[0], where, depth + 1)
                    maker = maker and maker._replace(preset=self.arguments(target, where).keywords)
            if maker is not None:
                return maker
        return None

    def _server_method(self, func: ast.Attribute, scope: Scope) -> Maker | None:
        name = func.attr
        if name not in DECORATORS and name != LOWLEVEL_DECORATOR:
            return None
        flavour, server = self.servers.server(func.value, scope)
        if flavour == "lowlevel":
            return Maker(SERVES_ALL, flavour, server) if name == LOWLEVEL_DECORATOR else None
        return Maker(DECORATORS[name], flavour, server) if flavour is not None and name in DECORATORS else None

    # -- arguments ---------------------------------------------------------------------------------------------------

    def evaluated(self, maker: Maker, scope: Scope) -> Maker:
        """A maker with the arguments of its call, read in a scope."""
        inner = maker.inner
        if inner is None:
            return maker
        frame = frame_of(maker, scope)
        call = self.arguments(inner, frame)
        names = {name for name, _ in call.keywords}
        preset = tuple((name, value) for name, value in maker.preset if name not in names)
        server = maker.server
        if maker.through and isinstance(inner.func, ast.Attribute):
            server = self.servers.server(inner.func.value, frame)[1] or server
        node, module = (maker.through[0].call, scope.module) if maker.through else (inner, frame.module)
        keywords = call.keywords
        if maker.through:  # the handler is a parameter there
            keywords = tuple((name, value) for name, value in keywords if name not in maker.way.handler)
        call = replace(call, node=node, module=module, args=call.args[maker.first :], keywords=(*preset, *keywords))
        return maker._replace(call=call, server=server)

    def arguments(self, node: ast.Call, scope: Scope) -> CallValue:
        """The arguments of a call."""
        args, keywords, complete = Resolver().arguments(node, scope)
        if not any(isinstance(argument, ast.Starred) for argument in node.args):
            args = [self._value(argument, value, scope) for argument, value in zip(node.args, args, strict=True)]
        named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
        keywords = [(key, self._value(named[key], value, scope) if key in named else value) for key, value in keywords]
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        func = Symbol(node.func, scope.module, name)
        return CallValue(node, scope.module, func, tuple(args), tuple(keywords), complete)

    def _value(self, node: ast.expr, value: Value, scope: Scope) -> Value:
        """A value with what the function that is registered says: `name or fn.__name__`."""
        if not any(isinstance(option, (Unknown, Text)) for option in options(value)):
            return value
        seen, where = see(node, scope, scope.filled if isinstance(scope, Frame) else {})
        for alternative in seen.values if isinstance(seen, ast.BoolOp) and isinstance(seen.op, ast.Or) else ():
            value = self._value(alternative, evaluate(alternative, where), where)
            if not (isinstance(value, Const) and not value.value):
                return value
        if isinstance(seen, ast.Attribute) and seen.attr in {"__doc__", "__name__"}:
            functions = self.functions.behind(seen.value, where)
            if len(functions) != 1:
                return Missing(seen, where.module) if isinstance(scope, Frame) else value
            function = functions[0]
            if seen.attr == "__name__":
                return function.name
            doc = None if isinstance(function.node, ast.Lambda) else ast.get_docstring(function.node)
            return Const(function.node, function.module, doc)
        if isinstance(seen, ast.JoinedStr):
            text = self.functions.elements.members.text(seen, where)
            return value if text is None else Const(node, scope.module, text)
        return evaluate(seen, where) if seen is not node else value

    # -- calls -------------------------------------------------------------------------------------------------------

    def sites(self, node: ast.Call, scope: Scope) -> Iterator[Site]:
        """The registrations of a call: `add_tool(fn)`, `tool(errors=...)(fn)`, `mcp.tool(fn)`, `Server(tools=[fn])`."""
        func = node.func
        if isinstance(func, ast.Call):
            maker = self.maker(func, scope)
            if maker is not None and node.args:
                yield Site(maker, node.args[0], scope, func, node)
            return
        value = evaluate(func, scope)
        for option in options(value):
            if isinstance(option, Symbol):
                way, flavour = made_by(option.name)
                if way is not None:
                    yield from self._site(Maker(way, flavour, None), node, scope)
                    return
                constructed = self.servers.flavour_of(option) if node.keywords else None
                if constructed is not None:
                    yield from self._constructed(constructed, node, scope)
                    return
        if isinstance(func, ast.Attribute) and func.attr in ADDERS:
            owner, key = self.servers.server(func.value, scope)
            if owner is not None and owner != "lowlevel":
                yield from self._site(Maker(ADDERS[func.attr], owner, key), node, scope)
                return
        if isinstance(func, ast.Attribute) and func.attr == "__init__" and node.keywords:
            # `super().__init__(tools=[...])` in a class that is a server.
            info = class_round(scope)
            own = self.servers.flavour_of_class(info) if info is not None else None
            if own is not None:
                yield from self._constructed(own, node, scope)
            return
        if may_register(func):
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
            yield from self.registrars.sites(node, scope)

    def _site(self, maker: Maker, node: ast.Call, scope: Scope) -> Iterator[Site]:
        """A call that takes the handler itself."""
        first = bool(node.args) and not maker.way.keyword_only and bool(maker.way.handler)
        keywords = (keyword.value for keyword in node.keywords if keyword.arg in maker.way.handler)
        target = node.args[0] if first else next(keywords, None)
        if maker.way is FROM_TOOL:
            # A tool by another name has the function of the first one, unless `transform_fn` replaces it.
            target = next((keyword.value for keyword in node.keywords if keyword.arg == "transform_fn"), None)
            unknown = Unknown(node, scope.module, "it has the name of the tool that it is made of")
            maker = maker._replace(preset=(("name", unknown),))
        if target is not None and not isinstance(target, (ast.Starred, ast.Constant)):
            yield Site(self.evaluated(maker._replace(inner=node, first=first), scope), target, scope, node, node)

    def _constructed(self, flavour: ToolFlavour, node: ast.Call, scope: Scope) -> Iterator[Site]:
        """The handlers in the arguments of a server's constructor."""
        key = f"{scope.module.path}:{node.lineno}:{node.col_offset}"
        for keyword in node.keywords:
            name = keyword.arg
            if flavour == "lowlevel" and name == LOWLEVEL_KEYWORD:
                yield Site(Maker(SERVES_ALL, flavour, None), keyword.value, scope, node, node)
            elif flavour != "lowlevel" and name in LISTS:
                for element, where in self.functions.elements.of(keyword.value, scope):
                    here = where.module is scope.module and not isinstance(element, ast.Starred)
                    at = element if here and _inside(element, keyword.value) else node
                    yield Site(Maker(LISTS[name], flavour, key), element, where, at, node)

    def registers(self, node: ast.Call, scope: Scope) -> bool:
        """Whether a call registers something itself, so that its result is registered already."""
        func = node.func
        if isinstance(func, ast.Call):
            return self.maker(func, scope) is not None
        names = [option.name for option in options(evaluate(func, scope)) if isinstance(option, Symbol)]
        if any((made_by(name)[0] or way_of(name)[0]) is not None for name in names):
            return True
        if isinstance(func, ast.Attribute) and (func.attr in ADDERS or func.attr in DECORATORS):
            return self.servers.server(func.value, scope)[0] is not None
        return False


def way_of(name: str) -> tuple[Way | None, ToolFlavour]:
    """The way and the flavour of a decorator that is a function of mcpcore or FastMCP."""
    package, _, rest = name.partition(".")
    if package == "mcpcore":
        way = DECORATORS.get(rest)
        return (way._replace(name=None, handler=("fn",)) if way is not None else None), "mcpcore"
    if package == "fastmcp":
        last = name.rpartition(".")[2]
        return DECORATORS.get(last) or MIXED_IN.get(last), "fastmcp"
    return None, "sdk"


def made_by(name: str) -> tuple[Way | None, ToolFlavour]:
    """The way and the flavour of a constructor that makes a tool of a function, to be added to a server later."""
    package, _, rest = name.partition(".")
    if package not in {"mcp", "fastmcp"}:
        return None, "sdk"
    parts = rest.split(".")
    way = MADE.get(".".join(parts[-2:])) or MADE.get(parts[-1])
    return way, "fastmcp" if package == "fastmcp" else "sdk"


def _inside(node: ast.expr, outer: ast.expr) -> bool:
    start, end = (outer.lineno, outer.col_offset), (outer.end_lineno or outer.lineno, outer.end_col_offset or 0)
    return start <= (node.lineno, node.col_offset) <= end


__all__ = ["Calls"]
