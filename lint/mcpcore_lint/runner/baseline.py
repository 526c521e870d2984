"""`--baseline`: findings that are known already, and not reported again until they change."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore_lint.output import CannotRunError
from mcpcore_lint.report.fingerprints import fingerprints
from mcpcore_lint.runner.writing import write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpcore_lint.runner.results import Result

VERSION: Final = 1


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
        path = self.path
        try:
            with open(path, encoding="utf-8") as file:
                data: Any = json.load(file)
        except FileNotFoundError:
            raise CannotRunError(
                f"{path}: this baseline does not exist; create it with --baseline {path} --write-baseline"
            ) from None
        except (OSError, ValueError, RecursionError) as error:
            raise CannotRunError(f"{path}: cannot be read as a baseline: {error}") from error
        if not isinstance(data, dict) or data.get("version") != VERSION or not isinstance(data.get("findings"), list):
            raise CannotRunError(f"{path}: not a baseline of version {VERSION}; create it again with --write-baseline")
        entries = []
        for finding in data["findings"]:
            where = [finding.get(key) for key in ("path", "fingerprint")] if isinstance(finding, dict) else [None]
            if not all(isinstance(text, str) and "\0" not in text for text in where):
                raise CannotRunError(
                    f"{path}: a finding has no path or fingerprint; create the file again with --write-baseline"
                )
            rule, message = str(finding.get("rule", "")), str(finding.get("message", ""))
            entries.append(Entry(finding["path"], rule, finding.get("tool"), message, finding["fingerprint"]))
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
        places = {each.path: self._place(result.absolute(each.path)) for each in result.diagnostics}
        prints = fingerprints(result.diagnostics, result.source, places.__getitem__)
        return [
            Entry(places[each.path], each.rule, each.tool, each.message, fingerprint)
            for each, fingerprint in zip(result.diagnostics, prints, strict=True)
        ]

    def match(self, result: Result) -> tuple[set[int], list[Entry]]:
        """Match the findings of a run with the file.

        The baseline matches findings by file, rule, tool and line text; if the line was edited, by file, rule, tool and
        message; and if the file no longer exists, by rule, tool and message. Each entry matches one finding.

        Returns:
            The positions of the findings that the file holds, and the entries that match no finding.
        """
        entries = self.entries(result)
        held: set[int] = set()
        left = self.read()

        def match(mark: Callable[[Entry], object], candidates: Sequence[Entry]) -> None:
            waiting: dict[object, list[Entry]] = {}
            for entry in candidates:
                waiting.setdefault(mark(entry), []).append(entry)
            used: set[int] = set()
            for number, entry in enumerate(entries):
                if number not in held and (same := waiting.get(mark(entry))):
                    used.add(id(same.pop()))
                    held.add(number)
            left[:] = [entry for entry in left if id(entry) not in used]

        match(lambda entry: entry.fingerprint, left)
        if left and len(held) < len(entries):
            match(lambda entry: (entry.path, entry.rule, entry.tool, entry.message), left)
        if left and len(held) < len(entries):
            exists = {entry.path: os.path.exists(self.absolute(entry)) for entry in left}
            match(lambda entry: (entry.rule, entry.tool, entry.message), [e for e in left if not exists[e.path]])
        return held, left
