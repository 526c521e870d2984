"""Registrations whose functions cannot be found, although they may be functions of the project."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.model import Symbol, Text, Unknown, options
from mcpcore_lint.registrations.collecting import collector_of
from mcpcore_lint.registrations.elements import looked_up
from mcpcore_lint.registrations.environment import Frame, bound, called_frame, see, written_scope
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.symbols import class_round
from mcpcore_lint.syntax.parse import children, own_nodes, statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.registrations.functions import Functions
    from mcpcore_lint.registrations.ways import Site
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

DEEP: Final = 16
STEPS: Final = 300
_LOOKS_INTO: Final = frozenset({"builtins.dir", "builtins.vars", "inspect.getmembers", "inspect.getmembers_static"})
_IMPORTS: Final = frozenset({"importlib.import_module", "builtins.__import__"})
_KEY: Final = "unresolved registrations"


class Unresolved(NamedTuple):
    """One such registration."""

    registration: ast.expr
    text: str
    """The expression that is registered, as written."""
    example: str
    """An entry for the setting `handlers` that would name the functions."""


def unresolved_in(module: Module) -> tuple[Unresolved, ...]:
    """The unresolved registrations of a file, once its tools were looked for."""
    unresolved: tuple[Unresolved, ...] = module.memo.get(_KEY, ())
    return unresolved


def note_unresolved(module: Module, unresolved: list[Unresolved]) -> None:
    """Keep the unresolved registrations of a file, one for each place."""
    places = {(each.registration.lineno, each.registration.col_offset): each for each in unresolved}
    module.memo[_KEY] = tuple(places[place] for place in sorted(places))


class Origins:
    """Says whether a registered expression may be a function of the project, by the expressions that it comes from."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self._modules: list[str] = []
        self._names: list[str] = []
        self._steps = 0

    def unresolved(self, site: Site) -> Unresolved | None:
        """The report for a registration without functions; None if no function of the project can be behind it."""
        self._modules, self._names, self._steps = [], [], 0
        if not self._is_own(site.target, site.scope, 0):
            return None
        modules = self._modules[0] if self._modules else site.scope.module.name
        names = self._names[0] if self._names else "*" if self._modules else "handle_*"
        text = " ".join(ast.unparse(site.target).split())
        return Unresolved(site.registration, text if len(text) <= 60 else text[:57] + "...", f"{modules}:{names}")

    def _is_own(self, node: ast.expr, scope: Scope, depth: int) -> bool:
        """Whether an expression may be, or contain, a function of the project that the linter cannot name."""
        self._steps += 1
        if depth > DEEP or self._steps > STEPS or isinstance(node, ast.Lambda):
            return False
        if isinstance(scope, Frame):
            node, scope = see(node, scope, scope.filled)
        if isinstance(node, ast.Name):
            return self._named(node, scope, depth + 1)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, scope, depth + 1)
        if isinstance(node, ast.Call):
            return self._called(node, scope, depth + 1)
        parts = [node.value] if isinstance(node, ast.Subscript) else children(node)
        parts = [part.iter if isinstance(part, ast.comprehension) else part for part in parts]
        return any(isinstance(part, ast.expr) and self._is_own(part, scope, depth + 1) for part in parts)

    def _named(self, node: ast.Name, scope: Scope, depth: int) -> bool:
        place = scope.lookup(node.id)
        if place is None or any(binding.kind in {"parameter", "with"} for binding in place[1]):
            return False
        where, bindings = place
        for binding in bindings:
            if binding.kind == "import":
                home = self.functions.elements.members.home(node, scope)
                if home is not None:
                    return self._is_own(*home, depth)
                value = evaluate(node, scope)
                if isinstance(value, Symbol) and isinstance(value.definition, ast.Module):
                    self._modules.append(value.name)
                    return True
                return isinstance(value, Unknown)
            if isinstance(binding.node, (ast.For, ast.AsyncFor, ast.comprehension)):
                # The items may come from the arguments of a call.
                inside = scope if isinstance(scope, Frame) and written_scope(scope) is where else where
                if self._is_own(binding.node.iter, inside, depth):
                    return True
            elif binding.value is not None and binding.kind in {"assign", "annotated"}:
                values = (binding.value, *_added(node.id, where))
                if any(self._is_own(value, where, depth) for value in values):
                    return True
                if _is_filled_later(node.id, binding.value, where):
                    return True
        return False

    def _attribute(self, node: ast.Attribute, scope: Scope, depth: int) -> bool:
        base = evaluate(node.value, scope)
        if isinstance(base, Symbol):
            if not isinstance(base.definition, ast.Module):
                return False
            self._modules.append(base.name)
            home = self.functions.elements.members.home(node, scope)
            return home is None or self._is_own(*home, depth)
        places = bound(node, scope)
        if places:
            return any(self._is_own(value, where, depth) for value, where in places if value is not node)
        return not _is_self(node.value) and self._is_own(node.value, scope, depth)

    def _called(self, node: ast.Call, scope: Scope, depth: int) -> bool:
        if self.functions.registers(node, scope):
            return False
        func = node.func
        symbol = next((option for option in options(evaluate(func, scope)) if isinstance(option, Symbol)), None)
        if symbol is None:
            method = isinstance(func, ast.Attribute) and (looked_up(node)[0] is not None or len(node.args) < 2)
            inside = [func.value] if method and isinstance(func, ast.Attribute) else node.args
            return any(self._is_own(part, scope, depth) for part in inside)
        if symbol.name == "builtins.getattr" and len(node.args) > 1:
            name = evaluate(node.args[1], scope)
            if isinstance(name, Text) and any(name.parts):
                self._names.append("".join("*" if part is None else part for part in name.parts))
            return self._holder(node.args[0], scope, depth)
        if symbol.name in _IMPORTS and node.args:
            return self._imported(node, scope)
        if symbol.name == "importlib.util.module_from_spec":
            return True  # a file that is loaded by its path
        if symbol.name in _LOOKS_INTO and node.args:
            return self._holder(node.args[0], scope, depth)
        if symbol.name in {"builtins.globals", "builtins.locals", *_LOOKS_INTO}:
            self._modules.append(scope.module.name)
            return True
        if isinstance(symbol.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            frame = called_frame(symbol.definition, node, scope)
            returns = [each for each in own_nodes(symbol.definition) if isinstance(each, (ast.Return, ast.Yield))]
            return frame is not None and any(
                each.value is not None and self._is_own(each.value, frame, depth) for each in returns
            )
        # `sorted(tools, key=...)`, `Record(fn)`
        return any(self._is_own(argument, scope, depth) for argument in node.args)

    def _holder(self, node: ast.expr, scope: Scope, depth: int) -> bool:
        """Whether an object whose members are read is a module or an object of the project."""
        module = self.functions.elements.members.module(node, scope)
        if module is not None:
            self._modules.append(module.name)
            return True
        if _is_self(node):
            return class_round(scope) is not None
        value = evaluate(node, scope)
        return value.definition is not None if isinstance(value, Symbol) else self._is_own(node, scope, depth)

    def _imported(self, node: ast.Call, scope: Scope) -> bool:
        """Whether `import_module(name)` may be a module of the project."""
        members = self.functions.elements.members
        if members.module(node, scope) is not None:
            return True
        if members.text(node.args[0], scope) is not None:
            return False
        value = evaluate(node.args[0], scope)
        package = written_scope(scope).module.name.rpartition(".")[0]
        start = value.parts[0] if isinstance(value, Text) and value.parts else None
        if start and start.strip("."):
            package = start.rstrip(".")
        self._modules.append(f"{package}.*" if package else "tools.*")
        return True


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in {"self", "cls"}


def _added(name: str, where: Scope) -> Iterator[ast.expr]:
    """The items that the same function adds to a list or a table: `x.append(item)`, `x[key] = item`."""
    if isinstance(where.node, ast.Lambda) or not where.module.changes_in_place(name):
        return
    for statement in statements(list(where.node.body)):
        match statement:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=holder))], value=item) if holder == name:
                yield item
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=holder)), args=[item])) if holder == name:
                yield item


def _is_filled_later(name: str, value: ast.expr, where: Scope) -> bool:
    """Whether a list or a table at the top of a file is empty as written, and filled by code that is not followed."""
    if isinstance(value, ast.Call):
        empty = not value.args and not value.keywords
    else:
        empty = isinstance(value, (ast.List, ast.Tuple, ast.Dict)) and not children(value)
    module = where.module
    if not empty or not where.is_module or not module.changes_in_place(name):
        return False
    functions = [each for each in list(module.functions) if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return all(collector_of(function, module, module) is None for function in functions)


__all__ = ["Origins", "Unresolved", "note_unresolved", "unresolved_in"]
