"""The code and reason that a subclass of `CodedError` passes to `CodedError.__init__` through its constructors."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import (
    CallValue,
    CodeValue,
    Const,
    Items,
    Mapping,
    Missing,
    Symbol,
    Unknown,
    Value,
    options,
    string,
)
from mcpcore_lint.semantics.choices import choice
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.type_model import ancestry, outside_bases
from mcpcore_lint.syntax.parse import own_nodes

if TYPE_CHECKING:
    from mcpcore_lint.syntax.module import ClassInfo, Module
    from mcpcore_lint.syntax.scopes import Scope

CODED_ERROR: Final = "mcpcore.CodedError"
_HARMLESS: Final = frozenset({CODED_ERROR, "abc.ABC", "typing.Generic", "builtins.object", "builtins.Exception"})
"""Base classes outside the project whose constructors do not change the code and the reason."""
MAX_LEVELS: Final = 10


def coded_calls(value: CallValue, info: ClassInfo) -> list[CallValue] | None:
    """The calls of `CodedError.__init__` when an error of the class is created; None if they are unknown.

    Args:
        value: The call that creates the error.
        info: Its class.
    """
    order = list(ancestry(info))
    if any(name not in _HARMLESS for name in outside_bases(info)):
        return None
    if any(cls.node.decorator_list or cls.node.keywords or "__new__" in cls.attributes for cls in order):
        return None
    initializers = [cls for cls in order if "__init__" in cls.attributes]
    if any(len(cls.attributes["__init__"]) != 1 or "__init__" not in cls.methods for cls in initializers):
        return None
    if len(initializers) > 1 and any(len(cls.node.bases) > 1 for cls in order):
        return None  # with several bases, `super()` depends on the class of the error
    return _through(value, initializers, order)


def sets_itself(info: ClassInfo, name: str) -> bool:
    """Whether a class of the project sets an attribute of the error itself, or computes it."""
    return any(
        name in cls.instance_attributes or any(binding.kind == "function" for binding in cls.attributes.get(name, ()))
        for cls in ancestry(info)
    )


def _through(value: CallValue, initializers: list[ClassInfo], order: list[ClassInfo]) -> list[CallValue] | None:
    if not initializers:
        return [value]
    if len(order) > MAX_LEVELS:
        return None
    frame = _Frame(value, initializers[0], order)
    if frame.names is None:
        return None
    calls: list[CallValue] = []
    for node in own_nodes(frame.node):
        if isinstance(node, ast.Call) and (target := frame.initialises(node)) is not None:
            index = order.index(target)
            if index <= order.index(initializers[0]):
                return None
            following = [cls for cls in initializers[1:] if order.index(cls) >= index]
            inherited = _through(frame.call(node), following, order)
            if inherited is None:
                return None
            calls.extend(inherited)
        elif isinstance(node, ast.Call) and frame.initialises_coded(node):
            calls.append(frame.call(node))
    return calls or None


class _Frame:
    """One call of an `__init__`, with the values of its parameters."""

    def __init__(self, value: CallValue, owner: ClassInfo, order: list[ClassInfo]) -> None:
        self.owner = owner
        self.order = order
        self.node = owner.methods["__init__"]
        self.module: Module = owner.module
        self.scope: Scope = self.module.scope_of(self.node)
        args = self.node.args
        positional = [*args.posonlyargs, *args.args]
        self.me = positional[0].arg if positional else ""
        self.names: dict[str, Value] | None = None
        self.rest: tuple[tuple[Value, ...], bool] = ((), True)
        self.others: tuple[tuple[tuple[str, Value], ...], bool] = ((), True)
        if not self.me or self.node.decorator_list:
            return
        names: dict[str, Value] = {}
        positional = positional[1:]
        defaults = dict(zip((arg.arg for arg in reversed(positional)), reversed(args.defaults), strict=False))
        defaults.update(
            (arg.arg, default)
            for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
            if default is not None
        )
        keywords = dict(value.keywords)
        outside = self.scope.parent or self.module.scope
        for index, arg in enumerate([*positional, *args.kwonlyargs]):
            if index < len(positional) and index < len(value.args):
                names[arg.arg] = value.args[index]
            elif arg.arg in keywords:
                names[arg.arg] = keywords[arg.arg]
            elif value.complete and arg.arg in defaults:
                names[arg.arg] = evaluate(defaults[arg.arg], outside)
            else:
                names[arg.arg] = Unknown(value.node, value.module, "an argument that is not seen")
        self.rest = (value.args[len(positional) :], value.complete)
        declared = {arg.arg for arg in [*args.args[1:], *args.kwonlyargs]}
        self.others = (tuple(keyword for keyword in value.keywords if keyword[0] not in declared), value.complete)
        self.vararg = args.vararg.arg if args.vararg else ""
        self.kwarg = args.kwarg.arg if args.kwarg else ""
        self.names = names

    # -- the next constructor ------------------------------------------------------------------------------------

    def initialises(self, call: ast.Call) -> ClassInfo | None:
        """The class of the project where `super().__init__(...)`, or the like, starts to look for `__init__`."""
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr != "__init__":
            return None
        if self._is_super(func.value):
            index = self.order.index(self.owner) + 1
            return self.order[index] if index < len(self.order) else None
        info = self._named(func.value)
        return info if self._passes_itself(call) else None

    def initialises_coded(self, call: ast.Call) -> bool:
        """Whether a call is one of `CodedError.__init__`."""
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr != "__init__":
            return False
        if self._is_super(func.value):
            return self.order.index(self.owner) + 1 >= len(self.order)
        value = evaluate(func.value, self.scope)
        return isinstance(value, Symbol) and value.name == CODED_ERROR and self._passes_itself(call)

    def _is_super(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "super":
            return False
        return not node.args or (len(node.args) == 2 and self._named(node.args[0]) is self.owner)

    def _passes_itself(self, call: ast.Call) -> bool:
        return bool(call.args) and isinstance(call.args[0], ast.Name) and call.args[0].id == self.me

    def _named(self, node: ast.expr) -> ClassInfo | None:
        value = evaluate(node, self.scope)
        return next((cls for cls in self.order if isinstance(value, Symbol) and value.definition is cls.node), None)

    # -- its arguments -------------------------------------------------------------------------------------------

    def call(self, node: ast.Call) -> CallValue:
        """A call in the constructor, with the values of its arguments for this error."""
        args: list[Value] = []
        keywords: list[tuple[str, Value]] = []
        complete = True
        arguments = node.args
        if not (isinstance(node.func, ast.Attribute) and self._is_super(node.func.value)):
            arguments = arguments[1:]
        for arg in arguments:
            if not isinstance(arg, ast.Starred):
                args.append(self.value(arg))
            elif isinstance(arg.value, ast.Name) and arg.value.id == self.vararg and self._is_parameter(self.vararg):
                args.extend(self.rest[0])
                complete = complete and self.rest[1]
            else:
                complete = False
            if not complete:
                break
        for keyword in node.keywords:
            if keyword.arg is not None:
                keywords.append((keyword.arg, self.value(keyword.value)))
            elif (
                isinstance(keyword.value, ast.Name)
                and keyword.value.id == self.kwarg
                and self._is_parameter(self.kwarg)
                and self.kwarg not in self._changed
            ):
                keywords.extend(self.others[0])
                complete = complete and self.others[1]
            else:
                complete = False
        return CallValue(node, self.module, Symbol(node, None, CODED_ERROR), tuple(args), tuple(keywords), complete)

    @property
    def _changed(self) -> set[str]:
        """Names with calls of their methods or assignments to their items: `kwargs.setdefault("code", ...)`."""
        names: set[str] = set()
        for node in own_nodes(self.node):
            if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.value, ast.Name):
                names.add(node.value.id)
        return names

    def _is_parameter(self, name: str) -> bool:
        match = self.scope.lookup(name)
        return match is not None and match[0] is self.scope and [binding.kind for binding in match[1]] == ["parameter"]

    def value(self, node: ast.expr, depth: int = 0) -> Value:
        """The value of an expression in the constructor for this error."""
        unknown = Unknown(node, self.module, "an expression in a constructor that is not followed")
        if depth > MAX_LEVELS or self.names is None:
            return unknown
        if isinstance(node, ast.Name):
            if self._is_parameter(node.id):
                return self.names.get(node.id, unknown)
            match = self.scope.lookup(node.id)
            if match is None or match[0] is not self.scope:
                return evaluate(node, self.scope)
            binding = match[1][0]
            value = binding.value
            if len(match[1]) == 1 and binding.kind in {"assign", "annotated"} and value is not None:
                return self.value(value, depth + 1)
            return unknown
        if isinstance(node, ast.Attribute) and self._is_itself(node.value):
            return self._attribute(node)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            for operand in node.values[:-1]:
                truth = _truth(first := self.value(operand, depth + 1))
                if truth is None:
                    return unknown
                if truth:
                    return first
            return self.value(node.values[-1], depth + 1)
        if isinstance(node, ast.IfExp):
            truth = self._decided(node.test, depth)
            if truth is not None:
                return self.value(node.body if truth else node.orelse, depth + 1)
            return choice([self.value(node.body, depth + 1), self.value(node.orelse, depth + 1)], node, self.module)
        if isinstance(node, ast.Dict) and all(key is not None for key in node.keys):
            pairs = [
                (self.value(key, depth + 1), self.value(item, depth + 1))
                for key, item in zip(node.keys, node.values, strict=True)
                if key is not None
            ]
            return Mapping(node, self.module, tuple(pairs), all(string(key) is not None for key, _ in pairs))
        if isinstance(node, (ast.Constant, ast.Attribute, ast.JoinedStr)):
            return evaluate(node, self.scope)
        return unknown

    def _decided(self, test: ast.expr, depth: int) -> bool | None:
        if (
            isinstance(test, ast.Compare)
            and len(test.ops) == 1
            and isinstance(test.ops[0], (ast.Is, ast.IsNot))
            and isinstance(test.comparators[0], ast.Constant)
            and test.comparators[0].value is None
        ):
            value = self.value(test.left, depth + 1)
            if _truth(value) is None and not isinstance(value, Const):
                return None
            is_none = isinstance(value, Const) and value.value is None
            return is_none is isinstance(test.ops[0], ast.Is)
        return _truth(self.value(test, depth + 1))

    def _is_itself(self, node: ast.expr) -> bool:
        """Whether an expression is the error, or its class."""
        if isinstance(node, ast.Attribute) and node.attr == "__class__":
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type":
            if len(node.args) != 1:
                return False
            node = node.args[0]
        return isinstance(node, ast.Name) and node.id == self.me and self._is_parameter(self.me)

    def _attribute(self, node: ast.Attribute) -> Value:
        unknown = Unknown(node, self.module, "an attribute that the class sets")
        if any(node.attr in cls.instance_attributes for cls in self.order):
            return unknown
        for cls in self.order:
            bindings = cls.attributes.get(node.attr)
            if bindings and any(binding.value is not None or binding.kind != "annotated" for binding in bindings):
                if len(bindings) != 1 or bindings[0].value is None:
                    return unknown
                return evaluate(bindings[0].value, cls.body_scope)
        return unknown


def _truth(value: Value) -> bool | None:
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, CodeValue):
        return True if value.number is None else bool(value.number)
    return None


def reason_of(reason: Value, data: Value, node: ast.AST, module: Module) -> Value:
    """The reason of a `CodedError`: its `reason` argument, or `data["reason"]`."""
    effective = reason
    if isinstance(reason, Missing) or (isinstance(reason, Const) and reason.value is None):
        if isinstance(data, Mapping):
            inner = data.get("reason")
            if inner is not None:
                effective = inner
            elif not data.complete:
                effective = Unknown(node, module, "it may be in the data")
        elif not (isinstance(data, (Missing, Items)) or (isinstance(data, Const) and data.value is None)):
            effective = Unknown(node, module, "it may be in the data")
    if isinstance(effective, Const) and effective.value is None:
        effective = Missing(node, module)
    return effective


def shared_argument(calls: list[CallValue], name: str, position: int | None, node: ast.AST, module: Module) -> Value:
    """The value of an argument in all of the calls."""
    values = [call.argument(name, position) for call in calls]
    if any(isinstance(option, Unknown) for value in values for option in options(value)):
        return Unknown(node, module, "a subclass sets it")
    return choice(values, node, module)
