"""Makes fixes in passes until none is left; a fix is made completely or not at all."""

import ast
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from mcpcore_lint.codemods.edits import Compatible, apply
from mcpcore_lint.codemods.rewrite import Rewriter
from mcpcore_lint.diagnostics import Diagnostic, Edit, Failure, grouped
from mcpcore_lint.engine.syntax.source import Source, SourceError, parse
from mcpcore_lint.runner.checker import crash
from mcpcore_lint.runner.files import ChangedMeanwhileError, put_in_place
from mcpcore_lint.runner.groups import Found, Group, state_of
from mcpcore_lint.runner.patch import FixedFile
from mcpcore_lint.runner.results import Result
from mcpcore_lint.runner.runner import lint_groups

MAX_PASSES: Final = 50


# -- one text ----------------------------------------------------------------------------------------------------------


def make_pass(path: str, text: str, diagnostics: Iterable[Diagnostic], *, unsafe: bool) -> tuple[str, int]:
    """One pass of fixes over a text: the new text, and how many fixes were made.

    Unsafe fixes wait until no safe one is left. For each tool only the unsafe fixes of one rule are made in a pass: a
    fix that renames a reason would otherwise miss what another fix writes under the old name.
    """
    rewriter = Rewriter(path, text)
    rules: dict[str | None, str] = {}
    safe, risky = [], []
    for diagnostic in sorted(diagnostics, key=lambda finding: finding.sort_key):
        if diagnostic.fix is not None and diagnostic.fix.safety == "safe":
            safe.append(diagnostic.fix)
        elif diagnostic.fix is not None and rules.setdefault(diagnostic.tool, diagnostic.rule) == diagnostic.rule:
            risky.append(diagnostic.fix)
    for fixes in (safe, risky) if unsafe else (safe,):
        chosen = _compatible(map(rewriter.edits, fixes))
        # If they break the file or change nothing together, the first one that does neither is made.
        for made in (chosen, *([edits] for edits in chosen)):
            changed = apply(text, [edit for edits in made for edit in edits])
            if changed != text and parsed(path, changed) is not None:
                return changed, len(made)
    return text, 0


def _compatible(fixes: Iterable[tuple[Edit, ...]]) -> list[tuple[Edit, ...]]:
    """The fixes that can be made in one pass: none touches an earlier one, but they may share equal edits."""
    accepted = Compatible()
    made: set[Edit] = set()
    chosen: list[tuple[Edit, ...]] = []
    for edits in fixes:
        if not made.issuperset(edits) and accepted.accept(edits):
            chosen.append(edits)
            made.update(edits)
    return chosen


def parsed(path: str, text: str) -> ast.Module | None:
    """The syntax of a text; None if it is not valid Python."""
    try:
        return parse(Source(path, text))
    except SourceError:
        return None


# -- the files of a command --------------------------------------------------------------------------------------------


def fix_groups(
    groups: Sequence[Group],
    select: Callable[[Result], Sequence[Diagnostic]],
    *,
    unsafe: bool,
    named: tuple[str, ...] | None = None,
    contents: Mapping[str, bytes] | None = None,
    **options: Any,
) -> tuple[list[FixedFile], Result]:
    """Fix the files of a command.

    Args:
        groups: The files.
        select: The findings of a result that are to be fixed.
        unsafe: Whether to make unsafe fixes too.
        named: The real paths that the command may change, with what is below them; None if it changes no file.
        contents: Contents by absolute path that replace those on disk, for runs that do not write.
        options: Further options for `lint_groups`.

    Returns:
        The files that were fixed, and the result of checking them again.
    """
    result = lint_groups(groups, contents=contents, **options)
    fixer = _Fixer(result, contents or {}, named)
    for _ in range(MAX_PASSES):
        seen = {path: file for group in groups for path, file in group.walk.files.items()}
        diagnostics = select(result)
        # A safe fix in one file may write a name that an unsafe fix would rename in another file.
        if not (fixer.make(diagnostics, seen, unsafe=False) or (unsafe and fixer.make(diagnostics, seen, unsafe=True))):
            break
        for group in groups:
            group.walk.files = {path: state_of(path) or file for path, file in group.walk.files.items()}
        result = lint_groups(groups, contents=fixer.contents, **options)
    else:
        for path, left in _by_path(select(result), unsafe=unsafe).items():
            rules = ", ".join(sorted({diagnostic.rule for diagnostic in left}))
            fixer.fail(path, fixer.late.get(path) or f"after {MAX_PASSES} passes {rules} still has something to fix")
    result.failures[:0] = fixer.failures
    return [fixer.fixed[path] for path in sorted(fixer.fixed)], result


