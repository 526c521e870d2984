"""`mcpcore audit`: verify, read, follow, count and load a trail."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpcore.audit.kinds import BREACH_KINDS, count_of, is_lost
from mcpcore.audit.reading import Query, Record, parse_time, what_failed
from mcpcore.audit.stats import BARS, PLAIN_BARS, Stats, chart, render, spark
from mcpcore.cli import output
from mcpcore.cli.audit_source import (
    KEY_HELP,
    FileSource,
    Guarded,
    StoreSource,
    load,
    print_problems,
    print_verdict,
    read_key,
)
from mcpcore.cli.problems import INTERRUPTED, Problem, replace_file
from mcpcore.contract.effects import as_effects
from mcpcore.reports import counted
from mcpcore.values.escaping import terminal_line
from mcpcore.values.untrusted import list_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from mcpcore.audit.diagnosis import Report
    from mcpcore.cli.options import CommandT


def print_report(report: Report) -> None:
    """Print the problems of a checked trail, and a summary."""
    print_problems(report)
    count = counted(report.records, "record")
    files = f" in {len(report.files)} files" if len(report.files) > 1 else ""
    signed = ", signed" if report.keyed else ""
    covered = f", head {report.last}:{report.last_hash}" if report.last else ""
    print_verdict(report, f"{report.path}: {count}{files}{signed}", f": as written{covered}")


def print_record(record: Record, *, as_json: bool) -> None:
    """Print one record, as JSON or for people."""
    if as_json:
        output.line(json.dumps(record, separators=(",", ":")))
        return
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
        for cause in list_in(exception, "causes"):
            if isinstance(cause, dict):
                yield f"  because of {cause.get('type', 'exception')}: {cause.get('message', '')}"
            else:
                yield f"  because of {cause}"
    if record.get("broken_contract"):
        yield f"broken contract: {record['broken_contract']}"
    if record.get("injected"):
        yield "injected: a test asked for this failure, and no handler raised it"
    if record.get("relayed"):
        yield "relayed: another server failed, and if it keeps a trail, that has the failure too"
    for key in ("context", "arguments", "data"):
        if record.get(key):
            yield f"{key} {json.dumps(record[key], ensure_ascii=False)}"


def print_stats(totals: Stats) -> None:
    """Print counts as a chart and a table."""
    if not totals.total:
        output.line("No failure is recorded.")
        _print_broken(totals)
        return
    bars = BARS if _can_print(BARS) else PLAIN_BARS
    output.line(counted(totals.total, "failure"))
    if totals.lost:
        lost = f"{totals.lost} more could not be written when they happened, and are not counted"
        output.line(output.styled(lost, fg="yellow"))
    output.line()
    for line in chart(totals, bars=bars):
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
            f"{100 * failures.count / totals.total:.1f} %",
            failures.last.strftime("%Y-%m-%d %H:%M:%S") if failures.last else "-",
            spark(totals.series(failures), bars=bars),
        )
        for failures in totals.groups
    ]
    _print_table(head, rows, right=frozenset({3, 4}))
    _print_broken(totals)


def _print_broken(totals: Stats) -> None:
    if not totals.broken:
        return
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
        for broken in totals.broken
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


@click.group(
    name="audit",
    epilog="""\b
