"""Functions of the project that register their arguments, and functions that return decorators which register.

The arguments of the registration inside such a function are evaluated in the frame of each call of it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from mcpcore_lint.model import Symbol, Unknown
from mcpcore_lint.registrations.callers import arguments_of, method_called
from mcpcore_lint.registrations.collecting import collector_of
from mcpcore_lint.registrations.environment import Frame, called_frame
from mcpcore_lint.registrations.functions import parameter_behind, wrapped_parameter
from mcpcore_lint.registrations.ways import HINTS, Maker, Site, Through
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.syntax.parse import children, own_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.registrations.calls import Calls
    from mcpcore_lint.registrations.environment import Function
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope


class Registrar(NamedTuple):
    """A parameter of a function of the project, or the decorator that it returns, that registers a handler."""

    parameter: str | None
    """The parameter that takes the handler; None if the function returns a decorator."""
    spread: bool
    """Whether the parameter takes several handlers."""
    maker: Maker
    function: Function
    site: Site | None = None
    """The registration itself, if the parameter only leads to the handlers: a module whose members are registered."""
    inner: ast.Call | None = None
    """The call by which the function passes the parameter on to another registrar."""


class Registrars:
    """Finds them, for one file."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.module = calls.module

    def _callee(self, func: ast.expr, scope: Scope) -> tuple[Function, Module, bool] | None:
        """The function of the project that is called, its file, and whether its first parameter is bound already."""
        value = evaluate(func, scope)
        if isinstance(value, Symbol):
            if isinstance(value.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
                owner = scope.module.project.module_defining(value.definition)
                return (value.definition, owner, False) if owner is not None else None
            return None
        if isinstance(func, ast.Attribute) and isinstance(value, Unknown) and may_register(func):
            method = method_called(func, scope)
            if method is not None:
                return method[0], method[1], True
        return None

    # -- decorators --------------------------------------------------------------------------------------------------

    def decorator(self, node: ast.expr, scope: Scope) -> Maker | None:
        """The maker of a decorator of the project: `@my_tool`, or `@my_tool(...)`."""
        call = node if isinstance(node, ast.Call) else None
        callee = self._callee(call.func if call is not None else node, scope)
        if callee is None:
            return None
        function, owner, bound_first = callee
        for registrar in self.registrars(function, owner):
            if (registrar.parameter is None) == (call is not None) and not registrar.spread:
                return self._filled(registrar, call, scope, bound_first=bound_first)
        return self._collector(function, owner, call, scope, bound_first=bound_first)

    def _collector(
        self, function: Function, owner: Module, call: ast.Call | None, scope: Scope, *, bound_first: bool
    ) -> Maker | None:
        """The maker of a decorator that collects functions to be registered later."""
        key = ("collector", function, scope.module.name)
        if key not in owner.memo:
            owner.memo[key] = collector_of(function, owner, scope.module)
        collector: tuple[str | None, Maker] | None = owner.memo[key]
        if collector is None or (collector[0] is None) != (call is not None):
            return None
        registrar = Registrar(collector[0], spread=False, maker=collector[1], function=function)
        return self._filled(registrar, call, scope, bound_first=bound_first)

    # -- calls -------------------------------------------------------------------------------------------------------

    def sites(self, node: ast.Call, scope: Scope) -> Iterator[Site]:
        """The registrations that a call of a function of the project makes: `register(mcp, fn)`."""
        callee = self._callee(node.func, scope)
        if callee is None:
            return
        function, owner, bound_first = callee
        registrars = [each for each in self.registrars(function, owner) if each.parameter is not None]
        if not registrars:
            return
        arguments = arguments_of(function, node, bound_first=bound_first)
        vararg = function.args.vararg.arg if function.args.vararg is not None else None
        positional = len(function.args.posonlyargs) + len(function.args.args) - bound_first
        frame = called_frame(function, node, scope, bound_first=bound_first)
        for registrar in registrars:
            argument = arguments.get(registrar.parameter or "")
            if registrar.inner is not None and frame is not None:
                for site in self.calls.sites(registrar.inner, frame):
                    yield site._replace(registration=node)
                continue
            maker = self._filled(registrar, node, scope, bound_first=bound_first)
            if registrar.site is not None:
                if frame is not None:
                    within = registrar.site.maker._replace(server=maker.server)
                    yield Site(within, registrar.site.target, frame, node, registrar.site.call)
            elif registrar.parameter == vararg:
                yield from (Site(maker, item, scope, node, node) for item in node.args[positional:])
            elif argument is not None:
                items = self.calls.functions.elements.of(argument, scope) if registrar.spread else [(argument, scope)]
                yield from (Site(maker, item, where, node, node) for item, where in items)

    # -- finding registrars ------------------------------------------------------------------------------------------

    def registrars(self, function: Function, owner: Module) -> tuple[Registrar, ...]:
        """The ways in which a function of the project registers its arguments."""
        key = ("registrars", function)
        known: tuple[Registrar, ...] | None = owner.memo.get(key)
        if known is None:
            # A function that leads back to itself registers nothing more.
            owner.memo[key] = ()
            starts = owner.source.line_starts
            end = function.end_lineno or function.lineno
            text = owner.source.text[starts[function.lineno - 1] : starts[end] if end < len(starts) else None]
            known = ()
            if any(hint in text for hint in HINTS):
                there = self if owner is self.module else self.calls.of(owner).registrars
                known = tuple(there._find(function))  # noqa: SLF001 - another of its kind
            owner.memo[key] = known
        return known

    def _find(self, function: Function) -> Iterator[Registrar]:
        scope = self.module.scope_of(function)
        for node in own_nodes(function):
            value = node.value if isinstance(node, ast.Return) else None
            if value is None:
                continue
            nested = scope.bindings.get(value.id) if isinstance(value, ast.Name) else None
            if nested and isinstance(nested[0].node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for registrar in self._parameters(nested[0].node):
                    yield registrar._replace(parameter=None, function=function)
            elif not (isinstance(value, ast.Call) and isinstance(value.func, ast.Call)):
                maker = self.calls.maker(value, scope)
                if maker is not None:
                    yield Registrar(None, spread=False, maker=maker._replace(scope=scope), function=function)
        yield from self._parameters(function)

    def _parameters(self, function: Function) -> Iterator[Registrar]:
        """The parameters that a function registers, itself or in the functions nested in it."""
        seen: set[tuple[str, int]] = set()
        stack: list[tuple[ast.AST, Scope]] = [
            (node, self.module.scope_of(function)) for node in reversed(function.body)
        ]
        while stack:
            node, scope = stack.pop()
            makers: list[tuple[tuple[str, bool] | None, Maker]] = []
            inside = scope
            decorators: list[ast.expr] = []
            if isinstance(node, ast.Call):
                passed_on = self._passed_on(node, scope, function)
                if passed_on is not None:
                    yield passed_on
                for site in self.calls.sites(node, scope) if passed_on is None else ():
                    parameter = parameter_behind(site.target, site.scope, function)
                    leading = self._leading(site, function) if parameter is None or parameter[1] else None
                    if leading is None:
                        makers.append((parameter, site.maker))
                    else:
                        yield Registrar(leading, spread=False, maker=site.maker, function=function, site=site)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                decorators = node.decorator_list
                name = wrapped_parameter(node, self.module)
                if name is not None:
                    parameter = parameter_behind(ast.Name(name, ast.Load()), scope, function)
                    found = (self.calls.maker(decorator, scope) for decorator in decorators)
                    makers += [(parameter, maker) for maker in found if maker is not None]
                inside = self.module.scope_of(node)
            elif isinstance(node, ast.Lambda):
                self.module.note_lambda(node, scope)
                inside = self.module.scope_of(node)
            for parameter, maker in makers:
                if parameter is not None and (parameter[0], id(maker.inner)) not in seen:
                    seen.add((parameter[0], id(maker.inner)))
                    yield Registrar(parameter[0], parameter[1], maker._replace(scope=maker.scope or scope), function)
            stack.extend((child, inside) for child in reversed(children(node)) if child not in decorators)

    def _passed_on(self, node: ast.Call, scope: Scope, function: Function) -> Registrar | None:
        """The registrar of a function that passes a list, which is its parameter, on to another registrar."""
        callee = self._callee(node.func, scope) if scope.node is function else None
        if callee is None:
            return None
        arguments = arguments_of(callee[0], node, bound_first=callee[2])
        for registrar in self.registrars(callee[0], callee[1]):
            value = arguments.get(registrar.parameter or "")
            several = registrar.spread or registrar.site is not None or registrar.inner is not None
            place = scope.lookup(value.id) if several and isinstance(value, ast.Name) else None
            if place is not None and place[0].node is function and place[1][0].kind == "parameter":
                assert isinstance(value, ast.Name)
                return Registrar(value.id, spread=False, maker=registrar.maker, function=function, inner=node)
        return None

    def _leading(self, site: Site, function: Function) -> str | None:
        """The parameter that decides what a function registers in its own body: a module, a list of modules."""
        functions = self.calls.functions
        functions.steps = 0
        if site.scope.node is not function or site.scope.module is not self.module:
            return None
        if functions.behind(site.target, site.scope):
            return None  # it registers the same function for all arguments
        args = function.args
        positional = [*args.posonlyargs, *args.args]
        optional = {each.arg for each in positional[len(positional) - len(args.defaults) :]}
        optional |= {each.arg for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default}
        names = functions.elements.names(site.call, site.scope, site.target) - optional - {"self", "cls"}
        for name, bindings in site.scope.bindings.items():
            if name in names and len(bindings) == 1 and bindings[0].kind == "parameter":
                return name
        return None

    def _filled(self, registrar: Registrar, call: ast.Call | None, scope: Scope, *, bound_first: bool) -> Maker:
        """The maker of a registrar with the arguments of a call in place of the parameters."""
        maker, function = registrar.maker, registrar.function
        if maker.inner is None and maker.call is None:
            return maker
        if call is None:
            call = ast.copy_location(ast.Call(ast.Name(function.name, ast.Load()), [], []), function)
        step = Through(function, call, bound_first)
        return self.calls.evaluated(maker._replace(through=(step, *maker.through)), scope)


def frame_of(maker: Maker, scope: Scope) -> Scope:
    """The scope of the registration inside the registrars that a maker goes through."""
    for step in maker.through:
        frame = called_frame(step.function, step.call, scope, bound_first=step.bound_first, optional=True)
        scope = frame if frame is not None else scope
    if isinstance(scope, Frame) and maker.through and maker.scope is not None:
        # The registration may be in a function nested in the last registrar.
        return Frame(scope, {}) if maker.scope.node is scope.node else Frame(maker.scope, scope.filled)
    return scope


def may_register(func: ast.expr) -> bool:
    """Whether the name of a function suggests that it registers something."""
    name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    return isinstance(func, ast.Name) or any(hint in name.lower() for hint in HINTS)


__all__ = ["Registrars", "frame_of", "may_register"]
