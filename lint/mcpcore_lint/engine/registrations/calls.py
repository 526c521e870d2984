"""Which expressions register tools, resources and prompts: decorators and calls.

A function of the project that registers its arguments is read again for each call of it, with the arguments filled in.
A decorator is read as a call with the decorated function as its argument.
"""

import ast
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from mcpcore_lint.dataclasses import replace
from mcpcore_lint.engine.registrations.callers import collector_of, is_decorator, is_never_run, is_unused
from mcpcore_lint.engine.registrations.elements import guards_of, starts_with_loop
from mcpcore_lint.engine.registrations.environment import (
    DEEP,
    Frame,
    assignments_of,
    call_frame,
    callee_frame,
    functions_called,
    named_member,
    substitute,
    written_scope,
)
from mcpcore_lint.engine.registrations.functions import Functions, wrapped_parameter
from mcpcore_lint.engine.registrations.registration_forms import (
    ADDERS,
    DECORATORS,
    HINTS,
    LISTS,
    LOWLEVEL_DECORATOR,
    LOWLEVEL_KEYWORD,
    MADE,
    MAKERS,
    MIXED_IN,
    NEAR,
    SERVES_ALL,
    Form,
    Maker,
    Site,
    flavour_in,
)
from mcpcore_lint.engine.registrations.servers import Servers
from mcpcore_lint.engine.registrations.unresolved import is_handed_on
from mcpcore_lint.engine.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
from mcpcore_lint.engine.semantics.symbols import class_round
from mcpcore_lint.engine.semantics.type_model import name_of
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import FUNCTIONS, Function, all_parameters, alternatives, mentions, returned, walk
from mcpcore_lint.engine.syntax.scopes import Binding, Scope
from mcpcore_lint.model import CallValue, Const, Missing, Symbol, Text, Unknown, Value, options
from mcpcore_lint.names import FRAMEWORKS
from mcpcore_lint.patterns import regex
from mcpcore_lint.records import ToolFlavour

_SAME: Final = {"functools.partial": 0, "typing.cast": -1}
"""Functions whose result is what one of their arguments is: its position."""
_HANDLER: Final = "<handler>"
"""The name of a decorated function in the scope that its decorators are read in."""


