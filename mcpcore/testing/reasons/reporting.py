"""Writes the coverage of reasons: for the terminal, as JSON, as HTML and as Markdown."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mcpcore.reports import html, markdown
from mcpcore.values.escaping import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpcore.testing.reasons.recording import Covered


@dataclass(frozen=True, slots=True)
class Summary:
    """The coverage of all handlers of a run."""

    handlers: Sequence[Covered]
    root: Path
    """The folder to which paths are relative."""

    @property
    def declared(self) -> int:
        """The number of declared reasons."""
        return sum(len(covered.declared) for covered in self.handlers)

    @property
    def raised(self) -> int:
        """The number of declared reasons that a test raised."""
        return sum(len(covered.declared) - len(covered.missing) for covered in self.handlers)

    @property
    def percent(self) -> float:
        """The share of the declared reasons that a test raised; 100 if none is declared."""
        return 100 * self.raised / self.declared if self.declared else 100.0

    @property
    def shown_percent(self) -> str:
        """The percentage, rounded down, so that only complete coverage is shown as 100 %."""
        return f"{int(self.percent * 10) / 10:g}%"

    def place(self, file: str, line: int) -> str:
        """A file and a line, relative to the root if the file is in it."""
        path = Path(file)
        if path.is_relative_to(self.root):
            path = path.relative_to(self.root)
        return f"{path.as_posix()}:{line}"


@dataclass(frozen=True, slots=True)
class _Row:
    """One handler as all formats but JSON show it."""

    name: str
    place: str
    declared: int
    raised: int
    missing: list[tuple[str, str]]
    """Each reason that was not raised, and where it would be raised."""

    undeclared: list[str]


def _rows(summary: Summary) -> list[_Row]:
    rows = []
    for covered in summary.handlers:
        handler = covered.handler
        name = handler.name if handler.noun == "tool" else f"{handler.noun} {handler.name}"
        missing = [
            (
                one_line(reason),
                ", ".join(one_line(summary.place(*site)) for site in covered.sites.get(reason, ()))
                or "no known code raises it",
            )
            for reason in covered.missing
        ]
        undeclared = [
            one_line(code if reason is None else f"{code} ({reason})")
            for code, reason in sorted(covered.undeclared, key=lambda pair: (pair[0], pair[1] or ""))
        ]
        place = one_line(summary.place(handler.file, handler.line)) if handler.file else ""
        count = len(covered.declared)
        rows.append(_Row(one_line(name), place, count, count - len(missing), missing, undeclared))
    return rows


NOTHING: Final = "No contract was declared in this run."


def terminal(summary: Summary) -> str:
    """A table of the handlers, with the missing reasons and the undeclared codes below each of them."""
    rows = _rows(summary)
    if not rows:
        return NOTHING
    width = max(len("TOTAL"), *(len(row.name) for row in rows))
    lines = [f"{'handler':<{width}}  reasons  raised"]
    for row in rows:
        lines.append(f"{row.name:<{width}}  {row.declared:>7}  {row.raised:>6}  {row.place}".rstrip())
        lines += [f"    not raised: {reason} ({where})" for reason, where in row.missing]
        lines += [f"    undeclared: {code}" for code in row.undeclared]
    lines.append(f"{'TOTAL':<{width}}  {summary.declared:>7}  {summary.raised:>6}  {summary.shown_percent}")
    return "\n".join(lines)


def as_json(summary: Summary) -> str:
    """The coverage for programs."""
    document: dict[str, Any] = {
        "version": 1,
        "declared": summary.declared,
        "raised": summary.raised,
        "percent": summary.percent,
        "handlers": [
            {
                "kind": covered.handler.noun,
                "name": covered.handler.name,
                "file": covered.handler.file or None,
                "line": covered.handler.line or None,
                "reasons": [
                    {
                        "reason": reason,
                        "code": code,
                        "raised": reason in covered.raised,
                        "sites": [{"file": file, "line": line} for file, line in covered.sites.get(reason, ())],
                    }
                    for reason, code in covered.declared.items()
                ],
                "undeclared": [
                    {"code": code, "reason": reason}
                    for code, reason in sorted(covered.undeclared, key=lambda pair: (pair[0], pair[1] or ""))
                ],
            }
            for covered in summary.handlers
        ],
    }
    return json.dumps(document, indent=2) + "\n"


_TITLE: Final = "Reason coverage"
_HEADERS: Final = ("handler", "declared in", "reasons", "raised", "not raised", "undeclared")


def _total(summary: Summary) -> str:
    return f"{summary.raised} of {summary.declared} declared reasons were raised: {summary.shown_percent}."


def _cells(row: _Row, code: Callable[[str], str], plain: Callable[[str], str]) -> tuple[str, str, str, str, str, str]:
    """The cells of a row, whose texts `code` and `plain` escape."""
    missing = "<br>".join(f"{code(reason)} {plain(f'({where})')}" for reason, where in row.missing)
    undeclared = "<br>".join(map(code, row.undeclared))
    return code(row.name), plain(row.place), str(row.declared), str(row.raised), missing, undeclared


def as_markdown(summary: Summary) -> str:
    """A page in Markdown with a table of the handlers."""
    parts = [f"# {_TITLE}", _total(summary) if summary.handlers else NOTHING]
    if summary.handlers:
        rows = [_cells(row, markdown.code, markdown.inert) for row in _rows(summary)]
        parts.append(markdown.table(_HEADERS, rows))
    return "\n\n".join(parts) + "\n"


_STYLE: Final = """\
tr.missing { background: var(--band); }
td { vertical-align: top; }
"""


def as_html(summary: Summary) -> str:
    """A page in HTML that needs no other file."""
    rows = []
    for row in _rows(summary):
        mark = ' class="missing"' if row.missing else ""
        cells = _cells(row, lambda text: f"<code>{html.text(text)}</code>", html.text)
        rows.append(f"<tr{mark}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    header = "".join(f"<th>{name}</th>" for name in _HEADERS)
    table = f"\n<table>\n<tr>{header}</tr>\n{chr(10).join(rows)}\n</table>" if rows else ""
    words = _total(summary) if summary.handlers else NOTHING
    return html.page(_TITLE, f"<h1>{_TITLE}</h1>\n<p>{words}</p>{table}", style=_STYLE)


FORMATS: Final[dict[str, tuple[str, Callable[[Summary], str]]]] = {
    "json": ("reason-coverage.json", as_json),
    "html": ("reason-coverage.html", as_html),
    "markdown": ("reason-coverage.md", as_markdown),
}
"""The formats of files: each with its default path."""
