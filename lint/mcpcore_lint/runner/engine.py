"""The linter as functions: check and fix files and folders, or one file in memory."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Diagnostic, Failure, Related
from mcpcore_lint.runner.check import FilesRun
from mcpcore_lint.runner.folding import name_tools
from mcpcore_lint.runner.results import FixedFile, Report
from mcpcore_lint.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcpcore_lint.runner.cache import Cache
    from mcpcore_lint.runner.discover import Walk
    from mcpcore_lint.runner.results import FileResult
    from mcpcore_lint.syntax.module import Module

FEW: Final = 8
"""Up to this many files that are named directly, the linter searches other files for their registrations."""


def lint_paths(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    settings: Settings | None = None,
    root: str | None = None,
    cache: bool = False,
    progress: Callable[[int, int], None] | None = None,
    walk: Walk | None = None,
    contents: Mapping[str, bytes] | None = None,
) -> Report:
    """Lint files and folders.

    Args:
        paths: A path, or several: files, which are read even if they are excluded, and folders, of which every Python
            file is read that neither `.gitignore` nor the settings exclude.
        settings: The settings; the defaults if left out.
        root: The project's folder, to which paths in the report are relative; the current folder if left out.
        cache: Whether to use the results of earlier runs, and to save those of this one.
        progress: Called with the number of checked files and of all files.
        walk: The files that the paths name, if they are already known.
        contents: Contents by absolute path that replace those on disk. Their results are not cached.
    """
    from mcpcore_lint.runner.discover import Walk

    settings = settings or Settings()
    root = os.path.abspath(root or os.getcwd())
    paths = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    walk = walk or Walk(settings, root).run(paths)
    store: Cache | None = None
    if cache:
        from mcpcore_lint.runner.cache import Cache

        store = Cache(root, settings)
        store.load()
    alone = len(paths) <= FEW and all(os.path.isfile(path) for path in paths)
    run = FilesRun(root, settings, walk.files, store, contents=contents or {}, progress=progress, alone=alone)
    report = run.report()
    if walk.failures:
        return report._replace(failures=(*walk.failures, *report.failures))
    return report._replace(inputs=store.inputs() if store is not None and not contents else None)


def lint_source(
    source: str | bytes,
    *,
    path: str = "<stdin>",
    settings: Settings | None = None,
    root: str | None = None,
    files: Mapping[str, str] | None = None,
) -> Report:
    """Lint one file that is in memory.

    Args:
        source: Its text, or its bytes.
        path: Its name, by which it finds the project's other files.
        settings: The settings; the defaults if left out.
        root: The project's folder; the current folder if left out.
        files: More files of the project, by path, that replace those on disk.
    """
    from mcpcore_lint.runner.pool import no_collection

    with no_collection():
        return _lint_source(source, path, settings or Settings(), os.path.abspath(root or os.getcwd()), files or {})


def _lint_source(content: str | bytes, path: str, settings: Settings, root: str, files: Mapping[str, str]) -> Report:
    from mcpcore_lint.runner.checker import Checker, related_names
    from mcpcore_lint.syntax.source import Source, SourceError

    checker = Checker(root, settings)
    project = checker.project
    absolute = project.absolute(path)
    shown = project.display_path(absolute)
    modules: dict[str, Module] = {}
    for name, text in files.items():
        where = project.absolute(name)
        with contextlib.suppress(SourceError):
            modules[where] = project.give(where, Source(project.display_path(where), text))
    others = list(modules.items())
    try:
        source = Source.from_bytes(shown, content) if isinstance(content, bytes) else Source(shown, content)
        module = project.give(absolute, source)
    except SourceError as error:
        return Report(checker.parse_errors(shown, error), (), 1, judged=1)
    modules = {absolute: module, **modules}

    def check() -> FileResult:
        result = checker.check(absolute, module)
        search = not files and not result.tools and os.path.isfile(absolute)
        return checker.with_tools_elsewhere(module, result) if search else result

    before = [checker.check(where, other) for where, other in others]
    result = check()
    tools = [tool for each in (*before, result) for tool in each.tools]
    names = {tool.name for tool in tools if tool.kind == "tool"}
    names.update(name for each in (*before, result) for name in each.external)
    tool_names = frozenset(name for name in names if name is not None) | settings.tools
    missing = set(result.asked) - tool_names
    if missing and os.path.isdir(root):
        tool_names |= related_names(root, missing, settings, modules.keys())
    checker.tool_names = tool_names
    if result.exact or missing:
        checker.tools_unknown = None in names
        result = check()
    common, failures = checker.project_rules(tools)
    failures.extend(result.failures)
    here = {other.path for other in modules.values()}
    found = dict.fromkeys(_in_sight(each, here, shown) for each in (*result.diagnostics, *common))
    diagnostics: list[Diagnostic] = []
    hidden = 0
    # Findings in the other files in memory are reported too; those in files on disk are reported with these files.
    for where, other in modules.items():
        kept = [diagnostic for diagnostic in found if diagnostic.path == other.path]
        if "mcpcore:" in other.source.text and (kept or where == absolute):
            kept, covered, problems = checker.suppress(where, kept)
            hidden += covered
            failures.extend(problems)
        diagnostics.extend(kept)
    diagnostics = sorted(name_tools(diagnostics), key=lambda diagnostic: diagnostic.sort_key)
    return Report(tuple(diagnostics), tuple(failures), 1, result.tools, hidden, 1)


def _in_sight(diagnostic: Diagnostic, here: set[str], path: str) -> Diagnostic:
    """Move a finding that tools share to the place here that leads to it, unless its own file is in memory too."""
    places = [place for place in diagnostic.related if place.path == path]
    if diagnostic.path in here or not diagnostic.tools or not places:
        return diagnostic
    origin = Related(diagnostic.path, diagnostic.span, "it is built here")
    return diagnostic._replace(path=path, span=places[0].span, related=(origin, *diagnostic.related))


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
    """Fix one file in memory, in passes until no fix is left. The report is about the fixed file."""
    from mcpcore_lint.runner.fixer import MAX_PASSES, make_pass
    from mcpcore_lint.syntax.source import Source, SourceError

    def check(content: str | bytes) -> Report:
        return lint_source(content, path=path, settings=settings, root=root, files=files)

    try:
        text = (Source.from_bytes(path, source) if isinstance(source, bytes) else Source(path, source)).text
    except SourceError:
        return FixedFile(path, "", "", 0), check(source)
    before, count = text, 0
    base = os.path.abspath(root or os.getcwd())
    report = check(text)
    for _ in range(MAX_PASSES):
        here = [each for each in report.diagnostics if _same_path(base, each.path, path)]
        text, fixes = make_pass(path, text, here, unsafe=unsafe)
        if not fixes:
            break
        count += fixes
        report = check(text)
    return FixedFile(path, before, text, count), report


def _same_path(base: str, left: str, right: str) -> bool:
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
    """Fix files and folders, in passes until no fix is left. The report is about the files on disk afterwards.

    Args:
        paths: As for `lint_paths`.
        settings: The settings; the defaults if left out.
        root: The project's folder; the current folder if left out.
        unsafe: Whether to make unsafe fixes too.
        write: Whether to change the files.
        cache: As for `lint_paths`.
    """
    from mcpcore_lint.runner.discover import Walk
    from mcpcore_lint.runner.fixer import Mending

    settings = settings or Settings()
    root = os.path.abspath(root or os.getcwd())
    paths = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    walk = Walk(settings, root).run(paths)
    report = before = lint_paths(paths, settings=settings, root=root, cache=cache, walk=walk)
    fixer = Mending(root, unsafe=unsafe, write=write)
    failures: list[Failure] = []
    for _ in range(fixer.passes):
        failures.extend(fixer.make(report, walk.files))
        if not fixer.again:
            break
        walk = Walk(settings, root).run(paths)
        report = lint_paths(paths, settings=settings, root=root, cache=cache, walk=walk, contents=fixer.given)
    if not write:
        report = before
    return fixer.result(), report._replace(failures=(*failures, *report.failures))


__all__ = ["FixedFile", "Report", "fix_paths", "fix_source", "lint_paths", "lint_source"]
