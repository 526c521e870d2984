"""What the body of a handler does: the errors that it makes, raises, catches and returns."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.flow.bodies.errors import arguments_of, evaluate_arguments, reason_given
from mcpcore_lint.flow.bodies.parameters import parameters_of
from mcpcore_lint.flow.bodies.raises import RaiseReader
from mcpcore_lint.model import (
    FunctionNode,
    GuardedReason,
    Handler,
    Mapping,
    Missing,
    RecoveryCall,
    ReturnSite,
    Unknown,
)
from mcpcore_lint.semantics.evaluate import evaluate

if TYPE_CHECKING:
    from mcpcore_lint.semantics.hierarchy import Hierarchy
    from mcpcore_lint.syntax.module import Module


class HandlerBuilder(RaiseReader):
    """Reads the body of one handler, nested functions included."""

    model: Handler

    @classmethod
    def of(cls, node: FunctionNode, module: Module, hierarchy: Hierarchy) -> HandlerBuilder:
        """The reader of a function, its body read; the same one each time."""
        found = module.built.get(node)
        if found is None:
            found = cls(node, module, hierarchy)
            found.model = found.build()
            module.built[node] = found
        return found

    def forget(self) -> None:
        """Let go of the syntax."""
        self.__dict__.pop("loads", None)
        self._renamed.clear()
        self._partly.clear()
        self.parents.clear()
        self.function_of.clear()
        self.nodes.clear()
        self._callees.clear()
        self._contexts.clear()
        self._errors.clear()
        self._catches.clear()

    def build(self) -> Handler:
        """Read the body."""
        node = self.node
        parameters, self.context = parameters_of(node, self.scope)
        self._index()
        self._note_names()
        for clause in self._clauses:
            self._catches[clause] = self._clause(clause)
        for block in self.withs:
            suppress = self._suppress(block)
            if suppress is not None:
                self._catches[block] = suppress
        recovery: list[RecoveryCall] = []
        guarded: list[GuardedReason] = []
        for call in self.calls:
            func = call.func
            method = self.method_called(func)
            if method == "recovery_for" and self.is_context_call(call, method):
                reason = evaluate(call.args[0], self._scope(call)) if call.args else Missing(call, self.module)
                recovery.append(RecoveryCall(call, self.module, reason_given(reason, call, self.module)))
                continue
            if method == "guard" and self.is_context_call(call, method):
                guarded += self._guarded(call)
                continue
            error = self._error(call)
            if error is not None:
                self._errors[call] = error
        throws = [throw for each in self.raises for throw in self._throws(each)]
        nested = self.function_of
        returns = [
            ReturnSite(each, self.module, self.scope, self._catch_of(each), node)
            for each in self.returns
            if each not in nested
        ]
        return Handler(
            node,
            self.module,
            self.scope.qualname,
            parameters,
            self.context,
            self.scope.owner,
            tuple(self._errors.values()),
            tuple(throws),
            tuple(self._catches.values()),
            tuple(returns),
            tuple(recovery),
            tuple(guarded),
        )

    def _guarded(self, call: ast.Call) -> list[GuardedReason]:
        """The reasons that a call of `ctx.guard` gives to exceptions; an unknown one if they cannot be read."""
        argument = arguments_of(evaluate_arguments(call, self._scope(call)), {"errors": 0})["errors"]
        table, written = argument.value, argument.node
        if not isinstance(table, Mapping) or not table.complete:
            return [GuardedReason(call, self.module, Unknown(call, self.module, "the mapping cannot be read"))]
        values = [value for _, value in table.items]
        nodes: list[ast.expr] = [call] * len(values)
        if isinstance(written, ast.Dict) and len(written.values) == len(values):
            nodes = written.values
        return [
            GuardedReason(node, self.module, reason_given(value, call, self.module))
            for node, value in zip(nodes, values, strict=True)
        ]
