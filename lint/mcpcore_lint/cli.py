"""The command `mcpcore lint` for click: its help, its completion, and the errors in its arguments."""

import sys
from typing import Any, Final

import click

from mcpcore import __version__
from mcpcore.cli.output import EscapedErrors, EscapingStream
from mcpcore_lint.command import run
from mcpcore_lint.options import OPTIONS, Option

_EPILOG: Final = """\b
Examples:
  mcpcore lint                              the current folder
  mcpcore lint server.py --fix              fix one file
  mcpcore lint --diff                       show what --fix would change
  mcpcore lint --select error-contract      one family of rules
  mcpcore lint --changed-since main         what this branch changes
  mcpcore lint --explain no-fake-empty      the page of a rule
  mcpcore lint --explain-calls fetch        what a tool can raise

Exits 0 when clean, 1 on findings that reach --fail-on, 2 when it could not run."""


def _for_click(option: Option) -> click.Option:
    types: dict[str, Any] = {
        "choice": click.Choice(option.choices),
        "number": click.IntRange(0),
        "path": click.Path(),
        "file": click.Path(dir_okay=False),
        "output": click.Path(dir_okay=False, allow_dash=True),
    }
    return click.Option(
        [option.name, option.key],
        help=option.help,
        metavar=option.metavar,
        type=types.get(option.kind),
        multiple=option.kind == "rules",
        is_flag=option.kind == "flag" or None,
    )


class _Command(EscapedErrors, click.Command):
    """The command. Its errors are escaped."""


@click.command(
    cls=_Command,
    params=[click.Argument(["paths"], nargs=-1, type=click.Path()), *map(_for_click, OPTIONS)],
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="mcpcore %(version)s")
def lint(paths: tuple[str, ...], **options: Any) -> None:
    """Check that MCP tools raise what their contracts declare, and fail in ways that an agent can act on.

    PATHS are files and folders; the default is the current folder, and `-` is standard input. The code is only
    read, never imported or run.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, EscapingStream):
            # The linter escapes its output itself, and needs to know whether the streams are terminals.
            setattr(sys, name, stream.original)
    sys.exit(run(paths, options))
