"""One file of Python: what it defines at its top, its classes, and every function in it with its scope."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Concatenate, Final, TypeAlias, TypeVar

from mcpcore_lint.dataclasses import P, T, cached_method, cached_property, light
from mcpcore_lint.engine.syntax.outline import complete, complete_all, deferred, outline, settle
from mcpcore_lint.engine.syntax.parse import BLOCKS, FIELDS, body_of, children, statements, walk, walk_shallow
from mcpcore_lint.engine.syntax.scopes import Binding, Scope, bind_statement, is_stub, role_of, targets_of
from mcpcore_lint.engine.syntax.source import Source, parse
from mcpcore_lint.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpcore_lint.engine.flow.bodies.builder import HandlerBuilder
    from mcpcore_lint.engine.syntax.project import Project
    from mcpcore_lint.model import FunctionNode

Owner = TypeVar("Owner", "Module", "ClassInfo")
WORTH_ALL: Final = 16
"""How often a file may be gone through for single functions before it is parsed whole."""

_CHANGE = regex(
    r"\s*(?:\.\s*(?:append|extend|insert|remove|pop|clear|update|setdefault|add|discard)\s*\(|\.(?:append|add)\s*$|\+=|\|=|\[[^\n]*\]\s*(?:=(?!=)|\.\s*(?:append|extend|add|update)\s*\())",
    re.MULTILINE,
)
"""What follows a name whose list or dict is changed in place."""


@light
class ClassInfo:
    """A class of the project."""

    node: ast.ClassDef
    module: Module
    scope: Scope
    """The scope around the class statement."""
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
        assignments: dict[str, list[tuple[ast.expr | None, ast.expr | None, Scope]]] = {}
        for method in (*self.methods.values(), *self.accessors.values()):
            names = [*method.args.posonlyargs, *method.args.args]
            if not names or not _may_assign(method, names[0].arg, self.module.source.text):
                continue
            scope = self.module.scope_of(method)
            for node in statements(method.body):
                annotation: ast.expr | None = None
                pairs: list[tuple[ast.expr, ast.expr | None]]
                if isinstance(node, ast.Assign):
                    pairs = [pair for target in node.targets for pair in targets_of(target, node.value)]
                elif isinstance(node, ast.AnnAssign):
                    annotation, pairs = node.annotation, [(node.target, node.value)]
                else:
                    continue
                for target, value in pairs:
                    match target:
                        case ast.Attribute(value=ast.Name(id=name), attr=attr) if name == names[0].arg:
                            assignments.setdefault(attr, []).append((annotation, value, scope))
        return assignments


class Module:
    """One file of Python."""

    def __init__(
        self,
        project: Project,
        source: Source,
        name: str,
        absolute: str,
        *,
        is_package: bool,
        whole: bool = True,
        tree: ast.Module | None = None,
    ) -> None:
        self.project = project
        self.absolute = absolute
        self.source = source
        outlined = None if whole else outline(source, self.complete)
        self.tree, self._deferred = outlined or (tree or parse(source), [])
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
        self.scope = Scope(self, self.tree, None, "", None, {})
        _index(self)

    def complete(self, node: ast.AST | None = None) -> None:
        """Parse the body of one function, or of all, where only the outline of the file was read so far."""
        if node is None:
            self._complete_all()
        elif deferred(node) is not None:
            assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            # To parse one function, Python counts the lines before it: after many of them the whole file costs less.
            self._passed_over += node.lineno
            if self._passed_over > WORTH_ALL * len(self.source.line_starts):
                self._complete_all()
            else:
                complete(node, self.source)
                self._index_body(node)

    def _complete_all(self) -> None:
        waiting = [node for node in self._deferred if deferred(node) is not None]
        if waiting and not complete_all(waiting, self.source):
            for call in waiting:
                complete(call, self.source)
        for call in waiting:
            self._index_body(call)
        if self._deferred:
            self._deferred = []
            settle(self.tree)

    def _index_body(self, node: FunctionNode) -> None:
        scope = self.functions[node]
        prefix = scope.qualname + "."
        stack: list[_Place] = [(part, scope, None, prefix) for part in reversed(body_of(node))]
        self.project.note(self, *_index_statements(self, stack))

    @property
    def path(self) -> str:
        """The file, as diagnostics name it."""
        return self.source.path

    def exports(self, name: str) -> bool:
        """Whether `from module import *` binds a name that the module has."""
        # An `__all__` that code computes cannot be read, and counts as none.
        for binding in self.scope.bindings.get("__all__", ()):
            if isinstance(binding.value, (ast.List, ast.Tuple)):
                return any(isinstance(item, ast.Constant) and item.value == name for item in binding.value.elts)
        return not name.startswith("_")

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Every node's parent. Made on first use; costs a walk over the file."""
        self.complete()
        parents: dict[ast.AST, ast.AST] = {}
        stack: list[ast.AST] = [self.tree]
        while stack:
            node = stack.pop()
            below = children(node)
            parents.update(dict.fromkeys(below, node))
            stack += below
        return parents

    def around(self, node: ast.AST, *kinds: type[ast.AST]) -> ast.AST | None:
        """The nearest node of some kinds above a node."""
        above = self.parents.get(node)
        while above is not None and not isinstance(above, kinds):
            above = self.parents.get(above)
        return above

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

    def once(self, key: object, make: Callable[[], T], *meanwhile: T) -> T:
        """What `make` returns, which is called once for each key as long as the syntax of the file is kept.

        If `make` asks for the same key, it gets `meanwhile`.
        """
        if key not in self.memo:
            if meanwhile:
                self.memo[key] = meanwhile[0]
            self.memo[key] = make()
        value: T = self.memo[key]
        return value

    def calls_near(
        self,
        *words: str,
        skip: Callable[[ast.AST], bool] | None = None,
        decorators: bool = False,
        inside: FunctionNode | None = None,
    ) -> list[tuple[ast.Call, Scope]]:
        """The calls on whose lines one of some words stands, with their scopes, in source order.

        Much cheaper than a walk over the file: only the nodes round those lines are looked at.

        Args:
            words: Texts; a call counts from its first line to its last.
            skip: Nodes that are left out with all that is in them.
            decorators: Whether to look into decorators too.
            inside: The function to look into, without its decorators; None for the whole file.
        """
        key = ("calls_near", words, skip, decorators, inside)
        return self.once(key, lambda: self._calls_near(words, skip, inside or self.tree, decorators=decorators))

    @cached_method
    def lines_with(self, word: str) -> list[int]:
        """The lines on which a text begins."""
        text, starts = self.source.text, self.source.line_starts
        places: list[int] = []
        start = text.find(word)
        while start >= 0:
            line = bisect_right(starts, start)
            places.append(line)
            start = text.find(word, starts[line] if line < len(starts) else len(text))
        return places

    def _calls_near(
        self, words: tuple[str, ...], skip: Callable[[ast.AST], bool] | None, root: ast.AST, *, decorators: bool
    ) -> list[tuple[ast.Call, Scope]]:
        hits = sorted({line for word in words for line in self.lines_with(word)})
        if not hits:
            return []
        last = len(hits)
        calls: list[tuple[ast.Call, Scope]] = []
        stack: list[tuple[Any, Scope]] = [(root, self.scope)]
        while stack:
            node, scope = stack.pop()
            kind = type(node)
            wrapped: list[ast.expr] = []
            if kind is ast.Call:
                calls.append((node, scope))
            elif kind in _WRAPPED:
                wrapped = node.decorator_list
                if decorators:
                    stack.extend((child, scope) for child in reversed(wrapped))
                scope = self.classes[node].body_scope if kind is ast.ClassDef else self.functions[node]
            elif kind is ast.Lambda:
                self.note_lambda(node, scope)
                scope = self.functions[node]
            child: Any
            for child in reversed(children(node)):
                # Nearly all nodes are on no such line, so they are skipped before they get onto the stack.
                below = type(child)
                if below in _HOLDS_NO_CALL or (wrapped and child in wrapped):
                    continue
                if below not in _WITHOUT_LINES:
                    first, end = (
                        _lines(child, decorators=decorators) if below in _WRAPPED else (child.lineno, child.end_lineno)
                    )
                    index = bisect_left(hits, first)
                    if index == last or hits[index] > end:
                        continue
                if skip is None or not skip(child):
                    stack.append((child, scope))
        return calls

    def clear(self) -> None:
        """Release the syntax link by link, since cycles are freed only by a costly garbage collection."""
        for scope in (self.scope, *self.functions.values()):
            scope.forget()
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
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                if isinstance(node, ast.Lambda):
                    self.note_lambda(node, scope)
                scope = self.functions[node]
            stack.extend((child, scope) for child in children(node))

    def changes_in_place(self, name: str, where: Scope | None = None) -> bool:
        """Whether a list or dict of that name is changed once made: `x.append(...)`, `x += ...`, `x[...] = ...`.

        Args:
            name: The name of a variable or of an attribute.
            where: Of a variable, the scope that it is bound in: in other functions, that name is another variable.
        """
        lines = self._lines_changing(name)
        if where is None or not lines or (where.is_module and where is not self.scope):
            return bool(lines)
        if not where.is_module:
            # Functions other than this one need not be looked at.
            first, last = _lines(where.node, decorators=False)
            lines = [line for line in lines if first <= line <= last]
        return any(self._binder(name, line) is where for line in lines)

    def _binder(self, name: str, line: int) -> Scope:
        """The innermost function that binds a name and is around a line, or the module."""
        binder = self.scope
        for node, scope in list(self.functions.items()):
            first, last = _lines(node, decorators=False)
            if first <= line <= last and name in scope.bindings and name not in scope.globals:
                binder = scope
        return binder

    @cached_method
    def _lines_changing(self, name: str) -> list[int]:
        """The lines on which the text looks as if something of that name were changed in place."""
        text = self.source.text
        lines: list[int] = []
        start = text.find(name)
        while start >= 0:
            end = start + len(name)
            if not (start and (text[start - 1].isalnum() or text[start - 1] == "_")) and _CHANGE.match(text, end):
                lines.append(bisect_right(self.source.line_starts, start))
            start = text.find(name, end)
        return lines

    def nodes_of(self, function: FunctionNode) -> list[ast.AST]:
        """Every node of a function's body and of the functions nested in it, in source order."""
        return walk(body_of(function))

    def function_at(self, line: int, column: int) -> FunctionNode | None:
        """The function or lambda that starts at a place as `ast` counts it."""
        node = self._placed(line, column)
        if node is None:
            self.complete()
            self._lambdas()
            node = self._placed(line, column)
        return node

    def _placed(self, line: int, column: int) -> FunctionNode | None:
        # Functions are only ever added, so a change of their number is a change of the table.
        if len(self._by_place) != len(self.functions):
            self._by_place = {(function.lineno, function.col_offset): function for function in self.functions}
        return self._by_place.get((line, column))

    def class_at(self, line: int, column: int) -> ClassInfo | None:
        """The class that starts at a place as `ast` counts it."""
        by_place = {(node.lineno, node.col_offset): info for node, info in self.classes.items()}
        if (line, column) not in by_place and self._deferred:
            self.complete()
            return self.class_at(line, column)
        return by_place.get((line, column))

    def __repr__(self) -> str:
        return f"<Module {self.name} {self.path}>"