def _by_path(diagnostics: Iterable[Diagnostic], *, unsafe: bool) -> dict[str, list[Diagnostic]]:
    fixable = (
        finding for finding in diagnostics if finding.fix is not None and (unsafe or finding.fix.safety == "safe")
    )
    return grouped(fixable, lambda finding: finding.path)


class _Fixer:
    """The files that a command has fixed so far."""

    def __init__(self, result: Result, contents: Mapping[str, bytes], named: tuple[str, ...] | None) -> None:
        self._absolute = result.absolute
        self._named = named
        self.fixed: dict[str, FixedFile] = {}
        self.contents = dict(contents)
        """The contents by absolute path from which the next pass starts if no file is written."""
        self.failures: dict[Failure, None] = {}
        self.late: dict[str, str] = {}
        """Why files were not fixed that changed after they were checked. They are checked again with the others."""

    def fail(self, path: str, message: str) -> None:
        """Report what could not be fixed, once."""
        self.failures[Failure(path, message)] = None

    def make(self, diagnostics: Iterable[Diagnostic], seen: Mapping[str, Found], *, unsafe: bool) -> bool:
        """Make one pass over all files; whether another one has to follow.

        Args:
            diagnostics: The findings.
            seen: The files by absolute path, as they were before they were checked.
            unsafe: Whether to make unsafe fixes too.
        """
        self.late.clear()
        changed = False
        for path, fixable in _by_path(diagnostics, unsafe=unsafe).items():
            try:
                changed |= self._fix(path, fixable, seen, unsafe=unsafe)
            except ChangedMeanwhileError as error:
                self.late[path] = f"not fixed: {error}"
            except UnicodeEncodeError as error:
                self.fail(path, f"not fixed: the fix needs a character that {error.encoding} lacks")
            except (OSError, SourceError) as error:
                self.fail(path, f"not fixed: {getattr(error, 'strerror', None) or error}")
            except Exception as error:  # noqa: BLE001 - a file that ends the analysis costs that file
                self.failures[crash(path, None, error)] = None
        return changed or bool(self.late)

    def _fix(self, path: str, diagnostics: Sequence[Diagnostic], seen: Mapping[str, Found], *, unsafe: bool) -> bool:
        """Make one pass over a file; whether it changed."""
        absolute = self._absolute(path)
        raw = self.contents[absolute] if absolute in self.contents else _read(absolute, seen.get(absolute))
        source = Source.from_bytes(path, raw)
        # Encodings such as UTF-7 write one text in several ways, and the fix would change the rest of the file.
        if source.to_bytes(source.text) != raw:
            self.fail(path, f"not fixed: its {source.encoding} text cannot be written back unchanged")
            return False
        text, count = make_pass(path, source.text, diagnostics, unsafe=unsafe)
        if not count:
            return False
        if self._named is not None:
            put_in_place(absolute, source.to_bytes(text), expected=raw, named=self._named)
        else:
            self.contents[absolute] = source.to_bytes(text)
        before = self.fixed.get(path) or FixedFile(path, source.text, text, 0)
        self.fixed[path] = FixedFile(path, before.before, text, before.count + count)
        return True


def _read(absolute: str, seen: Found | None) -> bytes:
    """The content of a file that has not changed since it was found."""
    with open(absolute, "rb") as file:
        if seen is not None and Found.of(os.fstat(file.fileno())) != seen:
            raise ChangedMeanwhileError
        return file.read()
