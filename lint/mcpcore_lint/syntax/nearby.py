"""The Python files round a file, where code that uses it is looked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator


MANY: Final = 400
"""How many files are listed at most: an editor waits for the answer."""
ANY_FILE: Final = "*"
"""Stands for the name of any new file of a folder, among the modules that were looked for in vain."""
_SKIPPED: Final = frozenset({"__pycache__", "node_modules", "site-packages", "venv", "build", "dist", "tests", "test"})


def nearby(absolute: str, root: str) -> Iterator[str]:
    """The Python files of the folder of a file and of the folders above, then all of its package."""
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


__all__ = ["ANY_FILE", "nearby"]
