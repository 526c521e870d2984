"""Infers the class of an expression from annotations, constructors, attributes and returned values."""

from __future__ import annotations

import ast
from typing import Final

from mcpcore_lint.engine.semantics.annotations import MAX_DEPTH, NONE, NamedType
from mcpcore_lint.engine.semantics.evaluate import MAX_STEPS, Resolver, evaluate
from mcpcore_lint.engine.semantics.symbols import class_info, class_round, is_local, last_name
from mcpcore_lint.engine.semantics.type_model import (
    ClassObject,
    Function,
    Instance,
    Kind,
    Outside,
    Super,
    Trail,
    ancestry,
    is_property,
    method_of,
    once,
    outside_bases,
)
from mcpcore_lint.engine.syntax.module import ClassInfo, Module
from mcpcore_lint.engine.syntax.parse import alternatives, own_nodes, returned, walk
from mcpcore_lint.engine.syntax.scopes import Binding, Scope
from mcpcore_lint.model import CallValue, Const, FunctionNode, Items, Symbol, Unknown, Value, options

_MAY_BE_OWN: Final = frozenset({"importlib.import_module", "builtins.__import__"})
"""Functions outside the project that may return a module of the project."""
_GIVES_BACK: Final = frozenset(
    {"asyncio.wait_for", "asyncio.shield", "asyncio.create_task", "asyncio.ensure_future", "asyncio.run", "copy.copy",
     "copy.deepcopy", "dataclasses.replace", "contextlib.closing", "contextlib.aclosing", "contextlib.nullcontext"}
)  # fmt: skip
"""Functions that return their first argument, or the result of awaiting it."""
_ENTERS: Final = frozenset({"enter_context", "enter_async_context"})
_ANYTHING: Final = frozenset(
    {"typing.Any", "typing.Self", "builtins.object", "typing.Callable", "collections.abc.Callable"}
)
"""Annotations that do not name the class of a value."""
_CONTEXTS: Final = frozenset({"mcpcore.Context", "mcp.Context"})
"""Contexts whose second type argument is the class of the lifespan state."""
_PLAIN: Final = Outside("builtins.object")
"""A value of a builtin type."""


