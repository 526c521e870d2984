"""Finds the uses of the mcpcore context in a function: its names and the calls of its methods."""

import ast
from typing import Final

from mcpcore_lint.engine.flow.bodies.nodes import BodyNodes
from mcpcore_lint.engine.semantics.evaluate import Resolver
from mcpcore_lint.engine.syntax.scopes import Binding, Scope
from mcpcore_lint.model import ContextParameter

_METHODS: Final = frozenset({"fail", "recovery_for", "guard"})
"""Methods of the context that may be assigned to a variable."""


class ContextCalls:
    """Recognizes the context of a function and the calls of its methods."""

    def __init__(self, body: BodyNodes, context: ContextParameter | None) -> None:
        self.body = body
        self.context = context
        self._renamed: dict[str, ast.Attribute] = {}
        """Variables of a context method, as in `fail = ctx.fail`."""
        self._contexts: dict[tuple[Scope, str], bool] = {}
        self._note_names()

    def renamed(self, func: ast.expr) -> ast.expr:
        """Return the context method behind a variable, as in `fail = ctx.fail`; any other expression unchanged."""
        return self._renamed.get(func.id, func) if type(func) is ast.Name else func

    def is_context_call(self, call: ast.Call, method: str) -> bool:
        """Whether a call is of this method of the context, as in `ctx.fail(...)`."""
        func = self.renamed(call.func)
        if type(func) is not ast.Attribute or func.attr != method:
            return False
        return self.is_context(func.value, self.body.scope_at(call))

    def _note_names(self) -> None:
        """Record the variables that hold a context method."""
        for attribute in self.body.attributes:
            if attribute.attr in _METHODS:
                parent = self.body.parents.get(attribute)
                if type(parent) is ast.Assign and len(parent.targets) == 1 and type(parent.targets[0]) is ast.Name:
                    name = parent.targets[0].id
                    bound = self.body.scope_at(attribute).lookup(name)
                    if bound is not None and len(bound[1]) == 1:
                        self._renamed[name] = attribute

    def is_context(self, node: ast.expr, scope: Scope) -> bool:
        """Whether an expression is an mcpcore context."""
        if type(node) is not ast.Name:
            return False
        key = (scope, node.id)
        if key not in self._contexts:
            self._contexts[key] = False  # variables may be assigned from one another
            match = scope.lookup(node.id)
            where, bindings = match if match is not None else (scope, [])
            self._contexts[key] = any(self._is_bound_to_context(where, node.id, binding) for binding in bindings)
        return self._contexts[key]

    def _is_bound_to_context(self, where: Scope, name: str, binding: Binding) -> bool:
        if binding.kind != "parameter":
            return binding.value is not None and self.is_context(binding.value, where)
        if where is self.body.scope and self.context is not None and name == self.context.name:
            return self.context.mcpcore
        symbol = Resolver().annotation_symbol(binding.annotation, where.parent or where)
        return symbol is not None and symbol.name == "mcpcore.Context"
