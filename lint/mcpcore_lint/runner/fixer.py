"""Applies fixes in passes until none is left; a fix is made completely or not at all."""

from __future__ import annotations

import errno
import os
import stat
from bisect import bisect_left, insort
from typing import TYPE_CHECKING, Final

from mcpcore_lint.codemods.edits import apply
from mcpcore_lint.codemods.rewrite import Rewriter
from mcpcore_lint.diagnostics import Edit, Failure
from mcpcore_lint.runner.results import FixedFile
from mcpcore_lint.runner.writing import ChangedMeanwhileError, put_in_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from mcpcore_lint.diagnostics import Diagnostic
    from mcpcore_lint.runner.discover import Found
    from mcpcore_lint.runner.results import Report

    _Edits: TypeAlias = tuple[Edit, ...]

MAX_PASSES: Final = 50
_PATIENCE: Final = 3
"""How often files that someone else keeps changing are checked again."""


def _choices(path: str, text: str, diagnostics: Iterable[Diagnostic], *, unsafe: bool) -> Iterator[list[_Edits]]:
    """The fixes to make in this pass, each as its edits; the second choice is for when the first changes nothing.

    Unsafe fixes wait until no safe one is left. For each tool only the unsafe fixes of one rule are made in a pass: a
    fix that renames a reason would otherwise miss what another fix writes under the old name.
    """
    rewriter = Rewriter(path, text)
    fixable = sorted((each for each in diagnostics if each.fix is not None), key=lambda each: each.sort_key)
    yield _compatible(rewriter.edits(each.fix) for each in fixable if each.fix and each.fix.safety == "safe")
    if unsafe:
        rules: dict[str | None, str] = {}
        risky = [each for each in fixable if each.fix and each.fix.safety == "unsafe"]
        now = [each for each in risky if rules.setdefault(each.tool, each.rule) == each.rule]
        yield _compatible(rewriter.edits(each.fix) for each in now if each.fix)


def _compatible(fixes: Iterable[_Edits]) -> list[_Edits]:
    """The fixes that can be made in one pass: none touches an earlier one, but they may share equal edits."""
    chosen: list[_Edits] = []
    taken: list[tuple[int, int]] = []
    accepted: set[Edit] = set()
    for edits in fixes:
        fresh = [edit for edit in edits if edit not in accepted]
        if not fresh or any(_touches(edit, taken) for edit in fresh):
            continue
        chosen.append(edits)
        for edit in fresh:
            insort(taken, (edit.start, edit.end))
        accepted.update(fresh)
    return chosen


def _touches(edit: Edit, taken: Sequence[tuple[int, int]]) -> bool:
    """Whether an edit touches one of some sorted ranges; an insertion touches a range that starts or ends there."""
    # The ranges do not overlap, so of those that start before the edit only the last can reach it.
    first = max(bisect_left(taken, (edit.start, edit.start)) - 1, 0)
    for place in range(first, len(taken)):
        start, end = taken[place]
        if start > edit.end:
            return False
        empty = edit.start == edit.end or start == end
        if (edit.start <= end and start <= edit.end) if empty else (edit.start < end and start < edit.end):
            return True
    return False


def make_pass(path: str, text: str, diagnostics: Sequence[Diagnostic], *, unsafe: bool) -> tuple[str, int]:
    """One pass of fixes over a text: the new text, and how many fixes were made."""
    for chosen in _choices(path, text, diagnostics, unsafe=unsafe):
        changed = apply(text, [edit for edits in chosen for edit in edits])
        if changed != text and _parses(path, changed):
            return changed, len(chosen)
        # Together they break the file or change nothing: make the first one that does neither.
        for edits in chosen:
            changed = apply(text, edits)
            if changed != text and _parses(path, changed):
                return changed, 1
    return text, 0


def _parses(path: str, text: str) -> bool:
    from mcpcore_lint.syntax.source import Source, SourceError, parse

    try:
        parse(Source(path, text))
    except SourceError:
        return False
    return True


