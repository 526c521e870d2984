"""Where `mcpcore audit` reads: the files of a trail, or a store. Both answer the same questions.

`mcpcore audit load` writes the first into the second.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from mcpcore.audit import reading, stats
from mcpcore.audit.chain import KEY_VARIABLE, AuditError
from mcpcore.cli import output
from mcpcore.cli.problems import Problem
from mcpcore.reports import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore.audit.diagnosis import Report
    from mcpcore.fleet.load import LoadReport
    from mcpcore.fleet.store import Store


KEY_HELP: Final = f"A file with the key; without it, {KEY_VARIABLE}."


class Guarded(click.Command):
    """A command that reports errors of the file system and of the trail in one line."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, as click does."""
        try:
            return super().invoke(ctx)
        except AuditError as exc:
            raise Problem(str(exc)) from exc
        except OSError as exc:
            # Every command reports an error of its output alike, and ends quietly if its reader has gone.
            if output.is_of_output(exc):
                raise
            raise Problem(f"{exc.filename or 'the trail'}: {exc.strerror or exc}") from exc


class FileSource:
    """The files of a trail."""

    def __init__(self, path: Path) -> None:
        """Read the trail at `path`."""
        self._path = path
        self.name = path.name

    def read(self, query: reading.Query) -> Iterator[reading.Record]:
        """Every record that matches, oldest first."""
        matched = False
        for record in reading.read(self._path, query):
            matched = True
            yield record
        if not matched:
            # A file that is no trail has no matches either, but that is an error.
            reading.require_records(self._path)

    def last(self, query: reading.Query, count: int) -> list[reading.Record]:
        """The last records that match, oldest first."""
        return reading.last(self._path, query, count)

    def follow(self, query: reading.Query, count: int) -> Iterator[reading.Record]:
        """The last records that match, then new ones."""
        return reading.follow(self._path, query, count=count)

    def count(self, query: reading.Query) -> stats.Stats:
        """The counts of the records that match."""
        return stats.collect(self.read(query))


class StoreSource:
    """A store. Its modules are loaded only for a command that names one."""

    def __init__(self, text: str) -> None:
        """Read the store that `text` names."""
        from mcpcore.fleet import address, queries

        self._address = address.parse(text)
        self._queries = queries
        self.name = self._address.name

    def open(self, *, create: bool = False) -> Store:
        """Open the store, and say so if another process keeps it busy."""
        from mcpcore.fleet.store import open_store

        return open_store(self._address, create=create, waiting=_waiting)

    def read(self, query: reading.Query) -> Iterator[reading.Record]:
        """Every record that matches, oldest first."""
        with self.open() as store:
            yield from self._queries.read(store, query)

    def last(self, query: reading.Query, count: int) -> list[reading.Record]:
        """The last records that match, oldest first."""
        with self.open() as store:
            return self._queries.last(store, query, count)

    def follow(self, query: reading.Query, count: int) -> Iterator[reading.Record]:
        """The last records that match, then those that are loaded."""
        return self._queries.follow(self.open, query, count=count)

    def count(self, query: reading.Query) -> stats.Stats:
        """The counts of the records that match."""
        with self.open() as store:
            return self._queries.count(store, query)


def _waiting(folder: Path) -> None:
    output.line(f"Waiting for another process that uses the store {folder}.", err=True)


def read_key(key_file: Path | None) -> bytes | None:
    """The key in a file, or in the environment."""
    if key_file is not None:
        # The newline at the end of a text file is not part of the key.
        return key_file.read_bytes().rstrip(b"\r\n") or None
    # A key may be any bytes, also if they are no text.
    return os.environ.get(KEY_VARIABLE, "").rstrip("\r\n").encode("utf-8", "surrogateescape") or None


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
    help="The store: a folder, or clickhouse://USER@HOST:PORT/DATABASE, with ?table=NAME&secure=1 if you need them. "
    "The password of the user comes from MCPCORE_STORE_PASSWORD, or from the URL.",
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
    "Logs of a collector have their own attributes.",
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

    Exits 0 if everything was loaded unchanged, 1 if everything was loaded but something was changed or is missing, 2 if
    it could not be loaded; in that case, run the same command again to complete it.
    """
    from mcpcore.fleet.load import load as load_trails

    resource = dict(map(_attribute, attributes))
    with StoreSource(store).open(create=True) as opened:
        report = load_trails(
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


def print_problems(report: Report | LoadReport) -> None:
    """Print the problems and the notes of a report, each on a line."""
    for problem in report.problems:
        output.line(output.styled(str(problem), fg="red"))
    if report.unlisted:
        output.line(f"... and {report.unlisted} more")
    for note in report.notes:
        output.line(f"note: {note}")


def print_verdict(report: Report | LoadReport, summary: str, sound: str, more: str = "") -> None:
    """Print the last line of a report: `summary`, then `sound` if nothing is wrong, else the number of problems."""
    if report.ok:
        output.line(output.styled(f"{summary}{sound}{more}", fg="green"))
    else:
        problems = counted(len(report.problems) + report.unlisted, "problem")
        output.line(output.styled(f"{summary}: {problems}{more}", fg="red", bold=True))


def _print(report: LoadReport, store: str) -> None:
    print_problems(report)
    if report.foreign:
        output.line(f"note: {counted(report.foreign, 'record')} of other programs left out")
    damaged = f" and {counted(report.damaged, 'damaged line')}" if report.damaged else ""
    count = f"{counted(report.records, 'record')}{damaged}"
    stored = report.records - report.new
    again = f"; {report.new} new, {stored} stored before" if stored else ""
    print_verdict(report, f"{count} loaded into {store}", ", as written", again)