Examples:
  mcpcore audit verify audit.jsonl
  mcpcore audit show audit.jsonl --reason no_match
  mcpcore audit tail audit.jsonl -f --tool fetch_articles
  mcpcore audit stats audit.jsonl --since 7d --html week.html
  mcpcore audit load audit.jsonl --store fleet
  mcpcore audit stats --store fleet --since 7d""",
)
def group() -> None:
    """Check, read, follow and count the audit trail of a server, or of many servers in one store.

    PATH is the file in `Server(audit=PATH)` or MCPCORE_AUDIT, and may be left out if that variable is set. The rotated
    files next to it belong to the trail.
    """


def _path_argument(*, required: bool) -> Callable[[CommandT], CommandT]:
    # Whether it can be read shows when it is read: a writer may be moving the file at this moment.
    kind = click.Path(path_type=Path, dir_okay=False, readable=False)
    return click.argument("path", type=kind, envvar="MCPCORE_AUDIT", metavar="PATH", required=required)


class _When(click.ParamType[Any]):
    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            return parse_time(str(value))
        except ValueError as exc:
            self.fail(str(exc), param, ctx)


def _source(command: CommandT) -> CommandT:
    """Adds PATH and --store, of which one is needed."""
    store = click.option(
        "--store",
        metavar="FOLDER|URL",
        help="Read this store of `mcpcore audit load` instead of PATH: a folder, or a clickhouse:// URL.",
    )
    return _path_argument(required=False)(store(command))


def _chosen(ctx: click.Context, path: Path | None, store: str | None) -> FileSource | StoreSource:
    # MCPCORE_AUDIT gives PATH too, and must not forbid --store.
    is_named = ctx.get_parameter_source("path") is click.core.ParameterSource.COMMANDLINE
    if store is not None:
        if is_named:
            raise click.UsageError("Give PATH or --store, not both.", ctx)
        return StoreSource(store)
    if path is None:
        raise click.UsageError("Missing argument 'PATH'; or give --store.", ctx)
    return FileSource(path)


def _filters(command: CommandT) -> CommandT:
    # The help lists first the option that is applied last.
    for option in reversed(
        (
            click.option("--tool", "tools", multiple=True, help="Only this tool, resource or prompt; may be repeated."),
            click.option("--reason", "reasons", multiple=True, help="Only this reason; may be repeated."),
            click.option("--code", "codes", multiple=True, help="Only this code, by name or number; may be repeated."),
            click.option(
                "--since", type=_When(), help="From this time on: 2026-11-21, 2026-11-21T08:15Z, or 2h, 7d ago."
            ),
            click.option("--until", type=_When(), help="Before this time, written as for --since."),
            click.option("--id", "ident", help="The correlation id that the client received, or its beginning."),
        )
    ):
        command = option(command)
    return command


def _query(*, tools: tuple[str, ...], reasons: tuple[str, ...], codes: tuple[str, ...], **others: Any) -> Query:
    upper = frozenset(code.upper() for code in codes)
    return Query(tools=frozenset(tools), reasons=frozenset(reasons), codes=upper, **others)


@group.command(
    cls=Guarded,
    epilog="""\b
Examples:
  mcpcore audit verify audit.jsonl
  mcpcore audit verify audit.jsonl --print-head          the head, to keep elsewhere
  mcpcore audit verify audit.jsonl --head kept.txt       find records cut off since then
  mcpcore audit verify audit.jsonl --unsigned old.txt    a trail that got its key later
  mcpcore audit verify export.jsonl --no-head            an export from a log store""",
)
@_path_argument(required=True)
@click.option(
    "--head",
    metavar="FILE|HASH",
    help="A head that was kept elsewhere: its file (- for stdin), SEQ:HASH or HASH. Finds records cut off since then.",
)
@click.option(
    "--no-head",
    is_flag=True,
    help="Accept a signed trail without its head, such as an export from a log store; nothing then shows whether "
    "records were cut off the end.",
)
@click.option(
    "--unsigned",
    metavar="FILE|HASH",
    help="The head of the trail before it got its key, written as for --head. It confirms the records without a "
    "signature, which anyone with write access could have forged.",
)
@click.option("--key-file", type=click.Path(path_type=Path), help=KEY_HELP)
@click.option(
    "--print-head",
    is_flag=True,
    help="Print SEQ:HASH of the last record, to be kept elsewhere, if all is well.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def verify(
    ctx: click.Context,
    path: Path,
    head: str | None,
    key_file: Path | None,
    *,
    no_head: bool,
    unsigned: str | None,
    print_head: bool,
    as_json: bool,
) -> None:
    """Find records that were changed, removed, forged, reordered, inserted, or cut off the end.

    A signed trail needs its head file or --head: without a head, records cut off the end cannot be found. A trail that
    got its key later needs --unsigned for the records before that.

    Exits 0 if the trail is unchanged, 1 if not, 2 if it could not be checked.
    """
    from mcpcore.audit.verification import verify as verify_trail

    report = verify_trail(
        path,
        key=read_key(key_file),
        head=None if head is None else _head_text(head),
        no_head=no_head,
        unsigned=None if unsigned is None else _head_text(unsigned),
    )
    if as_json:
        output.text(json.dumps(report.to_json(), indent=2))
    elif print_head and report.ok:
        # An empty trail has the head to which its first record will refer.
        output.line(f"{report.last or 0}:{report.last_hash or '0' * 64}")
    else:
        print_report(report)
    ctx.exit(0 if report.ok else 1)


@group.command(
    cls=Guarded,
    epilog="""\b
