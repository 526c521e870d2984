# ruff: noqa: S608 - the texts that are put together are all in this module; everything else is a bound parameter
"""Reads a store: the same questions as to the files of a trail, and the same answers.

Every text of a caller is a bound parameter, written in hexadecimal so that any bytes arrive unchanged. `FINAL` leaves
one of equal records also before the engine has merged them.

Records come in the order of their chains, and the chains are merged by time: no record comes before an earlier one of
its chain, whatever the clocks say.
"""

from __future__ import annotations

import json
import time
from base64 import b64decode
from typing import TYPE_CHECKING, Any, Final, cast

from mcpcore.audit.stats import MAX_GROUPS, OTHERS, Broken, Group, Stats, floor, ordered, ordered_breaches, slots_of
from mcpcore.fleet.rows import key_time, microseconds, moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from mcpcore.audit.reading import Query, Record
    from mcpcore.fleet.store import Store, Value

_UNHEX: Final = "arrayMap(x -> unhex(x), {%s:Array(String)})"
_LAG: Final = 10_000
"""How long a row may take to become visible after its time of loading, in milliseconds."""

_POLL: Final = 1.0
_FETCHED: Final = 1_000

# The time of a record, or of the latest one before it in its chain.
_MERGED: Final = "ifNull(max(at) OVER (PARTITION BY trail ORDER BY seq, at, id), 0) AS merged"
_ORDER: Final = "ORDER BY merged, seq, trail, id"
_BACKWARDS: Final = "ORDER BY merged DESC, seq DESC, trail DESC, id DESC"


class Where:
    """The condition of a query and its parameters."""

    def __init__(self, query: Query, *conditions: str) -> None:
        """The records that `query` wants and that meet `conditions`."""
        parts = [*conditions]
        self.parameters: dict[str, Value] = {}
        for name, words, condition in (
            ("tools", query.tools, f"hasAny(surfaces, {_UNHEX % 'tools'})"),
            ("reasons", query.reasons, f"arrayExists(x -> x = reason, {_UNHEX % 'reasons'})"),
            (
                "codes",
                query.codes,
                f"arrayExists(x -> x = name OR x = code, {_UNHEX % 'codes'})",
            ),
        ):
            if words:
                parts.append(condition)
                self.parameters[name] = sorted(map(_hex, words))
        if query.ident is not None:
            parts.append("startsWith(ident, unhex({ident:String}))")
            self.parameters["ident"] = _hex(query.ident)
        # `time` is in the key of the table, so its bound spares most rows; `at` decides, since the key has fewer years.
        for name, limit, condition in (
            (
                "since",
                query.since,
                "at >= {since:Int64} AND time >= fromUnixTimestamp64Micro({since_key:Int64}, 'UTC')",
            ),
            ("until", query.until, "at < {until:Int64} AND time <= fromUnixTimestamp64Micro({until_key:Int64}, 'UTC')"),
        ):
            if limit is not None:
                parts.append(condition)
                self.parameters[name] = at = microseconds(limit)
                self.parameters[f"{name}_key"] = key_time(at)
        self.sql = " AND ".join(parts)


