"""Applying fixes: whole ones or none, pass after pass until nothing is left, the rest of the file untouched."""

from __future__ import annotations

import errno
import os
import stat
from bisect import bisect_left, insort
from typing import TYPE_CHECKING, Final

from mcpcore_lint.codemods.edits import apply
from mcpcore_lint.diagnostics import Edit, Failure
from mcpcore_lint.runner.results import FixedFile
from mcpcore_lint.runner.writing import ChangedMeanwhileError, put_in_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpcore_lint.diagnostics import Diagnostic, Fix
    from mcpcore_lint.runner.discover import Found
    from mcpcore_lint.runner.results import Report

MAX_PASSES: Final = 50
_PATIENCE: Final = 3
"""How often files that somebody else goes on changing are judged anew."""


def choices(diagnostics: Sequence[Diagnostic], *, unsafe: bool) -> Iterator[list[tuple[Diagnostic, Fix]]]:
    """The fixes that can be made in one pass, and those to try where they cannot be made.

    Unsafe ones wait until nothing safe is left to do, and for a tool those of one rule are made at a time: one that
    renames a reason would else leave behind what another has written under the old name.
    """
    yield _together([each for each in diagnostics if each.fix is not None and each.fix.safety == "safe"])
    if unsafe:
        rules: dict[str | None, str] = {}
        candidates = [each for each in diagnostics if each.fix is not None and each.fix.safety == "unsafe"]
        candidates.sort(key=lambda each: each.sort_key)
        yield _together([each for each in candidates if rules.setdefault(each.tool, each.rule) == each.rule])


def _together(candidates: Sequence[Diagnostic]) -> list[tuple[Diagnostic, Fix]]:
    """Those of some fixes that go together: in the order of the file, none touching another."""
    found: list[tuple[Diagnostic, Fix]] = []
    taken: list[tuple[int, int]] = []
    accepted: set[Edit] = set()
    for each in sorted(candidates, key=lambda one: one.sort_key):
        fix = each.fix
        assert fix is not None
        fresh = [edit for edit in fix.edits if edit not in accepted]
        if not fresh or any(_touches(edit, taken) for edit in fresh):
            continue
        found.append((each, fix))
        for edit in fresh:
            insort(taken, (edit.start, edit.end))
        accepted.update(fresh)
    return found


def _touches(edit: Edit, taken: Sequence[tuple[int, int]]) -> bool:
    """Whether an edit touches one of others, which are in order: what is inserted touches what ends or begins there."""
    # Of those that begin before it only the last may reach so far; none of them overlaps another.
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
    """One pass of fixes over a text: the new text, and how many fixes it took."""
    for chosen in choices(diagnostics, unsafe=unsafe):
        changed = apply(text, [edit for _, fix in chosen for edit in fix.edits])
        if changed != text and _parses(path, changed):
            return changed, len(chosen)
        # Together they break the file or come to nothing: make them one by one, and leave out those that do.
        for _, fix in chosen:
            changed = apply(text, fix.edits)
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
    """Fixes over files on disk, in passes."""

    def __init__(self, root: str, *, unsafe: bool, write: bool = True) -> None:
        """Make it ready for the files of a folder. Where not `write`, what becomes of them is in `given` alone."""
        self.root = root
        self.unsafe = unsafe
        self.write = write
        self.passes = MAX_PASSES
        self.before: dict[str, str] = {}
        self.after: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self.given: dict[str, bytes] = {}
        """The contents by absolute path that the next pass starts from, where no file is written."""
        self.late: set[str] = set()
        """The files that somebody changed after they were judged: their edits fit no more, so they are judged again."""
        self.again = True
        """Whether another pass may find something to do."""
        self.waited = 0
        self.made = 0
        """The passes that changed something."""

    @staticmethod
    def _by_path(report: Report, *, unsafe: bool) -> dict[str, list[Diagnostic]]:
        found: dict[str, list[Diagnostic]] = {}
        for each in report.diagnostics:
            if each.fix is not None and (unsafe or each.fix.safety == "safe"):
                found.setdefault(each.path, []).append(each)
        return found

    def make(self, report: Report, seen: Mapping[str, Found]) -> list[Failure]:
        """Make one pass over the files of a report, and tell what went wrong.

        Args:
            report: The findings.
            seen: The files by absolute path, as they were before they were judged.
        """
        self.late.clear()
        # What a safe fix writes into one file may go by what an unsafe one would rename in another.
        changed, failures = self._make(report, seen, unsafe=False)
        if self.unsafe and not changed and not self.late:
            changed, more = self._make(report, seen, unsafe=True)
            failures += (each for each in more if each not in failures)
        self.waited += not changed
        self.made += bool(changed)
        self.again = bool(changed or self.late)
        if self.made >= self.passes:
            # A rule that finds what its own fix has made.
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
                        Failure(path, f"not fixed: its {source.encoding} text has no one way back to bytes")
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
        """What was done to each file."""
        return tuple(
            FixedFile(path, self.before[path], self.after[path], self.counts[path]) for path in sorted(self.after)
        )


def replace_file(path: str, content: bytes, *, expected: bytes | None = None) -> None:
    """Replace a file by what the fixes made of it.

    Raises:
        OSError: If it cannot be written.
        ChangedMeanwhileError: If it is no longer what it was when it was read.
    """
    target = os.path.realpath(path)
    mode = stat.S_IMODE(os.stat(target).st_mode)
    if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        # Another file could be put in its place all the same, which is not what its mode asks for.
        raise PermissionError(errno.EACCES, "the file is read-only")
    put_in_place(target, content, mode=mode, expected=expected)
