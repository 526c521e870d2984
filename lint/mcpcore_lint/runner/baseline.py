"""Findings that are known already: written down once, and not told again until they change."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore_lint.report import lines_of
from mcpcore_lint.runner.writing import write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpcore_lint.diagnostics import Diagnostic
    from mcpcore_lint.runner.runner import Result

VERSION: Final = 1


class BaselineError(Exception):
    """A baseline that cannot be read; the text says which and what next."""


def content_marks(
    diagnostics: Sequence[Diagnostic],
    source: Callable[[str], str | None],
    place: Callable[[str], str] = lambda path: path,
) -> list[str]:
    """A mark for each finding that stays the same when lines move; findings alike in all that counts share it.

    It is made of the file, the rule, the tool and the text of the line, without its white space.
    """
    lines: dict[str, list[str]] = {}
    marks = []
    for each in diagnostics:
        if each.path not in lines:
            lines[each.path] = lines_of(source(each.path) or "")
        text = lines[each.path]
        line = "".join(text[each.span.line - 1].split()) if 0 < each.span.line <= len(text) else each.message
        marks.append("\0".join((place(each.path), each.rule, each.tool or "", line)))
    return marks


def fingerprints(
    diagnostics: Sequence[Diagnostic],
    source: Callable[[str], str | None],
    place: Callable[[str], str] = lambda path: path,
) -> list[str]:
    """The marks as short texts; findings alike are numbered."""
    seen: Counter[str] = Counter()
    found = []
    for base in content_marks(diagnostics, source, place):
        seen[base] += 1
        found.append(hashlib.sha256(f"{base}\0{seen[base]}".encode(errors="surrogatepass")).hexdigest()[:32])
    return found


class Entry(NamedTuple):
    """One finding of a baseline; the path is relative to the baseline's own folder."""

    path: str
    rule: str
    tool: str | None
    message: str
    fingerprint: str


def read(path: str) -> list[Entry]:
    """The findings of a baseline.

    Raises:
        BaselineError: If it is not one.
    """
    try:
        with open(path, encoding="utf-8") as file:
            found: Any = json.load(file)
    except FileNotFoundError:
        raise BaselineError(
            f"{path}: there is no such baseline; make it with --baseline {path} --write-baseline"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise BaselineError(f"{path}: cannot be read as a baseline: {error}") from error
    if not isinstance(found, dict) or found.get("version") != VERSION or not isinstance(found.get("findings"), list):
        raise BaselineError(f"{path}: not a baseline of version {VERSION}; write it anew with --write-baseline")
    entries = []
    for each in found["findings"]:
        given = [each.get(key) for key in ("path", "fingerprint")] if isinstance(each, dict) else []
        if not given or not all(isinstance(one, str) and "\0" not in one for one in given):
            raise BaselineError(
                f"{path}: a finding in it has no path or fingerprint; write it anew with --write-baseline"
            )
        tool = each.get("tool")
        said = str(each.get("message", ""))
        entries.append(Entry(each["path"], str(each.get("rule", "")), tool, said, each["fingerprint"]))
    return entries


class Baseline:
    """A baseline and the findings of a run, set against each other."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._folder = os.path.dirname(os.path.realpath(path))

    def place(self, absolute: str) -> str:
        """A file relative to the baseline's folder, so that it counts from wherever the command runs."""
        try:
            return os.path.relpath(os.path.realpath(absolute), self._folder).replace(os.sep, "/")
        except ValueError:  # another drive
            return absolute.replace(os.sep, "/")

    def absolute(self, entry: Entry) -> str:
        """The file of one of its findings."""
        return os.path.normpath(os.path.join(self._folder, entry.path))

    def entries(self, result: Result, diagnostics: Sequence[Diagnostic]) -> list[Entry]:
        """The findings of a run as a baseline has them."""
        places = {each.path: self.place(result.absolute(each.path)) for each in diagnostics}
        marks = fingerprints(diagnostics, result.source, places.__getitem__)
        return [
            Entry(places[each.path], each.rule, each.tool, each.message, mark)
            for each, mark in zip(diagnostics, marks, strict=True)
        ]

    def matched(self, known: Sequence[Entry], entries: Sequence[Entry]) -> tuple[set[int], list[Entry]]:
        """Which findings of a run are known, by their number, and what is known and was not found.

        A finding is known by its line; where that was edited, by what is said of it in its file; where the file is no
        longer there, by what is said of it anywhere. What is known stands for one finding.
        """
        held: set[int] = set()
        left = list(known)

        def take(mark: Callable[[Entry], object], among: Sequence[Entry]) -> None:
            waiting: dict[object, list[Entry]] = {}
            for each in among:
                waiting.setdefault(mark(each), []).append(each)
            taken: set[int] = set()
            for number, each in enumerate(entries):
                if number not in held and (same := waiting.get(mark(each))):
                    taken.add(id(same.pop()))
                    held.add(number)
            left[:] = [each for each in left if id(each) not in taken]

        take(lambda each: each.fingerprint, left)
        if left and len(held) < len(entries):
            take(lambda each: (each.path, each.rule, each.tool, each.message), left)
        if left and len(held) < len(entries):
            there = {each.path: os.path.exists(self.absolute(each)) for each in left}
            take(lambda each: (each.rule, each.tool, each.message), [each for each in left if not there[each.path]])
        return held, left

    def write(self, entries: Sequence[Entry]) -> None:
        """Write findings down, in place of what was there.

        Raises:
            OSError: If it cannot be written.
        """
        findings = [
            each._asdict() for each in sorted(entries, key=lambda each: (each.path, each.rule, each.fingerprint))
        ]
        text = json.dumps({"version": VERSION, "findings": findings}, indent=2, ensure_ascii=False)
        write_text(self.path, text + "\n")
