"""What a `ContractMiddleware` knows of each server that it answers for, from its start on, and of the current message.

FastMCP tells nobody that a mount, a transform or other middleware was added. Each message therefore compares the parts
of its server with those of the last message. Names and checks that depend on the parts are made again if they differ.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import sys
import weakref
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from fastmcp.server.dependencies import fastmcp_request_ctx
from fastmcp.tools.tool_transform import TransformedTool

from mcpcore.boundary.fallbacks import FallbackCheck
from mcpcore.boundary.outcome import FailedCall
from mcpcore.contract.codes import ErrorCode
from mcpcore.contract.effects import ToolEffects, default_effects
from mcpcore.contract.errors import FrameworkError
from mcpcore.integrations.fastmcp.calling import cover
from mcpcore.integrations.fastmcp.fallbacks import ServerFallbacks, renaming_of
from mcpcore.integrations.fastmcp.finding import find_tool, mounted, parts_of, require_compatible
from mcpcore.integrations.fastmcp.masking import MASKING
from mcpcore.integrations.fastmcp.returned import watch
from mcpcore.sdk.answers import ResponseWriter
from mcpcore.sdk.startup import Startup
from mcpcore.values.logs import LOGGER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from fastmcp import FastMCP
    from fastmcp.tools.base import Tool as FastMCPTool

    from mcpcore.boundary.script import Boundary
    from mcpcore.contract.failure_modes import Contract, ContractError
    from mcpcore.wire.envelope import Envelope


_MAX_KEPT: Final = 10_000
"""Tools whose effects are kept for a server."""


class ServedServer:
    """One server, or a server mounted below it that has the same middleware."""

    # Kept by the server, so it must not hold the server, or both would never go.

    def __init__(
        self, name: str, boundary: Boundary, fields: Mapping[str, str | None], external: frozenset[str]
    ) -> None:
        """Answer for the server `name`; `external` are the tools of other servers that contracts may name."""
        self.answers = ResponseWriter(boundary, fields)
        self._check = FallbackCheck(name, "ContractMiddleware", external)
        self._external = external
        self._effects: dict[str, tuple[ToolEffects | None, Contract[Any] | None]] = {}
        self.compose(())
        self.failure: ContractError | None = None
        """The error that keeps the server from starting."""

        self._refusal: tuple[str, Envelope] | None = None
        """The text of that error, and the answer to each message; kept, so that it is recorded once."""

    def has(self, parts: Sequence[object]) -> bool:
        """Whether the server has these parts already."""
        return len(parts) == len(self._parts) and all(map(operator.is_, parts, self._parts))

    def compose(self, parts: Sequence[object]) -> None:
        """Take the parts that the server has now."""
        self._parts = parts
        self.fallbacks = ServerFallbacks(self._check, self._external, self.answers.boundary.strictness, parts)
        self._effects.clear()

    # --- the start ------------------------------------------------------------------------------------------------

    def refusal(self, error: ContractError, server: str) -> Envelope:
        """The answer to each message of a server that must not start, recorded once."""
        self.failure, message = error, str(error)
        if self._refusal is None or self._refusal[0] != message:
            failure = FrameworkError(ErrorCode.INITIALIZATION_FAILED, message, reason="server_not_started")
            call = FailedCall(name=server, surface="server", context=dict(self.answers.fields or {}))
            envelope = self.answers.boundary.record_failure(failure, call).envelope
            self._refusal = message, envelope
            LOGGER.error("the server %r cannot start: %s (id %s)", server, message, envelope.correlation_id)
        return self._refusal[1]

    def started(self) -> None:
        """Nothing keeps the server from starting any more."""
        self.failure = self._refusal = None

    # --- the effects that follow from the annotations of tools ----------------------------------------------------

    # The tool that a client sees counts: a mount or a transform may give the tool of a handler other annotations.
    # FastMCP does not tell a middleware which tool it calls, and looking a tool up takes a twentieth of a call, so the
    # effects are kept by name.

    def note(self, tools: Iterable[FastMCPTool]) -> None:
        """Keep the effects of tools, as a client sees them."""
        self._effects = {tool.name: (default_effects(tool.annotations), None) for tool in tools}

    def noted(self, name: str) -> tuple[ToolEffects | None, Contract[Any] | None] | None:
        """The effects of the tool when it was last looked up, and the contract of its last failure."""
        return self._effects.get(name)

    async def effects_of(self, server: FastMCP[Any], name: str, contract: Contract[Any]) -> ToolEffects | None:
        """The effects of a tool that fails; looked up again if `contract` is not that of its last failure."""
        effects, seen = self._effects.get(name) or (None, None)
        if seen is not contract:
            effects, _ = await self.look_up(server, name)
            self._effects[name] = effects, contract
        return effects

    async def look_up(self, server: FastMCP[Any], name: str) -> tuple[ToolEffects | None, bool]:
        """Look the tool up: its effects, and whether a custom function may transform it."""
        tool = await find_tool(server, name)  # if that fails, the call itself fails in the same way, and tells why
        if tool is None:
            return "unstated", False
        effects = default_effects(tool.annotations)
        if len(self._effects) >= _MAX_KEPT:
            self._effects.clear()  # a provider that answers any name must not fill the memory
        self._effects[name] = effects, None
        return effects, isinstance(tool, TransformedTool)


class ServedServers:
    """The servers of one `ContractMiddleware`."""

    def __init__(
        self, middleware: Any, make_boundary: Callable[..., Boundary], fields: Mapping[str, str | None]
    ) -> None:
        """Serve by boundaries of `make_boundary(server=name, …)`, with the bound `fields`."""
        self._middleware = middleware
        self._make_boundary = make_boundary
        self._fields = fields
        self._servers: weakref.WeakKeyDictionary[FastMCP[Any], ServedServer] = weakref.WeakKeyDictionary()

    def known(self, server: FastMCP[Any]) -> ServedServer:
        """The state of `server`, which may not have been checked."""
        served = self._servers.get(server)
        if served is None:
            boundary = self._make_boundary(server=server.name, renaming=renaming_of)
            served = ServedServer(server.name, boundary, self._fields, self._middleware.external_tools)
            self._servers[server] = served
        return served

    def current(self, server: FastMCP[Any]) -> ServedServer:
        """The state of `server` with the parts that it has now; they are compared once for a message.

        Raises:
            ContractError: If other middleware undoes the contracts.
        """
        message = message_now()
        if message is not None and message.server is server and message.servers is self and message.served is not None:
            return message.served
        served = self.known(server)
        self.compose(server, served)
        return served

    def compose(self, server: FastMCP[Any], served: ServedServer) -> None:
        """If any part of `server` has changed: check its other middleware, and serve the servers below it too.

        Raises:
            ContractError: If other middleware undoes the contracts.
        """
        if served.has(parts_of(server)):
            return
        below = list(mounted(server))
        require_compatible(server, below, self._middleware)
        for part in (server, *below):
            watch(part)
            cover(part, self._middleware)
        for part in below:
            if MASKING not in part.middleware:
                part.middleware.insert(0, MASKING)
        served.compose(parts_of(server))


class Message:
    """A message, and the server whose `ContractMiddleware` it reaches first.

    A mounted server may have another `ContractMiddleware`, which the message reaches later.
    """

    __slots__ = ("served", "server", "servers", "wire")

    def __init__(self, servers: ServedServers, server: FastMCP[Any], wire: object) -> None:
        """A message to `server`, which came over `wire`; None for one of code on the server."""
        self.servers = servers
        self.server = server
        self.wire = wire
        self.served: ServedServer | None = None
        """The state of the server; None while it is being checked."""


message_var: Final[ContextVar[Message | None]] = ContextVar("mcpcore_fastmcp_message", default=None)


def message_now() -> Message | None:
    """The message that is being handled; one that the program sends to another server in this process is another."""
    message = message_var.get()
    return message if message is not None and message.wire is fastmcp_request_ctx.get() else None


class Startups:
    """The `Startup` of each server that a middleware serves.

    FastMCP calls its middleware for requests only. The lifespan of the server is entered before the first request and
    left after the last one, so a failure to start or to stop passes through it.
    """

    def __init__(self, make_boundary: Callable[..., Boundary], fields: Mapping[str, str | None]) -> None:
        """Record by boundaries of `make_boundary(server=name)`, with the bound `fields`."""
        self._make_boundary = make_boundary
        self._fields = {key: value for key, value in fields.items() if value is not None}
        self._startups: weakref.WeakKeyDictionary[FastMCP[Any], Startup] = weakref.WeakKeyDictionary()

    def of(self, server: FastMCP[Any]) -> Startup:
        """The object that records the failures of `server` to start and to stop."""
        startup = self._startups.get(server)
        if startup is None:
            # The value must not hold the server, or its entry would never go.
            record = functools.partial(self._record, self._make_boundary(server=server.name), server.name)
            startup = self._startups[server] = Startup(server.name, record)
        return startup

    def _record(self, boundary: Boundary, name: str, exc: BaseException, code: ErrorCode | None) -> Envelope:
        call = FailedCall(name=name, surface="server", context=dict(self._fields), code=code)
        return boundary.record_failure(exc, call).envelope

    def watched(
        self, lifespan: Callable[[FastMCP[Any]], AbstractAsyncContextManager[Any]]
    ) -> Callable[[FastMCP[Any]], AbstractAsyncContextManager[Any]]:
        """`lifespan`, with its failures recorded, and the failure to listen on a port."""

        @contextlib.asynccontextmanager
        async def watching(server: FastMCP[Any]) -> AsyncIterator[Any]:
            startup = self.of(server)
            async with startup.watched(lifespan)(server) as state:
                try:
                    yield state
                finally:
                    # FastMCP does not pass the exception that ends the server, but leaves the lifespan while Python
                    # handles it.
                    startup.ended(sys.exception())

        return watching
