"""`mcpcore call`: call one tool of any server and print what a client receives."""

from __future__ import annotations

from typing import Final

import click

from mcpcore.cli.problems import Problem
from mcpcore.cli.splitting import SplitCommand, after_dashes, complete_files

FAILED: Final = 1
INTERRUPTED: Final = 130
ERAS: Final = ("auto", "modern", "handshake")


@click.command(
    cls=SplitCommand,
    options_metavar="[OPTIONS]",
    epilog="""\b
  mcpcore call server.py --list                             the tools, and how each fails
  mcpcore call server.py fetch_articles pmids=1 pmids=2     lists by repetition
  mcpcore call server.py fetch_articles '{"pmids": ["1"]}'  or as JSON, or - for JSON on standard input
  mcpcore call http://127.0.0.1:8000/mcp fetch_articles pmids=1
  mcpcore call package.server:app fetch_articles pmids=1
  mcpcore call examples/workspace/server.py read_file path=a.txt -- ~/notes
  mcpcore call read_file path=a.txt -- npx some-server ~/notes

\b
Values: key=value is read by the tool's input schema; key:=JSON is JSON as it stands; key=@FILE is
the text of a file (key=@- of standard input). Give the arguments as one JSON object to send what
the schema does not allow, as a client might.

\b
After `--` stands the server's command; or, where SERVER is a file, a URL or MODULE:OBJECT, the
server's own arguments. A file or a module is started with `mcpcore run`, as a process of its own.

\b
Exit codes: 0 the tool succeeded; 1 it failed, did not answer, or was refused; 2 it was not called.""",
)
@click.argument(
    "words",
    nargs=-1,
    metavar="SERVER TOOL [JSON | KEY=VALUE...]",
    shell_complete=complete_files,
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON, as it came.")
@click.option("--list", "listing", is_flag=True, help="List the tools, their arguments and their failure modes.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the server to start, and for the tool.",
)
@click.option(
    "--era",
    type=click.Choice(ERAS),
    default="auto",
    show_default=True,
    help="The era of the protocol: 2026-07-28, the handshake of before, or what the server offers.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show what the server writes to standard error.")
@click.pass_context
def call(
    ctx: click.Context,
    words: tuple[str, ...],
    *,
    as_json: bool,
    listing: bool,
    timeout: float,
    era: str,
    verbose: bool,
) -> None:
    """Call one tool of a server as a client does, and print both surfaces of what comes back.

    SERVER is a file, a module, either with an object (server.py:app), an http URL, or a command after `--`.
    The text blocks and the structured content are printed exactly as a client receives them.
    """
    from mcpcore.cli.calling import Request, ServerAddress, perform

    address, rest = ServerAddress.parse(words, after_dashes(ctx))
    if listing:
        if rest:
            raise Problem(
                f"--list shows the tools of a server, and {rest[0]!r} comes after it.", hint="leave out one of the two"
            )
    elif not rest:
        raise Problem("which tool?", hint=f"name it, or see what there is: mcpcore call {' '.join(words)} --list")
    request = Request(
        tool=None if listing else rest[0],
        words=tuple(rest[1:]),
        timeout=timeout,
        era=era,
        verbose=verbose,
        as_json=as_json,
    )
    try:
        succeeded = perform(address, request)
    except KeyboardInterrupt:
        ctx.exit(INTERRUPTED)
    ctx.exit(0 if succeeded else FAILED)
