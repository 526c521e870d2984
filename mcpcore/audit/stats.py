"""Counts failures by tool and reason over time, and broken contracts, in one pass."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from mcpcore.audit.kinds import LOST, breach_count_of, breach_kinds_of, count_of, is_lost, missing_of
from mcpcore.audit.reading import moment_of, text_of, what_failed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpcore.audit.kinds import BreachKind
    from mcpcore.audit.reading import Record
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

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // timedelta(seconds=1)
_LAST: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(seconds=1)

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
                counts[min((second - start) // self.step, self.slots - 1)] += count
        return counts

    def slot_start(self, index: int) -> datetime | None:
        """The beginning of a slot."""
        if self.since is None:
            return None
        second = floor(self.since, self.step) + index * self.step
        # A forged time may be in the first or the last year that can be expressed, and a slot begin before or after it.
        return _EPOCH + timedelta(seconds=min(max(second, _FIRST), _LAST))

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
