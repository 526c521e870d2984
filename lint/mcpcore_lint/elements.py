"""What is inside a container, behind an iterable, and bound by `with`."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

from mcpcore_lint.annotations import MAX_DEPTH, unquote
from mcpcore_lint.kinds import (
    ClassObject,
    Instance,
    Kind,
    Outside,
    Trail,
    ancestry,
    method_of,
    once,
)
from mcpcore_lint.model import Symbol, options
from mcpcore_lint.resolve import evaluate

if TYPE_CHECKING:
    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.project import ClassInfo, Module, Scope

_ELEMENTS: Final = frozenset(
    {
        "builtins.list", "builtins.set", "builtins.tuple", "builtins.frozenset", "collections.deque",
        "typing.List", "typing.Set", "typing.Sequence", "typing.Iterable", "typing.Iterator", "typing.Collection",
        "typing.AsyncIterator", "typing.AsyncIterable", "typing.Generator", "typing.AsyncGenerator",
        "collections.abc.Sequence", "collections.abc.Iterable", "collections.abc.Iterator",
        "collections.abc.Collection",
        "collections.abc.AsyncIterator", "collections.abc.AsyncIterable", "collections.abc.Generator",
        "collections.abc.AsyncGenerator", "collections.abc.Set",
    }
)  # fmt: skip


class ElementReader(ABC):
    """Tells what items and the targets of `with` are; what an expression is, a subclass tells."""

    def __init__(self, receiver: ClassInfo | None = None, depth: int = 0, trail: Trail | None = None) -> None:
        self.receiver = receiver
        self.depth = depth
        self.trail = Trail() if trail is None else trail

    @abstractmethod
    def of(self, node: ast.expr, scope: Scope) -> list[Kind]:
        """What an expression may be an instance of; empty where that cannot be told."""

    @abstractmethod
    def annotation(self, node: ast.expr | None, scope: Scope) -> list[Kind]:
        """The classes that an annotation names."""

    @abstractmethod
    def returned(self, node: FunctionNode, module: Module | None) -> list[Kind]:
        """What a function of the project returns: by its annotation, else by its `return` statements."""

    def _entered(self, node: ast.expr, scope: Scope) -> list[Kind]:
        """What `with node as name` binds the name to."""
        kinds: list[Kind] = []
        for kind in self.of(node, scope):
            if isinstance(kind, Instance):
                entered: list[Kind] = []
                for name in ("__aenter__", "__enter__"):
                    method = method_of(kind.info, name)
                    if method is not None:
                        entered = type(self)(kind.info, self.depth, self.trail).returned(method[0], method[1].module)
                        break
                kinds.extend(entered or [kind])
            else:
                kinds.append(kind)
        if not kinds and isinstance(node, ast.Call):
            # A generator made a context manager: what it yields.
            value = evaluate(node.func, scope)
            for each in options(value):
                if isinstance(each, Symbol) and isinstance(each.definition, ast.FunctionDef | ast.AsyncFunctionDef):
                    returns = unquote(each.definition.returns)
                    if isinstance(returns, ast.Subscript) and each.module is not None:
                        owner = each.module.project.module_defining(each.definition)
                        inner = returns.slice.elts[0] if isinstance(returns.slice, ast.Tuple) else returns.slice
                        if owner is not None:
                            kinds.extend(self.annotation(inner, owner.scope))
        return kinds

    def _element(self, node: ast.expr, scope: Scope) -> list[Kind]:
        """What the items of an iterable are instances of."""
        annotation: ast.expr | None = None
        where = scope
        if isinstance(node, ast.Name):
            found = scope.lookup(node.id)
            if found is not None:
                where, bindings = found
                for binding in bindings:
                    if binding.annotation is not None:
                        annotation = unquote(binding.annotation)
                    elif isinstance(binding.value, ast.List | ast.Tuple):
                        return once([kind for each in binding.value.elts for kind in self.of(each, where)])
                    elif binding.value is not None:
                        inner = self._element(binding.value, where) if self.depth < MAX_DEPTH - 5 else []
                        if inner:
                            return inner
        elif isinstance(node, ast.Call | ast.Await):
            call = node.value if isinstance(node, ast.Await) else node
            if isinstance(call, ast.Call):
                definition = self._callee(call, scope)
                if definition is not None:
                    annotation = unquote(definition[0].returns)
                    where = definition[1]
        elif isinstance(node, ast.Attribute):
            for kind in self.of(node.value, scope):
                if isinstance(kind, Instance):
                    for info in ancestry(kind.info):
                        for binding in info.attributes.get(node.attr, ()):
                            if binding.annotation is not None:
                                annotation, where = unquote(binding.annotation), info.body_scope
                        for noted, _, at in info.instance_attributes.get(node.attr, ()):
                            if noted is not None:
                                annotation, where = unquote(noted), at
        elif isinstance(node, ast.List | ast.Tuple):
            return once([kind for each in node.elts for kind in self.of(each, scope)])
        if isinstance(annotation, ast.Subscript):
            head = evaluate(annotation.value, where)
            inner_nodes = list(annotation.slice.elts) if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
            if isinstance(head, Symbol):
                last = head.name.rpartition(".")[2].lower()
                if (
                    last in {"dict", "mapping", "mutablemapping", "defaultdict", "ordereddict"}
                    and len(inner_nodes) == 2
                ):
                    return self.annotation(inner_nodes[1], where)
                if head.name in _ELEMENTS:
                    return self.annotation(inner_nodes[0], where)
        kinds = self.of(node, scope) if not isinstance(node, ast.Subscript) else []
        return [Outside()] if kinds and all(isinstance(each, Outside) for each in kinds) else []

    def _callee(self, node: ast.Call, scope: Scope) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, Scope] | None:
        value = evaluate(node.func, scope)
        if isinstance(value, Symbol) and isinstance(value.definition, ast.FunctionDef | ast.AsyncFunctionDef):
            owner = scope.module.project.module_defining(value.definition)
            if owner is not None:
                return value.definition, owner.scope
        if isinstance(node.func, ast.Attribute):
            for kind in self.of(node.func.value, scope):
                if isinstance(kind, Instance | ClassObject):
                    method = method_of(kind.info, node.func.attr)
                    if method is not None:
                        return method[0], method[1].scope
        return None
