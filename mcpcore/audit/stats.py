"""Counts failures by tool and reason over time, and broken contracts, in one pass; and shows them as a page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from mcpcore.audit.kinds import (
    BREACH_KINDS,
    LOST,
    BreachKind,
    breach_count_of,
    breach_kinds_of,
    count_of,
    is_lost,
    missing_of,
)
from mcpcore.audit.reading import Record, moment_of, text_of, what_failed
from mcpcore.reports.html import page, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpcore.values.jsonable import JSON


BARS: Final = "▁▂▃▄▅▆▇█"
PLAIN_BARS: Final = ".:-=+*#@"

_STEPS: Final = {
    1: "second", 5: "5 seconds", 15: "15 seconds", 30: "30 seconds", 60: "minute", 300: "5 minutes", 900: "15 minutes",
    1800: "30 minutes", 3600: "hour", 3 * 3600: "3 hours", 6 * 3600: "6 hours", 12 * 3600: "12 hours", 86400: "day",
    7 * 86400: "7 days", 28 * 86400: "28 days", 364 * 86400: "364 days", 3640 * 86400: "3640 days",
}  # fmt: skip
"""The lengths of a slot of the chart, in seconds and in words."""

MAX_GROUPS: Final = 10_000
"""The most groups that are counted separately, since each resource may be one; later ones are counted together."""

MOST_SLOTS: Final = 48
"""The most slots of the chart."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = (datetime.min.replace(tzinfo=UTC) - EPOCH) // timedelta(seconds=1)
_LAST: Final = (datetime.max.replace(tzinfo=UTC) - EPOCH) // timedelta(seconds=1)

OTHERS: Final = "(all others)"


@dataclass(slots=True)
class Group:
    """The failures of one tool for one reason."""

    tool: str
    reason: str | None
    name: str
    count: int = 0
    first: datetime | None = None
    last: datetime | None = None
    seconds: Counter[int] = field(default_factory=Counter)
    """The count for each second since the epoch."""


