"""Which classes may stand behind the annotation of a base class or a protocol.

They are looked for where whoever wrote the call could see them: in the module of the call, in that of the class, and
in the modules that those two import at their top. Which files happened to be read before makes no difference.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import Symbol
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.type_model import ancestry, method_of
from mcpcore_lint.syntax.source import SourceError

_ABSTRACT: Final = frozenset({"ABC", "ABCMeta"})

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.syntax.module import ClassInfo, Module
    from mcpcore_lint.syntax.project import Project


def subclasses(info: ClassInfo, asker: Module) -> tuple[ClassInfo, ...]:
    """The classes that inherit from a class, as far as the module that asks can see them; nearest first."""
    key = ("subclasses", info.node)
    found: tuple[ClassInfo, ...] | None = asker.memo.get(key)
    if found is None:
        found = _subclasses(info, asker)
        asker.memo[key] = found
    return found


def implementers(protocol: ClassInfo, asker: Module) -> tuple[ClassInfo, ...]:
    """The classes that have all that a protocol asks for, as far as the module that asks can see them."""
    key = ("implementers", protocol.node)
    found: tuple[ClassInfo, ...] | None = asker.memo.get(key)
    if found is None:
        named = subclasses(protocol, asker)
        asked = {name for each in ancestry(protocol) if is_protocol(each) for name in each.attributes}
        asked -= {"__slots__", "__doc__"}
        alike = [
            each
            for module in (_modules_with(f"def {min(asked)}", protocol, asker) if asked else ())
            for each in _classes(module)
            if each is not protocol and not is_protocol(each) and all(_has(each, name) for name in asked)
        ]
        found = tuple(dict.fromkeys((*named, *alike)))
        asker.memo[key] = found
    return found


def is_protocol(info: ClassInfo) -> bool:
    """Whether a class says what others have to have, and is none of them itself."""
    for each in info.node.bases:
        base = each.value if isinstance(each, ast.Subscript) else each
        name = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
        if name == "Protocol":
            return True
    return False


def is_open(info: ClassInfo) -> bool:
    """Whether a class is there to be filled in by others: a protocol, or an abstract class."""
    if is_protocol(info):
        return True
    names = [*info.node.bases, *(each.value for each in info.node.keywords if each.arg == "metaclass")]
    return any(
        (each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "")) in _ABSTRACT for each in names
    )


def overrides(info: ClassInfo, base: ClassInfo) -> bool:
    """Whether a subclass does anything else than its base does."""
    theirs = {name for each in ancestry(base) for name in each.attributes}
    return any(
        name in theirs and name != "__init__"
        for each in ancestry(info)
        if each not in ancestry(base)
        for name in each.attributes
    )


def _subclasses(info: ClassInfo, asker: Module) -> tuple[ClassInfo, ...]:
    found: dict[ClassInfo, None] = {}
    waiting = [info]
    while waiting:
        base = waiting.pop(0)
        for module in _modules_with(base.node.name, info, asker):
            for each in _classes(module):
                if each is not info and each not in found and _inherits(each, base):
                    found[each] = None
                    waiting.append(each)
    return tuple(found)


def _classes(module: Module) -> list[ClassInfo]:
    """The classes that others can see; those within functions are not, nor known until something calls these."""
    return [each for each in module.classes.values() if each.scope.is_module]


def _inherits(info: ClassInfo, base: ClassInfo) -> bool:
    for each in info.node.bases:
        value = evaluate(each, info.scope)
        if isinstance(value, Symbol) and value.definition is base.node:
            return True
    return False


def _has(info: ClassInfo, name: str) -> bool:
    return method_of(info, name) is not None or any(
        name in each.attributes or name in each.instance_attributes for each in ancestry(info)
    )


def _modules_with(text: str, info: ClassInfo, asker: Module) -> Iterator[Module]:
    """The modules in sight in whose text something stands; the others are not parsed for this."""
    for path in _near(info.module, asker):
        module = _read(path, text, asker.project)
        if module is not None:
            yield module


def _read(path: str, text: str, project: Project) -> Module | None:
    module = project.already_read(path)
    if module is not None:
        return module if text in module.source.text else None
    try:
        with open(path, "rb") as file:
            raw = file.read()
        return project.read(path) if b"class " in raw and text.encode() in raw else None
    except (SourceError, OSError):
        return None


def _near(home: Module, asker: Module) -> tuple[str, ...]:
    """The files of two modules, and of all that they import at their top."""
    key = ("near", home.absolute)
    found: tuple[str, ...] | None = asker.memo.get(key)
    if found is None:
        paths: dict[str, None] = {asker.absolute: None, home.absolute: None}
        for module in dict.fromkeys((asker, home)):
            for source, name, level in _imports(module):
                for spelled in (source, f"{source}.{name}" if source else name) if name else (source,):
                    path = _located(module, spelled or "", level)
                    if path is not None:
                        paths[path] = None
        found = tuple(paths)
        asker.memo[key] = found
    return found


def _located(module: Module, name: str, level: int) -> str | None:
    """The file that an import means, where it is the project's."""
    return module.project.locate(module, name, level) if name or level else None


def _imports(module: Module) -> Iterator[tuple[str, str | None, int]]:
    for bindings in list(module.scope.bindings.values()):
        for each in bindings:
            if each.kind == "import" and each.target is not None:
                yield each.target
    for source, level in module.star_imports:
        yield source, None, level


__all__ = ["implementers", "is_protocol", "overrides", "subclasses"]
