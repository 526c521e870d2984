"""Importing several names at once, as one tidy edit."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from mcpcore_lint.codemods import edits as text_edits
from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpcore_lint.syntax.module import Module

_LINE: Final = regex(r"(?P<lead>\s*)from (?P<package>\S+) import (?P<name>[^\n;]+?)(?P<tail>\s*)\Z")


def _rank(name: str) -> tuple[int, str]:
    if name.isupper() and len(name) > 1:
        return (0, name)
    return (1, name) if name[:1].isupper() else (2, name)


def import_names(module: Module, wanted: Iterable[tuple[str, str]]) -> tuple[dict[str, str], list[Edit]]:
    """How each `package.name` is spelled in a file, and the edits that import those which are not yet."""
    spelled: dict[str, str] = {}
    by_place: dict[tuple[int, int], list[Edit]] = {}
    for package, name in sorted(set(wanted), key=lambda each: (each[0], _rank(each[1]))):
        imported = text_edits.import_name(module, package, name)
        spelled[name] = imported.text
        for edit in imported.edits:
            by_place.setdefault((edit.start, edit.end), []).append(edit)
    return spelled, [_joined(edits) for _, edits in sorted(by_place.items())]


def _joined(edits: list[Edit]) -> Edit:
    """Several insertions at one place as one."""
    if len(edits) == 1:
        return edits[0]
    first = edits[0]
    lines = [_LINE.match(each.text) for each in edits]
    found = [each for each in lines if each is not None]
    if len(found) != len(edits):
        return Edit(first.start, first.end, "".join(each.text for each in edits))
    packages: dict[str, list[str]] = {}
    for each in found:
        packages.setdefault(each["package"], []).append(each["name"])
    newline = "\r\n" if "\r\n" in found[0]["tail"] else "\n"
    ordered = sorted(packages, key=lambda each: (each.partition(".")[0] not in sys.stdlib_module_names, each))
    text = newline.join(f"from {each} import {', '.join(packages[each])}" for each in ordered)
    return Edit(first.start, first.end, f"{found[0]['lead']}{text}{found[0]['tail']}")
