"""Registrations whose functions cannot be found, although they may be functions of the project."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.model import Symbol, Text, Unknown, options
from mcpcore_lint.registrations.bindings import bound, see
from mcpcore_lint.registrations.deferred import keeps
from mcpcore_lint.registrations.frames import Frame, called_frame, written_scope
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.symbols import class_round
from mcpcore_lint.syntax.parse import alternatives, own_nodes, statements, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.registrations.handlers import Targets
    from mcpcore_lint.registrations.sites import Site
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

DEEP: Final = 16
STEPS: Final = 300
_SAME: Final = frozenset({"list", "tuple", "set", "sorted", "reversed", "iter", "filter", "map", "enumerate", "zip"})
_VIEWS: Final = frozenset({"values", "items", "keys", "copy", "get", "pop"})
_LOOKED_INTO: Final = frozenset({"builtins.dir", "builtins.vars", "inspect.getmembers", "inspect.getmembers_static"})
_KEY: Final = "unresolved registrations"


class Unresolved(NamedTuple):
    """One such registration."""

    registration: ast.expr
    what: str
    """What is registered, as written."""
    example: str
    """An entry of `handlers` of the shape that would name the functions."""


def unresolved_in(module: Module) -> tuple[Unresolved, ...]:
    """Those of a file whose tools were looked for."""
    found: tuple[Unresolved, ...] = module.memo.get(_KEY, ())
    return found


def note_unresolved(module: Module, found: list[Unresolved]) -> None:
    """Keep those of a file, one for each place."""
    places = {(each.registration.lineno, each.registration.col_offset): each for each in found}
    module.memo[_KEY] = tuple(places[place] for place in sorted(places))


class Origins:
    """Tells where what is registered comes from."""

    def __init__(self, targets: Targets) -> None:
        self.targets = targets
        self._modules: list[str] = []
        self._names: list[str] = []
        self._steps = 0

    def unresolved(self, site: Site) -> Unresolved | None:
        """The registration of a site at which no function was found; None where there can be none of the project."""
        self._modules, self._names, self._steps = [], [], 0
        if not self._ours(site.target, site.scope, 0):
            return None
        home = site.scope.module.name
        modules = self._modules[0] if self._modules else home
        names = self._names[0] if self._names else "*" if self._modules else "handle_*"
        text = " ".join(ast.unparse(site.target).split())
        return Unresolved(site.registration, text if len(text) <= 60 else text[:57] + "...", f"{modules}:{names}")

    def _ours(self, node: ast.expr, scope: Scope, depth: int) -> bool:
        """Whether an expression may be, or contain, a function of the project that the linter cannot name."""
        self._steps += 1
        if depth > DEEP or self._steps > STEPS:
            return False
        if isinstance(scope, Frame):
            node, scope = see(node, scope, scope.filled)
        deeper = depth + 1
        match node:
            case ast.Name():
                return self._named(node, scope, deeper)
            case ast.Attribute():
                return self._attribute(node, scope, deeper)
            case ast.Subscript(value=table):
                return self._ours(table, scope, deeper)
            case ast.Call():
                return self._call(node, scope, deeper)
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return any(self._ours(each, scope, deeper) for each in items)
            case ast.Dict(values=items):
                return any(self._ours(each, scope, deeper) for each in items)
            case ast.ListComp(elt=element, generators=loops) | ast.GeneratorExp(elt=element, generators=loops):
                return self._ours(element, scope, deeper) or any(self._ours(x.iter, scope, deeper) for x in loops)
            case ast.DictComp(value=element, generators=loops):
                return self._ours(element, scope, deeper) or any(self._ours(x.iter, scope, deeper) for x in loops)
            case ast.IfExp() | ast.BoolOp():
                return any(self._ours(each, scope, deeper) for each in alternatives(node))
            case ast.BinOp(left=left, right=right):
                return self._ours(left, scope, deeper) or self._ours(right, scope, deeper)
            case ast.Starred(value=inner) | ast.NamedExpr(value=inner):
                return self._ours(inner, scope, deeper)
        return False

    def _named(self, node: ast.Name, scope: Scope, depth: int) -> bool:
        place = scope.lookup(node.id)
        if place is None:
            return False
        where, bindings = place
        if any(each.kind in {"parameter", "with"} for each in bindings):
            return False
        for each in bindings:
            if each.kind == "import":
                value = evaluate(node, scope)
                home = self.targets.items.members.home(node, scope)
                if home is not None and self._named_at(home[0], home[1], depth):
                    return True
                if isinstance(value, Symbol) and isinstance(value.definition, ast.Module):
                    self._modules.append(value.name)
                    return True
                if home is None and isinstance(value, Unknown):
                    return True
            elif isinstance(each.node, (ast.For, ast.AsyncFor, ast.comprehension)):
                # The loop may be over what a call fills in.
                inside = scope if isinstance(scope, Frame) and written_scope(scope) is where else where
                if self._ours(each.node.iter, inside, depth):
                    return True
            elif (
                each.value is not None
                and each.kind in {"assign", "annotated"}
                and (
                    self._ours(each.value, where, depth)
                    or self._filled_later(node.id, each.value, where)
                    or any(self._ours(item, where, depth) for item in _put_in(node.id, where))
                )
            ):
                return True
        return False

    def _named_at(self, node: ast.expr, scope: Scope, depth: int) -> bool:
        return isinstance(node, ast.Name) and self._ours(node, scope, depth + 1)

    @staticmethod
    def _filled_later(name: str, value: ast.expr, where: Scope) -> bool:
        """Whether a list or a table is empty as written, and filled by a decorator that is no maker of tools."""
        empty = (
            (isinstance(value, (ast.List, ast.Tuple)) and not value.elts)
            or (isinstance(value, ast.Dict) and not value.keys)
            or (isinstance(value, ast.Call) and not value.args and not value.keywords)
        )
        module = where.module
        if not empty or not where.is_module or not module.changes_in_place(name):
            return False
        return not any(
            isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and keeps(each, module, module) is not None
            for each in list(module.functions)
        )

    def _attribute(self, node: ast.Attribute, scope: Scope, depth: int) -> bool:
        base = evaluate(node.value, scope)
        if isinstance(base, Symbol):
            if isinstance(base.definition, ast.Module):
                self._modules.append(base.name)
                home = self.targets.items.members.home(node, scope)
                return home is None or self._named_at(home[0], home[1], depth)
            return False
        places = bound(node, scope)
        if places:
            return any(self._ours(each, where, depth) for each, where in places if each is not node)
        if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
            return False
        return self._ours(node.value, scope, depth)

    def _call(self, node: ast.Call, scope: Scope, depth: int) -> bool:
        if self.targets.counted(node, scope):
            return False
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in _VIEWS:
            return self._ours(func.value, scope, depth)
        symbols = [each for each in options(evaluate(func, scope)) if isinstance(each, Symbol)]
        if not symbols:
            return isinstance(func, ast.Call) and any(self._ours(each, scope, depth) for each in node.args)
        symbol = symbols[0]
        if symbol.name == "builtins.getattr" and len(node.args) > 1:
            return self._member(node.args[0], node.args[1], scope, depth)
        if symbol.name in {"importlib.import_module", "builtins.__import__"} and node.args:
            return self._module(node, scope)
        if symbol.name == "importlib.util.module_from_spec":
            return True  # a file that is loaded by its path
        if symbol.name in {"builtins.globals", "builtins.locals"} or (symbol.name in _LOOKED_INTO and not node.args):
            self._modules.append(scope.module.name)
            return True
        if symbol.name in _LOOKED_INTO:
            return self._holder(node.args[0], scope, depth)
        if isinstance(symbol.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            frame = called_frame(symbol.definition, node, scope)
            returned = [
                each.value
                for each in own_nodes(symbol.definition)
                if isinstance(each, (ast.Return, ast.Yield, ast.YieldFrom)) and each.value is not None
            ]
            return frame is not None and any(self._ours(each, frame, depth) for each in returned)
        if isinstance(symbol.definition, ast.ClassDef):
            return any(self._ours(each, scope, depth) for each in (*node.args, *(each.value for each in node.keywords)))
        last = symbol.name.rpartition(".")[2]
        return (last in _SAME or len(node.args) == 1) and any(self._ours(each, scope, depth) for each in node.args)

    def _member(self, holder: ast.expr, name: ast.expr, scope: Scope, depth: int) -> bool:
        value = evaluate(name, scope)
        if isinstance(value, Text) and any(value.parts):
            self._names.append("".join("*" if part is None else part for part in value.parts))
        return self._holder(holder, scope, depth)

    def _holder(self, node: ast.expr, scope: Scope, depth: int) -> bool:
        """Whether what is looked into is a module or an object of the project."""
        module = self.targets.items.members.module(node, scope)
        if module is not None:
            self._modules.append(module.name)
            return True
        if isinstance(node, ast.Name) and node.id in {"self", "cls"}:
            return class_round(scope) is not None
        value = evaluate(node, scope)
        if isinstance(value, Symbol):
            return value.definition is not None
        return self._ours(node, scope, depth)

    def _module(self, node: ast.Call, scope: Scope) -> bool:
        """`import_module(name)`: of the project, as far as the name tells."""
        name = node.args[0]
        if self.targets.items.members.module(node, scope) is not None:
            return True
        known = self.targets.items.members.text(name, scope)
        if known is not None:
            return False
        value = evaluate(name, scope)
        package = written_scope(scope).module.name.rpartition(".")[0]
        parts = value.parts if isinstance(value, Text) else ()
        if parts and parts[0]:
            package = parts[0].rstrip(".") if parts[0].strip(".") else package
        elif any(isinstance(each, ast.Attribute) and each.attr == "__path__" for each in walk([name])):
            return False
        self._modules.append(f"{package}.*" if package else "tools.*")
        return True


def _put_in(name: str, where: Scope) -> Iterator[ast.expr]:
    """The items that the same function puts into a list or a table: `x.append(item)`, `x[key] = item`."""
    if isinstance(where.node, ast.Lambda) or not where.module.changes_in_place(name):
        return
    for statement in statements(list(where.node.body)):
        match statement:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=holder))], value=item) if holder == name:
                yield item
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=holder)), args=[item])) if holder == name:
                yield item


__all__ = ["Origins", "Unresolved", "note_unresolved", "unresolved_in"]
