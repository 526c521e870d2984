"""Fixes the files of a command."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Failure
from mcpcore_lint.runner.fixer import MAX_PASSES, make_pass
from mcpcore_lint.runner.results import FixedFile
from mcpcore_lint.runner.runner import lint_groups
from mcpcore_lint.runner.writing import ChangedMeanwhileError, put_in_place
from mcpcore_lint.syntax.source import Source, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mcpcore_lint.diagnostics import Diagnostic
    from mcpcore_lint.runner.discover import Found
    from mcpcore_lint.runner.groups import Group
    from mcpcore_lint.runner.results import Result

_PATIENCE: Final = 3
"""How often files that someone else keeps changing are checked again."""


def fix_groups(
    groups: Sequence[Group],
    select: Callable[[Result], Sequence[Diagnostic]],
    *,
    unsafe: bool,
    cache: bool,
    progress: Callable[[int, int], None] | None = None,
    write: bool = True,
    contents: Mapping[str, bytes] | None = None,
    editor: bool = False,
) -> tuple[list[FixedFile], Result]:
    """Fix the files of a command.

    Args:
        groups: The files.
        select: The findings of a result that are to be fixed.
        unsafe: Whether to make unsafe fixes too.
        cache: Whether to use the cache.
        progress: Called with the number of checked files and of all files.
        write: Whether to change the files on disk.
        contents: Contents by absolute path that replace those on disk, for runs that do not write.
        editor: As for `lint_groups`.

    Returns:
        The files that were fixed, and the result of checking them again.
    """
    result = lint_groups(groups, cache=cache, progress=progress, contents=contents, editor=editor)
    fixer = _Fixer(result, contents or {}, write=write)
    patience = _PATIENCE
    for _ in range(MAX_PASSES):
        seen = {path: found for group in groups if group.walk is not None for path, found in group.walk.files.items()}
        diagnostics = select(result)
        # A safe fix in one file may write a name that an unsafe fix would rename in another file.
        changed = fixer.make(diagnostics, seen, unsafe=False)
        if unsafe and not changed and not fixer.late:
            changed = fixer.make(diagnostics, seen, unsafe=True)
        patience -= not changed
        if not patience or not (changed or fixer.late):
            break
        if write or fixer.late:
            groups = [group.read_again() for group in groups]
        result = lint_groups(groups, cache=cache, contents=fixer.contents, editor=editor)
    else:
        for path, left in _by_path(select(result), unsafe=unsafe).items():
            rules = ", ".join(sorted({diagnostic.rule for diagnostic in left}))
            fixer.fail(path, f"after {MAX_PASSES} passes {rules} still has something to fix")
    for path in fixer.late:
        fixer.fail(path, "not fixed: it was changed by someone else meanwhile")
    result.failures[:0] = fixer.failures
    return [fixer.fixed[path] for path in sorted(fixer.fixed)], result


def _by_path(diagnostics: Iterable[Diagnostic], *, unsafe: bool) -> dict[str, list[Diagnostic]]:
    fixable: dict[str, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        if diagnostic.fix is not None and (unsafe or diagnostic.fix.safety == "safe"):
            fixable.setdefault(diagnostic.path, []).append(diagnostic)
    return fixable


class _Fixer:
    """The files that a command has fixed so far."""

    def __init__(self, result: Result, contents: Mapping[str, bytes], *, write: bool) -> None:
        self._result = result
        self._write = write
        self.fixed: dict[str, FixedFile] = {}
        self.contents = dict(contents)
        """The contents by absolute path from which the next pass starts if no file is written."""
        self.failures: dict[Failure, None] = {}
        self.late: set[str] = set()
        """Files that changed after they were checked; they are checked again because the edits no longer fit."""

    def fail(self, path: str, message: str) -> None:
        """Report what could not be fixed, once."""
        self.failures[Failure(path, message)] = None

    def make(self, diagnostics: Iterable[Diagnostic], seen: Mapping[str, Found], *, unsafe: bool) -> bool:
        """Make one pass over all files; whether it changed any.

        Args:
            diagnostics: The findings.
            seen: The files by absolute path, as they were before they were checked.
            unsafe: Whether to make unsafe fixes too.
        """
        self.late.clear()
        changed = False
        for path, fixable in _by_path(diagnostics, unsafe=unsafe).items():
            absolute = self._result.absolute(path)
            try:
                changed |= self._fix(path, absolute, fixable, seen.get(absolute), unsafe=unsafe)
            except ChangedMeanwhileError:
                self.late.add(path)
            except UnicodeEncodeError as error:
                self.fail(path, f"not fixed: the fix needs a character that {error.encoding} lacks")
            except (OSError, SourceError) as error:
                self.fail(path, f"not fixed: {getattr(error, 'strerror', None) or error}")
        return changed

    def _fix(
        self, path: str, absolute: str, diagnostics: Sequence[Diagnostic], seen: Found | None, *, unsafe: bool
    ) -> bool:
        """Make one pass over a file; whether it changed."""
        raw = self.contents[absolute] if absolute in self.contents else _read(absolute, seen)
        source = Source.from_bytes(path, raw)
        if source.to_bytes(source.text) != raw:
            self.fail(path, f"not fixed: its {source.encoding} text cannot be written back unchanged")
            return False
        text, count = make_pass(path, source.text, diagnostics, unsafe=unsafe)
        if not count:
            return False
        content = source.to_bytes(text)
        if self._write:
            replace_file(absolute, content, expected=raw)
        else:
            self.contents[absolute] = content
        before = self.fixed.get(path) or FixedFile(path, source.text, text, 0)
        self.fixed[path] = FixedFile(path, before.before, text, before.count + count)
        return True


def _read(absolute: str, seen: Found | None) -> bytes:
    """The content of a file that has not changed since it was found."""
    with open(absolute, "rb") as file:
        state = os.fstat(file.fileno())
        if seen is not None and (state.st_mtime_ns, state.st_size, state.st_ino) != seen[1:]:
            raise ChangedMeanwhileError
        return file.read()


def replace_file(path: str, content: bytes, *, expected: bytes) -> None:
    """Replace the content of a source file.

    Raises:
        OSError: If it cannot be written.
        ChangedMeanwhileError: If it changed since it was read.
    """
    if not os.stat(path).st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        # A read-only file could still be replaced, but its owner does not want that.
        raise PermissionError(errno.EACCES, "the file is read-only")
    put_in_place(path, content, expected=expected)
