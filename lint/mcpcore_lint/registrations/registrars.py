"""Functions of the project that register what they are given, or return decorators that do."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from mcpcore_lint.model import CallValue, Const, Items, Missing, Symbol, Unknown, Value
from mcpcore_lint.registrations.callers import method_called
from mcpcore_lint.registrations.deferred import keeps, kept_by_method, unpartial
from mcpcore_lint.registrations.frames import called_frame
from mcpcore_lint.registrations.handlers import parameter_behind, wrapped_parameter
from mcpcore_lint.registrations.servers import arguments_of
from mcpcore_lint.registrations.sites import Maker, Site
from mcpcore_lint.registrations.tables import ADDERS, HINTS
from mcpcore_lint.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.semantics.symbols import class_info
from mcpcore_lint.semantics.type_model import method_of
from mcpcore_lint.syntax.parse import children, own_nodes, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.registrations.registering import Registering
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope


class Registrar(NamedTuple):
    """A function of the project that registers what it is given, or returns a decorator that does."""

    parameter: str | None
    """What takes the handler; None where the function returns a decorator."""
    spread: bool
    """Whether the parameter takes several handlers."""
    maker: Maker
    function: ast.FunctionDef | ast.AsyncFunctionDef
    scope: Scope
    """That the arguments of `maker` are written in."""
    site: Site | None = None
    """What it registers, where that is no more than found by way of the parameter: a member of the module given."""
    inner: ast.Call | None = None
    """The call by which it hands the parameter on to another such function."""


class Wrapping:
    """Answers for one file."""

    def __init__(self, registering: Registering) -> None:
        self.registering = registering
        self.module = registering.module

    def _callee(
        self, func: ast.expr, scope: Scope
    ) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, Module, bool] | None:
        """The function of the project that is called, its file, and whether its first parameter is filled in."""
        value = evaluate(func, scope)
        if isinstance(value, Symbol):
            if isinstance(value.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
                owner = scope.module.project.module_defining(value.definition)
                return (value.definition, owner, False) if owner is not None else None
            return None
        if isinstance(func, ast.Attribute) and isinstance(value, Unknown) and names_something(func):
            found = method_called(func, scope)
            if found is not None:
                return found[0], found[1], True
        return None

    def by_registrar(self, node: ast.expr, scope: Scope) -> Maker | None:
        """What a decorator of the project makes: `@my_tool`, or `@my_tool(...)`."""
        call = node if isinstance(node, ast.Call) else None
        callee = self._callee(call.func if call is not None else node, scope)
        if callee is None:
            found = self._by_object(call, scope) if call is not None else None
            return found or self._kept(call, node, scope)
        function, owner, bound_first = callee
        for each in self.registrars(function, owner):
            if (each.parameter is None) == (call is not None) and not each.spread:
                return self._filled(each, call, scope, bound_first=bound_first)
        return self._keeper(function, owner, call, scope, bound_first=bound_first)

    def _kept(self, call: ast.Call | None, node: ast.expr, scope: Scope) -> Maker | None:
        """What a list as a decorator makes, or a decorator of the project with some arguments filled in."""
        if call is None:
            return kept_by_method(node, scope)
        symbol = unpartial(call.func, scope)
        if symbol is None or not isinstance(symbol.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        owner = scope.module.project.module_defining(symbol.definition)
        return self._keeper(symbol.definition, owner, call, scope, bound_first=False) if owner is not None else None

    def _keeper(
        self,
        function: ast.FunctionDef | ast.AsyncFunctionDef,
        owner: Module,
        call: ast.Call | None,
        scope: Scope,
        *,
        bound_first: bool,
    ) -> Maker | None:
        """What a decorator of the project makes that keeps functions to be registered later."""
        key = ("keeps", function, scope.module.name)
        if key not in owner.memo:
            owner.memo[key] = keeps(function, owner, scope.module)
        kept: tuple[str | None, Maker] | None = owner.memo[key]
        if kept is None or (kept[0] is None) != (call is not None):
            return None
        inside = owner.scope_of(function)
        registrar = Registrar(kept[0], spread=False, maker=kept[1], function=function, scope=inside)
        return self._filled(registrar, call, scope, bound_first=bound_first)

    def _by_object(self, call: ast.Call, scope: Scope) -> Maker | None:
        """What an object of a class of the project makes of the function that it decorates."""
        value = evaluate(call.func, scope)
        info = class_info(value) if isinstance(value, Symbol) else None
        method = method_of(info, "__call__") if info is not None else None
        if method is None:
            return None
        for each in self.registrars(method[0], method[1].module):
            if each.parameter is not None and not each.spread:
                # What the object keeps of its arguments is not followed, so that a name from them stays unknown.
                return self._filled(each, None, scope, bound_first=True)
        return None

    def through_registrar(self, node: ast.Call, scope: Scope) -> Iterator[Site]:
        """What a call registers by handing it to a function of the project: `register(mcp, fn)`."""
        callee = self._callee(node.func, scope)
        if callee is None:
            return
        function, owner, bound_first = callee
        adders = [(each, found) for each in _arguments(node) if (found := self._adder(each, scope)) is not None]
        registrars = [each for each in self.registrars(function, owner) if each.parameter is not None]
        if not registrars and not adders:
            return
        handed = arguments_of(function, node, bound_first=bound_first)
        for given, adder in adders:
            for parameter, value in handed.items():
                # Under its own name it is known for what it is where it is called.
                if value is given and parameter not in ADDERS:
                    yield from self.registering.through_adder(adder, parameter, function, node)
        vararg = function.args.vararg.arg if function.args.vararg is not None else None
        positional = len(function.args.posonlyargs) + len(function.args.args) - bound_first
        for each in registrars:
            if each.inner is not None:
                frame = called_frame(function, node, scope, bound_first=bound_first)
                for site in self.registering.sites(each.inner, frame) if frame is not None else ():
                    yield site._replace(registration=node)
                continue
            if each.site is not None:
                frame = called_frame(function, node, scope, bound_first=bound_first)
                if frame is not None:
                    server = self._filled(each, node, scope, bound_first=bound_first).server
                    maker = each.site.maker._replace(server=server)
                    yield Site(maker, each.site.target, frame, node, each.site.call)
                continue
            maker = self._filled(each, node, scope, bound_first=bound_first)
            if each.parameter == vararg:
                items = [(one, scope) for one in node.args[positional:]]
            elif each.parameter not in handed:
                continue
            elif each.spread:
                items = self.registering.targets.elements(handed[each.parameter or ""], scope)
            else:
                items = [(handed[each.parameter or ""], scope)]
            for item, where in items:
                yield Site(maker, item, where, node, node)

    def _adder(self, node: ast.expr, scope: Scope) -> Maker | None:
        """What `server.add_tool` makes that a function is handed, or a function of the project that calls it."""
        if isinstance(node, ast.Attribute) and node.attr in ADDERS:
            return self.registering.adder(node, scope)
        place = scope.lookup(node.id) if isinstance(node, ast.Name) else None
        if place is None or place[1][0].kind not in {"function", "import"}:
            return self.registering.adder(node, scope) if place is not None else None
        value = evaluate(node, scope)
        function = value.definition if isinstance(value, Symbol) else None
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        owner = scope.module.project.module_defining(function)
        first = [each.arg for each in (*function.args.posonlyargs, *function.args.args)][:1]
        for each in self.registrars(function, owner) if owner is not None else ():
            if [each.parameter] == first and not each.spread and each.maker.way in ADDERS.values():
                # It may leave some out, so that what is registered twice by it is not told.
                return Maker(each.maker.way, each.maker.flavour, None)
        return None

    def registrars(self, function: ast.FunctionDef | ast.AsyncFunctionDef, owner: Module) -> tuple[Registrar, ...]:
        """The ways in which a function of the project registers what it is given."""
        key = ("registrars", function)
        known: tuple[Registrar, ...] | None = owner.memo.get(key)
        if known is None:
            # A function that leads back to itself registers nothing more.
            owner.memo[key] = ()
            starts = owner.source.line_starts
            end = function.end_lineno or function.lineno
            text = owner.source.text[starts[function.lineno - 1] : starts[end] if end < len(starts) else None]
            known = ()
            if any(each in text for each in HINTS):
                there = self if owner is self.module else self.registering.of(owner).wrapping
                known = tuple(there._registrars(function))  # noqa: SLF001 - another of its kind
            owner.memo[key] = known
        return known

    def _registrars(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Registrar]:
        scope = self.module.scope_of(function)
        for each in own_nodes(function):
            if not isinstance(each, ast.Return) or each.value is None:
                continue
            value = each.value
            nested = scope.bindings.get(value.id) if isinstance(value, ast.Name) else None
            if nested and isinstance(nested[0].node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for one in self._takes(nested[0].node):
                    yield one._replace(parameter=None, function=function)
            elif not (isinstance(value, ast.Call) and isinstance(value.func, ast.Call)):
                maker = self.registering.maker(value, scope)
                if maker is not None:
                    yield Registrar(None, spread=False, maker=maker, function=function, scope=scope)
        yield from self._takes(function)

    def _takes(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Registrar]:
        """The parameters of a function that it registers, in itself or in the functions nested in it."""
        seen: set[tuple[str, int]] = set()
        stack: list[tuple[ast.AST, Scope]] = [
            (each, self.module.scope_of(function)) for each in reversed(function.body)
        ]
        while stack:
            node, scope = stack.pop()
            found: list[tuple[tuple[str, bool] | None, Maker]] = []
            inside = scope
            handed_on = self._handed_on(node, scope, function) if isinstance(node, ast.Call) else None
            if handed_on is not None:
                yield handed_on
            elif isinstance(node, ast.Call):
                for site in self.registering.sites(node, scope):
                    parameter = parameter_behind(site.target, site.scope, function)
                    led_by = self._led_by(site, function) if parameter is None or parameter[1] else None
                    if led_by is None:
                        found.append((parameter, site.maker))
                    else:
                        yield Registrar(led_by, False, site.maker, function, scope, site)  # noqa: FBT003 - a record
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                name = wrapped_parameter(node, self.module)
                if name is not None:
                    parameter = parameter_behind(ast.Name(name, ast.Load()), scope, function)
                    for each in node.decorator_list:
                        maker = self.registering.maker(each, scope)
                        if maker is not None:
                            found.append((parameter, maker))
                inside = self.module.scope_of(node)
            elif isinstance(node, ast.Lambda):
                self.module.note_lambda(node, scope)
                inside = self.module.scope_of(node)
            for parameter, maker in found:
                if parameter is not None and (parameter[0], id(maker.inner)) not in seen:
                    seen.add((parameter[0], id(maker.inner)))
                    spread = parameter[1]
                    yield Registrar(parameter[0], spread, maker, function, scope)
            skip = node.decorator_list if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else ()
            stack.extend((each, inside) for each in reversed(children(node)) if each not in skip)

    def _handed_on(
        self, node: ast.Call, scope: Scope, function: ast.FunctionDef | ast.AsyncFunctionDef
    ) -> Registrar | None:
        """What a function registers by handing a list that it is given to another function that registers it."""
        callee = self._callee(node.func, scope) if scope.node is function else None
        if callee is None:
            return None
        handed = arguments_of(callee[0], node, bound_first=callee[2])
        for each in self.registrars(callee[0], callee[1]):
            value = handed.get(each.parameter or "")
            while isinstance(value, (ast.ListComp, ast.GeneratorExp, ast.Call)):
                if isinstance(value, ast.Call):
                    symbol = evaluate(value.func, scope)
                    builtin = isinstance(symbol, Symbol) and symbol.name.startswith("builtins.")
                    value = value.args[-1] if builtin and value.args else None
                else:
                    value = value.generators[0].iter
            several = each.spread or each.site is not None or each.inner is not None
            if several and isinstance(value, ast.Name) and _parameter_of(value, scope, function):
                return each._replace(parameter=value.id, spread=False, function=function, scope=scope, inner=node)
        return None

    def _led_by(self, site: Site, function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
        """The parameter that decides what a function registers in its own body: a module, a list of modules."""
        if site.scope.node is not function or site.scope.module is not self.module:
            return None
        targets = self.registering.targets
        targets.steps = 0
        if targets.behind(site.target, site.scope):
            return None  # it registers the same, whatever it is given
        args = function.args
        positional = [*args.posonlyargs, *args.args]
        optional = {each.arg for each in positional[len(positional) - len(args.defaults) :]}
        optional |= {each.arg for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default}
        names = targets.items.loops.names(site.call, site.scope, site.target)
        for name, bindings in site.scope.bindings.items():
            required = name in names and name not in optional | {"self", "cls"}
            if required and len(bindings) == 1 and bindings[0].kind == "parameter":
                return name
        return None

    def _filled(self, registrar: Registrar, call: ast.Call | None, scope: Scope, *, bound_first: bool) -> Maker:
        """What a function of the project makes, with what it is called with in place of its parameters."""
        maker, function = registrar.maker, registrar.function
        handed = arguments_of(function, call, bound_first=bound_first) if call is not None else {}
        inner = maker.inner
        server = maker.server
        if inner is not None:
            base = inner.func.value if isinstance(inner.func, ast.Attribute) else None
            if isinstance(base, ast.Name) and base.id in handed:
                server = self.registering.servers.server(handed[base.id], scope)[1] or server
        if inner is None and maker.call is None:
            return maker._replace(server=server)
        whole = self.registering.arguments(call, scope) if call is not None else None
        fill = _Filling(registrar, handed, whole, scope, bound_first=bound_first)
        args, keywords, complete = fill.derived() if maker.derived else fill.written()
        func = maker.call.func if maker.call is not None else Symbol(None, None)
        node, module = (call, scope.module) if call is not None else (inner, registrar.scope.module)
        made = CallValue(node, module, func, tuple(args), tuple(keywords), complete)
        return maker._replace(call=made, inner=call, server=server, first=False, derived=True)


class _Filling:
    """Puts the arguments of a call in place of the parameters of the function called."""

    def __init__(
        self,
        registrar: Registrar,
        handed: dict[str, ast.expr],
        whole: CallValue | None,
        scope: Scope,
        *,
        bound_first: bool,
    ) -> None:
        self.registrar = registrar
        self.handed = handed
        self.whole = whole
        self.scope = scope
        self.args = registrar.function.args
        positional = [*self.args.posonlyargs, *self.args.args]
        self.before = len(positional) - bound_first
        """How many arguments stand before those of `*args`."""
        self.names = {each.arg for each in (*positional, *self.args.kwonlyargs)}
        self.defaults: dict[str, ast.expr] = {}
        if self.args.defaults:
            self.defaults = {
                arg.arg: each
                for arg, each in zip(positional[-len(self.args.defaults) :], self.args.defaults, strict=True)
            }
        for arg, default in zip(self.args.kwonlyargs, self.args.kw_defaults, strict=True):
            if default is not None:
                self.defaults[arg.arg] = default

    def value(self, node: ast.expr) -> Value | None:
        """What an argument is; None where it is left to the function's own name or docstring."""
        scope = self.registrar.scope
        if isinstance(node, ast.Name) and node.id in self.names and _parameter_of(node, scope, self.registrar.function):
            if node.id in self.handed:
                return evaluate(self.handed[node.id], self.scope)
            default = self.defaults.get(node.id)
            return evaluate(default, scope.module.scope) if default is not None else Unknown(node, scope.module)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            for each in node.values:
                value = self.value(each)
                if value is None or not (isinstance(value, Const) and not value.value):
                    return value
            return None
        if isinstance(node, ast.IfExp) and self._asks_for_parameter(node.test):
            for each in (node.body, node.orelse):
                value = self.value(each)
                if value is None or not (isinstance(value, Const) and not value.value):
                    return value
            return None
        if isinstance(node, ast.Attribute) and node.attr in {"__name__", "__doc__"}:
            return None
        rest = self._rest_of(node)
        if rest is not None:
            resolver = Resolver()
            with resolver.within(scope.module.scope_of(self.registrar.function), rest):
                return resolver.expression(node, scope)
        return evaluate(node, scope)

    def _asks_for_parameter(self, test: ast.expr) -> bool:
        """Whether a condition depends on what the function is given; on anything else it may be true or false."""
        return any(isinstance(each, ast.Name) and each.id in self.names for each in walk([test]))

    def _rest_of(self, node: ast.expr) -> dict[str, Value] | None:
        """What `*args` is by its name, where an argument is made of it: `[*errors]`, `list(errors)`."""
        vararg = self.args.vararg
        if vararg is None or self.whole is None or not isinstance(node, (ast.Name, ast.List, ast.Tuple, ast.Call)):
            return None
        if not any(isinstance(each, ast.Name) and each.id == vararg.arg for each in walk([node])):
            return None
        items = self.whole.args[self.before :]
        return {vararg.arg: Items(self.whole.node, self.whole.module, "tuple", items, self.whole.complete)}

    def written(self) -> tuple[list[Value], list[tuple[str, Value]], bool]:
        """The arguments of the registration, as the function writes them."""
        maker = self.registrar.maker
        args: list[Value] = []
        keywords: list[tuple[str, Value]] = []
        complete = True
        inner = maker.inner
        for each in inner.args[maker.first :] if inner is not None else ():
            if isinstance(each, ast.Starred):
                rest, known = self.rest(each.value)
                args.extend(rest)
                complete = complete and known
            else:
                args.append(self.value(each) or Missing(each, self.registrar.scope.module))
        for keyword in inner.keywords if inner is not None else ():
            if keyword.arg is None:
                more, known = self.more(keyword.value)
                keywords.extend(more)
                complete = complete and known
            elif keyword.arg not in maker.way.handler:
                value = self.value(keyword.value)
                if value is not None:
                    keywords.append((keyword.arg, value))
        return args, keywords, complete

    def derived(self) -> tuple[list[Value], list[tuple[str, Value]], bool]:
        """The same where the function calls another one of the project, which was looked into already."""
        maker = self.registrar.maker
        call = maker.call
        if call is None:
            return [], [], True
        args = [self._known(each) for each in call.args]
        keywords = [(name, self._known(each)) for name, each in call.keywords]
        complete = call.complete
        unpacked = [each.value for each in maker.inner.keywords if each.arg is None] if maker.inner is not None else []
        if unpacked:
            complete = True
            for each in unpacked:
                more, known = self.more(each)
                keywords.extend(more)
                complete = complete and known
        return args, keywords, complete

    def _known(self, value: Value) -> Value:
        if isinstance(value, Unknown) and isinstance(value.node, ast.expr):
            return self.value(value.node) or value
        return value

    def rest(self, node: ast.expr) -> tuple[list[Value], bool]:
        """What `*args` of the function holds."""
        if isinstance(node, ast.Name) and self.args.vararg is not None and node.id == self.args.vararg.arg:
            return ([], True) if self.whole is None else (list(self.whole.args[self.before :]), self.whole.complete)
        return [], False

    def more(self, node: ast.expr) -> tuple[list[tuple[str, Value]], bool]:
        """What `**options` of the function holds."""
        if isinstance(node, ast.Name) and self.args.kwarg is not None and node.id == self.args.kwarg.arg:
            if self.whole is None:
                return [], True
            return [each for each in self.whole.keywords if each[0] not in self.names], self.whole.complete
        return [], False


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(each.value for each in call.keywords)]


def _parameter_of(node: ast.Name, scope: Scope, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    found = scope.lookup(node.id)
    return found is not None and found[0].node is function and found[1][0].kind == "parameter"


def names_something(func: ast.expr) -> bool:
    """Whether a callee is called like something that registers."""
    name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    lower = name.lower()
    return any(each in lower for each in HINTS) or isinstance(func, ast.Name)
