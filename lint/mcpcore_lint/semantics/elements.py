"""What is inside a container, behind an iterable, at a place of a tuple, and bound by `with`."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final, TypeAlias

from mcpcore_lint.model import Symbol, options
from mcpcore_lint.semantics.annotations import MAX_DEPTH, unquote
from mcpcore_lint.semantics.evaluate import MAX_STEPS, evaluate
from mcpcore_lint.semantics.type_model import (
    ClassObject,
    Function,
    Instance,
    Kind,
    Outside,
    Trail,
    ancestry,
    method_of,
    once,
)
from mcpcore_lint.syntax.parse import alternatives, own_nodes

if TYPE_CHECKING:
    from mcpcore_lint.flow.effects import Given
    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.syntax.module import ClassInfo, Module
    from mcpcore_lint.syntax.scopes import Scope

_ELEMENTS: Final = frozenset(
    {
        "builtins.list", "builtins.set", "builtins.tuple", "builtins.frozenset", "collections.deque",
        "typing.List", "typing.Set", "typing.Sequence", "typing.Iterable", "typing.Iterator", "typing.Collection",
        "typing.AsyncIterator", "typing.AsyncIterable", "typing.Generator", "typing.AsyncGenerator",
        "typing.Tuple", "typing.FrozenSet", "typing.MutableSequence", "collections.abc.MutableSequence",
        "collections.abc.Sequence", "collections.abc.Iterable", "collections.abc.Iterator",
        "collections.abc.Collection",
        "collections.abc.AsyncIterator", "collections.abc.AsyncIterable", "collections.abc.Generator",
        "collections.abc.AsyncGenerator", "collections.abc.Set",
    }
)  # fmt: skip
_MAPPINGS: Final = frozenset({"dict", "mapping", "mutablemapping", "defaultdict", "ordereddict"})
_SAME_ITEMS: Final = frozenset({"list", "tuple", "sorted", "reversed", "iter", "set", "frozenset"})
"""Builtins whose result has the items of what they are given."""
_HELD: Final = frozenset({"contextlib.closing", "contextlib.aclosing", "contextlib.nullcontext"})
"""Context managers that give what they hold."""

Declared: TypeAlias = "tuple[ast.expr, Scope]"
"""An annotation, with the scope to read it in."""


class ElementReader(ABC):
    """Tells what items and the targets of `with` are; what an expression is, a subclass tells."""

    def __init__(
        self,
        receiver: ClassInfo | None = None,
        depth: int = 0,
        trail: Trail | None = None,
        given: tuple[Given, ...] = (),
    ) -> None:
        self.receiver = receiver
        self.depth = depth
        self.trail = Trail() if trail is None else trail
        self.given = given

    @abstractmethod
    def of(self, node: ast.expr, scope: Scope) -> list[Kind]:
        """What an expression may be an instance of; empty where that cannot be told."""

    @abstractmethod
    def annotation(self, node: ast.expr | None, scope: Scope) -> list[Kind]:
        """The classes that an annotation names."""

    @abstractmethod
    def returned(self, node: FunctionNode, module: Module | None) -> list[Kind]:
        """What a function of the project returns: by its annotation, else by its `return` statements."""

    @abstractmethod
    def result(self, kind: Kind, name: str) -> list[Kind]:
        """What a method gives."""

    @abstractmethod
    def within(self, kind: Instance) -> ElementReader:
        """The reader for the methods of an object."""

    # -- with ----------------------------------------------------------------------------------------------------

    def entered(self, node: ast.expr, scope: Scope) -> list[Kind]:
        """What `with node as name` binds the name to."""
        if isinstance(node, ast.Call):
            func = evaluate(node.func, scope)
            if isinstance(func, Symbol) and func.name in _HELD:
                return self.of(node.args[0], scope) if node.args else []
            made = self._callee(node, scope)
            if made is not None and any(_spells(each, "contextmanager") for each in made[0].decorator_list):
                return self._yielded(*made)
        kinds: list[Kind] = []
        for kind in self.of(node, scope):
            if isinstance(kind, Instance):
                entered: list[Kind] = []
                for name in ("__aenter__", "__enter__"):
                    method = method_of(kind.info, name)
                    if method is not None:
                        entered = self.within(kind).returned(method[0], method[1].module)
                        break
                kinds.extend(entered or [kind])
            else:
                kinds.append(kind)
        return kinds

    def _yielded(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> list[Kind]:
        """What a generator yields, by its annotation, else by its `yield` statements."""
        returns = unquote(node.returns)
        if isinstance(returns, ast.Subscript):
            inner = returns.slice.elts[0] if isinstance(returns.slice, ast.Tuple) else returns.slice
            kinds = self.annotation(inner, scope)
            if kinds:
                return kinds
        self.depth += 5
        try:
            if self.depth > MAX_DEPTH:
                return []
            inside = scope.module.scope_of(node)
            return once(
                [
                    kind
                    for each in own_nodes(node)
                    if isinstance(each, ast.Yield) and each.value is not None
                    for kind in self.of(each.value, inside)
                ]
            )
        finally:
            self.depth -= 5

    # -- items ---------------------------------------------------------------------------------------------------

    def element(self, node: ast.expr, scope: Scope) -> list[Kind]:
        """What the items of an iterable, or the values of a mapping, are instances of."""
        self.trail.steps = self.trail.steps + 1 if self.depth else 0
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH or self.trail.steps > MAX_STEPS:
                self.trail.cut = True
                return []
            return once(self._element(node, scope))
        finally:
            self.depth -= 1

    def _element(self, node: ast.expr, scope: Scope) -> list[Kind]:
        while isinstance(node, (ast.Await, ast.Starred, ast.NamedExpr)):
            node = node.value
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return [kind for each in node.elts for kind in self._one(each, scope)]
        if isinstance(node, ast.Dict):
            return [kind for each in node.values for kind in self.of(each, scope)]
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return self.of(node.elt, scope)
        if isinstance(node, ast.DictComp):
            return self.of(node.value, scope)
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            return [kind for each in alternatives(node) for kind in self.element(each, scope)]
        declared = self._declared(node, scope)
        if declared is not None:
            inner = self._inner(*declared)
            if inner is not None:
                kinds = self.annotation(*inner)
                if kinds:
                    return kinds
        items = self._items_of(node, scope)
        if items is None or items:
            return items or []
        kinds = items
        found = self.of(node, scope) if not isinstance(node, ast.Subscript) else []
        for each in found:
            if isinstance(each, Instance):
                kinds.extend(self._iterated(each))
        if kinds:
            return kinds
        return [Outside()] if found and all(isinstance(each, Outside) for each in found) else []

    def _one(self, node: ast.expr, scope: Scope) -> list[Kind]:
        return self.element(node.value, scope) if isinstance(node, ast.Starred) else self.of(node, scope)

    def _iterated(self, kind: Instance) -> list[Kind]:
        """What a loop over an object of the project gives."""
        for first, second in (("__iter__", "__next__"), ("__aiter__", "__anext__")):
            iterator = method_of(kind.info, first)
            if iterator is None:
                continue
            annotated = unquote(iterator[0].returns)
            inner = self._inner(annotated, iterator[1].scope) if annotated is not None else None
            if inner is not None:
                return self.annotation(*inner)
            return [one for each in self.result(kind, first) for one in self.result(each, second)]
        return self.result(kind, "__getitem__") if method_of(kind.info, "__getitem__") is not None else []

    def _items_of(self, node: ast.expr, scope: Scope) -> list[Kind] | None:
        """The items of what a name or an attribute is set to, and of what a call gives.

        None where things of the project are in it, and more is put in elsewhere.
        """
        if isinstance(node, ast.Name):
            found = scope.lookup(node.id)
            if found is None:
                return []
            where, bindings = found
            asked = (id(where), f"items of {node.id}", id(self.receiver))
            if asked in self.trail.active:
                self.trail.cut = True  # `rows = rows.copy()`: the name is made of itself
                return []
            self.trail.active.add(asked)
            try:
                kinds = [
                    kind
                    for each in bindings
                    if each.value is not None and each.kind in {"assign", "annotated"}
                    for kind in self.element(each.value, where)
                ]
            finally:
                self.trail.active.discard(asked)
            return (None if any_own(kinds) else []) if where.module.changes_in_place(node.id, where) else kinds
        if isinstance(node, ast.Attribute):
            kinds = []
            for kind in self.of(node.value, scope):
                for info in ancestry(kind.info) if isinstance(kind, (Instance, ClassObject)) else ():
                    held = [(value, at) for _, value, at in info.instance_attributes.get(node.attr, ())]
                    held += [(each.value, info.body_scope) for each in info.attributes.get(node.attr, ())]
                    if not held or info.module.changes_in_place(node.attr):
                        continue
                    inner = self.within(kind) if isinstance(kind, Instance) else self
                    kinds.extend(one for value, at in held if value is not None for one in inner.element(value, at))
                    break
            return kinds
        if isinstance(node, ast.Call):
            func = node.func
            if isinstance(func, ast.Name) and func.id in _SAME_ITEMS and node.args and scope.lookup(func.id) is None:
                return self.element(node.args[0], scope)
            if isinstance(func, ast.Attribute) and func.attr in {"values", "copy"} and not node.args:
                inside = self._items_of(func.value, scope)
                return inside or (None if inside is None else self.element(func.value, scope))
            made = self._callee(node, scope)
            if made is not None and made[0].returns is None:
                return self._yielded(*made)
        return []

    def unpacked(self, target: ast.expr, name: str, node: ast.expr, scope: Scope, *, looped: bool) -> list[Kind]:
        """What a name in a tuple of targets is, of a value or (`looped`) of each item of it."""
        if not isinstance(target, (ast.Tuple, ast.List)):
            return []
        place = next(
            (at for at, each in enumerate(target.elts) if isinstance(each, ast.Name) and each.id == name), None
        )
        while isinstance(node, ast.Await):
            node = node.value
        if place is None:
            return []
        if isinstance(node, ast.Call):
            kinds = self._of_call(node, place, scope, looped=looped)
            if kinds is not None:
                return kinds
        declared = self._declared(node, scope)
        if declared is not None and looped:
            declared = self._inner(*declared)
        if declared is None:
            return []
        annotation, where = unquote(declared[0]), declared[1]
        if not isinstance(annotation, ast.Subscript) or not isinstance(annotation.slice, ast.Tuple):
            return []
        parts = annotation.slice.elts
        if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is ...:
            return self.annotation(parts[0], where)
        return self.annotation(parts[place], where) if place < len(parts) else []

    def _of_call(self, node: ast.Call, place: int, scope: Scope, *, looped: bool) -> list[Kind] | None:
        """What is at a place of what a call gives; None where the call says nothing of it."""
        func = node.func
        name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
        if looped:
            if name == "enumerate" and node.args:
                return self.element(node.args[0], scope) if place else [Outside("builtins.int")]
            if name == "zip":
                return self.element(node.args[place], scope) if place < len(node.args) else []
            if name == "items" and isinstance(func, ast.Attribute):
                return self.element(func.value, scope) if place else [Outside()]
            return None
        if name == "gather" and place < len(node.args):
            return self._one(node.args[place], scope)
        made = self._callee(node, scope)
        if made is None or made[0].returns is not None:
            return None
        inside = made[1].module.scope_of(made[0])
        return [
            kind
            for each in own_nodes(made[0])
            if isinstance(each, ast.Return) and isinstance(each.value, ast.Tuple) and place < len(each.value.elts)
            for kind in self.of(each.value.elts[place], inside)
        ]

    # -- annotations ---------------------------------------------------------------------------------------------

    def _declared(self, node: ast.expr, scope: Scope) -> Declared | None:
        """The annotation of what an expression is."""
        if isinstance(node, ast.Name):
            found = scope.lookup(node.id)
            if found is not None:
                for binding in found[1]:
                    if binding.annotation is not None:
                        return binding.annotation, found[0]
        elif isinstance(node, ast.Call):
            made = self._callee(node, scope)
            if made is not None and made[0].returns is not None:
                return made[0].returns, made[1]
        elif isinstance(node, ast.Attribute):
            for kind in self.of(node.value, scope):
                for info in ancestry(kind.info) if isinstance(kind, (Instance, ClassObject)) else ():
                    for binding in info.attributes.get(node.attr, ()):
                        if binding.annotation is not None:
                            return binding.annotation, info.body_scope
                        returns = getattr(binding.node, "returns", None)
                        if binding.kind == "function" and returns is not None:
                            return returns, info.scope
                    for noted, value, at in info.instance_attributes.get(node.attr, ()):
                        if noted is not None:
                            return noted, at
                        if isinstance(value, ast.Name):
                            return self._declared(value, at)
        return None

    @staticmethod
    def _inner(annotation: ast.expr, where: Scope) -> Declared | None:
        """The annotation of the items (of a mapping: of the values) in that of a container."""
        unquoted = unquote(annotation)
        while isinstance(unquoted, ast.BinOp):
            unquoted = unquote(unquoted.left if isinstance(unquoted.left, ast.Subscript) else unquoted.right)
        if not isinstance(unquoted, ast.Subscript):
            return None
        head = evaluate(unquoted.value, where)
        parts = list(unquoted.slice.elts) if isinstance(unquoted.slice, ast.Tuple) else [unquoted.slice]
        if not isinstance(head, Symbol) or not parts:
            return None
        if head.name.rpartition(".")[2].lower() in _MAPPINGS and len(parts) == 2:
            return parts[1], where
        if head.name in _ELEMENTS:
            return parts[0], where
        if head.name in {"typing.Optional", "typing.Annotated", "typing.Final", "typing.ClassVar"}:
            return ElementReader._inner(parts[0], where)
        return None

    # -- calls ---------------------------------------------------------------------------------------------------

    def _callee(self, node: ast.Call, scope: Scope) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, Scope] | None:
        value = evaluate(node.func, scope)
        for each in options(value):
            if isinstance(each, Symbol) and isinstance(each.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
                owner = scope.module.project.module_defining(each.definition)
                if owner is not None:
                    return each.definition, owner.scope
        if isinstance(node.func, ast.Attribute):
            for kind in self.of(node.func.value, scope):
                if isinstance(kind, (Instance, ClassObject)):
                    method = method_of(kind.info, node.func.attr)
                    if method is not None:
                        return method[0], method[1].scope
        return None


def _spells(node: ast.expr, word: str) -> bool:
    target = node.func if isinstance(node, ast.Call) else node
    name = target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
    return word in name


def any_own(kinds: list[Kind]) -> bool:
    """Whether something of the project is among some kinds."""
    return any(isinstance(each, (Instance, ClassObject, Function)) for each in kinds)
