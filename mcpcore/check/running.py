"""Runs a check: connects, calls each tool, connects again when the server is lost, and stops in time.

The server is a child process that may do anything, or a URL.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, fields
from typing import Any, Final

import anyio
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    CallToolRequest,
    CallToolRequestParams,
    PaginatedRequestParams,
    PingRequest,
    Tool,
    jsonrpc_message_adapter,
)
from mcp_types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from mcpcore.check.judging import Paths, Surroundings, judge, judge_listing
from mcpcore.check.model import SERVER, UNKNOWN_TOOL, Answer, CheckedTool, Probe, ProbeKind, Report, ToolReport, broken
from mcpcore.check.probe_arguments import draw, marker_of
from mcpcore.client.failures import listed_tool, pages_of
from mcpcore.client.headers import http_transport
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from mcpcore.proxy.child import Child, LineTooLongError
from mcpcore.proxy.listings import declared_fields
from mcpcore.values.untrusted import quietly
from mcpcore.values.unwrapping import leaves_of

Progress = Callable[[int, int, str], None]

CANARY: Final = "MCPCORE_CHECK_TOKEN"
"""The variable with the planted text in the environment of a server that is started."""

# The most tools that are listed, give or take a page, since a list may be endless.
_MAX_TOOLS: Final = 5_000

# Characters of the name and the version of a server that a report shows.
_MAX_NAME: Final = 200

# Characters of standard error that are kept, for a server that does not start.
_TAIL: Final = 4_000

# Lines of standard output that are kept, of those that are no messages.
_MAX_NOISE: Final = 3

_ANYTHING: Final[TypeAdapter[Any]] = TypeAdapter(dict[str, Any])

# Seconds for reading what a process wrote before it ended.
_LAST_WORDS: Final = 0.1

# Seconds after which a call is cancelled.
_MOMENT: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The server to check.

    Attributes:
        command: The command that starts it; empty for a URL.
        url: Its URL, or None.
        era: "auto", "modern" for the protocol of 2026-07-28, or "handshake" for the older ones.
        canary: The text that is planted in the environment of the command.
        headers: Headers that are sent to the URL.
    """

    command: tuple[str, ...] = ()
    url: str | None = None
    era: str = "auto"
    canary: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def mode(self) -> str:
        """The mode of the SDK's client."""
        return {"modern": LATEST_MODERN_VERSION, "handshake": "legacy"}.get(self.era, "auto")


@dataclass(slots=True)
class Remains:
    """What is left of a server, or of several that were started one after another.

    Attributes:
        ending: How the last process ended by itself, as the end of a sentence; "" if it did not.
        noise: The first lines of standard output that are no messages.
        noisy: The number of such lines.
        stderr: The end of standard error.
    """

    ending: str = ""
    noise: list[str] = field(default_factory=list)
    noisy: int = 0
    stderr: str = ""

    def heard(self, line: bytes) -> None:
        """Keep a line that is no message."""
        if line.strip():
            self.noisy += 1
            if len(self.noise) < _MAX_NOISE:
                self.noise.append(line[:200].decode("utf-8", "replace"))


