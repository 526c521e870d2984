"""Names: how each is bound in a module or a function, and where it is looked up."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from mcpcore_lint.dataclasses import light
from mcpcore_lint.syntax.parse import all_parameters, own_nodes, statements, walk
from mcpcore_lint.syntax.reaching import Reaching, is_followed

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpcore_lint.model import FunctionNode, Value
    from mcpcore_lint.syntax.module import ClassInfo, Module

BindingKind: TypeAlias = Literal[
    "assign", "annotated", "augmented", "import", "function", "class", "parameter", "with", "opaque"
]


@light
class Binding:
    """One way in which a name is bound in a scope."""

    kind: BindingKind
    node: ast.AST
    value: ast.expr | None = None
    """The expression assigned, or the context manager of a `with`."""
    annotation: ast.expr | None = None
    target: tuple[str, str | None, int] | None = None
    """Of an import: module, name (None for the module itself), level."""


Bindings: TypeAlias = dict[str, list[Binding]]
"""Name to the ways in which it is bound."""


class Scope:
    """A module or a function, with the names bound in it. A function's are read when first asked for."""

    __slots__ = (
        "_bindings",
        "_reaching",
        "globals",
        "kinds",
        "module",
        "node",
        "owner",
        "parent",
        "qualname",
        "values",
    )

    def __init__(
        self,
        module: Module,
        node: ast.Module | FunctionNode,
        parent: Scope | None,
        qualname: str,
        owner: ast.ClassDef | None,
        bindings: dict[str, list[Binding]] | None = None,
    ) -> None:
        self.module = module
        self.node = node
        self.parent = parent
        self.qualname = qualname
        self.owner = owner
        """The class that the function is a method of."""
        self.globals: set[str] = set()
        self.values: dict[str | int, Value] = {}
        """The values of names, filled on first use; by `id` for a part of the bindings of a name."""
        self.kinds: dict[tuple[str | int, ClassInfo | None], list[Any]] = {}
        """The types of names, filled on first use."""
        self._bindings = bindings
        self._reaching: Reaching | None = None

    @property
    def bindings(self) -> dict[str, list[Binding]]:
        """Name to the ways in which it is bound here."""
        if self._bindings is None:
            self._bindings = {}
            _bind_function(self, self._bindings)
        return self._bindings

    def lookup(self, name: str) -> tuple[Scope, list[Binding]] | None:
        """The scope that binds a name, as seen from here, and its bindings there."""
        scope: Scope | None = self
        while scope is not None:
            bindings = scope._bindings  # noqa: SLF001 - the property costs as much as the look-up
            found = (scope.bindings if bindings is None else bindings).get(name)
            if found is not None and (not scope.globals or name not in scope.globals):
                return scope, found
            scope = scope.parent
        return None

    def lookup_at(self, use: ast.Name) -> tuple[Scope, list[Binding]] | None:
        """Like `lookup`, for one use of a name: without the bindings that a later assignment has replaced there."""
        found = self.lookup(use.id)
        if found is None or len(found[1]) == 1 or found[0] is not self or type(self.node) is ast.Module:
            return found
        if self._reaching is None and not is_followed(found[1]):
            return found
        return self, self._reached().at(use, found[1])

    def key(self, name: str, bindings: list[Binding]) -> str | int:
        """The key for facts about bindings of a name: the name for all of them, the list's `id` for some."""
        return name if self.bindings.get(name) is bindings else id(bindings)

    def _reached(self) -> Reaching:
        if self._reaching is None:
            self._reaching = Reaching(self)
        return self._reaching

    def forget(self) -> None:
        """Release the names."""
        self._bindings = {}
        self._reaching = None
        self.kinds.clear()
        self.values.clear()

    @property
    def is_module(self) -> bool:
        """Whether this is the scope of a whole file."""
        return type(self.node) is ast.Module


def _bind_function(scope: Scope, bindings: Bindings) -> None:
    """The names of a function: its parameters, and what its body binds."""
    node = scope.node
    if isinstance(node, ast.Module):
        return
    for arg in all_parameters(node.args):
        bindings[arg.arg] = [Binding("parameter", arg, annotation=arg.annotation)]
    if isinstance(node, ast.Lambda):
        nodes = own_nodes(node)
    else:
        nodes = statements(node.body)
        if scope.module.source.has(":="):
            nodes = [*nodes, *(each for each in own_nodes(node) if isinstance(each, ast.NamedExpr))]
    for each in nodes:
        # Most statements bind nothing.
        bind = _BINDS.get(type(each))
        if bind is not None:
            bind(each, bindings, scope)
        elif type(each) is ast.match_case:
            for part in walk([each.pattern]):
                bind_statement(part, bindings, scope)


def bind_statement(node: ast.AST, bindings: Bindings, scope: Scope) -> None:
    """Note the names that a statement, clause or pattern binds."""
    bind = _BINDS.get(type(node))
    if bind is not None:
        bind(node, bindings, scope)


def _assign(node: ast.Assign, bindings: Bindings, _: Scope) -> None:
    for target in node.targets:
        _bind_target(target, node.value, node, bindings)


