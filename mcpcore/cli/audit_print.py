"""Prints the records, the counts and the problems of a trail or a store."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from mcpcore.cli import output
from mcpcore.contract.effects import as_effects
from mcpcore.values.escaping import terminal_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpcore.audit.reading import Record
    from mcpcore.audit.report import Report
    from mcpcore.audit.stats import Stats


def print_report(report: Report) -> None:
    """Print the problems of a checked trail, and a summary."""
    for problem in report.problems:
        output.line(output.styled(str(problem), fg="red"))
    if report.unlisted:
        output.line(f"... and {report.unlisted} more")
    for note in report.notes:
        output.line(f"note: {note}")
    count = f"{report.records} record{'' if report.records == 1 else 's'}"
    files = f" in {len(report.files)} files" if len(report.files) > 1 else ""
    signed = ", signed" if report.keyed else ""
    if report.ok:
        covered = f", head {report.last}:{report.last_hash}" if report.last else ""
        output.line(output.styled(f"{report.path}: {count}{files}{signed}: as written{covered}", fg="green"))
    else:
        total = len(report.problems) + report.unlisted
        summary = f"{report.path}: {count}{files}{signed}: {total} problem{'' if total == 1 else 's'}"
        output.line(output.styled(summary, fg="red", bold=True))


def print_record(record: Record, *, as_json: bool) -> None:
    """Print one record, as JSON or for people."""
    if as_json:
        output.line(json.dumps(record, separators=(",", ":")))
        return
    from mcpcore.audit.kinds import count_of, is_lost
    from mcpcore.audit.reading import what_failed

    stamp = str(record.get("timestamp", "-"))
    if "event" in record:
        facts = {k: v for k, v in record.items() if k not in {"seq", "prev", "alg", "hash", "event", "timestamp"}}
        shown = " ".join(f"{key}={value}" for key, value in facts.items())
        output.line(output.styled(f"{stamp}  #{record.get('seq', '-')}  trail: {record['event']} {shown}", fg="yellow"))
        return
    output.line(
        output.styled(stamp, dim=True),
        f"  #{record.get('seq', '-')}  ",
        output.styled(what_failed(record), bold=True),
        "  ",
        output.styled(str(record.get("name", "-")), fg="red"),
        f"  {record.get('reason') or '-'}  ",
        output.styled("lost  ", fg="yellow") if is_lost(record) else "",
        f"{count} times  " if (count := count_of(record)) > 1 else "",
        output.styled(f"id {record.get('correlationId', '-')}", dim=True),
    )
    for line in _details(record):
        output.line(f"    {line}")


def _details(record: Record) -> Iterator[str]:
    if record.get("message"):
        yield str(record["message"])
    effects = as_effects(record.get("effects"))
    if effects is not None:
        yield f"effects: {effects}"
    exception = record.get("exception")
    if isinstance(exception, dict):
        yield f"{exception.get('type', 'exception')}: {exception.get('message', '')}"
        causes = exception.get("causes")
        for cause in causes if isinstance(causes, list) else ():
            if isinstance(cause, dict):
                yield f"  because of {cause.get('type', 'exception')}: {cause.get('message', '')}"
            else:
                yield f"  because of {cause}"
    if record.get("broken_contract"):
        yield f"broken contract: {record['broken_contract']}"
    if record.get("relayed"):
        yield "relayed: another server failed, and its own trail has the failure"
    for key in ("context", "arguments", "data"):
        if record.get(key):
            yield f"{key} {json.dumps(record[key], ensure_ascii=False)}"


def print_stats(counted: Stats) -> None:
    """Print counts as a chart and a table."""
    from mcpcore.audit.stats import BARS, PLAIN_BARS, chart, spark

    if not counted.total:
        output.line("No failure is recorded.")
        _print_broken(counted)
        return
    bars = BARS if _can_print(BARS) else PLAIN_BARS
    output.line(f"{counted.total} failure{'' if counted.total == 1 else 's'}")
    if counted.lost:
        lost = f"{counted.lost} more could not be written when they happened, and are not counted"
        output.line(output.styled(lost, fg="yellow"))
    output.line()
    for line in chart(counted, bars=bars):
        output.line(line)
    output.line()
    head = ("TOOL", "REASON", "CODE", "FAILURES", "SHARE", "LAST", "OVER TIME")
    rows = [
        (
            # Escaped already here, since the columns are as wide as the escaped text.
            terminal_line(failures.tool)[:40],
            terminal_line(failures.reason or "-")[:40],
            terminal_line(failures.name)[:32],
            str(failures.count),
            f"{100 * failures.count / counted.total:.1f} %",
            failures.last.strftime("%Y-%m-%d %H:%M:%S") if failures.last else "-",
            spark(counted.series(failures), bars=bars),
        )
        for failures in counted.groups
    ]
    _print_table(head, rows, right=frozenset({3, 4}))
    _print_broken(counted)


def _print_broken(counted: Stats) -> None:
    if not counted.broken:
        return
    from mcpcore.audit.kinds import BREACH_KINDS

    output.line()
    output.line("Broken contracts (lost failures reached no client)")
    output.line()
    rows = [
        (
            terminal_line(broken.tool)[:40],
            BREACH_KINDS[broken.kind],
            str(broken.count),
            broken.last.strftime("%Y-%m-%d %H:%M:%S") if broken.last else "-",
        )
        for broken in counted.broken
    ]
    _print_table(("TOOL", "KIND", "TIMES", "LAST"), rows, right=frozenset({2}))


def _print_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], *, right: frozenset[int]) -> None:
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    output.line(output.styled(_row(head, widths, right), bold=True))
    for row in rows:
        output.line(_row(row, widths, right))


def _row(cells: tuple[str, ...], widths: list[int], right: frozenset[int]) -> str:
    return "  ".join(
        cell.rjust(width) if column in right else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ).rstrip()


def _can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
