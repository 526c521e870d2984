"""The formats of a catalog, and of the changes between two.

Changes are written as text, JSON, Markdown for a pull request, or annotations of GitHub Actions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from mcpcore.catalog.diff import Change
from mcpcore.catalog.markdown import to_markdown
from mcpcore.catalog.model import Catalog
from mcpcore.catalog.page import to_html
from mcpcore.catalog.python import to_python
from mcpcore.catalog.rules import LEVELS, Level
from mcpcore.reports import counted
from mcpcore.reports.markdown import code, escaped, table
from mcpcore.values import site
from mcpcore.values.escaping import terminal_line

_COMMANDS: Final[dict[Level, str]] = {"breaking": "error", "risky": "warning", "safe": "notice"}
_HEADINGS: Final[dict[Level, str]] = {"breaking": "Breaking", "risky": "Risky", "safe": "Safe"}


def counts(changes: Sequence[Change]) -> dict[str, int]:
    """The number of changes of each level."""
    return {level: sum(change.level == level for change in changes) for level in LEVELS if level != "off"}


def summary(changes: Sequence[Change]) -> str:
    """The number of changes of each level, as a sentence without its end."""
    if not changes:
        return "the contracts are the same"
    parts = [f"{number} {level}" for level, number in counts(changes).items() if number]
    return f"{counted(len(changes), 'change')}: {', '.join(parts)}"


def _text(changes: Sequence[Change]) -> str:
    width = max((len(change.level) for change in changes), default=0)
    several = len({change.server for change in changes}) > 1
    lines = []
    for change in changes:
        where = f"{change.server}: " if several else ""
        lines.append(
            terminal_line(f"{change.level:<{width}}  {where}{change.subject}: {change.message}  [{change.rule}]")
        )
        # The message of such a change does not quote the words.
        if change.rule.endswith("-reworded") and isinstance(change.new, str):
            lines.append(terminal_line(f"{'':<{width}}    {_short(change.old)} → {_short(change.new)}"))
    sentence = summary(changes)
    return "\n".join([*lines, *([""] if lines else []), sentence[:1].upper() + sentence[1:] + "."]) + "\n"


def _json(changes: Sequence[Change]) -> str:
    plain = {"summary": counts(changes), "changes": [change.to_json() for change in changes]}
    return json.dumps(plain, indent=2, ensure_ascii=False, default=str) + "\n"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 120 else f"{text[:119]}…"


def _markdown(changes: Sequence[Change]) -> str:
    sentence = summary(changes)
    parts = ["## Failure contracts", sentence[:1].upper() + sentence[1:] + "."]
    several = len({change.server for change in changes}) > 1
    for level, heading in _HEADINGS.items():
        graded = [change for change in changes if change.level == level]
        if not graded:
            continue
        rows = [[_where(change), escaped(change.message), _linked(change.rule)] for change in graded]
        head = ["where", "change", "rule"]
        if several:
            head = ["server", *head]
            rows = [[escaped(change.server), *row] for change, row in zip(graded, rows, strict=True)]
        parts.append(f"### {heading}\n\n{table(head, rows)}")
    return "\n\n".join(parts) + "\n"


def _linked(rule: str) -> str:
    page = site.page(f"reference/diff-rules#{rule}")
    return code(rule) if page is None else f"[{rule}]({page})"


def _where(change: Change) -> str:
    subject = f"{change.kind} {code(change.name)}"
    return subject if change.reason is None else f"{subject}, {code(change.reason)}"


def _github(changes: Sequence[Change]) -> str:
    lines = []
    for change in changes:
        place = "" if change.place is None else f"file={_property(change.place.path)},"
        if change.place is not None and change.place.line is not None:
            place += f"line={change.place.line},"
        title = f"title={_property(f'{change.level}: {change.rule}')}"
        lines.append(f"::{_COMMANDS[change.level]} {place}{title}::{_data(f'{change.subject}: {change.message}')}")
    return "\n".join([*lines, terminal_line(summary(changes))]) + "\n"


def _data(text: str) -> str:
    """The message of a workflow command; `terminal_line` has no line feed left that could begin another command."""
    # The runner decodes `%0A` and the like.
    return terminal_line(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


_REPORTS: Final[Mapping[str, Callable[[Sequence[Change]], str]]] = {
    "text": _text,
    "json": _json,
    "md": _markdown,
    "github": _github,
}
SHAPES: Final = tuple(_REPORTS)
"""The formats of a report about changes."""

_CATALOGS: Final[Mapping[str, Callable[[Catalog], str]]] = {
    "md": to_markdown,
    "json": Catalog.dumps,
    "html": to_html,
    "python": to_python,
}
FORMATS: Final = tuple(_CATALOGS)
"""The formats of a catalog."""


def render_changes(changes: Sequence[Change], shape: str) -> str:
    """The report in a format, with a line feed at the end.

    Raises:
        ValueError: If the format is unknown.
    """
    _require_known(shape, SHAPES)
    return _REPORTS[shape](changes)


def render(catalog: Catalog, shape: str) -> str:
    """The catalog in a format: "md", "json", "html" or "python".

    Raises:
        ValueError: If the format is unknown.
        CatalogError: If the catalog cannot be written in it.
    """
    _require_known(shape, FORMATS)
    return _CATALOGS[shape](catalog)


def _require_known(shape: str, shapes: Sequence[str]) -> None:
    if shape not in shapes:
        raise ValueError(f"unknown format {shape!r}; choose one of {', '.join(shapes)}")