class Inference:
    """Infers types in one function, whose `self` is an instance of `receiver`: its class or a subclass of that."""

    def __init__(self, receiver: ClassInfo | None = None, trail: Trail | None = None) -> None:
        """Set up an inference.

        Args:
            receiver: The class of `self`.
            trail: The state of the inference that this one is part of.
        """
        self.receiver = receiver
        self.trail = Trail() if trail is None else trail

    def of(self, node: ast.expr, scope: Scope) -> list[Kind]:
        """The types that an expression may have; empty if they are unknown."""
        trail = self.trail
        if trail.depth == 0:
            trail.steps = 0
        trail.steps += 1
        trail.depth += 1
        try:
            if trail.depth > MAX_DEPTH or trail.steps > MAX_STEPS:
                trail.cut = True
                return []
            return self._of(node, scope)
        finally:
            trail.depth -= 1

    def _of(self, node: ast.expr, scope: Scope) -> list[Kind]:
        match node:
            case ast.Name():
                return self.name(node, scope)
            case ast.Attribute():
                return self._attribute(node, scope)
            case ast.Call():
                return self.call(node, scope)
            case ast.Await() | ast.NamedExpr() | ast.Starred():
                return self.of(node.value, scope)
            case ast.IfExp() | ast.BoolOp():
                return [kind for part in alternatives(node) for kind in self.of(part, scope)]
            case ast.Subscript():
                return self._value(evaluate(node, scope))
            case ast.Constant(value=None):
                return []  # None is only a placeholder until the name gets its value
            case ast.Constant() | ast.JoinedStr():
                return [Outside("builtins.str")]
            case ast.Lambda():
                scope.module.note_lambda(node, scope)
                return [Function(node, scope.module)]
            case ast.BinOp():
                left = self.of(node.left, scope)
                return left if any(isinstance(kind, Outside) for kind in left) else []
            case ast.List() | ast.Dict() | ast.Set() | ast.Tuple() | ast.Compare() | ast.UnaryOp():
                return [_PLAIN]
            case ast.ListComp(elt=item) | ast.SetComp(elt=item) | ast.GeneratorExp(elt=item) | ast.DictComp(value=item):
                return [_PLAIN] if all(isinstance(kind, Outside) for kind in self.of(item, scope)) else []
        return []

    # -- names ---------------------------------------------------------------------------------------------------

    def name(self, node: ast.Name, scope: Scope) -> list[Kind]:
        """The types that a name may have."""
        match = scope.lookup_at(node)
        if match is None:
            return self._value(evaluate(node, scope))
        where, bindings = match
        name = where.key(node.id, bindings)
        key = (name, self.receiver)
        known = where.kinds.get(key)
        if known is not None:
            return known
        trail = self.trail
        question = (id(where), name, id(self.receiver))
        if question in trail.active:
            trail.cut = True  # `x = x.next()`: the other bindings of the name are still being read
            return []
        before, trail.cut = trail.cut, False
        trail.active.add(question)
        try:
            known = self._bound(node, scope, where, bindings)
        finally:
            trail.active.discard(question)
        # An incomplete answer is kept only if no other question waits for the rest of it.
        if not trail.cut or not trail.active:
            where.kinds[key] = known
        trail.cut = before or trail.cut
        return known

    def _bound(self, node: ast.Name, scope: Scope, where: Scope, bindings: list[Binding]) -> list[Kind]:
        kinds: list[Kind] = []
        for binding in bindings:
            if binding.kind == "parameter":
                kinds += self._parameter(node.id, where, binding.annotation)
            elif binding.kind == "annotated":
                kinds += self.annotation(binding.annotation, where)
            elif binding.kind in {"import", "class", "function"}:
                kinds += self._value(evaluate(node, scope))
            elif binding.kind == "assign" and binding.value is not None:
                kinds += self.of(binding.value, where)
            elif binding.kind == "with" and binding.value is not None:
                kinds += self._opened(binding.value, where)
            elif isinstance(binding.node, (ast.For, ast.comprehension)) and isinstance(binding.node.target, ast.Name):
                kinds += self._items(evaluate(binding.node.iter, where))
            elif isinstance(binding.node, ast.ExceptHandler):
                # `except Exception as e: if isinstance(e, NotFound):` names one of its classes, too.
                tests = [
                    part.args[1]
                    for part in walk([*binding.node.body])
                    if isinstance(part, ast.Call)
                    and last_name(part.func) == "isinstance"
                    and len(part.args) > 1
                    and getattr(part.args[0], "id", "") == node.id
                ]
                named = [binding.node.type, *tests]
                parts = [part for whole in named for part in getattr(whole, "elts", [whole])]
                kinds += [kind for part in parts for kind in self.annotation(part, where)] or [
                    Outside("builtins.Exception")
                ]
        if not kinds and where.is_module and where.module.source.has("global "):
            # `client = None`, until a function with `global client` makes it
            where.module.complete()
            setters = [
                inner
                for inner in [*where.module.functions.values()]
                if node.id in inner.bindings and node.id in inner.globals
            ]
            kinds += [kind for inner in setters for kind in self._bound(node, inner, inner, inner.bindings[node.id])]
        return once(kinds)

    def _parameter(self, name: str, scope: Scope, annotation: ast.expr | None) -> list[Kind]:
        node = scope.node
        if isinstance(node, ast.Module):
            return []
        outside = scope.parent or scope
        if name in {arg.arg for arg in (node.args.vararg, node.args.kwarg) if arg is not None}:
            return [_PLAIN]
        first = next(iter((*node.args.posonlyargs, *node.args.args)), None)
        if scope.owner is not None and not isinstance(node, ast.Lambda) and first is not None and first.arg == name:
            decorators = {last_name(decorator) for decorator in node.decorator_list}
            owner = self.receiver or scope.module.classes.get(scope.owner)
            if owner is not None and "staticmethod" not in decorators:
                # Python passes the class to these two without a decorator.
                of_class = "classmethod" in decorators or node.name in {"__new__", "__init_subclass__"}
                return [ClassObject(owner) if of_class else Instance(owner)]
        return self.annotation(annotation, outside)

    # -- annotations ---------------------------------------------------------------------------------------------

    def annotation(self, node: ast.expr | None, scope: Scope) -> list[Kind]:
        """The classes that an annotation names."""
        named_types = Resolver().named_types(node, scope)
        return once([kind for named in named_types for kind in self._instance(named)])

    def _instance(self, named: NamedType) -> list[Kind]:
        symbol, arguments, scope, *_ = named
        if symbol is None or symbol.name == NONE:
            return []
        info = class_info(symbol)
        if info is not None:
            return [Instance(info)]
        if symbol.name == "typing.Self" and self.receiver is not None:
            return [Instance(self.receiver)]
        if symbol.name in {"builtins.type", "typing.Type"} and arguments:
            kinds = self.annotation(arguments[0], scope)
            return [ClassObject(kind.info) for kind in kinds if isinstance(kind, Instance)]
        if symbol.definition is not None or symbol.name in _ANYTHING:
            return []
        has_state = symbol.name in _CONTEXTS and len(arguments) > 1
        return [Outside(symbol.name, (arguments[1], scope) if has_state else None)]

    # -- values --------------------------------------------------------------------------------------------------

    def _value(self, value: Value) -> list[Kind]:
        kinds: list[Kind] = []
        for option in options(value):
            if isinstance(option, Symbol):
                info = class_info(option)
                if info is not None:
                    kinds.append(ClassObject(info))
                elif option.definition is None:
                    kinds.append(Outside(option.name))
                elif isinstance(option.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    owner = option.module.project.module_defining(option.definition) if option.module else None
                    if owner is not None:
                        of_class = owner.scope_of(option.definition).owner
                        receiver = owner.classes.get(of_class) if of_class is not None else None
                        kinds.append(Function(option.definition, owner, receiver))
            elif isinstance(option, CallValue) and option.func.name == "functools.partial" and option.args:
                kinds += self._value(option.args[0])
            elif isinstance(option, CallValue):
                kinds += self._called(
                    self._value(option.func), option.node, option.module.scope if option.module else None
                )
            elif not isinstance(option, Unknown) and not (isinstance(option, Const) and option.value is None):
                kinds.append(_PLAIN)
        return kinds

    def _opened(self, node: ast.expr, scope: Scope) -> list[Kind]:
        """The types that `with node as name` binds to the name."""
        kinds: list[Kind] = []
        for kind in self.of(node, scope):
            methods = [
                name
                for name in ("__aenter__", "__enter__")
                if isinstance(kind, Instance) and method_of(kind.info, name)
            ]
            kinds += (self.result(kind, methods[0]) if methods else []) or [kind]
        return kinds

    def _items(self, container: Value) -> list[Kind]:
        """The types of the items of a list that is written out, such as the servers that a loop registers tools on."""
        items = container.items if isinstance(container, Items) and container.complete else ()
        return [kind for item in items for kind in self._value(item)]

    def returned(self, node: FunctionNode, module: Module) -> list[Kind]:
        """The types that a function of the project returns, from its annotation or else its `return` statements.

        For a function that a decorator makes a context manager, the types that it yields.
        """
        scope = module.scope_of(node)
        if isinstance(node, ast.Lambda):
            return []
        outside = scope.parent or module.scope
        if any("contextmanager" in last_name(decorator) for decorator in node.decorator_list):
            iterators = [named for named in Resolver().named_types(node.returns, outside) if named.arguments]
            kinds = [kind for named in iterators for kind in self.annotation(named.arguments[0], named.scope)]
            yields = (part for part in own_nodes(node) if not kinds and isinstance(part, ast.Yield))
            return kinds or self._results([part.value for part in yields if part.value is not None], node, module)
        kinds = self.annotation(node.returns, outside)
        # These three annotations say less than the `return` statements.
        if kinds or (node.returns is not None and last_name(node.returns) not in {"Callable", "Any", "object"}):
            return kinds
        return self._results(returned(node), node, module)

    def _results(self, values: list[ast.expr], node: FunctionNode, module: Module) -> list[Kind]:
        """The types of expressions that a function returns or yields."""
        scope = module.scope_of(node)
        return once([kind for value in values for kind in self.of(value, scope)])

    def call(self, node: ast.Call, scope: Scope) -> list[Kind]:
        """The types that the result of a call may have."""
        func = node.func
        owner = class_round(scope)
        if isinstance(func, ast.Name) and func.id == "super" and owner is not None:
            return [Super(owner, self.receiver or owner)]
        if isinstance(func, ast.Attribute):
            base = self.of(func.value, scope)
            if func.attr in _ENTERS and node.args and all(isinstance(kind, Outside) for kind in base):
                return self._opened(node.args[0], scope)
            if base:
                return once([result for kind in base for result in self.result(kind, func.attr, node, scope)])
        elif kinds := self._called(self.of(func, scope), node, scope):
            return once(kinds)
        return [] if is_local(func, scope) else once(self._value(evaluate(node, scope)))

    def _called(self, kinds: list[Kind], node: ast.AST | None, scope: Scope | None) -> list[Kind]:
        """The types of the result of calling a value with some types."""
        results: list[Kind] = []
        for kind in kinds:
            if isinstance(kind, ClassObject):
                results.append(Instance(kind.info))
            elif isinstance(kind, Instance):
                results += self.result(kind, "__call__")
            elif isinstance(kind, Function):
                results += self._within(kind.receiver).returned(kind.node, kind.module)
            elif isinstance(kind, Outside) and kind.name:
                results += self._called_outside(kind.name, node, scope)
        return results

    def _called_outside(self, name: str, node: ast.AST | None, scope: Scope | None) -> list[Kind]:
        """The types of the result of a function from outside the project."""
        args = node.args if isinstance(node, ast.Call) else []
        if args and scope is not None:
            if name == "typing.cast" and len(args) == 2:
                return self.annotation(args[0], scope) or self.of(args[1], scope)
            if name in _GIVES_BACK:
                return self.of(args[0], scope)
        return [] if name in _MAY_BE_OWN else [Outside(name)]

    def result(self, kind: Kind, name: str, node: ast.Call | None = None, scope: Scope | None = None) -> list[Kind]:
        """The types of the result of a method, which a call may name."""
        if isinstance(kind, Function):
            return []
        if isinstance(kind, Outside):
            return self._called_outside(f"{kind.name}.{name}", node, scope) if kind.name else [Outside()]
        order = ancestry(kind.owner)[1:] if isinstance(kind, Super) else ancestry(kind.info)
        receiver = kind.receiver if isinstance(kind, Super) else kind.info
        for info in order:
            if name in info.methods:
                return self._within(receiver).returned(info.methods[name], info.module)
        if isinstance(kind, Super):
            return [Outside()]
        for attribute in self.attribute_of(kind, name):
            if isinstance(attribute, ClassObject):
                return [Instance(attribute.info)]
            if isinstance(attribute, Outside):
                return [Outside()]
        return [Outside()] if outside_bases(kind.info) else []

    def _within(self, receiver: ClassInfo | None) -> Inference:
        """An inference for the methods of an instance of a class."""
        return Inference(receiver, self.trail)

    # -- attributes ----------------------------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute, scope: Scope) -> list[Kind]:
        kinds = [part for kind in self.of(node.value, scope) for part in self.attribute_of(kind, node.attr)]
        return once(kinds or self._value(evaluate(node, scope)))

    def attribute_of(self, kind: Kind, name: str) -> list[Kind]:
        """The types that an attribute may have."""
        if isinstance(kind, (Super, Function)):
            return []
        if isinstance(kind, Outside):
            if kind.state is not None:
                return self.annotation(*kind.state) if name == "lifespan_context" else [kind]
            # By convention, a module begins with a small letter and a class with a capital.
            is_module = kind.name.rpartition(".")[2][:1].islower() and not kind.name.startswith("builtins.")
            return [Outside(f"{kind.name}.{name}" if is_module else "")]
        for info in ancestry(kind.info):
            kinds = self._own_attribute(info, name, kind)
            if kinds is not None:
                return kinds
        return [Outside()] if any(outside_bases(kind.info)) else []

    def _own_attribute(self, info: ClassInfo, name: str, kind: Instance | ClassObject) -> list[Kind] | None:
        inner = self._within(kind.info)
        for binding in info.attributes.get(name, ()):
            if binding.kind == "annotated" and binding.annotation is not None:
                return inner.annotation(binding.annotation, info.body_scope)
            if binding.kind == "assign" and binding.value is not None:
                return inner.of(binding.value, info.body_scope)
            if binding.kind == "function" and isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if is_property(binding.node):
                    return inner.returned(binding.node, info.module)
                return [Function(binding.node, info.module, kind.info)]
            if binding.kind == "class" and isinstance(binding.node, ast.ClassDef):
                nested = info.module.classes.get(binding.node)
                return [ClassObject(nested)] if nested is not None else []
        assignments = info.instance_attributes.get(name)
        if assignments is None:
            return None
        kinds: list[Kind] = []
        for annotation, value, scope in assignments:
            if annotation is not None and (noted := inner.annotation(annotation, scope)):
                return noted
            if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
                kinds.extend(inner.of(value, scope))
        return once(kinds)
