"""Which functions an expression is, called or handed over."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, TypeVar

from mcpcore_lint.dataclasses import cached_property
from mcpcore_lint.flow.effects import Bindings, Key, Parameter, Throw, key_of
from mcpcore_lint.flow.facts.choices import ChoiceReader
from mcpcore_lint.flow.facts.constants import constants_given, flags_given
from mcpcore_lint.flow.facts.error_args import labelled, labels_given
from mcpcore_lint.flow.facts.spelling import is_abstract, made_of_method, spelled
from mcpcore_lint.model import (
    CallValue,
    ErrorSite,
    Symbol,
    Unknown,
    Value,
    options,
)
from mcpcore_lint.semantics.call_args import anew, besides, parameter_of
from mcpcore_lint.semantics.elements import any_own
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.subtypes import implementers, is_protocol, overrides, subclasses
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
)
from mcpcore_lint.semantics.types import is_static, named_attribute
from mcpcore_lint.syntax.parse import BODIES, all_parameters

if TYPE_CHECKING:
    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.syntax.module import ClassInfo, Module
    from mcpcore_lint.syntax.scopes import Binding


K = TypeVar("K")
_FUNCTIONS: Final = frozenset({ast.Name, ast.Attribute, ast.Lambda, ast.Call, ast.IfExp})
"""Kinds of expressions that can be a function."""
LEAVES: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
"""Statements after which the rest of a block is not reached."""


class CalleeReader(ChoiceReader):
    """Finds the functions that are called, and those that are handed over."""

    def _parameter(self, func: ast.expr, *, raised: bool = False) -> Parameter | None:
        """The parameter that is called or raised, of this function or of one round it."""
        if not isinstance(func, ast.Name):
            return None
        return self._parameter_named(func.id, raised=raised)

    def _parameter_named(self, name: str, *, raised: bool = False) -> Parameter | None:
        found = self.scope.lookup(name)
        if found is None:
            return None
        where, bindings = found
        if where.is_module or any(each.kind != "parameter" for each in bindings):
            return None
        for each in bindings:
            kinds = self.inference.annotation(each.annotation, where.parent or where) if each.annotation else []
            if kinds and not raised:
                return None
        node = where.node
        assert not isinstance(node, ast.Module)
        if where.owner is not None and bindings[0].node is next(iter(all_parameters(node.args)), None):
            return None
        if not raised and any_own(self.inference.given_to(name, where)):
            return None
        return Parameter(self.module.path, node.lineno, node.col_offset, name)

    def _targets(self, node: ast.Call) -> tuple[list[Key], list[str]]:
        """The functions of the project that a call may run, and the names of those outside it; found out once."""
        found = self._targets_of.get(node)
        if found is None:
            keys, outside = self._callable(node.func)
            if keys:
                keys = [self._given_to(each, node) for each in keys]
            found = self._targets_of[node] = keys, outside
        return found

    def targets(self, node: ast.Call) -> list[Key]:
        """The functions of the project that a call may run."""
        return self._targets(node)[0]

    def _given_to(self, key: Key, node: ast.Call) -> Key:
        """A function with what a call gives to those of its parameters that say nothing."""
        located = self.graph._find(key)  # noqa: SLF001
        if located is None:
            return key
        function, module = located
        bound = module.scope_of(function).owner is not None and not is_static(function)
        given = self.inference.given_by(node, function, module, self.scope, bound=bound)
        given = (*given, *constants_given(node, function, module, self.constants, bound=bound))
        if names := labelled(function, module, self.graph.hierarchy):
            given = labels_given(node, function, module, (self.scope, self.labels), names, given, bound=bound)
        flags = flags_given(node, function, module, self.flags, bound=bound)
        if not given and not flags:
            return key
        told = anew(key.given, given) if given else key.given
        if flags:
            own = {each.parameter for each in given}
            told = besides(told, tuple(each for each in flags if each.parameter not in own))
        # A function that calls itself with ever other things would have no end of them.
        return key._replace(given=() if function is self.node and told != self.given else told)

    def _callable(self, func: ast.expr) -> tuple[list[Key], list[str]]:
        keys: list[Key] = []
        outside: list[str] = []
        if isinstance(func, ast.Lambda):
            return [self._nested(func)], []
        if isinstance(func, (ast.Name, ast.Attribute)):
            if type(func) is ast.Name and func.id in self.builtins:
                return [], [f"builtins.{func.id}"]
            value = self.builder.callee(func, self.scope)
            if value is not None:
                for each in options(value):
                    inherited = self._inherited(func, each) if isinstance(func, ast.Attribute) else None
                    if inherited is not None:
                        keys.append(inherited)
                    else:
                        self._from_value(each, keys, outside)
                if keys or outside:
                    return unique(keys), unique(outside)
            func = self.builder.renamed(func)
        if isinstance(func, ast.Attribute):
            for kind in self.kinds(func.value):
                self._from_kind(kind, func.attr, keys, outside)
            if not keys and not outside and func.attr in BUILTIN_METHODS:
                outside.append(f"builtins.object.{func.attr}")
        elif isinstance(func, ast.Name):
            for kind in self.inference.name(func, self.scope):
                self._called_kind(kind, keys, outside)
            alias = self._local_function(func)
            if alias is not None:
                keys.append(alias)
        elif isinstance(func, ast.Call):
            if isinstance(func.func, ast.Name) and func.func.id == "getattr" and self.scope.lookup("getattr") is None:
                attribute = named_attribute(func)
                return self._callable(attribute) if attribute is not None else ([], [])
            value = evaluate(func, self.scope)
            for each in options(value):
                if isinstance(each, CallValue) and each.func.name == "functools.partial" and each.args:
                    self._from_value(each.args[0], keys, outside)
            if not keys and not outside:
                for kind in self.inference.of(func, self.scope):
                    self._called_kind(kind, keys, outside)
        elif isinstance(func, (ast.IfExp, ast.BoolOp)):
            for part in (func.body, func.orelse) if isinstance(func, ast.IfExp) else tuple(func.values):
                more, other = self._callable(part)
                keys.extend(more)
                outside.extend(other)
        elif isinstance(func, ast.NamedExpr):
            return self._callable(func.value)
        elif isinstance(func, ast.Subscript):
            for kind in self.inference.of(func, self.scope):
                if not isinstance(kind, Outside):
                    self._called_kind(kind, keys, outside)
        if not keys and not outside and isinstance(func, (ast.Subscript, ast.Name, ast.Call)):
            for each in self._values(func, self.scope) or ():
                self._from_value(each, keys, outside)
        return unique(keys), unique(outside)

    def _inherited(self, func: ast.Attribute, value: Value) -> Key | None:
        """A class method as called on a subclass of the class that defines it."""
        method = value.definition if isinstance(value, Symbol) else None
        if not isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) or not method.decorator_list:
            return None
        if not any(spelled(each) == "classmethod" for each in method.decorator_list):
            return None
        named = evaluate(func.value, self.scope)
        info = class_info(named) if isinstance(named, Symbol) else None
        found = method_of(info, func.attr) if info is not None else None
        if info is None or found is None or found[0] is not method or found[1] is info:
            return None
        return key_of(method, found[1].module, info)

    def _local_function(self, func: ast.Name) -> Key | None:
        """`handler = lambda: ...` or `f = self.method`, called by the name."""
        found = self.scope.lookup(func.id)
        if found is None:
            return None
        where, bindings = found
        if len(bindings) == 1 and bindings[0].kind == "assign":
            value = bindings[0].value
            if isinstance(value, ast.Lambda):
                return self._nested(value) if where.node is self.node else key_of(value, where.module, None)
            if isinstance(value, ast.Attribute) and where.node is self.node:
                keys, _ = self._callable(value)
                return keys[0] if len(keys) == 1 else None
        return None

    def _nested(self, node: ast.Lambda) -> Key:
        """A lambda of this function, with what it sees of its parameters."""
        self.module.note_lambda(node, self.module.scope_of(self.builder.function_of.get(node, self.node)))
        return key_of(node, self.module, None, given=self.given)

    def kinds(self, node: ast.expr) -> list[Kind]:
        """What an expression may be an instance of, where it stands."""
        if isinstance(node, ast.Name) and node.id in self._asked_about:
            narrowed = self._narrowed_to(node)
            if narrowed:
                return narrowed
        return self.inference.of(node, self.scope)

    @cached_property
    def _asked_about(self) -> set[str]:
        """The names that `isinstance` is asked about."""
        if not self.module.source.has("isinstance"):
            return set()
        return {
            each.args[0].id
            for each in self.builder.calls
            if isinstance(each.func, ast.Name)
            and each.func.id == "isinstance"
            and len(each.args) == 2
            and isinstance(each.args[0], ast.Name)
        }

    def _narrowed_to(self, node: ast.Name) -> list[Kind]:
        """What `isinstance` round an expression, or before it, leaves a name to be."""
        current: ast.AST = node
        while (parent := self.parents.get(current)) is not None and current is not self.node:
            tests: list[tuple[ast.expr, bool]] = []
            if isinstance(parent, (ast.If, ast.While)) and current is not parent.test:
                tests.append((parent.test, current in parent.body))
            elif isinstance(parent, ast.IfExp) and current is not parent.test:
                tests.append((parent.test, current is parent.body))
            elif isinstance(parent, ast.BoolOp):
                at = next((index for index, each in enumerate(parent.values) if each is current), 0)
                before = parent.values[:at]
                tests.extend((each, isinstance(parent.op, ast.And)) for each in before)
            if isinstance(current, ast.stmt):
                for each in _before(current, parent):
                    if isinstance(each, ast.Assert):
                        tests.append((each.test, True))
                    elif isinstance(each, ast.If) and not each.orelse and isinstance(each.body[-1], LEAVES):
                        tests.append((each.test, False))
            for test, holds in tests:
                classes = _asked(test, node.id, holds=holds)
                if classes is not None:
                    return self._instances(classes)
            current = parent
        return []

    def _instances(self, classes: ast.expr) -> list[Kind]:
        return [
            Instance(kind.info)
            for each in (classes.elts if isinstance(classes, ast.Tuple) else [classes])
            for kind in self.inference.of(each, self.scope)
            if isinstance(kind, ClassObject)
        ]

    def methods(self, kind: Instance | ClassObject, name: str) -> list[Key] | None:
        """A method, as the object has it, and as the subclasses do that its annotation leaves open.

        None where there is no such method, nothing where it has no body that can be seen.
        """
        found = method_of(kind.info, name)
        if found is None:
            return None
        given = kind.given if isinstance(kind, Instance) else ()
        keys: list[Key] = []
        if not is_abstract(*found):
            keys.append(key_of(found[0], found[1].module, kind.info, given=given))
            if any(spelled(each).endswith("singledispatchmethod") for each in found[0].decorator_list):
                owner = found[1].module
                several = [one for one in _registered(found[0], owner) if owner.functions[one].owner is found[1].node]
                keys += [key_of(one, owner, kind.info, given=given) for one in several]
        if isinstance(kind, Instance) and not kind.exact:
            find = implementers if is_protocol(kind.info) else subclasses
            for each in find(kind.info, self.module):
                other = method_of(each, name)
                if other is not None and not is_abstract(*other) and (not keys or overrides(each, kind.info)):
                    keys.append(key_of(other[0], other[1].module, each))
        return keys

    def _from_value(self, value: object, keys: list[Key], outside: list[str]) -> None:
        if isinstance(value, CallValue) and value.func.name == "functools.partial" and value.args:
            for each in options(value.args[0]):
                self._from_value(each, keys, outside)
            return
        if isinstance(value, CallValue) and isinstance(value.func.definition, ast.ClassDef):
            info = class_info(value.func)
            if info is not None:
                self._called_kind(self.inference.instance(info, value.node, self.scope), keys, outside)
            return
        if not isinstance(value, Symbol):
            return
        definition = value.definition
        if isinstance(definition, ast.Lambda):
            assert value.module is not None
            inside = value.module is self.module and definition in self.parents
            keys.append(self._nested(definition) if inside else key_of(definition, value.module, None))
        elif isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            owner = self.module.project.module_defining(definition)
            if owner is not None:
                scope = owner.scope_of(definition)
                receiver = owner.classes.get(scope.owner) if scope.owner is not None else None
                if receiver is not None and is_abstract(definition, receiver):
                    return
                nested = scope.parent is not None and not scope.parent.is_module and owner is self.module
                keys.append(key_of(definition, owner, receiver, given=self.given if nested else ()))
                if any(spelled(each).endswith("singledispatch") for each in definition.decorator_list):
                    keys.extend(key_of(each, owner, None) for each in _registered(definition, owner))
        elif isinstance(definition, ast.ClassDef):
            info = class_info(value)
            if info is not None:
                self._constructed(info, keys, outside)
        elif definition is None:
            outside.append(value.name)

    def _constructed(self, info: ClassInfo, keys: list[Key], outside: list[str]) -> None:
        hit = False
        for each in ancestry(info):
            meta = next((one.value for one in each.node.keywords if one.arg == "metaclass"), None)
            for kind in self.inference.of(meta, each.scope) if meta is not None else ():
                found = method_of(kind.info, "__call__") if isinstance(kind, ClassObject) else None
                if found is not None and isinstance(kind, ClassObject):
                    keys.append(key_of(found[0], found[1].module, kind.info))
                    hit = True
        for name in ("__new__", "__init__", "__post_init__"):
            found = method_of(info, name)
            if found is not None:
                keys.append(key_of(found[0], found[1].module, info))
                hit = True
        if not hit:
            outside.extend(each for each in outside_bases(info) if each)
            if not outside:
                outside.append("builtins.object")

    def _called_kind(self, kind: Kind, keys: list[Key], outside: list[str]) -> None:
        if isinstance(kind, Instance):
            keys.extend(self.methods(kind, "__call__") or ())
        elif isinstance(kind, Function):
            keys.append(kind.key)
        elif isinstance(kind, ClassObject):
            self._constructed(kind.info, keys, outside)
        elif isinstance(kind, Outside):
            outside.append(kind.name or "builtins.object")

    def _from_kind(self, kind: Kind, attr: str, keys: list[Key], outside: list[str]) -> None:
        if isinstance(kind, Outside):
            outside.append(f"{kind.name}.{attr}" if kind.name else "builtins.object")
            return
        if isinstance(kind, Super):
            for parent in self._after(kind):
                method = parent.methods.get(attr)
                if method is not None:
                    if not is_abstract(method, parent):
                        keys.append(key_of(method, parent.module, kind.receiver))
                    return
            outside.append(f"builtins.object.{attr}")
            return
        if isinstance(kind, Function):
            outside.append(f"builtins.object.{attr}")
            return
        found = self.methods(kind, attr)
        if found is not None:
            keys.extend(found)
            return
        for each in ancestry(kind.info):
            for annotation, value, scope in each.instance_attributes.get(attr, ()):
                del annotation
                if isinstance(value, ast.Name):
                    resolved = evaluate(value, scope)
                    for one in options(resolved):
                        self._from_value(one, keys, outside)
            for binding in each.attributes.get(attr, ()):
                if (method := made_of_method(binding, each, "partialmethod")) is not None:
                    keys.append(key_of(method, each.module, kind.info))
                if binding.kind == "class" and isinstance(binding.node, ast.ClassDef):
                    info = each.module.classes.get(binding.node)
                    if info is not None:
                        self._constructed(info, keys, outside)
        for inner in self.inference.attribute_of(kind, attr):
            self._called_kind(inner, keys, outside)
        if not keys and not outside:
            outside.extend(
                f"{each}.{attr}" for each in outside_bases(kind.info) if each and not each.startswith("typing.")
            )

    @staticmethod
    def _after(kind: Super) -> list[ClassInfo]:
        """The classes that come after `owner` in the order in which the receiver's methods are looked up."""
        order = list(ancestry(kind.receiver))
        for index, each in enumerate(order):
            if each is kind.owner:
                return order[index + 1 :]
        return list(ancestry(kind.owner))[1:]

    def _bindings(self, node: ast.Call, targets: list[Key]) -> Bindings:
        """Functions and errors that are handed over: for each target, its parameter to what it gets."""
        handed: list[tuple[int | str, Key | Parameter | Throw]] = []
        for index, each in enumerate(node.args):
            handed.extend((index, value) for value in self._handed(each))
        for keyword in node.keywords:
            if keyword.arg is not None:
                handed.extend((keyword.arg, value) for value in self._handed(keyword.value))
        found: list[tuple[Parameter, Key | Parameter | Throw]] = []
        for target in targets:
            located = self.graph._find(target)  # noqa: SLF001
            if located is None:
                continue
            function, module = located
            args = function.args
            if not handed and not args.defaults and not args.kw_defaults:
                continue
            positional = [*args.posonlyargs, *args.args]
            scope = module.scope_of(function)
            if scope.owner is not None and not is_static(function):
                positional = positional[1:]
            for place, value in handed:
                name: str | None = None
                if isinstance(place, str):
                    name = place
                elif place < len(positional):
                    name = positional[place].arg
                if name is not None:
                    found.append((parameter_of(function, module, name), value))
            given = {each.arg for each in positional[: len(node.args)]} | {each.arg for each in node.keywords}
            if None not in given and not any(isinstance(each, ast.Starred) for each in node.args):
                for name, default in _defaults(function):
                    if name not in given:
                        parameter = parameter_of(function, module, name)
                        found.extend((parameter, value) for value in self._by_default(default, module, function))
        return tuple(found)

    def _handed(self, node: ast.expr) -> list[Key | Parameter | Throw]:
        """The functions and the errors that an argument is."""
        if type(node) is ast.Constant or type(node) is ast.JoinedStr:
            return []
        found: list[Key | Parameter | Throw] = [*self._functions_in(node)]
        leaves = self.builder.leaves(node, self.scope) if isinstance(node, (ast.Name, ast.IfExp)) else [node]
        for leaf in leaves:
            error = self._error_at.get(leaf)
            if error is not None:
                found.append(self._throw(error, leaf))
        if not found and isinstance(node, (ast.Name, ast.Attribute)) and not all(map(self._is_value, leaves)):
            value = self.builder.callee(node, self.scope)
            found.extend(self._throw(each, node) for each in self._made_by(value, node))
        return found

    def _made_by(self, value: Value | None, node: ast.expr) -> list[ErrorSite]:
        """The errors that a class or a factory makes, which is given by name."""
        found: list[ErrorSite] = []
        for each in options(value) if value is not None else ():
            if isinstance(each, Symbol) and not isinstance(each.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
                error = self.builder.error_made_by(each, node)
                if error is not None:
                    found.append(error)
        return found

    def _by_default(self, node: ast.expr, module: Module, function: FunctionNode) -> list[Key | Throw]:
        """The functions and the errors that a parameter is where nothing is given."""
        if isinstance(node, ast.Lambda):
            return [key_of(node, module, None)]
        value = evaluate(node, module.scope_of(function).parent or module.scope)
        keys: list[Key] = []
        for each in options(value):
            if isinstance(each, Symbol) and isinstance(each.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._from_value(each, keys, [])
        return [*keys, *(self._throw(each, node) for each in self._made_by(value, node))]

    def _functions_in(self, node: ast.expr) -> list[Key | Parameter]:
        """The functions that an argument is."""
        if isinstance(node, ast.Name):
            known = self._functions_named.get(node.id)
            if known is None:
                known = self._functions_named[node.id] = self._functions_by_name(node)
            return known
        if isinstance(node, ast.Attribute):
            return self._functions_at(node)
        if isinstance(node, ast.Lambda):
            return [self._nested(node)]
        if isinstance(node, ast.Call) and node.args and self._is_partial(node.func):
            return self._functions_in(node.args[0])
        return []

    def _functions_by_name(self, node: ast.Name) -> list[Key | Parameter]:
        bound = self.scope.lookup(node.id)
        if bound is None:
            if not self.module.star_imports:
                return []
        elif not any(self._may_be_function(each) for each in bound[1]):
            parameter = self._parameter_named(node.id) if bound[1][0].kind == "parameter" else None
            if parameter is not None:
                return [parameter]
            kinds = self.inference.given_to(node.id, bound[0])
            return [each.key for each in kinds if isinstance(each, Function)]
        value = evaluate(node, self.scope)
        if not isinstance(value, Unknown):
            return self._defined(value)
        local = self._local_function(node)
        return [local] if local is not None else []

    def _may_be_function(self, binding: Binding) -> bool:
        """Whether a name is bound in a way that can make it a function: cheaper than finding out what it is."""
        if binding.kind != "assign":
            return binding.kind in {"function", "import"}
        value = binding.value
        return type(value) in _FUNCTIONS and not self._is_value(value)

    def _is_value(self, node: ast.expr | None) -> bool:
        """Whether an expression is what a builtin makes: neither a function of the project nor a class of errors."""
        return type(node) is ast.Call and type(node.func) is ast.Name and node.func.id in self.builtins

    def _functions_at(self, node: ast.Attribute) -> list[Key | Parameter]:
        value = evaluate(node, self.scope)
        if not isinstance(value, Unknown):
            return self._defined(value)
        found: list[Key | Parameter] = []
        for kind in self.kinds(node.value):
            if isinstance(kind, (Instance, ClassObject)):
                method = method_of(kind.info, node.attr)
                if method is not None and not is_property(method[0]):
                    found.extend(self.methods(kind, node.attr) or ())
        return found

    def _defined(self, value: Value) -> list[Key | Parameter]:
        """The functions of the project among what an expression is."""
        keys: list[Key] = []
        for each in options(value):
            if isinstance(each, Symbol) and isinstance(each.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._from_value(each, keys, [])
        return [*keys]

    def _is_partial(self, func: ast.expr) -> bool:
        """Whether a callee is `functools.partial`."""
        value = self.builder.callee(func, self.scope)
        return isinstance(value, Symbol) and value.name == "functools.partial"


def _defaults(node: FunctionNode) -> list[tuple[str, ast.expr]]:
    """The parameters whose default may be a function or an error, with it."""
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    pairs = [
        *zip((each.arg for each in positional[len(positional) - len(args.defaults) :]), args.defaults, strict=True),
        *zip((each.arg for each in args.kwonlyargs), args.kw_defaults, strict=True),
    ]
    return [(name, each) for name, each in pairs if isinstance(each, (ast.Name, ast.Attribute, ast.Lambda))]


def _before(statement: ast.stmt, parent: ast.AST) -> list[ast.stmt]:
    """The statements before one in its block."""
    for name in BODIES:
        block = getattr(parent, name, None)
        if isinstance(block, list) and statement in block:
            return block[: block.index(statement)]
    return []


def _asked(test: ast.expr, name: str, *, holds: bool) -> ast.expr | None:
    """The classes that a name is an instance of where a condition holds, or does not."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if holds else ast.Or):
        return next((found for each in test.values if (found := _asked(each, name, holds=holds)) is not None), None)
    if (
        holds
        and isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and test.func.id == "isinstance"
        and len(test.args) == 2
        and isinstance(test.args[0], ast.Name)
        and test.args[0].id == name
    ):
        return test.args[1]
    return None


def _registered(node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> list[FunctionNode]:
    """The functions that take over for some classes: `@show.register`."""
    word = f"{node.name}.register"
    return [
        each
        for each in module.functions
        if not isinstance(each, ast.Lambda) and any(spelled(one).startswith(word) for one in each.decorator_list)
    ]


def unique(items: list[K]) -> list[K]:
    """Each item once, in order."""
    if len(items) < 2:  # as most are
        return items
    return list(dict.fromkeys(items))
