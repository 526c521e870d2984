"""The default report: each finding with its source line, related places, the next step and the fix."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity, Span
from mcpcore_lint.output import printable
from mcpcore_lint.report import lines_of, page, summary

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Diagnostic
    from mcpcore_lint.report import Outcome

_COLORS: Final = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.INFO: "36"}
_WIDTH: Final = 120
"""The most columns of a source line. Of a longer line only the part around the finding is shown."""
_LEAST: Final = 20
"""The least columns of a source line, however narrow the terminal is."""
_TAB: Final = 4
_EXCERPTS: Final = 3
"""How many related places are shown with their source line. Of the others only the position is shown."""
_PLACES: Final = 12
"""How many related places are shown. The others are counted."""


def render(outcome: Outcome) -> str:
    """The report."""
    paint = _Paint(enabled=outcome.color)
    texts: dict[str, list[str]] = {}
    blocks = [_block(each, outcome, texts, paint) for each in outcome.diagnostics]
    for failure in outcome.failures:
        place = paint.bold(printable(outcome.place(failure.path)))
        head = f"{place}: {paint.color('31', 'not checked in full')}: {printable(failure.message)}"
        blocks.append("\n".join([head, *(f"  {printable(line)}" for line in failure.detail.splitlines()[-12:])]))
    fixable = sum(each.fix is not None for each in outcome.diagnostics)
    unsafe = sum(each.fix is not None and each.fix.safety == "unsafe" for each in outcome.diagnostics)
    closing = [printable(each) for each in outcome.notes]
    closing.append(paint.bold(summary(outcome)))
    if fixable:
        more = f"; {unsafe} of them only with --unsafe-fixes" if unsafe and not outcome.unsafe else ""
        closing.append(f"{fixable} can be fixed with --fix{more}")
    return "\n\n".join([*blocks, "\n".join(closing)]) + "\n"


class _Paint:
    """Adds colours and links, if they are enabled."""

    def __init__(self, *, enabled: bool) -> None:
        self.enabled = enabled

    def color(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.enabled else text

    def bold(self, text: str) -> str:
        return self.color("1", text)

    def dim(self, text: str) -> str:
        return self.color("2", text)

    def link(self, text: str, address: str | None) -> str:
        if address is None:
            return text
        return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\" if self.enabled else text


def _block(each: Diagnostic, outcome: Outcome, texts: dict[str, list[str]], paint: _Paint) -> str:
    color = _COLORS[each.severity]
    address = page(each.rule)
    rule = paint.link(each.rule, address)
    head = f"{paint.color(color, paint.bold(f'{each.severity.label}[{rule}]'))}: {paint.bold(printable(each.message))}"
    lines = [head, *_excerpt(each.path, each.span, outcome, texts, paint, color, label="")]
    for number, related in enumerate(each.related[:_PLACES]):
        place = _excerpt(related.path, related.span, outcome, texts, paint, "34", label=related.message)
        lines += place if number < _EXCERPTS else place[:1]
    if len(each.related) > _PLACES:
        lines.append(f"  {paint.color('34', ':::')} and {len(each.related) - _PLACES} more; --format json lists all")
    if each.help:
        lines.append(f"  {paint.color('32', 'help')}: {printable(each.help)}")
    if each.fix is not None:
        how = "--fix --unsafe-fixes" if each.fix.safety == "unsafe" else "--fix"
        lines.append(f"  {paint.color('32', 'fix')}: {printable(each.fix.title)} ({how})")
    if address is None:
        lines.append(f"  see: mcpcore lint --explain {each.rule}")
    elif not paint.enabled:
        lines.append(f"  see: {address}")
    return "\n".join(lines)


def _excerpt(
    path: str, span: Span, outcome: Outcome, texts: dict[str, list[str]], paint: _Paint, color: str, *, label: str
) -> list[str]:
    """The position, the source line, and carets under the range; only the position if there is no source."""
    arrow = paint.color("34", ":::" if label else "-->")
    place = f"  {arrow} {printable(outcome.place(path))}:{span.line}:{span.column}"
    if label:
        place += f" {paint.dim(printable(label))}"
    lines = texts.get(path)
    if lines is None:
        text = outcome.source(path)
        lines = [] if text is None else lines_of(text)
        texts[path] = lines
    if not 1 <= span.line <= len(lines):
        return [place]
    line = lines[span.line - 1]
    start = min(max(span.column - 1, 0), len(line))
    end = span.end_column - 1 if span.end_line == span.line else len(line.rstrip())
    end = min(max(end, start + 1), max(len(line), start + 1))
    number = str(span.line)
    room = _WIDTH if outcome.columns is None else max(_LEAST, min(_WIDTH, outcome.columns - len(number) - 9))
    line, start, end = _window(line, start, end, room)
    gutter = paint.color("34", "|")
    shown = _printable(line)
    before, under = _columns(line[:start]), max(1, _columns(line[start:end]))
    more = " ..." if span.end_line > span.line else ""
    return [
        place,
        f"{paint.color('34', number)} {gutter} {shown}",
        f"{' ' * len(number)} {gutter} {' ' * before}{paint.color(color, '^' * under)}{more}",
    ]


def _window(line: str, start: int, end: int, room: int) -> tuple[str, int, int]:
    """The part of a long line around the finding, and the position of the finding in it."""
    if len(line) <= room:
        return line, start, end
    # A sixth of the width is left for the text before the finding.
    left = max(0, min(start - room // 6, len(line) - room))
    part = line[left : left + room]
    lead = "..." if left else ""
    tail = "..." if left + room < len(line) else ""
    shift = len(lead) - left
    return f"{lead}{part}{tail}", start + shift, min(end, left + room) + shift


def _printable(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(_shown(character) for character in line)


def _shown(character: str) -> str:
    if character == "\t":
        return " " * _TAB
    return character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"


def _columns(text: str) -> int:
    """The width of `text` in columns of a terminal."""
    if text.isascii() and "\t" not in text:
        return len(text)
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if character == "\t":
        return _TAB
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
