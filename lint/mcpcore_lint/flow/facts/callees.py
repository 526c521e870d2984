"""Finds the functions that an expression may be, whether it is called or passed on."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, TypeVar

from mcpcore_lint.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.flow.effects import Bindings, Key, Parameter, key_of, parameter_of
from mcpcore_lint.flow.facts.errors_made import ErrorFinder
from mcpcore_lint.flow.facts.flags import flags_passed
from mcpcore_lint.flow.facts.spelling import is_abstract
from mcpcore_lint.model import CallValue, Symbol, Unknown, Value, options
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.signatures import is_static
from mcpcore_lint.semantics.symbols import class_info
from mcpcore_lint.semantics.type_model import (
    BUILTIN_METHODS,
    ClassObject,
    Function,
    Instance,
    Kind,
    Outside,
    Super,
    ancestry,
    is_property,
    method_of,
    outside_bases,
    subclasses,
)
from mcpcore_lint.semantics.types import Inference
from mcpcore_lint.syntax.parse import all_parameters

if TYPE_CHECKING:
    from mcpcore_lint.flow.facts.flags import Flags
    from mcpcore_lint.flow.program import Program
    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.syntax.module import ClassInfo, Module
    from mcpcore_lint.syntax.scopes import Binding

K = TypeVar("K")
_FUNCTIONS: Final = frozenset({ast.Name, ast.Attribute, ast.Lambda, ast.Call, ast.IfExp})
"""Types of expressions that can be a function."""


class Callees:
    """Finds the functions that one function calls or passes on."""

    def __init__(
        self,
        program: Program,
        node: FunctionNode,
        module: Module,
        receiver: ClassInfo | None = None,
        flags: Flags = (),
    ) -> None:
        """Prepare to read one function.

        Args:
            program: The program.
            node: The function.
            module: Its file.
            receiver: The class of `self`.
            flags: The flags that one call passes to the function.
        """
        self.program = program
        self.node = node
        self.module = module
        self.scope = module.scope_of(node)
        self.flags = dict(flags)
        self.inference = Inference(receiver)
        self.builder = HandlerBuilder.of(node, module, program.hierarchy)
        self.errors = ErrorFinder(self.builder, self.inference)
        self._targets: dict[ast.Call, tuple[list[Key], list[str]]] = {}
        self._functions_named: dict[str, list[Key | Parameter]] = {}

    # -- calls ---------------------------------------------------------------------------------------------------

    def parameter(self, node: ast.expr) -> Parameter | None:
        """Return the parameter that is called, of this function or an enclosing one."""
        match = self.scope.lookup(node.id) if isinstance(node, ast.Name) else None
        if match is None or not isinstance(node, ast.Name):
            return None
        where, bindings = match
        function = where.node
        if isinstance(function, ast.Module) or any(binding.kind != "parameter" for binding in bindings):
            return None
        if any(self.inference.annotation(binding.annotation, where.parent or where) for binding in bindings):
            return None
        if where.owner is not None and bindings[0].node is next(iter(all_parameters(function.args)), None):
            return None
        return parameter_of(function, self.module, node.id)

    def targets(self, node: ast.Call) -> tuple[list[Key], list[str]]:
        """Return the functions of the project that a call may run, and the names of outside functions."""
        known = self._targets.get(node)
        if known is None:
            keys, outside = self.callable(node.func)
            known = self._targets[node] = [self._with_flags(key, node) for key in keys], outside
        return known

    def _with_flags(self, key: Key, call: ast.Call) -> Key:
        """Return a function with the flags that a call passes to it."""
        located = self.program.find(key)
        if located is None:
            return key
        function, module = located
        bound = module.scope_of(function).owner is not None and not is_static(function)
        return key._replace(flags=flags_passed(call, function, module, self.flags, bound=bound))

    def callable(self, func: ast.expr) -> tuple[list[Key], list[str]]:
        """Return the functions of the project that an expression may be, and the names of outside functions."""
        keys: list[Key] = []
        outside: list[str] = []
        if isinstance(func, ast.Lambda):
            return [self._nested(func)], []
        if isinstance(func, ast.Name) and func.id in self.builder.body.builtins:
            return [], [f"builtins.{func.id}"]
        if isinstance(func, (ast.Name, ast.Attribute)):
            for value in options(self.builder.errors.callee(func, self.scope)):
                self._from_value(value, keys, outside, func)
            if keys or outside:
                return unique(keys), unique(outside)
            func = self.builder.contexts.renamed(func)
        if isinstance(func, ast.Attribute):
            for kind in self.inference.of(func.value, self.scope):
                self._from_kind(kind, func.attr, keys, outside)
            if not keys and not outside and func.attr in BUILTIN_METHODS:
                outside.append(f"builtins.object.{func.attr}")
        elif isinstance(func, ast.Name):
            for kind in self.inference.name(func, self.scope):
                self._from_called(kind, keys, outside)
        elif isinstance(func, (ast.IfExp, ast.BoolOp)):
            for part in (func.body, func.orelse) if isinstance(func, ast.IfExp) else func.values:
                more, other = self.callable(part)
                keys.extend(more)
                outside.extend(other)
        elif isinstance(func, ast.NamedExpr):
            return self.callable(func.value)
        elif isinstance(func, ast.Call):
            for value in options(evaluate(func, self.scope)):
                if isinstance(value, CallValue) and value.func.name == "functools.partial" and value.args:
                    self._from_value(value, keys, outside)
        if isinstance(func, (ast.Call, ast.Subscript)) and not keys and not outside:
            for kind in self.inference.of(func, self.scope):
                if isinstance(func, ast.Call) or not isinstance(kind, Outside):
                    self._from_called(kind, keys, outside)
        if not keys and not outside and isinstance(func, (ast.Subscript, ast.Name, ast.Call)):
            for value in self.errors.values(func, self.scope) or ():
                self._from_value(value, keys, outside)
        return unique(keys), unique(outside)

    def _nested(self, node: ast.Lambda) -> Key:
        """Return a lambda of this function, which can use its parameters."""
        self.module.note_lambda(node, self.module.scope_of(self.builder.body.function_of.get(node, self.node)))
        return key_of(node, self.module, None)

    def methods(self, kind: Instance | ClassObject, name: str) -> list[Key] | None:
        """Return a method, or the methods of subclasses if it is abstract.

        The result is None if there is no such method, and empty if no implementation is visible.
        """
        method = method_of(kind.info, name)
        if method is None:
            return None
        if not is_abstract(*method):
            return [key_of(method[0], method[1].module, kind.info)]
        overriding = [(method_of(info, name), info) for info in subclasses(kind.info, self.module)]
        return [
            key_of(override[0], override[1].module, info)
            for override, info in overriding
            if override is not None and not is_abstract(*override)
        ]

    def _from_value(self, value: Value, keys: list[Key], outside: list[str], func: ast.expr | None = None) -> None:
        if isinstance(value, CallValue) and value.func.name == "functools.partial" and value.args:
            for option in options(value.args[0]):
                self._from_value(option, keys, outside)
        elif isinstance(value, CallValue) and (info := class_info(value.func)) is not None:
            self._from_called(Instance(info), keys, outside)
        elif isinstance(value, Symbol):
            definition = value.definition
            if isinstance(definition, ast.Lambda) and value.module is not None:
                inside = value.module is self.module and definition in self.builder.body.parents
                keys.append(self._nested(definition) if inside else key_of(definition, value.module, None))
            elif isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._from_function(definition, keys, func)
            elif (info := class_info(value)) is not None:
                self.constructed(info, keys, outside)
            elif definition is None:
                outside.append(value.name)

    def _from_function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, keys: list[Key], func: ast.expr | None
    ) -> None:
        owner = self.module.project.module_defining(node)
        if owner is None:
            return
        scope = owner.scope_of(node)
        receiver = owner.classes.get(scope.owner) if scope.owner is not None else None
        if receiver is not None and is_abstract(node, receiver):
            return
        if receiver is not None and isinstance(func, ast.Attribute):
            # The call may name a subclass of the class that defines the method.
            named = evaluate(func.value, self.scope)
            receiver = (class_info(named) if isinstance(named, Symbol) else None) or receiver
        keys.append(key_of(node, owner, receiver))

    def constructed(self, info: ClassInfo, keys: list[Key], outside: list[str]) -> None:
        """Add the functions that constructing an object of a class runs."""
        makers = [(name, method_of(info, name)) for name in ("__new__", "__init__", "__post_init__")]
        keys.extend(key_of(maker[0], maker[1].module, info) for _, maker in makers if maker is not None)
        if not any(maker for _, maker in makers):
            outside.extend([base for base in outside_bases(info) if base] or ["builtins.object"])

    def _from_called(self, kind: Kind, keys: list[Key], outside: list[str]) -> None:
        if isinstance(kind, Instance):
            keys.extend(self.methods(kind, "__call__") or ())
        elif isinstance(kind, Function):
            keys.append(key_of(kind.node, kind.module, kind.receiver))
        elif isinstance(kind, ClassObject):
            self.constructed(kind.info, keys, outside)
        elif isinstance(kind, Outside):
            outside.append(kind.name or "builtins.object")

    def _from_kind(self, kind: Kind, attr: str, keys: list[Key], outside: list[str]) -> None:
        if isinstance(kind, Outside):
            outside.append(f"{kind.name}.{attr}" if kind.name else "builtins.object")
            return
        if isinstance(kind, Super):
            order = ancestry(kind.receiver)
            after = order[order.index(kind.owner) + 1 :] if kind.owner in order else ancestry(kind.owner)[1:]
            for parent in after:
                method = parent.methods.get(attr)
                if method is not None:
                    keys.extend([] if is_abstract(method, parent) else [key_of(method, parent.module, kind.receiver)])
                    return
        if isinstance(kind, (Super, Function)):
            outside.append(f"builtins.object.{attr}")
            return
        methods = self.methods(kind, attr)
        if methods is not None:
            keys.extend(methods)
            return
        for info in ancestry(kind.info):
            for _, value, scope in info.instance_attributes.get(attr, ()):
                for option in options(evaluate(value, scope)) if isinstance(value, ast.Name) else ():
                    self._from_value(option, keys, outside)
        for inner in self.inference.attribute_of(kind, attr):
            self._from_called(inner, keys, outside)
        if not keys and not outside:
            outside.extend(
                f"{base}.{attr}" for base in outside_bases(kind.info) if base and not base.startswith("typing.")
            )

    # -- arguments ----------------------------------------------------------------------------------------------

    def bindings(self, node: ast.Call, targets: list[Key]) -> Bindings:
        """Return the functions that a call passes, each with the parameter of each target."""
        passed: list[tuple[int | str, Key | Parameter]] = []
        for index, argument in enumerate(node.args):
            passed.extend((index, value) for value in self.functions_in(argument))
        for keyword in node.keywords:
            if keyword.arg is not None:
                passed.extend((keyword.arg, value) for value in self.functions_in(keyword.value))
        bindings: list[tuple[Parameter, Key | Parameter]] = []
        for target in targets if passed else ():
            located = self.program.find(target)
            if located is None:
                continue
            function, module = located
            positional = [*function.args.posonlyargs, *function.args.args]
            if module.scope_of(function).owner is not None and not is_static(function):
                positional = positional[1:]
            for place, value in passed:
                name = place if isinstance(place, str) else positional[place].arg if place < len(positional) else None
                if name is not None:
                    bindings.append((parameter_of(function, module, name), value))
        return tuple(bindings)

    def functions_in(self, node: ast.expr) -> list[Key | Parameter]:
        """Return the functions that an argument may be."""
        if isinstance(node, ast.Name):
            known = self._functions_named.get(node.id)
            if known is None:
                known = self._functions_named[node.id] = self._functions_by_name(node)
            return known
        if isinstance(node, ast.Attribute):
            return [*self._functions_at(node)]
        if isinstance(node, ast.Lambda):
            return [self._nested(node)]
        if isinstance(node, ast.Call) and node.args:
            value = self.builder.errors.callee(node.func, self.scope)
            if isinstance(value, Symbol) and value.name == "functools.partial":
                return self.functions_in(node.args[0])
        return []

    def _functions_by_name(self, node: ast.Name) -> list[Key | Parameter]:
        match = self.scope.lookup(node.id)
        if match is None:
            if not self.module.star_imports:
                return []
        elif not any(self._may_be_function(binding) for binding in match[1]):
            parameter = self.parameter(node) if match[1][0].kind == "parameter" else None
            return [parameter] if parameter is not None else []
        return [*self._defined(evaluate(node, self.scope))]

    def _may_be_function(self, binding: Binding) -> bool:
        """Whether a binding can be a function. This is cheaper than evaluating it."""
        if binding.kind != "assign":
            return binding.kind in {"function", "import"}
        return type(binding.value) in _FUNCTIONS and not self._is_value(binding.value)

    def _is_value(self, node: ast.expr | None) -> bool:
        """Whether an expression calls a builtin, whose result is neither a function nor an error."""
        return type(node) is ast.Call and type(node.func) is ast.Name and node.func.id in self.builder.body.builtins

    def _functions_at(self, node: ast.Attribute) -> list[Key]:
        value = evaluate(node, self.scope)
        if not isinstance(value, Unknown):
            return self._defined(value)
        keys: list[Key] = []
        for kind in self.inference.of(node.value, self.scope):
            method = method_of(kind.info, node.attr) if isinstance(kind, (Instance, ClassObject)) else None
            if method is not None and isinstance(kind, (Instance, ClassObject)) and not is_property(method[0]):
                keys.extend(self.methods(kind, node.attr) or ())
        return keys

    def _defined(self, value: Value) -> list[Key]:
        """Return the functions of the project among the options of a value."""
        keys: list[Key] = []
        for option in options(value):
            if isinstance(option, Symbol) and isinstance(option.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._from_value(option, keys, [])
        return keys


def unique(items: list[K]) -> list[K]:
    """Return the items without duplicates, in order."""
    return items if len(items) < 2 else list(dict.fromkeys(items))
