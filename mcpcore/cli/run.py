"""`mcpcore run`: serve the server in a file or a module."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import io
import logging
import os
import shlex
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

import click

from mcpcore.cli import output
from mcpcore.cli.loading import Target, kind_of, load, traceback_of, where
from mcpcore.cli.options import CommandT, SplitCommand, after_dashes, complete_files
from mcpcore.cli.problems import INTERRUPTED, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from mcpcore.boundary.call_log import CallLog
    from mcpcore.sdk.http import Hosts
    from mcpcore.sdk.startup import Startup

DEFAULT_HOST: Final = "127.0.0.1"
ALLOW_HOST_VARIABLE: Final = "MCPCORE_ALLOW_HOST"

allow_host_option = click.option(
    "--allow-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    envvar=ALLOW_HOST_VARIABLE,
    help="Also answer requests to this host, with --http; * for any. Repeat it for more, or set "
    f"{ALLOW_HOST_VARIABLE} to names separated by spaces.",
)


def fault_options(command: CommandT) -> CommandT:
    """Add `--fail`, `--fail-seed` and `--fail-log` to a command."""
    options = (
        click.option(
            "--fail",
            multiple=True,
            metavar="TOOL=REASON",
            help="For testing agents: make the tool fail with this declared reason. Add `,first=N` for the first N "
            "calls, `,probability=P`, or `,after` to run the handler first. `all` raises each reason of each tool "
            "once. Repeat it for more.",
        ),
        click.option(
            "--fail-seed", type=int, default=0, metavar="N", help="With probability=, decides which calls fail."
        ),
        click.option(
            "--fail-log",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE",
            shell_complete=complete_files,
            help="Append a line for each tool call to this file; `mcpcore fail-report` reads it.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@contextlib.contextmanager
def failing_on_demand(server: Any, fail: Sequence[str], seed: int, log: Path | None) -> Iterator[None]:
    """Have tools of `server` fail on demand, and log its calls; says so on standard error.

    Raises:
        Problem: If a failure cannot be raised, or the log not be written.
    """
    if not fail and log is None:
        yield
        return
    import anyio

    from mcpcore.boundary.faults import parse_faults
    from mcpcore.testing.faults import installed, logging_calls
    from mcpcore.testing.servers import declared_tools

    with contextlib.ExitStack() as scopes:
        if fail:
            with fault_problems():
                scopes.enter_context(
                    installed(server, anyio.run(declared_tools, server), parse_faults(fail), seed=seed)
                )
            announce_faults(fail)
        if log is not None:
            scopes.enter_context(logging_calls(server, opened_log(log)))
        yield


@contextlib.contextmanager
def fault_problems() -> Iterator[None]:
    """Report a failure that cannot be raised on demand.

    Raises:
        Problem: If there is one.
    """
    from mcpcore.boundary.faults import FaultError

    try:
        yield
    except FaultError as exc:
        end = "" if str(exc).endswith("?") else "."
        hint = "`mcpcore call SERVER --list` shows the tools and the reasons they declare"
        raise Problem(f"--fail: {exc}{end}", hint=hint) from exc


def announce_faults(fail: Sequence[str]) -> None:
    """Say on standard error that failures are injected."""
    output.line(f"Failures are injected: {', '.join(fail)}. For tests only.", err=True)


def opened_log(path: Path) -> CallLog:
    """The log of calls in a file.

    Raises:
        Problem: If it cannot be written.
    """
    from mcpcore.boundary.call_log import CallLog

    try:
        return CallLog(path)
    except OSError as exc:
        raise Problem(
            f"--fail-log {path} cannot be written: {exc.strerror or exc}.",
            hint="name a file in a folder that exists, and that you may write to",
        ) from exc


@click.command(
    cls=SplitCommand,
    epilog="""\b
  mcpcore run server.py                          stdio, for a client's configuration
  mcpcore run server.py:app                      one of several servers in a file
  mcpcore run package.server --http :8000        a module, over HTTP at /mcp
  mcpcore run server.py --http 0.0.0.0:8000 --stateless --json-response
  mcpcore run examples/workspace/server.py -- ~/notes
  mcpcore run server.py --fail place_order=declined --fail-log calls.jsonl     test what an agent does after a failure