class Calls:
    """Finds registrations."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.functions = Functions(self.registers, self.reads)
        self.servers = Servers(hierarchy, self.functions)
        self.followed: set[ast.expr] = set()
        """The decorators and methods of servers through which something is known to be registered."""
        self._depth = 0
        """How many functions of the project lead to the registration that is read."""

    # -- decorators --------------------------------------------------------------------------------------------------

    def decorations(self, node: Function, module: Module) -> tuple[Site, ...]:
        """The registrations that the decorators of a function make; kept for servers that list the function."""
        scope = module.scope_of(node)
        info = module.classes.get(scope.owner) if scope.owner is not None else None
        outside = info.body_scope if info is not None else scope.parent or module.scope
        return module.once(("decorations", node), lambda: tuple(self.decorating(node, outside)))

    def decorating(self, node: Function, outside: Scope) -> Iterator[Site]:
        """The registrations that the decorators of a function make, read again."""
        bindings = {_HANDLER: [Binding("function", node)]}
        scope = Scope(outside.module, outside.node, outside, outside.qualname, outside.owner, bindings)
        for decorator in node.decorator_list:
            self.functions.steps = 0
            handler = ast.copy_location(ast.Name(_HANDLER, ast.Load()), decorator)
            call = ast.copy_location(ast.Call(decorator, [handler], []), decorator)
            sites = [*self.sites(call, scope)]
            maker = self._collected(decorator, scope) if not sites and not isinstance(decorator, ast.Call) else None
            if maker is not None:
                sites.append(Site(maker, handler, scope, decorator, call))
            yield from (site._replace(registration=decorator) for site in sites)

    def _collected(self, decorator: ast.expr, scope: Scope) -> Maker | None:
        """The maker of a decorator of the project that collects functions to be registered later."""
        called = isinstance(decorator, ast.Call)
        call = decorator if isinstance(decorator, ast.Call) else ast.Call(decorator, [], [])
        inside = self._callee_frame(ast.copy_location(call, decorator), scope)
        if inside is None:
            return None
        function, frame = inside
        key = ("collector", function, scope.module.name)
        collector = frame.module.once(key, lambda: collector_of(function, frame.module, scope.module))
        return self.evaluated(collector[1], frame) if collector is not None and collector[0] is called else None

    def maker(self, node: ast.expr, scope: Scope, depth: int = 0) -> Maker | None:
        """The maker that a decorator is: `server.tool`, `tool`, one of them called, or an alias; None for others."""
        node = named_member(node)
        if isinstance(node, ast.IfExp):
            return self.maker(node.body, scope, depth) or self.maker(node.orelse, scope, depth)
        if isinstance(node, ast.Call):
            func = (
                evaluate(node.func, scope) if node.args and isinstance(node.func, (ast.Name, ast.Attribute)) else None
            )
            if isinstance(func, Symbol) and func.name in _SAME:
                return self.maker(node.args[_SAME[func.name]], scope, depth)
            maker = self.maker(node.func, scope, depth)
            if maker is None and getattr(node.func, "attr", "") == LOWLEVEL_DECORATOR and not node.args:
                # The decorator itself says that a server of unknown origin is a low-level one.
                flavour, key = self.servers.server(node.func.value, scope)  # type: ignore[attr-defined]
                maker = Maker(SERVES_ALL, "lowlevel", key) if flavour is not None else None
            uncalled = maker is not None and maker.inner is None
            return self.evaluated(maker._replace(inner=node), scope) if uncalled and maker is not None else None
        value = evaluate(node, scope)
        if isinstance(value, Symbol):
            form, flavour = form_of(value.name)
            return Maker(form, flavour, None) if form is not None else None
        if isinstance(node, ast.Attribute) and (node.attr in MAKERS or node.attr == LOWLEVEL_DECORATOR):
            server, key = self.servers.server(node.value, scope)
            if server == "lowlevel":
                return Maker(SERVES_ALL, server, key) if node.attr == LOWLEVEL_DECORATOR else None
            if server is not None and node.attr in MAKERS:
                self.followed.add(node)
                return Maker(MAKERS[node.attr], server, key)
        if depth >= DEEP or not isinstance(node, (ast.Name, ast.Attribute)) or self.functions.too_many_steps():
            return None
        sources = assignments_of(node, scope) or self.functions.elements.given(node, scope)
        makers = (self.maker(target, where, depth + 1) for target, where in sources)
        return next((maker for maker in makers if maker is not None), None)

    # -- arguments ---------------------------------------------------------------------------------------------------

    def evaluated(self, maker: Maker, scope: Scope) -> Maker:
        """A maker with the arguments of its call, read in a scope."""
        if maker.inner is None:
            return maker
        call = self.arguments(maker.inner, scope)
        made = evaluate(maker.inner.func, scope)
        while isinstance(made, CallValue) and made.func.name == "functools.partial":
            named = {name for name, _ in call.keywords}
            keywords = (*(argument for argument in made.keywords if argument[0] not in named), *call.keywords)
            call, made = replace(call, keywords=keywords, complete=call.complete and made.complete), made.at(0)
        return maker._replace(call=replace(call, args=call.args[maker.first :]))

    def arguments(self, node: ast.Call, scope: Scope) -> CallValue:
        """The arguments of a call."""
        args, keywords, complete = Resolver().arguments(node, scope)
        if not any(isinstance(argument, ast.Starred) for argument in node.args):
            args = [self._value(argument, value, scope) for argument, value in zip(node.args, args, strict=True)]
        named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
        keywords = [(key, self._value(named[key], value, scope) if key in named else value) for key, value in keywords]
        if isinstance(scope, Frame) and "errors" in named and _is_extended(named["errors"], scope):
            keywords = [
                (key, Unknown(named[key], scope.module) if key == "errors" else value) for key, value in keywords
            ]
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        func = Symbol(node.func, scope.module, name)
        return CallValue(node, scope.module, func, tuple(args), tuple(keywords), complete)

    def _value(self, node: ast.expr, value: Value, scope: Scope) -> Value:
        """A value with what the function that is registered says: `name or fn.__name__`."""
        if not any(isinstance(option, (Unknown, Text)) for option in options(value)):
            return value
        seen, where = substitute(node, scope)
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
        func = named_member(node.func)
        match node:
            case ast.Call(func=ast.Attribute(attr="add_request_handler"), args=[kind, *_, handler]):
                if getattr(kind, "value", "") == "tools/call":
                    yield Site(Maker(SERVES_ALL, "lowlevel", None), handler, scope, node, node)
                return
            case ast.Call(func=ast.Name(id="map"), args=[made, items]):
                # `map(mcp.tool(), functions)` calls it for each item.
                item = ast.copy_location(ast.Name("<item>", ast.Load()), items)
                call = ast.copy_location(ast.Call(made, [item], []), node)
                for placed in self.functions.elements.of(items, scope):
                    yield from self._nested(call, Frame(scope, {"<item>": placed}), node)
                return
        if isinstance(func, ast.Call):
            maker = self.maker(func, scope)
            if maker is None:
                sites = [*self._by_result(func, node, scope)]
                yield from sites
                maker = self._collected(func, scope) if not sites else None
            if maker is not None and node.args:
                yield Site(maker, node.args[0], scope, func, node)
            return
        value = evaluate(func, scope)
        for option in options(value):
            if isinstance(option, Symbol):
                form, flavour = made_by(option.name)
                if form is not None:
                    yield from self._site(Maker(form, flavour, None), node, scope)
                    return
                constructed = self.servers.flavour_of(option) if node.keywords else None
                if constructed is not None:
                    yield from self._constructed(constructed, node, scope)
                    return
        if isinstance(func, ast.Attribute) and func.attr == "__init__" and node.keywords:
            # `super().__init__(tools=[...])` in a class that is a server.
            info = class_round(scope)
            own = self.servers.flavour_of_class(info) if info is not None else None
            if own is not None:
                yield from self._constructed(own, node, scope)
            return
        maker = self.maker(func, scope) if _may_register(func) else None
        if maker is not None and maker.inner is None:
            yield from self._site(maker, node, scope)
            return
        if maker is not None and node.args:
            yield Site(maker, node.args[0], scope, node, node)
            return
        if node.args or node.keywords:
            yield from self._inside(node, scope)

    def _site(self, maker: Maker, node: ast.Call, scope: Scope) -> Iterator[Site]:
        """A call that takes the handler itself."""
        first = bool(node.args) and not maker.form.keyword_only and bool(maker.form.handler)
        keywords = (keyword.value for keyword in node.keywords if keyword.arg in maker.form.handler)
        target = node.args[0] if first else next(keywords, None)
        if maker.form is ADDERS["add_tool"]:
            # `add_tool(*args)` and `add_tool(**options)` register something that cannot be seen.
            unpacked = (keyword.value for keyword in node.keywords if keyword.arg is None)
            target = target.value if isinstance(target, ast.Starred) else target or next(unpacked, None)
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
        before, self.functions.backward = self.functions.backward, False
        registers = next(self.sites(node, scope), None) is not None
        self.functions.backward = before
        return registers

    def is_blind(self, func: ast.Attribute, scope: Scope) -> bool:
        """Whether `server.tool` or `server.add_tool` may register a tool of a server whose class is not known."""
        name = getattr(func.value, "id", "")
        elements, place = self.functions.elements, scope.lookup(name)
        if place is not None and place[1][0].kind == "parameter":
            passed = [frame.filled.get(name) for frame in elements.unread_callers(place[0])]
            home = written_scope(place[0])
            unread = isinstance(home.node, FUNCTIONS) and (is_unused(home) or is_handed_on(home))
            if not passed and unread and name not in {"self", "cls"}:
                # Code outside the project calls it, if any, or code that cannot be read.
                is_known = self.servers.has_known_class(func.value, scope) and not is_never_run(home)
                return not is_known and self.servers.may_be_server("", func.value)
            return any(placed is not None and self._is_unknown(*placed) for placed in passed)
        return self._is_unknown(func.value, scope) and next(functions_called(func, scope), None) is None

    def _is_unknown(self, node: ast.expr, scope: Scope) -> bool:
        """Whether an object may be a server, although its class is not known."""
        value = evaluate(node, scope)
        made = value.func if isinstance(value, CallValue) else value
        if isinstance(made, Symbol) and made.definition is None:
            package, _, name = made.name.partition(".")
            may_be = package not in FRAMEWORKS and (package != "builtins" or name in {"getattr", "next"})
            return bool(name) and may_be and self.servers.may_be_server(name, node)
        if not isinstance(made, (Symbol, Unknown)) or self.servers.has_known_class(node, scope):
            return False
        return self.servers.may_be_server("", node) and flavour_in(scope.module.source.text) is not None

    def unread(self, module: Module) -> Iterator[tuple[ast.Call, ast.expr]]:
        """The calls that get a method of a server, such as `server.add_tool`, and are not read."""
        for call, scope in module.calls_near(".tool", "add_tool"):
            package, _, name = name_of(call.func, scope).partition(".")
            asks = package in {"builtins", "inspect", "functools"} and name not in {"map", "getattr"}
            for argument in (*call.args, *(keyword.value for keyword in call.keywords)) if not asks else ():
                if isinstance(argument, ast.Attribute) and argument.attr in {"tool", "add_tool"}:
                    server = self.servers.server(argument.value, scope)[0] if argument not in self.followed else None
                    if server is not None and server != "lowlevel":
                        yield call, argument

    def reads(self, node: ast.Call, scope: Scope) -> bool:
        """Whether a call is read again inside the function that it runs."""
        before, self.functions.backward = self.functions.backward, False
        inside = self._callee_frame(node, scope) if is_likely(node, scope.module) else None
        reads = inside is not None and bool(self._registering(inside[0], inside[1].module))
        self.functions.backward = before
        return reads

    # -- functions of the project that register ----------------------------------------------------------------------

    @staticmethod
    def _callee_frame(node: ast.Call, scope: Scope) -> tuple[Function, Frame] | None:
        return callee_frame(node, scope) if _is_worth_finding(node.func, scope) else None

    def _by_result(self, func: ast.Call, node: ast.Call, scope: Scope) -> Iterator[Site]:
        """The registrations of `my_tool(...)(fn)`, where a function of the project returns the decorator."""
        inside = self._callee_frame(func, scope)
        if inside is None or not _speaks_of_tools(inside[0], inside[1].module):
            return
        arguments = {f"<{index}>": (argument, scope) for index, argument in enumerate(node.args)}
        names: list[ast.expr] = [ast.copy_location(ast.Name(name, ast.Load()), node) for name in arguments]
        function, frame = inside[0], Frame(inside[1], arguments)
        answers = returned(function)
        values = [part for node in answers for part in (alternatives(node) if isinstance(node, ast.IfExp) else [node])]
        calls = [(ast.copy_location(ast.Call(value, names, []), value), value, frame) for value in values]
        yield from self._branches(calls, function, frame, func)

    def _branches(
        self,
        calls: Sequence[tuple[ast.Call, ast.expr, Scope]],
        function: Function,
        frame: Frame,
        registration: ast.expr,
    ) -> list[Site]:
        """The registrations of the calls in a function that the arguments of the function reach."""
        reach = self.functions.elements.conditions.reach
        branches = [
            nested
            for call, place, where in calls
            if reach(guards_of(function, place, frame), where) is not False
            if (nested := [*self._nested(call, where, registration)])
        ]
        sites = [site for nested in branches for site in nested]
        maker = sites[0].maker if len(branches) > 1 else None
        targets = {_origin(site.target, site.scope) for site in sites}
        if maker is not None and maker.call is not None and maker.server is None and len(targets) == 1:
            # Which of several contracts the tool has is not known.
            unknown = replace(maker.call, args=(), keywords=(), complete=False)
            return [sites[0]._replace(maker=maker._replace(call=unknown))]
        return sites

    def _inside(self, node: ast.Call, scope: Scope) -> Iterator[Site]:
        """The registrations that a function of the project makes of its arguments: `register(mcp, fn)`."""
        inside, elements = self._callees(node, scope), self.functions.elements
        # In a loop, each round passes another function, or calls another.
        varies = any(self._handed(*callee) for callee in inside) if inside else _may_vary(node.func, scope)
        for around in elements.rounds(node, scope) if varies else ():
            for function, frame in inside if around is scope else self._callees(node, around) or inside:
                calls = [
                    (call, call.func, frame if where.node is function else Frame(where, frame.filled))
                    for call, where in self._handed(function, frame)
                ]
                yield from self._branches(calls, function, frame, node)

    def _callees(self, node: ast.Call, scope: Scope) -> list[tuple[Function, Frame]]:
        """The functions of the project that a call may run, also of a module that is imported by its name."""
        func = named_member(node.func)
        callees = [*functions_called(func, scope)] if _is_worth_finding(func, scope) else []
        if not callees and scope.module.source.has("import_"):
            placed = self.functions.elements.members.home(func, scope)
            callees = [called for value, where in placed for called in functions_called(value, where)]
        return [(called.function, call_frame(called, node, scope)) for called in callees]

    def _handed(self, function: Function, frame: Frame) -> list[tuple[ast.Call, Scope]]:
        """The calls in a function that register what its arguments decide, also with an argument: `add(fn)`."""
        makers = [
            name
            for name, (value, _) in frame.filled.items()
            if isinstance(value, ast.Attribute) and value.attr in MAKERS
        ]
        placed = [*self._registering(function, frame.module)]
        for call, scope in _calls_in(function, frame.module, *makers) if makers else ():
            func = call.func.func if isinstance(call.func, ast.Call) else call.func
            placed += [(call, scope)] if isinstance(func, ast.Name) and func.id in makers else []
        return placed

    def _nested(self, call: ast.Call, scope: Scope, registration: ast.expr) -> Iterator[Site]:
        """The registrations of a call inside a function, for the call of that function."""
        if self._depth < DEEP:
            self._depth += 1
            try:
                yield from (site._replace(registration=registration) for site in self.sites(call, scope))
            finally:
                self._depth -= 1

    def _registering(self, function: Function, module: Module) -> tuple[tuple[ast.Call, Scope], ...]:
        """The calls in a function that register what the arguments of the function decide."""
        # A function that leads back to itself registers nothing more.
        return module.once(("registering", function), lambda: self._read_registering(function, module), ())

    def _read_registering(self, function: Function, module: Module) -> tuple[tuple[ast.Call, Scope], ...]:
        if not _speaks_of_tools(function, module):
            return ()
        depth, self._depth = self._depth, 0
        registering = tuple(placed for placed in _calls_in(function, module) if self._depends_on_arguments(*placed))
        self._depth = depth
        return registering

    def _depends_on_arguments(self, call: ast.Call, scope: Scope) -> bool:
        """Whether the arguments of a function decide what a call in it registers, or on which server."""
        sites = [*self.sites(call, scope)]
        if sites:
            return not all(self._resolves(site) for site in sites)
        func = call.func.func if isinstance(call.func, ast.Call) else call.func
        if isinstance(func, ast.Attribute) and func.attr in MAKERS:
            place = scope.lookup(func.value.id) if isinstance(func.value, ast.Name) else None
            return place is not None and place[1][0].kind == "parameter"
        inside = self._callee_frame(call, scope)
        return inside is not None and bool(self._registering(inside[0], inside[1].module))

    def _resolves(self, site: Site) -> bool:
        rounds = self.functions.elements.rounds(site.call, site.scope, site.target)
        self.functions.hidden.clear()
        return any(self.functions.behind(site.target, scope) for scope in rounds) and not self.functions.hidden


def _speaks_of_tools(function: Function, module: Module) -> bool:
    text = _text_of(function, module)
    return any(hint in text for hint in (*HINTS, *_handing_on(function, text)))


def _text_of(function: Function, module: Module) -> str:
    starts, end = module.source.line_starts, function.end_lineno or function.lineno
    return module.source.text[starts[function.lineno - 1] : starts[end] if end < len(starts) else None]


def _handing_on(function: Function, text: str) -> list[str]:
    """Texts of calls in a function, whose text is given, that pass on one of its parameters."""
    names = {parameter.arg for parameter in all_parameters(function.args)} - {"self", "cls"}
    return [word for name in sorted(names) for word in (f"({name},", f"({name})") if word in text]


def _calls_in(function: Function, module: Module, *names: str) -> Iterator[tuple[ast.Call, Scope]]:
    """The calls in a function that may register something, also those that decorators in it make."""
    first, last = function.lineno, function.end_lineno or function.lineno
    words = [f"{name}(" for name in names] or [*HINTS, *_handing_on(function, _text_of(function, module))]
    yield from module.calls_near(*words, inside=function)
    for inner, scope in list(module.functions.items()):
        if not isinstance(inner, ast.Lambda) and first < inner.lineno <= last and scope.parent is not None:
            for decorator in inner.decorator_list:
                handler = wrapped_parameter(inner, module) or ast.Name(inner.name, ast.Load())
                call = ast.Call(decorator, [ast.copy_location(handler, decorator)], [])
                yield ast.copy_location(call, decorator), scope.parent


def _origin(node: ast.expr, scope: Scope) -> ast.expr:
    """The expression from which an argument comes, through the functions that pass it on."""
    for _ in range(DEEP):
        node, scope = substitute(node, scope)
    return node


def _is_extended(node: ast.expr, scope: Frame) -> bool:
    """Whether the value of an argument has more in it than the function got: `errors = [*errors, BUSY]`."""
    names = [part.id for part in walk([node]) if isinstance(part, ast.Name) and part.id in scope.filled]
    places = [(name, written_scope(scope).lookup(name)) for name in names]
    return any(
        binding.value is not None
        and type(binding.value) not in {ast.BoolOp, ast.IfExp}
        and mentions(binding.value, name)
        for name, place in places
        for binding in (place[1] if place is not None else ())
    )


def form_of(name: str) -> tuple[Form | None, ToolFlavour]:
    """The form and the flavour of a decorator that is a function of mcpcore or FastMCP."""
    package, _, rest = name.partition(".")
    if package == "mcpcore":
        form = DECORATORS.get(rest)
        return (form._replace(name=None, handler=("fn",)) if form is not None else None), "mcpcore"
    if package == "fastmcp":
        last = name.rpartition(".")[2]
        return DECORATORS.get(last) or MIXED_IN.get(last), "fastmcp"
    return None, "sdk"


def made_by(name: str) -> tuple[Form | None, ToolFlavour]:
    """The form and the flavour of a constructor that makes a tool of a function, to be added to a server later."""
    package, _, rest = name.partition(".")
    if package not in {"mcp", "fastmcp"}:
        return None, "sdk"
    owner, _, last = rest.rpartition(".")
    form = MADE.get(last) or MADE.get(f"{owner.rpartition('.')[2].removeprefix('Function')}.{last}")
    return form, "fastmcp" if package == "fastmcp" else "sdk"


def _inside(node: ast.expr, outer: ast.expr) -> bool:
    start, end = (outer.lineno, outer.col_offset), (outer.end_lineno or outer.lineno, outer.end_col_offset or 0)
    return start <= (node.lineno, node.col_offset) <= end


def _may_vary(func: ast.expr, scope: Scope) -> bool:
    """Whether a loop may decide which function is called, also by the name of its module."""
    imports = scope.module.source.has("import_") and not isinstance(evaluate(func, scope), Symbol)
    return imports or starts_with_loop(func, scope)


def _is_worth_finding(func: ast.expr, scope: Scope) -> bool:
    # Finding the class of an object costs more than reading a name.
    is_method = isinstance(func, ast.Attribute) and not isinstance(evaluate(func, scope), Symbol)
    return not is_method or _may_register(func)


def _may_register(func: ast.expr) -> bool:
    """Whether the name of a function suggests that it registers something."""
    name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    return isinstance(func, ast.Name) or any(hint in name.lower() for hint in HINTS)


# -- the calls of a file that may register something -------------------------------------------------------------------

_ALIAS: Final = regex(r"(\w+)\s*=\s*[\w.]+\.(?:add_)?tool\b(?!\()")
"""A name that is given to a method of a server."""
_HINTED: Final = frozenset(word for word in NEAR if any(hint in word for hint in HINTS))


def is_likely(call: ast.Call, module: Module) -> bool:
    """Whether a call is read as a registration, as each decorator is."""
    likely = module.once("likely calls", lambda: {node for node, _ in likely_calls(module)})
    return call in likely or is_decorator(call)


def likely_calls(module: Module) -> list[tuple[ast.Call, Scope]]:
    """The calls that may register something: by their words, or by a name that such a line binds."""
    text = module.source.text
    hinted = {line for hint in (*HINTS, "MCP(") for line in module.lines_with(hint)}
    lines = [*map(module.source.line, sorted(hinted))]
    # Most words contain a hint, and the lines with hints are a small part of the file.
    near_hints = "\n".join(lines)
    words = [word for word in NEAR if word in (near_hints if word in _HINTED else text)]
    aliases = (_ALIAS.search(line) for line in lines if ".tool" in line or ".add_tool" in line)
    words += [f"{alias[1]}(" for alias in aliases if alias is not None]
    for local, bindings in module.scope.bindings.items():
        if bindings[0].kind == "import" and bindings[0].target == ("mcpcore", local, 0):
            continue  # mcpcore's own names are among the words
        # A long line may bind a name many times.
        numbers = {getattr(binding.node, "lineno", 1) for binding in bindings}
        if not numbers.isdisjoint(hinted):
            # A server may be called, or handed to a function of any name: `setup(mcp)`.
            words += [word for word in (f"{local}(", f"({local})", f"({local},") if word in text]
    # A function of any name may register what it is given, unless it calls itself.
    near = sorted({line for word in words for line in module.lines_with(word)})
    for function in list(module.functions) if near else ():
        first, last = function.lineno, function.end_lineno or function.lineno
        after = bisect_left(near, first)
        if isinstance(function, ast.Lambda) or function.name.startswith("__") or near[after : after + 1] > [last]:
            continue
        calls = module.lines_with(f"{function.name}(") if near[after:] else ()
        words += [f"{function.name}("] if calls and not any(first < line <= last for line in calls) else []
    return module.calls_near(*dict.fromkeys(words)) if words else []
