"""Finds where the reasons that no test raised would be raised: in the handlers themselves, or as the linter sees it."""

from __future__ import annotations

import ast
import tokenize
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcpcore.testing.reasons.merging import Covered


def find_sites(handlers: Sequence[Covered], root: Path) -> None:
    """Fill in `sites` of the missing reasons. A reason that its handler names itself has no other place.

    Most reasons are found this way. To load the linter takes longer than many runs of tests may lose, so it is loaded
    only for the files of handlers with other missing reasons.
    """
    by_file: dict[str, list[Covered]] = {}
    for covered in handlers:
        if covered.missing and covered.handler.file:
            by_file.setdefault(covered.handler.file, []).append(covered)
    for file, declared in by_file.items():
        own = _own_sites(file)
        for covered in declared:
            named = own.get(covered.handler.line, {})
            covered.sites = {
                reason: [(file, line) for line in named[reason]] for reason in covered.missing if reason in named
            }
    others = {
        file: declared
        for file, declared in by_file.items()
        if any(reason not in covered.sites for covered in declared for reason in covered.missing)
    }
    if not others:
        return
    from mcpcore_lint.runner.raises import places_of_reasons

    places = places_of_reasons(others, str(root))
    for covered in (covered for declared in others.values() for covered in declared):
        found = places.get((covered.handler.file, covered.handler.line), {})
        covered.sites = {reason: found[reason] for reason in covered.missing if reason in found} | covered.sites


def _own_sites(file: str) -> dict[int, dict[str, list[int]]]:
    """The lines with `….fail("reason")` in each function of a file, by the first line of the function."""
    try:
        with tokenize.open(file) as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):  # the file changed during the run, or was made by a template
        return {}
    sites: dict[int, dict[str, list[int]]] = {}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
        named = sites.setdefault(first, {})
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Attribute(attr="fail"), args=[ast.Constant(value=str(reason)), *_]):
                    named.setdefault(reason, []).append(node.lineno)
    return sites
