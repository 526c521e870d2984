"""Which class an expression is an instance of: through annotations, constructors, attributes and returned values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.flow.effects import Given, Parameter, key_of
from mcpcore_lint.flow.knowledge import KNOWLEDGE
from mcpcore_lint.model import CallValue, Choice, CodeValue, Const, Items, Mapping, Symbol, Text, Value, options
from mcpcore_lint.semantics.annotations import MAX_DEPTH, unquote
from mcpcore_lint.semantics.attributes import fields
from mcpcore_lint.semantics.call_args import (
    anew,
    handed,
    kinds_of,
    names_open_class,
    parameter_of,
    vague,
    vague_parameters,
)
from mcpcore_lint.semantics.elements import ElementReader, any_own
from mcpcore_lint.semantics.evaluate import MAX_STEPS, Resolver, evaluate, is_local
from mcpcore_lint.semantics.subtypes import is_open
from mcpcore_lint.semantics.symbols import class_info, class_round, rebound
from mcpcore_lint.semantics.type_model import (
    ClassObject,
    Function,
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


_TAKES_ITEM: Final = frozenset({"get", "pop", "setdefault"})
_MAY_BE_OWN: Final = frozenset({"importlib.import_module", "builtins.__import__"})
"""Functions outside the project whose result may be the project's own all the same."""
_GIVES_BACK: Final = frozenset(
    {"asyncio.wait_for", "asyncio.shield", "asyncio.create_task", "asyncio.ensure_future", "asyncio.run", "copy.copy",
     "copy.deepcopy", "dataclasses.replace"}
)  # fmt: skip
"""Functions whose result is what they are given, or what that comes to."""


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
                return self._item(node, scope)
            case ast.Constant():
                # None is what a name is before it is something else.
                return [Outside("builtins.str")] if node.value is not None else []
            case ast.JoinedStr():
                return [Outside("builtins.str")]
            case ast.Lambda():
                scope.module.note_lambda(node, scope)
                return [Function(key_of(node, scope.module, None, given=self.given))]
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
        found = scope.lookup_at(node)
        if found is None:
            return self._value(evaluate(node, scope))
        where, bindings = found
        name = where.key(node.id, bindings)
        key = (name, self.receiver)
        told = ("kinds", where.node, *key, self.given) if self.given else None
        known: list[Kind] | None = where.kinds.get(key) if told is None else where.module.memo.get(told)
        if known is not None:
            return known
        trail = self.trail
        asked = (id(where), name, id(self.receiver))
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
            if told is None:
                where.kinds[key] = known
            else:
                where.module.memo[told] = known
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
                if isinstance(binding.node.target, ast.Name):
                    kinds.extend(self.element(binding.node.iter, where))
                else:
                    kinds.extend(self.unpacked(binding.node.target, node.id, binding.node.iter, where, looped=True))
            elif isinstance(binding.node, ast.ExceptHandler):
                kinds.append(Outside("builtins.Exception"))
            elif isinstance(binding.node, ast.Assign):
                for target in binding.node.targets:
                    kinds.extend(self.unpacked(target, node.id, binding.node.value, where, looped=False))
        if where.is_module:
            for inside, binding in rebound(where.module, node.id):
                if binding.value is not None:
                    kinds.extend(self.of(binding.value, inside))
        return once(kinds)

    def _parameter(self, name: str, scope: Scope, annotation: ast.expr | None) -> list[Kind]:
        if not isinstance(scope.node, ast.Module):
            # What is written after `*args:` is what each item is.
            rest, named = scope.node.args.vararg, scope.node.args.kwarg
            if rest is not None and rest.arg == name:
                return [Outside("builtins.tuple")]
            if named is not None and named.arg == name:
                return [Outside("builtins.dict")]
        if scope.owner is not None and not isinstance(scope.node, (ast.Module, ast.Lambda)):
            args = scope.node.args
            names = [*args.posonlyargs, *args.args]
            if names and names[0].arg == name:
                decorators = {each.id for each in scope.node.decorator_list if isinstance(each, ast.Name)}
                info = scope.module.classes.get(scope.owner)
                owner = self.receiver if self.receiver is not None else info
                if owner is not None and "staticmethod" not in decorators:
                    if "classmethod" in decorators or scope.node.name in {"__new__", "__init_subclass__"}:
                        return [ClassObject(owner)]
                    return [Instance(owner, exact=True, given=self._constructed_with(owner))]
        kinds = self.annotation(annotation, scope.parent or scope) if annotation is not None else []
        if kinds and self.given and all(isinstance(each, Instance) and is_open(each.info) for each in kinds):
            return self.given_to(name, scope) or kinds
        return kinds or self.given_to(name, scope)

    # -- what parameters are given -------------------------------------------------------------------------------

    def given_to(self, name: str, scope: Scope) -> list[Kind]:
        """What a parameter that says nothing is given, in this call."""
        if not self.given or isinstance(scope.node, ast.Module):
            return []
        parameter = parameter_of(scope.node, scope.module, name)
        project = scope.module.project
        return [kind for each in self.given if each.parameter == parameter for kind in kinds_of(each.what, project)]

    def _constructed_with(self, info: ClassInfo) -> tuple[Given, ...]:
        """What the constructor of `self` was given."""
        if not self.given:
            return ()
        order = ancestry(info)
        places = {(each.module.path, each.methods["__init__"].lineno) for each in order if "__init__" in each.methods}
        places.update((each.module.path, each.node.lineno) for each in order)
        return tuple(each for each in self.given if each.parameter[:2] in places)

    def given_by(
        self, call: ast.Call, function: FunctionNode, module: Module, scope: Scope, *, bound: bool
    ) -> tuple[Given, ...]:
        """What a call gives to those parameters of a function that say nothing of their own.

        Args:
            call: The call.
            function: The function.
            module: The function's module.
            scope: Where the call stands.
            bound: Whether the first parameter is the object or the class itself.
        """
        vague = vague_parameters(function, module)
        if len(vague) <= bound and not (vague and vague[0][1]):
            return ()
        found: list[Given] = []
        for name, position, default in vague:
            at = position - 1 if bound else position
            if bound and position == 0:
                continue
            value = next((each.value for each in call.keywords if each.arg == name), None)
            if value is None and 0 <= at < len(call.args):
                if any(isinstance(each, ast.Starred) for each in call.args[: at + 1]):
                    continue
                value = call.args[at]
            if value is not None:
                kinds = self.of(value, scope)
            elif default is not None and not any(each.arg is None for each in call.keywords):
                outside = module.scope_of(function).parent or module.scope
                kinds = Inference(None, self.depth, self.trail).of(default, outside)
            else:
                continue
            what = handed(kinds)
            if what:
                found.append(Given(parameter_of(function, module, name), what))
        return anew((), tuple(found))

    def instance(self, info: ClassInfo, call: ast.AST | None, scope: Scope | None) -> Instance:
        """What calling a class of the project makes."""
        made = method_of(info, "__init__")
        if scope is None or not isinstance(call, ast.Call):
            return Instance(info, exact=True)
        if made is None:
            return Instance(info, exact=True, given=self._fields_given(info, call, scope))
        given = self.given_by(call, made[0], made[1].module, scope, bound=True)
        if given and made[1] is not info:
            return Instance(info, exact=True, given=given)
        return Instance(info, exact=True, given=(*given, *self._handed_on(info, made[0], made[1], given)))

    def _fields_given(self, info: ClassInfo, call: ast.Call, scope: Scope) -> tuple[Given, ...]:
        """What a class that is made of its annotated attributes is given for those that say nothing of their own."""
        if not (call.args or call.keywords) or not any(
            each.node.decorator_list or any(_is_named_tuple(one) for one in each.node.bases) for each in ancestry(info)
        ):
            return ()
        found: list[Given] = []
        for position, (name, owner, annotation) in enumerate(fields(info)):
            if not (vague(annotation) or names_open_class(annotation, owner.body_scope)):
                continue
            value = next((each.value for each in call.keywords if each.arg == name), None)
            if value is None and position < len(call.args):
                if any(isinstance(each, ast.Starred) for each in call.args[: position + 1]):
                    continue
                value = call.args[position]
            what = handed(self.of(value, scope)) if value is not None else ()
            if what:
                found.append(Given(_field(owner, name), what))
        return anew((), tuple(found))

    def _handed_on(
        self, info: ClassInfo, node: FunctionNode, owner: ClassInfo, given: tuple[Given, ...]
    ) -> tuple[Given, ...]:
        """What a constructor hands on to the next one by `super().__init__(...)`."""
        after = [each for each in ancestry(info) if "__init__" in each.methods]
        following = after[after.index(owner) + 1 :] if owner in after else []
        if not following or len(vague_parameters(following[0].methods["__init__"], following[0].module)) < 2:
            return ()
        parent = following[0]
        scope = owner.module.scope_of(node)
        for each in own_nodes(node):
            if (
                isinstance(each, ast.Call)
                and isinstance(each.func, ast.Attribute)
                and each.func.attr == "__init__"
                and isinstance(each.func.value, ast.Call)
                and isinstance(each.func.value.func, ast.Name)
                and each.func.value.func.id == "super"
            ):
                inner = Inference(info, self.depth, self.trail, given)
                more = inner.given_by(each, parent.methods["__init__"], parent.module, scope, bound=True)
                return (*more, *self._handed_on(info, parent.methods["__init__"], parent, more))
        return ()

    def within(self, kind: Instance) -> Inference:
        """The reader for the methods of an object."""
        return Inference(kind.info, self.depth, self.trail, kind.given)

    # -- annotations ---------------------------------------------------------------------------------------------

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
        if isinstance(value, CallValue) and isinstance(value.node, ast.Call) and value.module is not None:
            made = value.node
            if value.func.name == "typing.NewType" and len(made.args) == 2:
                return self.annotation(made.args[1], value.module.scope)
            if value.func.name == "typing.TypeVar":
                bound = next((each.value for each in made.keywords if each.arg == "bound"), None)
                return self.annotation(bound, value.module.scope) if bound is not None else []
        alias = Resolver().alias_of(node, scope) if isinstance(node, (ast.Name, ast.Attribute)) else None
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
                elif isinstance(each.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    found.extend(self._function(each.definition, each.module))
            elif isinstance(each, CallValue):
                scope = each.module.scope if each.module is not None else None
                found.extend(self._made(each.func, each.node, scope))
            elif isinstance(each, Const) and each.value is None:
                continue
            elif isinstance(each, (Const, Items, Mapping, Text, CodeValue, Choice)):
                found.append(Outside("builtins.object"))
        return found

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module | None) -> list[Kind]:
        owner = module.project.module_defining(node) if module is not None else None
        if owner is None:
            return []
        inside = owner.scope_of(node)
        info = owner.classes.get(inside.owner) if inside.owner is not None else None
        # What is nested sees the parameters of the function round it.
        given = self.given if inside.parent is not None and not inside.parent.is_module else ()
        return [Function(key_of(node, owner, info, given=given))]

    def _made(self, func: Symbol, node: ast.AST | None, scope: Scope | None) -> list[Kind]:
        """What calling a known class or function gives."""
        info = class_info(func)
        if info is not None:
            return [self.instance(info, node, scope)]
        if isinstance(func.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self._returned_to(func.definition, func.module, node, scope)
        if func.definition is None and scope is not None and isinstance(node, ast.Call):
            if func.name == "typing.cast" and len(node.args) == 2:
                return self.annotation(node.args[0], scope) or self.of(node.args[1], scope)
            if func.name in _GIVES_BACK and node.args:
                return self.of(node.args[0], scope)
            if func.name in _MAY_BE_OWN:
                return []
            if func.name == "builtins.next" and node.args:
                return self.element(node.args[0], scope)
            if func.name == "builtins.getattr" and (attribute := named_attribute(node)) is not None:
                return self.of(attribute, scope)
        if func.definition is None:
            return [Outside(KNOWLEDGE.result_of(func.name) or func.name)]
        return []

    def _returned_to(
        self, function: FunctionNode, module: Module | None, node: ast.AST | None, scope: Scope | None
    ) -> list[Kind]:
        """What a function returns to one call of it."""
        owner = module.project.module_defining(function) if module is not None else None
        if owner is None or scope is None or not isinstance(node, ast.Call):
            return self.returned(function, module)
        if getattr(function, "returns", None) is not None:
            kinds = self.returned(function, module)
            if kinds:
                return kinds
        bound = owner.scope_of(function).owner is not None and not is_static(function)
        given = self.given_by(node, function, owner, scope, bound=bound)
        return Inference(self.receiver, self.depth, self.trail, given).returned(function, module)

    def returned(self, node: FunctionNode, module: Module | None) -> list[Kind]:
        """What a function of the project returns: by its annotation, else by its `return` statements."""
        if isinstance(node, ast.Lambda) or module is None:
            return []
        owner = module.project.module_defining(node)
        if owner is None:
            return []
        scope = owner.scope_of(node)
        if node.returns is not None:
            if self.receiver is not None and scope.owner is not None and _is_of_its_own(node):
                return [Instance(self.receiver)]
            kinds = self.annotation(node.returns, scope.parent or owner.scope)
            made_of_others = any(isinstance(each, Instance) and _takes_others(each.info) for each in kinds)
            if not made_of_others and (kinds or not _tells_nothing(node.returns)):
                return kinds
            told = kinds
        else:
            told = []
        self.depth += 5
        try:
            if self.depth > MAX_DEPTH:
                return []
            kinds = []
            for each in own_nodes(node):
                if isinstance(each, ast.Return) and each.value is not None:
                    kinds.extend(self.of(each.value, scope))
            if told and not (kinds and all(isinstance(each, Instance) for each in kinds)):
                return told
            return once(kinds)
        finally:
            self.depth -= 5

    def call(self, node: ast.Call, scope: Scope) -> list[Kind]:
        """What the result of a call may be an instance of."""
        func = node.func
        if isinstance(func, ast.Name) and func.id == "super" and len(node.args) in {0, 2}:
            owner = class_round(scope)
            if owner is not None and node.args:
                # `super(A, self)` in a method of A; of another class it begins elsewhere.
                named = evaluate(node.args[0], scope)
                owner = owner if isinstance(named, Symbol) and named.definition is owner.node else None
            if owner is not None:
                return [Super(owner, self.receiver or owner)]
        if isinstance(func, ast.Attribute):
            base = self.of(func.value, scope)
            if func.attr in _TAKES_ITEM and not any(isinstance(each, (Instance, ClassObject, Super)) for each in base):
                items = self.element(func.value, scope)
                if any_own(items):
                    return once([*items, *(kind for each in node.args[1:2] for kind in self.of(each, scope))])
            if func.attr in {"enter_context", "enter_async_context"} and node.args and not any_own(base):
                return self.entered(node.args[0], scope)
            found: list[Kind] = []
            for kind in base:
                found.extend(self.result(kind, func.attr))
            if found or base:
                return once(found)
        if isinstance(func, ast.Name):
            value = evaluate(func, scope)
            found = []
            for each in options(value):
                if isinstance(each, Symbol):
                    found.extend(self._made(each, node, scope))
                elif isinstance(each, CallValue) and each.func.name == "functools.partial":
                    for one in options(each.args[0]) if each.args else ():
                        if isinstance(one, Symbol):
                            found.extend(self._made(one, node, scope))
                elif isinstance(each, CallValue) and each.func.name == "typing.NewType" and node.args:
                    found.extend(self.of(node.args[0], scope))
            if found:
                return once(found)
            return once(self._called(self.name(func, scope), node, scope))
        if isinstance(func, (ast.Subscript, ast.Call, ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.Lambda)):
            found = self._called(self.of(func, scope), node, scope)
            if found:
                return once(found)
        if is_local(func, scope):
            return []
        return once(self._value(evaluate(node, scope)))

    def _called(self, kinds: list[Kind], node: ast.Call, scope: Scope) -> list[Kind]:
        """What calling something of some kinds gives."""
        found: list[Kind] = []
        for kind in kinds:
            if isinstance(kind, ClassObject):
                found.append(self.instance(kind.info, node, scope))
            elif isinstance(kind, Instance):
                found.extend(self.result(kind, "__call__"))
            elif isinstance(kind, Function):
                module = scope.module.project.module_at(kind.key.path)
                function = module.function_at(kind.key.line, kind.key.column) if module is not None else None
                if function is not None and module is not None:
                    receiver = module.project.class_at(kind.key.receiver) if kind.key.receiver else None
                    inner = Inference(receiver, self.depth, self.trail, kind.key.given)
                    found.extend(inner.returned(function, module))
            elif isinstance(kind, Outside) and kind.name:
                found.append(Outside())
        return found

    def result(self, kind: Kind, name: str) -> list[Kind]:
        """What a method gives."""
        if isinstance(kind, Super):
            for parent in list(ancestry(kind.owner))[1:]:
                method = parent.methods.get(name)
                if method is not None:
                    return Inference(kind.receiver, self.depth, self.trail).returned(method, parent.module)
            return [Outside()]
        if isinstance(kind, Function):
            return []
        if isinstance(kind, (Instance, ClassObject)):
            method_found = method_of(kind.info, name)
            if method_found is not None:
                inner = (
                    self.within(kind) if isinstance(kind, Instance) else Inference(kind.info, self.depth, self.trail)
                )
                return inner.returned(method_found[0], method_found[1].module)
            nested = kind.info.attributes.get(name)
            if nested and nested[-1].kind == "class" and isinstance(nested[-1].node, ast.ClassDef):
                info = kind.info.module.classes.get(nested[-1].node)
                return [Instance(info, exact=True)] if info is not None else []
            for held in self.attribute_of(kind, name):
                if isinstance(held, ClassObject):
                    return [Instance(held.info, exact=True)]
                if isinstance(held, Outside):
                    return [Outside()]
            return [Outside()] if outside_bases(kind.info) else []
        if kind.name:
            qualified = f"{kind.name}.{name}"
            if qualified in _MAY_BE_OWN:
                return []
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
            if isinstance(kind, (Super, Function)):
                return []
            if isinstance(kind, Outside):
                if not kind.name:
                    return [Outside()]
                qualified = f"{kind.name}.{name}"
                return [Outside(KNOWLEDGE.result_of(qualified) or (qualified if _is_module(kind.name) else ""))]
            for info in ancestry(kind.info):
                found = self._own_attribute(info, name, kind)
                if found is not None:
                    return found
            return [Outside()] if any(outside_bases(kind.info)) else []
        finally:
            self.depth -= 1

    def _own_attribute(self, info: ClassInfo, name: str, kind: Instance | ClassObject) -> list[Kind] | None:
        given = kind.given if isinstance(kind, Instance) else ()
        inner = Inference(kind.info, self.depth, self.trail, given)
        for binding in info.attributes.get(name, ()):
            if binding.kind == "annotated" and binding.annotation is not None:
                for each in given:
                    if each.parameter == _field(info, name):
                        return kinds_of(each.what, info.module.project)
                return inner.annotation(binding.annotation, info.body_scope)
            if binding.kind == "assign" and binding.value is not None:
                return inner.of(binding.value, info.body_scope)
            if binding.kind == "function" and isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if is_property(binding.node):
                    return inner.returned(binding.node, info.module)
                return [Function(key_of(binding.node, info.module, kind.info, given=given))]
            if binding.kind == "class" and isinstance(binding.node, ast.ClassDef):
                nested = info.module.classes.get(binding.node)
                return [ClassObject(nested)] if nested is not None else []
        kinds: list[Kind] = []
        hit = False
        for annotation, value, scope in info.instance_attributes.get(name, ()):
            hit = True
            if annotation is not None and (noted := inner.annotation(annotation, scope)):
                return noted
            if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
                kinds.extend(inner.of(value, scope))
        return once(kinds) if hit else None

    def _item(self, node: ast.Subscript, scope: Scope) -> list[Kind]:
        """What `container[key]` is."""
        known = evaluate(node, scope)
        found = self._value(known)
        if any_own(found):
            return found
        kinds: list[Kind] = []
        for kind in self.of(node.value, scope):
            if isinstance(kind, Instance) and method_of(kind.info, "__getitem__") is not None:
                kinds.extend(self.result(kind, "__getitem__"))
        return kinds or self.element(node.value, scope) or found


def _takes_others(info: ClassInfo) -> bool:
    """Whether what the objects of a class are made with says more than its annotations."""
    key = ("takes others", info.node)
    known: bool | None = info.module.memo.get(key)
    if known is None:
        made = method_of(info, "__init__")
        if made is not None:
            known = len(vague_parameters(made[0], made[1].module)) > 1
        else:
            known = any(each.node.decorator_list for each in ancestry(info)) and any(
                names_open_class(annotation, owner.body_scope) for _, owner, annotation in fields(info)
            )
        info.module.memo[key] = known
    return known


def _field(info: ClassInfo, name: str) -> Parameter:
    """An attribute that the constructor takes, as a parameter of its class."""
    return Parameter(info.module.path, info.node.lineno, info.node.col_offset, name)


def _is_module(name: str) -> bool:
    return bool(name) and name.rpartition(".")[2][:1].islower() and not name.startswith("builtins.")


def named_attribute(node: ast.Call) -> ast.Attribute | None:
    """The attribute that `getattr(value, "name")` reads."""
    if len(node.args) < 2 or not isinstance(node.args[1], ast.Constant) or not isinstance(node.args[1].value, str):
        return None
    return ast.copy_location(ast.Attribute(node.args[0], node.args[1].value, ast.Load()), node)


def is_static(node: FunctionNode) -> bool:
    """Whether a method takes no object."""
    return not isinstance(node, ast.Lambda) and any(
        isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list
    )


def _is_named_tuple(base: ast.expr) -> bool:
    return "NamedTuple" in {getattr(base, "id", ""), getattr(base, "attr", "")}


def _is_of_its_own(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method returns what it is called on, or an object of that class: `def make(cls: type[T]) -> T`."""
    first = next(iter((*node.args.posonlyargs, *node.args.args)), None)
    annotation = first.annotation if first is not None else None
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.value, (ast.Name, ast.Attribute)):
        head = annotation.value.id if isinstance(annotation.value, ast.Name) else annotation.value.attr
        annotation = annotation.slice if head in {"type", "Type"} else None
    if isinstance(annotation, ast.Name) and isinstance(node.returns, ast.Name):
        return annotation.id == node.returns.id
    return False


def _tells_nothing(node: ast.expr) -> bool:
    """Whether an annotation speaks of a function, and so not of what it does, or of anything at all."""
    target = node.value if isinstance(node, ast.Subscript) else node
    name = target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")
    return name in {"Callable", "Any", "object"}
