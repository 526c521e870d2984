"""Checks the files of a project on disk, of which the cache may hold some results already."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from mcpcore_lint.diagnostics import Related
from mcpcore_lint.runner.folding import name_tools
from mcpcore_lint.runner.results import Report, irrelevant

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from mcpcore_lint.diagnostics import Diagnostic, Failure
    from mcpcore_lint.records import ToolRecord
    from mcpcore_lint.runner.cache import Cache
    from mcpcore_lint.runner.checker import Checker
    from mcpcore_lint.runner.discover import Found
    from mcpcore_lint.runner.results import FileResult
    from mcpcore_lint.settings import Settings


class FilesRun:
    """One run over the files of a project.

    What parses and checks is imported when a file needs it. A run whose results are all cached imports none of it.
    """

    def __init__(
        self,
        root: str,
        settings: Settings,
        files: Mapping[str, Found],
        cache: Cache | None,
        *,
        contents: Mapping[str, bytes | str],
        alone: bool,
        progress: Callable[[int, int], None] | None = None,
        editor: bool = False,
    ) -> None:
        """Prepare a run.

        Args:
            root: The project's folder.
            settings: The settings.
            files: The files by absolute path.
            cache: The cache, which was loaded.
            contents: Contents that replace those on disk. Results that use them are not cached.
            alone: Whether these are a few files without the rest of the project.
            progress: Called with the number of checked files and of all files.
            editor: Whether only findings in these files are reported, at the places there that lead to them.
        """
        self.root = root
        self.settings = settings
        self.files = files
        self.cache = cache
        self.contents = contents
        self.progress = progress
        self.alone = alone
        self.editor = editor
        # A small tree is read whole; of a large one only the files that have to do with MCP.
        self.every = editor or len(files) <= settings.syntax_limit
        self.known: dict[str, Any] = cache.data if cache is not None else {}
        self._checker: Checker | None = None

    def checker(self) -> Checker:
        """The checker of this process."""
        if self._checker is None:
            from mcpcore_lint.runner.checker import Checker

            self._checker = Checker(
                self.root,
                self.settings,
                files=self.files,
                every=self.every,
                hashes=self.cache is not None,
                alone=self.alone,
            )
            for path, raw in self.contents.items():
                self._checker.give(path, raw)
        return self._checker

    def report(self) -> Report:
        """Check the files whose cached results no longer hold, and put all results together."""
        valid = self._valid()
        stale = [path for path in self.files if path not in valid]
        if not stale and not self.contents and self.known.get("scope") == self._scope():
            from mcpcore_lint.runner.cache import unpack_report

            return unpack_report(self.known["report"])
        results = self._check(stale)
        if valid:
            from mcpcore_lint.runner.cache import unpack_result

            for path, (*_, digest, packed) in valid.items():
                results[path] = irrelevant(digest) if packed is None else unpack_result(packed)
        return self._finish(results, judged=len(stale))

    def _scope(self) -> tuple[bool, int]:
        return (self.every, len(self.files))

    # -- cached results --------------------------------------------------------------------------------------------

    def _valid(self) -> dict[str, Any]:
        """The cache entries that still hold, by path."""
        entries: dict[str, Any] = self.known.get("files", {})
        if not entries or self.known["scope"][0] != self.every:
            return {}
        fresh: dict[str, Any] = {}
        changed: set[str] = set()
        for path, entry in entries.items():
            mtime, size, inode, digest, packed = entry
            found = self.files.get(path)
            if found is None or path in self.contents:
                changed.add(path)
            elif mtime == found.mtime_ns and size == found.size and inode == found.inode:
                fresh[path] = entry
            elif size == found.size and _same_content(path, digest):
                fresh[path] = (found.mtime_ns, found.size, found.inode, digest, packed)
            else:
                changed.add(path)
        for path, (mtime, size, digest) in self.known["outside"].items():
            if path in self.contents or path in self.files:
                changed.add(path)
                continue
            try:
                stat = os.stat(path)
            except OSError:
                changed.add(path)
                continue
            if (stat.st_mtime_ns != mtime or stat.st_size != size) and not _same_content(path, digest):
                changed.add(path)
        changed |= self._appeared()
        if changed:
            fresh = {
                path: entry
                for path, entry in fresh.items()
                if entry[4] is None or (changed.isdisjoint(entry[4][-2]) and changed.isdisjoint(entry[4][-1]))
            }
        if self.alone:
            # A run over the whole project does not look for files that register the tools of a file.
            fresh = {path: entry for path, entry in fresh.items() if entry[4] is not None and entry[4][6]}
        return fresh

    def _appeared(self) -> set[str]:
        """The modules and requirement files that did not exist before and do now."""
        from mcpcore_lint.syntax.nearby import ANY_FILE

        appeared: set[str] = set()
        for folder, (mtime, names) in self.known["absent"].items():
            if _mtime(folder) == mtime:
                continue
            for name in names:
                path = os.path.join(folder, name)
                if name == ANY_FILE or os.path.isfile(path + ".py") or os.path.exists(path):
                    appeared.add(path)
        return appeared

    # -- checking --------------------------------------------------------------------------------------------------

    def _check(self, paths: Sequence[str]) -> dict[str, FileResult]:
        if not paths:
            return {}
        from mcpcore_lint.runner.pool import check_all

        report = self.progress
        progress = None if report is None else lambda done: report(done, len(paths))
        return check_all(self.checker, paths, every=self.every, jobs=self.settings.jobs, progress=progress)

    def _finish(self, results: dict[str, FileResult], *, judged: int) -> Report:
        """Complete the results with what all files together decide, suppress findings, and save the results."""
        checker = self.checker()
        tools = tuple(
            sorted(
                self._without_duplicates([tool for result in results.values() for tool in result.tools]),
                key=lambda tool: (tool.path, tool.span),
            )
        )
        common, failures = checker.project_rules(tools)
        failures += (failure for result in results.values() for failure in result.failures)
        found: dict[str, dict[Diagnostic, None]] = {}
        for diagnostic in (*self._of_missing_tools(results.values()), *common):
            if self.editor:
                diagnostic = self._in_sight(diagnostic)  # noqa: PLW2901 - the same finding at another place
            found.setdefault(diagnostic.path, {})[diagnostic] = None
        if self.editor:
            shown = {result.path for result in results.values()}
            found = {path: diagnostics for path, diagnostics in found.items() if path in shown}
        diagnostics, hidden = self._suppress(found, results, failures)
        diagnostics = sorted(name_tools(diagnostics), key=lambda diagnostic: diagnostic.sort_key)
        report = Report(tuple(diagnostics), tuple(failures), len(self.files), tools, hidden, judged)
        if self.cache is not None and not self.contents:
            self._save(self.cache, results, report)
        return report

    def _of_missing_tools(self, results: Collection[FileResult]) -> Iterator[Diagnostic]:
        """The findings of all files, without those about a missing tool that exists after all."""
        diagnostics = [diagnostic for result in results for diagnostic in result.diagnostics]
        asked = {diagnostic.missing_tool for diagnostic in diagnostics} - {None}
        tools = {name for result in results for name in result.external}
        tools |= {tool.name for result in results for tool in result.tools if tool.kind == "tool"}
        names = self.settings.tools.union(name for name in tools if name is not None)
        missing = {name for name in asked - names if name is not None}
        if missing and None not in tools:
            from mcpcore_lint.runner.checker import related_names

            names |= related_names(self.root, missing, self.settings, self.files.keys())
        # If the name of some tool is unknown, any name may exist. A package of contracts has no tools itself.
        reported = missing - names if names and None not in tools else set()
        for diagnostic in diagnostics:
            if diagnostic.missing_tool is None:
                yield diagnostic
            elif diagnostic.missing_tool in reported:
                from mcpcore_lint.rules._wording import near

                close = near(diagnostic.missing_tool, names)
                yield diagnostic._replace(help=f"did you mean {close!r}?") if close else diagnostic

    def _in_sight(self, diagnostic: Diagnostic) -> Diagnostic:
        """Move a finding that tools share to the place in these files that leads to it, unless it is in one of them."""
        shown = {self.checker().project.display_path(path) for path in self.files}
        places = [place for place in diagnostic.related if place.path in shown]
        if diagnostic.path in shown or not diagnostic.tools or not places:
            return diagnostic
        origin = Related(diagnostic.path, diagnostic.span, "it is built here")
        first, related = places[0], (origin, *diagnostic.related)
        return diagnostic._replace(path=first.path, span=first.span, related=related)

    def _without_duplicates(self, tools: Iterable[ToolRecord]) -> Iterable[ToolRecord]:
        """The tools, without those that `handlers` names although they are also registered."""
        if not self.settings.handlers:
            return tools
        registered = {(tool.path, tool.span) for tool in tools if tool.server is not None}
        return [
            tool
            for tool in dict.fromkeys(tools)
            if tool.kind != "tool" or tool.server is not None or (tool.path, tool.span) not in registered
        ]

    def _suppress(
        self, found: dict[str, dict[Diagnostic, None]], results: Mapping[str, FileResult], failures: list[Failure]
    ) -> tuple[list[Diagnostic], int]:
        """The findings that no comment suppresses, and the number of the others."""
        kept: list[Diagnostic] = []
        hidden = 0
        marked = {result.path: path for path, result in results.items() if result.has_suppressions}
        relevant = {result.path for result in results.values() if result.relevant}
        for shown in dict.fromkeys((*marked, *found)):
            diagnostics = list(found.get(shown, ()))
            path = marked.get(shown) or os.path.normpath(os.path.join(self.root, shown))
            # Findings in files outside of the run obey the comments there, too.
            if shown not in marked and (shown in relevant or not _has_suppressions(path)):
                kept += diagnostics
                continue
            left, covered, problems = self.checker().suppress(path, diagnostics)
            # The comments themselves are only checked in the files of the run.
            kept += left if shown in marked else [diagnostic for diagnostic in left if diagnostic in found[shown]]
            hidden += covered
            failures.extend(problems)
            self.checker().trim()
        return kept, hidden

    # -- saving ----------------------------------------------------------------------------------------------------

    def _save(self, cache: Cache, results: Mapping[str, FileResult], report: Report) -> None:
        from mcpcore_lint.runner.cache import pack_report, pack_result, trusted

        entries: dict[str, Any] = {}
        paths: dict[str, str] = {}
        complete = True
        for path, result in results.items():
            if result.failures or not result.digest:
                complete = False  # files that failed are checked again next time
                continue
            packed = None
            if result.relevant:
                # marshal writes a text once if it is the same object, and many files consult the same ones.
                consulted = tuple(paths.setdefault(each, each) for each in result.consulted)
                missing = tuple(paths.setdefault(each, each) for each in result.missing)
                packed = pack_result(result._replace(consulted=consulted, missing=missing))
            found = self.files[path]
            entries[path] = (trusted(found), found.size, found.inode, result.digest, packed)
        consulted_paths = {path for entry in entries.values() if entry[4] is not None for path in entry[4][-2]}
        missing_paths = {path for entry in entries.values() if entry[4] is not None for path in entry[4][-1]}
        outside = {path: self._state_outside(path) for path in consulted_paths if path not in entries}
        complete = complete and None not in outside.values()
        absent: dict[str, tuple[int, tuple[str, ...]]] = {}
        for path in sorted(missing_paths):
            folder, name = os.path.split(path)
            mtime, names = absent.get(folder) or (_mtime(folder), ())
            absent[folder] = (mtime, (*names, name))
        cache.save(
            {
                "scope": self._scope() if complete else (self.every, -1),
                "files": entries,
                "outside": {path: state for path, state in outside.items() if state is not None},
                "absent": absent,
                "report": pack_report(report) if complete else None,
            }
        )

    def _state_outside(self, path: str) -> tuple[int, int, bytes] | None:
        """The state of a consulted file that is not part of the run; None if it cannot be read."""
        from mcpcore_lint.runner.cache import content_hash

        try:
            stat = os.stat(path)
            before: tuple[int, int, bytes] | None = self.known.get("outside", {}).get(path)
            if before is not None and before[:2] == (stat.st_mtime_ns, stat.st_size):
                return before
            with open(path, "rb") as file:
                return (stat.st_mtime_ns, stat.st_size, content_hash(file.read()))
        except OSError:
            return None


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _same_content(path: str, digest: bytes) -> bool:
    from mcpcore_lint.runner.cache import content_hash

    try:
        with open(path, "rb") as file:
            return content_hash(file.read()) == digest
    except OSError:
        return False


def _has_suppressions(path: str) -> bool:
    """Whether a file may have suppression comments. If it cannot be read, the checker reports it."""
    from mcpcore_lint.syntax.prefilter import SUPPRESSION

    try:
        with open(path, "rb") as file:
            return SUPPRESSION in file.read()
    except OSError:
        return True
