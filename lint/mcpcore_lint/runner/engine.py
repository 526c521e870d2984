"""Runs the linter: over files and folders, over one file in memory, and the fixes over both.

This module stays light: what parses and judges is imported when a file has to be judged, so that a run that finds
everything in the cache costs little more than looking at the files.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore_lint.dataclasses import light
from mcpcore_lint.diagnostics import Diagnostic, Failure, Related, Severity
from mcpcore_lint.runner.folding import name_tools
from mcpcore_lint.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mcpcore_lint.records import ToolRecord
    from mcpcore_lint.runner.cache import Cache
    from mcpcore_lint.runner.checker import FileResult, Judge
    from mcpcore_lint.runner.discover import Found, Walk


FEW: Final = 8
"""For at most this many files, named one by one, the linter looks for the registrations in other files."""


class Report(NamedTuple):
    """The outcome of a run."""

    diagnostics: tuple[Diagnostic, ...] = ()
    """The findings that no suppression covers, in the order of files and lines."""
    failures: tuple[Failure, ...] = ()
    """What kept the linter from its work; the run is incomplete where there is any."""
    files: int = 0
    """The Python files that were looked at."""
    tools: tuple[ToolRecord, ...] = ()
    """Every tool, resource and prompt that was found."""
    suppressed: int = 0
    """How many findings a suppression covers."""
    judged: int = 0
    """How many files were judged anew rather than found in the cache."""
    inputs: tuple[str, ...] | None = None
    """Files and folders, beyond those of the run, that the outcome rests on; None where they are not known."""

    def worst(self) -> Severity | None:
        """The gravest severity among the findings; None where there are none."""
        return max((each.severity for each in self.diagnostics), default=None)


@light
class FixedFile:
    """What the fixes did to a file."""

    path: str
    """As diagnostics show it."""
    before: str
    after: str
    count: int
    """How many fixes were made."""


# ---------------------------------------------------------------------------------------------------------------------
# Files and folders.
# ---------------------------------------------------------------------------------------------------------------------


def lint_paths(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    settings: Settings | None = None,
    root: str | None = None,
    cache: bool = False,
    progress: Callable[[int, int], None] | None = None,
    found: Walk | None = None,
    given: Mapping[str, bytes] | None = None,
) -> Report:
    """Lint files and folders.

    Args:
        paths: A path, or several: files, which are read whatever the settings leave out, and folders, of which every
            Python file is that `.gitignore` and the settings do not leave out.
        settings: The settings; the defaults where left out.
        root: The project's folder, to which paths in the report are relative; the current one where left out.
        cache: Whether to use what earlier runs found out, and to keep what this one does.
        progress: Called with the number of files judged, and how many there are.
        found: What the paths hold, where that is known already.
        given: Contents by absolute path that go before those on disk; what they come to is not kept.
    """
    from mcpcore_lint.runner.discover import Walk

    settings = settings or Settings()
    root = os.path.abspath(root or os.getcwd())
    paths = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    walk = Walk(settings, root).run(paths) if found is None else found
    store: Cache | None = None
    if cache:
        from mcpcore_lint.runner.cache import Cache

        store = Cache(root, settings)
        store.load()
    alone = len(paths) <= FEW and all(os.path.isfile(each) for each in paths)
    run = _PathRun(root, settings, walk.files, store, progress, given or {}, alone=alone)
    report = run.report()
    if not walk.failures:
        inputs = store.inputs() if store is not None and not given else None
        return report._replace(inputs=inputs)
    failures = (*walk.failures, *report.failures)
    return Report(report.diagnostics, failures, report.files, report.tools, report.suppressed, report.judged)


class _PathRun:
    """One run over files on disk."""

    def __init__(
        self,
        root: str,
        settings: Settings,
        files: Mapping[str, Found],
        cache: Cache | None,
        progress: Callable[[int, int], None] | None,
        given: Mapping[str, bytes],
        *,
        alone: bool,
    ) -> None:
        self.given = given
        self.root = root
        self.settings = settings
        self.files = files
        self.cache = cache
        self.progress = progress
        # In a small tree every file is read in full; in a large one those that have to do with MCP.
        self.every = len(files) <= settings.syntax_limit
        self.alone = alone
        self._judge: Judge | None = None

    def judge(self) -> Judge:
        """The judge of this process."""
        if self._judge is None:
            from mcpcore_lint.runner.checker import Judge

            self._judge = Judge(
                self.root,
                self.settings,
                files=self.files,
                every=self.every,
                hashes=self.cache is not None,
                alone=self.alone,
            )
            for path, raw in self.given.items():
                self._judge.give(path, raw)
        return self._judge

    # -- with and without the cache --------------------------------------------------------------------------------

    def report(self) -> Report:
        """Judge what has to be judged."""
        known: dict[str, Any] = self.cache.data if self.cache is not None else {}
        valid, digests = self._valid(known)
        stale = [path for path in self.files if path not in valid]
        whole = not stale and not self.given
        if whole and known.get("scope") == self._scope() and len(valid) == len(known["files"]):
            return self._unpack_report(known["report"])
        results = self._judge_files(stale)
        for path, packed in valid.items():
            results[path] = self._cached(packed, digests[path])
        return self._finish(results, judged=stale, known=known)

    def _scope(self) -> tuple[Any, ...]:
        return (self.every, len(self.files))

    def _valid(self, known: dict[str, Any]) -> tuple[dict[str, Any], dict[str, bytes]]:
        """The files whose earlier results still hold."""
        entries: dict[str, Any] = known.get("files", {})
        if not entries or known.get("scope", (None,))[0] != self.every:
            return {}, {}
        fresh: dict[str, Any] = {}
        changed: set[str] = set()
        digests: dict[str, bytes] = {}
        files = self.files
        for path, entry in entries.items():
            found = files.get(path)
            if found is None or path in self.given:
                changed.add(path)
                continue
            if entry[0] == found.mtime_ns and entry[1] == found.size and entry[2] == found.inode:
                fresh[path] = entry
            elif entry[1] == found.size and self._same_content(path, entry[3]):
                fresh[path] = (found.mtime_ns, found.size, found.inode, entry[3], entry[4])
            else:
                changed.add(path)
        for path, (mtime, size, digest) in known.get("outside", {}).items():
            if path in self.given:
                changed.add(path)
                continue
            if path in files:
                if path in entries and path not in changed and entries[path][3] == digest:
                    continue
                changed.add(path)
                continue
            try:
                stat = os.stat(path)
            except OSError:
                changed.add(path)
                continue
            if (stat.st_mtime_ns != mtime or stat.st_size != size) and not self._same_content(path, digest):
                changed.add(path)
        appeared = self._appeared(known)
        valid: dict[str, Any] = {}
        places: tuple[str, ...] = known.get("places", ())
        if not changed and not appeared:
            valid = fresh
        else:
            gone = {number for number, place in enumerate(places) if place in changed or place in appeared}
            for path, entry in fresh.items():
                packed = entry[4]
                if packed is None or (gone.isdisjoint(packed[-2]) and gone.isdisjoint(packed[-1])):
                    valid[path] = entry
        if self.alone:
            # The result of a run over all files lacks the tools that other files register.
            valid = {path: entry for path, entry in valid.items() if entry[4] is not None and entry[4][6]}
        for path, entry in valid.items():
            digests[path] = entry[3]
        return valid, digests

    @staticmethod
    def _same_content(path: str, digest: bytes) -> bool:
        from mcpcore_lint.runner.cache import content_hash

        try:
            with open(path, "rb") as file:
                return content_hash(file.read()) == digest
        except OSError:
            return False

    @staticmethod
    def _appeared(known: dict[str, Any]) -> set[str]:
        """Modules and lists of requirements that earlier runs looked for in vain and that are there now."""
        from mcpcore_lint.syntax.nearby import ANY_FILE

        found: set[str] = set()
        for folder, (mtime, names) in known.get("absent", {}).items():
            try:
                now = os.stat(folder).st_mtime_ns
            except OSError:
                now = 0
            if now == mtime:
                continue
            for name in names:
                path = os.path.join(folder, name)
                if name == ANY_FILE or os.path.isfile(path + ".py") or os.path.exists(path):
                    found.add(path)
        return found

    def _cached(self, entry: Any, digest: bytes) -> FileResult:
        from mcpcore_lint.runner.checker import irrelevant
        from mcpcore_lint.runner.packing import unpack_result

        packed = entry[4]
        if packed is None:
            return irrelevant(digest)
        places = self.cache.data["places"] if self.cache is not None else ()
        consulted = tuple(places[number] for number in packed[-2])
        missing = tuple(places[number] for number in packed[-1])
        return unpack_result((*packed[:-2], consulted, missing))

    # -- judging ---------------------------------------------------------------------------------------------------

    def _judge_files(self, paths: Sequence[str]) -> dict[str, FileResult]:
        if not paths:
            return {}
        from mcpcore_lint.runner.work import judge_all

        report = self.progress
        total = len(paths)
        each = None if report is None else lambda done: report(done, total)
        return judge_all(self.judge, paths, every=self.every, jobs=self.settings.jobs, progress=each)

    def _finish(self, results: dict[str, FileResult], *, judged: Iterable[str], known: dict[str, Any]) -> Report:
        """Settle what needed all files, take out what is suppressed, and keep it for the next run."""
        anew = set(judged)
        names = {tool.name for each in results.values() for tool in each.tools if tool.kind == "tool"}
        names.update(name for each in results.values() for name in each.external)
        unknown = None in names
        tool_names = frozenset(name for name in names if name is not None) | self.settings.tools
        again = self._to_judge_again(results, tool_names)
        optimistic = results
        if again:
            lacking = {name for path in again for name in results[path].asked if name not in tool_names}
            if lacking and not unknown:
                from mcpcore_lint.runner.checker import related_names

                tool_names |= related_names(self.root, lacking, self.settings, self.files.keys())
            judge = self.judge()
            judge.tool_names = tool_names
            judge.tools_unknown = unknown
            second = self._judge_files(again)
            judge.tool_names = None
            # Only the findings of the second look count; what it asked is known from the first.
            results = {**results, **{path: each._replace(asked=results[path].asked) for path, each in second.items()}}
        tools = tuple(
            sorted(
                self._once(tool for each in results.values() for tool in each.tools),
                key=lambda tool: (tool.path, tool.span),
            )
        )
        judge = self.judge()
        judge.tools_unknown = unknown
        judge.tool_names = tool_names
        common, failures = judge.project_rules(tools)
        judge.tool_names = None
        raw: dict[str, dict[Diagnostic, None]] = {}
        for each in results.values():
            failures.extend(each.failures)
            for diagnostic in each.diagnostics:
                raw.setdefault(diagnostic.path, {})[diagnostic] = None
        for diagnostic in common:
            raw.setdefault(diagnostic.path, {})[diagnostic] = None
        diagnostics, hidden, more = self._suppress(raw, results)
        failures.extend(more)
        diagnostics = name_tools(diagnostics)
        diagnostics.sort(key=lambda each: each.sort_key)
        report = Report(tuple(diagnostics), tuple(failures), len(self.files), tools, hidden, len(anew))
        if self.cache is not None and not self.given:
            self._save(optimistic, results, report, known)
        return report

    def _once(self, tools: Iterable[ToolRecord]) -> Iterable[ToolRecord]:
        """The tools, without those that the settings name and that some file registers as well."""
        if not self.settings.handlers:
            return tools
        found: dict[tuple[str, Any], ToolRecord] = {}
        rest: list[ToolRecord] = []
        for tool in tools:
            key = (tool.path, tool.span)
            if tool.kind == "tool" and (key not in found or found[key].server is None):
                found[key] = tool
            elif tool.kind != "tool" or tool.server is not None:
                rest.append(tool)
        return [*found.values(), *rest]

    @staticmethod
    def _to_judge_again(results: Mapping[str, FileResult], tool_names: frozenset[str]) -> list[str]:
        """The files that took a tool to exist that does not, or asked for all names."""
        return [
            path for path, each in results.items() if each.exact or any(name not in tool_names for name in each.asked)
        ]

    def _suppress(
        self, raw: dict[str, dict[Diagnostic, None]], results: Mapping[str, FileResult]
    ) -> tuple[list[Diagnostic], int, list[Failure]]:
        found: list[Diagnostic] = []
        failures: list[Failure] = []
        hidden = 0
        marked = {each.path: path for path, each in results.items() if each.has_suppressions}
        relevant = {each.path for each in results.values() if each.relevant}

        def look(path: str, diagnostics: list[Diagnostic], *, comments: bool) -> None:
            nonlocal hidden
            kept, covered, problems = self.judge().suppress(path, diagnostics)
            # What is to be said of the comments themselves is said of files of the run alone.
            found.extend(kept if comments else [each for each in kept if each in diagnostics])
            hidden += covered
            failures.extend(problems)
            self.judge().trim()

        for shown, path in marked.items():
            look(path, list(raw.get(shown, {})), comments=True)
        for shown, diagnostics in raw.items():
            if shown in marked:
                continue
            if shown in relevant:
                found.extend(diagnostics)
            else:
                # A finding in a file that others led to: its own comments hold all the same.
                path = os.path.normpath(os.path.join(self.root, shown))
                if _has_suppressions(path):
                    look(path, list(diagnostics), comments=False)
                else:
                    found.extend(diagnostics)
        return found, hidden, failures

    # -- keeping ---------------------------------------------------------------------------------------------------

    def _save(
        self,
        optimistic: Mapping[str, FileResult],
        results: Mapping[str, FileResult],
        report: Report,
        known: dict[str, Any],
    ) -> None:
        from mcpcore_lint.runner.cache import content_hash, trusted
        from mcpcore_lint.runner.packing import pack_result

        assert self.cache is not None
        places: dict[str, int] = {}
        entries: dict[str, Any] = {}
        consulted: set[str] = set()
        missing: set[str] = set()
        complete = True
        for path, result in optimistic.items():
            found = self.files[path]
            if result.failures or results[path].failures or not result.digest:
                # What failed is tried again next time.
                complete = False
                continue
            packed: tuple[object, ...] | None = None
            if result.relevant:
                plain = pack_result(result)
                consulted.update(result.consulted)
                missing.update(result.missing)
                packed = (
                    *plain[:-2],
                    tuple(places.setdefault(each, len(places)) for each in result.consulted),
                    tuple(places.setdefault(each, len(places)) for each in result.missing),
                )
            entries[path] = (trusted(found), found.size, found.inode, result.digest, packed)
        outside: dict[str, Any] = {}
        earlier: dict[str, Any] = known.get("outside", {})
        for path in consulted:
            if path in entries:
                continue
            try:
                stat = os.stat(path)
                before = earlier.get(path)
                if before is not None and before[0] == stat.st_mtime_ns and before[1] == stat.st_size:
                    outside[path] = before
                    continue
                with open(path, "rb") as file:
                    outside[path] = (stat.st_mtime_ns, stat.st_size, content_hash(file.read()))
            except OSError:
                complete = False
        absent: dict[str, Any] = {}
        for path in missing:
            folder, name = os.path.split(path)
            absent.setdefault(folder, []).append(name)
        for folder, names in absent.items():
            try:
                mtime = os.stat(folder).st_mtime_ns
            except OSError:
                mtime = 0
            absent[folder] = (mtime, tuple(sorted(names)))
        data = {
            "scope": self._scope() if complete else (self.every, -1),
            "files": entries,
            "outside": outside,
            "absent": absent,
            "places": tuple(places),
            "report": self._pack_report(report) if complete else None,
        }
        self.cache.save(data)

    @staticmethod
    def _pack_report(report: Report) -> tuple[Any, ...]:
        from mcpcore_lint.runner.packing import pack_diagnostic, pack_span

        tools = tuple((*each[:6], pack_span(each.span), each.in_test) for each in report.tools)
        return (tuple(pack_diagnostic(each) for each in report.diagnostics), report.files, tools, report.suppressed)

    @staticmethod
    def _unpack_report(packed: tuple[Any, ...]) -> Report:
        diagnostics, files, tools, suppressed = packed
        from mcpcore_lint.runner.packing import unpack_diagnostic, unpack_records

        return Report(
            tuple(unpack_diagnostic(each) for each in diagnostics), (), files, unpack_records(tools), suppressed, 0
        )


def _has_suppressions(path: str) -> bool:
    """Whether a file on disk may have suppression comments; one that cannot be read is left to who reads it in full."""
    from mcpcore_lint.runner.prefilter import SUPPRESSION

    try:
        with open(path, "rb") as file:
            return SUPPRESSION in file.read()
    except OSError:
        return True


# ---------------------------------------------------------------------------------------------------------------------
# One file in memory.
# ---------------------------------------------------------------------------------------------------------------------


def lint_source(
    source: str | bytes,
    *,
    path: str = "<stdin>",
    settings: Settings | None = None,
    root: str | None = None,
    files: Mapping[str, str] | None = None,
) -> Report:
    """Lint one file that is held in memory; the report is of that file alone.

    Args:
        source: Its text, or its bytes as they are on disk.
        path: Its name, from which the project's other files are found where it lies among them.
        settings: The settings; the defaults where left out.
        root: The project's folder; the current one where left out.
        files: Further files of the project, by path, that go before what is on disk.
    """
    from mcpcore_lint.runner.work import no_collection

    with no_collection():
        return _lint_source(source, path, settings or Settings(), os.path.abspath(root or os.getcwd()), files or {})


def _lint_source(source: str | bytes, path: str, settings: Settings, root: str, files: Mapping[str, str]) -> Report:
    from mcpcore_lint.rules import rule_named, selected
    from mcpcore_lint.runner.checker import Judge, parse_error, related_names
    from mcpcore_lint.syntax.source import Source, SourceError

    judge = Judge(root, settings)
    project = judge.project
    absolute = project.absolute(path)
    shown = project.display_path(absolute)
    extra: list[str] = []
    for name, text in files.items():
        where = project.absolute(name)
        try:
            project.give(where, Source(project.display_path(where), text))
        except SourceError:
            continue
        extra.append(where)
    try:
        made = Source.from_bytes(shown, source) if isinstance(source, bytes) else Source(shown, source)
        module = project.give(absolute, made)
    except SourceError as error:
        rule = rule_named("parse-error")
        on = rule is None or selected(rule, settings, judge.per_file(shown))
        return Report((parse_error(shown, error, settings),) if on else (), (), 1, judged=1)
    others = [judge.module(where, each) for where in extra if (each := project.module_at(project.display_path(where)))]
    suppresses = "mcpcore:" in made.text

    def judged() -> FileResult:
        own = judge.module(absolute, module, suppresses=suppresses)
        return own if files or own.tools or not os.path.isfile(absolute) else judge.with_tools_elsewhere(module, own)

    result = judged()
    tools = [tool for each in (*others, result) for tool in each.tools]
    every = {tool.name for tool in tools if tool.kind == "tool"}
    every.update(name for each in (*others, result) for name in each.external)
    names = frozenset(name for name in every if name is not None) | settings.tools
    lacking = {name for name in result.asked if name not in names}
    if result.exact or lacking:
        if lacking and os.path.isdir(root):
            names |= related_names(root, lacking, settings, {absolute, *extra})
        judge.tool_names = names
        judge.tools_unknown = None in every
        result = judged()
    judge.tool_names = names
    common, failures = judge.project_rules(tools)
    failures.extend(result.failures)
    here = {project.display_path(where) for where in (absolute, *extra)}
    everything = dict.fromkeys(_in_sight(each, here, shown) for each in (*result.diagnostics, *common))
    diagnostics: list[Diagnostic] = []
    hidden = 0
    # Findings in the other files that were given are told too; in files on disk they are those files' own matter.
    for where in (absolute, *extra):
        name = project.display_path(where)
        mine = [each for each in everything if each.path == name]
        text = made.text if where == absolute else _text_of(judge, name)
        if "mcpcore:" in text and (mine or where == absolute):
            mine, covered, more = judge.suppress(where, mine)
            hidden += covered
            failures.extend(more)
        diagnostics.extend(mine)
    diagnostics = name_tools(diagnostics)
    diagnostics.sort(key=lambda each: each.sort_key)
    return Report(tuple(diagnostics), tuple(failures), 1, result.tools, hidden, 1)


def _in_sight(diagnostic: Diagnostic, here: set[str], path: str) -> Diagnostic:
    """A finding that tools share, moved to where the file in memory leads to it if its own file is not shown."""
    ours = [place for place in diagnostic.related if place.path == path]
    if diagnostic.path in here or not diagnostic.tools or not ours:
        return diagnostic
    built = Related(diagnostic.path, diagnostic.span, "it is built here")
    return diagnostic._replace(path=path, span=ours[0].span, related=(built, *diagnostic.related))


def _text_of(judge: Judge, shown: str) -> str:
    """The text of a file that was given."""
    module = judge.project.module_at(shown)
    return module.source.text if module is not None else ""


# ---------------------------------------------------------------------------------------------------------------------
# Fixes.
# ---------------------------------------------------------------------------------------------------------------------


def fix_source(
    source: str | bytes,
    *,
    path: str = "<stdin>",
    settings: Settings | None = None,
    root: str | None = None,
    files: Mapping[str, str] | None = None,
    unsafe: bool = False,
) -> tuple[FixedFile, Report]:
    """Mend one file that is held in memory, pass after pass until no fix is left; the report is of what remains."""
    from mcpcore_lint.runner.fixer import MAX_PASSES, make_pass
    from mcpcore_lint.syntax.source import Source, SourceError

    try:
        text = (Source.from_bytes(path, source) if isinstance(source, bytes) else Source(path, source)).text
    except SourceError:
        report = lint_source(source, path=path, settings=settings, root=root, files=files)
        return FixedFile(path, "", "", 0), report
    before = text
    count = 0
    report = lint_source(text, path=path, settings=settings, root=root, files=files)
    for _ in range(MAX_PASSES):
        mine = [each for each in report.diagnostics if _same_path(each.path, path, root)]
        text_after, done = make_pass(path, text, mine, unsafe=unsafe)
        if not done:
            break
        count += done
        text = text_after
        report = lint_source(text, path=path, settings=settings, root=root, files=files)
    return FixedFile(path, before, text, count), report


def _same_path(left: str, right: str, root: str | None) -> bool:
    base = os.path.abspath(root or os.getcwd())
    return os.path.normpath(os.path.join(base, left)) == os.path.normpath(os.path.join(base, right))


def fix_paths(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    settings: Settings | None = None,
    root: str | None = None,
    unsafe: bool = False,
    write: bool = True,
    cache: bool = False,
) -> tuple[tuple[FixedFile, ...], Report]:
    """Mend files and folders, pass after pass until no fix is left; the report is of what remains.

    Args:
        paths: As for `lint_paths`.
        settings: The settings; the defaults where left out.
        root: The project's folder; the current one where left out.
        unsafe: Whether to make unsafe fixes too.
        write: Whether the files are changed; where not, the report is of the files as they are.
        cache: As for `lint_paths`.
    """
    from mcpcore_lint.runner.discover import Walk
    from mcpcore_lint.runner.fixer import Mending

    settings = settings or Settings()
    root = os.path.abspath(root or os.getcwd())
    paths = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    walk = Walk(settings, root).run(paths)
    report = lint_paths(paths, settings=settings, root=root, cache=cache, found=walk)
    mending = Mending(root, unsafe=unsafe, write=write)
    before = report
    failures: list[Failure] = []
    for _ in range(mending.passes):
        failures.extend(mending.make(report, walk.files))
        if not mending.again:
            break
        walk = Walk(settings, root).run(paths)
        report = lint_paths(paths, settings=settings, root=root, cache=cache, found=walk, given=mending.given)
    if not write:
        report = before
    if failures:
        report = Report(
            report.diagnostics,
            (*failures, *report.failures),
            report.files,
            report.tools,
            report.suppressed,
            report.judged,
        )
    return mending.result(), report


__all__ = ["Diagnostic", "FixedFile", "Report", "Severity", "fix_paths", "fix_source", "lint_paths", "lint_source"]
