"""All that an expression may be: conditions, tables and attributes of objects included."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.flow.effects import Throw
from mcpcore_lint.flow.facts.constants import constants_of, flags_of
from mcpcore_lint.flow.facts.error_args import labels_of
from mcpcore_lint.model import (
    CallValue,
    CodeValue,
    Const,
    ErrorSite,
    FunctionNode,
    Items,
    Mapping,
    Missing,
    Symbol,
    Unknown,
    Value,
    options,
)
from mcpcore_lint.semantics.attributes import of_receiver
from mcpcore_lint.semantics.evaluate import CODES, Resolver, evaluate
from mcpcore_lint.semantics.type_model import ClassObject, Instance, Kind, ancestry
from mcpcore_lint.semantics.types import Inference

if TYPE_CHECKING:
    from mcpcore_lint.flow.calls import CallGraph
    from mcpcore_lint.flow.effects import Given, Key, Parameter
    from mcpcore_lint.syntax.module import ClassInfo, Module
    from mcpcore_lint.syntax.scopes import Scope


MAX_VALUES_DEEP: Final = 8
"""How many names and tables deep the values of an expression are looked for."""


class ChoiceReader:
    """Finds the values that an expression may have, and the errors among them."""

    def __init__(
        self,
        graph: CallGraph,
        node: FunctionNode,
        module: Module,
        receiver: ClassInfo | None,
        given: tuple[Given, ...] = (),
    ) -> None:
        self.graph = graph
        self.node = node
        self.module = module
        self.scope = module.scope_of(node)
        self.receiver = receiver
        self.given = given
        self.inference = Inference(receiver, given=given)
        self.builder = HandlerBuilder.of(node, module, graph.hierarchy)
        self.model = self.builder.model
        self.parents = self.builder.parents
        self.builtins = self.builder.builtins
        """The builtins that are called by their names here."""
        self.constants = constants_of(node, module, given) if given else {}
        """The texts that parameters are, where the function asks which they are."""
        self.labels = labels_of(node, module, given) if given else {}
        """The codes and the reasons that parameters are, where the function makes errors of them."""
        self.flags = flags_of(node, module, given) if given else {}
        """What parameters are that are None, True or False, where the function asks for that."""
        self._begin()

    def _begin(self) -> None:
        """Make what is kept while the function is read; each layer has its own."""
        self._functions_named: dict[str, list[Key | Parameter]] = {}
        """What names are, where functions are handed over by them."""
        self._error_at = {each.node: each for each in self.model.errors}
        """The errors that are made here, by where they are made."""
        self._targets_of: dict[ast.Call, tuple[list[Key], list[str]]] = {}

    def _errors_of(self, made: ast.expr) -> list[ErrorSite]:
        """The errors that an expression may be; none where one of them is not known to be an error."""
        if isinstance(made, ast.Call):
            values: list[Value] | None = None
            if not (isinstance(made.func, ast.Name) and self._class_of(made.func)):
                values = self._values(made.func, self.scope)
            else:
                values = [*self._class_of(made.func)]
            args, keywords, complete = Resolver().arguments(made, self.scope) if values else ([], [], True)
            values = (
                [
                    CallValue(made, self.module, each, tuple(args), tuple(keywords), complete)
                    for each in values or ()
                    if isinstance(each, Symbol)
                ]
                if values and all(isinstance(each, Symbol) for each in values)
                else None
            )
        else:
            values = self._values(made, self.scope)
        found: list[ErrorSite] = []
        for each in values or ():
            if isinstance(each, Const) and each.value is None:
                continue
            error = self.builder.error_of(each, made)
            if error is None:
                return []
            found.append(error)
        return found

    def _class_of(self, node: ast.Name) -> list[Symbol]:
        """The class that `cls` is in a class method."""
        found = self.scope.lookup(node.id)
        if found is None or [each.kind for each in found[1]] != ["parameter"] or found[0].owner is None:
            return []
        return [
            Symbol(node, self.module, f"{kind.info.module.name}.{kind.info.qualname}", kind.info.node)
            for kind in self.inference.name(node, self.scope)
            if isinstance(kind, ClassObject)
        ]

    def _values(self, node: ast.expr, scope: Scope, depth: int = 0) -> list[Value] | None:
        """All that an expression may be, items of tables and attributes of objects included; None where unknown."""
        if depth > MAX_VALUES_DEEP:
            return None
        found = list(options(evaluate(node, scope)))
        if found and not any(isinstance(each, Unknown) for each in found):
            return found
        parts: list[tuple[ast.expr, Scope]] = []
        looped: list[Value] = []
        if isinstance(node, ast.Lambda):
            return [Symbol(node, scope.module, "<lambda>", node)]
        if isinstance(node, ast.IfExp):
            parts = [(node.body, scope), (node.orelse, scope)]
        elif isinstance(node, ast.BoolOp):
            parts = [(each, scope) for each in node.values]
        elif isinstance(node, ast.NamedExpr):
            parts = [(node.value, scope)]
        elif isinstance(node, ast.Subscript):
            if isinstance(node.slice, ast.Name) and node.slice.id in self.constants and scope is self.scope:
                return self._looked_up(node.value, self.constants[node.slice.id], depth)
            return self._items(node.value, scope, depth)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            if not node.args or node.keywords:
                return None
            items = self._items(node.func.value, scope, depth, mapping=True)
            more = self._values(node.args[1], scope, depth + 1) if len(node.args) > 1 else []
            return None if items is None or more is None else [*items, *more]
        elif isinstance(node, ast.Name):
            bound = scope.lookup(node.id)
            if bound is None:
                return None
            for binding in bound[1]:
                if isinstance(binding.node, ast.For) and isinstance(binding.node.target, ast.Name):
                    items = self._items(binding.node.iter, bound[0], depth)
                    if items is None:
                        return None
                    looped.extend(items)
                    continue
                if binding.kind not in {"assign", "annotated"} or binding.value is None:
                    return None
                parts.append((binding.value, bound[0]))
        elif isinstance(node, ast.Attribute) and scope is self.scope:
            kinds = self.inference.of(node.value, scope)
            for kind in kinds:
                held = self._held(kind, node.attr)
                if not held:
                    return None
                parts.extend(held)
        values = looped
        for part, where in parts:
            more = self._values(part, where, depth + 1)
            if more is None:
                return None
            values.extend(more)
        return values or None

    @staticmethod
    def _held(kind: Kind, attr: str) -> list[tuple[ast.expr, Scope]]:
        """What an attribute of an object of the project is set to; nothing where that is not all to be seen."""
        if not isinstance(kind, Instance):
            return []
        for each in ancestry(kind.info):
            if attr in each.instance_attributes:
                held = [(value, scope) for _, value, scope in each.instance_attributes[attr]]
                return (
                    [(value, scope) for value, scope in held if value is not None]
                    if all(value is not None for value, _ in held) and not each.module.changes_in_place(attr)
                    else []
                )
            bindings = each.attributes.get(attr)
            if bindings:
                value = bindings[0].value
                plain = len(bindings) == 1 and bindings[0].kind in {"assign", "annotated"}
                if value is None or not plain or each.module.changes_in_place(attr):
                    return []
                return [(value, each.body_scope)]
        return []

    def _looked_up(self, table: ast.expr, key: str, depth: int) -> list[Value] | None:
        """What tables have under one key; None where that cannot be seen."""
        found: list[Value] = []
        for each in self._values(table, self.scope, depth + 1) or ():
            value = each.get(key) if isinstance(each, Mapping) and each.complete else None
            if value is None or any(isinstance(one, Unknown) for one in options(value)):
                return None
            found.extend(options(value))
        return found or None

    def _items(self, node: ast.expr, scope: Scope, depth: int, *, mapping: bool = False) -> list[Value] | None:
        """The values of a table or of a sequence; None where they cannot all be seen."""
        if isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
            tables: list[Value] | None = [evaluate(node, scope)]
        else:
            tables = self._values(node, scope, depth + 1)
        found: list[Value] = []
        for each in tables or ():
            if isinstance(each, Mapping) and each.complete:
                found.extend(one for _, value in each.items for one in options(value))
            elif isinstance(each, Items) and each.complete and not mapping:
                found.extend(one for value in each.items for one in options(value))
            else:
                return None
        for index, value in enumerate(found):
            if isinstance(value, Unknown):
                if not isinstance(value.node, ast.Lambda) or value.module is None:
                    return None
                found[index] = Symbol(value.node, value.module, "<lambda>", value.node)
        return found or None

    def _throw(self, error: ErrorSite, at: ast.AST, *, grouped: bool = False) -> Throw:
        code, given_reason = self.builder.labels_with(error, self.labels) if self.labels else (error.code, error.reason)
        if self.receiver is not None:
            code, given_reason = (of_receiver(each, self.receiver, self.scope) for each in (code, given_reason))
        codes: list[str] | None = []
        for each in options(code):
            if isinstance(each, CodeValue):
                assert codes is not None
                codes.append(each.name)
            elif isinstance(each, Const) and isinstance(each.value, int) and (name := CODES.name_of(each.value)):
                assert codes is not None
                codes.append(name)
            elif isinstance(each, Missing):
                continue
            else:
                codes = None
                break
        reasons: list[str] | None = []
        for each in options(given_reason):
            if isinstance(each, Const) and isinstance(each.value, str):
                assert reasons is not None
                reasons.append(each.value)
            elif isinstance(each, Missing) or (isinstance(each, Const) and each.value is None):
                continue
            else:
                reasons = None
                break
        return Throw(
            error.type_name,
            error.form,
            None if codes is None else tuple(dict.fromkeys(codes)),
            None if reasons is None else tuple(dict.fromkeys(reasons)),
            self.module.path,
            self.module.source.span(at),
            "",
            grouped,
        )
