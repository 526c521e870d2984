"""`mcpcore audit load`: write trails into a store."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mcpcore.cli import output
from mcpcore.cli.audit_source import KEY_HELP, Guarded, StoreSource, read_key

if TYPE_CHECKING:
    from mcpcore.fleet.load import LoadReport


@click.command(
    cls=Guarded,
    epilog="""\b
Examples:
  mcpcore audit load audit.jsonl --store fleet
  mcpcore audit load logs/*/audit.jsonl --store clickhouse://loader@db.example/ops?secure=1
  mcpcore audit load otlp.json --store fleet               what a collector exported
  mcpcore audit load audit.jsonl --store fleet --attribute service.version=1.4.2""",
)
@click.argument(
    "trails",
    metavar="TRAIL...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, dir_okay=False, readable=False),
)
@click.option(
    "--store",
    required=True,
    metavar="FOLDER|URL",
    help="Where to: a folder, or clickhouse://USER@HOST:PORT/DATABASE?table=NAME&secure=1. The password of the user "
    "comes from MCPCORE_STORE_PASSWORD, or from the URL.",
)
@click.option("--key-file", type=click.Path(path_type=Path), help=KEY_HELP)
@click.option("--no-head", is_flag=True, help="Accept a signed trail without its head, as `mcpcore audit verify` does.")
@click.option("--no-verify", is_flag=True, help="Do not check any hash, for signed trails whose key is kept elsewhere.")
@click.option(
    "--attribute",
    "attributes",
    metavar="KEY=VALUE",
    multiple=True,
    help="An attribute of the server that wrote the trails, such as service.version=1.4.2; may be repeated. "
    "Logs of a collector have their own.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_context
def load(
    ctx: click.Context,
    trails: tuple[Path, ...],
    store: str,
    key_file: Path | None,
    *,
    no_head: bool,
    no_verify: bool,
    attributes: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write trails into a store that `stats`, `show` and `tail` read with --store.

    TRAIL is the file of a trail, whose rotated files belong to it, a single rotated file, or logs that an OpenTelemetry
    collector exported as JSON. A record that is loaded twice, from the same file or from another, counts once.

    Hashes are checked on the way. Records of a broken chain are loaded too, and the report names the file and the line.

    Exits 0 if all is loaded and as written, 1 if all is loaded and something was changed or is missing, 2 if it could
    not be loaded; the same command again then completes it.
    """
    from mcpcore.fleet.load import load as run

    resource = dict(map(_attribute, attributes))
    with StoreSource(store).open(create=True) as opened:
        report = run(
            opened,
            trails,
            key=read_key(key_file),
            no_head=no_head,
            no_verify=no_verify,
            resource=resource,
            progress=_progress,
        )
    if as_json:
        output.text(json.dumps(report.to_json(), indent=2))
    else:
        _print(report, str(opened.address))
    ctx.exit(0 if report.ok else 1)


def _attribute(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise click.UsageError(f"--attribute takes KEY=VALUE, got {text!r}.")
    return key, value


def _progress(count: int) -> None:
    if sys.stderr.isatty():  # pragma: no cover - on a terminal only
        output.line(f"{count:,} records loaded", err=True)


def _print(report: LoadReport, store: str) -> None:
    for problem in report.problems:
        output.line(output.styled(str(problem), fg="red"))
    if report.unlisted:
        output.line(f"... and {report.unlisted} more")
    for note in report.notes:
        output.line(f"note: {note}")
    if report.foreign:
        output.line(f"note: {_counted(report.foreign, 'record')} of other programs left out")
    damaged = f" and {_counted(report.damaged, 'damaged line')}" if report.damaged else ""
    count = f"{_counted(report.records, 'record')}{damaged}"
    stored = report.records - report.new
    again = f"; {report.new} new, {stored} stored before" if stored else ""
    if report.ok:
        output.line(output.styled(f"{count} loaded into {store}, as written{again}", fg="green"))
    else:
        problems = _counted(len(report.problems) + report.unlisted, "problem")
        summary = f"{count} loaded into {store}: {problems}{again}"
        output.line(output.styled(summary, fg="red", bold=True))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
