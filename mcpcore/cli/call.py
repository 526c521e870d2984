"""`mcpcore call`: call one tool of any server and print what a client receives."""

from __future__ import annotations

import difflib
import logging
import os
import re
import shlex
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn, TypeVar, cast

import anyio
import click

from mcpcore.cli import output, present
from mcpcore.cli.arguments import parse_arguments
from mcpcore.cli.loading import Target, looks_like_file
from mcpcore.cli.options import (
    ToolCommand,
    after_dashes,
    complete_files,
    era_option,
    header_option,
    require_url,
    timeout_option,
    verbose_option,
)
from mcpcore.cli.problems import FAILED, INTERRUPTED, Failed, Problem
from mcpcore.values.unwrapping import leaves_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mcp import Client
    from mcp.shared.exceptions import MCPError
    from mcp_types import CallToolResult, Tool
    from pydantic import ValidationError

    from mcpcore.client import Step

C = TypeVar("C", bound="Conversation")

_STARTER: Final = re.compile(r"python[0-9.]*|node|deno|bun|uv|uvx|npx|env")
"""Programs that start servers; no tool is named after them."""


@click.command(
    cls=ToolCommand,
    options_metavar="[OPTIONS]",
    epilog="""\b
  mcpcore call server.py --list                             what it has, and how each fails
  mcpcore call server.py fetch_articles pmids=1 pmids=2     repeat the key for a list
  mcpcore call server.py fetch_articles '{"pmids": ["1"]}'  or as JSON, or - for JSON on standard input
  mcpcore call --follow server.py fetch_articles pmids=1    wait, retry or fall back as the failure says
  mcpcore call http://127.0.0.1:8000/mcp fetch_articles pmids=1
  mcpcore call package.server:app fetch_articles pmids=1
  mcpcore call examples/workspace/server.py read_file path=a.txt -- ~/notes
  mcpcore call read_file path=a.txt -- npx some-server ~/notes

\b
Values: key=value is converted by the input schema of the tool; key:=JSON is sent as JSON; key=@FILE
is the text of a file (key=@- is standard input). Arguments as one JSON object are not checked
against the schema.

\b
After `--` comes the command of the server; or, if SERVER is a file or MODULE:OBJECT, the arguments
of the server. A file or a module is started with `mcpcore run` in a separate process.

\b
Exit codes: 0 the tool succeeded; 1 it failed, did not answer, or was refused; 2 it was not called.""",
)
@click.argument(
    "words",
    nargs=-1,
    metavar="SERVER TOOL [JSON | KEY=VALUE...]",
    shell_complete=complete_files,
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON, as received.")
@click.option("--list", "listing", is_flag=True, help="List the tools, resources and prompts, and how each fails.")
@click.option(
    "--follow",
    is_flag=True,
    help="Follow the advice of a failure: wait and retry where that is safe, correct the arguments, or call the "
    "fallback tool. Each step is shown on standard error.",
)
@timeout_option(
    60.0, "How long to wait for the server to start, and for the tool; with --follow, for all calls together."
)
@era_option
@verbose_option
@header_option
@click.pass_context
def call(
    ctx: click.Context,
    words: tuple[str, ...],
    *,
    as_json: bool,
    listing: bool,
    follow: bool,
    timeout: float,
    era: str,
    verbose: bool,
    headers: dict[str, str],
) -> None:
    """Call one tool of a server as a client does, and print the result.

    SERVER is a file or a module, with or without an object (server.py:app), an http URL, or a command after `--`.
    You see the text and the structured content exactly as a client receives them.
    """
    address, rest = ServerAddress.parse(words, after_dashes(ctx), headers)
    if listing:
        if rest:
            raise Problem(f"--list takes no tool, but got {rest[0]!r}.", hint="leave out one of the two")
    elif not rest:
        raise Problem(
            "which tool?",
            hint=f"name one{'' if words else ' before `--`'}, or list them: {address.listing}",
        )
    request = Request(
        tool=None if listing else rest[0],
        words=tuple(rest[1:]),
        timeout=timeout,
        era=era,
        verbose=verbose,
        as_json=as_json,
        follow=follow,
    )
    try:
        conversation = perform(address, request, Conversation)
    except KeyboardInterrupt:
        ctx.exit(INTERRUPTED)
    ctx.exit(0 if conversation.succeeded else FAILED)


_TAIL: Final = 4000
"""How many characters of standard error are shown of a server that could not be reached."""

CLIENT_LOGGERS: Final = ("mcp", "client")
"""The loggers of the SDK's client; the one of its session is not named after its module."""

_OTHERS: Final = (
    ("list_resources", "resources", "resources"),
    ("list_resource_templates", "resource_templates", "resources"),
    ("list_prompts", "prompts", "prompts"),
)
"""The other lists: the method of the client, the field of its result, and the capability."""

_LONGER: Final = "raise --timeout SECONDS, or watch the server with -v"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The request to the server.

    Attributes:
        tool: The tool to call; None to list the tools.
        words: The arguments of the tool, as on the command line.
        timeout: Seconds for reaching the server, and for the call.
        era: "auto", "modern" or "handshake".
        verbose: Whether the server's standard error is shown.
        as_json: Whether to print JSON.
        follow: Whether to follow the advice of a failure.
    """

    tool: str | None
    words: tuple[str, ...]
    timeout: float
    era: str
    verbose: bool
    as_json: bool
    follow: bool = False


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The address of the server: a URL, or the command that starts it.

    Attributes:
        url: The URL, or None.
        command: The command and its arguments; empty for a URL.
        shown: The name of the server in messages.
        alone: The command line that starts it by itself.
        listing: The command line that lists its tools; empty where no tool is called.
        headers: Headers that are sent to the URL.
    """

    url: str | None
    command: tuple[str, ...]
    shown: str
    alone: str
    listing: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(
        cls, words: Sequence[str], after: Sequence[str] | None, headers: Mapping[str, str]
    ) -> tuple[ServerAddress, list[str]]:
        """The server on the command line, and the remaining words: the tool and its arguments.

        Raises:
            Problem: If there is no server, or no URL that the headers could be sent to.
        """
        address, rest = cls._parse(words, after)
        require_url(headers, has_url=address.url is not None)
        return replace(address, headers=headers), rest

    @classmethod
    def _parse(cls, words: Sequence[str], after: Sequence[str] | None) -> tuple[ServerAddress, list[str]]:
        first = words[0] if words else None
        if after is not None and (first is None or not _names_server(first)):
            if not after:
                raise Problem("the command after `--` is missing.", hint="give the command: -- python server.py")
            listing = shlex.join(("mcpcore", "call", "--list", "--", *after))
            return cls(None, tuple(after), after[0], shlex.join(after), listing), list(words)
        if first is None:
            raise Problem(
                "which server?",
                hint="name a file, a module or an http URL: mcpcore call server.py TOOL; "
                "or its command: mcpcore call TOOL -- COMMAND",
            )
        if after is None and len(words) > 1 and not _names_server(first) and _is_server(words[1]):
            if _STARTER.fullmatch(Path(first).name):
                hint = f"write the command behind them: mcpcore call TOOL -- {shlex.join(words[:2])}"
                raise Problem(f"{first} is a command, not a tool or a server: commands come after `--`.", hint=hint)
            swapped = shlex.join(("mcpcore", "call", words[1], first, *words[2:]))
            raise Problem("the server comes before the tool.", hint=f"write {swapped}")
        if _is_url(first):
            if after:
                raise Problem(f"{first} is running already: it takes no arguments after `--`.", hint="leave them out")
            return cls(first, (), first, first, f"mcpcore call {shlex.quote(first)} --list"), list(words[1:])
        Target.parse(first)  # a missing server is reported before anything is started
        dashes = ("--", *after) if after else ()
        command = (sys.executable, *_safe_path(), "-m", "mcpcore", "run", first, *dashes)
        alone, listing = (
            shlex.join(("mcpcore", *start, *dashes)) for start in (("run", first), ("call", first, "--list"))
        )
        return cls(None, command, first, alone, listing), list(words[1:])


def _names_server(word: str) -> bool:
    """Whether a word before `--` is a server, so that its arguments follow. No tool has such a name."""
    return _is_url(word) or ":" in word or looks_like_file(word)


def _is_server(word: str) -> bool:
    """Whether a word is a URL or a Python file, which no tool is named after."""
    return _is_url(word) or word.partition(":")[0].endswith((".py", ".pyw"))


def _is_url(word: str) -> bool:
    return word.startswith(("http://", "https://"))


def _safe_path() -> tuple[str, ...]:
    """`-P` prevents that a json.py in the current folder shadows the library, unless mcpcore is there too."""
    import mcpcore

    return () if Path(mcpcore.__file__).resolve().parent.parent == Path.cwd() else ("-P",)


def perform(address: ServerAddress, request: Request, kind: type[C]) -> C:
    """Talk to the server, and print the result; returns the conversation.

    Args:
        address: The server.
        request: The request.
        kind: The class of the conversation: `Conversation` calls the tool or lists the tools.

    Raises:
        Problem: If the server cannot be reached, or an argument is invalid.
    """
    with _server_log(verbose=request.verbose) as log, _client_noise(verbose=request.verbose) as noise:
        conversation = kind(address, request, log, noise)
        try:
            anyio.run(conversation.run)
        except Problem:
            raise
        except BaseExceptionGroup as group:
            if group.subgroup(KeyboardInterrupt) is not None:
                raise KeyboardInterrupt from None  # pragma: no cover - a second Ctrl+C during the first
            conversation.explain(next(leaves_of(group)))
        except (OSError, RuntimeError, ValueError, TimeoutError) as exc:
            conversation.explain(exc)
    # Printed last, so that a closed output is not mistaken for a lost server.
    for show in conversation.shows:
        show()
    return conversation


@dataclass
class Conversation:
    """A connection to the server: it is reached, talked to, and what goes wrong on the way is explained."""

    address: ServerAddress
    request: Request
    log: IO[str]
    """The file with the server's standard error."""

    noise: list[str]
    """The lines of the client's log."""

    reached: bool = False
    succeeded: bool = False
    problem: Problem | None = None
    shows: list[Callable[[], None]] = field(default_factory=list)

    async def run(self) -> None:
        """Reach the server and talk to it.

        Raises:
            Problem: If it cannot be reached, or the request cannot be made.
        """
        from mcp import Client
        from mcp_types.version import LATEST_MODERN_VERSION

        mode = {"modern": LATEST_MODERN_VERSION, "handshake": "legacy"}.get(self.request.era, "auto")
        connecting = anyio.move_on_after(self.request.timeout)
        with connecting:
            client = Client(self._transport(), mode=mode, cache=None, logging_callback=self._show_log)
            # Problems are raised outside the client, whose task groups would wrap them.
            async with client:
                # Only reaching the server is limited here; requests have their own limits.
                connecting.deadline = float("inf")
                self.succeeded = await self.talk(client)
        if connecting.cancelled_caught:
            raise self._unreached(f"{self.address.shown} did not answer within {self.request.timeout:g} s")
        if self.problem is not None:
            raise self.problem

    async def talk(self, client: Client) -> bool:
        """Make the request on an open connection; returns whether it succeeded."""
        from mcp.shared.exceptions import MCPError

        from mcpcore.client.failures import is_lost

        tools: list[Tool] = []
        try:
            tools = await self._listed(client, "list_tools", "tools")
            self.reached = True
            if self.request.tool is None:
                entries = [*tools, *[entry for listing in _OTHERS for entry in await self._listed(client, *listing)]]
                self.shows.append(partial(present.listing, entries, as_json=self.request.as_json))
                return True
            return await self._call(client, self.request.tool, tools)
        except Problem as problem:
            self.problem = problem
        except MCPError as error:
            if is_lost(error):
                raise
            self.reached = True
            return self._refused(error, [tool.name for tool in tools])
        return False

    async def _listed(self, client: Client, method: str, kind: str, capability: str = "") -> list[Any]:
        """All entries of a list; for a call, which does not need them, none if they cannot be read.

        With a `capability`, a server may leave the list out.
        """
        if capability and getattr(client.server_capabilities, capability, None) is None:
            return []
        shown = kind.replace("_", " ")
        from mcp.shared.exceptions import MCPError
        from mcp_types import METHOD_NOT_FOUND
        from pydantic import ValidationError

        from mcpcore.client.failures import is_lost, pages_of

        entries: list[Any] = []
        try:
            with anyio.fail_after(self.request.timeout):
                async for page in pages_of(lambda cursor: getattr(client, method)(cursor=cursor)):
                    entries += getattr(page, kind)
        except MCPError as error:
            is_left_out = bool(capability) and error.code == METHOD_NOT_FOUND
            if is_lost(error) or (self.request.tool is None and not is_left_out):
                raise
        except TimeoutError:
            raise Failed(
                f"{self.address.shown} did not list its {shown} within {self.request.timeout:g} s.", hint=_LONGER
            ) from None
        except ValidationError as exc:
            if self.request.tool is None:
                raise _malformed(exc, f"the list of {shown}") from exc
        return entries

    async def _call(self, client: Client, name: str, tools: Sequence[Tool]) -> bool:
        from pydantic import ValidationError

        schema = next((tool.input_schema for tool in tools if tool.name == name), None)
        arguments = parse_arguments(self.request.words, schema, tool=name)
        if schema is None:
            # The SDK's client would list the tools again to check the result. If the server refuses that or does not
            # answer, a successful call would be lost. Without a listed schema there is nothing to check.
            client.session.validate_tool_result = _unchecked  # type: ignore[method-assign]
        try:
            if self.request.follow:
                name, result = await self._follow(client, name, arguments)
            else:
                with anyio.fail_after(self.request.timeout):
                    result = await client.call_tool(name, arguments)
        except TimeoutError:
            raise Failed(f"{name} did not answer within {self.request.timeout:g} s.", hint=_LONGER) from None
        except ValidationError as exc:
            raise _malformed(exc, f"the result of {name}") from exc
        except RuntimeError as exc:
            # Like the clients of agents, the SDK's client checks structured content against the output schema.
            raise Failed(
                f"the client refused the result of {name}: {str(exc).splitlines()[0]}.",
                hint="fix the tool: its result must match its output schema",
            ) from exc
        self.shows.append(partial(present.result, name, result, as_json=self.request.as_json))
        if result.is_error:
            self._suggest(present.texts(result), [tool.name for tool in tools])
        return not result.is_error

    async def _follow(self, client: Client, name: str, arguments: dict[str, Any]) -> tuple[str, CallToolResult]:
        """The last result, and the tool that it is from.

        Raises:
            TimeoutError: If the last call did not end.
            MCPError: If the last call was answered with a protocol error.
        """
        from mcpcore.client import CallPolicy, ToolCallFailed, call

        last = name

        def show(step: Step) -> None:
            nonlocal last
            last = step.tool
            present.step(step)

        policy = CallPolicy(
            max_elapsed=self.request.timeout,
            max_wait=self.request.timeout,
            fallbacks=True,
            corrections=True,
            on_step=show,
        )
        try:
            result = await call(client, name, arguments, policy=policy)
        except ToolCallFailed as failed:
            if failed.__cause__ is not None:
                raise failed.__cause__ from None
            if failed.result is None:
                raise TimeoutError from None
            result = cast("CallToolResult", failed.result)
        return last, result

    def _refused(self, error: MCPError, known: Sequence[str]) -> bool:
        self.shows.append(partial(present.protocol_error, error, as_json=self.request.as_json))
        self._suggest(error.message, known)
        return False

    def _suggest(self, message: str, known: Sequence[str]) -> None:
        """Suggest similar tools, unless the server did, and the list of all tools; or the log, if it has a crash."""
        name = self.request.tool
        if name is not None and known and name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
            suggested = any(tool in message.replace(name, "") for tool in near)
            step = "list the tools" if suggested or not near else f"did you mean {' or '.join(near)}? All tools"
            self.shows.append(partial(output.line, f"Next: {step}: {self.address.listing}", err=True))
        elif "failed unexpectedly" in (self._server_stderr() or ""):
            self.shows.append(partial(output.line, "Next: -v shows the server's log", err=True))

    def _transport(self) -> Any:
        if self.address.url is not None:
            if not self.address.headers:
                return self.address.url
            from mcpcore.client.headers import http_transport

            return http_transport(self.address.url, self.address.headers)
        from mcp.client.stdio import StdioServerParameters, stdio_client

        command, *arguments = self.address.command
        # The SDK passes only a few variables on; users of a command line expect the whole environment.
        parameters = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
        return stdio_client(parameters, errlog=self.log)  # type: ignore[arg-type]

    async def _show_log(self, params: Any) -> None:
        if self.request.verbose:
            output.line(f"[{params.level}] {present.compact(params.data)}", err=True)

    def explain(self, exc: BaseException) -> NoReturn:
        """Raise `exc` as a problem: the server could not be reached, or went away."""
        shown = self.address.shown
        if isinstance(exc, FileNotFoundError) and self.address.url is None:
            raise Problem(
                f"unknown command {shown!r}.", hint="check its spelling and your PATH, or give its full path"
            ) from exc
        if self.reached:
            raise self._unreached(f"{shown} went away during the call", "the server crashed or ended") from exc
        if self.address.url is not None:
            raise Problem(
                f"{shown} cannot be reached: {_sentence(exc)}.",
                hint="check that the server runs there, and the path of the URL (the SDK's default is /mcp)",
            ) from exc
        why = "" if self._server_stderr() else f": {_sentence(exc)}"
        raise self._unreached(f"{shown} did not start as an MCP server{why}") from exc

    def _unreached(self, message: str, otherwise: str | None = None) -> Problem:
        stderr = self._server_stderr()
        hint: str | None
        if self.noise:
            hint = f"it printed a line on standard output that is not a message of the protocol: {self.noise[0]!r}"
        elif otherwise is not None:
            hint = f"{otherwise}; its last output is above" if stderr else f"{otherwise}; it printed no error"
        else:
            hint = f"run it alone to see the error: {self.address.alone}"
            file = next((word for word in self.address.command[1:] if word.endswith(".py")), None)
            if stderr is None and file is not None and self.address.alone == shlex.join(self.address.command):
                hint += f"; if it ends without one, it does not serve, which `mcpcore run {shlex.quote(file)}` does"
        if stderr and "\nNext: " in stderr:
            hint = None  # `mcpcore run` printed a hint already
        return (Failed if self.reached else Problem)(f"{message}.", detail=stderr, hint=hint)

    def _server_stderr(self) -> str | None:
        if self.request.verbose or not self.log.seekable():
            return None
        self.log.flush()
        self.log.seek(0)
        return self.log.read().strip()[-_TAIL:] or None


@contextmanager
def _server_log(*, verbose: bool) -> Iterator[IO[str]]:
    """The file for the server's standard error: shown immediately if verbose, else only if the server fails."""
    if verbose:
        with output.relayed_stderr() as file:
            yield file
        return
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:
        yield file


@contextmanager
def _client_noise(*, verbose: bool) -> Iterator[list[str]]:
    """Collect the log of the SDK's client instead of showing it: the lines of a server that it could not read."""
    lines: list[str] = []
    loggers = [logging.getLogger(name) for name in CLIENT_LOGGERS]

    class _Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            exc = record.exc_info[1] if record.exc_info else None
            errors: Callable[..., list[dict[str, Any]]] | None = getattr(exc, "errors", None)
            details = errors() if errors is not None else []
            if details and len(lines) < 3:
                lines.append(str(details[0].get("input"))[:200])
            if verbose:
                output.line(f"[client] {record.getMessage()}", err=True)

    handler, propagated = _Collect(), [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield lines
    finally:
        for logger, propagate in zip(loggers, propagated, strict=True):
            logger.removeHandler(handler)
            logger.propagate = propagate


def _malformed(exc: ValidationError, what: str) -> Failed:
    """The problem of an answer that breaks the protocol."""
    first = exc.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return Failed(
        f"the client refused {what}: {f'{place}: ' if place else ''}{first['msg']}.",
        hint="fix the server: its answer does not have the form that the protocol requires",
    )


async def _unchecked(name: str, result: CallToolResult) -> None:
    """Replaces the check of a result against the output schema of its tool."""


def _sentence(exc: BaseException) -> str:
    return (str(exc).strip() or type(exc).__name__).splitlines()[0].rstrip(".")
