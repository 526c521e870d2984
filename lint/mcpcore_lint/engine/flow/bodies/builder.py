"""Builds the model of a function: the errors that it creates, raises, catches and returns."""

from __future__ import annotations

import ast

from mcpcore_lint.dataclasses import replace
from mcpcore_lint.engine.flow.bodies.errors import ErrorReader, arguments_of, evaluate_arguments, reason_given
from mcpcore_lint.engine.flow.bodies.nodes import BodyNodes
from mcpcore_lint.engine.flow.bodies.parameters import ContextCalls, parameters_of
from mcpcore_lint.engine.flow.bodies.raises import RaiseReader
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.model import (
    FunctionNode,
    Handler,
    Mapping,
    Missing,
    NamedReason,
    ReturnSite,
    Unknown,
)


class HandlerBuilder:
    """Reads one function, including its nested functions, with a reader for each aspect."""

    def __init__(self, node: FunctionNode, module: Module, hierarchy: Hierarchy) -> None:
        self.node = node
        self.module = module
        self.scope = module.scope_of(node)
        self.body = BodyNodes(node, module)
        parameters, context = parameters_of(node, self.scope)
        handler = Handler(node, module, self.scope.qualname, parameters, context, self.scope.owner)
        self.contexts = ContextCalls(self.body, handler.context)
        self.errors = ErrorReader(self.body, hierarchy, self.contexts)
        self.raises = RaiseReader(self.body, self.errors)
        self.model = self._build(handler)

    @classmethod
    def of(cls, node: FunctionNode, module: Module, hierarchy: Hierarchy) -> HandlerBuilder:
        """Return the builder of a function. Each function is read once."""
        builder = module.built.get(node)
        if builder is None:
            builder = module.built[node] = cls(node, module, hierarchy)
        return builder

    def _build(self, handler: Handler) -> Handler:
        node = self.node
        named: list[NamedReason] = []
        nested, builtins = self.body.function_of, self.body.builtins
        for call in (
            call
            for call in self.body.calls
            if type(call.func) is not ast.Name or call.func.id not in builtins or call in nested
        ):
            method = getattr(self.contexts.renamed(call.func), "attr", "")
            if method == "recovery_for" and self.contexts.is_context_call(call, method):
                reason = evaluate(call.args[0], self.body.scope_at(call)) if call.args else Missing(call, self.module)
                named.append(NamedReason("recovery_for", call, reason_given(reason, call, self.module)))
                continue
            if method == "guard" and self.contexts.is_context_call(call, method):
                named += self._guarded(call)
            elif error := self.errors.read(call):
                self.errors.sites[call] = error
        throws = [throw for statement in self.body.raises for throw in self.raises.throws(statement)]
        answers = (
            # A lambda answers with its expression.
            [ast.copy_location(ast.Return(node.body), node.body)] if isinstance(node, ast.Lambda) else self.body.returns
        )
        returns = [
            ReturnSite(statement, self.module, self.scope, self.raises.catch_of(statement), node)
            for statement in answers
            if statement not in nested
        ]
        return replace(
            handler,
            errors=tuple(self.errors.sites.values()),
            throws=tuple(throws),
            catches=tuple(self.raises.catches.values()),
            returns=tuple(returns),
            named_reasons=tuple(named),
        )

    def _guarded(self, call: ast.Call) -> list[NamedReason]:
        """Return the reasons in the mapping of a `ctx.guard` call; a single unknown one if it cannot be read."""
        argument = arguments_of(evaluate_arguments(call, self.body.scope_at(call)), {"errors": 0})["errors"]
        table, written = argument.value, argument.node
        if not isinstance(table, Mapping) or not table.complete:
            return [NamedReason("guard", call, Unknown(call, self.module, "the mapping cannot be read"))]
        values = [value for _, value in table.items]
        nodes: list[ast.expr] = [call] * len(values)
        if isinstance(written, ast.Dict) and len(written.values) == len(values):
            nodes = written.values
        return [
            NamedReason("guard", node, reason_given(value, call, self.module))
            for node, value in zip(nodes, values, strict=True)
        ]
