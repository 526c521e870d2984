"""Whether a loop reaches a registration for an item, as far as the item's name, kind and place show it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.engine.registrations.environment import Frame, Placed, constructed, substitute, written_scope
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.parse import returned
from mcpcore_lint.model import Const, Items, Symbol, string

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpcore_lint.engine.registrations.functions import Functions
    from mcpcore_lint.engine.syntax.scopes import Scope

_FUNCTIONS: Final = frozenset({"inspect.isfunction", "inspect.isroutine", "inspect.ismethod", "builtins.callable"})
_COROUTINES: Final = frozenset({"inspect.iscoroutinefunction", "asyncio.iscoroutinefunction"})


class Conditions:
    """Decides conditions: True, False, or None if that is not known."""

    def __init__(self, functions: Functions, text: Callable[[ast.expr, Scope], str | None]) -> None:
        self.functions = functions
        self.text = text

    def holds(self, test: ast.expr, scope: Scope) -> bool | None:
        """Whether a condition holds in a scope."""
        if isinstance(scope, Frame) and isinstance(test, (ast.Name, ast.Attribute, ast.Subscript)):
            part, where = substitute(test, scope)
            value = evaluate(part, where) if part is not test else None
            return bool(value.value) if isinstance(value, Const) else None
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.holds(operand, scope)
                return None if inner is None else not inner
            case ast.BoolOp(op=operator, values=values):
                stops = isinstance(operator, ast.Or)
                results = [self.holds(value, scope) for value in values]
                return stops if stops in results else None if None in results else not stops
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as operator], comparators=[right]):
                text, other = self.text(left, scope), self.text(right, scope)
                return None if text is None or other is None else (text == other) is isinstance(operator, ast.Eq)
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as operator], comparators=[right]):
                text, texts = self.text(left, scope), self._texts(right, scope)
                return None if text is None or texts is None else (text in texts) is isinstance(operator, ast.In)
            case ast.Call(func=ast.Attribute(value=whole, attr="startswith" | "endswith" as method), args=[affix]):
                text, texts = self.text(whole, scope), self._texts(affix, scope)
                return None if text is None or texts is None else bool(getattr(text, method)(texts))
            case (
                ast.Call(func=ast.Name(id="hasattr"), args=[item, ast.Constant(value=str(name))])
                | ast.Call(
                    func=ast.Name(id="getattr"),
                    args=[item, ast.Constant(value=str(name)), ast.Constant(value=None | False)],
                )
            ):
                return False if self._lacks(item, name, scope) else None
            case ast.Call(func=func, args=[item]):
                return self.accepts(func, scope, (item, scope))
        return None

    def accepts(self, predicate: ast.expr, scope: Scope, item: Placed) -> bool | None:
        """Whether a predicate is true of an item: a lambda, a function that returns one, or a function of `inspect`."""
        predicate, scope = constructed(predicate, scope)
        if isinstance(predicate, ast.Lambda):
            names = [parameter.arg for parameter in predicate.args.args]
            return self.holds(predicate.body, Frame(scope, {names[0]: item})) if len(names) == 1 else None
        callee = evaluate(predicate, scope)
        if isinstance(callee, Symbol) and isinstance(callee.definition, ast.FunctionDef):
            return self._answers(callee.definition, scope, item)
        if not isinstance(callee, Symbol) or callee.name not in _FUNCTIONS | _COROUTINES:
            return None
        functions = self.functions.behind(*item)
        if not functions:
            return None
        return callee.name in _FUNCTIONS or isinstance(functions[0].node, ast.AsyncFunctionDef)

    def _answers(self, function: ast.FunctionDef, scope: Scope, item: Placed) -> bool | None:
        """What a function of the project returns for an item, if its only `return` is its end."""
        owner = scope.module.project.module_defining(function)
        inside = owner.scope_of(function) if owner is not None else None
        parameters, values = function.args.args, returned(function)
        if inside is None or len(parameters) != 1 or [getattr(function.body[-1], "value", None)] != values:
            return None
        others = (binding.value for binding in inside.bindings[parameters[0].arg] if binding.kind != "parameter")
        # What has `__wrapped__` has been decorated.
        unwraps = all(isinstance(value, ast.Attribute) and value.attr == "__wrapped__" for value in others)
        return self.holds(values[0], Frame(inside, {parameters[0].arg: item})) if unwraps else None

    def _lacks(self, item: ast.expr, name: str, scope: Scope) -> bool:
        """Whether an item is a function without decorators, to which its file gives no such attribute."""
        here, steps, self.functions.steps = written_scope(scope).module, self.functions.steps, 0
        functions = self.functions.behind(item, scope)
        self.functions.steps = steps
        return bool(functions) and not any(
            function.wrappers
            or getattr(function.node, "decorator_list", True)
            or function.module.source.has(f"{string(function.name)}.{name} = " if function.module is here else name)
            or hasattr(returned, name)  # each function has it
            for function in functions
        )

    def _texts(self, node: ast.expr, scope: Scope) -> tuple[str, ...] | None:
        """The texts of a collection, or the one text; None if some are not known."""
        value = evaluate(node, scope)
        if isinstance(value, Items) and value.complete:
            texts = [string(item) for item in value.items]
        else:
            texts = [string(value)]
            if texts == [None]:
                texts = [self.text(*item) for item in self.functions.elements.of(node, scope)]
        return tuple(text for text in texts if text is not None) if texts and None not in texts else None