\b
The entry of a client's configuration:
  {"command": "mcpcore", "args": ["run", "/path/to/server.py"]}""",
)
@click.argument("server", metavar="SERVER[:OBJECT]", shell_complete=complete_files)
@click.option(
    "--http", "address", metavar="HOST:PORT", help="Serve streamable HTTP instead of stdio; port 0 means any."
)
@allow_host_option
@click.option("--path", default="/mcp", show_default=True, help="The path of the endpoint, with --http.")
@click.option("--stateless", is_flag=True, help="Keep no session between requests, with --http.")
@click.option("--json-response", is_flag=True, help="Answer with JSON instead of event streams, with --http.")
@click.option("-v", "--verbose", is_flag=True, help="Log each request, with --http.")
@fault_options
@click.option("--traceback", is_flag=True, help="Show the traceback of a server that cannot be loaded or started.")
@click.pass_context
def run(
    ctx: click.Context,
    server: str,
    *,
    address: str | None,
    allowed_hosts: tuple[str, ...],
    path: str,
    stateless: bool,
    json_response: bool,
    verbose: bool,
    fail: tuple[str, ...],
    fail_seed: int,
    fail_log: Path | None,
    traceback: bool,
) -> None:
    """Serve the server in SERVER, a file or a module, over stdio or over HTTP.

    SERVER holds one Server of mcpcore, MCPServer of the SDK, or FastMCP; OBJECT names one of several, or a function
    that makes the server. Words after `--` become the sys.argv of the server, or the arguments of the function. A
    function called make_server need not be named.

    Over stdio, standard output belongs to the protocol; anything the server prints goes to standard error.
    """
    if address is None and (stateless or json_response or ctx.get_parameter_source("path") is not _DEFAULT):
        raise Problem(
            "--path, --stateless and --json-response need --http, and this serves stdio.",
            hint="add --http HOST:PORT",
        )
    endpoint = endpoint_of(ctx, address)
    if not path.startswith("/"):
        raise Problem(f"--path {path} does not begin with a slash.", hint=f"write --path /{path}")
    target = Target.parse(server)
    arguments = after_dashes(ctx) or ()
    _end_on_interrupt()
    try:
        if endpoint is None:
            wire = Wire.claimed()
            loaded = load(target, arguments)
            if wire.stdin.isatty():
                listing = shlex.join(("mcpcore", "call", server, "--list", *(("--", *arguments) if arguments else ())))
                output.line(
                    f"Waiting for an MCP client on standard input (end with Ctrl+C). To try the tools: {listing}",
                    err=True,
                )
            with failing_on_demand(loaded, fail, fail_seed, fail_log), _start_failures_explained(loaded, server):
                _serve_stdio(loaded, wire)
        else:
            loaded = load(target, arguments)
            with failing_on_demand(loaded, fail, fail_seed, fail_log), _start_failures_explained(loaded, server):
                _serve_http(
                    loaded,
                    endpoint,
                    allowed_hosts,
                    path=path,
                    stateless=stateless,
                    json_response=json_response,
                    verbose=verbose,
                )
    except Problem as problem:
        if traceback and problem.__cause__ is not None:
            output.text(traceback_of(problem.__cause__).rstrip(), err=True)
            ctx.exit(problem.exit_code)
        raise
    except KeyboardInterrupt:
        ctx.exit(INTERRUPTED)


_DEFAULT: Final = click.core.ParameterSource.DEFAULT


@contextlib.contextmanager
def _start_failures_explained(server: Any, source: str) -> Iterator[None]:
    """Replace the traceback of a server that cannot start by a message; the server has recorded the failure.

    Raises:
        Problem: If the server cannot start.
    """
    startup = _startup_of(server)
    try:
        yield
    except Problem as problem:
        # The port is taken.
        if startup is not None and problem.__cause__ is not None:
            startup.failed(problem.__cause__)
        raise
    except (Exception, SystemExit):
        if startup is None or startup.failure is None:
            raise
    # uvicorn returns without an exception.
    failure = None if startup is None else startup.failure
    if failure is not None:
        from mcpcore.audit.traces import message_of, type_name
        from mcpcore.wire.redaction import redact_text

        place = where(failure)
        raise Problem(
            f"{source} cannot start: {type_name(failure)}: {message_of(failure)}",
            detail=None if place is None else redact_text(place),
            hint="use `--traceback` for the traceback",
        ) from failure


def _startup_of(server: Any) -> Startup | None:
    """The object that records why `server` cannot start; None for a server without mcpcore."""
    if kind_of(server) != "fastmcp":
        return cast("Startup | None", getattr(server, "_startup", None))
    from mcpcore.integrations.fastmcp import ContractMiddleware

    contracts = next((other for other in server.middleware if isinstance(other, ContractMiddleware)), None)
    return None if contracts is None else contracts.startup_of(server)


def parse_address(text: str) -> tuple[str, int]:
    """The host and the port of `HOST:PORT`, `:PORT` or `PORT`, with an IPv6 host in brackets.

    Raises:
        Problem: If the text has another form.
    """
    host, _, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise Problem(f"--http {text}: an IPv6 address needs brackets.", hint=f"write --http [{host}]:{port}")
    if not (port.isascii() and port.isdigit()) or not 0 <= int(port) <= 65535:
        raise Problem(
            f"--http {text}: {port or 'nothing'} is not a port (0 to 65535).", hint=f"write --http {DEFAULT_HOST}:8000"
        )
    return host or DEFAULT_HOST, int(port)


class Wire:
    """The two pipes of the protocol, out of reach of other code in the process.

    The SDK does the same while it serves. But the module of the server is imported before that, and threads and exit
    handlers run after it, so this lasts from before the import until the process ends.
    """

    def __init__(self, stdin: int, stdout: int) -> None:
        """Speak through the descriptors `stdin` and `stdout`."""
        self.stdin = io.TextIOWrapper(os.fdopen(stdin, "rb", closefd=False), encoding="utf-8", errors="replace")
        self.stdout = io.TextIOWrapper(os.fdopen(stdout, "wb", closefd=False), encoding="utf-8")

    @classmethod
    def claimed(cls) -> Wire:
        """Take the standard streams for the protocol: from now on, stdin is empty and prints go to stderr.

        They are never restored, since output at exit would still reach the client.
        """
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        wire = cls(os.dup(0), os.dup(1))
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        sys.stdout = _Diverted(sys.stdout)
        return wire


class _Diverted(output.WrappedStream):
    """Standard output, redirected to standard error; the first print is announced."""

    announced = False

    def write(self, text: str, /) -> int:
        if text and not self.announced:
            self.announced = True
            output.line(
                "mcpcore run: standard output belongs to the protocol; prints of the server are shown here instead.",
                err=True,
            )
        written = self.original.write(text)
        self.original.flush()  # in order with direct output to standard error
        return written


def _serve_stdio(server: Any, wire: Wire) -> None:
    import anyio

    kind = kind_of(server)
    if kind == "fastmcp":
        # FastMCP opens the streams of `sys` itself.
        sys.stdin, sys.stdout = wire.stdin, wire.stdout
        anyio.run(lambda: server.run_stdio_async(show_banner=False))
        return
    lowlevel = server
    if kind == "mcpserver":
        from mcpcore.sdk.private import lowlevel_of

        lowlevel = lowlevel_of(server)

    async def serve() -> None:
        from mcp.server.stdio import stdio_server

        streams = stdio_server(*(anyio.wrap_file(cast("IO[str]", stream)) for stream in (wire.stdin, wire.stdout)))
        async with streams as (read_stream, write_stream):
            await lowlevel.run(read_stream, write_stream, lowlevel.create_initialization_options())

    anyio.run(serve)


def _serve_http(
    server: Any,
    endpoint: tuple[str, int],
    allowed: Sequence[str],
    *,
    path: str,
    stateless: bool,
    json_response: bool,
    verbose: bool,
) -> None:
    import anyio
    from starlette.middleware import Middleware

    from mcpcore.sdk.http import Front, Sessions, web_server

    bound = bind(*endpoint)
    hosts = announce(getattr(server, "name", None) or "the server", bound, endpoint[0], allowed, path=path)
    is_fastmcp = kind_of(server) == "fastmcp"
    if is_fastmcp:
        # `Front` checks Host and Origin for every kind of server, and knows --allow-host.
        app = server.http_app(
            path=path, json_response=json_response, stateless_http=stateless, host_origin_protection=False
        )
        for contracts in server.middleware:
            if hasattr(contracts, "watch_http"):
                app = contracts.watch_http(app)
    else:
        from mcp.server.transport_security import TransportSecuritySettings

        app = server.streamable_http_app(
            streamable_http_path=path,
            json_response=json_response,
            stateless_http=stateless,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
    # Within the middleware that counts refused requests.
    app.user_middleware.append(Middleware(Front, hosts=hosts))
    sessions = Sessions(path=path)
    if not stateless:
        app.user_middleware.append(Middleware(sessions.in_front_of))
    if is_fastmcp or hasattr(server, "_startup"):
        # A failed lifespan is reported later, without the secrets in its traceback.
        logging.getLogger("uvicorn.error").addFilter(
            lambda record: not str(record.msg).startswith("Traceback (most recent call last)")
        )
    if not verbose:
        # The SDK logs each session, with the id that lets anybody use it.
        logging.getLogger("mcp").setLevel(logging.WARNING)
    web = web_server(app, level="info" if verbose else "warning", grace=3)

    async def serve() -> None:
        # Not in a task group, which would wrap the exception of a signal.
        watch = asyncio.create_task(sessions.run())
        try:
            await web.serve(sockets=[bound])
        finally:
            watch.cancel()

    anyio.run(serve)


def endpoint_of(ctx: click.Context, address: str | None) -> tuple[str, int] | None:
    """The host and the port of `--http`, if it is there; `--allow-host` needs it, but its variable may be set anyway.

    Raises:
        Problem: If the address has another form, or `--allow-host` comes alone.
    """
    if address is None and ctx.get_parameter_source("allowed_hosts") is click.core.ParameterSource.COMMANDLINE:
        raise Problem("--allow-host needs --http, and this serves stdio.", hint="add --http HOST:PORT")
    return None if address is None else parse_address(address)


def announce(name: str, bound: socket.socket, typed: str, allowed: Sequence[str], *, path: str) -> Hosts:
    """Print where the server `name` can be reached; returns the hosts that requests may name.

    Raises:
        Problem: If one of `allowed` is not a host.
    """
    from mcpcore.sdk.http import ANY_HOST, Hosts

    try:
        hosts = Hosts(bound, typed, allowed)
    except ValueError as exc:
        bound.close()
        raise Problem(
            f"--allow-host: {exc}.", hint=f"write it as clients do, such as tools.example.com, or {ANY_HOST} for any"
        ) from None
    if not (hosts.is_loopback or hosts.is_extended):
        output.line(
            "Only requests to localhost and 127.0.0.1 are answered. To answer others, add --allow-host NAME for each "
            f"name or address that clients use, or set {ALLOW_HOST_VARIABLE}.",
            err=True,
        )
    output.line(f"Serving {name} at {hosts.url}{path} (end with Ctrl+C)", err=True)
    return hosts


_LISTEN_HINTS: Final = {
    errno.EADDRINUSE: "choose another port, or 0 for any free port",
    errno.EACCES: "choose a port from 1024 up; the ones below need the rights of root",
}


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens at an address.

    Raises:
        Problem: If the address cannot be used.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        try:
            if os.name == "posix":  # pragma: no branch - on Windows the option would let another server take the port
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen(128)  # before the URL is printed, so that clients can connect
        except OSError:
            bound.close()
            raise
    except OSError as exc:
        raise Problem(
            f"cannot listen on {host}:{port}: {exc.strerror or exc}.",
            hint=_LISTEN_HINTS.get(
                exc.errno or 0, "give an address of this machine: 127.0.0.1, or 0.0.0.0 for all networks"
            ),
        ) from exc
    return bound


def _end_on_interrupt() -> None:
    """Let Ctrl+C end the process even if a thread waits for input, after one second for cleanup."""
    if threading.current_thread() is not threading.main_thread():
        return

    def end(_signal: int, _frame: FrameType | None) -> None:
        timer = threading.Timer(1.0, os._exit, (INTERRUPTED,))
        # It must not keep a process alive that ends in time.
        timer.daemon = True
        timer.start()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, end)
