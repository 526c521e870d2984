"""Finds the functions that an expression may be, whether it is called or passed on."""

import ast
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from mcpcore_lint.engine.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.engine.flow.effects import Bound, Key, Parameter, Program, key_of, parameter_of
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.symbols import class_info, is_static
from mcpcore_lint.engine.semantics.type_model import (
    BUILTIN_METHODS,
    ClassObject,
    Function,
    Instance,
    Kind,
    Outside,
    Super,
    ancestry,
    class_named,
    is_abstract,
    is_property,
    method_of,
    only_implementation,
    outside_bases,
)
from mcpcore_lint.engine.semantics.types import Inference
from mcpcore_lint.engine.syntax.module import ClassInfo, Module
from mcpcore_lint.engine.syntax.parse import all_parameters
from mcpcore_lint.engine.syntax.scopes import Binding
from mcpcore_lint.model import CallValue, FunctionNode, Symbol, Unknown, Value, options

Callee: TypeAlias = "Key | str"
"""A function of the project, or the name of one outside."""
_FUNCTIONS: Final = frozenset({ast.Name, ast.Attribute, ast.Lambda, ast.Call, ast.IfExp})
"""Types of expressions that can be a function."""


class Callees:
    """Finds the functions that one function calls or passes on."""

    def __init__(self, program: Program, node: FunctionNode, module: Module, receiver: ClassInfo | None = None) -> None:
        """Prepare to read one function; `receiver` is the class of `self`."""
        self.program = program
        self.node = node
        self.module = module
        self.scope = module.scope_of(node)
        self.inference = Inference(receiver)
        self.builder = HandlerBuilder.of(node, module, program.hierarchy)
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
        # Its class says what a call runs, whatever the caller passes.
        if any(self.inference.annotation(binding.annotation, where.parent or where) for binding in bindings):
            return None
        # `self` or `cls`, which no caller passes as an argument.
        if where.owner is not None and bindings[0].node is next(iter(all_parameters(function.args)), None):
            return None
        return parameter_of(function, self.module, node.id)

    def targets(self, node: ast.Call) -> tuple[list[Key], list[str]]:
        """Return the functions of the project that a call may run, and the names of outside functions."""
        return self._targets.get(node) or self._targets.setdefault(node, self.callable(node.func))

    def callable(self, func: ast.expr) -> tuple[list[Key], list[str]]:
        """Return the functions of the project that an expression may be, and the names of outside functions."""
        callees = dict.fromkeys(self._callees(func))
        keys = [callee for callee in callees if isinstance(callee, Key)]
        return keys, [callee for callee in callees if isinstance(callee, str)]

    def _callees(self, func: ast.expr) -> list[Callee]:
        if isinstance(func, ast.Name) and func.id in self.builder.body.builtins:
            return [f"builtins.{func.id}"]
        if isinstance(func, (ast.Name, ast.Attribute)):
            values = options(self.builder.errors.callee(func, self.scope))
            callees = [callee for value in values for callee in self._from_value(value, func)]
            # The value of a name is exact. Types are only asked where it has none.
            if callees:
                return callees
            func = self.builder.contexts.renamed(func)
        match func:
            case ast.Lambda():
                return [self._nested(func)]
            case ast.Attribute(value=value, attr=attr):
                callees = [callee for kind in self._kinds(value) for callee in self._from_kind(kind, attr)]
                return callees or ([f"builtins.object.{attr}"] if attr in BUILTIN_METHODS else [])
            case ast.Name():
                kinds = self.inference.name(func, self.scope)
                return [callee for kind in kinds for callee in self._from_called(kind)]
            case ast.IfExp(body=body, orelse=orelse):
                return [*self._callees(body), *self._callees(orelse)]
            case ast.BoolOp(values=parts):
                return [callee for part in parts for callee in self._callees(part)]
            case ast.NamedExpr(value=value):
                return self._callees(value)
            case ast.Call():
                partial = [value for value in options(evaluate(func, self.scope)) if _is_partial(value)]
                callees = [callee for value in partial for callee in self._from_value(value)]
                return callees or [callee for kind in self._kinds(func) for callee in self._from_called(kind)]
            case ast.Subscript():
                kinds = [kind for kind in self._kinds(func) if not isinstance(kind, Outside)]
                return [callee for kind in kinds for callee in self._from_called(kind)]
        return []

    def _kinds(self, node: ast.expr) -> Sequence[Kind]:
        return self.inference.of(node, self.scope)

    def _nested(self, node: ast.Lambda) -> Key:
        """Return a lambda of this function, which can use its parameters."""
        self.module.note_lambda(node, self.module.scope_of(self.builder.body.function_of.get(node, self.node)))
        return key_of(node, self.module, None)

    def methods(self, kind: Instance | ClassObject, name: str) -> list[Key] | None:
        """Return a method. The result is None if there is no such method, and empty if it is abstract."""
        method = method_of(kind.info, name)
        if method is None:
            return None
        if not is_abstract(*method):
            return [key_of(method[0], method[1].module, kind.info)]
        # An interface that the project implements once means that class. Of several, none is chosen.
        only = only_implementation(kind.info)
        method = method_of(only, name) if only is not None else None
        return [key_of(method[0], method[1].module, only)] if method is not None else []

    def _from_value(self, value: Value, func: ast.expr | None = None) -> Iterator[Callee]:
        if isinstance(value, CallValue) and _is_partial(value):
            for option in options(value.args[0]):
                yield from self._from_value(option)
        elif isinstance(value, CallValue) and (info := class_info(value.func)) is not None:
            yield from self._from_called(Instance(info))
        elif isinstance(value, Symbol):
            definition = value.definition
            if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from self._from_function(definition, func)
            elif (info := class_info(value)) is not None:
                yield from self._constructed(info)
            elif definition is None:
                yield value.name

    def _from_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, func: ast.expr | None) -> Iterator[Key]:
        owner = self.module.project.module_defining(node)
        if owner is None:
            return
        scope = owner.scope_of(node)
        receiver = owner.classes.get(scope.owner) if scope.owner is not None else None
        if receiver is not None and is_abstract(node, receiver):
            return
        if receiver is not None and isinstance(func, ast.Attribute):
            # The call may name a subclass of the class that defines the method.
            receiver = class_named(func.value, self.scope) or receiver
        yield key_of(node, owner, receiver)

    def _constructed(self, info: ClassInfo) -> Iterator[Callee]:
        """Yield the functions that constructing an object of a class runs."""
        makers = [method_of(info, name) for name in ("__new__", "__init__", "__post_init__")]
        yield from (key_of(maker[0], maker[1].module, info) for maker in makers if maker is not None)
        if not any(makers):
            # Without any name, the call would count as one that cannot be resolved.
            yield from [base for base in outside_bases(info) if base] or ["builtins.object"]

    def _from_called(self, kind: Kind) -> Iterator[Callee]:
        if isinstance(kind, Instance):
            yield from self.methods(kind, "__call__") or ()
        elif isinstance(kind, Function):
            yield key_of(kind.node, kind.module, kind.receiver)
        elif isinstance(kind, ClassObject):
            yield from self._constructed(kind.info)
        elif isinstance(kind, Outside):
            yield kind.name or "builtins.object"

    def _from_kind(self, kind: Kind, attr: str) -> list[Callee]:
        if isinstance(kind, Outside):
            return [f"{kind.name}.{attr}" if kind.name else "builtins.object"]
        if isinstance(kind, Super):
            # `super()` continues behind the class that contains it, in the order of the object's own class.
            order = ancestry(kind.receiver)
            after = order[order.index(kind.owner) + 1 :] if kind.owner in order else ancestry(kind.owner)[1:]
            for parent in after:
                method = parent.methods.get(attr)
                if method is not None:
                    return [] if is_abstract(method, parent) else [key_of(method, parent.module, kind.receiver)]
        if isinstance(kind, (Super, Function)):
            return [f"builtins.object.{attr}"]
        methods = self.methods(kind, attr)
        if methods is not None:
            return [*methods]
        # No method, but maybe a function in an attribute: `self.handle = handle`.
        stored = (entry for info in ancestry(kind.info) for entry in info.instance_attributes.get(attr, ()))
        named = (evaluate(value, scope) for _, value, scope in stored if isinstance(value, ast.Name))
        callees = [callee for value in named for option in options(value) for callee in self._from_value(option)]
        for inner in self.inference.attribute_of(kind, attr):
            callees.extend(self._from_called(inner))
        bases = (base for base in outside_bases(kind.info) if base and not base.startswith("typing."))
        return callees or [f"{base}.{attr}" for base in bases]

    # -- arguments ----------------------------------------------------------------------------------------------

    def with_arguments(self, target: Key, node: ast.Call) -> Key:
        """Return a function that a call may run, with the functions that the call passes to it."""
        located = self.program.find(target)
        if located is None:
            return target
        function, module = located
        arguments = arguments_for(function, module, node)
        bound: list[tuple[Parameter, Bound]] = []
        for name, argument in arguments.items():
            bound += ((parameter_of(function, module, name), value) for value in self.functions_in(argument))
        return target._replace(bound=tuple(bound))

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
        # The result of a builtin is neither a function nor an error.
        builtin = binding.value.func if type(binding.value) is ast.Call else None
        return type(binding.value) in _FUNCTIONS and getattr(builtin, "id", None) not in self.builder.body.builtins

    def _functions_at(self, node: ast.Attribute) -> list[Key]:
        value = evaluate(node, self.scope)
        if not isinstance(value, Unknown):
            return self._defined(value)
        keys: list[Key] = []
        for kind in self.inference.of(node.value, self.scope):
            method = method_of(kind.info, node.attr) if isinstance(kind, (Instance, ClassObject)) else None
            # A property passes on its value, not itself.
            if method is not None and isinstance(kind, (Instance, ClassObject)) and not is_property(method[0]):
                keys.extend(self.methods(kind, node.attr) or ())
        return keys

    def _defined(self, value: Value) -> list[Key]:
        """Return the functions of the project among the options of a value."""
        return [
            key
            for option in options(value)
            if isinstance(option, Symbol) and isinstance(option.definition, (ast.FunctionDef, ast.AsyncFunctionDef))
            for key in self._from_function(option.definition, None)
        ]


def arguments_for(function: FunctionNode, module: Module, call: ast.Call) -> dict[str, ast.expr]:
    """Return the arguments that a call passes to a function, by the names of its parameters."""
    positional = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    if module.scope_of(function).owner is not None and not is_static(function):
        # The object before the dot is the first argument, and not in the call.
        positional = positional[1:]
    arguments = dict(zip(positional, call.args, strict=False))
    return arguments | {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}


def _is_partial(value: Value) -> bool:
    return isinstance(value, CallValue) and value.func.name == "functools.partial" and bool(value.args)
