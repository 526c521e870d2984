"""The report of what is left, and the comments that mark it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.syntax.parse import walk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.migrate.model import Left

MARK: Final = "# TODO(mcpcore):"


def merged(left: Iterable[Left]) -> list[Left]:
    """One entry for each place and pattern, with the names of all its tools, in the order of the files."""
    tools: dict[Left, list[str]] = {}
    for remaining in left:
        names = tools.setdefault(remaining._replace(tools=()), [])
        names += [tool for tool in remaining.tools if tool not in names]
    return sorted(
        (key._replace(tools=tuple(names)) for key, names in tools.items()), key=lambda remaining: remaining[:2]
    )


def statement_lines(module: Module, line: int) -> tuple[int, int]:
    """The first and the last line of the innermost statement or clause that starts at a line or around it."""
    known: dict[int, tuple[int, int]] = module.memo.setdefault(("statement lines",), {})
    if not known:
        for node in walk([module.tree]):
            if isinstance(node, (ast.stmt, ast.ExceptHandler)):
                first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
                body = getattr(node, "body", None)
                last = max(first, body[0].lineno - 1 if body else node.end_lineno or first)
                known.update(dict.fromkeys(range(first, last + 1), (first, last)))
    return known.get(line, (line, line))


def comments(module: Module, left: Iterable[Left], reported: set[int]) -> list[Edit]:
    """The comments for places on whose lines no lint rule reports anything.

    Args:
        module: The file, after all other changes.
        left: What is left in it.
        reported: The lines on which the linter reports something.
    """
    source = module.source
    edits: dict[int, list[str]] = {}
    for remaining in left:
        first, last = statement_lines(module, remaining.line)
        if not remaining.comment or not reported.isdisjoint(range(first, max(last, remaining.last) + 1)):
            continue
        line = source.line(first)
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        text = f"{MARK} {remaining.pattern}: {remaining.decide}"
        above = first - 1
        while above and source.line(above).lstrip().startswith("#"):
            if source.line(above).strip() == text:
                break
            above -= 1
        else:
            above = 0
        if above or (first > 1 and source.line(first - 1).endswith("\\")) or not line.strip():
            continue
        lines = edits.setdefault(source.line_starts[first - 1], [])
        comment = f"{indent}{text}{source.newline}"
        if comment not in lines:
            lines.append(comment)
    return [Edit(place, place, "".join(lines)) for place, lines in edits.items()]
