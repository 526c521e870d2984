"""Fixes the files of a command, or the text of a single file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mcpcore_lint.runner.fixer import MAX_PASSES, Mending, make_pass
from mcpcore_lint.runner.results import FixedFile, Report, Result
from mcpcore_lint.runner.runner import lint_groups, lint_text
from mcpcore_lint.syntax.source import Source, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpcore_lint.diagnostics import Diagnostic, Failure
    from mcpcore_lint.runner.groups import Group


def fix_groups(
    groups: Sequence[Group],
    select: Callable[[Result], Sequence[Diagnostic]],
    *,
    unsafe: bool,
    cache: bool,
    progress: Callable[[int, int], None] | None = None,
    write: bool = True,
) -> tuple[list[FixedFile], Result]:
    """Fix findings in passes until no fix is left.

    Args:
        groups: The files.
        select: The findings of a result that are to be fixed.
        unsafe: Whether to make unsafe fixes too.
        cache: Whether to use the cache.
        progress: Called with the number of checked files and of all files.
        write: Whether to change the files on disk.

    Returns:
        The files that were fixed, and the result of checking them again.
    """
    result = lint_groups(groups, cache=cache, progress=progress)
    fixer = Mending(result.base, unsafe=unsafe, write=write)
    failures: dict[Failure, None] = {}
    for _ in range(fixer.passes):
        seen = {path: found for group in groups if group.walk is not None for path, found in group.walk.files.items()}
        failures.update(dict.fromkeys(fixer.make(Report(tuple(select(result))), seen)))
        if not fixer.again:
            break
        if write or fixer.late:
            groups = [group.read_again() for group in groups]
        result = lint_groups(groups, cache=cache, contents=fixer.given)
    result.failures[:0] = failures
    return list(fixer.result()), result


def fix_text(
    raw: bytes, name: str, group: Group, select: Callable[[Result], Sequence[Diagnostic]], *, unsafe: bool
) -> FixedFile | None:
    """Fix one file in memory; None if nothing changes. The arguments are those of `fix_groups`."""
    try:
        source = Source.from_bytes(name, raw)
    except SourceError:
        return None
    text, count = source.text, 0
    for _ in range(MAX_PASSES):
        result = lint_text(source.to_bytes(text), name, group)
        shown = result.shown(os.path.abspath(name))
        here = [diagnostic for diagnostic in select(result) if diagnostic.path == shown]
        after, fixes = make_pass(shown, text, here, unsafe=unsafe)
        if not fixes:
            break
        try:
            source.to_bytes(after)
        except UnicodeEncodeError:
            break  # the fix needs a character that the file's encoding lacks
        text, count = after, count + fixes
    return FixedFile(name, source.text, text, count) if text != source.text else None
