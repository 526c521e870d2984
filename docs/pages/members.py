"""The text of a public name for the reference, from its source: signatures, and docstrings as Markdown.

griffe reads the source, so that annotations are as they are written.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import griffe

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

ROOT: Final = Path(__file__).parents[2]
_WIDTH: Final = 88
"""Characters of a signature that fit into one line."""

_TITLES: Final = {
    "parameters": "Parameters",
    "other parameters": "Other parameters",
    "attributes": "Attributes",
    "returns": "Returns",
    "yields": "Yields",
    "raises": "Raises",
}


@cache
def _package(name: str) -> Any:
    return griffe.load(name, search_paths=[ROOT, ROOT / "lint"], resolve_aliases=True)


def lines_of(path: str, *, hidden: Collection[str] = (), inherited: Collection[str] = ()) -> Iterator[str]:
    """The section of a name, with the members of a class below it.

    Args:
        path: The name with its module.
        hidden: The members to leave out, as regular expressions.
        inherited: The members of base classes to show.
    """
    thing = _thing_at(path)
    yield from _section(thing, path, level=2)
    if not thing.is_class:
        return
    left_out = re.compile("|".join(("_.*", *hidden)))
    members = {name: member for name, member in thing.members.items() if not left_out.fullmatch(name)}
    members |= {name: thing.inherited_members[name] for name in inherited}
    for name, member in members.items():
        target = _target(member)
        if target is not None and target.docstring is not None and not target.is_class:
            yield from _section(target, f"{path}.{name}", level=3)


def _thing_at(path: str) -> Any:
    package, _, rest = path.partition(".")
    thing = _target(_package(package)[rest])
    # A function may have the name of the submodule that it is from.
    return _target(thing[path.rpartition(".")[2]]) if thing.is_module else thing


def _target(member: Any) -> Any:
    return member.final_target if member.is_alias else member


def _section(thing: Any, path: str, *, level: int) -> Iterator[str]:
    name = path if level == 2 else path.rpartition(".")[2]
    # GitHub makes its own anchor of a heading, and links lead to the whole path.
    yield from (f'<a id="{path}"></a>', "", f"{'#' * level} `{name}`", "")
    signatures = list(_signatures(thing, path.rpartition(".")[2]))
    if signatures:
        yield from ("```py", *signatures, "```", "")
    maker = _maker(thing) if thing.is_class else thing
    for docstring in dict.fromkeys(filter(None, (thing.docstring, maker and maker.docstring))):
        yield from _docstring(docstring, maker or thing)


def _maker(thing: Any) -> Any:
    """The method by which a class is called."""
    makers = [thing.members[name] for name in ("__new__", "__init__") if name in thing.members]
    return max(makers, key=lambda maker: len(maker.parameters), default=None)


def _signatures(thing: Any, name: str) -> Iterator[str]:
    if thing.is_attribute:
        if "property" not in thing.labels and thing.annotation is None:
            return
        yield f"{name}: {thing.annotation or 'Any'}"
        return
    maker = _maker(thing) if thing.is_class else thing
    if maker is None:
        yield f"class {name}: ..."
        return
    # A class has the overloads of its methods by name, a function has its own.
    overloads = thing.overloads.get(maker.name) if thing.is_class else maker.parent.overloads.get(maker.name)
    if thing.is_class:
        yield f"class {name}:"
    indent = "    " * thing.is_class
    for function in overloads or [maker]:
        start = f"{indent}{'async ' * ('async' in maker.labels)}def {'__init__' if thing.is_class else name}("
        parameters = ["self"] * thing.is_class
        parameters += _parameters(function, is_method=thing.is_class or bool(thing.parent.is_class))
        returns = "" if thing.is_class or function.returns is None else f" -> {function.returns}"
        line = f"{start}{', '.join(parameters)}){returns}: ..."
        if len(line) > _WIDTH:
            inside = "".join(f"{indent}    {parameter},\n" for parameter in parameters)
            line = f"{start}\n{inside}{indent}){returns}: ..."
        yield line


def _parameters(function: Any, *, is_method: bool) -> Iterator[str]:
    """The parameters as they are written, with the marks of positional and keyword-only ones."""
    parameters = list(function.parameters)
    if is_method and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    kinds = [parameter.kind.value for parameter in parameters]
    for index, (parameter, kind) in enumerate(zip(parameters, kinds, strict=True)):
        if kind == "keyword-only" and not {"variadic positional", "keyword-only"} & set(kinds[:index]):
            yield "*"
        star = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
        annotation = f": {parameter.annotation}" if parameter.annotation is not None else ""
        default = ""
        if parameter.default is not None and not star:
            default = f" = {parameter.default}" if annotation else f"={parameter.default}"
        yield f"{star}{parameter.name}{annotation}{default}"
        if kind == "positional-only" and kinds[index + 1 : index + 2] != ["positional-only"]:
            yield "/"


def _docstring(docstring: Any, thing: Any) -> Iterator[str]:
    for section in docstring.parse("google", warnings=False):
        kind = section.kind.value
        if kind == "text":
            # Another test runs the blocks of docstrings, some of them inside a function.
            yield from (re.sub(r"^```python$", "```py", section.value, flags=re.MULTILINE), "")
        elif kind in _TITLES:
            yield from (f"**{_TITLES[kind]}**", "")
            yield from (_item(item, kind, thing) for item in section.value)
            yield ""
        else:
            raise ValueError(f"{thing.path}: a docstring has a section of the kind {kind!r}; write it as text")


def _item(item: Any, kind: str, thing: Any) -> str:
    text = " ".join(item.description.split())
    name = getattr(item, "name", "") or ""
    annotation = item.annotation
    if kind in ("parameters", "attributes") and annotation is None and not thing.is_attribute:
        owner = thing if kind == "parameters" else None
        known = {p.name: p.annotation for p in owner.parameters} if owner is not None and not owner.is_class else {}
        annotation = known.get(name.lstrip("*"))
    if kind == "raises":
        return f"- `{annotation}`: {text}"
    if not name:
        return f"- {text}" if annotation is None else f"- `{annotation}`: {text}"
    return f"- `{name}`: {text}" if annotation is None else f"- `{name}` (`{annotation}`): {text}"
