"""`mcpcore check`: call the tools of a running server, in any language, and judge how they fail."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import anyio
import click

from mcpcore.check import FORMATS, LEVELS
from mcpcore.cli import output
from mcpcore.cli.call import ServerAddress
from mcpcore.cli.options import (
    SplitCommand,
    after_dashes,
    complete_files,
    era_option,
    header_option,
    output_option,
    timeout_option,
)
from mcpcore.cli.problems import FAILED, INTERRUPTED, Problem, replace_file
from mcpcore.values.escaping import terminal_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpcore.check.model import CheckedTool, Report
    from mcpcore.check.running import Check

# The tools that a question names.
_NAMED: Final = 10


def _refuse_score(_ctx: click.Context, _option: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise Problem(
            "--fail-under was removed, because there is no score any more.",
            hint="write --fail-on error, or --fail-on warning",
        )


@click.command(
    cls=SplitCommand,
    options_metavar="[OPTIONS]",
    epilog="""\b
  mcpcore check -- npx -y @modelcontextprotocol/server-memory
  mcpcore check server.py                                a file, started with `mcpcore run`
  mcpcore check --url https://example.com/mcp
  mcpcore check --all --yes -- python server.py          also tools that may change something
  mcpcore check --format sarif --output check.sarif server.py
  mcpcore check --fail-on error -- python server.py      for CI

\b
Only tools with readOnlyHint are called, since a server may carry out a call despite wrong arguments.
Use --all on a server whose data you can lose.

