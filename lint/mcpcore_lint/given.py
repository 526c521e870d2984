"""What a call gives to parameters that say nothing of their own, in a form that outlives the syntax.

A helper `def load(store): store.get()` has no annotation to go by. What it throws is told for each kind of thing that
it is given; the same for what a constructor keeps in an attribute.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.effects import Given, Handed, Parameter, place_of
from mcpcore_lint.kinds import ClassObject, Function, Instance, Kind, Outside

if TYPE_CHECKING:
    from mcpcore_lint.effects import Key
    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.project import Module, Project

MAX_DEEP: Final = 3
"""How many objects, each made of the one before, are told apart."""
_SAYS_NOTHING: Final = frozenset({"Any", "object", "Callable", "Awaitable"})


def vague_parameters(node: FunctionNode, module: Module) -> tuple[tuple[str, int, ast.expr | None], ...]:
    """The parameters whose annotation says nothing of what they are: name, position (-1 for none) and default."""
    key = ("vague", node)
    found: tuple[tuple[str, int, ast.expr | None], ...] | None = module.memo.get(key)
    if found is None:
        args = node.args
        positional = [*args.posonlyargs, *args.args]
        defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
        found = (
            *((each.arg, at, defaults[at]) for at, each in enumerate(positional) if _vague(each.annotation)),
            *(
                (each.arg, -1, default)
                for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
                if _vague(each.annotation)
            ),
        )
        module.memo[key] = found
    return found


def _vague(annotation: ast.expr | None) -> bool:
    if annotation is None:
        return True
    if isinstance(annotation, ast.Subscript):
        return _vague(annotation.value)
    if isinstance(annotation, ast.BinOp):
        return _vague(annotation.left) or _vague(annotation.right)
    name = annotation.id if isinstance(annotation, ast.Name) else getattr(annotation, "attr", "")
    return name in _SAYS_NOTHING


def parameter_of(node: FunctionNode, module: Module, name: str) -> Parameter:
    """A parameter by its function."""
    return Parameter(module.path, node.lineno, node.col_offset, name)


def handed(kinds: list[Kind]) -> tuple[Handed, ...]:
    """What can be told of some kinds later on: of the project's own things, and of well-known ones outside."""
    found: list[Handed] = []
    for each in kinds:
        if isinstance(each, Instance):
            found.append(Handed("instance", place_of(each.info), each.exact, None, _cut(each.given)))
        elif isinstance(each, ClassObject):
            found.append(Handed("class", place_of(each.info)))
        elif isinstance(each, Function):
            found.append(Handed("function", key=each.key._replace(given=_cut(each.key.given))))
        elif isinstance(each, Outside) and "." in each.name and not each.name.startswith("builtins."):
            found.append(Handed("outside", each.name))
    return tuple(found)


def kinds_of(what: tuple[Handed, ...], project: Project) -> list[Kind]:
    """The kinds again, as the project is read now."""
    found: list[Kind] = []
    for each in what:
        if each.sort == "outside":
            found.append(Outside(each.place))
        elif each.sort == "function":
            assert each.key is not None
            found.append(Function(each.key))
        else:
            info = project.class_at(each.place)
            if info is not None:
                found.append(ClassObject(info) if each.sort == "class" else Instance(info, each.exact, each.given))
    return found


def _cut(given: tuple[Given, ...]) -> tuple[Given, ...]:
    return given if _depth(given) < MAX_DEEP else ()


def _depth(given: tuple[Given, ...]) -> int:
    def inner(key: Key | None) -> tuple[Given, ...]:
        return key.given if key is not None else ()

    return max((1 + max(_depth(one.given), _depth(inner(one.key))) for each in given for one in each.what), default=0)


__all__ = ["handed", "kinds_of", "parameter_of", "vague_parameters"]
