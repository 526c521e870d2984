"""What an attribute of an object is, where it is a constant: `self.CODE`, `cls.REASON`, `settings.NOT_FOUND`.

The class may say it, one it inherits from, or its methods, where they assign it once. Where the object may be of a
subclass, what the subclasses say counts too. What may be something else as well is left unknown.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.dataclasses import replace
from mcpcore_lint.model import CallValue, Choice, CodeValue, Const, Items, Mapping, Missing, Text, Value, options
from mcpcore_lint.patterns import regex
from mcpcore_lint.semantics.call_results import made
from mcpcore_lint.semantics.evaluate import Resolver, choice, evaluate
from mcpcore_lint.semantics.subtypes import subclasses
from mcpcore_lint.semantics.symbols import class_info
from mcpcore_lint.semantics.type_model import ClassObject, Instance, Super, ancestry, outside_bases
from mcpcore_lint.syntax.parse import walk

if TYPE_CHECKING:
    from mcpcore_lint.syntax.module import ClassInfo, Module
    from mcpcore_lint.syntax.scopes import Binding, Scope

_FIELDS_BY: Final = frozenset({"dataclass", "define", "frozen", "mutable", "attrs", "s"})
"""Decorators whose classes take their annotated attributes as arguments."""
_PLAIN: Final = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol", "enum.Enum"})
_VALUES: Final = frozenset({"mcpcore.FailureMode", "mcpcore.Contract"})
"""Classes whose objects never change."""
_ALWAYS: Final = ("ClassVar", "Final")
_ASSIGNED: Final = regex(r"\s*(?::[^=\n]+)?(?:[-+*/|&]?=)(?!=)")
"""What follows an attribute that is assigned to."""


def attribute_of_object(node: ast.Attribute, scope: Scope, receiver: ClassInfo | None = None) -> Value | None:
    """What an attribute of an object is; None where that cannot be told.

    Args:
        node: The attribute.
        scope: Where it stands.
        receiver: What `self` is an instance of, where that is known better than by the class round it.
    """
    key = ("attribute of object", node, receiver)
    memo = scope.module.memo
    if key not in memo:
        memo[key] = None  # what is made of itself stays unknown
        memo[key] = _attribute_of_object(node, scope, receiver)
    known: Value | None = memo[key]
    return known


def _attribute_of_object(node: ast.Attribute, scope: Scope, receiver: ClassInfo | None) -> Value | None:
    name = node.attr
    found: list[Value] = []
    for info, exact in _holders(node.value, scope, name, receiver):
        value = held(info, name, scope.module, exact=exact)
        if value is None:
            return None
        found.append(value)
    if not found:
        return None
    whole = choice(found, node, scope.module)
    if not isinstance(whole, (Choice, CodeValue, Const)):
        return whole
    # It stands here, so that one who knows more of the object can look again.
    return replace(whole, node=node, module=scope.module)


def attribute_of_made(made: CallValue, node: ast.Attribute, module: Module) -> Value | None:
    """What an attribute of an object is that a call makes: an argument, a default, or what the class says."""
    info = class_info(made.func)
    if info is None or node.attr in info.methods:
        return None
    given = _given(info, made, node.attr)
    if given is not None:
        return given if _constant(given, node.attr) else None
    return held(info, node.attr, module, exact=True, complete=made.complete)


def held(info: ClassInfo, name: str, asker: Module, *, exact: bool, complete: bool = False) -> Value | None:
    """What an attribute of the objects of a class is, where it is always one of some constants.

    Args:
        info: The class.
        name: The attribute.
        asker: The file that asks, and so sees some subclasses.
        exact: Whether the object is of no subclass.
        complete: Whether it is known that the constructor is given nothing for it.
    """
    key = ("held", info.node, name, exact, complete)
    memo = asker.memo
    if key not in memo:
        memo[key] = None  # what is made of itself stays unknown
        memo[key] = _held(info, name, asker, exact=exact, complete=complete)
    known: Value | None = memo[key]
    return known


def _held(info: ClassInfo, name: str, asker: Module, *, exact: bool, complete: bool) -> Value | None:
    values = _own(ancestry(info), name, complete=complete)
    if values is None:
        return None
    for each in subclasses(info, asker) if not exact else ():
        more = _own((each,), name, complete=False)
        if more is None:
            return None
        values += more
    if not values or not all(_constant(one, name) for value in values for one in options(value)):
        return None
    return choice(values, info.node, info.module)


def _own(order: tuple[ClassInfo, ...], name: str, *, complete: bool) -> list[Value] | None:
    """What some classes, the nearest first, say an attribute is; None where they say something that is no constant."""
    assigned: list[Value] = []
    for info in order:
        for _, value, scope in info.instance_attributes.get(name, ()):
            if value is not None:
                assigned.append(evaluate(value, scope))
        if _assigned_elsewhere(info, name):
            return None
        bindings = [
            each for each in info.attributes.get(name, ()) if each.value is not None or each.kind != "annotated"
        ]
        if not bindings:
            continue
        if len(bindings) > 1 or bindings[0].value is None or bindings[0].kind not in {"assign", "annotated"}:
            return None
        default = _default(bindings[0], info, complete=complete)
        return None if default is None else [default, *assigned]
    return assigned


def _default(binding: Binding, info: ClassInfo, *, complete: bool) -> Value | None:
    """What the class says of an attribute; None where the constructor may be given something else."""
    assert binding.value is not None
    value = made(evaluate(binding.value, info.body_scope), Resolver())
    if binding.kind != "annotated" or not _has_fields(info) or _never_given(binding):
        return value
    if not complete:
        return None
    if isinstance(value, CallValue) and value.func.name.rpartition(".")[2] in {"field", "Field"}:
        default = value.argument("default", 0 if value.func.name.endswith("Field") else None)
        return None if isinstance(default, Missing) else default
    return value


def _never_given(binding: Binding) -> bool:
    """Whether an annotation says that the attribute is the class's own."""
    for each in walk([binding.annotation]) if binding.annotation is not None else ():
        if isinstance(each, (ast.Name, ast.Attribute)):
            if (each.id if isinstance(each, ast.Name) else each.attr) in _ALWAYS:
                return True
        elif (
            isinstance(each, ast.Constant) and isinstance(each.value, str) and any(one in each.value for one in _ALWAYS)
        ):
            return True
    return False


