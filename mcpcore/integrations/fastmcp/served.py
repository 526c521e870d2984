"""What a `ContractMiddleware` knows of each server that it answers for, of the current message, and of its failure.

FastMCP tells nobody that a mount, a transform or other middleware was added. Each message therefore compares the parts
of its server with those of the last message. Names and checks that depend on the parts are made again if they differ.

FastMCP checks the names of arguments before a contract tool can check their values. They are reported in the same words
as on a `Server`.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import sys
import weakref
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from fastmcp.exceptions import DisabledError, NotFoundError, ValidationError as FastMCPValidationError
from fastmcp.server.auth import AuthContext
from fastmcp.server.dependencies import fastmcp_request_ctx, get_access_token
from fastmcp.tools.tool_transform import TransformedTool
from pydantic import ValidationError
from pydantic_core import InitErrorDetails

from mcpcore.boundary.fallbacks import FallbackCheck
from mcpcore.boundary.outcome import FailedCall
from mcpcore.boundary.request import Request, require_scopes
from mcpcore.contract.codes import ErrorCode
from mcpcore.contract.effects import ToolEffects, default_effects
from mcpcore.contract.errors import CodedError, FrameworkError
from mcpcore.contract.failure_modes import NO_CONTRACT, Contract, ContractError
from mcpcore.integrations.fastmcp.calling import MASKING, FastMCPCall, cover, server_of
from mcpcore.integrations.fastmcp.components import (
    contract_tool_of,
    find_contract_prompt,
    find_contract_tool,
    find_tool,
    mounted,
    parts_of,
    require_compatible,
    tool_names,
)
from mcpcore.integrations.fastmcp.errors import is_before_handler, is_refusal_of_a_transform, raised_within
from mcpcore.integrations.fastmcp.fallbacks import ServerFallbacks, renaming_of
from mcpcore.integrations.fastmcp.returned import watch
from mcpcore.sdk.answers import ResponseWriter
from mcpcore.sdk.errors import invalid_arguments_error, protocols_own, unknown_tool_error
from mcpcore.sdk.startup import Startup
from mcpcore.values.logs import LOGGER
from mcpcore.values.unwrapping import returned_failure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from fastmcp import FastMCP
    from fastmcp.server.middleware.middleware import MiddlewareContext
    from fastmcp.tools.base import Tool as FastMCPTool
    from mcp_types import CallToolRequestParams, GetPromptRequestParams

    from mcpcore.boundary.script import Boundary
    from mcpcore.declare.decorators import Tool
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


class MaskedCall(FastMCPCall):
    """A call whose failures other middleware sees masked."""

    context: MiddlewareContext[Any]

    async def mask(self, exc: BaseException) -> str | None:
        """The text by which other middleware may know `exc`; None if it may see `exc` itself."""
        failure = raised_within(exc)
        if protocols_own(failure) is not None:
            return None
        if not self.covers_all and self.contract is NO_CONTRACT:
            try:
                if await find_contract_tool(server_of(self.context), self.context.message.name) is None:
                    return None
            except Exception:  # noqa: BLE001 - a lookup that fails must not show the failure
                LOGGER.debug("the tool %r could not be looked up", self.context.message.name)
        return self.message_of(returned_failure(failure))


async def read_tool_failure(
    exc: BaseException, request: Request, server: FastMCP[Any], message: CallToolRequestParams, served: ServedServer
) -> BaseException:
    """The failure behind `exc`, which FastMCP raised; `request` gets the contract of the tool, if it has one."""
    if issubclass(type(exc), (NotFoundError, DisabledError)):
        known = await tool_names(server)
        if message.name in known:
            return exc
        try:
            await _require_visible(server, message.name)
        except CodedError as hidden:
            return hidden
        return unknown_tool_error(message.name, known)
    if request.contract is not NO_CONTRACT:
        request.effects = await served.effects_of(server, message.name, request.contract)
        return raised_within(exc)
    try:
        request.effects, is_transformed = await served.look_up(server, message.name)
        tool = await find_contract_tool(server, message.name)
        if tool is not None:
            request.contract = tool.contract
        # A tool of FastMCP's own does not say when it begins, so it is taken to have begun.
        is_silent = (tool is None or is_transformed) and not is_before_handler(exc)
        request.began = request.began or is_silent
        cause = _unfit(exc)
        if cause is not None or is_refusal_of_a_transform(exc):
            return await _invalid_arguments(cause, tool, server, message) or raised_within(exc)
    except Exception:  # noqa: BLE001 - a lookup that fails must not hide the failure
        LOGGER.debug("the tool %r could not be looked up", message.name)
    return raised_within(exc)


def _unfit(exc: BaseException) -> ValidationError | None:
    """The pydantic error behind FastMCP's error for bad arguments; None for another error."""
    cause = exc.__cause__
    if type(exc) is FastMCPValidationError and isinstance(cause, ValidationError) and str(exc) == str(cause):
        return cause
    return None


