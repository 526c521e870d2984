"""The group `mcpcore`: its table of commands, which are imported on first use."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple, TextIO

import click

from mcpcore import __version__
from mcpcore.cli.output import EscapedErrors, escape_streams, is_of_output
from mcpcore.cli.problems import Problem

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PROGRAM: Final = "mcpcore"
SHELLS: Final = ("bash", "zsh", "fish")


class Mounted(NamedTuple):
    """A command that is loaded on first use.

    Attributes:
        module: The module of the command.
        attribute: Its name in the module.
        help: The line in `mcpcore --help`, which must not load the module.
    """

    module: str
    attribute: str
    help: str


COMMANDS: Final = {
    "new": Mounted("mcpcore.cli.new", "new", "Make a project with a server, contracts and tests."),
    "run": Mounted("mcpcore.cli.run", "run", "Serve a server over stdio or HTTP."),
    "call": Mounted("mcpcore.cli.call", "call", "Call one tool and print what a client receives."),
    "proxy": Mounted("mcpcore.cli.proxy", "proxy", "Make the failures of any MCP server readable."),
    "check": Mounted("mcpcore.cli.check", "check", "Call the tools of a running server and judge how they fail."),
    "fail-report": Mounted(
        "mcpcore.cli.fail_report", "fail_report", "Show what an agent did after each failure it met."
    ),
    "lint": Mounted("mcpcore_lint.cli", "lint", "Check that tools raise what their contracts declare."),
    "catalog": Mounted(
        "mcpcore.cli.catalog", "catalog", "List every way servers can fail: Markdown, JSON, HTML, Python."
    ),
    "explain": Mounted("mcpcore.cli.explain", "explain", "Explain one reason: when, what to do, where, how often."),
    "diff": Mounted("mcpcore.cli.diff", "diff", "Compare failure contracts, and grade each change."),
    "migrate": Mounted("mcpcore.cli.migrate", "migrate", "Turn the tools of other servers into tools with contracts."),
    "audit": Mounted("mcpcore.cli.audit", "group", "Check, read, follow and count the audit trail."),
    "completion": Mounted("mcpcore.cli.completion", "completion", "Print the completion script of a shell."),
}


class LazyGroup(EscapedErrors, click.Group):
    """A group whose commands are imported when they are called, not when they are listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        """Import the command."""
        mounted = COMMANDS.get(cmd_name)
        command: click.Command | None = mounted and getattr(import_module(mounted.module), mounted.attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command in `args`; an unknown one raises a problem with the nearest name."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            import difflib

            near = difflib.get_close_matches(name, COMMANDS, n=1)
            raise Problem(
                f"unknown command {name!r}.",
                hint=f"did you mean `{PROGRAM} {near[0]}`?" if near else f"`{PROGRAM} --help` lists the commands.",
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """The list of commands, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, mounted.help) for name, mounted in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The matching commands and options, from the table alone."""
        from click.shell_completion import CompletionItem

        items = [
            CompletionItem(name, help=mounted.help) for name, mounted in COMMANDS.items() if name.startswith(incomplete)
        ]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
A server in a file, and one of its tools called as a client would:
  mcpcore call server.py --list
  mcpcore call server.py fetch_articles pmids=1 pmids=2
The same server over HTTP, and over stdio for a client's configuration:
  mcpcore run server.py --http 127.0.0.1:8000
  mcpcore run server.py

\b
Exit codes: 0 success, 1 a failed call or findings, 2 usage, or it could not run.""",
)
@click.version_option(__version__, "-V", "--version", prog_name=PROGRAM, message="%(prog)s %(version)s")
def cli() -> None:
    """MCP servers whose failures are declared, typed, checked and read.

    `mcpcore COMMAND --help` has more, with examples.
    """


def run() -> None:
    """Run the command line and exit."""
    escape_streams()
    # click removes colours unless the output is a terminal; NO_COLOR (no-color.org) removes them there too.
    color = False if os.environ.get("NO_COLOR") else None
    try:
        cli(prog_name=PROGRAM, color=color)
    except OSError as exc:
        if not is_of_output(exc):
            raise
        problem = Problem(f"the standard output cannot be written: {exc.strerror or exc}.")
        try:
            problem.show()
        except OSError:
            # It was standard error. Nobody can read a message, so the exit code alone says what happened.
            _discard(sys.stderr)
            reported = exc.__context__
            sys.exit(reported.exit_code if isinstance(reported, click.ClickException) else problem.exit_code)
        _discard(sys.stdout)
        sys.exit(problem.exit_code)
    finally:
        # When Ctrl+C ends an `exec` of text, such as the import of a dataclass runs, CPython notes it until the next
        # `exec`. With that note, `python -m` ends by SIGINT, although the command has handled it and exits with 130.
        exec("")  # noqa: S102 - clears the note


def _discard(stream: TextIO) -> None:
    """Let what `stream` holds go nowhere, so that the interpreter does not fail to write it when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
