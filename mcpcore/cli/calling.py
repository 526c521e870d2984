"""The client behind `mcpcore call`: the SDK's own, over real transports."""

from __future__ import annotations

import difflib
import logging
import os
import shlex
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn

import anyio

from mcpcore.cli import output, present
from mcpcore.cli.arguments import parse_arguments
from mcpcore.cli.loading import Target, looks_like_file
from mcpcore.cli.problems import Failed, Problem, read_stdin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcp import Client
    from mcp.shared.exceptions import MCPError
    from mcp_types import CallToolResult, Tool
    from pydantic import ValidationError

_MAX_PAGES: Final = 100
"""A list of tools that never ends must not hang the command."""

_TAIL: Final = 4000
"""How many characters of a server's standard error are shown where it could not be reached."""

CLIENT_LOGGERS: Final = ("mcp", "client")
"""The loggers of the SDK's client; that of its session does not have the name of its module."""

_LONGER: Final = "give it longer with --timeout SECONDS, or see what the server is doing with -v"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to ask of the server.

    Attributes:
        tool: The tool to call; None to list the tools.
        words: The tool's arguments, as they stand on the command line.
        timeout: Seconds for reaching the server, and again for the call.
        era: "auto", "modern" or "handshake".
        verbose: Whether the server's standard error is shown.
        as_json: Whether to print JSON.
    """

    tool: str | None
    words: tuple[str, ...]
    timeout: float
    era: str
    verbose: bool
    as_json: bool


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where the server is: a URL, or the command that starts it.

    Attributes:
        url: The URL, or None.
        command: The command and its arguments; empty where there is a URL.
        shown: The server, as messages name it.
        alone: The command line that starts it by itself.
    """

    url: str | None
    command: tuple[str, ...]
    shown: str
    alone: str

    @classmethod
    def parse(cls, words: Sequence[str], after: Sequence[str] | None) -> tuple[ServerAddress, list[str]]:
        """The server that the command line names, and the words that are left: the tool and its arguments.

        Raises:
            Problem: If it names none.
        """
        first = words[0] if words else None
        if after is not None and (first is None or not _names_server(first)):
            if not after:
                raise Problem("nothing stands after `--`.", hint="give the server's command there: -- python server.py")
            return cls(None, tuple(after), after[0], shlex.join(after)), list(words)
        if first is None:
            raise Problem(
                "which server?",
                hint="name a file, a module or an http URL: mcpcore call server.py TOOL; "
                "or its command: mcpcore call TOOL -- COMMAND",
            )
        if _is_url(first):
            if after:
                raise Problem(f"{first} runs already: it takes no arguments after `--`.", hint="leave them out")
            return cls(first, (), first, first), list(words[1:])
        Target.parse(first)  # a server that is not there is told before anything is started
        dashes = ("--", *after) if after else ()
        command = (sys.executable, *_safe_path(), "-m", "mcpcore", "run", first, *dashes)
        return cls(None, command, first, shlex.join(("mcpcore", "run", first, *dashes))), list(words[1:])


def _names_server(word: str) -> bool:
    """Whether a word before `--` is a server, so that what follows `--` are its arguments. A tool has no such name."""
    return _is_url(word) or ":" in word or looks_like_file(word)


def _is_url(word: str) -> bool:
    return word.startswith(("http://", "https://"))


def _safe_path() -> tuple[str, ...]:
    """`-P` keeps a json.py in the current folder from being taken for the library's, unless mcpcore is there too."""
    import mcpcore

    home = Path(mcpcore.__file__).resolve().parent.parent
    return () if home == Path.cwd() else ("-P",)


def perform(address: ServerAddress, request: Request) -> bool:
    """Call the tool, or list the tools, and print what comes back; whether the call succeeded.

    Raises:
        Problem: If the server cannot be reached, or the arguments are not fit to be sent.
    """
    with _server_log(verbose=request.verbose) as log, _client_noise(verbose=request.verbose) as noise:
        conversation = _Conversation(address, request, log, noise)
        try:
            succeeded = anyio.run(conversation.run)
        except Problem:
            raise
        except BaseExceptionGroup as group:
            conversation.explain(_innermost(group))
        except (OSError, RuntimeError, ValueError, TimeoutError) as exc:
            conversation.explain(exc)
    # Only now: a reader of the output that goes away is not the server that goes away.
    for show in conversation.shows:
        show()
    return succeeded