@dataclass(slots=True)
class Broken:
    """The broken contracts of one kind in one tool."""

    tool: str
    kind: BreachKind
    count: int = 0
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class Stats:
    """The counts of a trail."""

    groups: list[Group]
    total: int
    """Failures that clients received."""
    lost: int
    """Records that could not be written."""
    since: datetime | None
    until: datetime | None
    step: int
    """The length of a slot of the chart, in seconds."""
    slots: int
    broken: list[Broken]

    def series(self, group: Group | None = None) -> list[int]:
        """The failures in each slot, of one group or of all."""
        counts = [0] * self.slots
        if self.since is None:
            return counts
        start = floor(self.since, self.step)
        for counted in self.groups if group is None else (group,):
            for second, count in counted.seconds.items():
                # Where even the longest step needs too many slots, the last slot takes the rest.
                counts[min((second - start) // self.step, self.slots - 1)] += count
        return counts

    def slot_start(self, index: int) -> datetime | None:
        """The beginning of a slot."""
        if self.since is None:
            return None
        second = floor(self.since, self.step) + index * self.step
        # A forged time may be in the first or the last year that can be expressed, and a slot begin before or after it.
        return EPOCH + timedelta(seconds=min(max(second, _FIRST), _LAST))

    @property
    def step_name(self) -> str:
        """The length of a slot in words."""
        return _STEPS[self.step]

    @property
    def step_words(self) -> str:
        """The length of a slot within a sentence: `one hour`, `5 minutes`."""
        return self.step_name if self.step_name[0].isdigit() else f"one {self.step_name}"

    def to_json(self) -> dict[str, JSON]:
        """The counts as JSON."""
        return {
            "total": self.total,
            "lost": self.lost,
            "since": _iso(self.since),
            "until": _iso(self.until),
            "stepSeconds": self.step,
            "slots": [_iso(self.slot_start(index)) for index in range(self.slots)],
            "series": [*self.series()],
            "groups": [
                {
                    "tool": group.tool,
                    "reason": group.reason,
                    "name": group.name,
                    "count": group.count,
                    "first": _iso(group.first),
                    "last": _iso(group.last),
                    "series": [*self.series(group)],
                }
                for group in self.groups
            ],
            "brokenContracts": [
                {"tool": broken.tool, "kind": broken.kind, "count": broken.count, "last": _iso(broken.last)}
                for broken in self.broken
            ],
        }


def collect(records: Iterable[Record], *, slots: int = MOST_SLOTS) -> Stats:
    """Count failures; the chart gets at most `slots` slots of a usual length."""
    groups: dict[tuple[str, str | None, str], Group] = {}
    breaches: dict[tuple[str, BreachKind], Broken] = {}
    total = lost = 0
    since: datetime | None = None
    until: datetime | None = None
    for record in records:
        if "event" in record:
            lost += missing_of(record)
            continue
        _count_breaches(record, breaches)
        if is_lost(record):
            continue  # no client received it
        key = (what_failed(record), text_of(record, "reason"), text_of(record, "name") or "-")
        group = groups.get(key)
        # A forged trail can name any number of tools. The page and the memory stay small.
        if group is None and len(groups) >= MAX_GROUPS:
            key = (OTHERS, None, "-")
            group = groups.get(key)
        if group is None:
            group = groups[key] = Group(*key)
        count = count_of(record)
        group.count += count
        total += count
        moment = moment_of(record)
        if moment is None:
            continue
        # The length of a slot is known only after the last record, so the seconds are counted first.
        group.seconds[int(moment.timestamp())] += count
        group.first = moment if group.first is None else min(group.first, moment)
        group.last = moment if group.last is None else max(group.last, moment)
        since = moment if since is None else min(since, moment)
        until = moment if until is None else max(until, moment)
    step, used = slots_of(since, until, slots)
    return Stats(ordered(groups.values()), total, lost, since, until, step, used, ordered_breaches(breaches.values()))


def ordered(groups: Iterable[Group]) -> list[Group]:
    """The groups, largest first."""
    return sorted(groups, key=lambda group: (-group.count, group.tool, group.reason or "", group.name))


def ordered_breaches(breaches: Iterable[Broken]) -> list[Broken]:
    """The broken contracts, most frequent first."""
    return sorted(breaches, key=lambda entry: (-entry.count, entry.tool, entry.kind))


def _count_breaches(record: Record, breaches: dict[tuple[str, BreachKind], Broken]) -> None:
    """Count how the contract was broken; a record of lost failures has their number."""
    for kind in breach_kinds_of(record):
        key = (what_failed(record), kind)
        if key not in breaches and len(breaches) >= MAX_GROUPS:
            key = (OTHERS, kind)
        broken = breaches.setdefault(key, Broken(*key))
        broken.count += breach_count_of(record) if kind == LOST else 1
        moment = moment_of(record)
        if moment is not None:
            broken.last = moment if broken.last is None else max(broken.last, moment)


def spark(series: list[int], *, bars: str = BARS) -> str:
    """A row of bars; a slot without failures stays blank."""
    top = max(series, default=0)
    if not top:
        return " " * len(series)
    return "".join(" " if not n else bars[max(0, -(-n * len(bars) // top) - 1)] for n in series)


def chart(stats: Stats, *, height: int = 8, bars: str = BARS) -> list[str]:
    """The failures over time as lines of text, with both axes."""
    series = stats.series()
    top = max(series, default=0)
    if not top:
        return []
    label = len(str(top))
    lines = []
    eighths = len(bars)
    for row in range(height, 0, -1):
        cells = []
        for n in series:
            # Rounded up, so that one failure is seen beside thousands.
            filled = -(-n * height * eighths // top) - (row - 1) * eighths
            cells.append(" " if filled <= 0 else bars[min(filled, eighths) - 1])
        mark = str(top) if row == height else ""
        lines.append(f"{mark:>{label}} | {''.join(cells).rstrip()}")
    lines.append(f"{0:>{label}} +-{'-' * len(series)}")
    first, last = _short(stats.slot_start(0)), _short(stats.slot_start(len(series) - 1))
    if len(series) >= len(first) + len(last) + 2:
        lines.append(f"{'':>{label}}   {first}{last:>{len(series) - len(first)}}")
    else:
        lines.append(f"{'':>{label}}   {first}" + (f" to {last}" if last != first else ""))
    lines.append(f"{'':>{label}}   each column is {stats.step_words}")
    return lines


def slots_of(since: datetime | None, until: datetime | None, most: int = MOST_SLOTS) -> tuple[int, int]:
    """The length of a slot of the chart in seconds, and how many there are."""
    if since is None or until is None:
        return 60, 0
    for step in _STEPS:
        count = (int(until.timestamp()) - floor(since, step)) // step + 1
        if count <= most:
            return step, count
    return max(_STEPS), most


def floor(moment: datetime, step: int) -> int:
    """The second in which the slot of `moment` begins, for slots of `step` seconds."""
    second = int(moment.timestamp())
    return second - second % step


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _short(moment: datetime | None) -> str:
    return "" if moment is None else moment.strftime("%Y-%m-%d %H:%M:%S").removesuffix(":00")


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
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { fill: var(--soft); font-size: 14px; }
@media (max-width: 60rem) { svg text { font-size: 20px; } }
@media (max-width: 40rem) { svg text { font-size: 32px; } }
time { white-space: nowrap; }
.axis { stroke: var(--line); }
ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; margin: .5rem 0; list-style: none;
  font-size: .875rem; }
li svg { display: inline-block; width: .8em; height: .8em; margin-right: .4em; }
.wide { overflow-x: auto; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tbody tr:hover { background: var(--band); }
td svg { width: 9rem; height: 1.5rem; }
@media (max-width: 60rem) { td svg { width: 4rem; } }
"""


def render(stats: Stats, *, title: str, made: datetime | None = None) -> str:
    """The page: the failures over time, stacked by tool and reason, and a table of all of them."""
    moment = _stamp(made or datetime.now(UTC))
    times = f"<time>{_stamp(stats.since)}</time> to <time>{_stamp(stats.until)}</time>"
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
        f"<h1>{text(title)}</h1>\n<p>{stats.total:,} failure{'' if stats.total == 1 else 's'}, "
        f"{times if stats.since else 'no time is known'}; counted <time>{moment}</time>.</p>\n{lost}\n"
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
    # There may be thousands of other groups, so their bar is what is left of the total.
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
    parts.append(f'<text x="{_LEFT}" y="{_HEIGHT - 8}">{text(_stamp(stats.slot_start(0)))}</text>')
    if len(totals) > 1:
        parts.append(f'<text x="{_WIDTH}" y="{_HEIGHT - 8}" text-anchor="end">{text(last)}</text>')
    parts.append("</svg>")
    return "".join(parts) + f"<p>Each bar is {text(stats.step_words)}.</p>"


def _legend(stats: Stats, shown: list[tuple[Group, str]]) -> str:
    items = [f"<li>{_swatch(colour)}{text(_label(group))}</li>" for group, colour in shown]
    if len(stats.groups) > len(shown):
        items.append(f"<li>{_swatch(_OTHER)}all others</li>")
    return f"<ul>{''.join(items)}</ul>"


def _swatch(colour: str) -> str:
    return f'<svg viewBox="0 0 1 1" fill="{colour}" aria-hidden="true"><circle cx=".5" cy=".5" r=".5"/></svg>'


def _table(stats: Stats, shown: list[tuple[Group, str]]) -> str:
    # A group is mutable and has no hash, so its id is the key.
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
