"""The files of a project as modules: which file an import means, and what each file defines at its top."""

from __future__ import annotations

import ast
import os
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal, TypeAlias

from mcpcore_lint.model import FunctionNode
from mcpcore_lint.names import FRAMEWORKS
from mcpcore_lint.source import Source, SourceError, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

BindingKind: TypeAlias = Literal["assign", "annotated", "import", "function", "class", "parameter", "with", "opaque"]


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One way in which a name is bound in a scope."""

    kind: BindingKind
    node: ast.AST
    value: ast.expr | None = None
    """The expression assigned, or the context manager of a `with`."""
    annotation: ast.expr | None = None
    target: tuple[str, str | None, int] | None = None
    """Of an import: module, name (None for the module itself), level."""


@dataclass(eq=False)
class Scope:
    """A module or a function, with the names bound in it."""

    module: Module
    node: ast.Module | FunctionNode
    parent: Scope | None
    qualname: str
    owner: ast.ClassDef | None
    """The class that the function is a method of."""
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)
    mutated: set[str] = field(default_factory=set)
    """Names whose value is changed in place: `x.append(...)`, `x += ...`, `x[...] = ...`."""

    def lookup(self, name: str) -> tuple[Scope, list[Binding]] | None:
        """The scope that binds a name, as seen from here, and its bindings there."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.bindings.get(name)
            if found is not None and name not in scope.globals:
                return scope, found
            scope = scope.parent
        return None

    @property
    def is_module(self) -> bool:
        """Whether this is the scope of a whole file."""
        return isinstance(self.node, ast.Module)


@dataclass(eq=False)
class ClassInfo:
    """A class of the project."""

    node: ast.ClassDef
    module: Module
    scope: Scope
    """The scope that the class statement stands in."""
    qualname: str
    methods: dict[str, ast.FunctionDef | ast.AsyncFunctionDef]
    attributes: dict[str, list[Binding]]
    """Names bound in the class body."""

    @cached_property
    def body_scope(self) -> Scope:
        """The names that the class body sees: its own, then those outside."""
        return Scope(self.module, self.module.tree, self.scope, self.qualname, None, bindings=self.attributes)

    @cached_property
    def instance_attributes(self) -> dict[str, list[tuple[ast.expr | None, ast.expr | None, Scope]]]:
        """What the methods assign to `self.name`: annotation, value, and the scope to read them in."""
        found: dict[str, list[tuple[ast.expr | None, ast.expr | None, Scope]]] = {}
        for method in self.methods.values():
            names = [*method.args.posonlyargs, *method.args.args]
            if not names:
                continue
            me = names[0].arg
            scope = self.module.scope_of(method)
            for node in own_nodes(method):
                if isinstance(node, ast.Assign):
                    for target in node.targets:
                        _note_attribute(found, target, None, node.value, me, scope)
                elif isinstance(node, ast.AnnAssign):
                    _note_attribute(found, node.target, node.annotation, node.value, me, scope)
        return found


