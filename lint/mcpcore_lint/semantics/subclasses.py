"""What a subclass of `CodedError` hands to `CodedError` itself: its code and its reason, through its constructors."""

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
from mcpcore_lint.semantics.evaluate import choice, evaluate
from mcpcore_lint.semantics.type_model import ancestry, outside_bases
from mcpcore_lint.syntax.parse import own_nodes

if TYPE_CHECKING:
    from mcpcore_lint.syntax.module import ClassInfo, Module
    from mcpcore_lint.syntax.scopes import Scope

CODED_ERROR: Final = "mcpcore.CodedError"
_HARMLESS: Final = frozenset({CODED_ERROR, "abc.ABC", "typing.Generic", "builtins.object", "builtins.Exception"})
"""Bases outside the project beside which `CodedError` makes the error."""
MAX_LEVELS: Final = 10


def coded_calls(value: CallValue, info: ClassInfo) -> list[CallValue] | None:
    """The calls of `CodedError.__init__` that making an error of the class leads to; None where they cannot be told.

    Args:
        value: The call that makes the error.
        info: Its class.
    """
    order = list(ancestry(info))
    if any(each not in _HARMLESS for each in outside_bases(info)):
        return None
    if any(each.node.decorator_list or each.node.keywords or "__new__" in each.attributes for each in order):
        return None
    makers = [each for each in order if "__init__" in each.attributes]
    if any(len(each.attributes["__init__"]) != 1 or "__init__" not in each.methods for each in makers):
        return None
    if len(makers) > 1 and any(len(each.node.bases) > 1 for each in order):
        return None  # in which order they run is not told by the order in which they are found
    return _through(value, makers, order)


def sets_itself(info: ClassInfo, name: str) -> bool:
    """Whether a class of the project decides on its own what an attribute of the error is, once it is made."""
    return any(
        name in each.instance_attributes or any(binding.kind == "function" for binding in each.attributes.get(name, ()))
        for each in ancestry(info)
    )


def _through(value: CallValue, makers: list[ClassInfo], order: list[ClassInfo]) -> list[CallValue] | None:
    if not makers:
        return [value]
    if len(order) > MAX_LEVELS:
        return None
    frame = _Frame(value, makers[0], order)
    if frame.names is None:
        return None
    found: list[CallValue] = []
    for each in own_nodes(frame.node):
        if isinstance(each, ast.Call) and (target := frame.initialises(each)) is not None:
            at = order.index(target)
            if at <= order.index(makers[0]):
                return None
            more = _through(frame.call(each), [maker for maker in makers[1:] if order.index(maker) >= at], order)
            if more is None:
                return None
            found.extend(more)
        elif isinstance(each, ast.Call) and frame.initialises_coded(each):
            found.append(frame.call(each))
    return found or None


