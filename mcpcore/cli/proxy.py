"""`mcpcore proxy`: relay between a client and a server, and make the server's failures readable."""

from __future__ import annotations

import logging
import os
import shlex
import shutil
import signal
import threading
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
import click

from mcpcore.cli import output
from mcpcore.cli.options import SplitCommand, after_dashes, complete_files, header_option, require_url
from mcpcore.cli.problems import INTERRUPTED, Failed, Problem
from mcpcore.cli.run import (
    Wire,
    allow_host_option,
    announce,
    announce_faults,
    bind,
    endpoint_of,
    fault_options,
    fault_problems,
    opened_log,
)
from mcpcore.reports import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpcore.proxy.answers import ResponseRewriter

_INTERPRETERS: Final = {".py": "python", ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "npx tsx"}


class ProxyCommand(SplitCommand):
    """A command whose own options all come before the first other word: those after it are the server's."""

    allow_extra_args = True
    allow_interspersed_args = False


@click.command(
    cls=ProxyCommand,
    epilog="""\b
  mcpcore proxy -- uvx mcp-server-git                       stdio, for a client's configuration
  mcpcore proxy --overlay git.toml -- uvx mcp-server-git    with a contract for its tools
  mcpcore proxy --learn git.toml -- uvx mcp-server-git      draft that contract from the failures
  mcpcore proxy --url https://example.com/mcp               a server over streamable HTTP
  mcpcore proxy --http :8000 -- npx -y some-server          serve over HTTP at /mcp

\b
The entry of a client's configuration, with the old command and arguments after `--`:
  {"command": "mcpcore", "args": ["proxy", "--", "uvx", "mcp-server-git"]}

\b
Exit codes: 0 the client has left; 1 the server cannot be started, ended twice, or never answered; 2 usage, or the
proxy could not start; 130 Ctrl+C.""",
)
@click.option("--url", metavar="URL", help="The server, over streamable HTTP, instead of a command.")
@click.option(
    "--overlay",
    "--contract",  # its former name, which configurations of clients still have
    "overlay",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    shell_complete=complete_files,
    help="The contract of the server: a TOML or JSON file that says how its tools fail.",
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
@click.option(
    "--tool-failure-meta", is_flag=True, help="Also write the draft ToolFailure of MCP (SEP-3313) into failed results."
)
@click.option(
    "--no-repeat-notice", is_flag=True, help="Do not say in a failure that the same call failed in the same way before."
)
@click.option("--stats", is_flag=True, help="At the end, print counts, and the entries that matched nothing.")
@fault_options
@click.option("--http", "address", metavar="HOST:PORT", help="Serve streamable HTTP at /mcp instead of stdio.")
@allow_host_option
@header_option
@click.pass_context
def proxy(
    ctx: click.Context,
    *,
    url: str | None,
    overlay: Path | None,
    audit: Path | None,
    learn: Path | None,
    tool_failure_meta: bool,
    no_repeat_notice: bool,
    stats: bool,
    fail: tuple[str, ...],
    fail_seed: int,
    fail_log: Path | None,
    address: str | None,
    allowed_hosts: tuple[str, ...],
    headers: dict[str, str],
) -> None:
    """Run any MCP server behind a proxy that makes its failures readable.

    The words after `--` are the command of the server. Failures get codes, advice and ids, and are recorded; with a
    contract also reasons and recoveries. All other messages pass through unchanged.
    """
    try:
        command = after_dashes(ctx) or ()
        if ctx.args:
            raise _misplaced(ctx, command)
        from mcpcore.client.headers import HidingFormatter

        target = _target(command, url)
        require_url(headers, has_url=url is not None)
        if headers and address is not None:
            raise Problem(
                "--header is for clients over stdio.",
                hint="leave it out: with --http, the headers of each client are sent on",
            )
        endpoint = endpoint_of(ctx, address)
        answers = _answers(
            command[0] if command else url or "",
            overlay_file=overlay,
            audit=audit,
            learn=learn,
            tool_failure_meta=tool_failure_meta,
            repeat_notice=not no_repeat_notice,
        )
        _fail_on_demand(answers, fail, fail_seed, fail_log)
        log = logging.StreamHandler()
        log.setFormatter(HidingFormatter("mcpcore proxy: %(message)s", headers))
        logging.basicConfig(handlers=[log], level=logging.WARNING)
        received = _serve(target, answers, endpoint, allowed_hosts, headers=headers, stats=stats)
    except KeyboardInterrupt:
        # Before the proxy serves, or a second time.
        received = signal.SIGINT
    ctx.exit(0 if received is None else INTERRUPTED if received == signal.SIGINT else 128 + received)


def _serve(
    target: Sequence[str] | str,
    answers: ResponseRewriter,
    endpoint: tuple[str, int] | None,
    allowed_hosts: Sequence[str],
    *,
    headers: Mapping[str, str],
    stats: bool,
) -> signal.Signals | None:
    """Serve until the client leaves, or until a signal, which is returned unless it ends this process."""
    from mcpcore.proxy.sessions import ServerEndedError, ending_signals, serve_stdio

    handlers = {number: signal.getsignal(number) for number in ending_signals()}
    ended = received = None
    try:
        if endpoint is None:
            wire = Wire.claimed()
            stdin, stdout = wire.stdin.fileno(), wire.stdout.fileno()
            received = anyio.run(lambda: serve_stdio(target, answers, stdin=stdin, stdout=stdout, headers=headers))
        else:
            from mcpcore.proxy.http import PATH, serve_http

            bound = bind(*endpoint)
            name = target if isinstance(target, str) else target[0]
            hosts = announce(name, bound, endpoint[0], allowed_hosts, path=PATH)
            received = anyio.run(lambda: serve_http(target, answers, bound=bound, hosts=hosts))
    except* ServerEndedError as group:
        ended = group.exceptions[0]
    finally:
        _finish(answers, stats=stats)
    # A thread may still write to a client that does not read.
    code = Failed.exit_code if ended is not None else INTERRUPTED if received == signal.SIGINT else 0
    timer = threading.Timer(1.0, os._exit, (code,))
    timer.daemon = True
    timer.start()
    if ended is not None:
        again = f"curl -i {target}" if isinstance(target, str) else shlex.join(target)
        raise Failed(f"{ended}.", hint=f"run it without the proxy to see why: {again}")
    if received is not None and received != signal.SIGINT:
        # The children have ended; now the signal has the effect that it has on other commands.
        signal.signal(received, handlers[received])
        signal.raise_signal(received)
    return received


def _fail_on_demand(answers: ResponseRewriter, fail: Sequence[str], seed: int, log: Path | None) -> None:
    """Have tools fail with what the contract declares, and log calls; says so on standard error."""
    if fail:
        from mcpcore.boundary.faults import parse_faults
        from mcpcore.proxy.faults import OverlayFaults

        with fault_problems():
            answers.faults = OverlayFaults(answers.overlay, parse_faults(fail), seed=seed)
        announce_faults(fail)
    if log is not None:
        answers.call_log = opened_log(log)


def _finish(answers: ResponseRewriter, *, stats: bool) -> None:
    learner = answers.learner
    if learner is not None and learner.is_empty:
        output.line(
            f"--learn {learner.path}: nothing was written, since no failure was seen that it could name.", err=True
        )
    elif learner is not None:
        learner.write()
    if stats:
        for line in answers.statistics.lines(answers.overlay):
            output.line(line, err=True)


def _misplaced(ctx: click.Context, command: Sequence[str]) -> Problem:
    """What to say about words before `--`, such as the file of a server."""
    options = {name for parameter in ctx.command.params for name in parameter.opts}
    words = [*takewhile(lambda word: word.partition("=")[0] not in options, ctx.args), *command]
    if len(words) == 1 and words[0].startswith(("http://", "https://")):
        return Problem(f"{words[0]!r} needs an option before it.", hint=f"mcpcore proxy --url {shlex.quote(words[0])}")
    interpreter = _INTERPRETERS.get(Path(words[0]).suffix, "")
    return Problem(
        f"{words[0]!r} is not an option of the proxy. Put the command of the server after `--`, and the options of the "
        "proxy before.",
        hint=f"mcpcore proxy -- {f'{interpreter} ' * bool(interpreter)}{shlex.join(words)}",
    )


def _target(command: Sequence[str], url: str | None) -> Sequence[str] | str:
    if bool(command) == (url is not None):
        raise Problem(
            "name one server: a command after `--`, or --url URL." if url is None else "--url takes no command.",
            hint="for example: mcpcore proxy -- uvx mcp-server-git",
        )
    if url is not None:
        if not url.startswith(("http://", "https://")):
            raise Problem(f"--url {url} is not an http URL.", hint="write --url https://HOST/mcp")
        return url
    # A misspelt command is reported before anything is served.
    if shutil.which(command[0]) is None:
        raise Problem(f"the command {command[0]!r} was not found.", hint="check its name, or write its whole path")
    return command


def _answers(
    server: str,
    *,
    overlay_file: Path | None,
    audit: Path | None,
    learn: Path | None,
    tool_failure_meta: bool,
    repeat_notice: bool,
) -> ResponseRewriter:
    from mcpcore_lint.runner.files import write_text

    from mcpcore.audit import AuditError
    from mcpcore.boundary.script import Boundary
    from mcpcore.proxy.answers import ResponseRewriter
    from mcpcore.proxy.learning import Learner
    from mcpcore.proxy.overlay import Overlay, OverlayError
    from mcpcore.sdk.errors import exposes_internal_errors

    try:
        overlay = Overlay() if overlay_file is None else Overlay.read(overlay_file, drafts=False)
        server = overlay.server or server
        boundary = Boundary(
            server=server,
            expose=exposes_internal_errors(),
            audit=audit,
            tool_failure_meta=tool_failure_meta,
            repeat_notice=repeat_notice,
        )
    except (OverlayError, AuditError) as exc:
        raise Problem(str(exc)) from None
    if overlay.left_out:
        count, places = counted(len(overlay.left_out), "entry", "entries"), ", ".join(overlay.left_out)
        output.line(f"{overlay_file}: not used until the recovery is written: {count}: {places}", err=True)
    learner = None
    if learn is not None:
        if learn.exists():
            raise Problem(f"--learn {learn}: the file exists.", hint="name a new file; a draft never replaces another")
        try:
            write_text(str(learn), "")  # to see whether that is possible
            learn.unlink()
        except OSError as exc:
            raise Problem(
                f"--learn {learn} cannot be written: {exc.strerror or exc}.",
                hint="name a file in a folder that exists, and that you may write to",
            ) from None
        learner = Learner(learn, server, name=overlay.server)
    return ResponseRewriter(boundary, overlay, learner=learner)