async def _invalid_arguments(
    error: ValidationError | None,
    tool: Tool[..., Any] | None,
    server: FastMCP[Any],
    message: CallToolRequestParams,
) -> FrameworkError | None:
    """The failure of calling a tool of `server` with bad arguments, by its own definition if it has one."""
    arguments = message.arguments or {}
    if tool is not None:
        definition = tool.definition
        try:
            definition.validate(arguments)
        except ValidationError as own:
            # FastMCP rejects missing and unknown arguments first; the tool's own definition has better messages.
            return _caused(invalid_arguments_error(own, definition.places, message.name, arguments), own)
    listed = await server.get_tool(message.name)
    schema = {} if listed is None else listed.parameters
    error = error or _misnamed(schema, message.name, arguments)
    if error is None:
        return None
    return _caused(invalid_arguments_error(error, schema, message.name, arguments), error)


async def unfit_prompt(
    server: FastMCP[Any], message: GetPromptRequestParams, request: Request
) -> FrameworkError | None:
    """The failure of bad arguments in the words of the contract prompt, not of FastMCP; None for another prompt."""
    name, arguments = message.name, message.arguments or {}
    try:
        prompt = await find_contract_prompt(server, name)
    except Exception:  # noqa: BLE001 - a lookup that fails must not hide the failure
        prompt = None
    if prompt is not None:
        request.contract = prompt.contract
        try:
            prompt.definition.validate(arguments)
        except ValidationError as own:
            return _caused(invalid_arguments_error(own, prompt.definition.places, name, arguments), own)
    return None


def _caused(error: FrameworkError, cause: BaseException) -> FrameworkError:
    error.__cause__ = cause
    return error


def _misnamed(schema: Mapping[str, Any], name: str, arguments: Mapping[str, Any]) -> ValidationError | None:
    """The unknown and the missing names in `arguments`, as pydantic reports them; None if the names fit `schema`."""
    unknown = arguments.keys() - schema.get("properties", {}).keys()
    missing = set(schema.get("required", ())) - arguments.keys()
    lines: list[InitErrorDetails] = [
        InitErrorDetails(type="missing", loc=(key,), input=None) for key in sorted(missing)
    ]
    lines += [InitErrorDetails(type="extra_forbidden", loc=(key,), input=None) for key in sorted(unknown)]
    return ValidationError.from_exception_data(name, lines) if lines else None


async def _require_visible(server: FastMCP[Any], name: str) -> None:
    """Check that the tool `name`, which FastMCP does not find, is not one that it hides for want of scopes.

    To FastMCP, a tool with `@mcp.tool(auth=require_scopes(...))` does not exist for a caller who lacks a scope. Such a
    caller gets the missing scopes instead, and can ask for them. A tool that any other check hides stays hidden.

    Raises:
        CodedError: UNAUTHORIZED or FORBIDDEN, if it is.
    """
    for provider in server.providers:
        # A provider finds its tools without regard to the caller; the server hides them.
        tool = await provider.get_tool(name)
        if tool is None or tool.auth is None:
            continue
        token = get_access_token()
        context = AuthContext(token=token, component=tool)
        checks = tool.auth if isinstance(tool.auth, list) else [tool.auth]
        required: set[str] = set()
        for check in checks:
            scopes = getattr(check, "required_scopes", None)
            if not isinstance(scopes, frozenset):
                return
            if not check(context):
                required |= scopes
        declared = contract_tool_of(tool)
        contract = NO_CONTRACT if declared is None else declared.contract
        require_scopes(sorted(required), None if token is None else token.scopes, contract)
