"""Applies the fixes of one text in passes until none is left; a fix is made completely or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcpcore_lint.codemods.edits import apply
from mcpcore_lint.codemods.rewrite import Rewriter
from mcpcore_lint.runner.results import FixedFile
from mcpcore_lint.syntax.source import Source, SourceError, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from mcpcore_lint.diagnostics import Diagnostic, Edit

    _Edits: TypeAlias = tuple[Edit, ...]

MAX_PASSES: Final = 50


def _choices(path: str, text: str, diagnostics: Iterable[Diagnostic], *, unsafe: bool) -> Iterator[list[_Edits]]:
    """The fixes to make in this pass, each as its edits; the second choice is for when the first changes nothing.

    Unsafe fixes wait until no safe one is left. For each tool only the unsafe fixes of one rule are made in a pass: a
    fix that renames a reason would otherwise miss what another fix writes under the old name.
    """
    rewriter = Rewriter(path, text)
    fixable = sorted((each for each in diagnostics if each.fix is not None), key=lambda each: each.sort_key)
    yield _compatible(rewriter.edits(each.fix) for each in fixable if each.fix and each.fix.safety == "safe")
    if unsafe:
        rules: dict[str | None, str] = {}
        risky = [each for each in fixable if each.fix and each.fix.safety == "unsafe"]
        now = [each for each in risky if rules.setdefault(each.tool, each.rule) == each.rule]
        yield _compatible(rewriter.edits(each.fix) for each in now if each.fix)


def _compatible(fixes: Iterable[_Edits]) -> list[_Edits]:
    """The fixes that can be made in one pass: none touches an earlier one, but they may share equal edits."""
    chosen: list[_Edits] = []
    accepted: set[Edit] = set()
    for edits in fixes:
        fresh = [edit for edit in edits if edit not in accepted]
        if fresh and not any(_touch(edit, other) for edit in fresh for other in accepted):
            chosen.append(edits)
            accepted.update(fresh)
    return chosen


def _touch(one: Edit, other: Edit) -> bool:
    """Whether two edits cannot be made in one pass; an insertion touches a range that starts or ends there."""
    if one.start == one.end or other.start == other.end:
        return one.start <= other.end and other.start <= one.end
    return one.start < other.end and other.start < one.end


def make_pass(path: str, text: str, diagnostics: Sequence[Diagnostic], *, unsafe: bool) -> tuple[str, int]:
    """One pass of fixes over a text: the new text, and how many fixes were made."""
    for chosen in _choices(path, text, diagnostics, unsafe=unsafe):
        # If they break the file or change nothing together, the first one that does neither is made.
        for fixes in (chosen, *([fix] for fix in chosen)):
            changed = apply(text, [edit for edits in fixes for edit in edits])
            if changed != text and _parses(path, changed):
                return changed, len(fixes)
    return text, 0


def _parses(path: str, text: str) -> bool:
    try:
        parse(Source(path, text))
    except SourceError:
        return False
    return True


def fix_text(path: str, text: str, check: Callable[[str], Sequence[Diagnostic]], *, unsafe: bool = False) -> FixedFile:
    """Fix one text in memory. `check` gives the findings in a text of the file."""
    before, count = text, 0
    for _ in range(MAX_PASSES):
        text, made = make_pass(path, text, check(text), unsafe=unsafe)
        if not made:
            break
        count += made
    return FixedFile(path, before, text, count)
