"""The files of a project as modules: which file an import means, and what each file defines at its top."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import sys
from bisect import bisect_left
from functools import cached_property, lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from mcpcore_lint.light import light
from mcpcore_lint.names import FRAMEWORKS
from mcpcore_lint.outline import complete, complete_all, deferred, forget, outline, settle
from mcpcore_lint.source import Source, SourceError, parse
from mcpcore_lint.syntax import all_parameters, body_of, children, own_nodes, statements, walk, walk_shallow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcpcore_lint.bodies.builder import HandlerBuilder
    from mcpcore_lint.model import FunctionNode, Value

WORTH_ALL: Final = 16
"""How often a file may be gone through for single functions before it is parsed whole."""

BindingKind: TypeAlias = Literal[
    "assign", "annotated", "augmented", "import", "function", "class", "parameter", "with", "opaque"
]


_CHANGE = re.compile(
    r"\s*(?:\.\s*(?:append|extend|insert|remove|pop|clear|update|setdefault|add|discard)\s*\(|\+=|\|=|\[[^\n]*\]\s*=(?!=))"
)
"""What follows a name whose list or dict is changed in place."""


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


class Scope:
    """A module or a function, with the names bound in it. A function's are read when first asked for."""

    __slots__ = ("_bindings", "globals", "kinds", "module", "node", "owner", "parent", "qualname", "values")

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
        self.values: dict[str, Value] = {}
        """What names mean here, as far as asked."""
        self.kinds: dict[tuple[str, ClassInfo | None], list[Any]] = {}
        """What names are instances of, as far as asked."""
        self._bindings = bindings

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

    def forget(self) -> None:
        """Let go of the names."""
        self._bindings = {}
        self.kinds.clear()
        self.values.clear()

    @property
    def is_module(self) -> bool:
        """Whether this is the scope of a whole file."""
        return type(self.node) is ast.Module


@light
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
    accessors: dict[tuple[str, str], ast.FunctionDef | ast.AsyncFunctionDef]
    """The `setter` and the `deleter` of properties, by the property's name and that word."""

    @cached_property
    def body_scope(self) -> Scope:
        """The names that the class body sees: its own, then those outside."""
        return Scope(self.module, self.module.tree, self.scope, self.qualname, None, bindings=self.attributes)

    @cached_property
    def instance_attributes(self) -> dict[str, list[tuple[ast.expr | None, ast.expr | None, Scope]]]:
        """What the methods assign to `self.name`: annotation, value, and the scope to read them in."""
        found: dict[str, list[tuple[ast.expr | None, ast.expr | None, Scope]]] = {}
        for method in (*self.methods.values(), *self.accessors.values()):
            names = [*method.args.posonlyargs, *method.args.args]
            if not names:
                continue
            me = names[0].arg
            if not _may_assign(method, names[0].arg, self.module.source.text):
                continue
            scope = self.module.scope_of(method)
            for node in statements(method.body):
                if isinstance(node, ast.Assign):
                    for target in node.targets:
                        _note_attribute(found, target, None, node.value, me, scope)
                elif isinstance(node, ast.AnnAssign):
                    _note_attribute(found, node.target, node.annotation, node.value, me, scope)
        return found