\b
Exit codes: 0 no finding reaches --fail-on; 1 a finding does, no tool was called, or the check ended early;
2 the server could not be checked.""",
)
@click.argument("words", nargs=-1, metavar="[SERVER]", shell_complete=complete_files)
@click.option("--url", metavar="URL", help="A server over streamable HTTP, instead of a command.")
@click.option("--all", "everything", is_flag=True, help="Also call tools that may change something, after asking.")
@click.option("-y", "--yes", is_flag=True, help="Answer the question of --all with yes.")
@click.option("--tool", "only", multiple=True, metavar="NAME", help="Check only this tool; may be repeated.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="The format of the report.",
)
@output_option
@click.option(
    "--fail-on",
    type=click.Choice([*LEVELS, "never"]),
    default="warning",
    show_default=True,
    metavar="SEVERITY",
    help="Exit with 1 if there is a finding of this severity or worse: error, warning, note or never.",
)
# The option was removed. It is kept so that its users learn what to write instead.
@click.option("--fail-under", hidden=True, expose_value=False, callback=_refuse_score)
@timeout_option(10.0, "How long to wait for each answer, and for the server to start.")
@click.option(
    "--limit",
    type=click.FloatRange(min=0, min_open=True),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="How long the check may take; tools it does not reach are reported.",
)
@era_option
@header_option
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed draws other arguments.")
@click.pass_context
def check(
    ctx: click.Context,
    words: tuple[str, ...],
    *,
    url: str | None,
    everything: bool,
    yes: bool,
    only: tuple[str, ...],
    form: str,
    path: str | None,
    fail_on: str,
    timeout: float,
    limit: float,
    era: str,
    headers: dict[str, str],
    seed: int,
) -> None:
    """Call the tools of a running server, in any language, and judge how they fail.

    SERVER is a file or a module, with or without an object (server.py:app), an http URL, or a command after `--`. Each
    tool is called with bad arguments drawn from its schema and with valid ones, and one of its calls is cancelled.
    """
    from mcpcore.check.model import Report
    from mcpcore.check.running import Check, Options, Target
    from mcpcore.wire.redaction import redact_text

    address = _address(words, after_dashes(ctx), url, headers)
    if everything and not yes and not (sys.stdin and sys.stdin.isatty()):
        raise Problem(
            "--all asks for confirmation, but there is no terminal.", hint="add --yes if the server may change data"
        )
    target = Target(
        command=address.command,
        url=address.url,
        era=era,
        headers=headers,
        # Only a server that is started here gets the variable.
        canary="" if address.url is not None else f"mcpcanary{secrets.token_hex(8)}",
    )
    # `server.py:app` names an object in the file.
    paths = (Path(address.shown), Path(address.shown.rpartition(":")[0] or address.shown))
    file = next((str(path) for path in paths if path.suffix == ".py" and path.is_file()), None)
    # A command or a URL may hold a token, and reports are passed on.
    report = Report(target=redact_text(address.alone), file=file)
    options = Options(everything=everything, only=frozenset(only), timeout=timeout, limit=limit, seed=seed)
    with _Bar() as bar:
        run = Check(target, options, report, bar.update)
        interrupted = _perform(run, address.shown, choose=lambda tools: yes or _agrees(tools, bar))
    _write(report, form, path)
    if interrupted:
        ctx.exit(INTERRUPTED)
    ctx.exit(_exit_code(report, fail_on))  # pragma: no cover - not traced by 3.11 after a cancellation: gh-106749


def _address(
    words: tuple[str, ...], after: tuple[str, ...] | None, url: str | None, headers: dict[str, str]
) -> ServerAddress:
    if url is not None:
        if words or after is not None:
            raise Problem("--url takes no other server.", hint="leave out one of the two")
        if not url.startswith(("http://", "https://")):
            raise Problem(f"--url {url} is not an http URL.", hint="write --url https://HOST/mcp")
        words = (url,)
    if not words and after is None:
        raise Problem(
            "which server?",
            hint="name a file, a module or an http URL: mcpcore check server.py; "
            "or its command: mcpcore check -- COMMAND",
        )
    # Without `--`, the options of the server's command would be taken for options of `check`.
    if after is None and len(words) > 1 and shutil.which(words[0]) is not None and not Path(words[0]).exists():
        raise Problem("the command of a server comes after `--`.", hint=f"write mcpcore check -- {shlex.join(words)}")
    address, rest = ServerAddress.parse(words[:1], after, headers)
    rest = [*rest, *words[1:]]
    if rest:
        raise Problem(f"check takes one server, but also got {rest[0]!r}.", hint="--tool NAME checks one tool")
    return address


def _perform(run: Check, shown: str, *, choose: Callable[[list[CheckedTool]], bool]) -> bool:
    """Run the check; returns whether it was interrupted.

    Raises:
        Problem: If the server cannot be checked.
    """
    from mcpcore.check.running import UnreachableError
    from mcpcore.proxy.sessions import cancel_on_signal

    done, unreachable = False, None

    async def perform() -> None:
        nonlocal done, unreachable
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cancel_on_signal, tasks.cancel_scope, [])

            def ask(tools: list[CheckedTool]) -> bool:
                try:
                    return choose(tools)
                except click.Abort:  # Ctrl+C, or the end of the input
                    tasks.cancel_scope.cancel()
                    return False

            try:
                await run.run(ask)
            except UnreachableError as exc:
                unreachable = exc
            done = True
            tasks.cancel_scope.cancel()

    anyio.run(perform)
    if unreachable is not None:
        raise Problem(  # pragma: no cover - not traced by 3.11 after a cancellation: gh-106749
            f"{shown} cannot be checked: {unreachable}.",
            detail=unreachable.stderr.strip() or None,
            hint="check that it runs: mcpcore call --list, with the same server",
        )
    if not done:  # pragma: no branch - not traced by 3.11 after a cancellation: gh-106749
        run.stop("it was interrupted")
    return not done


def _agrees(tools: list[CheckedTool], bar: _Bar) -> bool:
    """Ask before tools are called that may change something."""
    bar.pause()
    names = ", ".join(tool.name for tool in tools[:_NAMED])
    more = f" and {len(tools) - _NAMED} more" if len(tools) > _NAMED else ""
    question = f"Call {len(tools)} tools that may change something: {names}{more}?"
    # While a question waits, no event loop runs that could see the signal.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return click.confirm(terminal_line(question), err=True)
    finally:
        signal.signal(signal.SIGINT, handler)


class _Bar:
    """The progress on a terminal; nothing elsewhere."""

    def __init__(self) -> None:
        stream = sys.stderr
        # `EscapingStream` escapes the carriage return, and says that it is no terminal.
        self._stream = getattr(stream, "original", stream)
        self._shown = self._stream is not None and self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._width = 0

    def update(self, done: int, total: int, name: str) -> None:
        """Show how many tools are done."""
        if self._shown and total:
            filled = 20 * done // total
            line = f"[{'#' * filled}{'.' * (20 - filled)}] {done}/{total} {terminal_line(name)[:40]}"
            self._stream.write(f"\r{line.ljust(self._width)}")
            self._stream.flush()
            self._width = len(line)

    def pause(self) -> None:
        """Remove the bar."""
        if self._width:
            self._stream.write(f"\r{' ' * self._width}\r")
            self._stream.flush()
            self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pause()


def _write(report: Report, form: str, path: str | None) -> None:
    from mcpcore.check.reports import render

    rendered = render(report, form)
    if path is None or path == "-":
        output.text(rendered.rstrip("\n"))
        return
    replace_file(Path(path), rendered)
    output.line(f"Wrote {path}: {report.totals}.", err=True)


def _exit_code(report: Report, fail_on: str) -> int:
    if fail_on == "never":
        return 0
    if report.stopped:
        output.line(f"The check is not complete: {report.stopped}.", err=True)
    is_faulty = any(map(report.count, LEVELS[: LEVELS.index(fail_on) + 1]))
    return FAILED if is_faulty or report.stopped or not report.called else 0