class Module:
    """One file of Python."""

    def __init__(self, project: Project, source: Source, tree: ast.Module, name: str, *, is_package: bool) -> None:
        self.project = project
        self.source = source
        self.tree = tree
        self.name = name
        self.is_package = is_package
        self.functions: dict[FunctionNode, Scope] = {}
        """Every `def` and every lambda, with its scope."""
        self.classes: dict[ast.ClassDef, ClassInfo] = {}
        self.star_imports: list[tuple[str, int]] = []
        self._by_place: dict[tuple[int, int], FunctionNode] | None = None
        self.scope = Scope(self, tree, None, "", None)
        _Indexer(self).run()

    @property
    def path(self) -> str:
        """The file, as diagnostics name it."""
        return self.source.path

    @cached_property
    def exported(self) -> frozenset[str] | None:
        """The names in `__all__`, where it is a plain list or tuple of strings."""
        for binding in self.scope.bindings.get("__all__", ()):
            if isinstance(binding.value, ast.List | ast.Tuple):
                names = [
                    e.value for e in binding.value.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)
                ]
                return frozenset(names)
        return None

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Every node's parent. Made on first use; costs a walk over the file."""
        found: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                found[child] = node
        return found

    def scope_of(self, node: FunctionNode) -> Scope:
        """The scope of a function or lambda of this module."""
        scope = self.functions.get(node)
        if scope is None:
            scope = Scope(self, node, self.scope, getattr(node, "name", "<lambda>"), None)
            _Indexer(self).bind_parameters(scope)
            self.functions[node] = scope
        return scope

    def function_at(self, line: int, column: int) -> FunctionNode | None:
        """The function or lambda that starts at a place as `ast` counts it."""
        if self._by_place is None:
            self._by_place = {(each.lineno, each.col_offset): each for each in self.functions}
        found = self._by_place.get((line, column))
        if found is None:
            for node in ast.walk(self.tree):
                if isinstance(node, ast.Lambda):
                    self._by_place.setdefault((node.lineno, node.col_offset), node)
            found = self._by_place.get((line, column))
        return found

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that a node is in."""
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            current = self.parents.get(current)
        return current

    def __repr__(self) -> str:
        return f"<Module {self.name} {self.path}>"


_MUTATORS = frozenset(
    {
        "append",
        "extend",
        "insert",
        "remove",
        "pop",
        "clear",
        "sort",
        "reverse",
        "update",
        "setdefault",
        "add",
        "discard",
    }
)


class _Indexer:
    """Fills a module's scopes in one walk, without recursion, so that no nesting is too deep for it."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def run(self) -> None:
        module = self.module
        stack: list[tuple[ast.AST, Scope, ast.ClassDef | None, str]] = [
            (child, module.scope, None, "") for child in reversed(module.tree.body)
        ]
        while stack:
            node, scope, owner, prefix = stack.pop()
            push = stack.append
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._bind(scope, owner, node.name, Binding("function", node))
                qualname = prefix + node.name
                inner = Scope(module, node, scope, qualname, owner)
                module.functions[node] = inner
                self.bind_parameters(inner)
                for child in reversed(node.body):
                    push((child, inner, None, qualname + "."))
                for outer in (*node.decorator_list, *_defaults(node.args)):
                    push((outer, scope, owner, prefix))
                continue
            if isinstance(node, ast.Lambda):
                inner = Scope(module, node, scope, prefix + "<lambda>", None)
                module.functions[node] = inner
                self.bind_parameters(inner)
                push((node.body, inner, None, prefix))
                continue
            if isinstance(node, ast.ClassDef):
                self._bind(scope, owner, node.name, Binding("class", node))
                qualname = prefix + node.name
                info = ClassInfo(
                    node,
                    module,
                    scope,
                    qualname,
                    {each.name: each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)},
                    {},
                )
                module.classes[node] = info
                for child in reversed(node.body):
                    push((child, scope, node, qualname + "."))
                for outer in (*node.decorator_list, *node.bases, *(each.value for each in node.keywords)):
                    push((outer, scope, owner, prefix))
                continue
            self._statement(node, scope, owner)
            for child in ast.iter_child_nodes(node):
                push((child, scope, owner, prefix))

    def _bind(self, scope: Scope, owner: ast.ClassDef | None, name: str, binding: Binding) -> None:
        if owner is not None:
            self.module.classes[owner].attributes.setdefault(name, []).append(binding)
        else:
            target = scope
            if name in scope.globals:
                target = self.module.scope
            target.bindings.setdefault(name, []).append(binding)

    def bind_parameters(self, scope: Scope) -> None:
        node = scope.node
        if isinstance(node, ast.Module):
            return
        for arg in all_parameters(node.args):
            scope.bindings[arg.arg] = [Binding("parameter", arg, annotation=arg.annotation)]

    def _statement(self, node: ast.AST, scope: Scope, owner: ast.ClassDef | None) -> None:
        bind = self._bind
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._target(target, node.value, node, scope, owner)
        elif isinstance(node, ast.AnnAssign):
            if isinstance(node.target, ast.Name):
                bind(scope, owner, node.target.id, Binding("annotated", node, node.value, node.annotation))
        elif isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Name):
                scope.mutated.add(node.target.id)
            elif isinstance(node.target, ast.Subscript) and isinstance(node.target.value, ast.Name):
                scope.mutated.add(node.target.value.id)
        elif isinstance(node, ast.NamedExpr):
            bind(scope, None, node.target.id, Binding("assign", node, node.value))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    bind(scope, owner, alias.asname, Binding("import", node, target=(alias.name, None, 0)))
                else:
                    top = alias.name.split(".")[0]
                    bind(scope, owner, top, Binding("import", node, target=(top, None, 0)))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name == "*":
                    self.module.star_imports.append((node.module or "", node.level))
                    continue
                where = (node.module or "", alias.name, node.level)
                bind(scope, owner, alias.asname or alias.name, Binding("import", node, target=where))
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            # A comprehension has a scope of its own; that it hides an outer name of the same spelling is rare, and
            # the price of counting it here is a value that stays unknown.
            self._opaque(node.target, node if isinstance(node, ast.AST) else node, scope, owner)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if isinstance(item.optional_vars, ast.Name):
                    bind(scope, owner, item.optional_vars.id, Binding("with", node, item.context_expr))
                elif item.optional_vars is not None:
                    self._opaque(item.optional_vars, node, scope, owner)
        elif isinstance(node, ast.ExceptHandler):
            if node.name:
                bind(scope, owner, node.name, Binding("opaque", node))
        elif isinstance(node, ast.Global):
            scope.globals.update(node.names)
        elif isinstance(node, ast.MatchAs | ast.MatchStar):
            if node.name:
                bind(scope, owner, node.name, Binding("opaque", node))
        elif isinstance(node, ast.MatchMapping):
            if node.rest:
                bind(scope, owner, node.rest, Binding("opaque", node))
        elif isinstance(node, ast.Call):
            func = node.func
            if isinstance(func, ast.Attribute) and func.attr in _MUTATORS and isinstance(func.value, ast.Name):
                scope.mutated.add(func.value.id)
        elif isinstance(node, ast.Delete):
            for each in node.targets:
                if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name):
                    scope.mutated.add(each.value.id)
        elif type(node).__name__ == "TypeAlias":
            name = getattr(node, "name", None)
            if isinstance(name, ast.Name):
                bind(scope, owner, name.id, Binding("assign", node, getattr(node, "value", None)))

    def _target(
        self, target: ast.expr, value: ast.expr | None, node: ast.AST, scope: Scope, owner: ast.ClassDef | None
    ) -> None:
        if isinstance(target, ast.Name):
            self._bind(scope, owner, target.id, Binding("assign", node, value))
        elif isinstance(target, ast.Tuple | ast.List):
            pairs: list[ast.expr] | None = None
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                pairs = value.elts
            if pairs is None or any(isinstance(each, ast.Starred) for each in (*target.elts, *pairs)):
                self._opaque(target, node, scope, owner)
                return
            for each, one in zip(target.elts, pairs, strict=True):
                self._target(each, one, node, scope, owner)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            scope.mutated.add(target.value.id)
        elif isinstance(target, ast.Starred):
            self._opaque(target, node, scope, owner)

    def _opaque(self, target: ast.AST, node: ast.AST, scope: Scope, owner: ast.ClassDef | None) -> None:
        for each in ast.walk(target):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                self._bind(scope, owner, each.id, Binding("opaque", node))


