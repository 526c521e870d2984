"""`mcpcore proxy`: relay between a client and a server, and make the server's failures readable."""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
import click

from mcpcore.cli import output
from mcpcore.cli.options import header_option, require_url
from mcpcore.cli.problems import Problem
from mcpcore.cli.run import Wire, bind, parse_address
from mcpcore.cli.splitting import SplitCommand, after_dashes, complete_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore.proxy.answers import Answers

FAILED: Final = 1


@click.command(
    cls=SplitCommand,
    epilog="""\b
  mcpcore proxy -- uvx mcp-server-git                       stdio, for a client's configuration
  mcpcore proxy --contract git.toml -- uvx mcp-server-git   with a contract for its tools
  mcpcore proxy --learn git.toml -- uvx mcp-server-git      draft that contract from the failures
  mcpcore proxy --url https://example.com/mcp               a server over streamable HTTP
  mcpcore proxy --http :8000 -- npx -y some-server          serve over HTTP at /mcp

\b
The entry of a client's configuration, with the old command and arguments after `--`:
  {"command": "mcpcore", "args": ["proxy", "--", "uvx", "mcp-server-git"]}

\b
Exit codes: 0 the client has left; 1 the server ended; 2 the proxy could not start.""",
)
@click.option("--url", metavar="URL", help="The server, over streamable HTTP, instead of a command.")
@click.option(
    "--contract",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    shell_complete=complete_files,
    help="A TOML or JSON file that says how the tools fail.",
)
@click.option(
    "--audit",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    shell_complete=complete_files,
    help="Record every failure in this file; the default is MCPCORE_AUDIT.",
)
@click.option(
    "--learn",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draft a contract from the failures that no contract matches. The file must not exist.",
)
@click.option("--stats", is_flag=True, help="At the end, print counts, and the entries that matched nothing.")
@click.option("--http", "address", metavar="HOST:PORT", help="Serve streamable HTTP at /mcp instead of stdio.")
@header_option
@click.pass_context
def proxy(
    ctx: click.Context,
    *,
    url: str | None,
    contract: Path | None,
    audit: Path | None,
    learn: Path | None,
    stats: bool,
    address: str | None,
    headers: dict[str, str],
) -> None:
    """Run any MCP server behind a proxy that makes its failures readable.

    The words after `--` are the command of the server. Failures get codes, advice and ids, and are recorded; with a
    contract also reasons and recoveries. All other messages pass through unchanged.
    """
    command = after_dashes(ctx) or ()
    target = _target(command, url)
    require_url(headers, has_url=url is not None)
    if headers and address is not None:
        raise Problem(
            "--header is for clients over stdio.",
            hint="leave it out: with --http, the headers of each client are sent on",
        )
    endpoint = None if address is None else parse_address(address)
    answers = _answers(command[0] if command else url or "", contract=contract, audit=audit, learn=learn)
    logging.basicConfig(format="mcpcore proxy: %(message)s", level=logging.WARNING)
    from mcpcore.proxy.sessions import ServerEndedError

    ended = None
    try:
        if endpoint is None:
            with Wire.claimed() as wire:
                from mcpcore.proxy.stdio import serve_stdio

                stdin, stdout = wire.stdin.fileno(), wire.stdout.fileno()
                anyio.run(lambda: serve_stdio(target, answers, stdin=stdin, stdout=stdout, headers=headers))
        else:
            from mcpcore.proxy.http import serve_http

            bound = bind(*endpoint)
            host, port = endpoint[0], bound.getsockname()[1]
            shown = f"[{host}]" if ":" in host else host
            output.line(f"Serving {command[0] if command else url} at http://{shown}:{port}/mcp", err=True)
            anyio.run(lambda: serve_http(target, answers, bound=bound, host=host))
    except* ServerEndedError as group:
        ended = group.exceptions[0]
    except* OSError as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise Problem(f"{command[0] if command else url} cannot be started: {first}") from None
    finally:
        if answers.learner is not None:
            answers.learner.write()
        if stats:
            for line in answers.statistics.lines(answers.overlay):
                output.line(line, err=True)
    if ended is not None:
        output.line(f"Error: {ended}", err=True)
    # A thread may still write to a client that does not read.
    timer = threading.Timer(1.0, os._exit, (FAILED if ended is not None else 0,))
    timer.daemon = True
    timer.start()
    ctx.exit(FAILED if ended is not None else 0)


def _target(command: Sequence[str], url: str | None) -> Sequence[str] | str:
    from mcpcore.proxy.child import exists

    if bool(command) == (url is not None):
        raise Problem(
            "name one server: a command after `--`, or --url URL." if url is None else "--url takes no command.",
            hint="for example: mcpcore proxy -- uvx mcp-server-git",
        )
    if url is not None:
        if not url.startswith(("http://", "https://")):
            raise Problem(f"--url {url} is not an http URL.", hint="write --url https://HOST/mcp")
        return url
    if not exists(command[0]):
        raise Problem(f"the command {command[0]!r} was not found.", hint="check its name, or write its whole path")
    return command


def _answers(server: str, *, contract: Path | None, audit: Path | None, learn: Path | None) -> Answers:
    from mcpcore.audit import AuditError
    from mcpcore.boundary import Boundary
    from mcpcore.proxy.answers import Answers
    from mcpcore.proxy.learning import Learner
    from mcpcore.proxy.overlay import Overlay, OverlayError
    from mcpcore.sdk.serving import exposes_internal_errors

    try:
        overlay = Overlay() if contract is None else Overlay.read(contract)
        server = overlay.server or server
        boundary = Boundary(server=server, expose=exposes_internal_errors(), audit=audit)
    except (OverlayError, AuditError) as exc:
        raise Problem(str(exc)) from None
    if learn is not None and learn.exists():
        raise Problem(f"--learn {learn}: the file exists.", hint="name a new file; a draft never replaces another")
    return Answers(boundary, overlay, learner=None if learn is None else Learner(learn, server))
