"""The connection to the server that is checked: a child process that may do anything, or a URL."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Iterator, Mapping
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

from mcpcore.check.model import Answer, CheckedTool
from mcpcore.client.headers import http_transport
from mcpcore.client.listing import listed_tool, pages_of
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from mcpcore.proxy.child import Child
from mcpcore.proxy.lines import LineTooLongError
from mcpcore.proxy.listings import declared_fields
from mcpcore.values.untrusted import quietly
from mcpcore.values.unwrapping import leaves_of

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
    def instructions(self) -> str:
        """What the server says of itself."""
        return self.client.instructions or ""

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

        def answer(kind: Any, value: dict[str, Any] | None = None, detail: str = "") -> Answer:
            return Answer(kind=kind, value=value or {}, detail=detail)

        try:
            with anyio.fail_after(self.timeout):
                return answer("result", await self.client.session.send_request(request, _ANYTHING))
        except TimeoutError:
            return answer("timeout", detail=f"within {self.timeout:g} s")
        except ValidationError as exc:
            first = exc.errors(include_url=False, include_input=False)[0]
            return answer("malformed", detail=f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
        except MCPError as exc:
            # The client itself reports a lost connection with this code, which a server may use, too.
            if exc.code == CONNECTION_CLOSED and not await self.alive():
                return answer("closed", detail=exc.message)
            return answer("error", {"code": exc.code, "message": exc.message, "data": exc.error.data})

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
    facts = {field.name: getattr(listed, field.name) for field in fields(listed)}
    return CheckedTool(
        **facts,
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
    env = {**os.environ, CANARY: target.canary}
    child = await Child.start(target.command, env=env, keep_stderr=True)
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
    text = quietly(lambda: str(exc).strip(), "") or type(exc).__name__
    return text.splitlines()[0].rstrip(".")[:300]