def _annotated(node: ast.AnnAssign, bindings: Bindings, _: Scope) -> None:
    if isinstance(node.target, ast.Name):
        bindings.setdefault(node.target.id, []).append(Binding("annotated", node, node.value, node.annotation))


def _augmented(node: ast.AugAssign, bindings: Bindings, scope: Scope) -> None:
    if isinstance(node.target, ast.Name) and not scope.is_module:
        bindings.setdefault(node.target.id, []).append(Binding("augmented", node, node.value))


def _walrus(node: ast.NamedExpr, bindings: Bindings, _: Scope) -> None:
    bindings.setdefault(node.target.id, []).append(Binding("assign", node, node.value))


def _import(node: ast.Import, bindings: Bindings, _: Scope) -> None:
    for alias in node.names:
        name = alias.asname or alias.name.split(".")[0]
        whole = (alias.name if alias.asname else name, None, 0)
        bindings.setdefault(name, []).append(Binding("import", node, target=whole))


def _import_from(node: ast.ImportFrom, bindings: Bindings, scope: Scope) -> None:
    for alias in node.names:
        if alias.name == "*":
            if scope.is_module:
                scope.module.star_imports.append((node.module or "", node.level))
        else:
            where = (node.module or "", alias.name, node.level)
            bindings.setdefault(alias.asname or alias.name, []).append(Binding("import", node, target=where))


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, bindings: Bindings, _: Scope) -> None:
    if not node.decorator_list or role_of(node) != "overload":
        bindings.setdefault(node.name, []).append(Binding("function", node))


def _class(node: ast.ClassDef, bindings: Bindings, _: Scope) -> None:
    bindings.setdefault(node.name, []).append(Binding("class", node))


def _loop(node: ast.For | ast.AsyncFor | ast.comprehension, bindings: Bindings, _: Scope) -> None:
    # A comprehension has its own scope. Its variables rarely hide an outer name; if they do, the value stays unknown.
    _bind_opaque(node.target, node, bindings)


def _with(node: ast.With | ast.AsyncWith, bindings: Bindings, _: Scope) -> None:
    for item in node.items:
        if isinstance(item.optional_vars, ast.Name):
            bindings.setdefault(item.optional_vars.id, []).append(Binding("with", node, item.context_expr))
        elif item.optional_vars is not None:
            _bind_opaque(item.optional_vars, node, bindings)


def _named(node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar, bindings: Bindings, _: Scope) -> None:
    if node.name:
        bindings.setdefault(node.name, []).append(Binding("opaque", node))


def _rest(node: ast.MatchMapping, bindings: Bindings, _: Scope) -> None:
    if node.rest:
        bindings.setdefault(node.rest, []).append(Binding("opaque", node))


def _outer(node: ast.Global | ast.Nonlocal, _: Bindings, scope: Scope) -> None:
    scope.globals.update(node.names)


def _type_alias(node: Any, bindings: Bindings, _: Scope) -> None:
    bindings.setdefault(node.name.id, []).append(Binding("assign", node, node.value))


_BINDS: Final[dict[type[ast.AST], Callable[[Any, Bindings, Scope], None]]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.NamedExpr: _walrus,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.For: _loop,
    ast.AsyncFor: _loop,
    ast.comprehension: _loop,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.ExceptHandler: _named,
    ast.MatchAs: _named,
    ast.MatchStar: _named,
    ast.MatchMapping: _rest,
    ast.Global: _outer,
    ast.Nonlocal: _outer,
}
"""The binding function for each kind of statement, clause and pattern."""
if (_alias := getattr(ast, "TypeAlias", None)) is not None:  # Python 3.12
    _BINDS[_alias] = _type_alias


def _bind_target(target: ast.expr, value: ast.expr | None, node: ast.AST, bindings: Bindings) -> None:
    if isinstance(target, ast.Name):
        bindings.setdefault(target.id, []).append(Binding("assign", node, value))
    elif isinstance(target, (ast.Tuple, ast.List)):
        pairs: list[ast.expr] | None = None
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            pairs = value.elts
        if pairs is None or any(isinstance(each, ast.Starred) for each in (*target.elts, *pairs)):
            _bind_opaque(target, node, bindings)
            return
        for each, one in zip(target.elts, pairs, strict=True):
            _bind_target(each, one, node, bindings)
    elif isinstance(target, ast.Starred):
        _bind_opaque(target, node, bindings)


def _bind_opaque(target: ast.AST, node: ast.AST, bindings: Bindings) -> None:
    for each in walk([target]):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            bindings.setdefault(each.id, []).append(Binding("opaque", node))


def role_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The role of a `def` beside an earlier one of its name: "overload", or the word of `@name.setter`; else ""."""
    for each in node.decorator_list:
        target = each.func if isinstance(each, ast.Call) else each
        if isinstance(target, ast.Name) and target.id == "overload":
            return "overload"
        if isinstance(target, ast.Attribute):
            if target.attr == "overload":
                return "overload"
            if isinstance(target.value, ast.Name) and target.value.id == node.name:
                return target.attr
    return ""