class Module:
    """One file of Python."""

    def __init__(
        self, project: Project, source: Source, name: str, absolute: str, *, is_package: bool, whole: bool = True
    ) -> None:
        self.project = project
        self.absolute = absolute
        self.source = source
        outlined = None if whole else outline(source, self.complete)
        self.tree, self._deferred = outlined or (parse(source), [])
        self._passed_over = 0
        self.name = name
        self.is_package = is_package
        self.functions: dict[FunctionNode, Scope] = {}
        """Every `def` and every lambda, with its scope."""
        self.classes: dict[ast.ClassDef, ClassInfo] = {}
        self.built: dict[FunctionNode, HandlerBuilder] = {}
        """What has been read of function bodies."""
        self.memo: dict[object, Any] = {}
        """For rules: what they found out about the file, kept as long as its syntax is."""
        self.star_imports: list[tuple[str, int]] = []
        self._by_place: dict[tuple[int, int], FunctionNode] = {}
        self._changed: dict[str, bool] = {}
        self.scope = Scope(self, self.tree, None, "", None, {})
        _index(self)

    def complete(self, node: ast.AST | None = None) -> None:
        """Parse the body of one function, or of all, where only the outline of the file was read so far."""
        if node is None:
            self._complete_all()
        elif deferred(node) is not None:
            assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            # To parse one function, Python counts the lines before it: after many of them the whole file costs less.
            self._passed_over += node.lineno
            if self._passed_over > WORTH_ALL * len(self.source.line_starts):
                self._complete_all()
            else:
                complete(node, self.source)
                self._index_body(node)

    def _complete_all(self) -> None:
        waiting = [each for each in self._deferred if deferred(each) is not None]
        if waiting and not complete_all(waiting, self.source):
            for each in waiting:
                complete(each, self.source)
        for each in waiting:
            self._index_body(each)
        if self._deferred:
            self._deferred = []
            settle(self.tree)

    def _index_body(self, node: FunctionNode) -> None:
        scope = self.functions[node]
        prefix = scope.qualname + "."
        stack: list[_Place] = [(each, scope, None, prefix) for each in reversed(body_of(node))]
        self.project.note(self, *_index_statements(self, stack))

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
        for node in walk([self.tree]):
            for child in children(node):
                found[child] = node
        return found

    def scope_of(self, node: FunctionNode) -> Scope:
        """The scope of a function or lambda of this module."""
        scope = self.functions.get(node)
        if scope is None:
            # A lambda: those are not looked for until one is asked about.
            self._lambdas()
            scope = self.functions.get(node)
        if scope is None:
            scope = Scope(self, node, self.scope, getattr(node, "name", "<lambda>"), None)
            self.functions[node] = scope
        return scope

    def calls_near(
        self, *words: str, skip: Callable[[ast.AST], bool] | None = None, decorators: bool = False
    ) -> list[tuple[ast.Call, Scope]]:
        """The calls on whose lines one of some words stands, with their scopes, in source order.

        Much cheaper than a walk over the file: only the nodes round those lines are looked at.

        Args:
            words: Texts; a call counts from its first line to its last.
            skip: Nodes that are left out with all that is in them.
            decorators: Whether to look into decorators too.
        """
        key = ("calls_near", words, skip, decorators)
        known = self.memo.get(key)
        if known is None:
            known = self._calls_near(words, skip, decorators=decorators)
            self.memo[key] = known
        found: list[tuple[ast.Call, Scope]] = known
        return found

    def _calls_near(
        self, words: tuple[str, ...], skip: Callable[[ast.AST], bool] | None, *, decorators: bool
    ) -> list[tuple[ast.Call, Scope]]:
        text = self.source.text
        lines: set[int] = set()
        for word in words:
            start = text.find(word)
            while start >= 0:
                lines.add(self.source.position(start)[0])
                start = text.find(word, start + len(word))
        if not lines:
            return []
        hits = sorted(lines)
        found: list[tuple[ast.Call, Scope]] = []
        stack: list[tuple[ast.AST, Scope]] = [(self.tree, self.scope)]
        while stack:
            node, scope = stack.pop()
            line: int | None = getattr(node, "lineno", None)
            wrapped: list[ast.expr] = getattr(node, "decorator_list", [])
            if line is not None:
                first = min([line, *(each.lineno for each in wrapped)]) if wrapped else line
                text_only = deferred(node)
                end: int = text_only.last_line if text_only is not None else getattr(node, "end_lineno", None) or line
                index = bisect_left(hits, first)
                if index == len(hits) or hits[index] > end:
                    continue
            if skip is not None and skip(node):
                continue
            below = children(node)
            if wrapped:
                outside = scope
                below = [each for each in below if each not in wrapped]
                if decorators:
                    stack.extend((each, outside) for each in reversed(wrapped))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                scope = self.functions[node]
            elif isinstance(node, ast.Lambda):
                self.note_lambda(node, scope)
                scope = self.functions[node]
            elif isinstance(node, ast.ClassDef):
                scope = self.classes[node].body_scope
            elif isinstance(node, ast.Call):
                found.append((node, scope))
            stack.extend((each, scope) for each in reversed(below))
        return found

    def clear(self) -> None:
        """Let go of the syntax, link by link: what holds itself in a circle is freed only by a costly search."""
        for scope in (self.scope, *self.functions.values()):
            scope.forget()
        for info in self.classes.values():
            info.__dict__.pop("body_scope", None)
            info.__dict__.pop("instance_attributes", None)
            info.attributes.clear()
            info.methods.clear()
            info.accessors.clear()
        for builder in self.built.values():
            builder.forget()
        for function in self._deferred:
            forget(function)
        self._deferred = []
        self.functions.clear()
        self.classes.clear()
        self.built.clear()
        self.memo.clear()
        self._by_place.clear()
        self.__dict__.pop("parents", None)
        self.tree = ast.Module([], [])
        self.scope = Scope(self, self.tree, None, "", None, {})

    def note_lambda(self, node: ast.Lambda, parent: Scope) -> None:
        """Give a lambda its scope, and so its way to the names round it."""
        if node not in self.functions:
            name = f"{parent.qualname}.<lambda>" if parent.qualname else "<lambda>"
            self.functions[node] = Scope(self, node, parent, name, None)

    def _lambdas(self) -> None:
        stack: list[tuple[ast.AST, Scope]] = [(self.tree, self.scope)]
        while stack:
            node, scope = stack.pop()
            if deferred(node) is not None:
                # Nobody can ask about a lambda that was not parsed.
                continue
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                if isinstance(node, ast.Lambda):
                    self.note_lambda(node, scope)
                scope = self.functions[node]
            stack.extend((each, scope) for each in children(node))

    def changes_in_place(self, name: str) -> bool:
        """Whether a list or dict of that name is changed once made: `x.append(...)`, `x += ...`, `x[...] = ...`."""
        found = self._changed.get(name)
        if found is None:
            found = False
            text = self.source.text
            start = text.find(name)
            while start >= 0 and not found:
                end = start + len(name)
                if not (start and (text[start - 1].isalnum() or text[start - 1] == "_")):
                    found = _CHANGE.match(text, end) is not None
                start = text.find(name, end)
            self._changed[name] = found
        return found

    def function_at(self, line: int, column: int) -> FunctionNode | None:
        """The function or lambda that starts at a place as `ast` counts it."""
        found = self._placed(line, column)
        if found is None:
            self.complete()
            self._lambdas()
            found = self._placed(line, column)
        return found

    def _placed(self, line: int, column: int) -> FunctionNode | None:
        if len(self._by_place) != len(self.functions):
            self._by_place = {(each.lineno, each.col_offset): each for each in self.functions}
        return self._by_place.get((line, column))

    def class_at(self, line: int, column: int) -> ClassInfo | None:
        """The class that starts at a place as `ast` counts it."""
        found = (info for node, info in self.classes.items() if (node.lineno, node.col_offset) == (line, column))
        return next(found, None)

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that a node is in."""
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            current = self.parents.get(current)
        return current

    def __repr__(self) -> str:
        return f"<Module {self.name} {self.path}>"


_Place: TypeAlias = tuple[ast.AST, Scope, "ast.ClassDef | None", str]
"""A statement, its scope, the class that it stands in, and what the names defined in it begin with."""


def _index(module: Module) -> None:
    """Read the top of a file: what it binds, its classes, and every `def` in it, however deep."""
    _index_statements(module, [(each, module.scope, None, "") for each in reversed(module.tree.body)])
    if ":=" in module.source.text:
        bindings = module.scope.bindings
        for each in walk_shallow([*module.tree.body]):
            if isinstance(each, ast.NamedExpr):
                bindings.setdefault(each.target.id, []).append(Binding("assign", each, each.value))


def _index_statements(module: Module, stack: list[_Place]) -> tuple[list[FunctionNode], list[ClassInfo]]:
    """Read some statements, each with its scope, class and prefix; the functions and classes found in them."""
    bindings = module.scope.bindings
    functions: list[FunctionNode] = []
    classes: list[ClassInfo] = []
    while stack:
        node, scope, owner, prefix = stack.pop()
        kind = type(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            qualname = prefix + node.name
            role = _role(node) if node.decorator_list else ""
            if owner is not None:
                info = module.classes[owner]
                if role in {"setter", "deleter"}:
                    info.accessors[node.name, role] = node
                elif role != "overload":
                    info.methods[node.name] = node
                info.attributes.setdefault(node.name, []).append(Binding("function", node))
            elif scope is module.scope and role != "overload":
                known = bindings.setdefault(node.name, [])
                if known and not node.col_offset and not role:
                    # It stands in no branch: an earlier `def` that nothing has registered is gone with its name.
                    known[:] = [each for each in known if not _plain(each)]
                known.append(Binding("function", node))
            inner = Scope(module, node, scope, qualname, owner)
            module.functions[node] = inner
            functions.append(node)
            if deferred(node) is None:
                stack.extend((each, inner, None, qualname + ".") for each in reversed(node.body))
            continue
        if kind is ast.ClassDef:
            assert isinstance(node, ast.ClassDef)
            if owner is not None:
                module.classes[owner].attributes.setdefault(node.name, []).append(Binding("class", node))
            elif scope is module.scope:
                bindings.setdefault(node.name, []).append(Binding("class", node))
            qualname = prefix + node.name
            module.classes[node] = ClassInfo(node, module, scope, qualname, {}, {}, {})
            classes.append(module.classes[node])
            stack.extend((each, scope, node, qualname + ".") for each in reversed(node.body))
            continue
        if owner is not None:
            bind_statement(node, module.classes[owner].attributes, module.scope)
        elif scope is module.scope:
            bind_statement(node, bindings, module.scope)
        if kind in _COMPOUND:
            for name in ("cases", "finalbody", "orelse", "handlers", "body"):
                below = getattr(node, name, None)
                if below:
                    stack.extend((each, scope, owner, prefix) for each in reversed(below))
    return functions, classes


def _may_assign(method: ast.FunctionDef | ast.AsyncFunctionDef, me: str, text: str) -> bool:
    """Whether a method may assign to `self.name`, as far as its text tells where it was not parsed yet."""
    place = deferred(method)
    return place is None or _assigning(me).search(text, place.start, place.end) is not None


@lru_cache(maxsize=16)
def _assigning(me: str) -> re.Pattern[str]:
    attribute = rf"\b{re.escape(me)}\s*\.\s*\w+\s*"
    alone, among_others = r"=(?!=)", r"[,)\]][\w\s.,*()\[\]]{0,400}=(?!=)"
    return re.compile(rf"{attribute}(?:{alone}|{among_others})|(?:^|[:;])\s*{attribute}:", re.MULTILINE)


def _plain(binding: Binding) -> bool:
    return isinstance(binding.node, ast.FunctionDef | ast.AsyncFunctionDef) and not binding.node.decorator_list


def _role(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """What a `def` adds to an earlier one of its name: "overload", or the word of `@name.setter`; else nothing."""
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


_COMPOUND = frozenset(
    {ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match,
     ast.ExceptHandler,
     ast.match_case}
)  # fmt: skip


def _bind_function(scope: Scope, bindings: dict[str, list[Binding]]) -> None:
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
        if ":=" in scope.module.source.text:
            nodes = [*nodes, *(each for each in own_nodes(node) if isinstance(each, ast.NamedExpr))]
    for each in nodes:
        kind = type(each)
        if kind in _BINDERS:
            bind_statement(each, bindings, scope)
        elif kind is ast.match_case:
            assert isinstance(each, ast.match_case)
            for part in walk([each.pattern]):
                bind_statement(part, bindings, scope)


_BINDERS = frozenset(
    {ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith,
     ast.FunctionDef,
     ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.NamedExpr, ast.comprehension, ast.Global, ast.Nonlocal,
     ast.AugAssign}
)  # fmt: skip


def bind_statement(node: ast.AST, bindings: dict[str, list[Binding]], scope: Scope) -> None:
    """Note what one statement, clause or pattern binds."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            _bind_target(target, node.value, node, bindings)
    elif isinstance(node, ast.AnnAssign):
        if isinstance(node.target, ast.Name):
            bindings.setdefault(node.target.id, []).append(Binding("annotated", node, node.value, node.annotation))
    elif isinstance(node, ast.NamedExpr):
        bindings.setdefault(node.target.id, []).append(Binding("assign", node, node.value))
    elif isinstance(node, ast.Import):
        for alias in node.names:
            name = alias.asname or alias.name.split(".")[0]
            whole = (alias.name if alias.asname else name, None, 0)
            bindings.setdefault(name, []).append(Binding("import", node, target=whole))
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            if alias.name == "*":
                if scope.is_module:
                    scope.module.star_imports.append((node.module or "", node.level))
            else:
                where = (node.module or "", alias.name, node.level)
                bindings.setdefault(alias.asname or alias.name, []).append(Binding("import", node, target=where))
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        if not node.decorator_list or _role(node) != "overload":
            bindings.setdefault(node.name, []).append(Binding("function", node))
    elif isinstance(node, ast.ClassDef):
        bindings.setdefault(node.name, []).append(Binding("class", node))
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        # A comprehension has a scope of its own; that it hides an outer name of the same spelling is rare, and the
        # price of counting it here is a value that stays unknown.
        _bind_opaque(node.target, node, bindings)
    elif isinstance(node, ast.With | ast.AsyncWith):
        for item in node.items:
            if isinstance(item.optional_vars, ast.Name):
                name = item.optional_vars.id
                bindings.setdefault(name, []).append(Binding("with", node, item.context_expr))
            elif item.optional_vars is not None:
                _bind_opaque(item.optional_vars, node, bindings)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        if node.name:
            bindings.setdefault(node.name, []).append(Binding("opaque", node))
    elif isinstance(node, ast.MatchMapping):
        if node.rest:
            bindings.setdefault(node.rest, []).append(Binding("opaque", node))
    elif isinstance(node, ast.Global | ast.Nonlocal):
        scope.globals.update(node.names)
    elif isinstance(node, ast.AugAssign):
        if isinstance(node.target, ast.Name) and not scope.is_module:
            bindings.setdefault(node.target.id, []).append(Binding("augmented", node, node.value))
    elif type(node).__name__ == "TypeAlias":
        alias_name = getattr(node, "name", None)
        if isinstance(alias_name, ast.Name):
            value = getattr(node, "value", None)
            bindings.setdefault(alias_name.id, []).append(Binding("assign", node, value))


