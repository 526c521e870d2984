"""Which expressions are servers: calls, parameters, attributes and imported names."""

import ast
from collections.abc import Iterable, Iterator
from typing import Any, Final

from mcpcore_lint.engine.registrations.callers import is_never_run
from mcpcore_lint.engine.registrations.environment import Placed, assignments_of
from mcpcore_lint.engine.registrations.functions import Functions
from mcpcore_lint.engine.registrations.registration_forms import flavour_in
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
from mcpcore_lint.engine.semantics.symbols import class_round, qualified
from mcpcore_lint.engine.semantics.type_model import Instance, Outside, is_abstract, method_of
from mcpcore_lint.engine.semantics.types import Inference
from mcpcore_lint.engine.syntax.module import ClassInfo, Module
from mcpcore_lint.engine.syntax.parse import Function, returned
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import CallValue, Choice, Symbol, Unknown, Value, is_left_out, options
from mcpcore_lint.names import SERVERS
from mcpcore_lint.records import ToolFlavour

_USUAL: Final = frozenset({"mcp", "server", "app", "mcp_server", "mcp_app", "fastmcp"})
"""Usual names of the parameter for a server."""
_OTHERWISE: Final = ("client", "mock", "fake", "session", "config", "settings", "path", "url", "tools", "agent")
"""Parts of names of other things than servers of tools."""
_LOWLEVEL: Final = "_mcp_server"
_PARTS: Final = frozenset({"_tool_manager", "_resource_manager", "_prompt_manager", "local_provider", _LOWLEVEL})
"""Attributes of the high-level servers that hold their registrations."""
_ANYTHING: Final = frozenset({"typing.Any", "builtins.object", "typing.TypeVar"})
Found = tuple["ToolFlavour | None", "str | None"]
NOTHING: Final[Found] = (None, None)