_WRAPPED: Final = frozenset(
    node_kind for node_kind in FIELDS if issubclass(node_kind, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
)
_WITHOUT_LINES: Final = frozenset({ast.arguments, ast.comprehension, ast.withitem, ast.match_case})
_HOLDS_NO_CALL: Final = frozenset(
    {ast.Name, ast.Constant, ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal}
)


def _lines(node: Any, *, decorators: bool) -> tuple[int, int]:
    """The first line and the last of a definition, without parsing a body that was put off."""
    text_only = deferred(node)
    end: int = node.end_lineno if text_only is None else text_only.last_line
    return (node.decorator_list[0] if decorators and node.decorator_list else node).lineno, end


_Place: TypeAlias = tuple[ast.AST, Scope, "ast.ClassDef | None", str]
"""A statement, its scope, its class, and the prefix of the names that it defines."""


def _index(module: Module) -> None:
    """Read the top of a file: what it binds, its classes, and every `def` in it, however deep."""
    _index_statements(module, [(statement, module.scope, None, "") for statement in reversed(module.tree.body)])
    # The walk visits every node outside functions, and few files need it.
    if module.source.has(":="):
        bindings = module.scope.bindings
        for part in walk_shallow([*module.tree.body]):
            if isinstance(part, ast.NamedExpr):
                bindings.setdefault(part.target.id, []).append(Binding("assign", part, part.value))


def _index_statements(module: Module, stack: list[_Place]) -> tuple[list[FunctionNode], list[ClassInfo]]:
    """Read some statements, each with its scope, class and prefix; the functions and classes found in them."""
    bindings = module.scope.bindings
    functions: list[FunctionNode] = []
    classes: list[ClassInfo] = []
    while stack:
        node, scope, owner, prefix = stack.pop()
        kind = type(node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            qualname = prefix + node.name
            role = role_of(node) if node.decorator_list else ""
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
                    # Outside branches, it replaces an earlier `def` of its name, unless that is registered.
                    known[:] = [item for item in known if not _plain(item)]
                known.append(Binding("function", node))
            inner = Scope(module, node, scope, qualname, owner)
            module.functions[node] = inner
            functions.append(node)
            if deferred(node) is None and _may_define(node, module.source):
                stack.extend((statement, inner, None, qualname + ".") for statement in reversed(node.body))
            continue
        if kind is ast.ClassDef:
            assert isinstance(node, ast.ClassDef)
            if owner is not None:
                module.classes[owner].attributes.setdefault(node.name, []).append(Binding("class", node))
            elif scope is module.scope and not is_stub(node.name, node, bindings, scope):
                bindings.setdefault(node.name, []).append(Binding("class", node))
            qualname = prefix + node.name
            module.classes[node] = ClassInfo(node, module, scope, qualname, {}, {}, {})
            classes.append(module.classes[node])
            stack.extend((statement, scope, node, qualname + ".") for statement in reversed(node.body))
            continue
        if owner is not None:
            bind_statement(node, module.classes[owner].attributes, module.scope)
        elif scope is module.scope:
            bind_statement(node, bindings, module.scope)
        for name in BLOCKS.get(kind, ()):
            stack.extend((child, scope, owner, prefix) for child in reversed(getattr(node, name)))
    return functions, classes


def _may_define(node: ast.FunctionDef | ast.AsyncFunctionDef, source: Source) -> bool:
    """Whether a function or a class may be defined within a function: below its first line stands a word for that."""
    starts, text = source.line_starts, source.text
    last = node.end_lineno or node.lineno
    begin = starts[node.lineno] if node.lineno < len(starts) else len(text)
    end = starts[last] if last < len(starts) else len(text)
    return text.find("def", begin, end) >= 0 or text.find("class", begin, end) >= 0


def _plain(binding: Binding) -> bool:
    return isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not binding.node.decorator_list


def _may_assign(method: ast.FunctionDef | ast.AsyncFunctionDef, me: str, text: str) -> bool:
    """Whether a method may assign to `self.name`, as far as its text tells where it was not parsed yet."""
    place = deferred(method)
    if place is None:
        return True
    for match in _assignment(me).finditer(text, place.start, place.end):
        # An annotation begins its line.
        if not match[0].endswith(":") or not text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip():
            return True
    return False


@lru_cache(maxsize=16)
def _assignment(me: str) -> re.Pattern[str]:
    """A value or an annotation for `self.name`, or a value for several targets of which it is one."""
    # `re` searches fastest for a pattern that begins with letters.
    return re.compile(rf"{re.escape(me)}\s*\.\s*\w+\s*(?:=(?!=)|:|[,)\]][\w\s.,*()\[\]]{{0,400}}=(?!=))")


def kept(make: Callable[Concatenate[Owner, P], T]) -> Callable[Concatenate[Owner, P], T]:
    """Let a function of a file or a class keep its results for the same arguments, as long as the syntax is kept."""

    def known(owner: Owner, /, *args: P.args, **options: P.kwargs) -> T:
        module = owner.module if isinstance(owner, ClassInfo) else owner
        return module.once((make, owner, *args, *options.items()), lambda: make(owner, *args, **options))

    return known
