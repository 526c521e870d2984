"""Names: how each is bound in a module or a function, and where it is looked up."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from mcpcore_lint.dataclasses import light
from mcpcore_lint.engine.syntax.parse import all_parameters, own_nodes, statements, walk
from mcpcore_lint.engine.syntax.reaching import Reaching, is_followed
from mcpcore_lint.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.engine.syntax.module import ClassInfo, Module
    from mcpcore_lint.model import FunctionNode, Value

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
        self.values: dict[str | int | ast.expr, Value] = {}
        """The values of names and of expressions, filled on first use; by `id` for a part of the bindings of a name."""
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
            known = (scope.bindings if bindings is None else bindings).get(name)
            # `global` and `nonlocal` mean the name of a scope further out.
            if known is not None and (not scope.globals or name not in scope.globals):
                return scope, known
            scope = scope.parent
        return None

    def lookup_at(self, use: ast.Name) -> tuple[Scope, list[Binding]] | None:
        """Like `lookup`, for one use of a name: without the bindings that a later assignment has replaced there."""
        match = self.lookup(use.id)
        if match is None or len(match[1]) == 1 or match[0] is not self or type(self.node) is ast.Module:
            return match
        if self._reaching is None:
            if not is_followed(match[1]):
                return match
            self._reaching = Reaching(self)
        return self, self._reaching.at(use, match[1])

    def key(self, name: str, bindings: list[Binding]) -> str | int:
        """The key for facts about bindings of a name: the name for all of them, the list's `id` for some."""
        return name if (self._bindings or {}).get(name) is bindings else id(bindings)

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
            nodes = [*nodes, *(inner for inner in own_nodes(node) if isinstance(inner, ast.NamedExpr))]
    for child in nodes:
        for part in walk([child.pattern]) if isinstance(child, ast.match_case) else (child,):
            bind_statement(part, bindings, scope)


def bind_statement(node: ast.AST, bindings: Bindings, scope: Scope) -> None:
    """Note the names that a statement, clause or pattern binds."""
    if type(node) not in _BINDING:
        return  # as for most statements
    match node:
        case ast.Assign():
            for target, value in [pair for assigned in node.targets for pair in targets_of(assigned, node.value)]:
                stub = getattr(value, "value", ...) is None and isinstance(target, ast.Name)
                if isinstance(target, ast.Name) and not (stub and is_stub(target.id, node, bindings, scope)):
                    _bind(bindings, target.id, Binding("assign" if value is not None else "opaque", node, value))
        case ast.AnnAssign(target=ast.Name(id=name)):
            _bind(bindings, name, Binding("annotated", node, node.value, node.annotation))
        case ast.AugAssign(target=ast.Name(id=name)) if not scope.is_module:
            _bind(bindings, name, Binding("augmented", node, node.value))
        case ast.NamedExpr(target=ast.Name(id=name)):
            _bind(bindings, name, Binding("assign", node, node.value))
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            # A comprehension has its own scope. Its variables rarely hide an outer name; then the value is unknown.
            _bind_opaque(node.target, node, bindings)
        case ast.With() | ast.AsyncWith():
            for item in node.items:
                if isinstance(item.optional_vars, ast.Name):
                    _bind(bindings, item.optional_vars.id, Binding("with", node, item.context_expr))
                elif item.optional_vars is not None:
                    _bind_opaque(item.optional_vars, node, bindings)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            _bind(bindings, name, Binding("opaque", node))
        case ast.MatchMapping(rest=str(name)):
            _bind(bindings, name, Binding("opaque", node))
        case ast.Import():
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                _bind(bindings, name, Binding("import", node, target=(alias.name if alias.asname else name, None, 0)))
        case ast.ImportFrom():
            for alias in node.names:
                if alias.name != "*":
                    source = (node.module or "", alias.name, node.level)
                    _bind(bindings, alias.asname or alias.name, Binding("import", node, target=source))
                elif scope.is_module:
                    scope.module.star_imports.append((node.module or "", node.level))
        # Overloads only declare: the function is the `def` without that decorator.
        case ast.FunctionDef() | ast.AsyncFunctionDef() if role_of(node) != "overload":
            _bind(bindings, node.name, Binding("function", node))
        case ast.ClassDef():
            _bind(bindings, node.name, Binding("class", node))
        case ast.Global() | ast.Nonlocal():
            scope.globals.update(node.names)
        case _ if type(node) is _TYPE_ALIAS:
            alias_node: Any = node
            _bind(bindings, alias_node.name.id, Binding("assign", node, alias_node.value))


def is_stub(name: str, node: ast.stmt, bindings: Bindings, scope: Scope) -> bool:
    """Whether a class or None, as in `except ImportError`, replaces a name that was imported from a framework."""
    known = bindings.get(name, ()) if scope.is_module and node.col_offset else ()
    return any(binding.target is not None and _FRAMEWORK.match(binding.target[0]) is not None for binding in known)


def _bind(bindings: Bindings, name: str, binding: Binding) -> None:
    bindings.setdefault(name, []).append(binding)


_FRAMEWORK: Final = regex(r"(?:fast)?mcp(?:\.|$)")
_TYPE_ALIAS: Final = getattr(ast, "TypeAlias", None)
"""`type X = ...`, from Python 3.12 on."""
_BINDING: Final = frozenset(
    {ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.comprehension, ast.With,
     ast.AsyncWith, ast.ExceptHandler, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
     ast.Global, ast.Nonlocal, ast.MatchAs, ast.MatchStar, ast.MatchMapping, _TYPE_ALIAS}
)  # fmt: skip
"""The statements, clauses and patterns that bind names."""


def targets_of(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The targets of an assignment one by one, each with its value if that is written by itself."""
    match target, value:
        case ast.Tuple(elts=targets) | ast.List(elts=targets), _:
            values: list[ast.expr | None] = [*value.elts] if isinstance(value, (ast.Tuple, ast.List)) else []
            # Behind a star, only a run shows which value goes where.
            if len(values) != len(targets) or any(isinstance(item, ast.Starred) for item in (*targets, *values)):
                values = [None] * len(targets)
            for inner, item in zip(targets, values, strict=True):
                yield from targets_of(inner, item)
        case ast.Starred(value=inner), _:
            yield inner, None
        case _:
            yield target, value


def _bind_opaque(target: ast.AST, node: ast.AST, bindings: Bindings) -> None:
    for part in walk([target]):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            _bind(bindings, part.id, Binding("opaque", node))


def role_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The role of a `def` beside an earlier one of its name: "overload", or the word of `@name.setter`; else ""."""
    for decorator in node.decorator_list:
        match decorator.func if isinstance(decorator, ast.Call) else decorator:
            case ast.Name(id="overload") | ast.Attribute(attr="overload"):
                return "overload"
            case ast.Attribute(value=ast.Name(id=name), attr=role) if name == node.name:
                return role
    return ""
