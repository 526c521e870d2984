"""`ContractMiddleware`: every tool, resource and prompt of a FastMCP server fails in the same envelope."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

import fastmcp
import mcp_types
from fastmcp.exceptions import ToolError
from fastmcp.server.dependencies import fastmcp_request_ctx
from fastmcp.server.middleware.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.middleware.rate_limiting import RateLimitError
from fastmcp.tools.base import InputRequiredToolResult, Tool as FastMCPTool, ToolResult
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from mcpcore.boundary.fallbacks import external_names
from mcpcore.boundary.request import checked_limits
from mcpcore.boundary.script import Boundary, recorded_first
from mcpcore.boundary.strictness import Strictness
from mcpcore.boundary.upstream import UpstreamError
from mcpcore.contract.bound_fields import checked
from mcpcore.contract.errors import PLAIN_ERRORS, FrameworkError
from mcpcore.contract.failure_modes import CONTRACT_META_KEY, NO_CONTRACT, ContractError
from mcpcore.contract.limits import DEFAULT_LIMITS, Limits
from mcpcore.integrations.fastmcp.calling import FastMCPCall, answering_now, masked_chain, redact_crashes, server_of
from mcpcore.integrations.fastmcp.components import described, find_tool, is_delegated
from mcpcore.integrations.fastmcp.errors import (
    fastmcps_failure,
    inner_failure,
    is_unserved,
    masked,
    raised_within,
    unmasked,
)
from mcpcore.integrations.fastmcp.results import FailedResult, protocol_result, require_answer
from mcpcore.integrations.fastmcp.served import (
    MaskedCall,
    Message,
    ServedServer,
    ServedServers,
    Startups,
    message_now,
    message_var,
    read_tool_failure,
    unfit_prompt,
)
from mcpcore.sdk.definition import without_error
from mcpcore.sdk.errors import (
    UnknownTool,
    check_options,
    exposes_internal_errors,
    protocols_own,
)
from mcpcore.sdk.refusals import Refusals, watched
from mcpcore.sdk.results import failure_in, fits_schema, require_writable, require_writable_result
from mcpcore.sdk.startup import Startup, no_lifespan
from mcpcore.values.jsonable import shown_name
from mcpcore.values.untrusted import quietly
from mcpcore.values.unwrapping import ReturnedError, is_a, passes_through, returned_failure
from mcpcore.wire.arguments import INVALID_ARGUMENTS
from mcpcore.wire.envelope import CANONICAL, Envelope

if TYPE_CHECKING:
    import os
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from fastmcp import FastMCP
    from fastmcp.prompts.base import PromptResult
    from fastmcp.resources.base import ResourceResult
    from starlette.applications import Starlette

    from mcpcore.audit import AuditTrail
    from mcpcore.sdk.answers import AnsweredCall, ResponseWriter


class ContractMiddleware(Middleware):
    """Every tool, resource and prompt of a FastMCP server fails with an envelope and leaves a record.

    Add it before any other middleware, so that it is the outermost: `mcp.add_middleware(ContractMiddleware())`. It also
    covers mounted servers.

    ```python
    mcp = FastMCP("articles")
    mcp.add_middleware(ContractMiddleware(audit="audit.jsonl"))
    ```
    """

    def __init__(  # noqa: D417 - `Server` describes the others
        self,
        *,
        audit: AuditTrail | str | os.PathLike[str] | None = None,
        advertise_errors: bool = True,
        describe_failures: bool = False,
        expose_internal_errors: bool | Literal["message"] = False,
        strict: bool = False,
        unknown_tool: UnknownTool = "protocol",
        dialect: str = CANONICAL,
        tool_failure_meta: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        bind: Mapping[str, str | None] | None = None,
        external_tools: Iterable[str] = (),
        timeout: float | None = None,
        max_concurrency: int | None = None,
        plain_tools: bool = True,
        repeat_notice: bool = True,
    ) -> None:
        """Make the middleware; the options are those of `mcpcore.Server`, which describes the others.

        Args:
            strict: Whether a call that breaks its contract fails with INTERNAL_ERROR, and whether every message is
                answered with an error while a fallback tool is unknown; for tests and CI. The environment variable
                MCPCORE_STRICT=1 does the same.
            external_tools: Tools of other servers, which contracts may name as fallback tools. They are never renamed.
            plain_tools: Whether the failures of tools without mcpcore's `@tool` are answered and recorded too. False
                leaves these tools to FastMCP, for a server that moves tool by tool.

        Raises:
            ValueError: If an option has a value that it cannot have.
            TypeError: If `limits` is not a `Limits`, `external_tools` holds anything but names, or a field of `bind`
                does not exist.
        """
        check_options(
            "ContractMiddleware",
            limits=limits,
            unknown_tool=unknown_tool,
            expose_internal_errors=expose_internal_errors,
        )
        self._call_limits = checked_limits(
            "ContractMiddleware", "server", timeout=timeout, max_concurrency=max_concurrency
        )
        self._advertise_errors = advertise_errors
        self._describe_failures = describe_failures
        self._unknown_tool = unknown_tool
        self._plain_tools = plain_tools
        self._fields = checked(bind or {}, "ContractMiddleware(bind=…)")
        first = Boundary(
            server="fastmcp",
            expose=exposes_internal_errors(expose_internal_errors),
            limits=limits,
            dialect=dialect,
            audit=audit,
            strictness=Strictness(strict),
        )
        self._trail = first.trail
        self.strictness = first.strictness
        """Whether a broken contract fails the call."""
        self._dialect = first.dialect
        self._make_boundary = functools.partial(
            Boundary,
            expose=first.mapper.expose,
            limits=limits,
            dialect=dialect,
            audit=first.trail,
            strictness=first.strictness,
            tool_failure_meta=tool_failure_meta,
            repeat_notice=repeat_notice,
        )
        self._startups = Startups(self._make_boundary, self._fields)
        self.external_tools: frozenset[str] = external_names("ContractMiddleware", external_tools)
        """Tools of other servers, as the option names them."""

        self._servers = ServedServers(self, self._make_boundary, self._fields)
        redact_crashes()

    @property
    def audit(self) -> AuditTrail:
        """The trail that failures are recorded in."""
        return self._trail

    @property
    def may_defer(self) -> bool:
        """Whether an answer may have to wait for the records of its call."""
        return self._trail.may_defer

    # --- the server itself ----------------------------------------------------------------------------------------

    def watch_lifespan(
        self, lifespan: Callable[[FastMCP[Any]], AbstractAsyncContextManager[Any]] = no_lifespan
    ) -> Callable[[FastMCP[Any]], AbstractAsyncContextManager[Any]]:
        """Return `lifespan` with its failures recorded: `FastMCP(lifespan=contracts.watch_lifespan(lifespan))`.

        An exception before the `yield` is recorded as INITIALIZATION_FAILED, one after it under its own code. Both are
        raised on. A port that the server cannot listen on is recorded too, also without a lifespan.

        Args:
            lifespan: The lifespan of the FastMCP server.
        """
        return self._startups.watched(lifespan)

    def startup_of(self, server: FastMCP[Any]) -> Startup:
        """The object that records why `server` cannot start or stop; for `mcpcore run`."""
        return self._startups.of(server)

    def watch_http(self, app: Starlette) -> Starlette:
        """Return `app`, made by `mcp.http_app()`, with the requests that it refuses counted and recorded.

        Such a request, of a stranger without a token or with a bad session, never reaches the middleware itself. There
        is one record for each kind and minute: `uvicorn.run(contracts.watch_http(mcp.http_app()))`.

        Args:
            app: The application.

        Raises:
            TypeError: If `app` is another application, such as one that `mcp.http_app()` is mounted in.
        """
        server = getattr(getattr(app, "state", None), "fastmcp_server", None)
        if server is None:
            raise TypeError(
                f"watch_http(...) takes the application that mcp.http_app() makes, not a {type(app).__name__}; "
                "if it is mounted in another one, watch it first and mount the result"
            )
        return watched(app, Refusals(self._trail, server.name), app.state.path, fastmcp.settings.message_path)

    # --- the messages of a client ---------------------------------------------------------------------------------

    async def __call__(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Handle a message, so that the middleware after this one sees no more of a failure than clients do."""
        return await super().__call__(context, masked_chain(call_next))

    async def on_request(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Check the server when its first message arrives: its other middleware, and the fallback tools it names.

        Discovery is answered in any case, so that the client reads the error of its next request. A completion is
        answered here too, since FastMCP has no hook for it; its failure is recorded, and then an error of the protocol.

        Raises:
            MCPError: If other middleware undoes the contracts, if the server is strict and a fallback tool is unknown,
                or if the handler of completions fails.
        """
        if message_now() is not None:
            return await self._handle(context, call_next)
        server, wire = server_of(context), fastmcp_request_ctx.get()
        message = Message(self._servers, server, wire)
        token = message_var.set(message)
        try:
            try:
                message.served = self._servers.current(server) if wire is None else await self._started(server)
            except MCPError:
                # Clients take an error of discovery for a sign of an older server, and never show it.
                if context.method != "server/discover":
                    raise
            return await self._handle(context, call_next)
        finally:
            message_var.reset(token)

    def _handle(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Awaitable[Any]:
        if context.method == "completion/complete" and (name := _completed(context.message)) is not None:
            return self._complete(context, call_next, name)
        return call_next(context)

    async def _started(self, server: FastMCP[Any]) -> ServedServer:
        """The state of a server that a message of a client reaches first, with nothing that keeps it from starting.

        Raises:
            MCPError: If other middleware undoes the contracts, or if a fallback tool is unknown and the server is
                strict; recorded once.
        """
        served = self._servers.known(server)
        try:
            self._servers.compose(server, served)
            if served.fallbacks.is_due:
                await served.fallbacks.check(server)
        except ContractError as exc:
            raise served.answers.error(served.refusal(exc, server.name)) from None
        served.started()
        return served

    def startup_failure(self, server: FastMCP[Any]) -> ContractError | None:
        """The error that messages to `server` are refused with, or None; known from the first message on."""
        return self._servers.known(server).failure

    async def on_list_tools(
        self,
        context: MiddlewareContext[mcp_types.ListToolsRequest],
        call_next: CallNext[mcp_types.ListToolsRequest, Sequence[FastMCPTool]],
    ) -> Sequence[FastMCPTool]:
        """The tools with their contracts, and output schemas that admit the error."""
        server = server_of(context)
        served = self._servers.current(server)
        tools = await call_next(context)
        served.note(tools)
        describe = functools.partial(
            described, dialect=self._dialect, advertise=self._advertise_errors, describe=self._describe_failures
        )
        return await self._published(server, "tool", [describe(tool) for tool in tools])

    async def on_list_resources(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """The resources, whose contracts name the fallback tools as the client knows them."""
        return await self._published(server_of(context), "resource", await call_next(context))

    on_list_resource_templates = on_list_resources

    async def on_list_prompts(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """The prompts, likewise."""
        return await self._published(server_of(context), "prompt", await call_next(context))

    async def _published(self, server: FastMCP[Any], noun: str, components: Sequence[Any]) -> Sequence[Any]:
        """Listed components with the names that clients know; the server that the message reaches first has them."""
        message = message_now()
        if message is not None and (message.server is not server or message.served is None):
            return components
        return await self._servers.current(server).fallbacks.published(server, noun, components)

    @recorded_first
    async def on_call_tool(
        self,
        context: MiddlewareContext[mcp_types.CallToolRequestParams],
        call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Call a tool; a failure is recorded, and then answered with a result."""
        server, name = server_of(context), context.message.name
        served = self._servers.current(server)
        noted = served.noted(name) or await served.look_up(server, name)
        call = await self._call(context, served, name, "tool")
        call.effects = noted[0]
        is_client = call.outer is None and call.wire is not None
        with call:
            raised: BaseException = ToolError()
            envelope = None
            try:
                result: ToolResult = await self._answer(context, call_next, call)
                call.began = True
                # A handler that called the tool reads the result as it is. An input request is not an answer yet.
                ends = is_client and isinstance(result, ToolResult) and not isinstance(result, InputRequiredToolResult)
                if not isinstance(result, ToolResult):
                    require_answer(result)
                elif ends:
                    await self._require_success(result, call, server)
                refused = call.report_unraised(call.unraised()) or call.settle()
                if refused is None:
                    if ends and call.answers.boundary.repeats.has_failures:
                        call.succeeded(context.message)
                    return result
                envelope = refused.envelope
            except BaseException as exc:
                if passes_through(exc):
                    raise
                raised = exc
            # Outside the `except` clause, so that the failure is not the context of an exception that may be logged.
            try:
                envelope = envelope or await self._tool_failure(
                    raised, call, context, server, served, is_client=is_client
                )
                if envelope is None:
                    raise raised
                if not is_client:
                    raise masked(raised, envelope.message, envelope)
                return await self._failed(envelope, call, context)
            finally:
                del raised  # the traceback holds this frame, which must not hold the failure

    @recorded_first
    async def on_read_resource(
        self,
        context: MiddlewareContext[mcp_types.ReadResourceRequestParams],
        call_next: CallNext[mcp_types.ReadResourceRequestParams, ResourceResult],
    ) -> ResourceResult:
        """Read a resource; a failure is recorded, and then an error of the protocol.

        Raises:
            MCPError: If it cannot be read.
        """
        uri = str(context.message.uri)
        return cast("ResourceResult", await self._answered_by_protocol(context, call_next, uri, "resource"))

    @recorded_first
    async def on_get_prompt(
        self,
        context: MiddlewareContext[mcp_types.GetPromptRequestParams],
        call_next: CallNext[mcp_types.GetPromptRequestParams, PromptResult],
    ) -> PromptResult:
        """Get a prompt; a failure is recorded, and then an error of the protocol.

        Raises:
            MCPError: If it cannot be got.
        """
        name = context.message.name
        return cast("PromptResult", await self._answered_by_protocol(context, call_next, name, "prompt"))

    @recorded_first
    async def _complete(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any], name: str) -> Any:
        return await self._answered_by_protocol(context, call_next, name, "completion")

    # --- failures -------------------------------------------------------------------------------------------------

    async def _require_success(self, result: ToolResult, call: FastMCPCall, server: FastMCP[Any]) -> None:
        """Check that the answer to a client is neither a failure nor what JSON cannot hold.

        Raises:
            ReturnedError: If it is a failure, or there are exceptions within it.
            BrokenResultError: If it cannot be written.
        """
        made = protocol_result(result)
        # Strict at first, since the tool is looked up only for a suspicious result.
        sent = failure_in(made, None, name=call.name, strict=True)
        if sent is not None and not made.is_error:
            tool = await find_tool(server, call.called)
            is_listed = tool is not None and CONTRACT_META_KEY in (tool.meta or ())
            # The success of a plain tool may have any content, unless it hands on the answer of another server.
            if is_listed or call.contract is not NO_CONTRACT:
                schema = None if tool is None or tool.output_schema is None else without_error(tool.output_schema)
                sent = failure_in(made, schema, name=call.name, strict=call.is_strict)
            elif made is not protocol_result(result) or not is_a(sent, UpstreamError):
                sent = None
        if sent is not None:
            raise ReturnedError(sent)
        if call.contract is NO_CONTRACT:
            require_writable_result(made)

    async def _tool_failure(
        self,
        raised: BaseException,
        call: FastMCPCall,
        context: MiddlewareContext[Any],
        server: FastMCP[Any],
        served: ServedServer,
        *,
        is_client: bool,
    ) -> Envelope | None:
        """The envelope of `raised`, with which a tool ended; None if the exception itself has to be raised.

        Raises:
            MCPError: If it is one that the protocol needs, or the answer to a client that names an unknown tool.
        """
        name = context.message.name
        exc = unmasked(raised)
        failure = returned_failure(await read_tool_failure(exc, call, server, context.message, served))
        inner = None if type(exc) in PLAIN_ERRORS else inner_failure(raised)
        lost = call.unraised(failure)
        if inner is not None and await is_delegated(server, name):
            refused = call.report_unraised(lost)
            # The client knows the tool by the name that this server gives it.
            return replace(inner, tool=call.name) if refused is None else refused.envelope
        is_unknown = type(failure) is FrameworkError and failure.reason == "unknown_tool"
        if call.contract is NO_CONTRACT and not self._plain_tools and not is_unknown:
            return None
        if (protocol := protocols_own(failure)) is not None:
            refused = call.report_unraised(lost)
            if refused is None:
                raise protocol
            return refused.envelope
        if call.renaming is not None:
            await call.renaming.prepare(failure, call.contract)
        if is_unknown:
            call.name = shown_name(name)
        envelope = call.ended(failure, lost, inner=inner)
        if is_unknown and self._unknown_tool == "protocol" and is_client:
            raise call.answers.error(envelope)
        return envelope

    async def _failed(self, envelope: Envelope, call: AnsweredCall, context: MiddlewareContext[Any]) -> ToolResult:
        """The answer to a client; without structured content where a plain tool's own schema does not admit it."""
        result = FailedResult(**call.answers.result_fields(call.counted(envelope, context.message)))
        if call.contract is NO_CONTRACT:
            tool = await find_tool(server_of(context), context.message.name)
            schema = None if tool is None or CONTRACT_META_KEY in (tool.meta or ()) else tool.output_schema
            if schema is not None and not quietly(
                lambda: fits_schema(result.structured_content, schema), otherwise=False
            ):
                # A client validates a result that is not marked as an error, and some dialects mark none.
                result.structured_content, result.is_error = None, True
        return result

    async def _answered_by_protocol(
        self,
        context: MiddlewareContext[Any],
        call_next: CallNext[Any, Any],
        name: str,
        surface: str,
    ) -> Any:
        """The answer of a resource or a prompt; a failure is recorded and raised as an error of the protocol."""
        call = await self._call(context, self._servers.current(server_of(context)), name, surface)
        is_client = call.outer is None and call.wire is not None
        with call:
            try:
                result = await self._answer(context, call_next, call)
                if is_client and not hasattr(result, "input_required"):
                    if surface == "resource":
                        require_writable(result.to_mcp_result(name))
                    elif surface == "prompt":
                        require_writable(result.to_mcp_prompt_result())
            except BaseException as exc:
                if passes_through(exc) or is_unserved(returned_failure(raised_within(exc)), context.method):
                    raise
                raised = exc
            else:
                refused = call.report_unraised(call.unraised()) or call.settle()
                if refused is None:
                    return result
                raise call.error_of(refused)
            # Outside the `except` clause, so that the failure is not the context of an exception that may be logged.
            try:
                raise await self._protocol_failure(raised, call, context, is_client=is_client)
            finally:
                del raised  # the traceback holds this frame, which must not hold the failure

    async def _protocol_failure(
        self, raised: BaseException, call: FastMCPCall, context: MiddlewareContext[Any], *, is_client: bool
    ) -> BaseException:
        """The error by which a client, or the handler that asked, knows `raised`; recorded."""
        name = str(getattr(context.message, "uri", None) or getattr(context.message, "name", ""))
        failure = returned_failure(raised_within(raised))
        inner = inner_failure(raised)
        if call.contract is NO_CONTRACT:
            failure = fastmcps_failure(failure, name, call.surface) or failure
            if type(failure) is FrameworkError and failure.reason == INVALID_ARGUMENTS:
                failure = await unfit_prompt(server_of(context), context.message, call) or failure
        if call.renaming is not None:
            await call.renaming.prepare(failure, call.contract)
        lost = call.unraised(returned_failure(failure))
        if is_client:
            return call.error(failure, lost, keep_code=type(failure) is not RateLimitError, inner=inner)
        if (protocol := protocols_own(failure)) is not None and not lost:
            return protocol
        envelope = call.ended(failure, lost, inner=inner)
        return masked(raised, envelope.message, envelope)

    # --- the request ----------------------------------------------------------------------------------------------

    def _answer(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any], call: FastMCPCall
    ) -> Awaitable[Any]:
        """The answer of FastMCP, within the limits of the server."""
        if self._call_limits is None:
            return call_next(context)
        return self._call_limits.run(functools.partial(call_next, context), call)

    async def _call(self, context: MiddlewareContext[Any], served: ServedServer, name: str, surface: str) -> MaskedCall:
        """The call that answers a request for `name`."""
        outer = answering_now()
        wire = fastmcp_request_ctx.get()
        call = MaskedCall(served.answers, context.fastmcp_context, name=name, surface=surface, wire=wire)
        call.context = context
        call.claimed = False
        call.covers_all = self._plain_tools or surface != "tool"
        # The outermost middleware decides, also if a mounted server has its own middleware.
        call.strictness = self.strictness if outer is None else outer.strictness
        if surface == "prompt":
            call.arguments = context.message.arguments or {}
        call.outer = outer
        if outer is not None or served.fallbacks.renames:
            call.renaming = await served.fallbacks.renaming(server_of(context), surface, name, outer)
        return call

    # --- records that had to wait for the trail; for `recorded_first` ---------------------------------------------

    def unrecorded(self, context: MiddlewareContext[Any], *_: object) -> tuple[Exception, ToolResult | None]:
        """The error for a failure that could not be recorded, where the trail's policy is to refuse.

        A client that called a tool gets a result; a handler that called one gets the error that it expects of tools.
        """
        message = context.message
        name = getattr(message, "name", None) or getattr(message, "uri", None) or _completed(message)
        name = shown_name(str(name))
        served, wire = self._servers.current(server_of(context)), fastmcp_request_ctx.get()
        call = FastMCPCall(served.answers, context.fastmcp_context, name=name, wire=wire)
        call.effects = (served.noted(name) or (None, None))[0]
        envelope = call.unrecorded().envelope
        if not isinstance(message, mcp_types.CallToolRequestParams):
            return call.answers.error(envelope), None
        if wire is None or answering_now() is not None:  # code on the server asked, or a server above
            return masked(ToolError(), envelope.message, envelope), None
        return call.answers.error(envelope), FailedResult(**call.answers.result_fields(envelope))

    def covered(self, server: FastMCP[Any]) -> ResponseWriter:
        """What answers a failure in a background task, whose request is answered already."""
        return self._servers.known(server).answers


def _completed(message: Any) -> str | None:
    """What a request for completions asks to complete; None for another message, which the SDK refuses."""
    try:
        params = mcp_types.CompleteRequestParams.model_validate(message, by_name=False)
    except ValidationError:
        return None
    ref = params.ref
    return f"{ref.name if isinstance(ref, mcp_types.PromptReference) else ref.uri}.{params.argument.name}"
