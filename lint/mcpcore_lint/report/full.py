"""The default report: each finding with its source line, related places, the next step and the fix."""

import re
import unicodedata
from typing import Final

from mcpcore_lint.diagnostics import Diagnostic, Related, Severity
from mcpcore_lint.output import printable
from mcpcore_lint.report import Outcome, lines_of, summary

_RED, _GREEN, _BLUE, _BOLD, _DIM = 31, 32, 34, 1, 2
_COLORS: Final = {Severity.ERROR: _RED, Severity.WARNING: 33, Severity.INFO: 36}
_SEQUENCES: Final = r"\x1b\[[0-9]+m"
"""The colours of a report. All else in it is `printable`."""
_WIDTH: Final = 120
"""The most columns of a source line. Of a longer line only the part around the finding is shown."""
_BEFORE: Final = 20
"""How many columns of such a line come before the finding."""
_TAB: Final = " " * 4
_EXCERPTS: Final = 3
"""How many related places are shown with their source line. Of the others only the position is shown."""
_PLACES: Final = 12
"""How many related places are shown. The others are counted."""


def render(outcome: Outcome) -> str:
    """The report."""
    texts: dict[str, list[str]] = {}
    blocks = [_block(diagnostic, outcome, texts) for diagnostic in outcome.diagnostics]
    for failure in outcome.failures:
        place = _paint(_BOLD, printable(outcome.place(failure.path)))
        head = f"{place}: {_paint(_RED, 'not checked in full')}: {printable(failure.message)}"
        blocks.append("\n".join([head, *(f"  {printable(line)}" for line in failure.detail.splitlines()[-12:])]))
    fixes = [diagnostic.fix for diagnostic in outcome.diagnostics if diagnostic.fix is not None]
    unsafe = sum(fix.safety == "unsafe" for fix in fixes)
    closing = [*map(printable, outcome.notes), _paint(_BOLD, printable(summary(outcome)))]
    if fixes:
        more = f"; {unsafe} of them only with --unsafe-fixes" if unsafe and not outcome.unsafe else ""
        closing.append(f"{len(fixes)} can be fixed with --fix{more}")
    report = "\n\n".join([*blocks, "\n".join(closing)]) + "\n"
    return report if outcome.color else re.sub(_SEQUENCES, "", report)


def _paint(code: int, text: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"


def _block(diagnostic: Diagnostic, outcome: Outcome, texts: dict[str, list[str]]) -> str:
    color = _COLORS[diagnostic.severity]
    kind = _paint(color, _paint(_BOLD, f"{diagnostic.severity.label}[{diagnostic.rule}]"))
    lines = [f"{kind}: {_paint(_BOLD, printable(diagnostic.message))}"]
    lines += _excerpt(diagnostic, outcome, texts, color, "-->")
    for number, related in enumerate(diagnostic.related[:_PLACES]):
        position, *source = _excerpt(related, outcome, texts, _BLUE, ":::")
        label = f" {_paint(_DIM, printable(related.message))}" if related.message else ""
        lines += [f"{position}{label}", *(source if number < _EXCERPTS else ())]
    if len(diagnostic.related) > _PLACES:
        lines.append(f"  {_paint(_BLUE, ':::')} and {len(diagnostic.related) - _PLACES} more; --format json lists all")
    if diagnostic.help:
        lines.append(f"  {_paint(_GREEN, 'help')}: {printable(diagnostic.help)}")
    if diagnostic.fix is not None:
        how = "--fix --unsafe-fixes" if diagnostic.fix.safety == "unsafe" else "--fix"
        lines.append(f"  {_paint(_GREEN, 'fix')}: {printable(diagnostic.fix.title)} ({how})")
    lines.append(f"  see: mcpcore lint --explain {diagnostic.rule}")
    return "\n".join(lines)


def _excerpt(
    at: Diagnostic | Related, outcome: Outcome, texts: dict[str, list[str]], color: int, arrow: str
) -> list[str]:
    """The position, the source line, and carets under the range; only the position if there is no source."""
    span = at.span
    position = f"  {_paint(_BLUE, arrow)} {printable(outcome.place(at.path))}:{span.line}:{span.column}"
    if at.path not in texts:
        text = outcome.source(at.path)
        texts[at.path] = [] if text is None else lines_of(text)
    if not 1 <= span.line <= len(texts[at.path]):
        return [position]
    line = texts[at.path][span.line - 1]
    several = span.end_line > span.line
    start = min(span.column - 1, len(line))
    end = max(start + 1, len(line.rstrip()) if several else span.end_column - 1)
    left = max(0, min(start - _BEFORE, len(line) - _WIDTH))
    right = left + _WIDTH
    before = ("..." if left else "") + _printable(line[left:start])
    marked = _printable(line[start : min(end, right)])
    after = _printable(line[end:right]) + ("..." if right < len(line) else "")
    number, gutter = str(span.line), _paint(_BLUE, "|")
    carets = _paint(color, "^" * max(1, _columns(marked))) + (" ..." if several else "")
    return [
        position,
        f"{_paint(_BLUE, number)} {gutter} {before}{marked}{after}",
        f"{' ' * len(number)} {gutter} {' ' * _columns(before)}{carets}",
    ]


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text.replace("\t", _TAB))


def _columns(text: str) -> int:
    """The width of a text in columns of a terminal."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) != 0 for char in text)