class Servers:
    """Answers, and remembers what each function returns."""

    def __init__(self, hierarchy: Hierarchy, functions: Functions) -> None:
        self.hierarchy = hierarchy
        self.functions = functions
        self._active: set[tuple[ast.AST, str]] = set()
        """The parameters and attributes whose values are being read."""

    def server(self, node: ast.expr, scope: Scope) -> Found:
        """The flavour of a server object, and a key by which the same object is known elsewhere."""
        if isinstance(node, ast.Await):
            node = node.value
        value = evaluate(node, scope)
        for option in options(value):
            if isinstance(option, CallValue):
                server = self._made(option)
                if server[0] is not None:
                    return server
        if isinstance(node, ast.Name):
            return self._named(node, value, scope)
        if isinstance(node, ast.Attribute):
            if not isinstance(value, (Unknown, Choice)):
                return NOTHING
            server = self._attribute(node, scope) if node.attr != _LOWLEVEL else NOTHING
            if server[0] is None and node.attr in _PARTS:
                server = self.server(node.value, scope)
                return ("lowlevel", server[1]) if server[0] is not None and node.attr == _LOWLEVEL else server
            return server
        return NOTHING

    def flavour_of(self, symbol: Symbol) -> ToolFlavour | None:
        """The flavour of a class that makes servers; None for any other class."""
        names = {symbol.name}
        if isinstance(symbol.definition, ast.ClassDef):
            names |= self.hierarchy.ancestors(symbol.name, symbol)[0]
        flavour: Any = next((SERVERS[name] for name in names if name in SERVERS), None)
        known: ToolFlavour | None = flavour
        return known

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
            flavour, own = self._returned(value.func.definition, value.module)
            return flavour, own or key
        return NOTHING

    def _returned(self, node: Function, asking: Module) -> Found:
        """The server that a function of the project returns, with its key where that is one for all calls."""
        owner = asking.project.module_defining(node)
        if owner is None:
            return NOTHING
        # A function that leads back to itself returns nothing that is known.
        return owner.once(("returned server", node), lambda: self._first_returned(node, owner.scope_of(node)), NOTHING)

    def _first_returned(self, node: Function, scope: Scope) -> Found:
        for value in returned(node):
            flavour, server = self.server(value, scope)
            if flavour is not None:
                place = scope.lookup(value.id) if isinstance(value, ast.Name) else None
                return flavour, server if place is not None and place[0].is_module else None
        return NOTHING

    # -- names -------------------------------------------------------------------------------------------------------

    def _named(self, node: ast.Name, value: Value, scope: Scope) -> Found:
        match = scope.lookup(node.id)
        if match is None:
            return (self._guess(node.id, scope.module), None) if isinstance(value, Unknown) else NOTHING
        where = match[0]
        key = f"{where.module.path}:{where.qualname}:{node.id}"
        if isinstance(value, Symbol):
            return None, key
        if not isinstance(value, (Unknown, Choice)) and not is_left_out(value) and not made_elsewhere(value):
            return NOTHING
        if where.owner is not None and node.id in {"self", "cls"}:
            key = f"{where.module.path}:{where.module.classes[where.owner].qualname}"
        if match[1][0].kind == "parameter" and is_never_run(where):
            return NOTHING
        flavour, known = self._inferred(node, scope)
        flavour = flavour or (None if known else self._guess(node.id, scope.module))
        if flavour is None and not known and match[1][0].kind == "parameter" and self.functions.backward:
            flavour = self._first((where.node, node.id), self._passed(node.id, where))
        return flavour, key

    def _passed(self, name: str, scope: Scope) -> Iterator[Placed]:
        """What the calls of a function pass for a parameter, where no reading of these calls says it."""
        yield from (
            frame.filled[name] for frame in self.functions.elements.unread_callers(scope) if name in frame.filled
        )

    def _first(self, key: tuple[ast.AST, str], placed: Iterable[Placed]) -> ToolFlavour | None:
        """The flavour of the first server among some expressions."""
        if key in self._active:
            return None
        before, self.functions.backward = self.functions.backward, True
        self._active.add(key)
        try:
            return next((flavour for value in placed if (flavour := self.server(*value)[0]) is not None), None)
        finally:
            self._active.discard(key)
            self.functions.backward = before

    def flavour_of_class(self, info: ClassInfo) -> ToolFlavour | None:
        """The flavour of a class of the project that is a server."""
        return self.flavour_of(Symbol(info.node, info.module, qualified(info.module, info.node), info.node))

    # -- attributes --------------------------------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Found:
        flavour, known = self._inferred(node, scope)
        key = f"{scope.module.path}:{ast.unparse(node)}"
        if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
            owner = class_round(scope)
            if owner is not None:
                key = f"{owner.module.path}:{owner.qualname}.{node.attr}"
        if flavour is None and not known:
            flavour = self._guess(node.attr, scope.module)
            flavour = flavour or self._first((node, node.attr), assignments_of(node, scope))
        return (flavour, key) if flavour is not None else NOTHING

    def _inferred(self, node: ast.expr, scope: Scope) -> tuple[ToolFlavour | None, bool]:
        """The flavour of an object by its class, and whether its class is known."""
        known = False
        for kind in Inference().of(node, scope):
            flavour: ToolFlavour | None = None
            if isinstance(kind, Instance):
                flavour = self.flavour_of_class(kind.info)
                # A protocol with a method for tools describes a server, whatever its name.
                method = method_of(kind.info, "add_tool") or method_of(kind.info, "tool")
                known = method is None or not is_abstract(*method)
            elif isinstance(kind, Outside) and kind.name and kind.name not in _ANYTHING:
                flavour = self.flavour_of(Symbol(node, scope.module, kind.name))
                # The result of a function of another package stays unknown; a class is known by its name.
                known = known or kind.name.rpartition(".")[2][:1].isupper()
            if flavour is not None:
                return flavour, True
        return None, known

    def has_known_class(self, node: ast.expr, scope: Scope) -> bool:
        """Whether the class of an object is known."""
        return self._inferred(node, scope)[1]

    @staticmethod
    def may_be_server(made: str, node: ast.expr) -> bool:
        """Whether neither the name of an object nor that of what makes it says that it is something else."""
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        return "agent" not in made.lower() and not any(part in name.lower() for part in _OTHERWISE)

    @staticmethod
    def _guess(name: str, module: Module) -> ToolFlavour | None:
        """The flavour of a server of unknown origin: by its usual name, in a file that mentions a framework."""
        plain = name.lower().strip("_")
        if plain not in _USUAL:
            speaks = "mcp" in plain or plain.endswith("_server")
            if not speaks or any(part in plain for part in _OTHERWISE):
                return None
        return flavour_in(module.source.text)


def made_elsewhere(value: Value) -> bool:
    """Whether a value is the result of a function, not of a class, that cannot be read."""
    if not isinstance(value, CallValue) or value.func.definition is not None:
        return False
    package, _, rest = value.func.name.partition(".")
    return bool(rest) and package != "builtins" and rest.rpartition(".")[2][:1].islower()
