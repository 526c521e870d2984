"""`mcpcore migrate`: turn the tools of a plain SDK or FastMCP server into tools with contracts."""

from __future__ import annotations

import os
import sys
from typing import Final

import click

from mcpcore.cli import output
from mcpcore.cli.output import EscapedErrors, EscapingStream
from mcpcore.cli.problems import Problem

_EPILOG: Final = """\b
Examples:
  mcpcore migrate .                          show what would change, and what is left
  mcpcore migrate src tests --write          change the files
  mcpcore migrate . --only server --write    only move from version 1 of the SDK
  mcpcore migrate . --only raise --only mapping

Name the tests too: they follow the new names of classes and fields. The report has one line for each place
that is left: PATH:LINE TOOL: PATTERN: what to decide.

Exits 0 when nothing is left to do by hand, 1 when something is left, 2 when it could not run."""


class _Command(EscapedErrors, click.Command):
    """The command. Its errors are escaped."""


def _complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    from mcpcore_lint.codemods.migrate.model import RULES

    return [name for name in RULES if name.startswith(incomplete)]


def _checked(_: click.Context, __: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    from mcpcore_lint.codemods.migrate.model import RULES

    for name in names:
        if name not in RULES:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(RULES)}.")
    return names


@click.command(cls=_Command, epilog=_EPILOG)
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--write", is_flag=True, help="Change the files instead of printing a diff.")
@click.option(
    "--only",
    multiple=True,
    metavar="RULE",
    callback=_checked,
    shell_complete=_complete,
    help="Apply only this rule: server, raise, rethrow, tool-error, project-error, mapping, json, text or result. "
    "May be repeated.",
)
def migrate(paths: tuple[str, ...], *, write: bool, only: tuple[str, ...]) -> None:
    """Turn the tools of plain SDK and FastMCP servers into tools with contracts.

    Without --write, print the change as a diff that `git apply` takes. PATHS are files and folders. Nothing that is
    read is imported or run.
    """
    from mcpcore_lint.output import CannotRunError, say_patch
    from mcpcore_lint.runner.migrate import migrate as run

    missing = [path for path in paths if not os.path.lexists(path)]
    if missing:
        raise Problem(f"{missing[0]}: no such file or folder.")
    try:
        migration = run(paths, rules=only, write=write)
    except CannotRunError as error:
        raise Problem(str(error)) from None
    if not write:
        stream = sys.stdout
        if isinstance(stream, EscapingStream):
            # A patch must stay as it is, or git could not apply it.
            stream.flush()
            sys.stdout = stream.original
        say_patch("".join(file.diff(file.path.replace(os.sep, "/")) for file in migration.files))
        sys.stdout = stream
    for left in migration.left:
        output.line(left.text(left.path, left.line))
    for failure in migration.failures:
        output.line(f"{failure.path}: {failure.message}", err=True)
    places = len(migration.converted)
    verb = "converted" if write else "would be converted"
    output.line(
        f"{_counted(places, 'place')} {verb} in {_counted(len(migration.files), 'file')}; "
        f"{_counted(len(migration.left), 'place')} left",
        err=True,
    )
    sys.exit(migration.exit_code)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