def _note_attribute(
    found: dict[str, list[tuple[ast.expr | None, ast.expr | None, Scope]]],
    target: ast.expr,
    annotation: ast.expr | None,
    value: ast.expr | None,
    me: str,
    scope: Scope,
) -> None:
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == me:
        found.setdefault(target.attr, []).append((annotation, value, scope))
    elif isinstance(target, ast.Tuple | ast.List):
        values: list[ast.expr | None] = [None] * len(target.elts)
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            values = list(value.elts)
        for each, one in zip(target.elts, values, strict=True):
            _note_attribute(found, each, None, one, me, scope)


def own_nodes(node: FunctionNode) -> list[ast.AST]:
    """Every node of a function's body in source order, without what is in functions and classes nested in it.

    The nested `def`, `lambda` and `class` nodes themselves are in it.
    """
    found: list[ast.AST] = []
    body: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
    stack = body[::-1]
    while stack:
        each = stack.pop()
        found.append(each)
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            stack.extend(reversed(list(ast.iter_child_nodes(each))))
    return found


def all_parameters(args: ast.arguments) -> list[ast.arg]:
    """The parameters of a function in the order written."""
    found = [*args.posonlyargs, *args.args]
    if args.vararg:
        found.append(args.vararg)
    found.extend(args.kwonlyargs)
    if args.kwarg:
        found.append(args.kwarg)
    return found


