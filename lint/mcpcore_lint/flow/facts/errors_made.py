"""Finds the errors that an expression may create, through tables and attributes of objects."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.flow.effects import Throw
from mcpcore_lint.model import CallValue, CodeValue, Const, ErrorSite, Items, Mapping, Missing, Symbol, Unknown, options
from mcpcore_lint.semantics.codes import CODES
from mcpcore_lint.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.semantics.type_model import ClassObject, Instance, Kind, ancestry

if TYPE_CHECKING:
    from mcpcore_lint.flow.bodies.builder import HandlerBuilder
    from mcpcore_lint.model import Value
    from mcpcore_lint.semantics.types import Inference
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

MAX_DEPTH: Final = 8
"""Names and tables are followed this deep for the values of an expression."""


class ErrorFinder:
    """Finds the errors that expressions of one function create."""

    def __init__(self, builder: HandlerBuilder, inference: Inference) -> None:
        self.builder = builder
        self.module = builder.module
        self.scope = builder.scope
        self.inference = inference
        self.at = {error.node: error for error in builder.model.errors}
        """The errors that calls in the function create, by call."""

    def errors_of(self, node: ast.expr) -> list[ErrorSite]:
        """Return the errors that an expression may be; an empty list if one of its values may be something else."""
        values = self._results_of(node) if isinstance(node, ast.Call) else self.values(node, self.scope)
        errors: list[ErrorSite] = []
        for value in values or ():
            if isinstance(value, Const) and value.value is None:
                continue
            error = self.builder.errors.error_of(value, node)
            if error is None:
                return []
            errors.append(error)
        return errors

    def _results_of(self, node: ast.Call) -> list[Value] | None:
        """Return the results of a call whose callee is one of several classes."""
        of_class = self.class_of(node.func) if isinstance(node.func, ast.Name) else []
        callees = of_class or self.values(node.func, self.scope) or []
        if not callees or not all(isinstance(callee, Symbol) for callee in callees):
            return None
        args, keywords, complete = Resolver().arguments(node, self.scope)
        return [
            CallValue(node, self.module, callee, tuple(args), tuple(keywords), complete)
            for callee in callees
            if isinstance(callee, Symbol)
        ]

    def class_of(self, node: ast.Name) -> list[Symbol]:
        """Return the class that `cls` refers to in a class method."""
        match = self.scope.lookup(node.id)
        if match is None or [binding.kind for binding in match[1]] != ["parameter"] or match[0].owner is None:
            return []
        return [
            Symbol(node, self.module, f"{kind.info.module.name}.{kind.info.qualname}", kind.info.node)
            for kind in self.inference.name(node, self.scope)
            if isinstance(kind, ClassObject)
        ]

    # -- values --------------------------------------------------------------------------------------------------

    def values(self, node: ast.expr, scope: Scope, depth: int = 0) -> list[Value] | None:
        """Return all values that an expression may have; None if one of them is unknown."""
        if depth > MAX_DEPTH:
            return None
        known = list(options(evaluate(node, scope)))
        if known and not any(isinstance(value, Unknown) for value in known):
            return known
        parts: list[tuple[ast.expr, Scope]] = []
        values: list[Value] = []
        if isinstance(node, ast.Lambda):
            return [Symbol(node, scope.module, "<lambda>", node)]
        if isinstance(node, ast.IfExp):
            parts = [(node.body, scope), (node.orelse, scope)]
        elif isinstance(node, ast.BoolOp):
            parts = [(part, scope) for part in node.values]
        elif isinstance(node, ast.NamedExpr):
            parts = [(node.value, scope)]
        elif isinstance(node, ast.Subscript):
            return self._items(node.value, scope, depth)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            items = self._items(node.func.value, scope, depth) if node.args and not node.keywords else None
            default = self.values(node.args[1], scope, depth + 1) if len(node.args) > 1 else []
            return None if items is None or default is None else [*items, *default]
        elif isinstance(node, ast.Name):
            match = scope.lookup(node.id)
            for binding in match[1] if match is not None else ():
                assert match is not None
                if isinstance(binding.node, ast.For) and isinstance(binding.node.target, ast.Name):
                    items = self._items(binding.node.iter, match[0], depth)
                    if items is None:
                        return None
                    values.extend(items)
                elif binding.kind in {"assign", "annotated"} and binding.value is not None:
                    parts.append((binding.value, match[0]))
                else:
                    return None
        elif isinstance(node, ast.Attribute) and scope is self.scope:
            for kind in self.inference.of(node.value, scope):
                assigned = self._attribute(kind, node.attr)
                if not assigned:
                    return None
                parts.extend(assigned)
        for part, where in parts:
            more = self.values(part, where, depth + 1)
            if more is None:
                return None
            values.extend(more)
        return values or None

    @staticmethod
    def _attribute(kind: Kind, name: str) -> list[tuple[ast.expr, Scope]]:
        """Return the values of an attribute of a project's object; an empty list if not all are visible."""
        for info in ancestry(kind.info) if isinstance(kind, Instance) else ():
            assigned = [(value, scope) for _, value, scope in info.instance_attributes.get(name, ())]
            assigned = assigned or [(binding.value, info.body_scope) for binding in info.attributes.get(name, ())]
            if assigned:
                values = [(value, scope) for value, scope in assigned if value is not None]
                return values if len(values) == len(assigned) and not info.module.changes_in_place(name) else []
        return []

    def _items(self, node: ast.expr, scope: Scope, depth: int) -> list[Value] | None:
        """Return the values of a mapping or a sequence; None if not all are visible."""
        if isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
            tables: list[Value] | None = [evaluate(node, scope)]
        else:
            tables = self.values(node, scope, depth + 1)
        items: list[Value] = []
        for table in tables or ():
            if not isinstance(table, (Mapping, Items)) or not table.complete:
                return None
            entries = [value for _, value in table.items] if isinstance(table, Mapping) else table.items
            items.extend(option for value in entries for option in options(value))
        for index, value in enumerate(items):
            if isinstance(value, Unknown):
                if not isinstance(value.node, ast.Lambda) or value.module is None:
                    return None
                items[index] = Symbol(value.node, value.module, "<lambda>", value.node)
        return items or None


def throw_of(error: ErrorSite, module: Module, at: ast.AST, *, grouped: bool = False) -> Throw:
    """Return an error as it leaves the function that raises it."""
    codes: dict[str, None] | None = {}
    for value in options(error.code):
        number = value.value if isinstance(value, Const) else None
        name = value.name if isinstance(value, CodeValue) else CODES.name_of(number) if type(number) is int else None
        if name is not None and codes is not None:
            codes[name] = None
        elif not isinstance(value, Missing):
            codes = None
    reasons: dict[str, None] | None = {}
    for value in options(error.reason):
        if isinstance(value, Const) and isinstance(value.value, str) and reasons is not None:
            reasons[value.value] = None
        elif not (isinstance(value, Missing) or (isinstance(value, Const) and value.value is None)):
            reasons = None
    return Throw(
        error.type_name,
        error.form,
        None if codes is None else tuple(codes),
        None if reasons is None else tuple(reasons),
        module.path,
        module.source.span(at),
        "",
        grouped,
    )
