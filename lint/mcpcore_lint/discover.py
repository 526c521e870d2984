"""Which files of some folders are read: every Python file that neither `.gitignore` nor the settings leave out."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from stat import S_ISREG
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.diagnostics import Failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpcore_lint.settings import Settings

SKIPPED: Final = frozenset(
    {"__pycache__", "node_modules", "site-packages", "venv", "_build", "build", "dist", "buck-out", "__pypackages__"}
)
"""Folders that hold nothing that people wrote; names that start with a dot are left out too."""

_VIRTUAL_ENVIRONMENT: Final = "pyvenv.cfg"


class Found(NamedTuple):
    """A file, and by what it is seen whether it has changed."""

    path: str
    mtime_ns: int
    size: int
    inode: int


class _Pattern(NamedTuple):
    source: str
    negated: bool
    folders_only: bool


class _Patterns:
    """The patterns of one file. Most paths match none of them, which one expression for all tells at once."""

    def __init__(self, rows: tuple[_Pattern, ...]) -> None:
        self.rows = rows
        self._any: dict[bool, re.Pattern[str] | None] = {}

    def __bool__(self) -> bool:
        return bool(self.rows)

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """Whether the last pattern that matches leaves the path out; None where none matches."""
        if folder not in self._any:
            sources = [row.source for row in self.rows if folder or not row.folders_only]
            self._any[folder] = re.compile("|".join(f"(?:{each})" for each in sources)) if sources else None
        screen = self._any[folder]
        if screen is None or screen.match(path) is None:
            return None
        for row in reversed(self.rows):
            if (folder or not row.folders_only) and re.match(row.source, path):
                return not row.negated
        return None


def _translate(pattern: str) -> str:
    """A `.gitignore` pattern as a regular expression over the path below the folder of the file."""
    anchored = "/" in pattern.rstrip("/")
    body = pattern.strip("/") or pattern
    out: list[str] = []
    index = 0
    while index < len(body):
        char = body[index]
        if body.startswith("**/", index) and (index == 0 or body[index - 1] == "/"):
            out.append("(?:.*/)?")
            index += 3
        elif body.startswith("/**", index) and index + 3 == len(body):
            out.append("/.*")
            index += 3
        elif char == "*":
            while index < len(body) and body[index] == "*":
                index += 1
            out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
            index += 1
        elif char == "[":
            end = body.find("]", index + 2 if body[index + 1 : index + 2] in {"!", "^"} else index + 1)
            if end < 0:
                out.append(r"\[")
                index += 1
            else:
                inner = body[index + 1 : end].replace("\\", "\\\\")
                if inner[:1] in {"!", "^"}:
                    inner = "^" + inner[1:]
                out.append(f"[{inner}]")
                index = end + 1
        elif char == "\\" and index + 1 < len(body):
            out.append(re.escape(body[index + 1]))
            index += 2
        else:
            out.append(re.escape(char))
            index += 1
    prefix = "" if anchored else "(?:.*/)?"
    return prefix + "".join(out)


def _compile(lines: Iterable[str]) -> _Patterns:
    return _compiled(tuple(lines))


@lru_cache(maxsize=256)
def _compiled(lines: tuple[str, ...]) -> _Patterns:
    """The patterns of some lines; the folders of a large repository often have the same file."""
    found: list[_Pattern] = []
    for raw in lines:
        line = raw.rstrip("\r\n")
        while line.endswith(" ") and not line.endswith("\\ "):
            line = line[:-1]
        if not line or line.startswith("#"):
            continue
        negated = line.startswith("!")
        if negated:
            line = line[1:]
        if not line.strip("/"):
            continue
        source = _translate(line) + r"\Z"
        if "[" in line:  # nothing else in a pattern can make an expression that is none
            try:
                re.compile(source)
            except re.error:
                continue
        found.append(_Pattern(source, negated, line.endswith("/")))
    return _Patterns(tuple(found))


def _read_patterns(path: str) -> _Patterns:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return _compile(file)
    except OSError:
        return _Patterns(())


class _Level(NamedTuple):
    base: str
    patterns: _Patterns


def _ignored(path: str, levels: Sequence[_Level], *, folder: bool) -> bool:
    """Whether the patterns leave a path out; the nearest file's last match decides."""
    for level in reversed(levels):
        below = path[len(level.base) + 1 :].replace(os.sep, "/")
        verdict = level.patterns.verdict(below, folder=folder)
        if verdict is not None:
            return verdict
    return False


