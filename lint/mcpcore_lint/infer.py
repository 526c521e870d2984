"""Which class an expression is an instance of: through annotations, constructors, attributes and returned values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.annotations import MAX_DEPTH, unquote
from mcpcore_lint.elements import ElementReader
from mcpcore_lint.kinds import (
    ClassObject,
    Instance,
    Kind,
    Outside,
    Super,
    ancestry,
    is_property,
    method_of,
    once,
    outside_bases,
)
from mcpcore_lint.knowledge import KNOWLEDGE
from mcpcore_lint.model import CallValue, Choice, CodeValue, Const, Items, Mapping, Symbol, Text, Value, options
from mcpcore_lint.resolve import MAX_STEPS, Resolver, evaluate, is_local
from mcpcore_lint.symbols import class_info
from mcpcore_lint.syntax import own_nodes

if TYPE_CHECKING:
    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.project import Binding, ClassInfo, Module, Scope

_WRAPPERS: Final = frozenset(
    {"typing.Annotated", "typing.Final", "typing.ClassVar", "typing.Optional", "typing.Awaitable", "typing.Required",
     "collections.abc.Awaitable", "typing.NotRequired", "typing.ReadOnly", "contextlib.AbstractContextManager",
     "contextlib.AbstractAsyncContextManager", "typing.ContextManager", "typing.AsyncContextManager"}
)  # fmt: skip


class Inference(ElementReader):
    """Answers for one function, whose `self` is an instance of `receiver` (a subclass of the class that defines it)."""

    def of(self, node: ast.expr, scope: Scope) -> list[Kind]:
        """What an expression may be an instance of; empty where that cannot be told."""
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
                return [kind for each in node.values for kind in self.of(each, scope)]
            case ast.Subscript():
                return self._element(node.value, scope) or self._outside_item(node, scope)
            case ast.Constant() | ast.JoinedStr():
                return [Outside("builtins.str")]
            case ast.List() | ast.ListComp() | ast.Dict() | ast.DictComp() | ast.Set() | ast.SetComp() | ast.Tuple():
                return [Outside("builtins.object")]
            case ast.Compare() | ast.UnaryOp() | ast.GeneratorExp():
                return [Outside("builtins.object")]
            case ast.BinOp():
                left = self.of(node.left, scope)
                return left if any(isinstance(each, Outside) for each in left) else []
            case _:
                return []

    # -- names ---------------------------------------------------------------------------------------------------

    def name(self, node: ast.Name, scope: Scope) -> list[Kind]:
        """What a name may be an instance of."""
        found = scope.lookup(node.id)
        if found is None:
            return self._value(evaluate(node, scope))
        where, bindings = found
        key = (node.id, self.receiver)
        known = where.kinds.get(key)
        if known is not None:
            return known
        trail = self.trail
        asked = (id(where), node.id, id(self.receiver))
        if asked in trail.active:
            trail.cut = True  # the name is made of itself: what else it may be is being found out
            return []
        before, trail.cut = trail.cut, False
        trail.active.add(asked)
        try:
            known = self._bound(node, scope, where, bindings)
        finally:
            trail.active.discard(asked)
        # An answer that leaves something out is kept only where nobody waits for the rest of it.
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
                kinds.extend(self._entered(binding.value, where))
            elif binding.kind in {"import", "class", "function"}:
                kinds.extend(self._value(evaluate(node, scope)))
            elif isinstance(binding.node, ast.For | ast.AsyncFor | ast.comprehension):
                if isinstance(binding.node.target, ast.Name):
                    kinds.extend(self._element(binding.node.iter, where))
            elif isinstance(binding.node, ast.ExceptHandler):
                kinds.append(Outside("builtins.Exception"))
        return once(kinds)

    def _parameter(self, name: str, scope: Scope, annotation: ast.expr | None) -> list[Kind]:
        if scope.owner is not None and not isinstance(scope.node, ast.Module | ast.Lambda):
            args = scope.node.args
            names = [*args.posonlyargs, *args.args]
            if names and names[0].arg == name:
                decorators = {each.id for each in scope.node.decorator_list if isinstance(each, ast.Name)}
                info = scope.module.classes.get(scope.owner)
                owner = self.receiver if self.receiver is not None else info
                if owner is not None and "staticmethod" not in decorators:
                    if "classmethod" in decorators or scope.node.name in {"__new__", "__init_subclass__"}:
                        return [ClassObject(owner)]
                    return [Instance(owner)]
        if annotation is None:
            return []
        return self.annotation(annotation, scope.parent or scope)

    def annotation(self, node: ast.expr | None, scope: Scope) -> list[Kind]:
        """The classes that an annotation names."""
        unquoted = unquote(node)
        if unquoted is None:
            return []
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                return []
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
            if isinstance(head, Symbol):
                if head.name in _WRAPPERS or head.name in {"typing.Coroutine", "collections.abc.Coroutine"}:
                    return self.annotation(inner[-1 if head.name.endswith("Coroutine") else 0], scope)
                if head.name == "typing.Union":
                    return once([kind for each in inner for kind in self.annotation(each, scope)])
                if head.name in {"builtins.type", "typing.Type"}:
                    return [
                        ClassObject(each.info)
                        for each in self.annotation(inner[0], scope)
                        if isinstance(each, Instance)
                    ]
                if head.name in {"typing.Callable", "collections.abc.Callable"}:
                    return []
                return self._named(head)
            return []
        value = evaluate(node, scope)
        if isinstance(value, Symbol):
            if value.name in {"typing.Self", "typing_extensions.Self"} and self.receiver is not None:
                return [Instance(self.receiver)]
            return self._named(value)
        alias = Resolver().alias_of(node, scope) if isinstance(node, ast.Name | ast.Attribute) else None
        if alias is not None and alias[0] is not node:
            return self.annotation(*alias)
        return []

    def _named(self, symbol: Symbol) -> list[Kind]:
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
        found: list[Kind] = []
        for each in options(value):
            if isinstance(each, Symbol):
                info = class_info(each)
                if info is not None:
                    found.append(ClassObject(info))
                elif each.definition is None:
                    found.append(Outside(each.name))
            elif isinstance(each, CallValue):
                found.extend(self._made(each.func, each.node, each.module))
            elif isinstance(each, Const | Items | Mapping | Text | CodeValue | Choice):
                found.append(Outside("builtins.object"))
        return found

    def _made(self, func: Symbol, node: ast.AST | None, module: Module | None) -> list[Kind]:
        """What calling a known class or function gives."""
        info = class_info(func)
        if info is not None:
            return [Instance(info)]
        if isinstance(func.definition, ast.FunctionDef | ast.AsyncFunctionDef):
            return self.returned(func.definition, func.module)
        if func.definition is None:
            return [Outside(KNOWLEDGE.result_of(func.name) or func.name)]
        del node, module
        return []

    def returned(self, node: FunctionNode, module: Module | None) -> list[Kind]:
        """What a function of the project returns: by its annotation, else by its `return` statements."""
        if isinstance(node, ast.Lambda) or module is None:
            return []
        owner = module.project.module_defining(node)
        if owner is None:
            return []
        scope = owner.scope_of(node)
        if node.returns is not None:
            return self.annotation(node.returns, scope.parent or owner.scope)
        self.depth += 5
        try:
            if self.depth > MAX_DEPTH:
                return []
            kinds: list[Kind] = []
            for each in own_nodes(node):
                if isinstance(each, ast.Return) and each.value is not None:
                    kinds.extend(self.of(each.value, scope))
            return once(kinds)
        finally:
            self.depth -= 5

    def call(self, node: ast.Call, scope: Scope) -> list[Kind]:
        """What the result of a call may be an instance of."""
        func = node.func
        if isinstance(func, ast.Name) and func.id == "super" and len(node.args) in {0, 2}:
            owner = _owner(scope)
            if owner is not None and node.args:
                # `super(A, self)` in a method of A; of another class it begins elsewhere.
                named = evaluate(node.args[0], scope)
                owner = owner if isinstance(named, Symbol) and named.definition is owner.node else None
            if owner is not None:
                return [Super(owner, self.receiver or owner)]
        if isinstance(func, ast.Attribute):
            base = self.of(func.value, scope)
            found: list[Kind] = []
            for kind in base:
                found.extend(self._method_result(kind, func.attr))
            if found or base:
                return once(found)
        if isinstance(func, ast.Name):
            value = evaluate(func, scope)
            found = []
            for each in options(value):
                if isinstance(each, Symbol):
                    found.extend(self._made(each, node, scope.module))
                elif isinstance(each, CallValue) and each.func.name == "functools.partial":
                    for one in options(each.args[0]) if each.args else ():
                        if isinstance(one, Symbol):
                            found.extend(self._made(one, node, scope.module))
            if found:
                return once(found)
            for kind in self.name(func, scope):
                if isinstance(kind, ClassObject):
                    found.append(Instance(kind.info))
                elif isinstance(kind, Instance):
                    found.extend(self._method_result(kind, "__call__"))
                elif isinstance(kind, Outside) and kind.name:
                    found.append(Outside())
            return once(found)
        if is_local(func, scope):
            return []
        return once(self._value(evaluate(node, scope)))

    def _method_result(self, kind: Kind, name: str) -> list[Kind]:
        if isinstance(kind, Super):
            for parent in list(ancestry(kind.owner))[1:]:
                method = parent.methods.get(name)
                if method is not None:
                    return Inference(kind.receiver, self.depth, self.trail).returned(method, parent.module)
            return [Outside()]
        if isinstance(kind, Instance | ClassObject):
            method_found = method_of(kind.info, name)
            if method_found is not None:
                return Inference(kind.info, self.depth, self.trail).returned(method_found[0], method_found[1].module)
            nested = kind.info.attributes.get(name)
            if nested and nested[-1].kind == "class" and isinstance(nested[-1].node, ast.ClassDef):
                info = kind.info.module.classes.get(nested[-1].node)
                return [Instance(info)] if info is not None else []
            for inner in self.attribute_of(kind, name):
                if isinstance(inner, ClassObject):
                    return [Instance(inner.info)]
                if isinstance(inner, Outside):
                    return [Outside()]
            return [Outside()] if outside_bases(kind.info) else []
        if kind.name:
            qualified = f"{kind.name}.{name}"
            return [Outside(KNOWLEDGE.result_of(qualified) or qualified)]
        return [Outside()]

    # -- attributes ----------------------------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute, scope: Scope) -> list[Kind]:
        if isinstance(node.value, ast.Name):
            found = scope.lookup(node.value.id)
            if found is not None and node.attr in {"lifespan_context", "request_context"}:
                state = self._lifespan(found, node.attr)
                if state:
                    return state
        if node.attr == "lifespan_context" and isinstance(node.value, ast.Attribute):
            inner = node.value.value
            if isinstance(inner, ast.Name):
                found = scope.lookup(inner.id)
                if found is not None:
                    state = self._lifespan(found, "lifespan_context")
                    if state:
                        return state
        base = self.of(node.value, scope)
        kinds: list[Kind] = []
        for kind in base:
            kinds.extend(self.attribute_of(kind, node.attr))
        if kinds:
            return once(kinds)
        value = evaluate(node, scope)
        return once(self._value(value))

    def _lifespan(self, found: tuple[Scope, list[Binding]], attr: str) -> list[Kind]:
        if attr != "lifespan_context":
            return []
        where, bindings = found
        for binding in bindings:
            annotation = unquote(binding.annotation)
            if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple):
                head = evaluate(annotation.value, where.parent or where)
                if (
                    isinstance(head, Symbol)
                    and head.name in {"mcpcore.Context", "mcp.Context"}
                    and len(annotation.slice.elts) > 1
                ):
                    return self.annotation(annotation.slice.elts[1], where.parent or where)
        return []

    def attribute_of(self, kind: Kind, name: str) -> list[Kind]:
        """What an attribute of an instance may be an instance of."""
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                return []
            if isinstance(kind, Super):
                return []
            if isinstance(kind, Outside):
                if not kind.name:
                    return [Outside()]
                qualified = f"{kind.name}.{name}"
                return [Outside(KNOWLEDGE.result_of(qualified) or (qualified if _is_module(kind.name) else ""))]
            for info in ancestry(kind.info):
                found = self._own_attribute(info, name, kind.info)
                if found is not None:
                    return found
            return [Outside()] if any(outside_bases(kind.info)) else []
        finally:
            self.depth -= 1

    def _own_attribute(self, info: ClassInfo, name: str, receiver: ClassInfo) -> list[Kind] | None:
        inner = Inference(receiver, self.depth, self.trail)
        for binding in info.attributes.get(name, ()):
            if binding.kind == "annotated" and binding.annotation is not None:
                return inner.annotation(binding.annotation, info.body_scope)
            if binding.kind == "assign" and binding.value is not None:
                return inner.of(binding.value, info.body_scope)
            if binding.kind == "function" and isinstance(binding.node, ast.FunctionDef | ast.AsyncFunctionDef):
                if is_property(binding.node):
                    return inner.returned(binding.node, info.module)
                return []
            if binding.kind == "class" and isinstance(binding.node, ast.ClassDef):
                nested = info.module.classes.get(binding.node)
                return [ClassObject(nested)] if nested is not None else []
        kinds: list[Kind] = []
        hit = False
        for annotation, value, scope in info.instance_attributes.get(name, ()):
            hit = True
            if annotation is not None:
                return inner.annotation(annotation, scope)
            if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
                kinds.extend(inner.of(value, scope))
        return once(kinds) if hit else None

    def _outside_item(self, node: ast.Subscript, scope: Scope) -> list[Kind]:
        value = evaluate(node, scope)
        return self._value(value)


def _owner(scope: Scope) -> ClassInfo | None:
    current: Scope | None = scope
    while current is not None:
        if current.owner is not None:
            return current.module.classes.get(current.owner)
        current = current.parent
    return None


def _is_module(name: str) -> bool:
    return bool(name) and name.rpartition(".")[2][:1].islower() and not name.startswith("builtins.")
