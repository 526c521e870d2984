"""Reads annotations: the class that an annotation names, the target of an alias, the strings of a `Literal`."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import (
    Symbol,
    Value,
    string,
)
from mcpcore_lint.semantics.symbols import class_info, enum_like

if TYPE_CHECKING:
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Binding, Scope


MAX_DEPTH: Final = 40
"""The maximum depth of names, calls and operators to follow in an expression."""


class AnnotationReader(ABC):
    """Reads annotations. Subclasses evaluate plain expressions."""

    depth: int

    @abstractmethod
    def expression(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression."""

    @abstractmethod
    def _attribute_of(self, base: Value, node: ast.Attribute, module: Module) -> Value:
        """The value of an attribute."""

    def annotation_symbol(self, node: ast.expr | None, scope: Scope) -> Symbol | None:
        """The class that an annotation names. Follows Optional, unions with None, Annotated, aliases and quotes."""
        unquoted = unquote(node)
        if unquoted is None:
            return None
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                return None
            if isinstance(unquoted, ast.BinOp) and isinstance(unquoted.op, ast.BitOr):
                sides = [side for side in (unquoted.left, unquoted.right) if not _is_none(side)]
                return self.annotation_symbol(sides[0], scope) if len(sides) == 1 else None
            if isinstance(unquoted, ast.Subscript):
                head = self.expression(unquoted.value, scope)
                if isinstance(head, Symbol):
                    if head.name in {"typing.Annotated", "typing.Final", "typing.ClassVar", "typing.Optional"}:
                        inner = unquoted.slice
                        if isinstance(inner, ast.Tuple):
                            inner = inner.elts[0] if inner.elts else inner
                        return self.annotation_symbol(inner, scope)
                    if head.name == "typing.Union":
                        inner = unquoted.slice
                        elts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                        members = [element for element in elts if not _is_none(element)]
                        return self.annotation_symbol(members[0], scope) if len(members) == 1 else None
                    return head
                return None
            value = self.expression(unquoted, scope)
            if isinstance(value, Symbol):
                return value
            alias = self.alias_of(unquoted, scope)
            if alias is not None and alias[0] is not unquoted:
                return self.annotation_symbol(*alias)
            return None
        finally:
            self.depth -= 1

    def alias_of(self, node: ast.expr, scope: Scope) -> tuple[ast.expr, Scope] | None:
        """The expression behind a name with a single binding, with the scope to read it in. Follows imports."""
        if isinstance(node, ast.Name):
            match = scope.lookup(node.id)
            if match is None:
                for source, level in scope.module.star_imports:
                    starred = scope.module.project.module_of(scope.module, source, level)
                    if starred is not None and node.id in starred.scope.bindings:
                        return self._alias_binding(starred.scope.bindings[node.id], starred.scope, node)
                return None
            where, bindings = match
            return self._alias_binding(bindings, where, node)
        if isinstance(node, ast.Attribute):
            base = self.expression(node.value, scope)
            if isinstance(base, Symbol) and isinstance(base.definition, ast.Module):
                owner = scope.module.project.module_by_name(base.name, base.definition)
                if owner is not None and node.attr in owner.scope.bindings:
                    return self._alias_binding(owner.scope.bindings[node.attr], owner.scope, node)
        return None

    def _alias_binding(self, bindings: list[Binding], where: Scope, node: ast.expr) -> tuple[ast.expr, Scope] | None:
        if len(bindings) != 1 or self.depth > MAX_DEPTH:
            return None
        binding = bindings[0]
        if binding.kind in {"assign", "annotated"} and binding.value is not None:
            return binding.value, where
        if binding.kind == "import" and binding.target is not None and binding.target[1] is not None:
            source, name, level = binding.target
            module = where.module.project.module_of(where.module, source, level)
            if module is not None and name in module.scope.bindings:
                self.depth += 1
                try:
                    return self._alias_binding(module.scope.bindings[name], module.scope, node)
                finally:
                    self.depth -= 1
        return None

    def literal_strings(self, node: ast.expr | None, scope: Scope) -> tuple[str, ...] | None:
        """The strings of a `Literal[...]` annotation, or None. Follows aliases, unions, enums and quotes."""
        unquoted = unquote(node)
        if unquoted is None:
            return None
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                return None
            return self._literal_strings(unquoted, scope)
        finally:
            self.depth -= 1

    def _literal_strings(self, node: ast.expr, scope: Scope) -> tuple[str, ...] | None:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return _merge(self.literal_strings(node.left, scope), self.literal_strings(node.right, scope))
        if isinstance(node, ast.Subscript):
            head = self.expression(node.value, scope)
            if not isinstance(head, Symbol):
                return None
            elts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
            if head.name == "typing.Literal":
                strings: tuple[str, ...] | None = ()
                for element in elts:
                    text = string(self.expression(element, scope))
                    strings = _merge(strings, (text,) if text is not None else self.literal_strings(element, scope))
                return strings
            if head.name == "typing.Union":
                strings = ()
                for element in elts:
                    strings = _merge(strings, self.literal_strings(element, scope))
                return strings
            if head.name in {"typing.Annotated", "typing.Final"} and elts:
                return self.literal_strings(elts[0], scope)
            return None
        value = self.expression(node, scope) if isinstance(node, (ast.Name, ast.Attribute)) else None
        if isinstance(value, Symbol) and isinstance(value.definition, ast.ClassDef) and enum_like(value):
            return self._enum_members(value, node)
        alias = self.alias_of(node, scope)
        if alias is not None and alias[0] is not node:
            return self.literal_strings(*alias)
        return None

    def _enum_members(self, symbol: Symbol, node: ast.expr) -> tuple[str, ...] | None:
        info = class_info(symbol)
        if info is None:
            return None
        values: list[str] = []
        for name, bindings in info.attributes.items():
            if name.startswith("_") or bindings[-1].kind not in {"assign", "annotated"}:
                continue
            attribute = ast.copy_location(ast.Attribute(node, name, ast.Load()), node)
            text = string(self._attribute_of(symbol, attribute, info.module))
            if text is None:
                return None
            values.append(text)
        return tuple(values) or None


def unquote(node: ast.expr | None) -> ast.expr | None:
    """An annotation without its quotes; None if the string is not an expression."""
    for _ in range(3):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                inner = ast.parse(node.value.strip(), mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None
            for part in ast.walk(inner):
                if hasattr(part, "lineno"):
                    ast.copy_location(part, node)
            node = inner
        else:
            break
    return node


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _merge(left: tuple[str, ...] | None, right: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if left is None or right is None:
        return None
    return tuple(dict.fromkeys((*left, *right)))
