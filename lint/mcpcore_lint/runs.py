"""One run of the command: which files under which configuration, what they come to, and what is mended."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mcpcore_lint import config
from mcpcore_lint.baseline import fingerprints, write_bytes
from mcpcore_lint.engine import fix_source, lint_paths, lint_source
from mcpcore_lint.source import Source, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mcpcore_lint.config import Config
    from mcpcore_lint.diagnostics import Diagnostic, Failure
    from mcpcore_lint.model import ToolRecord
    from mcpcore_lint.settings import Settings

SKIPPED_FOLDERS = frozenset({".git", ".hg", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox"})


@dataclass(frozen=True, slots=True)
class Group:
    """Paths that share a configuration."""

    config: Config
    paths: tuple[str, ...]


@dataclass(slots=True)
class Result:
    """What the groups of a run came to, put together."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    files: int = 0
    tools: list[ToolRecord] = field(default_factory=list)
    suppressed: int = 0
    roots: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    """Texts that are not those on disk, by path in the report."""

    def absolute(self, path: str) -> str:
        """The file behind a path of the report."""
        if os.path.isabs(path):
            return path
        candidates = [os.path.join(root, path) for root in self.roots]
        return next((each for each in candidates if os.path.exists(each)), candidates[0] if candidates else path)

    def source(self, path: str) -> str | None:
        """The text of a file by its path in the report."""
        if path in self.texts:
            return self.texts[path]
        try:
            with open(self.absolute(path), "rb") as file:
                return Source.from_bytes(path, file.read()).text
        except (OSError, SourceError):
            return None


def groups(paths: Sequence[str], given: Config | None, change: Callable[[Settings], Settings]) -> list[Group]:
    """The paths by the configuration that is nearest to each, which `change` completes with the options.

    Raises:
        ConfigError: If a configuration cannot be used.
    """
    if given is not None:
        return [Group(replace(given, settings=change(given.settings)), tuple(paths))]
    found: dict[str, tuple[Config, list[str]]] = {}
    for path in paths:
        nearest = config.find(path)
        found.setdefault(nearest.root, (nearest, []))[1].append(path)
    made: list[Group] = []
    for nearest, mine in found.values():
        settings = change(nearest.settings)
        inner = [each for path in mine if os.path.isdir(path) for each in config.nested(path, _is_skipped)]
        for folder in inner:
            below = config.find(folder)
            made.append(Group(replace(below, settings=change(below.settings)), (folder,)))
        if inner:
            globs = tuple(os.path.relpath(each, nearest.root).replace(os.sep, "/") for each in inner)
            settings = replace(settings, exclude=(*settings.exclude, *globs))
        made.append(Group(replace(nearest, settings=settings), tuple(mine)))
    return made


def _is_skipped(folder: str) -> bool:
    return os.path.basename(folder) in SKIPPED_FOLDERS or os.path.islink(folder)


def lint_groups(made: Iterable[Group]) -> Result:
    """Lint each group, and put what they come to together."""
    result = Result()
    for group in made:
        report = lint_paths(group.paths, settings=group.config.settings, root=group.config.root)
        _add(result, report, group.config.root)
    result.diagnostics.sort(key=lambda each: each.sort_key)
    return result


def lint_text(raw: bytes, name: str, group: Group) -> Result:
    """Lint one file that is not on disk as it is."""
    shown = _shown(name, group.config.root)
    report = lint_source(raw, path=shown, settings=group.config.settings, root=group.config.root)
    result = Result()
    _add(result, report, group.config.root)
    try:
        result.texts[shown] = Source.from_bytes(shown, raw).text
    except SourceError:
        result.texts[shown] = raw.decode("utf-8", "replace")
    return result


def _add(result: Result, report: object, root: str) -> None:
    from mcpcore_lint.engine import Report

    assert isinstance(report, Report)
    result.diagnostics += report.diagnostics
    result.failures += report.failures
    result.files += report.files
    result.tools += report.tools
    result.suppressed += report.suppressed
    result.roots.append(root)


@dataclass(frozen=True, slots=True)
class Mended:
    """A file and what the fixes make of it."""

    path: str
    absolute: str
    before: bytes
    after: bytes
    count: int

    def diff(self) -> str:
        """The change as a unified diff."""
        old, new = (text.decode("utf-8", "replace").splitlines(keepends=True) for text in (self.before, self.after))
        lines = difflib.unified_diff(old, new, f"a/{self.path}", f"b/{self.path}")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def write(self) -> None:
        """Replace the file, whole or not at all.

        Raises:
            OSError: If it cannot be written, or is not what it was when it was read.
        """
        with open(self.absolute, "rb") as file:
            if file.read() != self.before:
                raise OSError(None, "it changed while it was being fixed; run the fix again")
        write_bytes(self.absolute, self.after)


def mend(made: Sequence[Group], result: Result, *, unsafe: bool) -> list[Mended]:
    """What the fixes make of each file that has some; nothing is written."""
    mended: list[Mended] = []
    paths = sorted({each.path for each in result.diagnostics if _applies(each, unsafe=unsafe)})
    for path in paths:
        absolute = result.absolute(path)
        group = _group_of(absolute, made)
        try:
            with open(absolute, "rb") as file:
                raw = file.read()
        except OSError:
            continue  # it vanished meanwhile: there is nothing left to mend
        one = mend_text(raw, path, group, unsafe=unsafe, absolute=absolute)
        if one is not None:
            mended.append(one)
    return mended


def mend_text(raw: bytes, path: str, group: Group, *, unsafe: bool, absolute: str = "") -> Mended | None:
    """What the fixes make of one file; None where they leave it as it is."""
    try:
        source = Source.from_bytes(path, raw)
        fixed, _ = fix_source(raw, path=path, settings=group.config.settings, root=group.config.root, unsafe=unsafe)
    except SourceError:
        return None
    if not fixed.count or fixed.after == fixed.before:
        return None
    return Mended(path, absolute, raw, source.to_bytes(fixed.after), fixed.count)


def _applies(each: Diagnostic, *, unsafe: bool) -> bool:
    return each.fix is not None and (unsafe or each.fix.safety == "safe")


def _group_of(absolute: str, made: Sequence[Group]) -> Group:
    inside = [each for each in made if absolute.startswith(each.config.root + os.sep)]
    return max(inside, key=lambda each: len(each.config.root), default=made[0])


def _shown(name: str, root: str) -> str:
    absolute = os.path.abspath(name)
    inside = absolute.startswith(root + os.sep)
    return (os.path.relpath(absolute, root) if inside else name).replace(os.sep, "/")


def split_known(result: Result, known: set[str]) -> tuple[list[Diagnostic], int, int]:
    """The findings that a baseline does not hold, how many it does, and how many of its own are gone."""
    marks = fingerprints(result.diagnostics, result.source)
    fresh = [each for each, mark in zip(result.diagnostics, marks, strict=True) if mark not in known]
    return fresh, len(marks) - len(fresh), len(known - set(marks))
