"""Builds the model of one file: its tools, resources and prompts in source order."""

import ast
from collections.abc import Iterator
from typing import Final

from mcpcore_lint.dataclasses import cached_method, replace
from mcpcore_lint.engine.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.engine.registrations.calls import Calls, likely_calls
from mcpcore_lint.engine.registrations.contracts import contract_given
from mcpcore_lint.engine.registrations.environment import Placed, written_scope
from mcpcore_lint.engine.registrations.functions import Target
from mcpcore_lint.engine.registrations.hints import annotations_of, joined
from mcpcore_lint.engine.registrations.lowlevel import dispatched, named_around
from mcpcore_lint.engine.registrations.registration_forms import LOWLEVEL_DECORATOR, ROUTE, SERVES_ALL, Maker, Site
from mcpcore_lint.engine.registrations.routes import applications, is_hidden, routes
from mcpcore_lint.engine.registrations.unresolved import (
    LAST,
    OF_ALL,
    OF_TWO,
    Unresolved,
    note_unresolved,
    unresolved,
    unresolved_registration,
)
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
from mcpcore_lint.engine.semantics.symbols import class_round, last_name
from mcpcore_lint.engine.semantics.type_model import is_abstract, method_of
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import own_nodes, returned, walk
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import (
    SERVES_EVERY,
    CallValue,
    Const,
    Contract,
    ErrorSite,
    FunctionNode,
    Handler,
    Missing,
    Served,
    Symbol,
    ToolDef,
    Unknown,
    Value,
    is_left_out,
    options,
    string,
)
from mcpcore_lint.patterns import regex
from mcpcore_lint.values import choice

_NO_ARGUMENTS: Final = regex(
    r"(?:typing\.)?(?:Optional\[)?(?:typing\.)?(?:[Ll]ist|[Tt]uple|[Ss]et|str|int|float|bool)\b"
    r"(?!.*\| ?(?:\w+\.)*[Dd]ict)"
)
"""The annotation of a parameter that is not made for the arguments of a call, which are a dict."""