def _bind_target(target: ast.expr, value: ast.expr | None, node: ast.AST, bindings: dict[str, list[Binding]]) -> None:
    if isinstance(target, ast.Name):
        bindings.setdefault(target.id, []).append(Binding("assign", node, value))
    elif isinstance(target, ast.Tuple | ast.List):
        pairs: list[ast.expr] | None = None
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            pairs = value.elts
        if pairs is None or any(isinstance(each, ast.Starred) for each in (*target.elts, *pairs)):
            _bind_opaque(target, node, bindings)
            return
        for each, one in zip(target.elts, pairs, strict=True):
            _bind_target(each, one, node, bindings)
    elif isinstance(target, ast.Starred):
        _bind_opaque(target, node, bindings)


def _bind_opaque(target: ast.AST, node: ast.AST, bindings: dict[str, list[Binding]]) -> None:
    for each in walk([target]):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            bindings.setdefault(each.id, []).append(Binding("opaque", node))


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


class Project:
    """The files round the ones that are linted: finds and reads the module that an import means, on demand."""

    def __init__(
        self,
        root: str,
        *,
        source_roots: tuple[str, ...] = (),
        reads_whole: Callable[[str, bytes], bool] = lambda path, raw: False,  # noqa: ARG005
    ) -> None:
        """Know of a project; nothing is read yet.

        Args:
            root: Its folder.
            source_roots: Folders below it from which imports are looked for as well.
            reads_whole: Whether all of a file, given its path and content, will be asked for: then putting off the
                bodies of functions saves nothing.
        """
        self.root = os.path.abspath(root)
        self.source_roots = tuple(os.path.join(self.root, each) for each in source_roots)
        self._by_path: dict[str, Module | None] = {}
        self._found: dict[tuple[str, str, int], tuple[str | None, tuple[str, ...]]] = {}
        self._roots: dict[str, tuple[str, ...]] = {}
        self._listings: dict[str, set[str]] = {}
        self._edges: dict[str, tuple[set[str], set[str]]] = {}
        """For each file, the files that its imports led to, and the modules that they did not find."""
        self._given: dict[str, Source] = {}
        """Files held in memory, which go before those on disk."""
        self.reads_whole = reads_whole
        self.loaded_lines = 0
        self._absolutes: dict[str, str] = {}
        self._by_tree: dict[ast.AST, Module] = {}
        self._classes: dict[ast.ClassDef, ClassInfo] = {}
        self._functions: dict[FunctionNode, Module] = {}

    # -- reading -------------------------------------------------------------------------------------------------

    def display_path(self, absolute: str) -> str:
        """A path as diagnostics show it: relative to the project where it lies inside."""
        if absolute == self.root or not absolute.startswith(self.root + os.sep):
            return absolute.replace(os.sep, "/")
        return absolute[len(self.root) + 1 :].replace(os.sep, "/")

    def give(self, absolute: str, source: Source) -> Module:
        """Parse a file that is held in memory, as by an editor; it goes before what is on disk.

        Raises:
            SourceError: If it is not valid Python.
        """
        absolute = os.path.abspath(absolute)
        self._given[absolute] = source
        self._listings.clear()
        return self.add(absolute, source)

    def add(self, absolute: str, source: Source, *, whole: bool = True) -> Module:
        """Parse a file and make it known; where not `whole`, most bodies of functions only when asked for.

        Raises:
            SourceError: If it is not valid Python.
        """
        self._by_path[absolute] = None
        name, is_package = self.module_name(absolute)
        module = Module(self, source, name, absolute, is_package=is_package, whole=whole)
        self.loaded_lines += len(source.line_starts)
        self._by_path[absolute] = module
        self._by_tree[module.tree] = module
        self.note(module, module.functions, module.classes.values())
        return module

    def note(self, module: Module, functions: Iterable[FunctionNode], classes: Iterable[ClassInfo]) -> None:
        """Make functions and classes of a module known."""
        self._functions.update(dict.fromkeys(functions, module))
        self._classes.update({each.node: each for each in classes})

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
        whole = self.reads_whole(absolute, raw)
        return self.add(absolute, Source.from_bytes(self.display_path(absolute), raw), whole=whole)

    def module_of_bytes(self, absolute: str, raw: bytes) -> Module:
        """The module of a file whose content was read already.

        Raises:
            SourceError: If it is not valid Python.
        """
        module = self._by_path.get(absolute)
        if module is None:
            return self.add(absolute, Source.from_bytes(self.display_path(absolute), raw))
        module.complete()
        return module

    def module_name(self, absolute: str) -> tuple[str, bool]:
        """The dotted name of a file, from the top of its package, and whether it is a package's `__init__`."""
        directory, filename = os.path.split(absolute)
        stem = filename.removesuffix(".py")
        is_package = stem == "__init__"
        parts = [] if is_package else [stem]
        inside = False
        while self._exists(directory, "__init__.py") and os.path.dirname(directory) != directory:
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

    def _roots_for(self, directory: str) -> tuple[str, ...]:
        """The folders that the imports of the files in a folder start from, nearest first."""
        found = self._roots.get(directory)
        if found is None:
            top = directory
            while self._exists(top, "__init__.py"):
                parent = os.path.dirname(top)
                if parent == top:
                    break
                top = parent
            roots = [*self.source_roots]
            while True:
                roots.append(top)
                if top == self.root or not top.startswith(self.root + os.sep):
                    break
                top = os.path.dirname(top)
            roots.append(os.path.join(self.root, "src"))
            found = tuple(dict.fromkeys(roots))
            self._roots[directory] = found
        return found

    def _exists(self, directory: str, name: str) -> bool:
        """Whether a folder holds a name; each folder is listed once."""
        names = self._listings.get(directory)
        if names is None:
            try:
                names = set(os.listdir(directory))
            except OSError:
                names = set()
            for path in self._given:
                head, tail = os.path.split(path)
                if head == directory:
                    names.add(tail)
                elif head.startswith(directory + os.sep):
                    names.add(head[len(directory) + 1 :].split(os.sep)[0])
            self._listings[directory] = names
        return name in names

    def _file_of(self, base: str, parts: list[str]) -> str | None:
        """The file of a dotted name below a folder."""
        current = base
        for index, part in enumerate(parts):
            last = index == len(parts) - 1
            if last and self._exists(current, part + ".py"):
                package = os.path.join(current, part)
                if self._exists(current, part) and self._exists(package, "__init__.py"):
                    return os.path.join(package, "__init__.py")
                return package + ".py"
            if not self._exists(current, part):
                return None
            current = os.path.join(current, part)
        return os.path.join(current, "__init__.py") if self._exists(current, "__init__.py") else None

    def locate(self, importer: Module, name: str, level: int) -> str | None:
        """The file that `import name` (or `from ..name import`, with `level` dots) means in a module."""
        absolute = importer.absolute
        if not level:
            top = name.partition(".")[0]
            if not top or top in FRAMEWORKS or top in sys.stdlib_module_names:
                return None
        directory = os.path.dirname(absolute)
        key = (directory, name, level)
        known = self._found.get(key)
        if known is None:
            known = self._search(directory, name, level)
            self._found[key] = known
        found, missing = known
        consulted, absent = self._edges.setdefault(absolute, (set(), set()))
        if found is not None:
            consulted.add(found)
        absent.update(missing)
        return found

    def _search(self, directory: str, name: str, level: int) -> tuple[str | None, tuple[str, ...]]:
        parts = name.split(".") if name else []
        if level:
            base = directory
            for _ in range(level - 1):
                base = os.path.dirname(base)
            found = self._file_of(base, parts)
            return found, (() if found is not None else (os.path.join(base, *parts),))
        missing: list[str] = []
        for root in self._roots_for(directory):
            found = self._file_of(root, parts)
            if found is not None:
                return found, tuple(missing)
            missing.append(os.path.join(root, parts[0]))
        return None, tuple(missing)

    def dependencies(self, absolute: str) -> tuple[set[str], set[str]]:
        """The other files that a file's findings depend on, and the modules that were looked for and not found."""
        seen: set[str] = {absolute}
        missing: set[str] = set()
        queue = [absolute]
        while queue:
            consulted, absent = self._edges.get(queue.pop(), ((), ()))
            missing.update(absent)
            for each in consulted:
                if each not in seen:
                    seen.add(each)
                    queue.append(each)
        seen.discard(absolute)
        return seen, missing

    def forget(self) -> None:
        """Drop the syntax of everything read; what imports mean stays known."""
        for module in self._by_path.values():
            if module is not None:
                module.clear()
        self._by_path.clear()
        self._by_tree.clear()
        self._classes.clear()
        self._functions.clear()
        self.loaded_lines = 0
        for path, source in self._given.items():
            with contextlib.suppress(SourceError):
                self.add(path, source)

    def absolute(self, shown: str) -> str:
        """The absolute path of a path as shown."""
        found = self._absolutes.get(shown)
        if found is None:
            found = self._absolutes[shown] = os.path.normpath(os.path.join(self.root, shown))
        return found

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
        found = module.class_at(int(line), int(column))
        if found is None:
            module.complete()
            found = module.class_at(int(line), int(column))
        return found
