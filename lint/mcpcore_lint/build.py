"""From a file's syntax to the model: which functions are tools, what their contracts say, what their bodies do."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.bodies import HandlerBuilder, argument_of
from mcpcore_lint.light import replace
from mcpcore_lint.model import (
    Argument,
    CallValue,
    CodeValue,
    Const,
    Contract,
    ContractEntry,
    ErrorSite,
    FunctionNode,
    Handler,
    Items,
    Mapping,
    Missing,
    Symbol,
    Text,
    ToolDef,
    Unknown,
    Value,
    options,
    string,
)
from mcpcore_lint.names import (
    ENTRY_ARGUMENTS,
    ENTRY_POSITIONAL,
    SERVERS,
)
from mcpcore_lint.resolve import Resolver, choice, evaluate
from mcpcore_lint.syntax import walk

if TYPE_CHECKING:
    from mcpcore_lint.hierarchy import Hierarchy
    from mcpcore_lint.project import Module, Scope
    from mcpcore_lint.records import ToolFlavour, ToolKind

KINDS: Final[dict[str, ToolKind]] = {"tool": "tool", "resource": "resource", "prompt": "prompt"}
ADDERS: Final[dict[str, ToolKind]] = {"add_tool": "tool", "add_resource_fn": "resource", "add_prompt_fn": "prompt"}
_REGISTERS: Final = (
    "add_tool", "add_resource_fn", "add_prompt_fn", "on_call_tool", "tool(", "resource(", "prompt(", "tool as ",
    "resource as ", "prompt as ",
)  # fmt: skip
"""Text without which no call of a file registers a tool; decorators are found by themselves."""


class Builder:
    """Makes the model of one file."""

    def __init__(self, module: Module, hierarchy: Hierarchy) -> None:
        self.module = module
        self.hierarchy = hierarchy
        self._handlers: dict[tuple[FunctionNode, int], Handler] = {}

    # -- tools ---------------------------------------------------------------------------------------------------

    def tools(self) -> list[ToolDef]:
        """Every tool, resource and prompt that the file registers, in source order."""
        found: list[ToolDef] = []
        decorators: set[ast.AST] = set()
        for node, scope in list(self.module.functions.items()):
            if isinstance(node, ast.Lambda):
                continue
            for decorator in node.decorator_list:
                decorators.add(decorator)
                tool = self._decorated(node, scope, decorator)
                if tool is not None:
                    found.append(tool)
        for call, scope in self._calls():
            if call in decorators:
                continue
            found.extend(self._registered(call, scope))
        found.sort(key=lambda each: (each.registration.lineno, each.registration.col_offset))
        return found

    def _calls(self) -> list[tuple[ast.Call, Scope]]:
        """The calls that may register a tool: `add_tool(fn)`, `tool(...)(fn)`, `Server(on_call_tool=fn)`."""
        text = self.module.source.text
        if not any(each in text for each in _REGISTERS):
            return []
        words = [*ADDERS, "on_call_tool", "tool", "resource", "prompt"]
        for local, bindings in self.module.scope.bindings.items():
            for each in bindings:
                target = each.target
                if target is not None and target[1] in KINDS and local != target[1]:
                    words += [local]
        found: list[tuple[ast.Call, Scope]] = []
        for node, scope in self.module.calls_near(*words):
            func = node.func
            name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
            if (
                name in ADDERS
                or name in words
                or type(func) is ast.Call
                or any(keyword.arg == "on_call_tool" for keyword in node.keywords)
            ):
                found.append((node, scope))
        return found

    def _decorated(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, decorator: ast.expr
    ) -> ToolDef | None:
        outside = self.outside(scope)
        made = self.maker(decorator, outside)
        if made is None:
            return None
        kind, flavour, server, call = made
        return self._tool(kind, flavour, server, call, decorator, node, self.module, outside)

    def outside(self, scope: Scope) -> Scope:
        """The scope that the decorators of a function are read in."""
        if scope.owner is not None:
            info = self.module.classes.get(scope.owner)
            if info is not None:
                return info.body_scope
        assert scope.parent is not None
        return scope.parent

    def maker(self, node: ast.expr, scope: Scope) -> tuple[ToolKind, ToolFlavour, str | None, CallValue | None] | None:
        """Whether an expression is a decorator that makes tools: kind, flavour, server, and its arguments."""
        func = node.func if isinstance(node, ast.Call) else node
        value = evaluate(node, scope)
        if isinstance(value, Symbol):
            kind = _kind_of_decorator(value.name)
            if kind is not None:
                return (*kind, None, None)
        if isinstance(value, CallValue):
            kind = _kind_of_decorator(value.func.name)
            if kind is not None:
                return (*kind, None, value)
        if isinstance(func, ast.Attribute) and func.attr in {*KINDS, "call_tool"}:
            flavour, server = self.server(func.value, scope)
            if flavour is None:
                return None
            arguments = Resolver()
            call: CallValue | None = None
            if isinstance(node, ast.Call):
                args, keywords, complete = arguments.arguments(node, scope)
                call = CallValue(
                    node, self.module, Symbol(func, self.module, func.attr), tuple(args), tuple(keywords), complete
                )
            if func.attr == "call_tool":
                return ("tool", "lowlevel", server, call) if flavour == "lowlevel" else None
            if flavour == "lowlevel":
                return None
            return KINDS[func.attr], flavour, server, call
        return None

    def server(self, node: ast.expr, scope: Scope) -> tuple[ToolFlavour | None, str | None]:
        """The flavour of a server object, and a key by which the same object is known elsewhere."""
        value = evaluate(node, scope)
        for each in options(value):
            if isinstance(each, CallValue):
                flavour = self._server_class(each.func)
                if flavour is not None and each.node is not None and each.module is not None:
                    start = getattr(each.node, "lineno", 0)
                    return flavour, f"{each.module.path}:{start}:{getattr(each.node, 'col_offset', 0)}"
        if isinstance(node, ast.Name):
            found = scope.lookup(node.id)
            if found is not None:
                where, bindings = found
                key = f"{where.module.path}:{where.qualname}:{node.id}"
                for binding in bindings:
                    if binding.annotation is not None:
                        symbol = Resolver().annotation_symbol(binding.annotation, where)
                        flavour = self._server_class(symbol) if symbol is not None else None
                        if flavour is not None:
                            return flavour, key
                if any(each.kind == "parameter" and each.annotation is None for each in bindings):
                    return self._guess(node.id), key
                if isinstance(value, Unknown):
                    return self._guess(node.id), key
            elif isinstance(value, Unknown):
                return self._guess(node.id), None
        if isinstance(node, ast.Attribute) and isinstance(value, Unknown):
            attribute = self._self_attribute(node, scope)
            if attribute is not None:
                return attribute
            return self._guess(node.attr), f"{self.module.path}:{ast.unparse(node)}"
        return None, None

    def _self_attribute(self, node: ast.Attribute, scope: Scope) -> tuple[ToolFlavour, str] | None:
        """`self.mcp`, set to a server somewhere in the class."""
        current: Scope | None = scope
        while current is not None and current.owner is None:
            current = current.parent
        if current is None or current.owner is None or not isinstance(node.value, ast.Name):
            return None
        for each in walk([current.owner]):
            targets = (
                each.targets
                if isinstance(each, ast.Assign)
                else [each.target]
                if isinstance(each, ast.AnnAssign)
                else []
            )
            for target in targets:
                if (
                    isinstance(target, ast.Attribute)
                    and target.attr == node.attr
                    and isinstance(target.value, ast.Name)
                    and target.value.id == node.value.id
                    and isinstance(each, ast.Assign | ast.AnnAssign)
                    and each.value is not None
                ):
                    value = evaluate(each.value, scope)
                    if isinstance(value, CallValue):
                        flavour = self._server_class(value.func)
                        if flavour is not None:
                            return flavour, f"{self.module.path}:{current.owner.name}.{node.attr}"
        return None

    def _guess(self, name: str) -> ToolFlavour | None:
        """A server that comes from outside the function: by its usual name, in a file that speaks of a framework."""
        if name.lower().strip("_") not in {"mcp", "server", "app", "mcp_server", "mcp_app", "fastmcp"}:
            return None
        text = self.module.source.text
        if "fastmcp" in text and "mcp.server.fastmcp" not in text:
            return "fastmcp"
        return "sdk" if "mcp" in text else None

    def _server_class(self, symbol: Symbol) -> ToolFlavour | None:
        name = symbol.name
        if name in SERVERS:
            return SERVERS[name]  # type: ignore[return-value]
        if isinstance(symbol.definition, ast.ClassDef):
            above, _ = self.hierarchy.ancestors(name, symbol)
            for each in above:
                if each in SERVERS:
                    return SERVERS[each]  # type: ignore[return-value]
        return None

    def _registered(self, node: ast.Call, scope: Scope) -> list[ToolDef]:
        """Tools made by a call: `add_tool(fn)`, `tool(errors=...)(fn)`, `mcp.tool(fn)`, `Server(on_call_tool=fn)`."""
        func = node.func
        if isinstance(func, ast.Call):
            made = self.maker(func, scope)
            if made is None or not node.args:
                return []
            kind, flavour, server, call = made
            return self._for_handler(kind, flavour, server, call, node.args[0], func, scope)
        value = evaluate(func, scope)
        if isinstance(value, Symbol):
            made_kind = _kind_of_decorator(value.name)
            if made_kind is not None and node.args:
                call_value = evaluate(node, scope)
                call = call_value if isinstance(call_value, CallValue) else None
                return self._for_handler(*made_kind, None, call, node.args[0], node, scope, skip_first=True)
        on_call = next((each.value for each in node.keywords if each.arg == "on_call_tool"), None)
        if on_call is not None and isinstance(value, Symbol) and self._server_class(value) == "lowlevel":
            return self._for_handler("tool", "lowlevel", None, None, on_call, node, scope)
        if not isinstance(func, ast.Attribute):
            return []
        made_by, server = self.server(func.value, scope)
        if made_by is None or made_by == "lowlevel":
            return []
        flavour = made_by
        resolver = Resolver()
        args, keywords, complete = resolver.arguments(node, scope)
        call = CallValue(
            node, self.module, Symbol(func, self.module, func.attr), tuple(args), tuple(keywords), complete
        )
        if func.attr == "add_tool":
            first = (
                node.args[0] if node.args else next((k.value for k in node.keywords if k.arg in {"fn", "tool"}), None)
            )
            if first is None:
                return []
            inner = evaluate(first, scope)
            if (
                isinstance(inner, CallValue)
                and inner.func.name.endswith("from_function")
                and isinstance(first, ast.Call)
            ):
                target = first.args[0] if first.args else next((k.value for k in first.keywords if k.arg == "fn"), None)
                return (
                    []
                    if target is None
                    else self._for_handler("tool", flavour, server, inner, target, node, scope, skip_first=True)
                )
            return self._for_handler("tool", flavour, server, call, first, node, scope, skip_first=True)
        if func.attr in KINDS and node.args and flavour in {"fastmcp", "mcpcore", "sdk"}:
            target = node.args[0]
            if isinstance(evaluate(target, scope), Symbol):
                return self._for_handler(KINDS[func.attr], flavour, server, call, target, node, scope, skip_first=True)
        return []

    def _for_handler(
        self,
        kind: ToolKind,
        flavour: ToolFlavour,
        server: str | None,
        call: CallValue | None,
        target: ast.expr,
        registration: ast.expr,
        scope: Scope,
        *,
        skip_first: bool = False,
    ) -> list[ToolDef]:
        if skip_first and call is not None:
            call = CallValue(call.node, call.module, call.func, call.args[1:], call.keywords, call.complete)
        found: list[ToolDef] = []
        for function, module in self.functions_behind(target, scope):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and self._has_maker(function, module):
                continue
            tool = self._tool(kind, flavour, server, call, registration, function, module, scope)
            found.append(tool)
        return found

    def _has_maker(self, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> bool:
        """Whether a function is a tool by its own decorators, so that `add_tool` only registers it."""
        builder = self if module is self.module else Builder(module, self.hierarchy)
        scope = module.scope_of(node)
        return any(builder.maker(each, builder.outside(scope)) is not None for each in node.decorator_list)

    def functions_behind(self, target: ast.expr, scope: Scope) -> list[tuple[FunctionNode, Module]]:
        """The functions that an expression may be: a name, a lambda, `partial(f)`, a method, a callable object."""
        if isinstance(target, ast.Lambda):
            return [(target, scope.module)]
        found: list[tuple[FunctionNode, Module]] = []
        for value in options(evaluate(target, scope)):
            each = value
            for _ in range(5):
                if isinstance(each, CallValue) and each.func.name == "functools.partial" and each.args:
                    each = each.args[0]
            if isinstance(each, Symbol) and each.module is not None:
                if isinstance(each.definition, ast.FunctionDef | ast.AsyncFunctionDef):
                    owner = self.module.project.module_defining(each.definition)
                    if owner is not None:
                        found.append((each.definition, owner))
            elif isinstance(each, CallValue) and isinstance(each.func.definition, ast.ClassDef):
                info = self.module.project.class_info(each.func.definition)
                method = info.methods.get("__call__") if info is not None else None
                if info is not None and method is not None:
                    found.append((method, info.module))
        if not found and isinstance(target, ast.Attribute):
            owner_class = self._instance_class(target.value, scope)
            if owner_class is not None:
                method = owner_class.methods.get(target.attr)
                if method is not None:
                    found.append((method, owner_class.module))
        if not found and isinstance(target, ast.Name):
            alias = Resolver().alias_of(target, scope)
            if alias is not None and alias[0] is not target and isinstance(alias[0], ast.Lambda | ast.Attribute):
                return self.functions_behind(*alias)
        return found

    def _instance_class(self, node: ast.expr, scope: Scope):  # type: ignore[no-untyped-def]  # noqa: ANN202
        value = evaluate(node, scope)
        if isinstance(value, CallValue) and isinstance(value.func.definition, ast.ClassDef):
            return self.module.project.class_info(value.func.definition)
        if isinstance(node, ast.Name):
            if node.id == "self":
                current: Scope | None = scope
                while current is not None and current.owner is None:
                    current = current.parent
                if current is not None and current.owner is not None:
                    return self.module.classes.get(current.owner)
            found = scope.lookup(node.id)
            if found is not None and found[1][0].annotation is not None:
                symbol = Resolver().annotation_symbol(found[1][0].annotation, found[0])
                if symbol is not None and isinstance(symbol.definition, ast.ClassDef):
                    return self.module.project.class_info(symbol.definition)
        return None

    def _tool(
        self,
        kind: ToolKind,
        flavour: ToolFlavour,
        server: str | None,
        call: CallValue | None,
        registration: ast.expr,
        node: FunctionNode,
        module: Module,
        scope: Scope,
    ) -> ToolDef:
        handler = self.handler(node, module)
        function_name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
        name: Value = Const(node, module, function_name)
        description: Value = Missing(node, module)
        uri: Value | None = None
        contract: Contract | None = None
        if flavour == "lowlevel":
            name = Unknown(node, module, "the low-level handler serves every tool")
            description = Unknown(node, module, "the low-level server lists its tools elsewhere")
        elif call is not None:
            # `@tool("name")` of FastMCP and the SDK; of mcpcore options are keyword-only, but for `@resource(uri)`.
            position = 0 if kind != "resource" else None
            given = call.argument("name", position if flavour != "mcpcore" else None)
            if not isinstance(given, Missing) and not (isinstance(given, Const) and given.value is None):
                name = given
            described = call.argument("description")
            description = described
            if kind == "resource":
                uri = call.argument("uri", 0)
            contract = self._contract(call, registration, scope)
        if isinstance(description, Missing) or (isinstance(description, Const) and description.value is None):
            doc = handler.docstring
            description = Const(node, module, doc) if doc is not None else Missing(node, module)
        if contract is not None:
            self._complete(handler, contract)
        return ToolDef(kind, flavour, name, handler, self.module, registration, contract, description, server, uri)

    # -- contracts -----------------------------------------------------------------------------------------------

    def _contract(self, call: CallValue, registration: ast.expr, scope: Scope) -> Contract | None:
        value = call.argument("errors")
        if isinstance(value, Missing):
            return None
        node = _keyword_value(call.node, "errors")
        if isinstance(value, Const) and value.value is None and node is not None:
            return None
        inline = node
        module = call.module or scope.module
        if node is None:
            node = registration
        return self.contract_of(value, node, module, inline)

    def contract_of(self, value: Value, node: ast.expr, module: Module, inline: ast.expr | None) -> Contract:
        """The contract that a value is."""
        if isinstance(value, CallValue) and value.func.name == "mcpcore.Contract":
            value = value.argument("errors", 0)
        if isinstance(value, Items) and value.kind != "set":
            inside = set(walk([inline])) if inline is not None else set()
            entries = tuple(self._entry(each, module, inside) for each in value.items)
            return Contract(node, value, module, "sequence", entries, value.complete)
        if isinstance(value, Unknown | Missing | Symbol | CallValue):
            made = isinstance(value, CallValue) and value.func.name == "mcpcore.FailureMode"
            return Contract(node, value, module, "not_a_sequence" if made else "unknown", (), complete=False)
        if isinstance(value, Const | Text | Mapping | Items | CodeValue):
            return Contract(node, value, module, "not_a_sequence", (), complete=True)
        return Contract(node, value, module, "unknown", (), complete=False)

    def _entry(self, value: Value, module: Module, inside: set[ast.AST]) -> ContractEntry:
        where = value.module or module
        if isinstance(value, CallValue) and value.func.name == "mcpcore.FailureMode":
            call = value.node if isinstance(value.node, ast.Call) else None
            arguments = {name: argument_of(value, name, _position(name)) for name in ENTRY_ARGUMENTS}
            return ContractEntry(
                value, where, resolved=True, is_failure_mode=True, call=call, arguments=arguments, inline=call in inside
            )
        blank = {name: Argument(name, Unknown(value.node, where)) for name in ENTRY_ARGUMENTS}
        known = (
            isinstance(value, Const | Text | Items | Mapping | CodeValue)
            or (isinstance(value, CallValue) and value.func.name.startswith(("mcpcore.", "builtins.")))
            or (isinstance(value, Symbol) and value.name.startswith(("mcpcore.", "builtins.")))
        )
        return ContractEntry(
            value,
            where,
            resolved=known,
            is_failure_mode=False,
            call=None,
            arguments=blank,
            inline=value.node in inside,
        )

    # -- handlers ------------------------------------------------------------------------------------------------

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
                replace(each, error=changed.get(each.error, each.error)) if each.error is not None else each
                for each in handler.throws
            )


def _kind_of_decorator(name: str) -> tuple[ToolKind, ToolFlavour] | None:
    if name.startswith("mcpcore."):
        last = name.removeprefix("mcpcore.")
        return (KINDS[last], "mcpcore") if last in KINDS else None
    if name.startswith("fastmcp.") and name.rpartition(".")[2] in KINDS:
        return KINDS[name.rpartition(".")[2]], "fastmcp"
    return None


def _position(name: str) -> int | None:
    return ENTRY_POSITIONAL.index(name) if name in ENTRY_POSITIONAL else None


def _keyword_value(node: ast.AST | None, name: str) -> ast.expr | None:
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg == name:
                return keyword.value
    return None