def _hex(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").hex()


_RECORDS: Final = "kind != 'damaged'"
_FAILURES: Final = "kind IN ('failure', 'refused')"


def read(store: Store, query: Query) -> Iterator[Record]:
    """Every record that matches, oldest first.

    Raises:
        StoreError: If the store fails.
    """
    where = Where(query, _RECORDS)
    inner = f"SELECT line, id, trail, seq, {_MERGED} FROM {{table:Identifier}} FINAL WHERE {where.sql}"
    for row in store.stream(f"SELECT base64Encode(line) FROM ({inner}) {_ORDER}", where.parameters):
        yield _record(b64decode(row))


def last(store: Store, query: Query, count: int) -> list[Record]:
    """The last `count` records that match, oldest first.

    Raises:
        StoreError: If the store fails.
    """
    where = Where(query, _RECORDS)
    # The last of all chains are among the last of each.
    candidates = (
        f"SELECT time, at, id, trail, seq FROM {{table:Identifier}} FINAL WHERE {where.sql} "
        "ORDER BY trail, seq DESC, at DESC, id DESC LIMIT {count:UInt64} BY trail"
    )
    rows = store.rows(
        f"SELECT toUnixTimestamp64Micro(time), hex(id) FROM (SELECT *, {_MERGED} FROM ({candidates})) "
        f"{_BACKWARDS} LIMIT {{count:UInt64}}",
        {**where.parameters, "count": count},
    )
    return [*_fetched(store, [(int(at), str(ident)) for at, ident in reversed(rows)])]


def follow(
    opened: Callable[[], AbstractContextManager[Store]],
    query: Query,
    *,
    count: int = 0,
    idle: Callable[[], bool] = lambda: True,
) -> Iterator[Record]:
    """The last `count` records that match, then those that are loaded, as long as `idle` returns True.

    The store is opened for each look and closed before the next, so that others can load into an embedded one.

    Raises:
        StoreError: If the store fails.
    """
    with opened() as store:
        ((now,),) = store.rows("SELECT toUnixTimestamp64Milli(now64(3))")
        since = int(now) - _LAG
        seen = {ident for _, ident in _loaded(store, query, since)}
        records = last(store, query, count)
    yield from records
    while idle():
        time.sleep(_POLL)
        with opened() as store:
            ((now,),) = store.rows("SELECT toUnixTimestamp64Milli(now64(3))")
            keys = _loaded(store, query, since)
            records = [*_fetched(store, [key for key in keys if key[1] not in seen])]
        # What is loaded from now on may get a time that is a little earlier.
        since = int(now) - _LAG
        seen = {ident for _, ident in keys}
        yield from records


def _loaded(store: Store, query: Query, since: int) -> list[tuple[int, str]]:
    """The keys of the records that were loaded for the first time at `since` or later, oldest first."""
    where = Where(query, _RECORDS, "loaded >= fromUnixTimestamp64Milli({loaded:Int64}, 'UTC')")
    # FINAL may keep an equal record that was loaded later and proves more; that record would look new here.
    fresh = f"SELECT time, at, id, trail, seq FROM {{table:Identifier}} WHERE {where.sql} LIMIT 1 BY id"
    older = (
        f"SELECT id FROM {{table:Identifier}} WHERE (time, id) IN (SELECT time, id FROM ({fresh})) "
        "AND loaded < fromUnixTimestamp64Milli({loaded:Int64}, 'UTC')"
    )
    rows = store.rows(
        f"SELECT toUnixTimestamp64Micro(time), hex(id) FROM "
        f"(SELECT *, {_MERGED} FROM ({fresh}) WHERE id NOT IN ({older})) {_ORDER}",
        {**where.parameters, "loaded": since},
    )
    return [(int(at), str(ident)) for at, ident in rows]


def _fetched(store: Store, keys: Sequence[tuple[int, str]]) -> Iterator[Record]:
    """The records with these keys, in this order."""
    for start in range(0, len(keys), _FETCHED):
        part = keys[start : start + _FETCHED]
        rows = store.rows(
            # The key begins with the time, and the id alone would need the whole table. Rows of one id have the same
            # line.
            "SELECT hex(id), base64Encode(any(line)) FROM {table:Identifier} WHERE time IN (SELECT "
            "fromUnixTimestamp64Micro(arrayJoin({times:Array(Int64)}), 'UTC')) AND has({ids:Array(String)}, hex(id)) "
            "GROUP BY id",
            {"times": [at for at, _ in part], "ids": [ident for _, ident in part]},
        )
        lines = {str(ident): b64decode(line) for ident, line in rows}
        yield from (_record(lines[ident]) for _, ident in part if ident in lines)


def _record(line: bytes) -> Record:
    return cast("Record", json.loads(line))


_GROUPS: Final = (
    "SELECT subject, reason, name, sum(count) AS failures, min(at) AS first, max(at) AS last, min(seq) AS place "
    "FROM {table:Identifier} FINAL WHERE %s GROUP BY subject, reason, name ORDER BY place, first, subject, reason, name"
)


def count(store: Store, query: Query) -> Stats:
    """The counts of the records that match, as `audit.stats.collect` makes them of a trail.

    Raises:
        StoreError: If the store fails.
    """
    where = Where(query, _FAILURES)
    sql = _GROUPS % where.sql
    rows = store.rows(f"{sql} LIMIT {MAX_GROUPS}", where.parameters)
    groups = [
        Group(str(subject), reason, str(name or "-"), int(failures), _moment(first), _moment(latest))
        for subject, reason, name, failures, first, latest, _ in rows
    ]
    keys = {(subject, reason, name): group for (subject, reason, name, *_), group in zip(rows, groups, strict=True)}
    others = Group(OTHERS, None, "-")
    # A second query is needed only if there may be more groups.
    if len(groups) == MAX_GROUPS:
        rest = f"SELECT sum(failures), min(first), max(last) FROM ({sql} LIMIT {2**62} OFFSET {MAX_GROUPS})"
        ((failures, first, latest),) = store.rows(rest, where.parameters)
        others.count, others.first, others.last = int(failures), _moment(first), _moment(latest)
        groups += [others] if others.count else []
    since = min((group.first for group in groups if group.first), default=None)
    until = max((group.last for group in groups if group.last), default=None)
    step, slots = slots_of(since, until)
    if since is not None:
        start = floor(since, step)
        # The store counts by slot, so few rows come back; each slot is kept under its first second.
        series = store.rows(
            "SELECT subject, reason, name, intDiv(intDiv(assumeNotNull(at), 1000000) - {start:Int64}, {step:Int64}) "
            f"AS slot, sum(count) FROM {{table:Identifier}} FINAL WHERE {where.sql} AND at IS NOT NULL "
            "GROUP BY subject, reason, name, slot",
            {**where.parameters, "start": start, "step": step},
        )
        for subject, reason, name, slot, failures in series:
            keys.get((subject, reason, name), others).seconds[start + int(slot) * step] += int(failures)
    ((missing,),) = store.rows(
        "SELECT sum(missing) FROM {table:Identifier} FINAL WHERE " + (events := Where(query, "kind = 'event'")).sql,
        events.parameters,
    )
    total = sum(group.count for group in groups)
    broken = ordered_breaches(_breaches(store, query))
    return Stats(ordered(groups), total, int(missing), since, until, step, slots, broken)


def _breaches(store: Store, query: Query) -> list[Broken]:
    where = Where(query, "notEmpty(broken)")
    sql = (
        "SELECT subject, arrayJoin(broken) AS breach, sum(if(breach = 'lost', broken_count, 1)) AS times, "
        f"max(at) AS latest, min(seq) AS place FROM {{table:Identifier}} FINAL WHERE {where.sql} "
        "GROUP BY subject, breach ORDER BY place, latest, subject, breach"
    )
    rows: list[list[Any]] = [row[:4] for row in store.rows(f"{sql} LIMIT {MAX_GROUPS}", where.parameters)]
    if len(rows) == MAX_GROUPS:
        rest = f"{sql} LIMIT {2**62} OFFSET {MAX_GROUPS}"
        rows += store.rows(
            f"SELECT {{others:String}}, breach, sum(times), max(latest) FROM ({rest}) GROUP BY breach",
            {**where.parameters, "others": OTHERS},
        )
    return [Broken(str(subject), kind, int(times), _moment(latest)) for subject, kind, times, latest in rows]


def _moment(at: str | int | None) -> Any:
    return moment(None if at is None else int(at))