class _Frame:
    """One `__init__` as it is called: what its parameters are."""

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
        defaults = dict(zip((each.arg for each in reversed(positional)), reversed(args.defaults), strict=False))
        defaults.update(
            (each.arg, given)
            for each, given in zip(args.kwonlyargs, args.kw_defaults, strict=True)
            if given is not None
        )
        keywords = dict(value.keywords)
        outside = self.scope.parent or self.module.scope
        for index, each in enumerate([*positional, *args.kwonlyargs]):
            if index < len(positional) and index < len(value.args):
                names[each.arg] = value.args[index]
            elif each.arg in keywords:
                names[each.arg] = keywords[each.arg]
            elif value.complete and each.arg in defaults:
                names[each.arg] = evaluate(defaults[each.arg], outside)
            else:
                names[each.arg] = Unknown(value.node, value.module, "an argument that is not seen")
        self.rest = (value.args[len(positional) :], value.complete)
        taken = {each.arg for each in [*args.args[1:], *args.kwonlyargs]}
        self.others = (tuple(each for each in value.keywords if each[0] not in taken), value.complete)
        self.vararg = args.vararg.arg if args.vararg else ""
        self.kwarg = args.kwarg.arg if args.kwarg else ""
        self.names = names

    # -- which constructor comes next ----------------------------------------------------------------------------

    def initialises(self, call: ast.Call) -> ClassInfo | None:
        """The class of the project from which on `__init__` is looked for: `super().__init__(...)` and the like."""
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr != "__init__":
            return None
        if self._is_super(func.value):
            index = self.order.index(self.owner) + 1
            return self.order[index] if index < len(self.order) else None
        info = self._named(func.value)
        return info if self._hands_itself(call) else None

    def initialises_coded(self, call: ast.Call) -> bool:
        """Whether a call is one of `CodedError.__init__` itself."""
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr != "__init__":
            return False
        if self._is_super(func.value):
            return self.order.index(self.owner) + 1 >= len(self.order)
        value = evaluate(func.value, self.scope)
        return isinstance(value, Symbol) and value.name == CODED_ERROR and self._hands_itself(call)

    def _is_super(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "super":
            return False
        return not node.args or (len(node.args) == 2 and self._named(node.args[0]) is self.owner)

    def _hands_itself(self, call: ast.Call) -> bool:
        return bool(call.args) and isinstance(call.args[0], ast.Name) and call.args[0].id == self.me

    def _named(self, node: ast.expr) -> ClassInfo | None:
        value = evaluate(node, self.scope)
        return next((each for each in self.order if isinstance(value, Symbol) and value.definition is each.node), None)

    # -- what it hands on ----------------------------------------------------------------------------------------

    def call(self, node: ast.Call) -> CallValue:
        """A call in the constructor, its arguments as they are for this error."""
        args: list[Value] = []
        keywords: list[tuple[str, Value]] = []
        complete = True
        given = node.args
        if not (isinstance(node.func, ast.Attribute) and self._is_super(node.func.value)):
            given = given[1:]
        for each in given:
            if not isinstance(each, ast.Starred):
                args.append(self.value(each))
            elif isinstance(each.value, ast.Name) and each.value.id == self.vararg and self._is_parameter(self.vararg):
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
                and self.kwarg not in self._touched
            ):
                keywords.extend(self.others[0])
                complete = complete and self.others[1]
            else:
                complete = False
        return CallValue(node, self.module, Symbol(node, None, CODED_ERROR), tuple(args), tuple(keywords), complete)

    @property
    def _touched(self) -> set[str]:
        """Names whose methods are called or whose items are set: `kwargs.setdefault("code", ...)`."""
        found: set[str] = set()
        for each in own_nodes(self.node):
            if isinstance(each, (ast.Attribute, ast.Subscript)) and isinstance(each.value, ast.Name):
                found.add(each.value.id)
        return found

    def _is_parameter(self, name: str) -> bool:
        found = self.scope.lookup(name)
        return found is not None and found[0] is self.scope and [each.kind for each in found[1]] == ["parameter"]

    def value(self, node: ast.expr, depth: int = 0) -> Value:
        """What an expression in the constructor is for this error."""
        unknown = Unknown(node, self.module, "what a constructor makes of it")
        if depth > MAX_LEVELS or self.names is None:
            return unknown
        if isinstance(node, ast.Name):
            if self._is_parameter(node.id):
                return self.names.get(node.id, unknown)
            found = self.scope.lookup(node.id)
            if found is None or found[0] is not self.scope:
                return evaluate(node, self.scope)
            value = found[1][0].value
            if len(found[1]) == 1 and found[1][0].kind in {"assign", "annotated"} and value is not None:
                return self.value(value, depth + 1)
            return unknown
        if isinstance(node, ast.Attribute) and self._is_itself(node.value):
            return self._attribute(node)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            for each in node.values[:-1]:
                truth = _truth(first := self.value(each, depth + 1))
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
        if isinstance(node, ast.Dict) and all(each is not None for each in node.keys):
            pairs = [
                (self.value(key, depth + 1), self.value(each, depth + 1))
                for key, each in zip(node.keys, node.values, strict=True)
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
        if any(node.attr in each.instance_attributes for each in self.order):
            return unknown
        for each in self.order:
            bindings = each.attributes.get(node.attr)
            if bindings and any(binding.value is not None or binding.kind != "annotated" for binding in bindings):
                if len(bindings) != 1 or bindings[0].value is None:
                    return unknown
                return evaluate(bindings[0].value, each.body_scope)
        return unknown


def _truth(value: Value) -> bool | None:
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, CodeValue):
        return True if value.number is None else bool(value.number)
    return None


def reason_of(reason: Value, data: Value, node: ast.AST, module: Module) -> Value:
    """The reason of a `CodedError` by its arguments: given as such, or as `data["reason"]`."""
    found = reason
    if isinstance(reason, Missing) or (isinstance(reason, Const) and reason.value is None):
        if isinstance(data, Mapping):
            inner = data.get("reason")
            if inner is not None:
                found = inner
            elif not data.complete:
                found = Unknown(node, module, "it may be in the data")
        elif not (isinstance(data, (Missing, Items)) or (isinstance(data, Const) and data.value is None)):
            found = Unknown(node, module, "it may be in the data")
    if isinstance(found, Const) and found.value is None:
        found = Missing(node, module)
    return found


def told(calls: list[CallValue], name: str, position: int | None, node: ast.AST, module: Module) -> Value:
    """An argument as all the calls have it."""
    values = [each.argument(name, position) for each in calls]
    if any(isinstance(one, Unknown) for each in values for one in options(each)):
        return Unknown(node, module, "a subclass sets it")
    return choice(values, node, module)
