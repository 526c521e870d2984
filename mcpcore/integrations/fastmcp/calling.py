"""Runs declared handlers for FastMCP, in the same way as a `Server` runs them, with FastMCP's context behind ours.

The texts and tracebacks of failures, which may contain secrets, are kept from FastMCP's log and from other middleware.
A `ContractMiddleware` logs each crash itself: redacted, and under the id that the client reads. While it answers a
request, FastMCP's own entries about failures are dropped, and all other middleware sees masked failures, wherever it
stands: each link of FastMCP's chain of middleware gets a mask below it. Otherwise FastMCP's `TimingMiddleware`, and any
other middleware that logs errors, would log the text of a crash.
"""

from __future__ import annotations

import functools
import logging
import re
import weakref
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, cast

import mcp_types
from fastmcp.exceptions import PromptError, ResourceError, ToolError
from fastmcp.server.dependencies import fastmcp_request_ctx, get_context, get_server
from fastmcp.server.middleware.middleware import CallNext, Middleware, MiddlewareContext
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context as SDKContext
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import AnyUrl, PrivateAttr, RootModel, ValidationError

from mcpcore.boundary.request import Request
from mcpcore.boundary.script import Boundary
from mcpcore.boundary.strictness import strictness_of
from mcpcore.contract.effects import ToolEffects, default_effects
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from mcpcore.declare.declaration import FASTMCP_CALL, Declared
from mcpcore.declare.decorators import DeclaredResource, Tool
from mcpcore.integrations.fastmcp.errors import ContractFailure, ProtocolFailure, masked
from mcpcore.integrations.fastmcp.private import link_of_chain, wire_request
from mcpcore.integrations.fastmcp.results import prompt_result, resource_result, tool_result
from mcpcore.sdk.answers import AnsweredCall, ResponseWriter
from mcpcore.sdk.errors import exposes_internal_errors, invalid_arguments_error, require_granted
from mcpcore.sdk.handlers import nested_call, run_handler
from mcpcore.values.jsonable import shown_name
from mcpcore.values.logs import LOGGER
from mcpcore.values.request_var import current
from mcpcore.values.unwrapping import is_a, passes_through, returned_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping

    from fastmcp import Context as FastMCPContext, FastMCP

    from mcpcore.integrations.fastmcp.fallbacks import Renaming


class FastMCPCall(AnsweredCall):
    """A request that a `ContractMiddleware` answers; without one, the contract tool answers it itself."""

    covers_all = True
    """Whether the failures of plain tools are answered too."""

    renaming: Renaming | None = None
    """What renames the fallback tools of its failures, where clients know tools by other names."""

    _tokens: tuple[Any, Any]

    def __init__(
        self, answers: ResponseWriter, fastmcp: FastMCPContext | None, *, name: str, surface: str = "tool", wire: object
    ) -> None:
        """Answer the request for `name`; `wire` is None for a call by code on the server."""
        super().__init__(
            answers, _SDKView, name=name if surface == "tool" else shown_name(name), surface=surface, wire=wire
        )
        self.fastmcp = fastmcp
        """The context of the server that has the handler, which may be mounted below the one that answers."""

        self.wire = wire
        self.called = name
        """The name that the client called; a mount or `name=...` may have changed the tool's own."""

    def __enter__(self) -> Self:
        """Mark the request as answered by the code in the block."""
        self._tokens = _answering.set(self), current.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        """End the call; failures of calls within it that its handler handled are recorded."""
        try:
            self.is_over = True
            self.settle()
        finally:
            answering, outer = self._tokens
            current.reset(outer)
            _answering.reset(answering)

    @property
    def sdk(self) -> SDKContext[Any, Any]:
        """The SDK's own context, on top of FastMCP's."""
        if self._sdk is None:
            self._sdk = _SDKView(self.fastmcp)
        return self._sdk

    async def mask(self, exc: BaseException) -> str | None:
        """The text by which other middleware may know an exception; None where it may see the exception itself."""
        raise NotImplementedError  # pragma: no cover - the middleware has its own kind of call


