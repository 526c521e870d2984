"""Finds the uses of the mcpcore context in a function: its names and the calls of its methods."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import Symbol
from mcpcore_lint.semantics.evaluate import Resolver, evaluate

if TYPE_CHECKING:
    from mcpcore_lint.flow.bodies.nodes import BodyNodes
    from mcpcore_lint.model import ContextParameter
    from mcpcore_lint.syntax.scopes import Binding, Scope

_METHODS: Final = frozenset({"fail", "recovery_for", "guard"})
"""Methods of the context that may be assigned to a variable."""


class ContextCalls:
    """Recognizes the context of a function and the calls of its methods."""

    def __init__(self, body: BodyNodes, context: ContextParameter | None) -> None:
        self.body = body
        self.context = context
        self.partials: dict[str, ast.Call] = {}
        """Variables of a partial failure, as in `gone = partial(ctx.fail, "gone")`, each with the `partial` call."""
        self._renamed: dict[str, ast.Attribute] = {}
        """Variables of a context method, as in `fail = ctx.fail`."""
        self._contexts: dict[tuple[Scope, str], bool] = {}
        self._note_names()

    def method_called(self, func: ast.expr) -> str:
        """The name of the method that is called, also through a variable (`fail = ctx.fail`); empty for a function."""
        func = self.renamed(func)
        return func.attr if type(func) is ast.Attribute else ""

    def renamed(self, func: ast.expr) -> ast.expr:
        """The method of the context that a name was assigned; any other expression as it is."""
        return self._renamed.get(func.id, func) if type(func) is ast.Name else func

    def is_context_call(self, call: ast.Call, method: str) -> bool:
        """Whether a call is one of a method of the context, such as `ctx.fail`."""
        func: ast.expr | None = call.func
        if type(func) is ast.Name:
            func = self._renamed.get(func.id)
        if type(func) is not ast.Attribute or func.attr != method:
            return False
        return self.is_context(func.value, self.body.scope_at(call))

    def _note_names(self) -> None:
        """Note what names stand for methods of the context, and for builtins."""
        for each in self.body.attributes:
            if each.attr in _METHODS:
                parent = self.body.parents.get(each)
                if type(parent) is ast.Assign and len(parent.targets) == 1 and type(parent.targets[0]) is ast.Name:
                    name = parent.targets[0].id
                    bound = self.body.scope_at(each).lookup(name)
                    if bound is not None and len(bound[1]) == 1:
                        self._renamed[name] = each
                elif type(parent) is ast.Call and each.attr == "fail" and parent.args and parent.args[0] is each:
                    self._note_partly(parent, each)

    def _note_partly(self, call: ast.Call, fail: ast.Attribute) -> None:
        scope = self.body.scope_at(fail)
        made = evaluate(call.func, scope)
        parent = self.body.parents.get(call)
        if not (isinstance(made, Symbol) and made.name == "functools.partial" and type(parent) is ast.Assign):
            return
        name = parent.targets[0].id if type(parent.targets[0]) is ast.Name else ""
        bound = scope.lookup(name)
        if bound is not None and len(bound[1]) == 1 and self.is_context(fail.value, scope):
            self.partials[name] = call

    def is_context(self, node: ast.expr, scope: Scope) -> bool:
        """Whether an expression is a context of mcpcore."""
        if type(node) is not ast.Name:
            return False
        key = (scope, node.id)
        known = self._contexts.get(key)
        if known is None:
            found = scope.lookup(node.id)
            known = found is not None and self._is_bound_to_context(found[0], node.id, found[1])
            self._contexts[key] = known
        return known

    def _is_bound_to_context(self, where: Scope, name: str, bindings: list[Binding]) -> bool:
        for binding in bindings:
            if binding.kind == "parameter" or type(binding.value) is ast.Name:
                break
        else:
            return False
        seen: set[tuple[Scope, str]] = set()
        stack = [(where, name, bindings)]
        while stack:
            where, name, bindings = stack.pop()
            if (where, name) in seen:
                continue
            seen.add((where, name))
            for binding in bindings:
                if binding.kind == "parameter":
                    if where is self.body.scope and self.context is not None and name == self.context.name:
                        return self.context.mcpcore
                    symbol = Resolver().annotation_symbol(binding.annotation, where.parent or where)
                    if symbol is not None and symbol.name == "mcpcore.Context":
                        return True
                elif isinstance(binding.value, ast.Name):
                    found = where.lookup(binding.value.id)
                    if found is not None:
                        stack.append((found[0], binding.value.id, found[1]))
        return False

    def forget(self) -> None:
        """Drop the references to the syntax tree."""
        self.partials.clear()
        self._renamed.clear()
        self._contexts.clear()
