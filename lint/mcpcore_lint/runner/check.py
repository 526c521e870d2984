"""Checks the files of a project, of which the cache may hold some results already."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Diagnostic, Failure, Related
from mcpcore_lint.runner.discover import Walk
from mcpcore_lint.runner.files import content_of
from mcpcore_lint.runner.results import FileResult, Report, name_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from mcpcore_lint.runner.cache import Cache
    from mcpcore_lint.runner.checker import Checker

FEW: Final = 8
"""Up to this many files that are named directly, the linter searches other files for their registrations."""


class FilesRun:
    """One run over the files of a project.

    What parses and checks is imported when a file needs it. A run whose results are all cached imports none of it.
    """

    def __init__(
        self,
        walk: Walk,
        *,
        cache: bool = False,
        contents: Mapping[str, bytes | str] | None = None,
        editor: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Prepare a run.

        Args:
            walk: The files, with the settings and the project's folder.
            cache: Whether to use the results of earlier runs, and to save those of this one.
            contents: Contents by absolute path that replace those on disk. Results that use them are not cached.
            editor: Whether only findings in these files are reported, at the places there that lead to them.
            progress: Called with the number of checked files and of all files.
        """
        self.walk = walk
        self.root, self.settings, self.files = walk.root, walk.settings, walk.files
        self.contents = contents or {}
        self.editor = editor
        self.progress = progress
        self.alone = not walk.inputs and len(self.files) <= FEW and all(map(os.path.isfile, self.files))
        """Whether these are a few files without the rest of the project, which may register their functions."""
        self.every = editor or len(self.files) <= self.settings.syntax_limit
        """Whether files that have nothing to do with MCP are checked too, for their syntax."""
        self.cache: Cache | None = None
        if cache:
            from mcpcore_lint.runner.cache import Cache

            self.cache = Cache(walk, every=self.every)
        self._checker: Checker | None = None

    def checker(self) -> Checker:
        """The checker of this process."""
        if self._checker is None:
            from mcpcore_lint.runner.checker import Checker

            self._checker = Checker(self.root, self.settings, files=self.files, every=self.every, alone=self.alone)
            self._checker.is_cached = self.cache is not None
            for path, raw in self.contents.items():
                self._checker.give(path, raw)
        return self._checker

    def report(self) -> Report:
        """Check the files whose cached results no longer hold, and put all results together."""
        cache, inputs = self.cache, None
        valid = cache.valid(self.contents) if cache is not None else {}
        if self.alone:
            # A run over the whole project does not look for files that register the tools of a file.
            valid = {path: result for path, result in valid.items() if result.tools}
        stale = [path for path in self.files if path not in valid]
        report = cache.report() if cache is not None and not stale else None
        if report is None:
            results: dict[str, FileResult] = {}
            if stale:
                from mcpcore_lint.runner.pool import check_all

                results = check_all(self.checker, stale, jobs=self.settings.jobs, progress=self.progress)
            if valid:
                from mcpcore_lint.runner.cache import thawed

                results |= {path: thawed(result) for path, result in valid.items()}
            report = self._together(results)
            if cache is not None and not self.contents:
                cache.save(results, report)
        if cache is not None and not self.contents and not self.walk.failures:
            inputs = cache.inputs()
        return report._replace(failures=(*self.walk.failures, *report.failures), judged=len(stale), inputs=inputs)

    def _together(self, results: Mapping[str, FileResult]) -> Report:
        """The results with the findings that all files together decide, without those that comments suppress."""
        checker = self.checker()
        tools = [tool for result in results.values() for tool in result.tools]
        if self.settings.handlers:
            # It may name functions that are also registered.
            registered = {(tool.path, tool.span) for tool in tools if tool.server is not None}
            named = {tool for tool in tools if tool.kind == "tool" and tool.server is None}
            tools = [tool for tool in tools if tool not in named or (tool.path, tool.span) not in registered]
        tools.sort(key=lambda tool: (tool.path, tool.span))
        common, failures = checker.project_rules(tools)
        failures += (failure for result in results.values() for failure in result.failures)
        shown = {result.path for result in results.values()}
        by_path: dict[str, dict[Diagnostic, None]] = {}
        for diagnostic in (*self._with_known_tools(results.values()), *common):
            place = self._in_sight(diagnostic, shown) if self.editor else diagnostic
            if place.path in shown or not self.editor:
                by_path.setdefault(place.path, {})[place] = None
        kept, hidden = self._suppress(by_path, results, failures)
        mentioned = self._mentioned({finding.missing_tool for finding in kept if finding.missing_tool is not None})
        kept = [diagnostic for diagnostic in kept if diagnostic.missing_tool not in mentioned]
        diagnostics = sorted(name_tools(kept), key=lambda diagnostic: diagnostic.sort_key)
        return Report(tuple(diagnostics), tuple(failures), len(self.files), tuple(tools), hidden)

    def _with_known_tools(self, results: Collection[FileResult]) -> Iterator[Diagnostic]:
        """The findings of all files, without those about a missing tool that exists after all."""
        diagnostics = [diagnostic for result in results for diagnostic in result.diagnostics]
        tools = {name for result in results for name in result.external}
        tools |= {tool.name for result in results for tool in result.tools if tool.kind == "tool"}
        names = self.settings.tools.union(name for name in tools if name is not None)
        for diagnostic in diagnostics:
            missing = diagnostic.missing_tool
            if missing is None:
                yield diagnostic
            # If the name of some tool is unknown, any name may exist. A package of contracts has no tools itself.
            elif names and None not in tools and missing not in names:
                from mcpcore_lint.rules._wording import near

                close = near(missing, names)
                yield diagnostic._replace(help=f"did you mean {close!r}?") if close else diagnostic

    def _mentioned(self, names: set[str]) -> set[str]:
        """The names that other files define or have as a string, which may be these tools."""
        from mcpcore_lint.engine.registrations.external import OPTION

        mentioned: set[str] = set()
        for path in Walk(self.settings, self.root).run([self.root]).files if names else ():
            if path not in self.files:
                raw = content_of(path) or b""
                # A list of other servers' tools may take names from a third file, so any name may be in it.
                lists = OPTION.encode() in raw
                mentioned |= {name for name in names if lists or _may_define(name, raw)}
        return mentioned

    @staticmethod
    def _in_sight(diagnostic: Diagnostic, shown: set[str]) -> Diagnostic:
        """Move a finding that tools share to the place in these files that leads to it, unless it is in one of them."""
        places = [place for place in diagnostic.related if place.path in shown]
        if diagnostic.path in shown or not diagnostic.tools or not places:
            return diagnostic
        related = (Related(diagnostic.path, diagnostic.span, "it is built here"), *diagnostic.related)
        return diagnostic._replace(path=places[0].path, span=places[0].span, related=related)

    def _suppress(
        self, by_path: Mapping[str, Iterable[Diagnostic]], results: Mapping[str, FileResult], failures: list[Failure]
    ) -> tuple[list[Diagnostic], int]:
        """The findings that no comment suppresses, and the number of the others."""
        from mcpcore_lint.engine.syntax.prefilter import SUPPRESSION

        kept: list[Diagnostic] = []
        hidden = 0
        marked = {result.path: path for path, result in results.items() if result.has_suppressions}
        plain = {result.path for result in results.values()} - marked.keys()
        for shown in dict.fromkeys((*marked, *by_path)):
            diagnostics = list(by_path.get(shown, ()))
            path = marked.get(shown) or os.path.normpath(os.path.join(self.root, shown))
            # Findings in files outside of the run obey the comments there, too.
            if shown in plain or (shown not in marked and SUPPRESSION not in (content_of(path) or b"")):
                kept += diagnostics
                continue
            left, problems, own = self.checker().suppress(path, diagnostics)
            # The comments themselves are only checked in the files of the run.
            kept += (*left, *own) if shown in marked else left
            hidden += len(diagnostics) - len(left)
            failures += problems
            self.checker().trim()
        return kept, hidden


def _may_define(name: str, raw: bytes) -> bool:
    """Whether the text of a file may define a tool of some name."""
    encoded = name.encode("utf-8", "surrogatepass")
    if encoded not in raw:
        return False
    word = re.escape(encoded)
    return re.search(rb"\bdef\s+%b\b|[\"']%b[\"']|\b%b\s*=" % (word, word, word), raw) is not None