class _Conversation:
    def __init__(self, address: ServerAddress, request: Request, log: IO[str], noise: list[str]) -> None:
        self._address = address
        self._request = request
        self._log = log
        self._noise = noise
        self._reached = False
        self._problem: Problem | None = None
        self.shows: list[Callable[[], None]] = []

    async def run(self) -> bool:
        from mcp import Client

        outcome = False
        connecting = anyio.move_on_after(self._request.timeout)
        with connecting:
            client = Client(self._transport(), mode=self._mode(), cache=None, logging_callback=self._show_log)
            # A problem is raised outside the client, whose task groups would wrap it.
            async with client:
                connecting.deadline = float("inf")
                outcome = await self._talk(client)
        if connecting.cancelled_caught:
            raise self._unreached(f"{self._address.shown} did not answer within {self._request.timeout:g} s")
        if self._problem is not None:
            raise self._problem
        return outcome

    async def _talk(self, client: Client) -> bool:
        from mcp.shared.exceptions import MCPError

        try:
            tools = await self._tools(client)
            self._reached = True
            if self._request.tool is None:
                self.shows.append(partial(present.tools, tools, as_json=self._request.as_json))
                return True
            return await self._call(client, self._request.tool, tools)
        except Problem as problem:
            self._problem = problem
        except MCPError as error:
            if self._lost(error):
                raise
            self._reached = True
            return self._refused(error, ())
        return False

    async def _tools(self, client: Client) -> list[Tool]:
        """All tools; none where the server lists none that can be read, which a call can do without."""
        from mcp.shared.exceptions import MCPError
        from pydantic import ValidationError

        found: list[Tool] = []
        cursor: str | None = None
        try:
            with anyio.fail_after(self._request.timeout):
                for _ in range(_MAX_PAGES):
                    page = await client.list_tools(cursor=cursor)
                    found += page.tools
                    cursor = page.next_cursor
                    if not cursor:
                        break
        except MCPError as error:
            if self._request.tool is None or self._lost(error):
                raise
        except TimeoutError:
            raise Failed(
                f"{self._address.shown} did not list its tools within {self._request.timeout:g} s.", hint=_LONGER
            ) from None
        except ValidationError as exc:
            if self._request.tool is None:
                raise _malformed(exc, "the list of tools") from exc
        return found

    async def _call(self, client: Client, name: str, tools: Sequence[Tool]) -> bool:
        from mcp.shared.exceptions import MCPError
        from pydantic import ValidationError

        schema = next((tool.input_schema for tool in tools if tool.name == name), None)
        arguments = parse_arguments(self._request.words, schema, tool=name, read_stdin=read_stdin)
        if schema is None:
            # The SDK's client would list the tools again to check the result, and where the server refuses or does not
            # answer that, the call that succeeded would be lost. Without a listed schema there is nothing to check.
            client.session.validate_tool_result = _unchecked  # type: ignore[method-assign]
        try:
            with anyio.fail_after(self._request.timeout):
                result = await client.call_tool(name, arguments)
        except TimeoutError:
            raise Failed(f"{name} did not answer within {self._request.timeout:g} s.", hint=_LONGER) from None
        except ValidationError as exc:
            raise _malformed(exc, f"the result of {name}") from exc
        except MCPError as error:
            if self._lost(error):
                raise
            return self._refused(error, [tool.name for tool in tools])
        except RuntimeError as exc:
            # The SDK's client checks structured content against the output schema, as agents' clients do.
            raise Failed(
                f"the client refused the result of {name}: {str(exc).splitlines()[0]}.",
                hint="mend the tool: its result must fit the output schema that it lists",
            ) from exc
        self.shows.append(partial(present.result, name, result, as_json=self._request.as_json))
        if result.is_error:
            self._suggest(present.texts(result), [tool.name for tool in tools])
        return not result.is_error

    def _refused(self, error: MCPError, known: Sequence[str]) -> bool:
        self.shows.append(partial(present.protocol_error, error, as_json=self._request.as_json))
        self._suggest(error.message, known)
        return False

    def _suggest(self, said: str, known: Sequence[str]) -> None:
        """Name the tools that were probably meant, where the server did not."""
        name = self._request.tool
        if name is not None and known and name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
            if near and not any(tool in said.replace(name, "") for tool in near):
                self.shows.append(partial(output.line, f"Next: did you mean {' or '.join(near)}?", err=True))
            elif not near:
                self.shows.append(partial(output.line, f"Next: the server has {', '.join(known)}", err=True))

    def _transport(self) -> Any:
        if self._address.url is not None:
            return self._address.url
        from mcp.client.stdio import StdioServerParameters, stdio_client

        command, *arguments = self._address.command
        # The SDK hands on a few variables only; a command line's user expects the whole environment.
        parameters = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
        return stdio_client(parameters, errlog=self._log)  # type: ignore[arg-type]

    def _mode(self) -> str:
        if self._request.era == "modern":
            from mcp_types.version import LATEST_MODERN_VERSION

            return LATEST_MODERN_VERSION
        return "legacy" if self._request.era == "handshake" else "auto"

    async def _show_log(self, params: Any) -> None:
        if self._request.verbose:
            output.line(f"[{params.level}] {present.compact(params.data)}", err=True)

    @staticmethod
    def _lost(error: MCPError) -> bool:
        from mcp_types import CONNECTION_CLOSED

        return error.code == CONNECTION_CLOSED and "onnection" in error.message

    def explain(self, exc: BaseException) -> NoReturn:
        """Raise the problem that `exc` is: the server could not be reached, or went away."""
        shown = self._address.shown
        if isinstance(exc, FileNotFoundError) and self._address.url is None:
            raise Problem(
                f"there is no command {shown!r}.", hint="check its spelling and your PATH, or give its whole path"
            ) from exc
        if self._reached:
            raise self._unreached(f"{shown} went away during the call", "the server crashed or ended") from exc
        if self._address.url is not None:
            raise Problem(
                f"{shown} cannot be reached: {_sentence(exc)}.",
                hint="check that the server runs there, and the path of the URL (the SDK's default is /mcp)",
            ) from exc
        raise self._unreached(f"{shown} did not start as an MCP server: {_sentence(exc)}") from exc

    def _unreached(self, message: str, otherwise: str | None = None) -> Problem:
        said = self._server_said()
        hint: str | None
        if self._noise:
            hint = f"it writes to standard output what is no message of the protocol: {self._noise[0]!r}"
        elif otherwise is not None:
            hint = f"{otherwise}; its last words are above" if said else f"{otherwise}; it wrote nothing about it"
        else:
            hint = f"run it by itself to see why: {self._address.alone}"
        if said and "\nNext: " in said:
            hint = None  # it was `mcpcore run` that spoke, and it said what next
        kind = Failed if self._reached else Problem
        return kind(f"{message}.", detail=said, hint=hint)

    def _server_said(self) -> str | None:
        if self._request.verbose or not self._log.seekable():
            return None
        self._log.flush()
        self._log.seek(0)
        text = self._log.read().strip()
        return text[-_TAIL:] or None


