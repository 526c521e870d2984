"""The counts of a trail as one HTML page without other files."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from mcpcore.audit.kinds import BREACH_KINDS
from mcpcore.reports.html import page, text

if TYPE_CHECKING:
    from mcpcore.audit.stats import Group, Stats

_WIDTH: Final = 960
_HEIGHT: Final = 260
_LEFT: Final = 48
_TOP: Final = 12
_BOTTOM: Final = 36

# Distinguishable without red and green, and readable on both backgrounds; more colours would be too similar.
_COLOURS: Final = ("#3b7dd8", "#e08a1e", "#2a9d8f", "#c8518f", "#8a6fd1", "#b0503c", "#6f9a2c")
_OTHER: Final = "#8b8f98"

_STYLE: Final = """\
.lost { color: var(--text); border-left: 4px solid #c8518f; padding-left: .75rem; margin-top: .75rem; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font-size: 12px; }
.axis { stroke: var(--line); }
ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; margin: .5rem 0; list-style: none;
  font-size: .875rem; }
li svg { display: inline-block; width: .8em; height: .8em; margin-right: .4em; }
.wide { overflow-x: auto; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
tbody tr:hover { background: var(--band); }
td svg { width: 9rem; height: 1.5rem; }
"""


def render(stats: Stats, *, title: str, made: datetime | None = None) -> str:
    """The page: the failures over time, stacked by tool and reason, and a table of all of them."""
    moment = _stamp(made or datetime.now(UTC))
    span = f"{_stamp(stats.since)} to {_stamp(stats.until)}" if stats.since and stats.until else "no time is known"
    lost = (
        f'<p class="lost">{stats.lost:,} more could not be written when they happened, and are not counted here.</p>'
        if stats.lost
        else ""
    )
    shown: list[tuple[Group, str]] = [*zip(stats.groups, _COLOURS, strict=False)]
    parts = ("<h2>Over time</h2>", _bars(stats, shown), _legend(stats, shown), "<h2>By tool and reason</h2>")
    body = "".join((*parts, _table(stats, shown))) if stats.total else "<p>No failure is recorded.</p>"
    body += _broken(stats)
    head = (
        f"<h1>{text(title)}</h1>\n<p>{stats.total:,} failure{'' if stats.total == 1 else 's'}, {text(span)}; "
        f"counted {text(moment)}.</p>\n{lost}\n"
    )
    return page(title, head + body, style=_STYLE)


def _label(group: Group) -> str:
    return f"{group.tool}: {group.reason or group.name}"


def _bars(stats: Stats, shown: list[tuple[Group, str]]) -> str:
    totals = stats.series()
    top = max(totals, default=0)
    if not top:
        return "<p>The records say no time.</p>"
    layers = [(_label(group), colour, stats.series(group)) for group, colour in shown]
    rest = [total - sum(series[slot] for _, _, series in layers) for slot, total in enumerate(totals)]
    if any(rest):
        layers.append(("all others", _OTHER, rest))
    inner = _HEIGHT - _TOP - _BOTTOM
    slot_width = (_WIDTH - _LEFT) / len(totals)
    label = f"Failures in each {text(stats.step_name)}; at most {top}"
    parts = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">']
    for part in (0, 0.5, 1):
        value = round(top * part)
        y = _TOP + inner * (1 - value / top)
        parts.append(
            f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:,}</text>'
        )
    for slot, total in enumerate(totals):
        if not total:
            continue
        x = _LEFT + slot * slot_width
        y = float(_TOP + inner)
        when = _stamp(stats.slot_start(slot))
        for name, colour, series in layers:
            if not series[slot]:
                continue
            tall = inner * series[slot] / top
            y -= tall
            parts.append(
                f'<rect x="{x + 0.5:.1f}" y="{y:.1f}" width="{max(slot_width - 1, 0.5):.1f}" height="{tall:.1f}" '
                f'fill="{colour}"><title>{text(when)}\n{text(name)}: {series[slot]:,}</title></rect>'
            )
    last = _stamp(stats.slot_start(len(totals) - 1))
    parts.append(f'<text x="{_LEFT}" y="{_HEIGHT - 12}">{text(_stamp(stats.slot_start(0)))}</text>')
    if len(totals) > 1:
        parts.append(f'<text x="{_WIDTH}" y="{_HEIGHT - 12}" text-anchor="end">{text(last)}</text>')
    parts.append("</svg>")
    return "".join(parts) + f"<p>Each bar is {text(stats.step_words)}.</p>"


def _legend(stats: Stats, shown: list[tuple[Group, str]]) -> str:
    items = [f"<li>{_swatch(colour)}{text(_label(group))}</li>" for group, colour in shown]
    if len(stats.groups) > len(shown):
        items.append(f"<li>{_swatch(_OTHER)}all others</li>")
    return f"<ul>{''.join(items)}</ul>"


def _swatch(colour: str) -> str:
    return f'<svg viewBox="0 0 1 1" fill="{colour}" aria-hidden="true"><rect width="1" height="1"/></svg>'


def _table(stats: Stats, shown: list[tuple[Group, str]]) -> str:
    colours = {id(group): colour for group, colour in shown}
    rows = "".join(
        f"<tr><td><code>{text(group.tool)}</code></td><td><code>{text(group.reason or '-')}</code></td>"
        f"<td><code>{text(group.name)}</code></td><td class=n>{group.count:,}</td>"
        f"<td class=n>{100 * group.count / stats.total:.1f} %</td>"
        f"<td>{_trend(stats.series(group), colours.get(id(group), _OTHER))}</td>"
        f"<td>{text(_stamp(group.last))}</td></tr>\n"
        for group in stats.groups
    )
    return (
        '<div class="wide"><table><thead><tr><th>Tool</th><th>Reason</th><th>Code</th><th class=n>Failures</th>'
        f"<th class=n>Share</th><th>Over time</th><th>Last</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>"
    )


def _broken(stats: Stats) -> str:
    """The broken contracts as a table; empty without any."""
    if not stats.broken:
        return ""
    rows = "".join(
        f"<tr><td><code>{text(broken.tool)}</code></td><td>{text(BREACH_KINDS[broken.kind])}</td>"
        f"<td class=n>{broken.count:,}</td><td>{text(_stamp(broken.last))}</td></tr>\n"
        for broken in stats.broken
    )
    return (
        "<h2>Broken contracts</h2><p>Lost failures reached no client, and are counted only here.</p>"
        '<div class="wide"><table><thead><tr><th>Tool</th><th>Kind</th><th class=n>Times</th><th>Last</th></tr></thead>'
        f"\n<tbody>\n{rows}</tbody></table></div>"
    )


def _trend(series: list[int], colour: str) -> str:
    top = max(series, default=0)
    if not top:
        return ""
    bars = "".join(
        f'<rect x="{slot}" y="{20 - 20 * n / top:.1f}" width=".8" height="{20 * n / top:.1f}"/>'
        for slot, n in enumerate(series)
        if n
    )
    box = f'viewBox="0 0 {len(series)} 20" preserveAspectRatio="none"'
    return f'<svg {box} fill="{colour}" aria-hidden="true">{bars}</svg>'


def _stamp(moment: datetime | None) -> str:
    return "-" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