_answering: Final[ContextVar[FastMCPCall | None]] = ContextVar("mcpcore_fastmcp_answering", default=None)


def answering_now() -> FastMCPCall | None:
    """The request that a `ContractMiddleware` is answering in this task, or None.

    A server that is called through a client in the same process, as a proxy does, inherits the context variables of its
    caller. Its request is a different one, so it still answers for itself.
    """
    answering = _answering.get()
    return answering if answering is not None and answering.wire is fastmcp_request_ctx.get() else None


def server_of(context: MiddlewareContext[Any]) -> FastMCP[Any]:
    """The server that handles a message."""
    assert context.fastmcp_context is not None, "FastMCP runs its middleware within a context"
    return context.fastmcp_context.fastmcp


def claim(declared: Declared[..., Any]) -> FastMCPCall | None:
    """The request that `declared` answers, with its contract from now on; None for a call by another handler."""
    call = _answering.get()
    if call is None or call.claimed or call.surface != declared.noun or call.wire is not fastmcp_request_ctx.get():
        return None
    call.contract = declared.contract
    return call


class Default(RootModel[Any]):
    """The default of an argument as clients see it; a tool that receives it knows that the argument was left out."""

    root: Any = None

    # The library of background tasks keeps defaults in sets.
    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType] - pydantic has None for models that are not frozen


class Calling:
    """The value of a handler's hidden parameter, by which a call of FastMCP differs from any other call."""

    def __call__(self, declared: Declared[..., Any], values: dict[str, Any]) -> Any:
        """Run `declared` with the arguments of FastMCP, when the result is awaited."""
        values.pop(FASTMCP_CALL)
        injected = {parameter.name: values.pop(parameter.name) for parameter in declared.declaration.signature.injected}
        return _Awaitable(functools.partial(_called, declared, _as_sent(declared, values), injected))