class Mending:
    """Fixes files on disk, in passes."""

    def __init__(self, root: str, *, unsafe: bool, write: bool = True) -> None:
        """Fix files of a folder; without `write`, the new contents are only kept in `given`."""
        self.root = root
        self.unsafe = unsafe
        self.write = write
        self.passes = MAX_PASSES
        self.before: dict[str, str] = {}
        self.after: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self.given: dict[str, bytes] = {}
        """The contents by absolute path from which the next pass starts if no file is written."""
        self.late: set[str] = set()
        """Files that changed after they were checked; they are checked again because the edits no longer fit."""
        self.again = True
        """Whether another pass may find something to do."""
        self.waited = 0
        self.made = 0
        """The number of passes that changed something."""

    @staticmethod
    def _by_path(report: Report, *, unsafe: bool) -> dict[str, list[Diagnostic]]:
        found: dict[str, list[Diagnostic]] = {}
        for each in report.diagnostics:
            if each.fix is not None and (unsafe or each.fix.safety == "safe"):
                found.setdefault(each.path, []).append(each)
        return found

    def make(self, report: Report, seen: Mapping[str, Found]) -> list[Failure]:
        """Make one pass over the files of a report, and return what went wrong.

        Args:
            report: The findings.
            seen: The files by absolute path, as they were before they were checked.
        """
        self.late.clear()
        # A safe fix in one file may write a name that an unsafe fix would rename in another file.
        changed, failures = self._make(report, seen, unsafe=False)
        if self.unsafe and not changed and not self.late:
            changed, more = self._make(report, seen, unsafe=True)
            failures += (each for each in more if each not in failures)
        self.waited += not changed
        self.made += bool(changed)
        self.again = bool(changed or self.late)
        if self.made >= self.passes:
            # A rule still reports its finding after its fix.
            failures += (
                Failure(path, f"after {self.made} passes {', '.join(sorted(rules))} still has something to fix")
                for path, rules in self._last(report).items()
            )
            self.again = False
        if not changed and self.waited >= _PATIENCE:
            failures += (Failure(path, "not fixed: it was changed by someone else meanwhile") for path in self.late)
            self.again = False
        return failures

    def _last(self, report: Report) -> dict[str, set[str]]:
        by_path = self._by_path(report, unsafe=self.unsafe).items()
        return {path: {each.rule for each in diagnostics} for path, diagnostics in by_path}

    def _make(self, report: Report, seen: Mapping[str, Found], *, unsafe: bool) -> tuple[int, list[Failure]]:
        from mcpcore_lint.syntax.source import Source, SourceError

        changed = 0
        failures: list[Failure] = []
        for path, diagnostics in self._by_path(report, unsafe=unsafe).items():
            absolute = os.path.normpath(os.path.join(self.root, path))
            try:
                raw = self._read(absolute, seen.get(absolute))
                source = Source.from_bytes(path, raw)
                if source.to_bytes(source.text) != raw:
                    failures.append(
                        Failure(path, f"not fixed: its {source.encoding} text cannot be written back unchanged")
                    )
                    continue
                text, done = make_pass(path, source.text, diagnostics, unsafe=unsafe)
                if not done:
                    continue
                content = source.to_bytes(text)
                if self.write:
                    replace_file(absolute, content, expected=raw)
                else:
                    self.given[absolute] = content
            except ChangedMeanwhileError:
                self.late.add(path)
                continue
            except OSError as error:
                failures.append(Failure(path, f"not fixed: {error.strerror or error}"))
                continue
            except SourceError as error:
                failures.append(Failure(path, f"not fixed: {error}"))
                continue
            except UnicodeEncodeError as error:
                failures.append(Failure(path, f"not fixed: the fix needs a character that {error.encoding} lacks"))
                continue
            self.before.setdefault(path, source.text)
            self.after[path] = text
            self.counts[path] = self.counts.get(path, 0) + done
            changed += 1
        return changed, failures

    def _read(self, absolute: str, seen: Found | None) -> bytes:
        if absolute in self.given:
            return self.given[absolute]
        with open(absolute, "rb") as file:
            state = os.fstat(file.fileno())
            if seen is not None and (state.st_mtime_ns, state.st_size, state.st_ino) != seen[1:]:
                raise ChangedMeanwhileError
            return file.read()

    def result(self) -> tuple[FixedFile, ...]:
        """The files that were changed."""
        return tuple(
            FixedFile(path, self.before[path], self.after[path], self.counts[path]) for path in sorted(self.after)
        )


def replace_file(path: str, content: bytes, *, expected: bytes | None = None) -> None:
    """Replace the content of a file.

    Raises:
        OSError: If it cannot be written.
        ChangedMeanwhileError: If it changed since it was read.
    """
    target = os.path.realpath(path)
    mode = stat.S_IMODE(os.stat(target).st_mode)
    if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        # A read-only file could still be replaced, but its owner does not want that.
        raise PermissionError(errno.EACCES, "the file is read-only")
    put_in_place(target, content, mode=mode, expected=expected)
