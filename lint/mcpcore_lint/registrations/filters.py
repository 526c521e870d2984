"""Conditions under which a function in a loop is registered, as far as its name, its kind and its place tell."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import Const, Items, Mapping, Symbol, string
from mcpcore_lint.registrations.bindings import bound, see
from mcpcore_lint.registrations.frames import Frame
from mcpcore_lint.registrations.servers import arguments_of
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.syntax.parse import own_nodes

if TYPE_CHECKING:
    from mcpcore_lint.registrations.frames import Placed
    from mcpcore_lint.registrations.handlers import Target, Targets
    from mcpcore_lint.syntax.scopes import Scope

DEEP: Final = 6
_FUNCTIONS: Final = frozenset({"inspect.isfunction", "inspect.isroutine", "inspect.ismethod", "builtins.callable"})
_COROUTINES: Final = frozenset({"inspect.iscoroutinefunction", "asyncio.iscoroutinefunction", "inspect.isawaitable"})
_NEVER: Final = frozenset({"inspect.isclass", "inspect.ismodule", "inspect.isbuiltin"})


class Filters:
    """Decides them: True, False, or None where nobody can tell."""

    def __init__(self, targets: Targets) -> None:
        self.targets = targets

    def holds(self, test: ast.expr, scope: Scope, depth: int = 0) -> bool | None:
        """Whether a condition holds in a scope."""
        if depth > DEEP:
            return None
        if isinstance(scope, Frame) and isinstance(test, (ast.Name, ast.Attribute, ast.Subscript)):
            part, where = see(test, scope, scope.filled)
            if isinstance(part, ast.Constant) or (part is not test and isinstance(part, ast.Name)):
                known = evaluate(part, where)
                return bool(known.value) if isinstance(known, Const) else None
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.holds(operand, scope, depth + 1)
                return None if inner is None else not inner
            case ast.BoolOp(op=operator, values=values):
                stops = isinstance(operator, ast.Or)
                results = [self.holds(each, scope, depth + 1) for each in values]
                if stops in results:
                    return stops
                return None if None in results else not stops
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                return self._compared(left, operator, right, scope)
            case ast.Call():
                return self._called(test, scope, depth)
            case ast.NamedExpr(value=value):
                return self.holds(value, scope, depth + 1)
            case ast.Constant(value=value):
                return bool(value)
            case ast.Attribute(value=marked, attr=mark):
                return self._marked(marked, mark, scope)
        return None

    def accepts(self, predicate: ast.expr, scope: Scope, item: Placed, depth: int = 0) -> bool | None:
        """Whether a predicate is true of an item."""
        if depth > DEEP:
            return None
        if isinstance(predicate, ast.Constant):
            return None  # `filter(None, ...)`
        if isinstance(predicate, ast.Lambda):
            names = [*predicate.args.posonlyargs, *predicate.args.args]
            if len(names) != 1:
                return None
            return self.holds(predicate.body, Frame(scope, {names[0].arg: item}), depth + 1)
        for each, where in bound(predicate, scope):
            if isinstance(each, ast.Lambda):
                return self.accepts(each, where, item, depth + 1)
        symbol = evaluate(predicate, scope)
        if isinstance(symbol, Symbol):
            function = symbol.definition
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                owner = scope.module.project.module_defining(function)
                names = [*function.args.posonlyargs, *function.args.args]
                if owner is None or len(names) != 1:
                    return None
                return self._result(function, Frame(owner.scope_of(function), {names[0].arg: item}), depth)
            return self._kind(symbol.name, *item)
        if isinstance(predicate, ast.Call):
            # A function of the project that makes a predicate.
            made = evaluate(predicate.func, scope)
            function = made.definition if isinstance(made, Symbol) else None
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                owner = scope.module.project.module_defining(function)
                returned = [each.value for each in own_nodes(function) if isinstance(each, ast.Return) and each.value]
                if owner is not None and len(returned) == 1:
                    passed = {name: (value, scope) for name, value in arguments_of(function, predicate).items()}
                    return self.accepts(returned[0], Frame(owner.scope_of(function), passed), item, depth + 1)
        return None

    def _result(self, function: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, depth: int) -> bool | None:
        body = [each for each in function.body if not isinstance(each, ast.Expr)]
        only = body[0] if len(body) == 1 else None
        if isinstance(only, ast.Return) and only.value is not None:
            return self.holds(only.value, scope, depth + 1)
        return None

    def _kind(self, name: str, node: ast.expr, scope: Scope) -> bool | None:
        """What a question of `inspect` says of an item."""
        if name not in _FUNCTIONS | _COROUTINES | _NEVER:
            return None
        functions = self.targets.behind(node, scope)
        if not functions:
            return None
        if name in _NEVER:
            return False
        return name in _FUNCTIONS or isinstance(functions[0].node, ast.AsyncFunctionDef)

    def _called(self, test: ast.Call, scope: Scope, depth: int) -> bool | None:
        func = test.func
        if isinstance(func, ast.Attribute) and func.attr in {"startswith", "endswith"} and len(test.args) == 1:
            text = self.targets.items.members.text(func.value, scope)
            affixes, complete = self._texts(test.args[0], scope)
            if text is None or not complete:
                return None
            return text.startswith(affixes) if func.attr == "startswith" else text.endswith(affixes)
        symbol = evaluate(func, scope)
        if not isinstance(symbol, Symbol):
            return None
        if symbol.name in {"builtins.hasattr", "builtins.getattr"} and len(test.args) > 1:
            mark = string(evaluate(test.args[1], scope))
            return self._marked(test.args[0], mark, scope) if mark is not None else None
        function = symbol.definition
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            owner = scope.module.project.module_defining(function)
            if owner is None:
                return None
            passed = {name: (value, scope) for name, value in arguments_of(function, test).items()}
            return self._result(function, Frame(owner.scope_of(function), passed), depth)
        return self._kind(symbol.name, test.args[0], scope) if len(test.args) == 1 else None

    def _compared(self, left: ast.expr, operator: ast.cmpop, right: ast.expr, scope: Scope) -> bool | None:
        text = self.targets.items.members.text(left, scope)
        if isinstance(operator, (ast.In, ast.NotIn)):
            inside = self._inside(left, text, right, scope)
            return inside if inside is None or isinstance(operator, ast.In) else not inside
        other = self.targets.items.members.text(right, scope)
        if text is None or other is None or not isinstance(operator, (ast.Eq, ast.NotEq)):
            return None
        return (text == other) is isinstance(operator, ast.Eq)

    def _inside(self, left: ast.expr, text: str | None, right: ast.expr, scope: Scope) -> bool | None:
        whole = self.targets.items.members.text(right, scope)
        if text is not None and whole is not None:
            return text in whole
        if text is not None:
            texts, complete = self._texts(right, scope)
            return True if text in texts else False if complete else None
        # A list of functions.
        mine = {each.node for each in self.targets.behind(left, scope)}
        others = {each.node for item in self.targets.elements(right, scope) for each in self.targets.behind(*item)}
        return None if not mine or not others else not mine.isdisjoint(others)

    def _texts(self, node: ast.expr, scope: Scope) -> tuple[tuple[str, ...], bool]:
        """The texts of a collection, or the one text; and whether these are all."""
        value = evaluate(node, scope)
        whole = string(value)
        if whole is not None:
            return (whole,), True
        complete = False
        if isinstance(value, Items) and value.complete:
            found = [string(each) for each in value.items]
            complete = True
        elif isinstance(value, Mapping) and value.complete:
            found = [string(key) for key, _ in value.items]
            complete = True
        else:
            found = [self.targets.items.members.text(*each) for each in self.targets.items.certain(node, scope)]
        return tuple(each for each in found if each is not None), complete and None not in found

    def _marked(self, node: ast.expr, mark: str, scope: Scope) -> bool | None:
        """Whether a function has an attribute: where one of its decorators, or its file, names the attribute."""
        functions = self.targets.behind(node, scope)
        if not functions:
            return None
        return any(_has_mark(each, mark) for each in functions)


def _has_mark(target: Target, mark: str) -> bool:
    node, module = target.node, target.module
    if isinstance(node, ast.Lambda):
        return False
    if f"{node.name}.{mark}" in module.source.text:
        return True
    outside = module.scope_of(node).parent or module.scope
    for each in node.decorator_list:
        symbol = evaluate(each.func if isinstance(each, ast.Call) else each, outside)
        definition = symbol.definition if isinstance(symbol, Symbol) else None
        if not isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return True  # a decorator that cannot be read may leave any mark
        owner = (
            symbol.module.project.module_defining(definition)
            if symbol.module is not None and not isinstance(definition, ast.ClassDef)
            else None
        )
        lines = (
            owner.source.text.splitlines()[definition.lineno - 1 : definition.end_lineno] if owner is not None else []
        )
        if owner is None or any(mark in line for line in lines):
            return True
    return False


__all__ = ["Filters"]