def _has_fields(info: ClassInfo) -> bool:
    """Whether annotated attributes of a class may be given to its constructor."""
    key = ("has fields", info.node)
    known: bool | None = info.module.memo.get(key)
    if known is None:
        known = info.module.memo[key] = any(map(_makes_fields, ancestry(info))) or any(
            each not in _PLAIN and not each.startswith(("builtins.", "enum.")) for each in outside_bases(info)
        )
    return known


def _makes_fields(info: ClassInfo) -> bool:
    """Whether a decorator makes the annotated attributes of a class arguments of its constructor."""
    for decorator in info.node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name in _FIELDS_BY:
            return True
    return False


def _given(info: ClassInfo, made: CallValue, name: str) -> Value | None:
    """The argument that a call gives for an attribute; None where it gives none, or none can be seen."""
    if any("__init__" in each.methods for each in ancestry(info)) or not _has_fields(info):
        return None
    names = [field for field, _, _ in fields(info)]
    found = made.argument(name, names.index(name) if name in names else None)
    return None if isinstance(found, Missing) else found


def fields(info: ClassInfo) -> list[tuple[str, ClassInfo, ast.expr | None]]:
    """The annotated attributes that a constructor takes, in its order, each with its class and its annotation."""
    key = ("fields", info.node)
    known: list[tuple[str, ClassInfo, ast.expr | None]] | None = info.module.memo.get(key)
    if known is None:
        found: dict[str, tuple[str, ClassInfo, ast.expr | None]] = {}
        for each in reversed(ancestry(info)):
            for field, bindings in each.attributes.items():
                if bindings[0].kind == "annotated" and not _never_given(bindings[0]):
                    found[field] = (field, each, bindings[0].annotation)
        known = info.module.memo[key] = list(found.values())
    return known