@dataclass(slots=True)
class Connection:
    """A session with the server.

    Attributes:
        client: The client of the SDK.
        timeout: Seconds to wait for each answer.
    """

    client: Client
    timeout: float

    @property
    def server(self) -> str:
        """The name and the version that the server gives itself."""
        info = self.client.server_info
        return "" if info is None else f"{info.name} {info.version}".strip()[:_MAX_NAME]

    @property
    def protocol(self) -> str:
        """The version of the protocol."""
        return self.client.protocol_version[:_MAX_NAME]

    async def tools(self) -> list[CheckedTool]:
        """The tools, in the order of the list, with those of a repeated name.

        Raises:
            MCPError: If the server refuses.
            ValidationError: If the list does not have the form of the protocol.
            TimeoutError: If it takes too long.
        """
        tools: list[CheckedTool] = []
        # Through the session, which keeps what the headers of later calls need.
        session = self.client.session
        with anyio.fail_after(self.timeout):
            pages = pages_of(
                lambda cursor: session.list_tools(params=PaginatedRequestParams(cursor=cursor)), most=_MAX_TOOLS
            )
            async for page in pages:
                tools += map(_checked, page.tools)
                if len(tools) >= _MAX_TOOLS:
                    break
        return tools

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        """Call a tool.

        Raises:
            Exception: If the connection is lost in a way that the client does not report as an error.
        """
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))

        try:
            with anyio.fail_after(self.timeout):
                return Answer(kind="result", value=await self.client.session.send_request(request, _ANYTHING))
        except TimeoutError:
            return Answer(kind="timeout", detail=f"within {self.timeout:g} s")
        except ValidationError as exc:
            first = exc.errors(include_url=False, include_input=False)[0]
            return Answer(kind="malformed", detail=f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
        except MCPError as exc:
            # The client itself reports a lost connection with this code, which a server may use, too.
            if exc.code == CONNECTION_CLOSED and not await self.alive():
                return Answer(kind="closed", detail=exc.message)
            value = {"code": exc.code, "message": exc.message, "data": exc.error.data}
            return Answer(kind="error", value=value)

    async def cancel(self, tool: str, arguments: dict[str, Any]) -> Answer:
        """Call a tool, cancel the call a moment later, and see whether the server still answers."""
        answered: list[Answer] = []
        with anyio.move_on_after(_MOMENT):
            answered.append(await self.call(tool, arguments))
        if answered and answered[0].kind in {"closed", "malformed"}:
            return answered[0]
        return Answer(kind="cancelled" if await self.alive() else "unanswered")

    async def alive(self) -> bool:
        """Whether the server answers at all."""
        session = self.client.session
        try:
            with anyio.fail_after(self.timeout):
                if self.protocol in MODERN_PROTOCOL_VERSIONS:
                    await session.send_discover(self.protocol)
                else:
                    await session.send_request(PingRequest(), _ANYTHING)
        except MCPError as exc:
            return exc.code != CONNECTION_CLOSED  # any other error is an answer
        except TimeoutError:
            return False
        return True


def _checked(tool: Tool) -> CheckedTool:
    listed = listed_tool(tool)
    assert listed is not None  # the protocol requires the name
    return CheckedTool(
        **{field.name: getattr(listed, field.name) for field in fields(listed)},
        description=tool.description or "",
        fields=declared_fields(tool.output_schema),
        declared=(tool.meta or {}).get(CONTRACT_META_KEY),
        destructive=tool.annotations is not None and tool.annotations.destructive_hint is True,
    )


@asynccontextmanager
async def connected(target: Target, remains: Remains, *, wait: float) -> AsyncIterator[Connection]:
    """Connect to the server, and end it afterwards with all its children.

    Args:
        target: The server.
        remains: Gets what the server leaves behind.
        wait: Seconds for the connection, and for each answer.

    Raises:
        TimeoutError: If the server does not answer in time.
        OSError: If it cannot be started.
        MCPError: If it refuses.
        BaseExceptionGroup: If the connection fails.
    """
    transport: Any = _process(target, remains)
    if target.url is not None:
        transport = http_transport(target.url, target.headers) if target.headers else target.url
    with quiet_client():
        connecting = anyio.move_on_after(wait)
        with connecting:
            async with Client(transport, mode=target.mode, cache=None) as client:
                connecting.deadline = float("inf")
                yield Connection(client, wait)
        if connecting.cancelled_caught:
            raise TimeoutError(f"it did not answer within {wait:g} s")


@asynccontextmanager
async def _process(target: Target, remains: Remains) -> AsyncIterator[Any]:
    """The streams of a child process. Unlike those of the SDK, they bound what is kept of it."""
    remains.ending = ""
    child = await Child.start(target.command, env={**os.environ, CANARY: target.canary}, keep_stderr=True)
    received, to_read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_send, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

    output_ended = anyio.Event()

    async def read() -> None:
        async with received:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                try:
                    async for line in child.messages():
                        try:
                            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                        except ValueError:
                            remains.heard(line)
                        else:
                            await received.send(SessionMessage(message))
                    output_ended.set()
                except LineTooLongError as exc:
                    remains.heard(str(exc).encode())

    async def write() -> None:
        async with outgoing:
            async for message in outgoing:
                await child.send(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode())

    async def drain() -> None:
        async for piece in child.stderr():
            remains.stderr = (remains.stderr + piece[-_TAIL:].decode("utf-8", "replace"))[-_TAIL:]

    async def watch() -> None:
        # A process that it started may keep its output open.
        remains.ending = await child.ended()
        await anyio.sleep(_LAST_WORDS)
        received.close()

    async with anyio.create_task_group() as tasks:
        for task in (read, write, drain, watch):
            tasks.start_soon(task)
        try:
            yield to_read, to_send
        finally:
            # Shielded, so that an interrupted check leaves no process behind.
            with anyio.CancelScope(shield=True):
                to_read.close()
                to_send.close()
                if output_ended.is_set():
                    # It is about to end by itself; its exit code says more than that of a signal.
                    with anyio.move_on_after(_LAST_WORDS):
                        remains.ending = await child.ended()
                await child.stop()
            tasks.cancel_scope.cancel()


@contextmanager
def quiet_client() -> Iterator[None]:
    """Keep the log of the SDK's client off the terminal: it quotes what the server sends."""
    loggers = [logging.getLogger(name) for name in ("mcp", "client", "httpx", "httpx2")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def reason_of(exc: BaseException) -> str:
    """Why a connection failed, as one line."""
    exc = next(leaves_of(exc))
    return (quietly(lambda: str(exc).strip(), "") or type(exc).__name__).splitlines()[0].rstrip(".")[:300]


# Calls of one tool that may go unanswered, or end the server, before the rest of its calls is left out.
_MOST_LOST: Final = 2

# The last probe of each tool.
_LAST: Final[frozenset[ProbeKind]] = frozenset({"unknown-tool", "cancelled"})


class UnreachableError(Exception):
    """The server could not be reached, or does not list its tools; the message says why.

    Attributes:
        stderr: The end of its standard error.
    """

    def __init__(self, message: str, stderr: str = "") -> None:
        super().__init__(message)
        self.stderr = stderr


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to check.

    Attributes:
        everything: Whether to call tools that may change something, too.
        only: The names of the tools to check; empty for all.
        timeout: Seconds to wait for the connection and for each answer.
        limit: Seconds for the whole check; tools that are not reached in time are reported as not called.
        seed: The seed of the drawn arguments.
    """

    everything: bool = False
    only: frozenset[str] = frozenset()
    timeout: float = 10.0
    limit: float = 600.0
    seed: int = 0


@dataclass(slots=True)
class Check:
    """One check, over as many connections as it takes.

    Attributes:
        target: The server.
        options: How to check.
        report: What was seen so far; complete even if the check was cancelled.
        progress: Called with the number of tools that are done, of all, and the name of the next one.
    """

    target: Target
    options: Options
    report: Report
    progress: Progress = lambda _done, _all, _name: None
    _remains: Remains = field(default_factory=Remains)
    _around: Surroundings = field(default_factory=lambda: Surroundings(names=frozenset(), marker=""))
    _tools: dict[str, CheckedTool] = field(default_factory=dict)
    _work: Iterator[tuple[ToolReport, Probe]] | None = None
    _lost: dict[str, int] = field(default_factory=dict)
    _ends: float = 0.0
    _current: tuple[ToolReport, Probe] | None = None
    _over: bool = False
    _closed: str = ""
    """Why the connection was lost during the current call, in the words of the client; "" if it was not."""

    async def run(self, choose: Callable[[list[CheckedTool]], bool] = lambda _tools: True) -> Report:
        """Check the server.

        Args:
            choose: Asked once before tools are called that may change something; False leaves them out.

        Raises:
            UnreachableError: If the server cannot be reached at first, or does not list its tools.
        """
        while not await self._session(choose):
            pass
        if self._remains.noisy:  # pragma: no cover - not traced by 3.11 after a cancellation: gh-106749
            lines = "; ".join(map(repr, self._remains.noise))
            self.report.add(SERVER, [broken("noise-on-stdout", f"{self._remains.noisy} lines, such as {lines}")])
        return self.report

    async def _session(self, choose: Callable[[list[CheckedTool]], bool]) -> bool:
        """One connection; returns whether the check is over."""
        reached = False
        try:
            async with connected(self.target, self._remains, wait=self.options.timeout) as connection:
                if self._work is None:
                    await self._begin(connection, choose)
                elif not await connection.alive():
                    raise ConnectionError("it does not answer")  # noqa: TRY301 - it ends the connection
                reached = True
                await self._call(connection)
        except Exception as exc:  # transports raise many kinds, and groups of them
            if self._work is None:
                inner = next(leaves_of(exc))
                if isinstance(inner, UnreachableError):
                    raise inner from None
                raise UnreachableError(reason_of(inner), self._remains.stderr) from exc
            self._closed = reason_of(exc)
            if not reached:
                self.stop(f"the server cannot be started again: {self._closed}")
                self._current, self._over = None, True
        if self._closed and self._current is not None:
            self._record(*self._current, Answer(kind="closed", detail=self._remains.ending or self._closed))
        self._current, self._closed = None, ""
        return self._over

    # --- the first connection -------------------------------------------------------------------------------------

    async def _begin(self, connection: Connection, choose: Callable[[list[CheckedTool]], bool]) -> None:
        report, options = self.report, self.options
        report.server, report.protocol, report.seed = connection.server, connection.protocol, options.seed
        try:
            listed = await connection.tools()
        except TimeoutError:
            raise UnreachableError(
                f"it did not list its tools within {options.timeout:g} s", self._remains.stderr
            ) from None
        except ValidationError as exc:
            first = exc.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            why = f"it did not list its tools as the protocol requires: {place}, counted from 0: {first['msg']}"
            raise UnreachableError(why, self._remains.stderr) from None
        except MCPError as exc:
            raise UnreachableError(f"it did not list its tools: {reason_of(exc)}", self._remains.stderr) from None
        names = frozenset(tool.name for tool in listed)
        unknown = sorted(options.only - names)
        if unknown:
            raise UnreachableError(f"it has no tool {unknown[0]!r}")
        for tool in listed:
            if tool.name in self._tools:
                report.add(tool.name, [broken("duplicate-tool", "the second one is not called")])
            else:
                self._tools[tool.name] = tool
        self._around = Surroundings(
            names=names,
            marker=marker_of(options.seed),
            canary=self.target.canary,
            paths=Paths(
                (
                    *self.target.command,
                    self.target.url or "",
                    connection.client.instructions or "",
                    *(t.description for t in listed),
                )
            ),
        )
        chosen = [tool for tool in self._tools.values() if not options.only or tool.name in options.only]
        changing = [tool for tool in chosen if not tool.harmless]
        calls_changing = options.everything and (not changing or choose(changing))
        self._ends = time.monotonic() + options.limit
        self._work = self._probes(chosen, calls_changing=calls_changing)

    def _probes(self, tools: list[CheckedTool], *, calls_changing: bool) -> Iterator[tuple[ToolReport, Probe]]:
        """Every call, tool by tool. Whatever the listing alone shows is reported on the way."""
        subject = ToolReport(name=UNKNOWN_TOOL, tool=None)
        self.report.tools.append(subject)
        yield subject, Probe(kind="unknown-tool", tool=f"{self._around.marker}_tool", arguments={})
        for done, tool in enumerate(tools):
            self.progress(done, len(tools), tool.name)
            subject = ToolReport(name=tool.name, tool=tool)
            self.report.tools.append(subject)
            verdicts = list(judge_listing(tool, self._around.names))
            subject.marks.add(verdicts)
            self.report.add(tool.name, verdicts)
            if not tool.harmless and not calls_changing:
                subject.skipped, subject.judged = "it may change something", True
                self.report.add(tool.name, [broken("not-called", "readOnlyHint is not set")])
                continue
            drawn = draw(tool, seed=self.options.seed)
            if not drawn.usable:
                subject.skipped, subject.judged = "no arguments can be drawn from its schema", True
                self.report.add(tool.name, [broken("unusable-schema", subject.skipped)])
                continue
            for probe in (*drawn.valid, *drawn.hostile, *drawn.bad):
                yield subject, probe
            yield subject, Probe(kind="cancelled", tool=tool.name, arguments=drawn.valid[0].arguments)
        self.progress(len(tools), len(tools), "")

    # --- every connection -----------------------------------------------------------------------------------------

    async def _call(self, connection: Connection) -> None:
        """Make the calls that are left, until the last one or the end of the connection."""
        assert self._work is not None
        for subject, probe in self._work:
            if self._lost.get(subject.name, 0) >= _MOST_LOST:
                subject.skipped, subject.judged = f"{_MOST_LOST} calls were not answered", True
                continue
            if time.monotonic() >= self._ends:
                self.stop(f"the limit of {self.options.limit:g} s is over")
                break
            subject.calls += 1
            self._current = subject, probe
            if probe.kind == "cancelled":
                answer = await connection.cancel(probe.tool, probe.arguments)
            else:
                answer = await connection.call(probe.tool, probe.arguments)
            if answer.kind == "closed":
                self._closed = answer.detail
                return
            self._record(subject, probe, answer)
            if answer.kind == "unanswered" or (answer.kind == "timeout" and not await connection.alive()):
                self._current = None
                return
        self._current, self._over = None, True

    def _record(self, subject: ToolReport, probe: Probe, answer: Answer) -> None:
        subject.judged = probe.kind in _LAST
        verdicts = judge(probe, answer, subject.tool, self._around)
        subject.marks.add(verdicts)
        self.report.add(subject.name, verdicts, probe)
        if answer.kind in {"timeout", "closed", "unanswered"}:
            self._lost[subject.name] = self._lost.get(subject.name, 0) + 1

    def stop(self, reason: str) -> None:
        """Report why the check ended early, and the tools that were not judged to the end."""
        self.report.stopped = reason
        for subject in self.report.tools:
            if not subject.judged:
                subject.skipped = subject.skipped or reason
        reached = {subject.name for subject in self.report.tools}
        for name, tool in self._tools.items():
            if name not in reached and (not self.options.only or name in self.options.only):
                self.report.tools.append(ToolReport(name=name, tool=tool, skipped=reason))
