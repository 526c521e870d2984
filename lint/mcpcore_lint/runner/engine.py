"""The linter as functions: check and fix files and folders, or one file in memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from mcpcore_lint.paths import below
from mcpcore_lint.runner.check import FilesRun
from mcpcore_lint.runner.results import FixedFile, Report
from mcpcore_lint.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcpcore_lint.diagnostics import Diagnostic
    from mcpcore_lint.runner.cache import Cache
    from mcpcore_lint.runner.discover import Walk

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
    editor: bool = False,
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
        editor: Whether only findings in these files are reported, at the places there that lead to them.
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
    alone = len(paths) <= FEW and all(os.path.isfile(path) for path in paths)
    report = FilesRun(
        root, settings, walk.files, store, contents=contents or {}, alone=alone, progress=progress, editor=editor
    ).report()
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
    from mcpcore_lint.runner.discover import Found

    root = os.path.abspath(root or os.getcwd())
    texts = {path: source, **(files or {})}
    contents = {os.path.normpath(os.path.join(root, name)): text for name, text in texts.items()}
    alone = not files and os.path.isfile(next(iter(contents)))
    held = {name: Found(name, 0, 0, 0) for name in contents}
    run = FilesRun(root, settings or Settings(), held, None, contents=contents, alone=alone, editor=True)
    return run.report()


# ---------------------------------------------------------------------------------------------------------------------
# Fixes.
# ---------------------------------------------------------------------------------------------------------------------


def fix_source(
    source: str,
    *,
    path: str = "<stdin>",
    settings: Settings | None = None,
    root: str | None = None,
    files: Mapping[str, str] | None = None,
    unsafe: bool = False,
) -> tuple[FixedFile, Report]:
    """Fix one file in memory, in passes until no fix is left. The report is about the last text that was checked."""
    from mcpcore_lint.runner.fixer import fix_text

    report = Report()

    def check(text: str) -> list[Diagnostic]:
        nonlocal report
        report = lint_source(text, path=path, settings=settings, root=root, files=files)
        return [diagnostic for diagnostic in report.diagnostics if diagnostic.path == shown]

    base = os.path.abspath(root or os.getcwd())
    shown = below(os.path.normpath(os.path.join(base, path)), base)
    return fix_text(path, source, check, unsafe=unsafe), report


__all__ = ["FixedFile", "Report", "fix_source", "lint_paths", "lint_source"]