class _Awaitable:
    """Runs a coroutine when awaited. FastMCP calls a tool in a worker thread, from which trio takes no coroutine."""

    def __init__(self, run: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self._run = run

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._run().__await__()


async def _called(declared: Declared[..., Any], arguments: dict[str, Any], injected: dict[str, Any]) -> Any:
    call = claim(declared)
    if call is not None:
        return await answer_claimed(declared, arguments, injected, call)
    fastmcp = _context()
    if answering_now() is None:
        return await _answered_alone(declared, arguments, injected, fastmcp)
    # A handler called it, and reads the failure itself.
    make, name = functools.partial(_SDKView, fastmcp), registration_of(declared).name
    request = Request(make, contract=declared.contract, effects=_effects_of(declared), fastmcp=fastmcp)
    with nested_call(request, name):
        return await _run(declared, arguments, injected, request, name)


async def answer_claimed(
    declared: Declared[..., Any], arguments: dict[str, Any], injected: dict[str, Any], call: FastMCPCall
) -> Any:
    """The result of `declared` for `call`, which it has claimed; a failure is raised masked."""
    call.claimed = True
    call.began = False
    call.fastmcp = _context()
    if call.renaming is not None:
        await call.renaming.begin(declared.contract)
    if call.arguments:  # of a prompt: FastMCP passes only those on that the prompt knows
        arguments = {**call.arguments, **arguments}
    try:
        return await _run(declared, arguments, injected, call, call.called)
    except BaseException as exc:
        if passes_through(exc):
            raise
        failure = exc
    # Outside the `except` clause, so that the failure is not the context of an exception that may be logged.
    try:
        raise masked(failure, "", kind=_KINDS[declared.noun])  # its text is made when other middleware sees it
    finally:
        del failure  # the traceback holds this frame, which must not hold the failure


_KINDS: Final = {"tool": ToolError, "resource": ResourceError, "prompt": PromptError}
"""The errors of FastMCP that handlers catch, by what they call."""


def registration_of(declared: Declared[..., Any]) -> Any:
    """The options that FastMCP registered `declared` with; made once, and not in each call."""
    kept = declared.registration
    if kept is None or kept[0] is not declared.fastmcp_options:
        kept = declared.registration = declared.fastmcp_options, declared.__fastmcp__
    return kept[1]


def _effects_of(declared: Declared[..., Any]) -> ToolEffects | None:
    return default_effects(registration_of(declared).annotations) if isinstance(declared, Tool) else None


async def _run(
    declared: Declared[..., Any], arguments: dict[str, Any], injected: dict[str, Any], request: Request, name: str
) -> Any:
    """Validate the arguments, run the handler and convert its result; any failure is raised."""
    declaration = declared.declaration
    definition = declaration.definition
    request.arguments = arguments
    if declaration.scopes:
        require_granted(declaration.scopes, request)
    is_tool = declared.noun == "tool"
    strict = is_tool and request.fastmcp is not None and request.fastmcp.fastmcp.strict_input_validation
    try:
        values = definition.validate(arguments, strict=strict)
    except ValidationError as exc:
        # The URI of a resource holds the values, which a message must not repeat.
        shown = registration_of(declared).name if isinstance(declared, DeclaredResource) else name
        raise invalid_arguments_error(exc, definition.places, shown, arguments) from exc
    if definition.sdk.resolved_params:
        resolved = await definition.resolve(values, request)
        if isinstance(resolved, InputRequiredResult):
            return resolved
        values |= resolved
    chosen = declared.fastmcp_options  # what is registered says only that FastMCP starts no thread
    threaded = not is_tool or getattr(chosen, "run_in_thread", True)
    returned = await run_handler(declared, values | injected, request, threaded=threaded)
    if is_tool:
        return tool_result(returned, definition)
    metadata = registration_of(declared)
    if isinstance(declared, DeclaredResource):
        return await resource_result(returned, mime_type=metadata.mime_type, meta=_own_meta(metadata.meta))
    description = metadata.description if metadata.description is not None else definition.sdk.description
    return await prompt_result(returned, name=name, description=description, meta=_own_meta(metadata.meta))


def _own_meta(meta: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The `_meta` without the contract, which only lists carry."""
    return {key: value for key, value in (meta or {}).items() if key != CONTRACT_META_KEY} or None


def _as_sent(declared: Declared[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that the client sent, by the names of the input schema."""
    definition = declared.definition
    fields = definition.sdk.fn_metadata.arg_model.model_fields
    sent: dict[str, Any] = {}
    for name, field in definition.argument_names:
        info = fields[field]
        if name in values and not isinstance(values[name], Default):
            sent[info.alias or name] = values[name]
    return sent


def _context() -> FastMCPContext | None:
    try:
        return get_context()
    except RuntimeError:  # the tool is run without a server
        return None


# --- where no ContractMiddleware answers ------------------------------------------------------------------------------


class Covering(Protocol):
    """A `ContractMiddleware`, for a handler that runs after its request is answered: in a background task."""

    def covered(self, server: FastMCP[Any]) -> ResponseWriter:
        """Whatever records and answers the failures of `server`."""
        ...


_covering: Final[weakref.WeakKeyDictionary[FastMCP, Covering]] = weakref.WeakKeyDictionary()
"""The middleware of each server; for a mounted server, that of the server above."""

_boundaries: Final[weakref.WeakKeyDictionary[FastMCP, Boundary]] = weakref.WeakKeyDictionary()
"""The boundaries of servers without a `ContractMiddleware`; a warning is logged when one is made."""


def cover(server: FastMCP[Any], middleware: Covering) -> None:
    """Have `middleware` record the failures of `server` in background tasks, unless the server has its own."""
    if _own_covering(server) in (None, middleware):
        _covering[server] = middleware


def _own_covering(server: FastMCP[Any]) -> Covering | None:
    return next((cast("Covering", other) for other in server.middleware if hasattr(other, "covered")), None)


class _LoneCall(FastMCPCall):
    """A request that no `ContractMiddleware` answers; its answers are made with its first failure, if it has any."""

    def __init__(self, fastmcp: FastMCPContext | None, *, name: str, surface: str) -> None:
        super().__init__(cast("ResponseWriter", None), fastmcp, name=name, surface=surface, wire=None)
        del self.answers

    @functools.cached_property
    def answers(self) -> ResponseWriter:  # type: ignore[override]  # pyright: ignore[reportIncompatibleVariableOverride]
        return _answers_of(self.fastmcp)


async def _answered_alone(
    declared: Declared[..., Any], arguments: dict[str, Any], injected: dict[str, Any], fastmcp: FastMCPContext | None
) -> Any:
    """The result of `declared` where no `ContractMiddleware` answers: it answers its own failures.

    Raises:
        MCPError: If a resource or a prompt fails.
    """
    name = registration_of(declared).uri if isinstance(declared, DeclaredResource) else registration_of(declared).name
    call = _LoneCall(fastmcp, name=name, surface=declared.noun)
    call.contract, call.effects = declared.contract, _effects_of(declared)
    token = current.set(call)
    try:
        result = await _run(declared, arguments, injected, call, name)
    except BaseException as exc:
        if passes_through(exc):
            raise
        outcome = call.failure(exc, call.unraised(returned_failure(exc)))
    else:
        refused = call.report_unraised(call.unraised())
        if refused is None:
            return result
        outcome = refused
    finally:
        current.reset(token)
    answers = call.answers
    if isinstance(declared, Tool):
        if (
            fastmcp is not None
            and (wire_request(fastmcp) or _covering.get(fastmcp.fastmcp) or _own_covering(fastmcp.fastmcp)) is None
            and not fastmcp.is_background_task
        ):
            raise ToolError(outcome.envelope.message)  # code on the server calls it, for which FastMCP's tools raise
        return CallToolResult(**answers.result_fields(outcome.envelope))
    # Outside the `except` clause, so that the failure is not the context of an exception that may be logged.
    raise ProtocolFailure.of(answers.error(outcome.envelope))


def _answers_of(fastmcp: FastMCPContext | None) -> ResponseWriter:
    try:
        server = get_server() if fastmcp is None else fastmcp.fastmcp  # in a background task, there is no context
    except RuntimeError:  # the tool is run without a server
        return ResponseWriter(Boundary(server="fastmcp", expose=exposes_internal_errors()))
    covering = _covering.get(server) or _own_covering(server)
    if covering is not None:
        return covering.covered(server)
    boundary = _boundaries.get(server)
    if boundary is None:
        boundary = _boundaries[server] = Boundary(
            server=server.name, expose=exposes_internal_errors(), strictness=strictness_of(server)
        )
        LOGGER.warning(
            "the FastMCP server %r has no ContractMiddleware: its contract tools answer their own failures, but other "
            "tools, bad arguments and unknown tools fail in FastMCP's way and are not recorded; call "
            "mcp.add_middleware(ContractMiddleware()) before you add other middleware",
            server.name,
        )
    return ResponseWriter(boundary)


# --- the SDK's context ------------------------------------------------------------------------------------------------


class _SDKView(SDKContext[Any, Any]):
    """The SDK's context, on top of FastMCP's context."""

    _fastmcp: Any = PrivateAttr(default=None)
    _is_on_the_wire: bool = PrivateAttr(default=False)

    def __init__(self, fastmcp: FastMCPContext | None = None) -> None:
        wire = None if fastmcp is None else wire_request(fastmcp)
        super().__init__(request_context=wire)
        self._fastmcp = fastmcp
        self._is_on_the_wire = wire is not None

    @property
    def _own(self) -> FastMCPContext:
        if self._fastmcp is None:
            raise ValueError("Context is not available outside of a request")
        return cast("FastMCPContext", self._fastmcp)

    @property
    def mcp_server(self) -> Any:
        """The FastMCP server."""
        return self._own.fastmcp

    @property
    def input_responses(self) -> mcp_types.InputResponses | None:
        """The client's answers to an earlier `InputRequiredResult`."""
        return None if self._fastmcp is None else self._own.input_responses

    @property
    def request_state(self) -> str | None:
        """The opaque state that an earlier `InputRequiredResult` carried."""
        return None if self._fastmcp is None else self._own.request_state

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress; a call by code on the server reports to no client."""
        if self._is_on_the_wire:
            await super().report_progress(progress, total, message)
        elif self._fastmcp is not None:  # a background task
            await self._own.report_progress(progress, total, message)

    async def read_resource(self, uri: str | AnyUrl) -> Iterable[ReadResourceContents]:
        """Read a resource of the server."""
        return [
            ReadResourceContents(content=item.content, mime_type=item.mime_type, meta=item.meta)
            for item in (await self._own.read_resource(uri)).contents
        ]

    async def notify_tools_changed(self) -> None:
        """Tell the client that the list of tools changed."""
        await self._own.send_notification(mcp_types.ToolListChangedNotification())

    async def notify_prompts_changed(self) -> None:
        """Tell the client that the list of prompts changed."""
        await self._own.send_notification(mcp_types.PromptListChangedNotification())

    async def notify_resources_changed(self) -> None:
        """Tell the client that the list of resources changed."""
        await self._own.send_notification(mcp_types.ResourceListChangedNotification())

    async def notify_resource_updated(self, uri: str | AnyUrl) -> None:
        """Tell the client that a resource changed."""
        params = mcp_types.ResourceUpdatedNotificationParams(uri=str(uri))
        await self._own.send_notification(mcp_types.ResourceUpdatedNotification(params=params))


# --- FastMCP's log ----------------------------------------------------------------------------------------------------

LOGGERS: Final = ("fastmcp.server.server", "fastmcp.prompts.function_prompt")
"""FastMCP's loggers for failures of tools, resources and prompts."""

FAILURES: Final = re.compile(
    r"Error calling tool |Error reading resource |Error rendering prompt |Invalid arguments for tool "
)
"""The wording of FastMCP's entries about failures."""


def redact_crashes() -> None:
    """Drop FastMCP's entries about failures that a `ContractMiddleware` answers; a second call changes nothing."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(_is_not_answered)


def _is_not_answered(record: logging.LogRecord) -> bool:
    answering = answering_now()
    if answering is None or not answering.covers_all:
        return True
    return not (record.exc_info or FAILURES.match(str(record.msg)))


# --- other middleware -------------------------------------------------------------------------------------------------


def masked_chain(call_next: CallNext[Any, Any]) -> CallNext[Any, Any]:
    """`call_next`, FastMCP's chain of middleware, whose links see masked failures of a request that is answered."""
    others: list[Any] = []
    while (link := link_of_chain(call_next)) is not None:
        other, call_next = link
        others.append(other)
    if not others:
        return call_next
    chain: Any = functools.partial(_masking, call_next)
    for other in reversed(others):
        chain = functools.partial(_masking, functools.partial(_through, other, chain))
    return chain  # type: ignore[no-any-return]


async def _through(other: Any, call_next: CallNext[Any, Any], context: MiddlewareContext[Any]) -> Any:
    return await other(context, call_next)


async def _masking(call_next: CallNext[Any, Any], context: MiddlewareContext[Any]) -> Any:
    try:
        return await call_next(context)
    except BaseException as exc:
        answering = answering_now()
        if answering is None or passes_through(exc) or (is_a(exc, ContractFailure) and str(exc)):
            raise
        message = await answering.mask(exc)
        if message is None:
            raise
        failure = masked(exc, message)
    # Outside the `except` clause, so that what is masked is not the context of an exception that may be logged.
    try:
        raise failure
    finally:
        del failure  # the traceback holds this frame, which must not hold the failure


class MaskingMiddleware(Middleware):
    """Masks the failures that the middleware of a mounted server sees, while a server above answers the request."""

    async def __call__(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Handle a message; a call that a handler makes is answered as on the server above."""
        call = answering_now()
        if call is None:
            return await call_next(context)
        if call.claimed and context.fastmcp_context is not None:
            # The middleware of the server above, if this one has no `ContractMiddleware`.
            server = context.fastmcp_context.fastmcp
            covering: Any = _covering.get(server)
            if covering is not None and _own_covering(server) is None:
                return await covering(context, call_next)
        return await masked_chain(call_next)(context)


MASKING: Final = MaskingMiddleware()