def _levels_above(folder: str) -> list[_Level]:
    """The `.gitignore` files of the repository that hold above a folder."""
    chain: list[str] = []
    current = folder
    top: str | None = None
    while True:
        chain.append(current)
        if os.path.exists(os.path.join(current, ".git")):
            top = current
            break
        parent = os.path.dirname(current)
        if parent == current:
            break
        current = parent
    if top is None:
        return []
    found: list[_Level] = []
    exclude = _read_patterns(os.path.join(top, ".git", "info", "exclude"))
    if exclude:
        found.append(_Level(top, exclude))
    for each in reversed(chain[1:]):
        patterns = _read_patterns(os.path.join(each, ".gitignore"))
        if patterns:
            found.append(_Level(each, patterns))
    return found


class Walk:
    """Finds the files; what could not be read is in `failures`, all that decided which are found in `inputs`."""

    def __init__(self, settings: Settings, root: str) -> None:
        self.settings = settings
        self.root = root
        self.exclude = _compile(settings.exclude)
        self.files: dict[str, Found] = {}
        self.failures: list[Failure] = []
        self.configured: list[str] = []
        """Folders with a `pyproject.toml`, which may say otherwise for what lies below them."""

    def run(self, paths: Sequence[str | os.PathLike[str]]) -> Walk:
        """Find the files that some paths name: a file named outright is read whatever the settings leave out."""
        for each in paths:
            path = os.path.abspath(os.fspath(each))
            if os.path.isdir(path):
                levels = _levels_above(path) if self.settings.respect_gitignore else []
                self._folder(path, levels)
            else:
                try:
                    stat = os.stat(path)
                except OSError as error:
                    self._fail(path, error)
                    continue
                if not S_ISREG(stat.st_mode):
                    # Reading a pipe or a device may never end.
                    self._fail(path, OSError(None, "not a regular file; `-` reads standard input"))
                    continue
                self.files[path] = Found(path, stat.st_mtime_ns, stat.st_size, stat.st_ino)
        return self

    def _fail(self, path: str, error: OSError) -> None:
        shown = path[len(self.root) + 1 :] if path.startswith(self.root + os.sep) else path
        self.failures.append(Failure(shown.replace(os.sep, "/"), f"cannot be read: {error.strerror or error}"))

    def _folder(self, top: str, levels: list[_Level]) -> None:
        exclude = [_Level(self.root, self.exclude)] if self.exclude else []
        stack: list[tuple[str, list[_Level]]] = [(top, levels)]
        files = self.files
        while stack:
            folder, above = stack.pop()
            try:
                with os.scandir(folder) as scan:
                    entries = sorted(scan, key=lambda each: each.name)
            except OSError as error:
                self._fail(folder, error)
                continue
            names = {each.name for each in entries}
            if _VIRTUAL_ENVIRONMENT in names:
                continue
            if "pyproject.toml" in names:
                self.configured.append(folder)
            here = above
            if ".gitignore" in names and self.settings.respect_gitignore:
                patterns = _read_patterns(os.path.join(folder, ".gitignore"))
                if patterns:
                    here = [*above, _Level(folder, patterns)]
            folders: list[tuple[str, list[_Level]]] = []
            for entry in entries:
                name = entry.name
                try:
                    # A link to a folder is not followed: what it leads to is found where it really is, or lies outside.
                    if entry.is_dir(follow_symlinks=False):
                        if name[0] == "." or name in SKIPPED:
                            continue
                        if (here and _ignored(entry.path, here, folder=True)) or (
                            exclude and _inside(entry.path, self.root) and _ignored(entry.path, exclude, folder=True)
                        ):
                            continue
                        folders.append((entry.path, here))
                    elif name.endswith(".py"):
                        if (here and _ignored(entry.path, here, folder=False)) or (
                            exclude and _inside(entry.path, self.root) and _ignored(entry.path, exclude, folder=False)
                        ):
                            continue
                        if not entry.is_file():
                            continue
                        stat = entry.stat()
                        files[entry.path] = Found(entry.path, stat.st_mtime_ns, stat.st_size, stat.st_ino)
                except OSError as error:
                    self._fail(entry.path, error)
            folders.reverse()
            stack.extend(folders)


def _inside(path: str, root: str) -> bool:
    return path.startswith(root + os.sep)