@contextmanager
def _server_log(*, verbose: bool) -> Iterator[IO[str]]:
    """Where the server's standard error goes: to this one's, or to a file that is shown if the server fails."""
    if verbose:
        with output.relayed_stderr() as file:
            yield file
        return
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:
        yield file


@contextmanager
def _client_noise(*, verbose: bool) -> Iterator[list[str]]:
    """What the SDK's client logs: kept off the terminal, save for the lines of a server that it could not read."""
    lines: list[str] = []
    loggers = [logging.getLogger(name) for name in CLIENT_LOGGERS]

    class _Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            exc = record.exc_info[1] if record.exc_info else None
            errors: Callable[..., list[dict[str, Any]]] | None = getattr(exc, "errors", None)
            found = errors() if errors is not None else []
            if found and len(lines) < 3:
                lines.append(str(found[0].get("input"))[:200])
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
    """An answer that came, and is none of the protocol."""
    first = exc.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return Failed(
        f"the client refused {what}: {f'{place}: ' if place else ''}{first['msg']}.",
        hint="mend the server: its answer does not have the shape that the protocol asks for",
    )


async def _unchecked(name: str, result: CallToolResult) -> None:
    """Take the place of the check of a result against the output schema that its tool lists."""


def _innermost(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first failure inside a group, wherever it is; an interruption before all else."""
    interrupted = group.subgroup(KeyboardInterrupt)
    if interrupted is not None:
        raise KeyboardInterrupt  # pragma: no cover - a second Ctrl+C, in the midst of ending by the first
    current: BaseException = group
    while isinstance(current, BaseExceptionGroup):
        current = current.exceptions[0]
    return current


def _sentence(exc: BaseException) -> str:
    text = str(exc).strip() or type(exc).__name__
    return text.splitlines()[0].rstrip(".")
