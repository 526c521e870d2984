"""`--baseline`: findings that are known already, and not reported again until they change."""

import json
import os
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from mcpcore_lint.output import CannotRunError
from mcpcore_lint.report.fingerprints import content_marks, fingerprints
from mcpcore_lint.runner.files import write_text
from mcpcore_lint.runner.results import Result

VERSION: Final = 1
_SAME: Final = attrgetter("fingerprint")
_EDITED: Final = attrgetter("path", "rule", "tool", "message")
_MOVED: Final = attrgetter("rule", "tool", "message")


class Entry(NamedTuple):
    """A finding in a baseline. Its path is relative to the baseline's folder."""

    path: str
    rule: str
    tool: str | None
    message: str
    fingerprint: str


class Baseline:
    """A baseline file. It need not exist yet."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._folder = os.path.dirname(os.path.realpath(path))

    def read(self) -> list[Entry]:
        """The findings in the file.

        Raises:
            CannotRunError: If it is not a baseline.
        """
        try:
            with open(self.path, encoding="utf-8") as file:
                data: Any = json.load(file)
        except FileNotFoundError:
            raise CannotRunError(
                f"{self.path}: this baseline does not exist; create it with --baseline {self.path} --write-baseline"
            ) from None
        except (OSError, ValueError, RecursionError) as error:
            raise CannotRunError(f"{self.path}: cannot be read as a baseline: {error}") from error
        try:
            entries = [Entry(*(finding[key] for key in Entry._fields)) for finding in data["findings"]]
            texts = [text for entry in entries for text in (entry.path, entry.rule, entry.message, entry.fingerprint)]
            valid = data["version"] == VERSION and all(isinstance(text, str) and "\0" not in text for text in texts)
        except (TypeError, KeyError):
            entries, valid = [], False
        if not valid:
            raise CannotRunError(
                f"{self.path}: not a baseline of version {VERSION}; create it again with --write-baseline"
            )
        return entries

    def write(self, entries: Sequence[Entry]) -> None:
        """Replace the file.

        Raises:
            CannotRunError: If it cannot be written.
        """
        ordered = sorted(entries, key=lambda entry: (entry.path, entry.rule, entry.fingerprint))
        data = {"version": VERSION, "findings": [entry._asdict() for entry in ordered]}
        try:
            write_text(self.path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")
        except OSError as error:
            raise CannotRunError(f"{self.path}: cannot be written: {error.strerror or error}") from error

    def absolute(self, entry: Entry) -> str:
        """The file of an entry."""
        return os.path.normpath(os.path.join(self._folder, entry.path))

    def _place(self, absolute: str) -> str:
        """A path relative to the baseline's folder, so that the working directory does not matter."""
        try:
            return os.path.relpath(os.path.realpath(absolute), self._folder).replace(os.sep, "/")
        except ValueError:  # another drive
            return absolute.replace(os.sep, "/")

    def entries(self, result: Result) -> list[Entry]:
        """The findings of a run as entries."""
        places = {diagnostic.path: self._place(result.absolute(diagnostic.path)) for diagnostic in result.diagnostics}
        prints = fingerprints(content_marks(result.diagnostics, result.source, places.__getitem__))
        return [
            Entry(places[diagnostic.path], diagnostic.rule, diagnostic.tool, diagnostic.message, fingerprint)
            for diagnostic, fingerprint in zip(result.diagnostics, prints, strict=True)
        ]

    def match(self, result: Result) -> tuple[set[int], list[Entry]]:
        """Match the findings of a run with the file.

        The baseline matches findings by file, rule, tool and line text; if the line was edited, by file, rule, tool and
        message; and if the file no longer exists, by rule, tool and message. Each entry matches one finding.

        Returns:
            The findings that the file does not hold, by identity, and the entries that match no finding.
        """
        new = list(zip(self.entries(result), map(id, result.diagnostics), strict=True))
        left = self.read()
        gone = {entry.path for entry in left if not os.path.exists(self.absolute(entry))}
        for mark in (_SAME, _EDITED, _MOVED):
            waiting: dict[object, list[Entry]] = {}
            for entry in left:
                waiting.setdefault(mark(entry) if mark is not _MOVED or entry.path in gone else None, []).append(entry)
            candidates, new = new, []
            for entry, key in candidates:
                if same := waiting.get(mark(entry)):
                    same.pop()
                else:
                    new.append((entry, key))
            left = [entry for same in waiting.values() for entry in same]
        return {key for _, key in new}, left
