"""The report of what is left, also in the files that list dependencies, and the comments that mark it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.migrate.model import Left

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpcore_lint.engine.syntax.module import Module

_LISTED: Final = re.compile(
    r"^[^#\n]*?(?:^|[\"'])[ \t]*(mcp|fastmcp)\b(?![-_.\w])(?:\[[^\]]*\])?([^\n\"'#;]*)", re.MULTILINE
)
_KEY: Final = re.compile(r"^(mcp|fastmcp)\s*=\s*(?:\{[^\n]*?version\s*=\s*)?[\"']([^\"'\n]*)", re.MULTILINE)
_OLD: Final = {
    "mcp": re.compile(r"<\s*2|(?:==|~=|\^)\s*1\b"),
    "fastmcp": re.compile(r"<=?\s*[34]\b(?!\.[1-9])|(?:==|~=|\^)\s*[0-3]\b"),
}
FILES: Final = ("pyproject.toml", "requirements.txt", "setup.cfg", "setup.py")
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


def left_in_requirements(path: str, text: str) -> list[Left]:
    """The pins that keep out the SDK that mcpcore needs, and the missing requirement of mcpcore itself."""
    left: list[Left] = []
    lists_mcpcore = re.search(r"(?<![\w-])mcpcore\b", text) is not None
    listed = _listed(text) if path.endswith(".toml") else None
    matches = [match for match in _LISTED.finditer(text) if listed is None or _is_listed(match[0], listed)]
    for match in [*matches, *_KEY.finditer(text)]:
        line = text.count("\n", 0, match.start(1)) + 1
        name, version = match[1].lower(), match[2]
        if any(remaining.line == line for remaining in left):
            continue
        if _OLD[name].search(version):
            needs = "mcp 2.3 or later" if name == "mcp" else "fastmcp 4.0 or later"
            left.append(
                Left(path, line, (), f"the pin {name}{version.strip()}", f"mcpcore needs {needs}", comment=False)
            )
        elif not lists_mcpcore:
            left.append(Left(path, line, (), f"the dependency {name}", "add mcpcore too", comment=False))
            lists_mcpcore = True
    return left


def _is_listed(written: str, listed: list[str]) -> bool:
    """Whether a line of a `pyproject.toml` is about one of its requirements."""
    name = written.lstrip(" \t[\"'").partition(";")[0].strip()
    return any(requirement.startswith(name) for requirement in listed)


def _listed(text: str) -> list[str] | None:
    """The requirements in a `pyproject.toml`; None if it cannot be read."""
    import tomllib

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
    project = table.get("project", {})
    groups = [project.get("dependencies", []), *project.get("optional-dependencies", {}).values()]
    groups += table.get("dependency-groups", {}).values()
    return [line.strip() for group in groups if isinstance(group, list) for line in group if isinstance(line, str)]
