"""`mcpcore audit`: verify, read, follow, count and load a trail."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mcpcore.cli import output
from mcpcore.cli.audit_load import load
from mcpcore.cli.audit_print import print_record, print_report, print_stats
from mcpcore.cli.audit_source import KEY_HELP, FileSource, Guarded, Source, StoreSource, read_key
from mcpcore.cli.problems import INTERRUPTED, Problem

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from mcpcore.audit.reading import Query

F = TypeVar("F", bound="Callable[..., Any]")


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

    PATH is the file in `Server(audit=PATH)` or MCPCORE_AUDIT, and may be left out if that variable is set. The full
    files next to it belong to the trail.
    """


def _path_argument(command: F) -> F:
    # Whether it can be read shows when it is read: a writer may be moving the file at this moment.
    kind = click.Path(path_type=Path, dir_okay=False, readable=False)
    return click.argument("path", type=kind, envvar="MCPCORE_AUDIT", metavar="PATH")(command)


class _When(click.ParamType[Any]):
    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        from mcpcore.audit.reading import parse_time

        try:
            return parse_time(str(value))
        except ValueError as exc:
            self.fail(str(exc), param, ctx)


def _source(command: F) -> F:
    """Adds PATH and --store, of which one is needed."""
    kind = click.Path(path_type=Path, dir_okay=False, readable=False)
    path = click.argument("path", type=kind, envvar="MCPCORE_AUDIT", metavar="PATH", required=False)
    store = click.option(
        "--store",
        metavar="FOLDER|URL",
        help="Read this store instead of PATH: a folder, or clickhouse://USER@HOST:PORT/DATABASE?table=NAME&secure=1.",
    )
    return path(store(command))


def _chosen(ctx: click.Context, path: Path | None, store: str | None) -> Source:
    given = ctx.get_parameter_source("path") is click.core.ParameterSource.COMMANDLINE
    if store is not None:
        if given:
            raise click.UsageError("Give PATH or --store, not both.", ctx)
        return StoreSource(store)
    if path is None:
        raise click.UsageError("Missing argument 'PATH'; or give --store.", ctx)
    return FileSource(path)


def _filters(command: F) -> F:
    for option in reversed(
        (
            click.option("--tool", "tools", multiple=True, help="Only this tool, resource or prompt; may be repeated."),
            click.option("--reason", "reasons", multiple=True, help="Only this reason; may be repeated."),
            click.option("--code", "codes", multiple=True, help="Only this code, by name or number; may be repeated."),
            click.option(
                "--since", type=_When(), help="From this time on: 2026-11-21, 2026-11-21T08:15Z, or 2h, 7d ago."
            ),
            click.option("--until", type=_When(), help="Before this time; as --since."),
            click.option("--id", "ident", help="The correlation id that the client received, or its beginning."),
        )
    ):
        command = option(command)
    return command


def _query(*, tools: tuple[str, ...], reasons: tuple[str, ...], codes: tuple[str, ...], **others: Any) -> Query:
    from mcpcore.audit.reading import Query

    upper = frozenset(code.upper() for code in codes)
    return Query(tools=frozenset(tools), reasons=frozenset(reasons), codes=upper, **others)


@group.command(
    cls=Guarded,
    epilog="""\b
Examples:
  mcpcore audit verify audit.jsonl
  mcpcore audit verify audit.jsonl --print-head     the head, to be kept elsewhere
  mcpcore audit verify audit.jsonl --head kept.txt   finds records cut off since then
  mcpcore audit verify export.jsonl --no-head       an export from a log store
  mcpcore audit verify audit.jsonl --unsigned old.txt   a trail that got its key later""",
)
@_path_argument
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
    help="The head of the trail from before it got its key, as for --head. It confirms the records without a "
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
    got its key later needs --unsigned for the records from before.

    Exits 0 if the trail is unchanged, 1 if not, 2 if it could not be checked.
    """
    from mcpcore.audit.verification import verify as run

    report = run(
        path,
        key=read_key(key_file),
        head=None if head is None else _head_text(head),
        no_head=no_head,
        unsigned=None if unsigned is None else _head_text(unsigned),
    )
    if as_json:
        output.text(json.dumps(report.to_json(), indent=2))
    elif print_head and report.ok:
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
    counted = source.count(_query(**filters))
    if html is not None:
        from mcpcore.audit.page import render
        from mcpcore.cli.files import replace_file

        replace_file(html, render(counted, title=f"Failures in {source.name}"))
        output.line(f"{html}: {counted.total} failures", err=True)
    elif as_json:
        output.text(json.dumps(counted.to_json(), indent=2))
    else:
        print_stats(counted)


def _head_text(head: str) -> str:
    if head == "-":
        return sys.stdin.read()
    file = Path(head)
    try:
        if file.is_file():
            return file.read_text("ascii", errors="replace")
    except (OSError, ValueError):
        pass
    if any(sign in head for sign in "/\\.") and not head.startswith("{"):
        raise Problem(f"{head}: the head file does not exist")
    return head


group.add_command(load)
