"""Whether a loop reaches a registration for an item, as far as the item's name, kind and place show it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import Const, Items, Mapping, Symbol, string
from mcpcore_lint.registrations.callers import arguments_of
from mcpcore_lint.registrations.environment import Frame, bound, called_frame, see
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.syntax.parse import own_nodes

if TYPE_CHECKING:
    from mcpcore_lint.registrations.environment import Function, Placed
    from mcpcore_lint.registrations.functions import Functions
    from mcpcore_lint.syntax.scopes import Scope

DEEP: Final = 6
_FUNCTIONS: Final = frozenset({"inspect.isfunction", "inspect.isroutine", "inspect.ismethod", "builtins.callable"})
_COROUTINES: Final = frozenset({"inspect.iscoroutinefunction", "asyncio.iscoroutinefunction"})
_OTHERS: Final = frozenset({"inspect.isclass", "inspect.ismodule", "inspect.isbuiltin"})


class Conditions:
    """Decides conditions: True, False, or None if that is not known."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions

    def holds(self, test: ast.expr, scope: Scope, depth: int = 0) -> bool | None:
        """Whether a condition holds in a scope."""
        if depth > DEEP:
            return None
        if isinstance(scope, Frame) and isinstance(test, (ast.Name, ast.Attribute, ast.Subscript)):
            part, where = see(test, scope, scope.filled)
            value = evaluate(part, where) if part is not test else None
            return bool(value.value) if isinstance(value, Const) else None
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.holds(operand, scope, depth + 1)
                return None if inner is None else not inner
            case ast.BoolOp(op=operator, values=values):
                stops = isinstance(operator, ast.Or)
                results = [self.holds(value, scope, depth + 1) for value in values]
                return stops if stops in results else None if None in results else not stops
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                return self._compared(left, operator, right, scope)
            case ast.Call():
                return self._called(test, scope, depth)
        return None

    def accepts(self, predicate: ast.expr, scope: Scope, item: Placed, depth: int = 0) -> bool | None:
        """Whether a predicate is true of an item."""
        if depth > DEEP:
            return None
        if isinstance(predicate, ast.Lambda):
            names = [*predicate.args.posonlyargs, *predicate.args.args]
            return (
                self.holds(predicate.body, Frame(scope, {names[0].arg: item}), depth + 1) if len(names) == 1 else None
            )
        for value, where in bound(predicate, scope):
            if isinstance(value, ast.Lambda):
                return self.accepts(value, where, item, depth + 1)
        callee = evaluate(predicate.func if isinstance(predicate, ast.Call) else predicate, scope)
        function = callee.definition if isinstance(callee, Symbol) else None
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self._kind(callee.name, *item) if isinstance(callee, Symbol) else None
        if isinstance(predicate, ast.Call):
            # A function of the project that makes a predicate.
            frame = called_frame(function, predicate, scope)
            returned = [each.value for each in own_nodes(function) if isinstance(each, ast.Return) and each.value]
            return self.accepts(returned[0], frame, item, depth + 1) if frame and len(returned) == 1 else None
        owner = scope.module.project.module_defining(function)
        names = [*function.args.posonlyargs, *function.args.args]
        if owner is None or len(names) != 1:
            return None
        return self._result(function, Frame(owner.scope_of(function), {names[0].arg: item}), depth)

    def _result(self, function: Function, scope: Scope, depth: int) -> bool | None:
        """The result of a function that consists of one `return`."""
        body = [statement for statement in function.body if not isinstance(statement, ast.Expr)]
        only = body[0] if len(body) == 1 else None
        return self.holds(only.value, scope, depth + 1) if isinstance(only, ast.Return) and only.value else None

    def _kind(self, name: str, node: ast.expr, scope: Scope) -> bool | None:
        """The answer of a function of `inspect` about an item."""
        if name not in _FUNCTIONS | _COROUTINES | _OTHERS:
            return None
        functions = self.functions.behind(node, scope)
        if not functions or name in _OTHERS:
            return False if functions else None
        return name in _FUNCTIONS or isinstance(functions[0].node, ast.AsyncFunctionDef)

    def _called(self, test: ast.Call, scope: Scope, depth: int) -> bool | None:
        func = test.func
        if isinstance(func, ast.Attribute) and func.attr in {"startswith", "endswith"} and len(test.args) == 1:
            text = self.functions.elements.members.text(func.value, scope)
            affixes, complete = self._texts(test.args[0], scope)
            if text is None or not complete:
                return None
            return text.startswith(affixes) if func.attr == "startswith" else text.endswith(affixes)
        symbol = evaluate(func, scope)
        if not isinstance(symbol, Symbol):
            return None
        function = symbol.definition
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            owner = scope.module.project.module_defining(function)
            if owner is None:
                return None
            arguments = {name: (value, scope) for name, value in arguments_of(function, test).items()}
            return self._result(function, Frame(owner.scope_of(function), arguments), depth)
        return self._kind(symbol.name, test.args[0], scope) if len(test.args) == 1 else None

    def _compared(self, left: ast.expr, operator: ast.cmpop, right: ast.expr, scope: Scope) -> bool | None:
        text = self.functions.elements.members.text(left, scope)
        if isinstance(operator, (ast.In, ast.NotIn)):
            inside = self._inside(left, text, right, scope)
            return inside if inside is None or isinstance(operator, ast.In) else not inside
        other = self.functions.elements.members.text(right, scope)
        if text is None or other is None or not isinstance(operator, (ast.Eq, ast.NotEq)):
            return None
        return (text == other) is isinstance(operator, ast.Eq)

    def _inside(self, left: ast.expr, text: str | None, right: ast.expr, scope: Scope) -> bool | None:
        whole = self.functions.elements.members.text(right, scope)
        if text is not None and whole is not None:
            return text in whole
        if text is not None:
            texts, complete = self._texts(right, scope)
            return True if text in texts else False if complete else None
        # A list of functions.
        behind = self.functions.behind
        mine = {function.node for function in behind(left, scope)}
        others = {function.node for item in self.functions.elements.of(right, scope) for function in behind(*item)}
        return None if not mine or not others else not mine.isdisjoint(others)

    def _texts(self, node: ast.expr, scope: Scope) -> tuple[tuple[str, ...], bool]:
        """The texts of a collection, or the one text; and whether these are all."""
        value = evaluate(node, scope)
        whole = string(value)
        if whole is not None:
            return (whole,), True
        complete = False
        if isinstance(value, Items) and value.complete:
            texts = [string(item) for item in value.items]
            complete = True
        elif isinstance(value, Mapping) and value.complete:
            texts = [string(key) for key, _ in value.items]
            complete = True
        else:
            elements = self.functions.elements
            texts = [elements.members.text(*item) for item in elements.certain(node, scope)]
        return tuple(text for text in texts if text is not None), complete and None not in texts


__all__ = ["Conditions"]
