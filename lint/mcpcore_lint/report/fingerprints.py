"""Identifies findings across edits, for baselines and for reports whose readers track findings."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable

from mcpcore_lint.diagnostics import Diagnostic
from mcpcore_lint.report import lines_of


def content_marks(
    diagnostics: Iterable[Diagnostic],
    source: Callable[[str], str | None],
    place: Callable[[str], str] = lambda path: path,
) -> list[str]:
    """A mark for each finding: its file, rule, tool and line text without spaces, so that lines may move.

    Findings that agree in all of these have the same mark.
    """
    lines: dict[str, list[str]] = {}
    marks = []
    for diagnostic in diagnostics:
        if diagnostic.path not in lines:
            lines[diagnostic.path] = lines_of(source(diagnostic.path) or "")
        text = lines[diagnostic.path]
        line = (
            "".join(text[diagnostic.span.line - 1].split())
            if 0 < diagnostic.span.line <= len(text)
            else diagnostic.message
        )
        marks.append("\0".join((place(diagnostic.path), diagnostic.rule, diagnostic.tool or "", line)))
    return marks


def fingerprints(marks: Iterable[str]) -> list[str]:
    """Marks as short texts. Equal marks are numbered."""
    seen: Counter[str] = Counter()
    prints = []
    for mark in marks:
        seen[mark] += 1
        prints.append(hashlib.sha256(f"{mark}\0{seen[mark]}".encode(errors="surrogatepass")).hexdigest()[:32])
    return prints
