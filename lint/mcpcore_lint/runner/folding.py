"""Combines findings that have the same cause.

A helper that builds a failure for a hundred tools is fixed in one place, so it is one finding that names the tools. On
a server without mcpcore every tool of a file may fail in the same wrong way, so a report has one entry for the file.
Suppressions, the baseline and `--changed-since` still apply to each place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mcpcore_lint.diagnostics import Diagnostic, Fix, Related

_NAMED: Final = 3
"""How many tools a message names. The others are counted."""


def name_tools(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Combine the findings that several tools share, and name the tools at the end of the message."""
    merged: dict[object, Diagnostic] = {}
    for number, diagnostic in enumerate(diagnostics):
        if not diagnostic.tools:
            merged[number] = diagnostic
            continue
        key = (diagnostic.rule, diagnostic.path, diagnostic.span, diagnostic.message)
        first = merged.get(key)
        if first is not None:
            diagnostic = first._replace(  # noqa: PLW2901 - the same finding, with one more tool
                tools=(*first.tools, *diagnostic.tools), related=(*first.related, *diagnostic.related)
            )
        merged[key] = diagnostic
    return [_named(diagnostic) if diagnostic.tools else diagnostic for diagnostic in merged.values()]


def _named(diagnostic: Diagnostic) -> Diagnostic:
    tools = sorted(set(diagnostic.tools))
    more = len(tools) - _NAMED
    names = ", ".join(tools[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return diagnostic._replace(
        message=f"{diagnostic.message} ({'tools' if len(tools) > 1 else 'tool'}: {names})",
        tools=tuple(tools),
        related=tuple(sorted(set(diagnostic.related))),
    )


def fold(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Combine the findings of one rule in one file where they fold. The others become places of the first."""
    folded: dict[object, list[Diagnostic]] = {}
    for number, diagnostic in enumerate(diagnostics):
        key = (diagnostic.rule, diagnostic.severity, diagnostic.path) if diagnostic.folds else number
        folded.setdefault(key, []).append(diagnostic)
    return [_together(group) if len(group) > 1 else group[0] for group in folded.values()]


def _together(group: list[Diagnostic]) -> Diagnostic:
    first, *others = group
    places = [Related(other.path, other.span, other.message) for other in others]
    fixes = [diagnostic.fix for diagnostic in group if diagnostic.fix is not None]
    fix = fixes[0] if fixes else None
    if fix is not None and len(fixes) > 1:
        # An edit that two of them share is made once.
        edits = tuple(dict.fromkeys(edit for finding in fixes for edit in finding.edits))
        safe = all(finding.safety == "safe" for finding in fixes)
        fix = Fix(f"{fix.title}, and {len(fixes) - 1} more", edits, "safe" if safe else "unsafe")
    return first._replace(
        message=f"{first.message}; {len(others)} more like it in this file",
        related=(*first.related, *places),
        tools=tuple(
            sorted({tool for finding in group for tool in (finding.tools or (finding.tool,)) if tool is not None})
        ),
        fix=fix,
        places=len(group),
    )