def _assigned_elsewhere(info: ClassInfo, name: str) -> bool:
    """Whether code that is no method of the class assigns the attribute, in the file of the class."""
    module = info.module
    text = module.source.text
    key = ("assigned", name)
    if key not in module.memo:
        spelled = f".{name}"
        places: list[int] = []
        start = text.find(spelled)
        while start >= 0:
            start += len(spelled)
            if _ASSIGNED.match(text, start):
                places.append(start)
            start = text.find(spelled, start)
        module.memo[key] = len(places)
    count: int = module.memo[key]
    seen = sum(len(each.instance_attributes.get(name, ())) for each in module.classes.values()) if count else 0
    return count > seen


def _constant(value: Value, name: str) -> bool:
    """Whether a value is one that a reader would take for a constant, by its kind and by the attribute's name."""
    if isinstance(value, CodeValue):
        return True
    if isinstance(value, Const):
        return (isinstance(value.value, str) and bool(value.value)) or (name.isupper() and value.value is not None)
    if isinstance(value, Items) and value.kind == "tuple":
        return value.complete
    if isinstance(value, (Items, Mapping)):
        return name.isupper() and value.complete and not (value.module and value.module.changes_in_place(name))
    if isinstance(value, CallValue):
        return value.func.name in _VALUES or value.func.name.startswith("mcpcore.Retry.")
    return isinstance(value, Text)


def _holders(node: ast.expr, scope: Scope, name: str, receiver: ClassInfo | None) -> list[tuple[ClassInfo, bool]]:
    """The classes whose object an expression is, each with whether it is of no subclass."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "type"
        and len(node.args) == 1
    ):
        node = node.args[0]
    elif isinstance(node, ast.Attribute) and node.attr == "__class__":
        node = node.value
    if isinstance(node, ast.Name):
        found = scope.lookup(node.id)
        if found is None:
            return []
        where, bindings = found
        own = _round(node.id, where) if bindings[0].kind == "parameter" and len(bindings) == 1 else None
        if own is not None:
            known = receiver if receiver is not None and own in ancestry(receiver) else None
            return [(known or own, known is not None)]
    if not name.isupper():
        return []
    from mcpcore_lint.semantics.types import Inference

    holders: list[tuple[ClassInfo, bool]] = []
    for kind in Inference().of(node, scope):
        if isinstance(kind, Instance):
            holders.append((kind.info, kind.exact))
        elif isinstance(kind, ClassObject):
            holders.append((kind.info, False))
        elif isinstance(kind, Super):
            above = ancestry(kind.owner)[1:]
            if not above:
                return []
            holders.append((above[0], True))
        else:
            return []
    return holders


def _round(name: str, where: Scope) -> ClassInfo | None:
    """The class whose object a method's first parameter is."""
    if where.owner is None or isinstance(where.node, (ast.Module, ast.Lambda)):
        return None
    args = [*where.node.args.posonlyargs, *where.node.args.args]
    static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in where.node.decorator_list)
    if static or not args or args[0].arg != name:
        return None
    return where.module.classes.get(where.owner)


def of_receiver(value: Value, receiver: ClassInfo, scope: Scope) -> Value:
    """What a value that `self.NAME` gave is for objects of one class."""
    node = value.node
    if isinstance(node, ast.Attribute) and value.module is scope.module:
        again = attribute_of_object(node, scope, receiver)
        if again is not None:
            return again
    return value


__all__ = ["attribute_of_made", "attribute_of_object", "fields", "held", "of_receiver"]
