"""What a call gives to parameters that say nothing of their own, in a form that outlives the syntax.

A helper `def load(store): store.get()` has no annotation to go by. What it throws is told for each kind of thing that
it is given; the same for what a constructor keeps in an attribute.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.flow.effects import Given, Handed, Parameter, place_of
from mcpcore_lint.model import Symbol
from mcpcore_lint.semantics.annotations import unquote
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.subtypes import is_open
from mcpcore_lint.semantics.symbols import class_info
from mcpcore_lint.semantics.type_model import ClassObject, Function, Instance, Kind, Outside

if TYPE_CHECKING:
    from mcpcore_lint.flow.effects import Key
    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.project import Project
    from mcpcore_lint.syntax.scopes import Scope

MAX_DEEP: Final = 3
"""How many objects, each made of the one before, are told apart."""
MAX_KINDS: Final = 8
"""How many kinds of things one parameter is given; of more, nothing is told."""
MAX_DOTS: Final = 3
"""How far attributes of attributes of something outside are told apart: a function that calls itself with `x.y` has no
end of them."""
MAX_SIZE: Final = 4
"""How many things in all, those that they are made of included, are told of one call."""
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
            *(
                (each.arg, at, defaults[at])
                for at, each in enumerate(positional)
                if _open(each.annotation, node, module)
            ),
            *(
                (each.arg, -1, default)
                for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
                if _open(each.annotation, node, module)
            ),
        )
        module.memo[key] = found
    return found


def _open(annotation: ast.expr | None, node: FunctionNode, module: Module) -> bool:
    """Whether an annotation says nothing, or names a class that others fill in: then what is given says more."""
    if vague(annotation):
        return True
    scope = module.scope_of(node)
    return names_open_class(annotation, scope.parent or module.scope)


def names_open_class(annotation: ast.expr | None, scope: Scope) -> bool:
    """Whether an annotation names a protocol or an abstract class of the project, or None besides."""
    node = unquote(annotation)
    if isinstance(node, ast.BinOp):
        return names_open_class(node.left, scope) or names_open_class(node.right, scope)
    if isinstance(node, ast.Subscript):
        node = node.slice if isinstance(node.value, ast.Name) and node.value.id == "Optional" else node.value
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    value = evaluate(node, scope)
    info = class_info(value) if isinstance(value, Symbol) else None
    return info is not None and is_open(info)


def vague(annotation: ast.expr | None) -> bool:
    """Whether an annotation says nothing of what something is, or is none."""
    if annotation is None:
        return True
    if isinstance(annotation, ast.Subscript):
        return vague(annotation.value)
    if isinstance(annotation, ast.BinOp):
        return vague(annotation.left) or vague(annotation.right)
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
        elif (
            isinstance(each, Outside) and 0 < each.name.count(".") <= MAX_DOTS and not each.name.startswith("builtins.")
        ):
            found.append(Handed("outside", each.name))
    # In one order: the same things are the same, however the program comes by them.
    unique = sorted(set(found), key=repr)
    return tuple(unique) if len(unique) <= MAX_KINDS else ()


def anew(before: tuple[Given, ...], given: tuple[Given, ...]) -> tuple[Given, ...]:
    """What a function is given, which has what the one round it was given; a parameter has what it was given last."""
    latest = {each.parameter: each for each in (*before, *given)}
    return _within(tuple(latest.values()))


def besides(before: tuple[Given, ...], given: tuple[Given, ...]) -> tuple[Given, ...]:
    """As `anew`, for what may as well be left out where it would be too much."""
    latest = {each.parameter: each for each in (*before, *given)}
    found = tuple(latest.values())
    return found if _size(found) <= MAX_SIZE else before


def kinds_of(what: tuple[Handed, ...], project: Project) -> list[Kind]:
    """The kinds again, as the project is read now."""
    found: list[Kind] = []
    for each in what:
        if each.sort == "outside":
            found.append(Outside(each.place))
        elif each.sort == "function":
            assert each.key is not None
            found.append(Function(each.key))
        elif each.sort in {"instance", "class"}:
            info = project.class_at(each.place)
            if info is not None:
                found.append(ClassObject(info) if each.sort == "class" else Instance(info, each.exact, each.given))
    return found


def _cut(given: tuple[Given, ...]) -> tuple[Given, ...]:
    return given if _depth(given) < MAX_DEEP else ()


def _within(given: tuple[Given, ...]) -> tuple[Given, ...]:
    """All of it, or, where that is too much, without what things are made of, or nothing."""
    if _size(given) <= MAX_SIZE:
        return given
    plain = tuple(Given(each.parameter, tuple(_alone(one) for one in each.what)) for each in given)
    return plain if _size(plain) <= MAX_SIZE else ()


def _alone(what: Handed) -> Handed:
    return what._replace(given=(), key=what.key._replace(given=()) if what.key is not None else None)


def _size(given: tuple[Given, ...]) -> int:
    return sum(
        1 + _size(one.given) + (_size(one.key.given) if one.key is not None else 0)
        for each in given
        for one in each.what
    )


def _depth(given: tuple[Given, ...]) -> int:
    def inner(key: Key | None) -> tuple[Given, ...]:
        return key.given if key is not None else ()

    return max((1 + max(_depth(one.given), _depth(inner(one.key))) for each in given for one in each.what), default=0)


__all__ = ["anew", "besides", "handed", "kinds_of", "names_open_class", "parameter_of", "vague", "vague_parameters"]
