"""Infers the class of an expression from annotations, constructors, attributes and returned values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import CallValue, Choice, CodeValue, Const, Items, Mapping, Symbol, Text, Value, options
from mcpcore_lint.semantics.annotations import MAX_DEPTH, unquote
from mcpcore_lint.semantics.containers import item_annotation, written_items
from mcpcore_lint.semantics.evaluate import MAX_STEPS, Resolver, evaluate
from mcpcore_lint.semantics.knowledge import KNOWLEDGE
from mcpcore_lint.semantics.local_values import is_local
from mcpcore_lint.semantics.signatures import last_name, returns_receiver
from mcpcore_lint.semantics.symbols import class_info, class_round, rebound
from mcpcore_lint.semantics.type_model import (
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
from mcpcore_lint.syntax.parse import own_nodes

if TYPE_CHECKING:
    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.syntax.module import ClassInfo, Module
    from mcpcore_lint.syntax.scopes import Binding, Scope

_WRAPPERS: Final = frozenset(
    {"typing.Annotated", "typing.Final", "typing.ClassVar", "typing.Optional", "typing.Awaitable", "typing.Required",
     "collections.abc.Awaitable", "typing.NotRequired", "typing.ReadOnly", "contextlib.AbstractContextManager",
     "contextlib.AbstractAsyncContextManager", "typing.ContextManager", "typing.AsyncContextManager"}
)  # fmt: skip
_MAY_BE_OWN: Final = frozenset({"importlib.import_module", "builtins.__import__"})
"""Functions outside the project that may return a module of the project."""
_GIVES_BACK: Final = frozenset(
    {"asyncio.wait_for", "asyncio.shield", "asyncio.create_task", "asyncio.ensure_future", "asyncio.run", "copy.copy",
     "copy.deepcopy", "dataclasses.replace", "contextlib.closing", "contextlib.aclosing", "contextlib.nullcontext"}
)  # fmt: skip
"""Functions that return their first argument, or the result of awaiting it."""
_TAKES_ITEM: Final = frozenset({"get", "pop", "setdefault"})
_ENTERS: Final = frozenset({"enter_context", "enter_async_context"})


class Inference:
    """Infers types in one function, whose `self` is an instance of `receiver`: its class or a subclass of that."""

    def __init__(
        self,
        receiver: ClassInfo | None = None,
        depth: int = 0,
        trail: Trail | None = None,
    ) -> None:
        """Set up an inference.

        Args:
            receiver: The class of `self`.
            depth: The depth of nested expressions so far.
            trail: The state of the inference that this one is part of.
        """
        self.receiver = receiver
        self.depth = depth
        self.trail = Trail() if trail is None else trail

    def of(self, node: ast.expr, scope: Scope) -> list[Kind]:
        """The types that an expression may have; empty if they are unknown."""
        trail = self.trail
        if self.depth == 0:
            trail.steps = 0
        trail.steps += 1
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH or trail.steps > MAX_STEPS:
                trail.cut = True
                return []
            return self._of(node, scope)
        finally:
            self.depth -= 1

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
            case ast.IfExp():
                return [*self.of(node.body, scope), *self.of(node.orelse, scope)]
            case ast.BoolOp():
                return [kind for part in node.values for kind in self.of(part, scope)]
            case ast.Subscript():
                return self._item(node, scope)
            case ast.Constant():
                # None is only a placeholder until the name gets its value.
                return [Outside("builtins.str")] if node.value is not None else []
            case ast.JoinedStr():
                return [Outside("builtins.str")]
            case ast.Lambda():
                scope.module.note_lambda(node, scope)
                return [Function(node, scope.module)]
            case ast.List() | ast.ListComp() | ast.Dict() | ast.DictComp() | ast.Set() | ast.SetComp() | ast.Tuple():
                return [Outside("builtins.object")]
            case ast.Compare() | ast.UnaryOp() | ast.GeneratorExp():
                return [Outside("builtins.object")]
            case ast.BinOp():
                left = self.of(node.left, scope)
                return left if any(isinstance(kind, Outside) for kind in left) else []
            case _:
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
                kinds.extend(self._parameter(node.id, where, binding.annotation))
            elif binding.kind == "annotated" and binding.annotation is not None:
                kinds.extend(self.annotation(binding.annotation, where))
            elif binding.kind == "assign" and binding.value is not None:
                kinds.extend(self.of(binding.value, where))
            elif binding.kind == "with" and binding.value is not None:
                kinds.extend(self.entered(binding.value, where))
            elif binding.kind in {"import", "class", "function"}:
                kinds.extend(self._value(evaluate(node, scope)))
            elif isinstance(binding.node, (ast.For, ast.AsyncFor, ast.comprehension)):
                kinds.extend(self._looped(binding.node, node.id, where))
            elif isinstance(binding.node, ast.ExceptHandler):
                kinds.append(Outside("builtins.Exception"))
        if where.is_module:
            for inside, binding in rebound(where.module, node.id):
                if binding.value is not None:
                    kinds.extend(self.of(binding.value, inside))
        return once(kinds)

    def _parameter(self, name: str, scope: Scope, annotation: ast.expr | None) -> list[Kind]:
        node = scope.node
        if isinstance(node, ast.Module):
            return []
        # The annotation of `*args` is that of each item.
        if node.args.vararg is not None and node.args.vararg.arg == name:
            return [Outside("builtins.tuple")]
        if node.args.kwarg is not None and node.args.kwarg.arg == name:
            return [Outside("builtins.dict")]
        if scope.owner is not None and not isinstance(node, ast.Lambda):
            names = [*node.args.posonlyargs, *node.args.args]
            if names and names[0].arg == name:
                decorators = {decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)}
                owner = self.receiver or scope.module.classes.get(scope.owner)
                if owner is not None and "staticmethod" not in decorators:
                    of_class = "classmethod" in decorators or node.name in {"__new__", "__init_subclass__"}
                    return [ClassObject(owner) if of_class else Instance(owner)]
        return self.annotation(annotation, scope.parent or scope) if annotation is not None else []

    # -- loops and with -------------------------------------------------------------------------------------------

    def _looped(self, node: ast.For | ast.AsyncFor | ast.comprehension, name: str, scope: Scope) -> list[Kind]:
        """The types of a loop variable. Pairs of variables are supported only for `enumerate` and `items`."""
        if isinstance(node.target, ast.Name):
            return self.element(node.iter, scope)
        call = node.iter
        if not isinstance(node.target, (ast.Tuple, ast.List)) or not isinstance(call, ast.Call):
            return []
        source: ast.expr | None = None
        if isinstance(call.func, ast.Name) and call.func.id == "enumerate" and call.args:
            source = call.args[0]
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "items":
            source = call.func.value
        last = node.target.elts[-1]
        if source is None or len(node.target.elts) != 2:
            return []
        return self.element(source, scope) if isinstance(last, ast.Name) and last.id == name else [Outside()]

    def element(self, node: ast.expr, scope: Scope) -> list[Kind]:
        """The types of the items of a container, or of the values of a table."""
        while isinstance(node, (ast.Await, ast.Starred, ast.NamedExpr)):
            node = node.value
        declared = self._declared(node, scope)
        inner = item_annotation(*declared) if declared is not None else None
        if inner is not None and (kinds := self.annotation(*inner)):
            return kinds
        kinds = [kind for item in written_items(node, scope) for kind in self.of(item, scope)]
        if kinds:
            own = any(not isinstance(kind, Outside) for kind in kinds)
            changed = own and isinstance(node, ast.Name) and scope.module.changes_in_place(node.id)
            return [] if changed else once(kinds)
        # Other code of the project may store anything in an attribute.
        whole = [] if isinstance(node, (ast.Subscript, ast.Attribute)) else self.of(node, scope)
        return [Outside()] if whole and all(isinstance(kind, Outside) for kind in whole) else []

    def _declared(self, node: ast.expr, scope: Scope) -> tuple[ast.expr, Scope] | None:
        """The annotation of an expression, with the scope to read it in."""
        if isinstance(node, ast.Name):
            match = scope.lookup(node.id)
            for binding in match[1] if match is not None else ():
                if binding.annotation is not None and match is not None:
                    return binding.annotation, match[0]
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in {"values", "copy"}:
                return self._declared(node.func.value, scope)
            callee = self._callee(node, scope)
            if callee is not None and callee[0].returns is not None:
                return callee[0].returns, callee[1]
        elif isinstance(node, ast.Attribute):
            for kind in self.of(node.value, scope):
                for info in ancestry(kind.info) if isinstance(kind, (Instance, ClassObject)) else ():
                    for binding in info.attributes.get(node.attr, ()):
                        if binding.annotation is not None:
                            return binding.annotation, info.body_scope
                    for annotation, _, where in info.instance_attributes.get(node.attr, ()):
                        if annotation is not None:
                            return annotation, where
        return None

    def _callee(self, node: ast.Call, scope: Scope) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, Scope] | None:
        """The function of the project that a call names, with the scope around it."""
        for value in options(evaluate(node.func, scope)):
            if isinstance(value, Symbol) and isinstance(value.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
                owner = scope.module.project.module_defining(value.definition)
                if owner is not None:
                    return value.definition, owner.scope
        if isinstance(node.func, ast.Attribute):
            for kind in self.of(node.func.value, scope):
                if isinstance(kind, (Instance, ClassObject)):
                    method = method_of(kind.info, node.func.attr)
                    if method is not None:
                        return method[0], method[1].scope
        return None

    def entered(self, node: ast.expr, scope: Scope) -> list[Kind]:
        """The types that `with node as name` binds to the name."""
        callee = self._callee(node, scope) if isinstance(node, ast.Call) else None
        if callee is not None and any(
            "contextmanager" in last_name(decorator) for decorator in callee[0].decorator_list
        ):
            return self._yielded(*callee)
        kinds: list[Kind] = []
        for kind in self.of(node, scope):
            entered: list[Kind] = []
            for name in ("__aenter__", "__enter__") if isinstance(kind, Instance) else ():
                if isinstance(kind, Instance) and (method := method_of(kind.info, name)) is not None:
                    entered = self._within(kind.info).returned(method[0], method[1].module)
                    break
            kinds.extend(entered or [kind])
        return kinds

    def _yielded(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> list[Kind]:
        """The types that a generator yields, from its annotation or else its `yield` expressions."""
        inner = item_annotation(node.returns, scope) if node.returns is not None else None
        if inner is not None and (kinds := self.annotation(*inner)):
            return kinds
        return self._results(node, scope.module, ast.Yield)

    # -- annotations ---------------------------------------------------------------------------------------------

    def annotation(self, node: ast.expr | None, scope: Scope) -> list[Kind]:
        """The classes that an annotation names."""
        unquoted = unquote(node)
        if unquoted is None or self.depth > MAX_DEPTH:
            return []
        self.depth += 1
        try:
            return self._annotation(unquoted, scope)
        finally:
            self.depth -= 1

    def _annotation(self, node: ast.expr, scope: Scope) -> list[Kind]:
        if isinstance(node, ast.Constant):
            return []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return once([*self.annotation(node.left, scope), *self.annotation(node.right, scope)])
        if isinstance(node, ast.Subscript):
            head = evaluate(node.value, scope)
            inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
            if not isinstance(head, Symbol):
                return []
            if head.name in _WRAPPERS or head.name in {"typing.Coroutine", "collections.abc.Coroutine"}:
                return self.annotation(inner[-1 if head.name.endswith("Coroutine") else 0], scope)
            if head.name == "typing.Union":
                return once([kind for part in inner for kind in self.annotation(part, scope)])
            if head.name in {"builtins.type", "typing.Type"}:
                kinds = self.annotation(inner[0], scope)
                return [ClassObject(kind.info) for kind in kinds if isinstance(kind, Instance)]
            return self._named(head)
        value = evaluate(node, scope)
        if isinstance(value, Symbol):
            if value.name in {"typing.Self", "typing_extensions.Self"} and self.receiver is not None:
                return [Instance(self.receiver)]
            return self._named(value)
        if isinstance(value, CallValue) and isinstance(value.node, ast.Call) and value.module is not None:
            call = value.node
            if value.func.name == "typing.NewType" and len(call.args) == 2:
                return self.annotation(call.args[1], value.module.scope)
            if value.func.name == "typing.TypeVar":
                bound = next((keyword.value for keyword in call.keywords if keyword.arg == "bound"), None)
                return self.annotation(bound, value.module.scope) if bound is not None else []
        alias = Resolver().alias_of(node, scope) if isinstance(node, (ast.Name, ast.Attribute)) else None
        if alias is not None and alias[0] is not node:
            return self.annotation(*alias)
        return []

    @staticmethod
    def _named(symbol: Symbol) -> list[Kind]:
        info = class_info(symbol)
        if info is not None:
            return [Instance(info)]
        if symbol.definition is not None:
            return []
        if symbol.name in {"typing.Any", "builtins.object", "typing.Callable", "collections.abc.Callable"}:
            return []
        return [Outside(symbol.name)]

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
            elif isinstance(option, CallValue):
                scope = option.module.scope if option.module is not None else None
                kinds.extend(self._made(option.func, option.node, scope))
            elif isinstance(option, Const) and option.value is None:
                continue
            elif isinstance(option, (Const, Items, Mapping, Text, CodeValue, Choice)):
                kinds.append(Outside("builtins.object"))
        return kinds

    def _made(self, func: Symbol, node: ast.AST | None, scope: Scope | None) -> list[Kind]:
        """The types of the result of calling a known class or function."""
        info = class_info(func)
        if info is not None:
            return [Instance(info)]
        if isinstance(func.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self.returned(func.definition, func.module)
        if func.definition is not None:
            return []
        if scope is not None and isinstance(node, ast.Call):
            if func.name == "typing.cast" and len(node.args) == 2:
                return self.annotation(node.args[0], scope) or self.of(node.args[1], scope)
            if func.name in _GIVES_BACK and node.args:
                return self.of(node.args[0], scope)
            if func.name in _MAY_BE_OWN:
                return []
            if func.name == "builtins.next" and node.args:
                return self.element(node.args[0], scope)
        return [Outside(KNOWLEDGE.result_of(func.name) or func.name)]

    def returned(self, node: FunctionNode, module: Module | None) -> list[Kind]:
        """The types that a function of the project returns, from its annotation or else its `return` statements."""
        owner = module.project.module_defining(node) if module is not None else None
        if isinstance(node, ast.Lambda) or owner is None:
            return []
        scope = owner.scope_of(node)
        if node.returns is not None:
            if self.receiver is not None and scope.owner is not None and returns_receiver(node):
                return [Instance(self.receiver)]
            kinds = self.annotation(node.returns, scope.parent or owner.scope)
            if kinds or last_name(node.returns) not in {"Callable", "Any", "object"}:
                return kinds
        return self._results(node, owner, ast.Return)

    def _results(self, node: FunctionNode, module: Module, statement: type[ast.Return | ast.Yield]) -> list[Kind]:
        """The types in the `return` or `yield` statements of a function."""
        self.depth += 5
        try:
            if self.depth > MAX_DEPTH:
                return []
            scope = module.scope_of(node)
            return once(
                [
                    kind
                    for part in own_nodes(node)
                    if isinstance(part, statement) and part.value is not None
                    for kind in self.of(part.value, scope)
                ]
            )
        finally:
            self.depth -= 5

    def call(self, node: ast.Call, scope: Scope) -> list[Kind]:
        """The types that the result of a call may have."""
        func = node.func
        if isinstance(func, ast.Name) and func.id == "super" and len(node.args) in {0, 2}:
            owner = class_round(scope)
            if owner is not None:
                return [Super(owner, self.receiver or owner)]
        if isinstance(func, ast.Attribute):
            base = self.of(func.value, scope)
            if func.attr in _ENTERS and node.args and all(isinstance(kind, Outside) for kind in base):
                return self.entered(node.args[0], scope)
            if func.attr in _TAKES_ITEM and any(kind == Outside("builtins.object") for kind in base):
                return self.element(func.value, scope)
            if base:
                return once([result for kind in base for result in self.result(kind, func.attr)])
        elif isinstance(func, ast.Name):
            kinds = []
            for value in options(evaluate(func, scope)):
                if isinstance(value, CallValue) and value.func.name == "functools.partial" and value.args:
                    value = value.args[0]  # noqa: PLW2901 - calling a partial calls its function
                if isinstance(value, Symbol):
                    kinds.extend(self._made(value, node, scope))
            return once(kinds or self._called(self.name(func, scope)))
        elif kinds := self._called(self.of(func, scope)):
            return once(kinds)
        if is_local(func, scope):
            return []
        return once(self._value(evaluate(node, scope)))

    def _called(self, kinds: list[Kind]) -> list[Kind]:
        """The types of the result of calling a value with some types."""
        results: list[Kind] = []
        for kind in kinds:
            if isinstance(kind, ClassObject):
                results.append(Instance(kind.info))
            elif isinstance(kind, Instance):
                results.extend(self.result(kind, "__call__"))
            elif isinstance(kind, Function):
                results.extend(self._within(kind.receiver).returned(kind.node, kind.module))
            elif isinstance(kind, Outside) and kind.name:
                results.append(Outside())
        return results

    def result(self, kind: Kind, name: str) -> list[Kind]:
        """The types of the result of a method."""
        if isinstance(kind, Super):
            for parent in ancestry(kind.owner)[1:]:
                method = parent.methods.get(name)
                if method is not None:
                    return self._within(kind.receiver).returned(method, parent.module)
            return [Outside()]
        if isinstance(kind, Function):
            return []
        if isinstance(kind, Outside):
            if not kind.name:
                return [Outside()]
            qualified = f"{kind.name}.{name}"
            return [] if qualified in _MAY_BE_OWN else [Outside(KNOWLEDGE.result_of(qualified) or qualified)]
        inherited = method_of(kind.info, name)
        if inherited is not None:
            return self._within(kind.info).returned(inherited[0], inherited[1].module)
        for attribute in self.attribute_of(kind, name):
            if isinstance(attribute, ClassObject):
                return [Instance(attribute.info)]
            if isinstance(attribute, Outside):
                return [Outside()]
        return [Outside()] if outside_bases(kind.info) else []

    def _within(self, receiver: ClassInfo | None) -> Inference:
        """An inference for the methods of an instance of a class."""
        return Inference(receiver, self.depth, self.trail)

    # -- attributes ----------------------------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute, scope: Scope) -> list[Kind]:
        if node.attr == "lifespan_context" and (state := self._lifespan(node.value, scope)):
            return state
        kinds = [part for kind in self.of(node.value, scope) for part in self.attribute_of(kind, node.attr)]
        return once(kinds or self._value(evaluate(node, scope)))

    def _lifespan(self, node: ast.expr, scope: Scope) -> list[Kind]:
        """The type of the lifespan state: the second type argument of the `Context` that an expression begins with."""
        if isinstance(node, ast.Attribute):
            node = node.value
        match = scope.lookup(node.id) if isinstance(node, ast.Name) else None
        for binding in match[1] if match is not None else ():
            annotation = unquote(binding.annotation)
            if match is not None and isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple):
                outside = match[0].parent or match[0]
                head = evaluate(annotation.value, outside)
                if isinstance(head, Symbol) and head.name in {"mcpcore.Context", "mcp.Context"}:
                    return self.annotation(annotation.slice.elts[-1], outside)
        return []

    def attribute_of(self, kind: Kind, name: str) -> list[Kind]:
        """The types that an attribute may have."""
        if self.depth > MAX_DEPTH or isinstance(kind, (Super, Function)):
            return []
        if isinstance(kind, Outside):
            if not kind.name:
                return [Outside()]
            qualified = f"{kind.name}.{name}"
            return [Outside(KNOWLEDGE.result_of(qualified) or (qualified if _is_module(kind.name) else ""))]
        self.depth += 1
        try:
            for info in ancestry(kind.info):
                kinds = self._own_attribute(info, name, kind)
                if kinds is not None:
                    return kinds
            return [Outside()] if any(outside_bases(kind.info)) else []
        finally:
            self.depth -= 1

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

    def _item(self, node: ast.Subscript, scope: Scope) -> list[Kind]:
        """The types of `container[key]`."""
        known = self._value(evaluate(node, scope))
        if any(not isinstance(kind, Outside) for kind in known):
            return known
        return self.element(node.value, scope) or known


def _is_module(name: str) -> bool:
    return bool(name) and name.rpartition(".")[2][:1].islower() and not name.startswith("builtins.")
