"""Builds the model of one file: its tools, resources and prompts in source order."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.dataclasses import replace
from mcpcore_lint.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.model import (
    CallValue,
    Const,
    Contract,
    ErrorSite,
    FunctionNode,
    Handler,
    Missing,
    Served,
    ToolDef,
    Unknown,
    Value,
    is_left_out,
    options,
    string,
)
from mcpcore_lint.registrations.calls import Calls
from mcpcore_lint.registrations.contracts import contract_given
from mcpcore_lint.registrations.functions import Target, wrapped_parameter
from mcpcore_lint.registrations.lowlevel import Dispatching
from mcpcore_lint.registrations.unresolved import Unresolved, note_unresolved, unresolved_registration
from mcpcore_lint.registrations.ways import HINTS, NEAR, Maker, Site
from mcpcore_lint.semantics.choices import choice
from mcpcore_lint.semantics.evaluate import evaluate

if TYPE_CHECKING:
    from mcpcore_lint.records import ToolFlavour
    from mcpcore_lint.semantics.hierarchy import Hierarchy
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope


class Builder:
    """Builds the model of one file."""

    def __init__(self, module: Module, hierarchy: Hierarchy) -> None:
        self.module = module
        self.hierarchy = hierarchy
        self.calls = Calls(module, hierarchy)
        self._handlers: dict[tuple[FunctionNode, int], Handler] = {}
        self._found: list[ToolDef] = []
        self._serving: list[ToolDef] = []
        """The low-level handlers among them that serve tools by name."""
        self._unresolved: list[Unresolved] = []
        self._servers: dict[ast.AST, str] = {}
        """The keys of the servers to which the tools made by a call are added."""

    # -- tools -------------------------------------------------------------------------------------------------------

    def tools(self) -> list[ToolDef]:
        """Every tool, resource and prompt that the file registers, in source order."""
        self.module.complete()
        self._found = []
        self._serving = []
        self._servers = {}
        self._unresolved = []
        for node, scope in list(self.module.functions.items()):
            if not isinstance(node, ast.Lambda) and node.decorator_list:
                self._decorated(node, scope)
        for call, scope in self._calls():
            self.calls.functions.steps = 0
            for site in self.calls.sites(call, scope):
                self._registered(site)
        self._served()
        note_unresolved(self.module, self._unresolved)
        for tool in self._found:
            if tool.server is None:
                tool.server = self._servers.get(tool.registration)
        self._found.sort(key=lambda each: (each.registration.lineno, each.registration.col_offset))
        return self._found

    def _decorated(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        makers = self.makers(node, scope)
        if makers and wrapped_parameter(node, self.module) is None:
            name = Const(node, self.module, node.name)
            before = len(self._found)
            for decorator, maker in makers:
                self._add(maker, decorator, Target(node, self.module, name), self.outside(scope))
            self._found[before:] = _joined(self._found[before:], name)

    def makers(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> tuple[tuple[ast.expr, Maker], ...]:
        """The decorators of a function that make a tool of it, each with its maker; kept for servers that list it."""
        key = ("makers", node)
        found: tuple[tuple[ast.expr, Maker], ...] | None = self.module.memo.get(key)
        if found is None:
            outside = self.outside(scope)
            makers: list[tuple[ast.expr, Maker]] = []
            for decorator in node.decorator_list:
                self.calls.functions.steps = 0
                maker = self.calls.maker(decorator, outside)
                if maker is not None:
                    makers.append((decorator, maker))
            found = self.module.memo[key] = tuple(makers)
        return found

    def outside(self, scope: Scope) -> Scope:
        """The scope that the decorators of a function are read in."""
        if scope.owner is not None:
            info = self.module.classes.get(scope.owner)
            if info is not None:
                return info.body_scope
        assert scope.parent is not None
        return scope.parent

    def server(self, node: ast.expr, scope: Scope) -> tuple[ToolFlavour | None, str | None]:
        """The flavour of a server object, and a key by which the same object is known elsewhere."""
        return self.calls.servers.server(node, scope)

    def _calls(self) -> list[tuple[ast.Call, Scope]]:
        """The calls that may register something: by their words, or by a name that such a line binds."""
        text = self.module.source.text
        words = [word for word in NEAR if word in text]
        for local, bindings in self.module.scope.bindings.items():
            lines = (self.module.source.line(getattr(binding.node, "lineno", 1)) for binding in bindings)
            if any(hint in line for line in lines for hint in HINTS) and f"{local}(" in text:
                words.append(f"{local}(")
        return self.module.calls_near(*words) if words else []

    # -- calls -------------------------------------------------------------------------------------------------------

    def _registered(self, site: Site) -> None:
        functions = self.calls.functions
        rounds = functions.elements.rounds(site.call, site.scope, site.target)
        resolved = not rounds  # the conditions leave no round
        for scope in rounds:
            functions.steps = 0
            maker = self.calls.evaluated(site.maker, scope) if scope is not site.scope else site.maker
            self._note_server(maker, site.target, scope)
            targets = {target.node: target for target in functions.behind(site.target, scope)}
            resolved = resolved or bool(targets)
            names: set[str | None] = set()
            for target in targets.values():
                if isinstance(target.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    own = self._own_maker(target.node, target.module)
                    if own is not None:
                        self._renamed(own, maker, site, target)
                        continue
                tool = self._add(maker, site.registration, target, site.scope)
                # Only one of several functions of the same name is registered, whichever was defined.
                if string(tool.name) in names:
                    tool.server = None
                names.add(string(tool.name))
        if not resolved and site.maker.way.kind == "tool":
            unresolved = unresolved_registration(site, functions)
            self._unresolved += [unresolved] if unresolved is not None else []

    def _note_server(self, maker: Maker, target: ast.expr, scope: Scope) -> None:
        """Remember the server of `add_tool(Tool.from_function(...))`, which is a tool by itself."""
        if maker.server is None:
            return
        node: ast.AST | None = target
        if isinstance(target, (ast.Name, ast.Attribute)):
            value = evaluate(target.value if isinstance(target, ast.Attribute) else target, scope)
            node = value.node if isinstance(value, CallValue) and value.module is self.module else None
        if node is not None:
            self._servers.setdefault(node, maker.server)

    def _own_maker(self, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> Maker | None:
        """The maker among a function's own decorators, so that `add_tool` only registers it."""
        if not node.decorator_list:
            return None
        builder = self if module is self.module else Builder(module, self.hierarchy)
        found = builder.makers(node, module.scope_of(node))
        return found[0][1] if found else None

    def _renamed(self, own: Maker, maker: Maker, site: Site, target: Target) -> None:
        """`add_tool(tool, name="other")`: one more tool, with the contract of the first."""
        if maker.call is None or maker.way.kind != own.way.kind:
            return
        given = given_name(maker)
        annotations = given_annotations(maker)
        changes: dict[str, Value] = {} if is_left_out(annotations) else {"annotations": annotations}
        if given is None or string(given) == target.node.name:  # type: ignore[union-attr]
            for tool in self._found:
                if changes and tool.handler.node is target.node:
                    tool.annotations = annotations
            return
        changes["name"] = given
        call = own.call or replace(maker.call, args=(), keywords=())
        kept = tuple(keyword for keyword in call.keywords if keyword[0] not in changes)
        call = replace(call, keywords=(*kept, *changes.items()))
        self._add(own._replace(call=call, server=maker.server), site.registration, target, site.scope)

    # -- one tool ----------------------------------------------------------------------------------------------------

    def _add(self, maker: Maker, registration: ast.expr, target: Target, scope: Scope) -> ToolDef:
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
        if maker.flavour == "lowlevel":
            annotations = Unknown(node, module, "the low-level server lists its tools elsewhere")
            name = Unknown(node, module, "the low-level handler serves every tool")
            description = Unknown(node, module, "the low-level server lists its tools elsewhere")
        elif call is not None:
            given = given_name(maker)
            name = given if given is not None else name
            description = _description(maker, call)
            if maker.way.kind == "resource":
                uri = call.argument("uri", maker.way.uri)
                if isinstance(uri, Missing):
                    uri = call.argument("uri_template")
            annotations = given_annotations(maker)
            contract = contract_given(call, registration, scope)
        if isinstance(description, Missing) or (isinstance(description, Const) and description.value is None):
            doc = handler.docstring
            description = Const(node, module, doc) if doc is not None else Missing(node, module)
        if contract is not None:
            self._complete(handler, contract)
        tool = ToolDef(
            maker.way.kind,
            maker.flavour,
            name,
            handler,
            self.module,
            registration,
            contract,
            description,
            maker.server,
            annotations,
            uri,
        )
        self._found.append(tool)
        if maker.flavour == "lowlevel":
            self._serve(tool)
        return tool

    def _serve(self, tool: ToolDef) -> None:
        """Find the tools that a low-level handler serves, and the functions to which it passes them."""
        served: list[Served] = []
        for each in Dispatching(self.calls.functions).dispatched(tool.handler.node, tool.handler.module):
            target = each.target
            handler = self.handler(target.node, target.module) if target is not None else None
            name = string(each.name)
            other = [branch for branch in each.branches if not branch.runs_for(name)]
            lines = ((one.body[0].lineno, one.body[-1].end_lineno or one.body[-1].lineno) for one in other)
            way = tuple((self.handler(node, module), call) for node, module, call in each.way)
            inside = self.handler(each.function, each.module)
            served.append(Served(each.name, handler, each.call, inside, way, tuple(lines)))
        tool.serves = tuple(served)
        if served:
            self._serving.append(tool)

    def _served(self) -> None:
        """Add the functions to which low-level handlers pass calls, except those that are tools already."""
        for tool in self._serving:
            known = [each.handler.node for each in self._found]
            for each in tool.serves:
                handler = each.handler
                if handler is None or each.call is None or handler.node in known:
                    continue
                here = each.inside.module is self.module
                unknown = Unknown(handler.node, handler.module, "the low-level server lists its tools elsewhere")
                registration = each.call if here else tool.registration
                self._found.append(
                    ToolDef(
                        "tool",
                        "lowlevel",
                        each.name,
                        handler,
                        self.module,
                        registration,
                        None,
                        unknown,
                        tool.server,
                        unknown,
                    )
                )

    def handler(self, node: FunctionNode, module: Module) -> Handler:
        """The model of a function."""
        key = (node, id(module))
        found = self._handlers.get(key)
        if found is None:
            # A copy: which code a reason has depends on the contract of the tool.
            found = replace(HandlerBuilder.of(node, module, self.hierarchy).model)
            self._handlers[key] = found
        return found

    @staticmethod
    def _complete(handler: Handler, contract: Contract) -> None:
        """Give each `ctx.fail(reason)` the code that the contract declares for the reason."""
        changed: dict[ErrorSite, ErrorSite] = {}
        for error in handler.errors:
            if error.form != "fail" or not isinstance(error.code, Unknown):
                continue
            codes: list[Value] = []
            for each in options(error.reason):
                text = string(each)
                entry = contract.by_reason.get(text) if text is not None else None
                codes.append(entry.code.value if entry is not None else error.code)
            if codes:
                changed[error] = replace(error, code=choice(codes, error.node, error.module))
        if changed:
            handler.errors = tuple(changed.get(each, each) for each in handler.errors)
            handler.throws = tuple(
                replace(each, error=changed[each.error]) if each.error in changed else each for each in handler.throws
            )


