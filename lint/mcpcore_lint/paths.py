"""Questions about paths that several parts of a run ask."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def upwards(folder: str) -> Iterator[str]:
    """A folder, then every folder above it."""
    above = ""
    while folder != above:
        yield folder
        above, folder = folder, os.path.dirname(folder)


def is_below(path: str, folder: str) -> bool:
    """Whether a path is inside a folder."""
    return path.startswith(os.path.join(folder, ""))


def below(absolute: str, folder: str) -> str:
    """A path relative to a folder, with `/` as the separator; a path outside of it stays absolute."""
    return absolute.removeprefix(os.path.join(folder, "")).replace(os.sep, "/")


def is_repository(folder: str) -> bool:
    """Whether a folder is the top of a git repository, a linked working tree or a submodule."""
    return os.path.exists(os.path.join(folder, ".git"))
