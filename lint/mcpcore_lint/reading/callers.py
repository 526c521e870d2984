"""The calls of a function in the files round its own: searched for by its name, without parsing the other files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from mcpcore_lint.reading.source import SourceError

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from mcpcore_lint.reading.module import Module
    from mcpcore_lint.reading.scopes import Scope

MANY: Final = 400
"""How many files are searched at most: an editor waits for the answer."""
_SKIPPED: Final = frozenset({"__pycache__", "node_modules", "site-packages", "venv", "build", "dist", "tests", "test"})


def calls_elsewhere(name: str, module: Module) -> Iterator[tuple[ast.Call, Scope]]:
    """The calls of what has a name in a file, in the other files of its package; the callee is for the caller to check.

    Args:
        name: The name of a function or a class.
        module: The file that defines it.
    """
    project = module.project
    for path in texts_near(module):
        if f"{name}(" not in project.text_of(path):
            continue
        try:
            other = project.read(path)
        except (OSError, SourceError):
            continue
        project.depends(module, other)
        other.complete()
        yield from other.calls_near(f"{name}(")


def texts_near(module: Module) -> list[str]:
    """The paths of the other files of a package, the nearest first; found once for a file."""
    known: list[str] | None = module.memo.get("files near")
    if known is None:
        known = module.memo["files near"] = list(files_near(module.absolute, module.project.root))
        known += [path for path in module.project.held() if path != module.absolute and path not in known]
    return known


def files_near(absolute: str, root: str) -> Iterator[str]:
    """The Python files round a file: those of its folder and of the folders above, then all of its package."""
    seen = {absolute}
    folder, top = os.path.dirname(absolute), ""
    while True:
        for name in _listed(folder):
            path = os.path.join(folder, name)
            if name.endswith(".py") and path not in seen:
                seen.add(path)
                yield path
        package = os.path.isfile(os.path.join(folder, "__init__.py"))
        if package:
            top = folder
        above = os.path.dirname(folder)
        # Without a pyproject.toml the root is the folder of the file, and its package may start above.
        inside = folder != root and folder.startswith(root)
        if not (package or inside) or above == folder or len(seen) > MANY:
            break
        folder = above
    for inner, folders, names in os.walk(top) if top else ():
        folders[:] = sorted(each for each in folders if each not in _SKIPPED and not each.startswith("."))
        for name in sorted(names):
            path = os.path.join(inner, name)
            if name.endswith(".py") and path not in seen:
                seen.add(path)
                yield path
        if len(seen) > MANY:
            return


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


__all__ = ["calls_elsewhere", "files_near", "texts_near"]