def _joined(tools: list[ToolDef], own_name: Value) -> list[ToolDef]:
    """The tools of one function: `@mcp.tool` above `@tool(errors=[...])` registers it once, with the contract."""
    declared = [tool for tool in tools if tool.flavour == "mcpcore" and tool.server is None]
    registered = [tool for tool in tools if tool not in declared]
    if not declared or not registered:
        return tools
    for tool in registered:
        tool.flavour, tool.contract = "mcpcore", declared[0].contract
        if tool.name is own_name:
            tool.name = declared[0].name
        if is_left_out(tool.annotations):
            tool.annotations = declared[0].annotations
    return registered


def given_name(maker: Maker) -> Value | None:
    """The name that a registration gives; None if the function's own name holds."""
    if maker.call is None:
        return None
    given = maker.call.argument("name", maker.way.name)
    if isinstance(given, Missing) and "name_or_fn" in maker.way.handler:
        given = maker.call.argument("name_or_fn")
    if isinstance(given, Missing) or (isinstance(given, Const) and given.value is None):
        return None
    return given


def given_annotations(maker: Maker) -> Value:
    """The annotations that a registration gives; `Missing` or None if it gives none."""
    assert maker.call is not None
    return maker.call.argument("annotations", maker.way.annotated)


def _description(maker: Maker, call: CallValue) -> Value:
    given = call.argument("description", maker.way.described)
    if isinstance(given, Missing) and maker.way.described is not None and len(call.args) == maker.way.described:
        # The second argument was the description before it became the title.
        return Unknown(call.node, call.module, "it is the title or the description, by the version")
    return given


__all__ = ["Builder"]
