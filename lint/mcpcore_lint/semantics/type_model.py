"""What a value can be an instance of, and the classes of the project with what they inherit."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, TypeAlias

from mcpcore_lint.dataclasses import light_value
from mcpcore_lint.model import Symbol
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.symbols import class_info

if TYPE_CHECKING:
    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.syntax.module import ClassInfo, Module


@light_value
class Instance:
    """An instance of a class of the project."""

    info: ClassInfo


@light_value
class ClassObject:
    """A class of the project itself, not an instance of it."""

    info: ClassInfo


@light_value
class Outside:
    """A value from outside the project; `name` is its class if that is known."""

    name: str = ""


@light_value
class Super:
    """`super()` in a method of `owner`, called on an instance of `receiver`."""

    owner: ClassInfo
    receiver: ClassInfo


@light_value
class Function:
    """A function of the project, or a method that is bound to an object of `receiver`."""

    node: FunctionNode
    module: Module
    receiver: ClassInfo | None = None


Kind: TypeAlias = Instance | ClassObject | Outside | Super | Function
"""What a value is an instance of. An empty list of kinds means that this is unknown."""

BUILTIN_METHODS: Final = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float) for name in dir(kind) if not name.startswith("_")
) - {"get", "pop", "update", "remove", "find", "index", "count", "copy", "clear", "add", "insert", "replace", "format"}
"""Methods that a value of unknown class has because it is a string, a list or the like. Names that services often use
for their own methods are left out."""


def method_of(info: ClassInfo, name: str) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ClassInfo] | None:
    """A method of a class, its own or inherited from a class of the project, with the class that defines it."""
    for each in ancestry(info):
        found = each.methods.get(name)
        if found is not None:
            return found, each
    return None


def ancestry(info: ClassInfo) -> tuple[ClassInfo, ...]:
    """A class and those classes of the project that it inherits from, in the order in which methods are looked up."""
    memo = info.module.memo
    key = ("ancestry", info.node)
    found: tuple[ClassInfo, ...] | None = memo.get(key)
    if found is None:
        memo[key] = (info,)  # what inherits from itself, in code that cannot run
        found = _linear(info)
        memo[key] = found
    return found


def _linear(info: ClassInfo) -> tuple[ClassInfo, ...]:
    """As Python does it (C3), leaving out what is outside the project; where that fails, whatever comes first."""
    parents: list[ClassInfo] = []
    for base in info.node.bases:
        value = evaluate(base, info.scope)
        parent = class_info(value) if isinstance(value, Symbol) else None
        if parent is not None and parent is not info:
            parents.append(parent)
    if not parents:
        return (info,)
    if len(parents) == 1:
        return (info, *(each for each in ancestry(parents[0]) if each is not info))
    rows = [[each for each in ancestry(parent) if each is not info] for parent in parents]
    rows.append(parents)
    found = [info]
    while rows := [row for row in rows if row]:
        head = next((row[0] for row in rows if not any(row[0] in other[1:] for other in rows)), rows[0][0])
        found.append(head)
        rows = [[each for each in row if each is not head] for row in rows]
    return tuple(found)


def subclasses(info: ClassInfo, asker: Module) -> tuple[ClassInfo, ...]:
    """The classes that inherit from a class, in its own file and in the file that asks."""
    key = ("subclasses", info.node)
    found: tuple[ClassInfo, ...] | None = asker.memo.get(key)
    if found is None:
        modules = dict.fromkeys((info.module, asker))
        candidates = [each for module in modules for each in module.classes.values() if each.scope.is_module]
        found = asker.memo[key] = tuple(each for each in candidates if each is not info and info in ancestry(each))
    return found


def outside_bases(info: ClassInfo) -> list[str]:
    """The classes outside the project that a class inherits from; "" for one that cannot be resolved."""
    found: list[str] = []
    for each in ancestry(info):
        for base in each.node.bases:
            value = evaluate(base, each.scope)
            if isinstance(value, Symbol) and class_info(value) is None:
                found.append(value.name)
            elif not isinstance(value, Symbol):
                found.append("")
    return found


def is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether reading an attribute runs the function."""
    for each in node.decorator_list:
        name = each.attr if isinstance(each, ast.Attribute) else each.id if isinstance(each, ast.Name) else ""
        if name in {"property", "cached_property", "getter", "abstractproperty"}:
            return True
    return False


class Trail:
    """What a question has led to so far: the names that are being found out, and how much was looked at for it."""

    __slots__ = ("active", "cut", "steps")

    def __init__(self) -> None:
        self.active: set[tuple[int, str | int, int]] = set()
        self.steps = 0
        self.cut = False
        """Whether something was left out: a name made of itself, too deep, or too much to look at."""


def once(kinds: list[Kind]) -> list[Kind]:
    """Each kind once, in order."""
    found: list[Kind] = []
    for each in kinds:
        if each not in found:
            found.append(each)
    return found
