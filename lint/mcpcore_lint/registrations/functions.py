"""The functions behind an expression that is registered."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.model import Const, Symbol, Unknown, Value, options
from mcpcore_lint.registrations.callers import arguments_of, method_called
from mcpcore_lint.registrations.elements import Elements
from mcpcore_lint.registrations.environment import DEEP, Frame, bound, called_frame, see, written_scope
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.type_model import method_of
from mcpcore_lint.syntax.parse import alternatives, own_nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.registrations.environment import Function
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.scopes import Scope

STEPS: Final = 400
"""How many expressions are read for one registration, since names that are bound often lead along too many paths."""


class Target(NamedTuple):
    """A function that is registered."""

    node: FunctionNode
    module: Module
    name: Value
    """The name of the tool, unless the registration gives one."""
    signed: bool = False
    """Whether a wrapper or `partial(...)` may have replaced its signature."""


class Functions:
    """Finds them; `registers` says which calls register something by themselves."""

    def __init__(self, registers: Callable[[ast.Call, Scope], bool]) -> None:
        self.registers = registers
        self.steps = 0
        self.elements = Elements(self)

    def too_many_steps(self) -> bool:
        """Count one more expression, and say whether that is too many."""
        self.steps += 1
        return self.steps > STEPS

    # -- functions ---------------------------------------------------------------------------------------------------

    def behind(self, node: ast.expr, scope: Scope, depth: int = 0) -> list[Target]:
        """The functions that an expression may be: a name, a lambda, `partial(f)`, a method, a callable object."""
        if depth > DEEP or self.too_many_steps():
            return []
        if isinstance(node, ast.Lambda):
            scope.module.note_lambda(node, written_scope(scope))
            return [Target(node, scope.module, Const(node, scope.module, "<lambda>"))]
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            return [target for each in alternatives(node) for target in self.behind(each, scope, depth + 1)]
        if isinstance(node, (ast.NamedExpr, ast.Await)):
            return self.behind(node.value, scope, depth + 1)
        if isinstance(node, ast.Call):
            return self._called(node, scope, depth)
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return []
        if isinstance(scope, Frame):
            seen = see(node, scope, scope.filled)
            if seen[0] is not node:
                return self.behind(*seen, depth + 1)
        if isinstance(node, ast.Subscript):
            if self.elements.members.holder(node.value) is not None:
                return self._members(node.value, node.slice, scope, depth)
            entry = self.elements.entry(node.value, node.slice, scope)
            if entry is not None:
                return self.behind(*entry, depth + 1)
        several = _defined_several_times(node, scope) if isinstance(node, ast.Name) else []
        if several:
            return [target for each, module in several for target in self._function(each, module)]
        value = evaluate(node, scope)
        symbols = [option.definition for option in options(value) if isinstance(option, Symbol)]
        known = [each for each in symbols if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
        if known:
            return [target for definition in known for target in self._function(definition, scope.module)]
        targets = [target for placed in bound(node, scope) for target in self.behind(*placed, depth + 1)]
        if not targets and isinstance(node, ast.Attribute) and isinstance(value, Unknown):
            home = self.elements.members.home(node, scope)
            if home is not None:
                return self.behind(*home, depth + 1)
            method = method_called(node, scope)
            return [_plain(*method)] if method is not None else []
        return targets

    def _function(self, node: Function, asking: Module) -> list[Target]:
        owner = asking.project.module_defining(node)
        if owner is None:
            return []
        # A wrapper is found with the function that it wraps.
        if wrapped_parameter(node, owner) is not None:
            return []
        named_later = _is_renamed(node.name, owner)
        unknown = Unknown(node, owner, "it is renamed after its definition")
        return [Target(node, owner, unknown if named_later else Const(node, owner, node.name))]

    def _called(self, node: ast.Call, scope: Scope, depth: int) -> list[Target]:
        if self.registers(node, scope):
            return []
        func = evaluate(node.func, scope)
        if not isinstance(func, Symbol):
            if isinstance(node.func, ast.Attribute):
                method = method_called(node.func, scope)
                if method is not None:
                    return self._returned(method[0], method[1], node, scope, depth, bound_first=True)
            return self._wrapped(node, scope, depth) if isinstance(node.func, ast.Call) else []
        if func.name == "functools.partial":
            unknown = Unknown(node, scope.module, "the result of partial() has no name")
            targets = self.behind(node.args[0], scope, depth + 1) if node.args else []
            return [target._replace(name=unknown, signed=True) for target in targets]
        if func.name == "builtins.getattr" and len(node.args) > 1:
            return self._members(node.args[0], node.args[1], scope, depth)
        definition = func.definition
        if isinstance(definition, ast.ClassDef):
            info = scope.module.project.class_info(definition)
            call = method_of(info, "__call__") if info is not None else None
            if info is not None and call is not None:
                return [_plain(call[0], call[1].module)._replace(name=Const(definition, info.module, definition.name))]
            return []
        if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            owner = scope.module.project.module_defining(definition)
            return [] if owner is None else self._returned(definition, owner, node, scope, depth)
        return self._wrapped(node, scope, depth)

    def _members(self, holder: ast.expr, name: ast.expr, scope: Scope, depth: int) -> list[Target]:
        """`getattr(module, name)`, `vars(module)[name]`, `globals()[name]`."""
        members = self.elements.members.named_members(holder, name, scope)
        return [target for placed in members for target in self.behind(*placed, depth + 1)]

    def _wrapped(self, node: ast.Call, scope: Scope, depth: int) -> list[Target]:
        """`decorate(f)`, by a decorator that cannot be read."""
        if len(node.args) != 1 or not isinstance(node.args[0], (ast.Name, ast.Attribute, ast.Lambda, ast.Call)):
            return []
        return self.behind(node.args[0], scope, depth + 1)

    def _returned(
        self,
        function: ast.FunctionDef | ast.AsyncFunctionDef,
        owner: Module,
        call: ast.Call,
        scope: Scope,
        depth: int,
        *,
        bound_first: bool = False,
    ) -> list[Target]:
        """The functions that a call returns: a function nested in the callee, or one of the arguments."""
        inside = owner.scope_of(function)
        arguments = arguments_of(function, call, bound_first=bound_first or inside.owner is not None)
        frame = called_frame(function, call, scope, bound_first=bound_first or None) or inside
        found: list[Target] = []
        for each in own_nodes(function):
            if not isinstance(each, ast.Return) or each.value is None:
                continue
            parameter = parameter_behind(each.value, inside, function)
            if parameter is not None and parameter[0] in arguments:
                signed = owner.source.has("__signature__")
                found.extend(
                    target._replace(signed=signed or target.signed)
                    for target in self.behind(arguments[parameter[0]], scope, depth + 1)
                )
            elif parameter is None:
                found.extend(self.behind(each.value, frame, depth + 1))
        return found


def _is_renamed(name: str, module: Module) -> bool:
    """Whether a file renames a function after its definition: `call.__name__ = spec.name`."""
    start = module.source.text.find(f"{name}.__name__ = ")
    return start == 0 or (start > 0 and module.source.text[start - 1] in " \t\n;")


def _defined_several_times(node: ast.Name, scope: Scope) -> list[tuple[Function, Module]]:
    """The functions of one name that several branches of the code define."""
    place = scope.lookup(node.id)
    if place is None or len(place[1]) < 2:
        return []
    module = place[0].module
    functions = [each.node for each in place[1] if isinstance(each.node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if len(functions) < 2:
        return []
    found: list[tuple[Function, Module]] = []
    for each in functions:
        if module.parents.get(each) is place[0].node:
            found.clear()  # a definition outside branches replaces all before it
        found.append((each, module))
    return found


# -- parameters ------------------------------------------------------------------------------------------------------


def wrapped_parameter(node: Function, module: Module) -> str | None:
    """The parameter of the enclosing function that a function wraps: `@wraps(fn) def inner(...)`."""
    scope = module.functions.get(node)
    if scope is None or scope.parent is None or scope.parent.is_module or not node.decorator_list:
        return None
    wrapped = _wrapped(node, scope.parent)
    found = scope.parent.lookup(wrapped.id) if wrapped is not None else None
    return wrapped.id if wrapped is not None and found is not None and found[1][0].kind == "parameter" else None


def _wrapped(node: Function, outside: Scope) -> ast.Name | None:
    """The name of the function that a nested function wraps."""
    for each in node.decorator_list:
        if isinstance(each, ast.Call) and each.args and isinstance(each.args[0], ast.Name):
            func = evaluate(each.func, outside)
            if isinstance(func, Symbol) and func.name == "functools.wraps":
                return each.args[0]
    return None


def parameter_behind(node: ast.expr, scope: Scope, function: Function) -> tuple[str, bool] | None:
    """The parameter of a function that an expression in it is, or wraps; and whether it is an item of it."""
    seen: set[tuple[int, str]] = set()
    stack: list[tuple[ast.expr, Scope, bool]] = [(node, scope, False)]
    while stack and len(seen) < STEPS:
        current, inside, item = stack.pop()
        if isinstance(current, ast.Call):
            stack.extend((argument, inside, item) for argument in reversed(current.args))
            continue
        place = inside.lookup(current.id) if isinstance(current, ast.Name) else None
        if place is None or not isinstance(current, ast.Name):
            continue
        where, bindings = place
        if (id(where), current.id) in seen:
            continue
        seen.add((id(where), current.id))
        for binding in bindings:
            at = binding.node
            if binding.kind == "parameter":
                if where.node is function:
                    return current.id, item
            elif isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef)):
                wrapped = None if where.is_module else _wrapped(at, where)
                if wrapped is not None:
                    stack.append((wrapped, where, item))
            elif binding.value is not None and not where.is_module:
                stack.append((binding.value, where, item))
            elif (
                isinstance(at, (ast.For, ast.AsyncFor))
                and isinstance(at.target, ast.Name)
                and isinstance(at.iter, ast.Name)
            ):
                stack.append((at.iter, where, True))
    return None


def _plain(node: Function, module: Module) -> Target:
    return Target(node, module, Const(node, module, node.name))
