"""The linter as functions: check and fix files and folders, or one file in memory."""

import functools
import os
from collections.abc import Mapping, Sequence

from mcpcore_lint.paths import below
from mcpcore_lint.runner.groups import Walk
from mcpcore_lint.runner.patch import FixedFile
from mcpcore_lint.runner.results import Report
from mcpcore_lint.runner.runner import FilesRun
from mcpcore_lint.settings import Settings


def lint_paths(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    settings: Settings | None = None,
    root: str | None = None,
    cache: bool = False,
) -> Report:
    """Lint files and folders.

    ```python
    report = lint_paths(["server.py", "tools"], root=folder)
    for finding in report.diagnostics:
        print(f"{finding.path}:{finding.span.line}: {finding.message}")
    ```

    Args:
        paths: A path, or several: files, which are read even if they are excluded, and folders, of which every Python
            file is read that neither `.gitignore` nor the settings exclude.
        settings: The settings; the defaults if left out.
        root: The project's folder, to which paths in the report are relative; the current folder if left out.
        cache: Whether to use the results of earlier runs, and to save those of this one.
    """
    walk = Walk(settings or Settings(), os.path.abspath(root or os.getcwd()))
    return FilesRun(walk.run([paths] if isinstance(paths, (str, os.PathLike)) else paths), cache=cache).report()


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
    walk = Walk(settings or Settings(), os.path.abspath(root or os.getcwd()))
    contents = {walk.hold(name): text for name, text in {path: source, **(files or {})}.items()}
    return FilesRun(walk, contents=contents, editor=True).report()


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
    from mcpcore_lint.runner.fix import MAX_PASSES, make_pass

    base = os.path.abspath(root or os.getcwd())
    shown = below(os.path.normpath(os.path.join(base, path)), base)
    check = functools.partial(lint_source, path=path, settings=settings, root=root, files=files)
    text, count, report = source, 0, check(source)
    for _ in range(MAX_PASSES):
        own = [diagnostic for diagnostic in report.diagnostics if diagnostic.path == shown]
        text, made = make_pass(path, text, own, unsafe=unsafe)
        if not made:
            break
        count += made
        report = check(text)
    return FixedFile(path, source, text, count), report


__all__ = ["FixedFile", "Report", "fix_source", "lint_paths", "lint_source"]
