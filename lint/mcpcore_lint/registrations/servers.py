"""Which expressions are servers: calls, parameters, attributes and imported names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final, Literal

from mcpcore_lint.model import CallValue, Choice, Const, Symbol, Unknown, Value, options
from mcpcore_lint.names import FRAMEWORKS, SERVER_FACTORIES, SERVERS
from mcpcore_lint.registrations.callers import arguments_of, calls_elsewhere, calls_here
from mcpcore_lint.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.semantics.symbols import class_round, qualified
from mcpcore_lint.semantics.type_model import Instance, Outside
from mcpcore_lint.semantics.types import Inference
from mcpcore_lint.syntax.parse import all_parameters, own_nodes

if TYPE_CHECKING:
    from mcpcore_lint.records import ToolFlavour
    from mcpcore_lint.semantics.hierarchy import Hierarchy
    from mcpcore_lint.syntax.module import ClassInfo, Module
    from mcpcore_lint.syntax.scopes import Binding, Scope

_USUAL: Final = frozenset({"mcp", "server", "app", "mcp_server", "mcp_app", "fastmcp"})
"""Usual names of the parameter for a server."""
_OTHERWISE: Final = ("client", "mock", "fake", "session", "config", "settings", "path", "url", "tools", "agent")
"""Parts of names of other things than servers of tools."""
_PARTS: Final = frozenset({"_tool_manager", "_resource_manager", "_prompt_manager"})
"""Attributes of the high-level servers that hold their registrations."""
_ANYTHING: Final = frozenset({"typing.Any", "builtins.object", "typing.TypeVar"})
Function = ast.FunctionDef | ast.AsyncFunctionDef
Found = tuple["ToolFlavour | None", "str | None"]
NOTHING: Final[Found] = (None, None)


class Servers:
    """Answers for one file."""

    def __init__(self, module: Module, hierarchy: Hierarchy, *, sure: bool = False) -> None:
        """Make it for a file; where `sure`, no usual name is enough."""
        self.module = module
        self.sure = sure
        self.hierarchy = hierarchy

    def server(self, node: ast.expr, scope: Scope) -> Found:
        """The flavour of a server object, and a key by which the same object is known elsewhere."""
        if isinstance(node, ast.Await):
            node = node.value
        value = evaluate(node, scope)
        for each in options(value):
            if isinstance(each, CallValue):
                found = self._made(each)
                if found[0] is not None:
                    return found
        if isinstance(node, ast.Name):
            return self._named(node, value, scope)
        if isinstance(node, ast.Attribute):
            if not isinstance(value, (Unknown, Choice)):
                return self._imported(value)
            found = self._attribute(node, scope)
            return self.server(node.value, scope) if found[0] is None and node.attr in _PARTS else found
        return NOTHING

    def flavour_of(self, symbol: Symbol) -> ToolFlavour | None:
        """The flavour of a class that makes servers; None for any other class."""
        names = {symbol.name}
        if isinstance(symbol.definition, ast.ClassDef):
            names |= self.hierarchy.ancestors(symbol.name, symbol)[0]
        known = (SERVERS.get(name) or SERVER_FACTORIES.get(name) for name in names)
        flavour: Any = next((flavour for flavour in known if flavour is not None), None)
        found: ToolFlavour | None = flavour
        return found

    # -- what is made by a call --------------------------------------------------------------------------------------

    def _made(self, value: CallValue) -> Found:
        node = value.node
        if node is None or value.module is None:
            return NOTHING
        key = f"{value.module.path}:{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}"
        flavour = self.flavour_of(value.func)
        if flavour is not None:
            return flavour, key
        if isinstance(value.func.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            flavour, own = self._returned(value.func.definition)
            return flavour, own or key
        return NOTHING

    def _returned(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Found:
        """The server that a function of the project returns, with its key where that is one for all calls."""
        owner = self.module.project.module_defining(node)
        if owner is None:
            return NOTHING
        known: Found | None = owner.memo.get(("returned server", node))
        if known is not None:
            return known
        # A function that leads back to itself returns nothing that is known.
        owner.memo["returned server", node] = NOTHING
        known = self._find_returned(node, owner)
        owner.memo["returned server", node] = known
        return known

    def _find_returned(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: Module) -> Found:
        scope = owner.scope_of(node)
        found: Found = NOTHING
        for each in own_nodes(node):
            if isinstance(each, ast.Return) and each.value is not None:
                servers = Servers(owner, self.hierarchy)
                flavour, key = servers.server(each.value, scope)
                place = scope.lookup(each.value.id) if isinstance(each.value, ast.Name) else None
                if flavour is not None:
                    found = flavour, key if place is not None and place[0].is_module else None
                    break
        if node.returns is not None:
            symbol = Resolver().annotation_symbol(node.returns, scope.parent or owner.scope)
            flavour = self.flavour_of(symbol) if symbol is not None else None
            if flavour is not None:
                return flavour, found[1]
        return found

    def _flavour_of_call(self, node: ast.expr, scope: Scope) -> ToolFlavour | None:
        """The flavour of a call of one of several classes, as `FastMCP` of whichever package could be imported."""
        if isinstance(node, ast.Await):
            node = node.value
        if isinstance(node, ast.Call):
            for each in options(evaluate(node.func, scope)):
                if isinstance(each, Symbol):
                    flavour = self.flavour_of(each)
                    if flavour is None and isinstance(each.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
                        flavour = self._returned(each.definition)[0]
                    if flavour is not None:
                        return flavour
        return None

    # -- names -------------------------------------------------------------------------------------------------------

    def _named(self, node: ast.Name, value: Value, scope: Scope) -> Found:
        found = scope.lookup(node.id)
        if found is None:
            return (self._guess(node.id), None) if isinstance(value, Unknown) else self._imported(value)
        where, bindings = found
        key = f"{where.module.path}:{where.qualname}:{node.id}"
        if isinstance(value, Symbol):
            return self._imported(value)[0], key
        # The file that an imported name comes from says what it is.
        for binding in bindings:
            flavour = self._annotated(binding, where)
            if flavour is None and binding.value is not None:
                flavour = self._flavour_of_call(binding.value, where)
            if flavour is not None:
                return flavour, key
        if not isinstance(value, (Unknown, Choice)) and not _is_none(value) and not _made_elsewhere(value):
            return NOTHING
        own = self._of_class(node, where, bindings)
        if own is not None:
            return own
        flavour, known = self._inferred(node, scope)
        if flavour is not None or known:
            return flavour, key
        guess = self._guess(node.id) or self._passed(node.id, where)
        return None if guess == "other" else guess, key

    def _passed(self, name: str, where: Scope) -> ToolFlavour | Literal["other"] | None:
        """The flavour of a parameter without a known name or annotation, by the calls of its function.

        "other" if a call passes an object that is known, and is no server.
        """
        function, module = where.node, where.module
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        key = ("passed server", function, name, self.sure)
        if key not in module.memo:
            module.memo[key] = None  # a function may pass its parameter on to itself
            if any(each.arg == name for each in all_parameters(function.args)):
                module.memo[key] = self._find_passed(name, function, where)
        found: ToolFlavour | Literal["other"] | None = module.memo[key]
        return found

    def _find_passed(self, name: str, function: Function, where: Scope) -> ToolFlavour | Literal["other"] | None:
        here = self._first_server(name, function, where, calls_here(function, where))
        if here is not None and here != "other":
            return here
        certain, possible = calls_elsewhere(function, where)
        if not certain and not _is_otherwise(name):
            certain = possible
        return self._first_server(name, function, where, certain) or here

    def _first_server(
        self, name: str, function: Function, where: Scope, calls: list[tuple[ast.Call, Scope]]
    ) -> ToolFlavour | Literal["other"] | None:
        """The flavour of the first server that some calls pass in a parameter."""
        other: Literal["other"] | None = None
        for call, scope in calls:
            argument = arguments_of(function, call, bound_first=where.owner is not None).get(name)
            if argument is None:
                continue
            # The usual name of a server proves nothing in a file that may mean another function.
            sure = self.sure or scope.module is not where.module
            servers = Servers(scope.module, self.hierarchy, sure=sure)
            flavour = servers.server(argument, scope)[0]
            if flavour is not None:
                return flavour
            place = scope.lookup(argument.id) if isinstance(argument, ast.Name) else None
            above = servers._passed(argument.id, place[0]) if place and isinstance(argument, ast.Name) else None
            if above == "other" or servers._inferred(argument, scope)[1]:
                other = "other"
        return other

    def _annotated(self, binding: Binding, where: Scope) -> ToolFlavour | None:
        if binding.annotation is None:
            return None
        symbol = Resolver().annotation_symbol(binding.annotation, where)
        return self.flavour_of(symbol) if symbol is not None else None

    def _of_class(self, node: ast.Name, where: Scope, bindings: list[Binding]) -> Found | None:
        """`self`, in a method of a class that is a server."""
        if where.owner is None or bindings[0].kind != "parameter" or isinstance(where.node, (ast.Module, ast.Lambda)):
            return None
        args = [*where.node.args.posonlyargs, *where.node.args.args]
        if not args or args[0].arg != node.id:
            return None
        info = where.module.classes[where.owner]
        return self.flavour_of_class(info), f"{where.module.path}:{info.qualname}"

    def flavour_of_class(self, info: ClassInfo) -> ToolFlavour | None:
        """The flavour of a class of the project that is a server."""
        name = qualified(info.module, info.node)
        return self.flavour_of(Symbol(info.node, info.module, name, info.node))

    def _imported(self, value: Value) -> Found:
        """The flavour of a server of a package that cannot be read: by its usual name."""
        if not isinstance(value, Symbol) or value.definition is not None:
            return NOTHING
        package, _, rest = value.name.partition(".")
        if not rest or package in FRAMEWORKS or package == "builtins":
            return NOTHING
        return self._guess(rest.rpartition(".")[2]), value.name

    # -- attributes --------------------------------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Found:
        flavour, known = self._inferred(node, scope)
        key = f"{self.module.path}:{ast.unparse(node)}"
        if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
            owner = class_round(scope)
            if owner is not None:
                key = f"{owner.module.path}:{owner.qualname}.{node.attr}"
                flavour = flavour or self._kept(owner, node.attr)
        if flavour is None and not known:
            flavour = self._guess(node.attr)
        return (flavour, key) if flavour is not None else NOTHING

    def _kept(self, owner: ClassInfo, name: str) -> ToolFlavour | None:
        """The flavour of the values that the methods of a class assign to an attribute."""
        for _, value, scope in owner.instance_attributes.get(name, ()):
            if value is not None:
                flavour = self._flavour_of_call(value, scope)
                if flavour is None and isinstance(value, ast.Name):
                    flavour = self.server(value, scope)[0]
                if flavour is not None:
                    return flavour
        return None

    def _inferred(self, node: ast.expr, scope: Scope) -> tuple[ToolFlavour | None, bool]:
        """The flavour of an object by its class, and whether its class is known."""
        known = False
        for kind in Inference().of(node, scope):
            flavour: ToolFlavour | None = None
            if isinstance(kind, Instance):
                flavour = self.flavour_of_class(kind.info)
                known = True
            elif isinstance(kind, Outside) and kind.name and kind.name not in _ANYTHING:
                flavour = self.flavour_of(Symbol(node, self.module, kind.name))
                # The result of a function of another package stays unknown; a class is known by its name.
                known = known or kind.name.rpartition(".")[2][:1].isupper()
            if flavour is not None:
                return flavour, True
        return None, known

    def _guess(self, name: str) -> ToolFlavour | None:
        """The flavour of a server of unknown origin: by its usual name, in a file that mentions a framework."""
        plain = name.lower().strip("_")
        if plain not in _USUAL:
            speaks = "mcp" in plain or plain.endswith("_server")
            if not speaks or _is_otherwise(plain):
                return None
        if self.sure:
            return None
        text = self.module.source.text
        if "fastmcp" in text and "mcp.server.fastmcp" not in text:
            return "fastmcp"
        return "sdk" if "mcp" in text else None


def _is_otherwise(name: str) -> bool:
    """Whether a name says that it is no server of tools."""
    return any(part in name.lower() for part in _OTHERWISE)


def _is_none(value: Value) -> bool:
    """Whether a name is None here, until a function gives it a value."""
    return isinstance(value, Const) and value.value is None


def _made_elsewhere(value: Value) -> bool:
    """Whether a value is the result of a function, not of a class, that cannot be read."""
    if not isinstance(value, CallValue) or value.func.definition is not None:
        return False
    package, _, rest = value.func.name.partition(".")
    return bool(rest) and package != "builtins" and rest.rpartition(".")[2][:1].islower()


__all__ = ["Servers"]