def _defaults(args: ast.arguments) -> Iterator[ast.expr]:
    yield from args.defaults
    for each in args.kw_defaults:
        if each is not None:
            yield each


class Project:
    """The files round the ones that are linted: finds and reads the module that an import means, on demand."""

    def __init__(self, root: str, *, source_roots: tuple[str, ...] = ()) -> None:
        self.root = os.path.abspath(root)
        self.source_roots = tuple(os.path.join(self.root, each) for each in source_roots)
        self._by_path: dict[str, Module | None] = {}
        self._found: dict[tuple[str, str], str | None] = {}
        self._by_tree: dict[ast.AST, Module] = {}
        self._classes: dict[ast.ClassDef, ClassInfo] = {}
        self._functions: dict[FunctionNode, Module] = {}
        self.consulted: set[str] = set()
        """Absolute paths that were looked at, whether they exist or not."""

    # -- reading -------------------------------------------------------------------------------------------------

    def display_path(self, absolute: str) -> str:
        """A path as diagnostics show it: relative to the project where it lies inside."""
        if absolute == self.root or not absolute.startswith(self.root + os.sep):
            return absolute.replace(os.sep, "/")
        return absolute[len(self.root) + 1 :].replace(os.sep, "/")

    def add(self, absolute: str, source: Source) -> Module:
        """Parse a file and make it known; what an editor holds goes before what is on disk.

        Raises:
            SourceError: If it is not valid Python.
        """
        absolute = os.path.abspath(absolute)
        self._by_path[absolute] = None
        module = self._make(absolute, source)
        self._by_path[absolute] = module
        self._by_tree[module.tree] = module
        self._classes.update(module.classes)
        self._functions.update(dict.fromkeys(module.functions, module))
        return module

    def read(self, absolute: str) -> Module:
        """Read and parse a file.

        Raises:
            SourceError: If it is not valid Python.
            OSError: If it cannot be read.
        """
        module = self._by_path.get(absolute)
        if module is not None:
            return module
        with open(absolute, "rb") as file:
            raw = file.read()
        return self.add(absolute, Source.from_bytes(self.display_path(absolute), raw))

    def _make(self, absolute: str, source: Source) -> Module:
        tree = parse(source)
        name, is_package = self.module_name(absolute)
        return Module(self, source, tree, name, is_package=is_package)

    def module_name(self, absolute: str) -> tuple[str, bool]:
        """The dotted name of a file, from the top of its package, and whether it is a package's `__init__`."""
        directory, filename = os.path.split(absolute)
        stem = filename.removesuffix(".py")
        is_package = stem == "__init__"
        parts = [] if is_package else [stem]
        inside = False
        while os.path.isfile(os.path.join(directory, "__init__.py")):
            inside = True
            directory, part = os.path.split(directory)
            parts.insert(0, part)
        if not inside:
            shown = self.display_path(absolute)
            parts = list(PurePosixPath(shown).with_suffix("").parts)
            if parts and parts[0] == "src":
                parts = parts[1:]
        return ".".join(parts) or stem, is_package

    # -- finding -------------------------------------------------------------------------------------------------

    def _roots_for(self, absolute: str) -> Iterator[str]:
        directory = os.path.dirname(absolute)
        while os.path.isfile(os.path.join(directory, "__init__.py")):
            parent = os.path.dirname(directory)
            if parent == directory:
                break
            directory = parent
        yield from self.source_roots
        while True:
            yield directory
            if directory == self.root or not directory.startswith(self.root):
                break
            directory = os.path.dirname(directory)
        yield os.path.join(self.root, "src")

    def _file_of(self, base: str, parts: list[str]) -> str | None:
        path = os.path.join(base, *parts)
        package = os.path.join(path, "__init__.py")
        for candidate in (package, path + ".py"):
            self.consulted.add(candidate)
            if candidate in self._by_path or os.path.isfile(candidate):
                return candidate
        return None

    def locate(self, importer: Module, name: str, level: int) -> str | None:
        """The file that `import name` (or `from ..name import`, with `level` dots) means in a module."""
        absolute = self.absolute(importer.path)
        if level:
            directory = os.path.dirname(absolute)
            for _ in range(level - 1):
                directory = os.path.dirname(directory)
            parts = name.split(".") if name else []
            return self._file_of(directory, parts)
        top = name.split(".")[0]
        if not top or top in FRAMEWORKS or top in sys.stdlib_module_names:
            return None
        key = (os.path.dirname(absolute), name)
        if key not in self._found:
            self._found[key] = None
            for root in self._roots_for(absolute):
                found = self._file_of(root, name.split("."))
                if found is not None:
                    self._found[key] = found
                    break
        return self._found[key]

    def absolute(self, shown: str) -> str:
        """The absolute path of a path as shown."""
        return os.path.normpath(os.path.join(self.root, shown))

    def module_of(self, importer: Module, name: str, level: int = 0) -> Module | None:
        """The module of the project that an import means; None where it is not the project's or cannot be read."""
        path = self.locate(importer, name, level)
        if path is None:
            return None
        if path not in self._by_path:
            try:
                self.read(path)
            except (SourceError, OSError):
                self._by_path[path] = None
        return self._by_path[path]

    def module_by_name(self, name: str, tree: ast.AST) -> Module | None:
        """The module of a tree that was read before."""
        module = self._by_tree.get(tree)
        return module if module is not None and module.name == name else None

    def class_info(self, node: ast.ClassDef) -> ClassInfo | None:
        """What is known of a class of the project, whichever file it is in."""
        return self._classes.get(node)

    def class_named(self, name: str) -> ClassInfo | None:
        """A class that was read before, by its qualified name."""
        for info in self._classes.values():
            if f"{info.module.name}.{info.qualname}" == name:
                return info
        return None

    def module_defining(self, node: FunctionNode) -> Module | None:
        """The module that a function is in."""
        return self._functions.get(node)

    def module_at(self, shown: str) -> Module | None:
        """The module of a path as diagnostics show it; None where it cannot be read."""
        absolute = self.absolute(shown)
        if absolute not in self._by_path:
            try:
                self.read(absolute)
            except (SourceError, OSError):
                self._by_path[absolute] = None
        return self._by_path[absolute]

    def class_at(self, place: str) -> ClassInfo | None:
        """The class that starts at `path:line:column`."""
        path, line, column = place.rsplit(":", 2)
        module = self.module_at(path)
        if module is None:
            return None
        for node, info in module.classes.items():
            if (node.lineno, node.col_offset) == (int(line), int(column)):
                return info
        return None