Examples:
  mcpcore audit show audit.jsonl --reason no_match
  mcpcore audit show audit.jsonl --id 7c1e0f6a91b2d4e5
  mcpcore audit show audit.jsonl --since 2h --json""",
)
@_source
@_filters
@click.option("--json", "as_json", is_flag=True, help="Print the records as JSON Lines.")
@click.pass_context
def show(ctx: click.Context, /, path: Path | None, store: str | None, *, as_json: bool, **filters: Any) -> None:
    """Print the records of a trail or a store, oldest first."""
    source = _chosen(ctx, path, store)
    matched = False
    for record in source.read(_query(**filters)):
        matched = True
        print_record(record, as_json=as_json)
    if not matched:
        output.line("No record matches; `mcpcore audit stats` lists the codes and reasons of the trail.", err=True)


@group.command(
    cls=Guarded,
    epilog="""\b
Examples:
  mcpcore audit tail audit.jsonl -n 50
  mcpcore audit tail audit.jsonl -f --tool fetch_articles""",
)
@_source
@_filters
@click.option(
    "-n", "--lines", type=click.IntRange(min=0), default=10, show_default=True, help="How many old records to print."
)
@click.option(
    "-f", "--follow", is_flag=True, help="Print new records as they are added, through rotation, until interrupted."
)
@click.option("--json", "as_json", is_flag=True, help="Print the records as JSON Lines.")
@click.pass_context
def tail(
    ctx: click.Context,
    /,
    path: Path | None,
    store: str | None,
    lines: int,
    *,
    follow: bool,
    as_json: bool,
    **filters: Any,
) -> None:
    """Print the last records of a trail or a store, and with -f new ones."""
    source, query = _chosen(ctx, path, store), _query(**filters)
    if not follow:
        for record in source.last(query, lines):
            print_record(record, as_json=as_json)
        return
    try:
        for record in source.follow(query, lines):  # pragma: no branch - only an interruption ends it
            print_record(record, as_json=as_json)
            # In a pipe, records would wait until the buffer is full.
            sys.stdout.flush()
    except KeyboardInterrupt:
        ctx.exit(INTERRUPTED)


@group.command(
    cls=Guarded,
    epilog="""\b
Examples:
  mcpcore audit stats audit.jsonl --since 7d
  mcpcore audit stats audit.jsonl --since 7d --html week.html""",
)
@_source
@_filters
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="Write one HTML page to this file instead."
)
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
@click.pass_context
def stats(
    ctx: click.Context, /, path: Path | None, store: str | None, html: Path | None, *, as_json: bool, **filters: Any
) -> None:
    """Count failures by tool and reason, over time."""
    source = _chosen(ctx, path, store)
    totals = source.count(_query(**filters))
    if html is not None:
        replace_file(html, render(totals, title=f"Failures in {source.name}"))
        output.line(f"{html}: {counted(totals.total, 'failure')}", err=True)
    elif as_json:
        output.text(json.dumps(totals.to_json(), indent=2))
    else:
        print_stats(totals)


def _head_text(head: str) -> str:
    if head == "-":
        return sys.stdin.read()
    file = Path(head)
    try:
        if file.is_file():
            return file.read_text("ascii", errors="replace")
    except (OSError, ValueError):
        pass
    # A hash has none of these signs, so a path is meant; the JSON of a head may be given too, and has any of them.
    if any(sign in head for sign in "/\\.") and not head.startswith("{"):
        raise Problem(f"{head}: the head file does not exist")
    return head


group.add_command(load)