class Builder:
    """Builds the model of one file."""

    def __init__(self, module: Module, hierarchy: Hierarchy) -> None:
        self.module = module
        self.hierarchy = hierarchy
        self.calls = Calls(hierarchy)
        self._found: list[ToolDef] = []
        self._serving: list[ToolDef] = []
        """The low-level handlers among them that serve tools by name."""
        self._unresolved: list[Unresolved] = []
        self._reported: set[tuple[str, int, int, ast.AST | None]] = set()
        self._added: set[tuple[ast.AST, FunctionNode, str | None]] = set()
        self._servers: dict[ast.AST, str | None] = {}
        """The servers to which the tools made by a call are added."""

    # -- tools -------------------------------------------------------------------------------------------------------

    def tools(self) -> list[ToolDef]:
        """Every tool, resource and prompt that the file registers, in source order."""
        self.module.complete()
        for node in list(self.module.functions):
            if not isinstance(node, ast.Lambda) and node.decorator_list:
                self._decorated(node)
        for call, scope in likely_calls(self.module):
            self.calls.functions.begin()
            sites = tuple(self.calls.sites(call, scope))
            sites = sites or self._blind(call, scope, self.calls.sites(call, scope))
            for site in sites:
                self._registered(site)
                self._note_if_exhausted(call)
        self.calls.functions.begin()
        for site in (*self._requested(), *self._overriding()):
            self._registered(site)
        self._routed()
        self._served()
        self._unresolved += (unresolved(call, argument) for call, argument in self.calls.unread(self.module))
        # A function may be registered in a way that is read, although another is not.
        known = {tool.handler.node for tool in self._found}
        note_unresolved(self.module, [report for report in self._unresolved if report.origin not in known])
        for tool in self._found:
            tool.server = tool.server or self._servers.get(tool.registration)
        self._found.sort(key=lambda maker: (maker.registration.lineno, maker.registration.col_offset))
        return self._found

    def _note_if_exhausted(self, registration: ast.expr) -> None:
        """Report a registration behind which there is too much to read, so that some tools may be missing."""
        if self.calls.functions.is_exhausted() or self.calls.functions.is_cut:
            self._unresolved.append(unresolved(registration, registration)._replace(kind="further function"))

    def _requested(self) -> Iterator[Site]:
        """The low-level handlers that are assigned: `server.request_handlers[CallToolRequest] = handle`."""
        module = self.module
        if not module.source.has("request_handlers["):
            return
        for scope in (*module.functions.values(), module.scope):
            nodes = walk([module.tree]) if isinstance(scope.node, ast.Module) else own_nodes(scope.node)
            stores = [part for part in nodes if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)]
            others = {part.value for part in stores if last_name(part.slice) != "CallToolRequest"}
            if sum(getattr(part, "attr", "") == "request_handlers" and part not in others for part in nodes) != 1:
                continue  # it wraps the handler that was there
            for node in nodes:
                match node:
                    case ast.Assign(
                        targets=[ast.Subscript(value=ast.Attribute(attr="request_handlers"), slice=key) as target],
                        value=handler,
                    ) if last_name(key) == "CallToolRequest":
                        call = ast.copy_location(ast.Call(target, [handler], []), target)
                        yield Site(Maker(SERVES_ALL, "lowlevel", None), handler, scope, target, call)
                        return

    def _overriding(self) -> Iterator[Site]:
        """The methods of servers of the project that replace the framework's own: `async def call_tool(...)`."""
        for info in self.module.classes.values():
            method = info.methods.get("call_tool")
            server = self.calls.servers.flavour_of_class(info) if method is not None else None
            # A method that calls the framework's own does not replace it.
            if method is None or server is None or any(getattr(part, "id", "") == "super" for part in walk([method])):
                continue
            name = ast.copy_location(ast.Name("call_tool", ast.Load()), method)
            call = ast.copy_location(ast.Call(name, [name], []), method)
            yield Site(Maker(SERVES_ALL, "lowlevel", None), name, info.body_scope, name, call)

    def _routed(self) -> None:
        """Add the functions of routes that are made tools."""
        for call, application in applications(self.module):
            self.calls.functions.begin()
            sites = routes(call, application, self.module, self.calls.functions)
            unread = None if sites else application[0]
            for site in sites:
                self.calls.functions.steps = 0
                targets = self.calls.functions.behind(site.target, site.scope)
                unread = unread or (None if targets else site.target)
                for target in targets:
                    key = call, target.node, None
                    if key not in self._added and not is_hidden(target.node, call, target.module, application[1]):
                        self._added.add(key)
                        self._add(site.maker, call, target._replace(signed=True))
            self._note_if_exhausted(call)
            self._unresolved += [unresolved(call, unread)._replace(kind="route")] if unread is not None else []

    def _decorated(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        before = len(self._found)
        self.calls.functions.begin()
        sites = self.calls.decorations(node, self.module)
        outside = self.module.functions[node].parent or self.module.scope
        for decorator in node.decorator_list if not sites else ():
            again = self.calls.decorating(node, outside)
            sites = self._blind(decorator, outside, again, node) or sites
        for site in sites:
            missed = self._never_called(node, site.registration) if site.maker.form is SERVES_ALL else ""
            if missed:
                self._unresolved.append(unresolved(site.registration, site.registration)._replace(kind=missed))
                continue
            for target in self.calls.functions.behind(site.target, site.scope):
                self._add(site.maker, site.registration, target)
            self._note_if_exhausted(site.registration)
        self._found[before:] = _joined(self._found[before:], node)

    def _never_called(self, node: ast.FunctionDef | ast.AsyncFunctionDef, registration: ast.expr) -> str:
        """What is missing for the SDK to call a decorated function for every tool; empty if nothing is."""
        args = [*node.args.posonlyargs, *node.args.args]
        # Another decorator may pass other arguments, and a method has `self` too.
        if len(args) < 2 and len(node.decorator_list) == 1 and not node.args.vararg:
            return OF_TWO
        annotation = args[1].annotation if len(args) > 1 and args[0].arg not in {"self", "cls"} else None
        if annotation is not None and _NO_ARGUMENTS.match(ast.unparse(annotation)):
            return OF_TWO
        block = getattr(self.module.parents[node], "body", ())
        later = block[block.index(node) + 1 :] if node in block else ()
        others = [part for other in later for part in getattr(other, "decorator_list", ())]
        method = getattr(registration, "func", registration)
        again = any(ast.unparse(getattr(part, "func", part)) == ast.unparse(method) for part in others)
        # A later handler may be on another server of the same name.
        servers = [ast.unparse(target) for other in later for target in getattr(other, "targets", ())]
        return LAST if again and ast.unparse(getattr(method, "value", method)) not in servers else ""

    def _blind(
        self, node: ast.expr, scope: Scope, sites: Iterator[Site], decorated: FunctionNode | None = None
    ) -> tuple[Site, ...]:
        """The registrations on an object that the callers of a function pass, or a report if it may be a server."""
        func = node
        while isinstance(func, ast.Call):
            func = func.func
        names = {"tool", "add_tool", "register_tool", *([LOWLEVEL_DECORATOR] if decorated is not None else ())}
        if not isinstance(func, ast.Attribute) or func.attr not in names:
            return ()
        self.calls.functions.backward = True
        known = tuple(sites)
        self.calls.functions.backward = False
        # `x.tool(name)` may ask for a tool; `@x.tool(...)`, `x.tool(fn)` and `x.tool(...)(fn)` make one.
        parts = node.args[:1] if isinstance(node, ast.Call) else []
        targets = (target.node for part in parts for target in self.calls.functions.behind(part, scope))
        made = decorated or next(targets, None)
        asks = func.attr == "tool" and made is None and isinstance(node, ast.Call) and node.func is func
        if not known and not asks and self.calls.is_blind(func, scope):
            self._unresolved.append(unresolved(node, func.value)._replace(kind="server", origin=made))
        return known

    # -- calls -------------------------------------------------------------------------------------------------------

    def _registered(self, site: Site) -> None:
        functions = self.calls.functions
        unresolved_rounds = self._unresolved_rounds(site, functions.elements.rounds(site.call, site.scope, site.target))
        functions.backward = True
        try:
            for scope, _ in unresolved_rounds:
                again = site._replace(scope=scope)
                left = self._unresolved_rounds(again, functions.elements.called_from(again) or [scope])
                if left and site.maker.form.kind == "tool":
                    target, where = left[0][1] or (site.target, scope)
                    missed = unresolved_registration(again._replace(target=target, scope=where), functions)
                    if missed is not None:
                        self._unresolved_rounds(again, [scope], blind=True)
                        self._unresolved += [missed] if self._is_first(site, missed, target, where) else []
        finally:
            functions.backward = False

    def _is_first(self, site: Site, missed: Unresolved, target: ast.expr, scope: Scope) -> bool:
        """Whether an unresolved registration has no report yet, of another call that leads to the same function."""
        home, functions = written_scope(scope), self.calls.functions
        inner = site._replace(target=target, scope=home)
        if home.module is not self.module and unresolved_registration(inner, functions):
            # It does not depend on the arguments of the calls that lead to it.
            return not self.calls.registers(site.call, home)
        key = home.module.path, site.call.lineno, site.call.col_offset, missed.origin
        is_first = key not in self._reported
        self._reported.add(key)
        return is_first

    def _unresolved_rounds(
        self, site: Site, rounds: list[Scope], *, blind: bool = False
    ) -> list[tuple[Scope, Placed | None]]:
        """Add the tools of a registration, and return the rounds of its loops in which no function is found.

        If a wrapper is found but not the function that it wraps, the round comes with the expression of that function.
        The wrapper itself is added with `blind`.
        """
        functions = self.calls.functions
        unresolved_rounds: list[tuple[Scope, Placed | None]] = []
        for scope in rounds:
            functions.steps = 0
            maker = self.calls.evaluated(site.maker, scope) if scope is not site.scope else site.maker
            made = evaluate(site.target, scope) if maker.server is not None else None
            if isinstance(made, CallValue) and made.node is not None:
                # `add_tool(Tool.from_function(...))`: the inner call is the registration, the outer one has the server.
                self._servers.setdefault(made.node, maker.server)
            functions.hidden.clear()
            targets = {target.node: target for target in functions.behind(site.target, scope)}
            hidden = functions.hidden[0] if functions.hidden else None
            unresolved_rounds += [] if targets and hidden is None else [(scope, hidden)]
            if hidden is not None and not functions.backward:
                continue  # the callers may tell the functions
            names: set[str | None] = set()
            for target in targets.values() if blind else [target for target in targets.values() if not target.blind]:
                if isinstance(target.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    own = self.calls.decorations(target.node, target.module)
                    if own:
                        self._renamed(own[0].maker, maker, site, target)
                        continue
                name = string((given_name(maker) if maker.call is not None else None) or target.name)
                key = site.registration, target.node, name
                if key in self._added and (name is not None or hidden is not None):
                    continue  # another way to the same function
                self._added.add(key)
                tool = self._add(maker, site.registration, target)
                # Only one of several functions of the same name is registered, whichever was defined.
                if string(tool.name) in names:
                    tool.server = None
                names.add(string(tool.name))
        return unresolved_rounds

    def _renamed(self, own: Maker, maker: Maker, site: Site, target: Target) -> None:
        """`add_tool(tool, name="other")`: one more tool, with the contract of the first."""
        if maker.call is None or maker.form.kind != own.form.kind:
            return
        name = given_name(maker)
        annotations = given_annotations(maker)
        changes: dict[str, Value] = {} if is_left_out(annotations) else {"annotations": annotations}
        if name is None or string(name) == target.node.name:  # type: ignore[union-attr]
            for tool in self._found:
                if changes and tool.handler.node is target.node:
                    tool.annotations = joined(tool.annotations, annotations)
            return
        changes["name"] = name
        call = own.call or replace(maker.call, args=(), keywords=())
        kept = tuple(keyword for keyword in call.keywords if keyword[0] not in changes)
        call = replace(call, keywords=(*kept, *changes.items()))
        self._add(own._replace(call=call, server=maker.server), site.registration, target)

    # -- one tool ----------------------------------------------------------------------------------------------------

    def _add(self, maker: Maker, registration: ast.expr, target: Target) -> ToolDef:
        node, module = target.node, target.module
        handler = self.handler(node, module)
        if target.signed:
            handler = replace(handler, parameters=())
        name: Value = target.name
        description: Value = Missing(node, module)
        uri: Value | None = None
        annotations: Value = Missing(registration, self.module)
        contract: Contract | None = None
        call = maker.call
        if maker.form is ROUTE:
            name = description = annotations = Unknown(node, module, "the framework makes it of the route")
        elif maker.flavour == "lowlevel":
            name = Unknown(node, module, SERVES_EVERY)
            description = annotations = Unknown(node, module, "the low-level server lists its tools elsewhere")
        elif call is not None:
            name = given_name(maker) or name
            description = _description(maker, call)
            if maker.form.kind == "resource":
                uri = call.argument("uri", maker.form.uri)
                uri = call.argument("uri_template") if isinstance(uri, Missing) else uri
            annotations = given_annotations(maker)
            contract = contract_given(call, registration, self.module, own=maker.flavour == "mcpcore")
        if is_left_out(description) and handler.docstring is not None:
            description = Const(node, module, handler.docstring)
        elif is_left_out(description):
            # The project may have set the description of the wrapper.
            hidden = target.signed and target.wrappers
            description = Unknown(node, module, "a wrapper describes it") if hidden else Missing(node, module)
        if contract is not None:
            self._complete(handler, contract)
        kind, flavour = maker.form.kind, maker.flavour
        details = (contract, description, maker.server, annotations, uri)
        tool = ToolDef(kind, flavour, name, handler, self.module, registration, *details)
        tool.wrappers = tuple(self.handler(*wrapper) for wrapper in target.wrappers)
        self._found.append(tool)
        if maker.flavour == "lowlevel":
            self._serve(tool)
        self._unresolved += (
            unresolved(registration, part) for part in named_around(self.calls.functions, node, module)
        )
        return tool

    def _serve(self, tool: ToolDef) -> None:
        """Find the tools that a low-level handler serves, and the functions to which it passes them."""
        served: list[Served] = []
        self.calls.functions.unseen.clear()
        self.calls.functions.backward = True
        entries = dispatched(self.calls.functions, tool.handler.node, tool.handler.module)
        targets = [(entry, entry.target) for entry in entries if entry.target is not None]
        entries += [entry._replace(target=inner) for entry, target in targets for inner in self._held(target)]
        self.calls.functions.backward = False
        for entry in entries:
            target = entry.target
            handler = self.handler(target.node, target.module) if target is not None else None
            name = string(entry.name)
            other = [branch.body for branch in entry.branches if not branch.runs_for(name)]
            lines = tuple((body[0].lineno, body[-1].end_lineno or body[-1].lineno) for body in other)
            way = tuple((self.handler(node, module), call) for node, module, call in entry.way)
            served.append(
                Served(entry.name, handler, entry.call, self.handler(entry.function, entry.module), way, lines)
            )
        tool.serves = tuple(served)
        if served:
            self._serving.append(tool)
        if self.calls.functions.unseen:
            self._unresolved += (
                unresolved(tool.registration, node)._replace(effect=OF_ALL) for node in self.calls.functions.unseen[:1]
            )

    def _held(self, target: Target) -> Iterator[Target]:
        """The functions that objects were made with and a method of them calls: `return self.run(arguments)`."""
        scope = target.module.scope_of(target.node)
        info = class_round(scope)
        # Each class does in its own way what the method of their base class calls.
        self.calls.functions.unseen += [
            call.func
            for call in own_nodes(target.node)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and (call.args or call.keywords)
            if getattr(call.func.value, "id", "") == "self" and info is not None
            if (method := method_of(info, call.func.attr)) is not None and is_abstract(*method)
        ]
        for value in returned(target.node):
            call = value.value if isinstance(value, ast.Await) else value
            parts = [call.func, *call.args] if isinstance(call, ast.Call) else []
            held = info.instance_attributes if info is not None else {}
            for part in (part for part in parts if isinstance(part, ast.Attribute) and part.attr in held):
                if getattr(part.value, "id", "") == "self":
                    self.calls.functions.steps = 0
                    inner = self.calls.functions.behind(part, scope)
                    self.calls.functions.unseen += [] if inner or part is not parts[0] else [part]
                    yield from inner

    def _served(self) -> None:
        """Add the functions to which low-level handlers pass calls, except those that are tools already."""
        for tool in self._serving:
            known = [other.handler.node for other in self._found]
            for other in tool.serves:
                handler = other.handler
                if handler is None or other.call is None or handler.node in known:
                    continue
                unknown = Unknown(handler.node, handler.module, "the low-level server lists its tools elsewhere")
                at = other.call if other.inside.module is self.module else tool.registration
                described = (None, unknown, tool.server, unknown)
                self._found.append(ToolDef("tool", "lowlevel", other.name, handler, self.module, at, *described))

    @cached_method
    def handler(self, node: FunctionNode, module: Module) -> Handler:
        """The model of a function."""
        # A copy: which code a reason has depends on the contract of the tool.
        return replace(HandlerBuilder.of(node, module, self.hierarchy).model)

    @staticmethod
    def _complete(handler: Handler, contract: Contract) -> None:
        """Give each `ctx.fail(reason)` the code that the contract declares for the reason."""
        changed: dict[ErrorSite, ErrorSite] = {}
        for error in handler.errors:
            if error.form != "fail" or not isinstance(error.code, Unknown):
                continue
            codes: list[Value] = []
            for option in options(error.reason):
                text = string(option)
                entry = contract.by_reason.get(text) if text is not None else None
                codes.append(entry.code.value if entry is not None else error.code)
            if codes:
                changed[error] = replace(error, code=choice(codes, error.node, error.module))
        if changed:
            handler.errors = tuple(changed.get(site, site) for site in handler.errors)
            handler.throws = tuple(
                replace(throw, error=changed[throw.error]) if throw.error in changed else throw
                for throw in handler.throws
            )


def _joined(tools: list[ToolDef], function: FunctionNode) -> list[ToolDef]:
    """The tools of one function: `@mcp.tool` above `@tool(errors=[...])` registers it once, with the contract."""
    declared = [tool for tool in tools if tool.flavour == "mcpcore" and tool.server is None]
    registered = [tool for tool in tools if tool not in declared]
    if not declared or not registered:
        return tools
    for tool in registered:
        tool.flavour, tool.contract = "mcpcore", declared[0].contract
        if tool.name.node is function:
            tool.name = declared[0].name
        tool.annotations = joined(declared[0].annotations, tool.annotations)
    return registered


def given_name(maker: Maker) -> Value | None:
    """The name that a registration gives; None if the function's own name holds."""
    if maker.call is None:
        return None
    value = maker.call.argument("name", maker.form.name)
    if isinstance(value, Missing) and "name_or_fn" in maker.form.handler:
        value = maker.call.argument("name_or_fn")
        if isinstance(value, Symbol):
            return None  # the function itself
    return None if is_left_out(value) else value


def given_annotations(maker: Maker) -> Value:
    """The annotations that a registration gives; `Missing` or None if it gives none."""
    assert maker.call is not None
    return annotations_of(maker.call.argument("annotations", maker.form.annotated), maker.call)


def _description(maker: Maker, call: CallValue) -> Value:
    value = call.argument("description", maker.form.described)
    if isinstance(value, Missing) and maker.form.described is not None and len(call.args) == maker.form.described:
        # The second argument was the description before it became the title.
        return Unknown(call.node, call.module, "it is the title or the description, by the version")
    return value
