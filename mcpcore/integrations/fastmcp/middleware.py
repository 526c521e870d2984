"""`ContractMiddleware`: every tool, resource and prompt of a FastMCP server fails in the same envelope."""

from __future__ import annotations

import functools
import logging
import weakref
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Final, cast

import fastmcp
import mcp_types
from fastmcp.exceptions import DisabledError, NotFoundError
from fastmcp.server.middleware.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.middleware.rate_limiting import RateLimitError
from fastmcp.tools.base import InputRequiredToolResult, ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult
from pydantic import BaseModel, ValidationError

from mcpcore.arguments import INVALID_ARGUMENTS
from mcpcore.audit import AuditError
from mcpcore.bound_fields import checked
from mcpcore.boundary import Boundary
from mcpcore.call_limits import checked_limits
from mcpcore.contract import CONTRACT_META_KEY, NO_CONTRACT, ContractError
from mcpcore.envelope import CANONICAL
from mcpcore.errors import CodedError, FrameworkError
from mcpcore.exceptions import is_a, passes_through, returned_failure
from mcpcore.fallbacks import external_names
from mcpcore.integrations.fastmcp import logs
from mcpcore.integrations.fastmcp.bad_arguments import invalid_arguments, unfit, unfit_prompt
from mcpcore.integrations.fastmcp.calling import answered, answering_now, cover, sdk_context
from mcpcore.integrations.fastmcp.errors import (
    fastmcps_failure,
    is_before_handler,
    is_refusal_of_a_transform,
    is_unserved,
    raised_within,
)
from mcpcore.integrations.fastmcp.fallbacks import Fallbacks, outermost, prepare_renaming, rename, renamed_by
from mcpcore.integrations.fastmcp.finding import (
    contract_tool_of,
    find_contract_tool,
    mounted,
    require_compatible,
)
from mcpcore.integrations.fastmcp.hints import ToolHints
from mcpcore.integrations.fastmcp.registering import WRAPPED_RESULT, output_schema_of
from mcpcore.integrations.fastmcp.returned import watch
from mcpcore.integrations.fastmcp.scopes import require_visible
from mcpcore.integrations.fastmcp.starting import Startups
from mcpcore.jsonable import shown_name
from mcpcore.limits import DEFAULT_LIMITS, Limits
from mcpcore.recording import recorded_first
from mcpcore.request import Request
from mcpcore.sdk.answers import AnsweredCall, Answers
from mcpcore.sdk.definition import admitting_error, without_error
from mcpcore.sdk.refusals import Refusals, watched
from mcpcore.sdk.results import failure_in, require_writable, sendable
from mcpcore.sdk.serving import (
    UnknownTool,
    check_options,
    exposes_internal_errors,
    protocols_own,
    unknown_tool_error,
    with_failures,
)
from mcpcore.sdk.startup import no_lifespan
from mcpcore.strictness import Strictness

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from fastmcp import FastMCP
    from fastmcp.prompts.base import PromptResult
    from fastmcp.resources.base import ResourceResult
    from fastmcp.tools.base import Tool as FastMCPTool
    from starlette.applications import Starlette

    from mcpcore.audit import AuditTrail
    from mcpcore.outcome import Outcome
    from mcpcore.sdk.startup import Startup

_LOGGER: Final = logging.getLogger("mcpcore")


class FailedResult(ToolResult):
    """A failure that a `ContractMiddleware` has recorded; the middleware of a server above passes it on."""


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
        expose_internal_errors: bool = False,
        strict: bool = False,
        unknown_tool: UnknownTool = "protocol",
        dialect: str = CANONICAL,
        limits: Limits = DEFAULT_LIMITS,
        bind: Mapping[str, str | None] | None = None,
        external_tools: Iterable[str] = (),
        timeout: float | None = None,
        max_concurrency: int | None = None,
    ) -> None:
        """Make the middleware; the options are those of `mcpcore.Server`, which describes the others.

        Args:
            strict: Whether a call that breaks its contract fails with INTERNAL_ERROR, and whether every message is
                answered with an error while a fallback tool is unknown; for tests and CI. The environment variable
                MCPCORE_STRICT=1 does the same.
            external_tools: Tools of other servers, which contracts may name as fallback tools. They are never renamed.

        Raises:
            ValueError: If an option has a value that it cannot have.
            TypeError: If `limits` is not a `Limits`, `external_tools` holds anything but names, or a field of `bind`
                does not exist.
        """
        check_options("ContractMiddleware", unknown_tool=unknown_tool, limits=limits)
        self._call_limits = checked_limits(
            "ContractMiddleware", "server", timeout=timeout, max_concurrency=max_concurrency
        )
        self._advertise_errors = advertise_errors
        self._describe_failures = describe_failures
        self._unknown_tool = unknown_tool
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
        self._limits = limits
        self._make_boundary = functools.partial(
            Boundary,
            expose=first.mapper.expose,
            limits=limits,
            dialect=dialect,
            audit=first.trail,
            strictness=first.strictness,
        )
        self._startups = Startups(self._make_boundary, self._fields)
        self._hints = ToolHints()
        self._boundaries: weakref.WeakKeyDictionary[FastMCP, tuple[Boundary, object]] = weakref.WeakKeyDictionary()
        self.external_tools: frozenset[str] = external_names("ContractMiddleware", external_tools)
        """Tools of other servers, as the option names them."""
        self._fallbacks = Fallbacks(self.external_tools, first.strictness)
        logs.redact_crashes()

    @property
    def audit(self) -> AuditTrail:
        """The trail that failures are recorded in."""
        return self._trail

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

    async def on_request(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Check the server when its first message arrives: its other middleware, and the fallback tools it names.

        Discovery is answered in any case, so that the client reads the error of its next request. A completion is
        answered here too, since FastMCP has no hook for it; its failure is recorded, and then an error of the protocol.

        Raises:
            MCPError: If other middleware undoes the contracts, if the server is strict and a fallback tool is unknown,
                or if the handler of completions fails.
        """
        server = _server(context)
        with outermost(server) as is_outermost:
            if is_outermost and _wire(context) is not None:
                # Clients take an error of discovery for a sign of an older server, and never show it.
                with suppress(MCPError) if context.method == "server/discover" else nullcontext():
                    check = functools.partial(self._boundary, context)
                    await self._fallbacks.require_startable(server, self._boundary_of(server), check, self._fields)
            if context.method == "completion/complete" and (name := _completed(context.message)) is not None:
                return await self._complete(context, call_next, name)
            return await call_next(context)

    def startup_failure(self, server: FastMCP[Any]) -> ContractError | None:
        """The error that messages to `server` are refused with, or None; known from the first message on."""
        return self._fallbacks.failure_of(server)

    async def on_list_tools(
        self,
        context: MiddlewareContext[mcp_types.ListToolsRequest],
        call_next: CallNext[mcp_types.ListToolsRequest, Sequence[FastMCPTool]],
    ) -> Sequence[FastMCPTool]:
        """The tools with their contracts, and output schemas that admit the error."""
        self._boundary(context)
        tools = await call_next(context)
        self._hints.note(_server(context), tools)
        listed = [self._described(tool) for tool in tools]
        return await self._fallbacks.published(_server(context), "tool", listed)

    async def on_list_resources(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """The resources, whose contracts name the fallback tools as the client knows them."""
        return await self._fallbacks.published(_server(context), "resource", await call_next(context))

    on_list_resource_templates = on_list_resources

    async def on_list_prompts(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """The prompts, likewise."""
        return await self._fallbacks.published(_server(context), "prompt", await call_next(context))

    def _described(self, tool: FastMCPTool) -> FastMCPTool:
        changes: dict[str, Any] = {}
        ours, meta = contract_tool_of(tool), tool.meta or {}
        if ours is not None and len(ours.contract) and CONTRACT_META_KEY not in meta:
            changes["meta"] = meta = {**meta, CONTRACT_META_KEY: ours.contract.to_json()}
        published = meta.get(CONTRACT_META_KEY)
        if self._describe_failures and isinstance(published, list) and "Fails with:" not in (tool.description or ""):
            changes["description"] = with_failures(tool.description or "", published)
        schema = tool.output_schema
        if schema is None and ours is not None and CONTRACT_META_KEY in changes.get("meta", {}):
            schema = output_schema_of(ours)
        if schema is not None:
            schema = self._admitting(schema)
            if schema != tool.output_schema:
                changes["output_schema"] = schema
        return tool.model_copy(update=changes) if changes else tool

    def _admitting(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The output schema as clients see it; a mounted server may already have changed it."""
        alone = without_error(schema)
        if not self._advertise_errors:
            return alone
        if self._dialect.name == CANONICAL:
            return schema if alone is not schema else admitting_error(schema)
        failure = dict(self._dialect.schema)
        if schema.get("anyOf", [None])[-1] == failure:
            return schema
        admitting = admitting_error(alone, failure)
        return {**admitting, WRAPPED_RESULT: True} if alone.get(WRAPPED_RESULT) else admitting

    @recorded_first
    async def on_call_tool(
        self,
        context: MiddlewareContext[mcp_types.CallToolRequestParams],
        call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Call a tool; a failure is recorded, and then answered with a result."""
        name = context.message.name
        on_the_wire = answering_now() is None and _wire(context) is not None
        effects = await self._hints.of(_server(context), name)
        renaming = await self._fallbacks.renaming(_server(context), "tool", name)
        with renamed_by(renaming), self._answering(context, name=name, surface="tool") as call:
            request = call.request
            request.effects = effects
            made = answer = None
            try:
                result = _required(await self._limited(call_next, context, request))
                request.began = True
                if isinstance(result, ToolResult) and not isinstance(result, FailedResult | InputRequiredToolResult):
                    made = _protocol_result(result)
                    answer = await self._sendable(made, request, context)
            except BaseException as exc:
                if passes_through(exc):
                    raise
                failure = await self._read_tool_failure(exc, request, context)
                lost = request.lost(returned_failure(failure))
                if (protocol := protocols_own(failure)) is not None:
                    refused = call.lost(lost)
                    if refused is None:
                        raise protocol from None
                    return self._failed(refused, call)
                await prepare_renaming(failure, request)
                if type(failure) is FrameworkError and failure.reason == "unknown_tool":
                    call.name = shown_name(name)
                    if on_the_wire and self._unknown_tool == "protocol":
                        raise call.answers.error(call.failure(failure, lost).envelope) from None
                return self._failed(call.failure(failure, lost), call)
            lost = request.lost()
            if answer is not None:
                content = answer.structured_content
                schema = None
                if not answer.is_error and isinstance(content, dict) and "error" in content:
                    schema = await self._result_schema(context)
                sent = failure_in(answer, schema, name=call.name, strict=call.is_strict)
                if sent is not None:
                    await prepare_renaming(sent, request)
                    return self._failed(call.failure(sent, lost), call)
            refused = call.lost(lost)
            if refused is not None:
                return self._failed(refused, call)
            # Without an answer here, a mounted server has answered, or the result is not an answer yet.
            return result if answer is made else ToolResult.from_mcp_result(cast("CallToolResult", answer))

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

    def _failed(self, outcome: Outcome, call: AnsweredCall) -> ToolResult:
        return FailedResult.from_mcp_result(call.answers.result(outcome.envelope))

    async def _read_tool_failure(
        self, exc: BaseException, request: Request, context: MiddlewareContext[mcp_types.CallToolRequestParams]
    ) -> BaseException:
        """The failure behind `exc`, which FastMCP raised; `request` gets the contract of the tool, if it has one."""
        server, message = _server(context), context.message
        if is_a(exc, (NotFoundError, DisabledError)):
            known = await _tool_names(server)
            if message.name in known:
                return exc
            try:
                await require_visible(server, message.name)
            except CodedError as hidden:
                return hidden
            return unknown_tool_error(message.name, known)
        if request.contract is not NO_CONTRACT:
            request.effects = await self._hints.of(server, message.name, request.contract)
            return raised_within(exc)
        try:
            request.effects, is_transformed = await self._hints.looked_up(server, message.name)
            tool = await find_contract_tool(server, message.name)
            if tool is not None:
                request.contract = tool.contract
            # A tool of FastMCP's own does not say when it begins, so it is taken to have begun.
            is_silent = (tool is None or is_transformed) and not is_before_handler(exc)
            request.began = request.began or is_silent
            cause = unfit(exc)
            if cause is not None or is_refusal_of_a_transform(exc):
                return await invalid_arguments(cause, tool, server, message) or raised_within(exc)
        except Exception:  # noqa: BLE001 - a lookup that fails must not hide the failure
            _LOGGER.debug("the tool %r could not be looked up", message.name)
        return raised_within(exc)

    async def _answered_by_protocol(
        self,
        context: MiddlewareContext[Any],
        call_next: CallNext[Any, Any],
        name: str,
        surface: str,
    ) -> Any:
        """The answer of a resource or a prompt; a failure is recorded and raised as an error of the protocol."""
        answers = self._answers(context)
        if answering_now() is not None:
            # A handler or a server above reads it, and its failure is the failure of that call.
            return await call_next(context)
        renaming = await self._fallbacks.renaming(_server(context), surface, name)
        with renamed_by(renaming), self._answering(context, name=name, surface=surface, answers=answers) as call:
            request = call.request
            try:
                result = await self._limited(call_next, context, request)
                is_whole = not hasattr(result, "input_required")
                if is_whole and surface == "resource":
                    require_writable(result.to_mcp_result(name))
                elif is_whole and surface == "prompt":
                    require_writable(result.to_mcp_prompt_result())
            except BaseException as exc:
                if passes_through(exc):
                    raise
                failure = returned_failure(raised_within(exc))
                if request.contract is NO_CONTRACT:
                    failure = fastmcps_failure(failure, name, surface) or failure
                    if type(failure) is FrameworkError and failure.reason == INVALID_ARGUMENTS:
                        failure = await unfit_prompt(_server(context), context.message, request) or failure
                if is_unserved(failure, context.method):
                    raise
                await prepare_renaming(failure, request)
                lost = request.lost(returned_failure(failure))
                raise call.error(failure, lost, keep_code=type(failure) is not RateLimitError) from None
            refused = call.lost(request.lost())
            if refused is not None:
                raise call.error_of(refused)
            return result

    # --- the request ----------------------------------------------------------------------------------------------

    async def _limited(self, call_next: CallNext[Any, Any], context: MiddlewareContext[Any], request: Request) -> Any:
        """The answer of FastMCP, within the limits of the server."""
        if self._call_limits is None:
            return await call_next(context)
        return await self._call_limits.run(functools.partial(call_next, context), request)

    @contextmanager
    def _answering(
        self, context: MiddlewareContext[Any], *, name: str, surface: str, answers: Answers | None = None
    ) -> Iterator[AnsweredCall]:
        """The request for `name` that this middleware answers."""
        request = Request(lambda: sdk_context(request.fastmcp), fastmcp=context.fastmcp_context)
        request.claimed = False
        answers = answers or self._answers(context)
        shown = name if surface == "tool" else shown_name(name)
        call = AnsweredCall(answers, request, name=shown, surface=surface, wire=_wire(context))
        outer = answering_now()
        # The outermost middleware decides, also if a mounted server has its own middleware.
        request.strictness = answers.boundary.strictness if outer is None else outer.request.strictness
        arguments = context.message.arguments if surface == "prompt" else None
        with answered(request, name, surface, arguments):
            yield call

    # --- records that had to wait for the trail; for `recorded_first` ---------------------------------------------

    def unrecorded(self, context: MiddlewareContext[Any], *_: object) -> ToolResult:
        """The result of a tool whose failure could not be recorded, where the trail's policy is to refuse.

        Raises:
            MCPError: If the call was not that of a tool.
        """
        if not isinstance(context.message, mcp_types.CallToolRequestParams):
            raise self.unrecorded_error(context)
        outcome, call = self._unrecorded(context)
        return self._failed(outcome, call)

    def unrecorded_error(self, context: MiddlewareContext[Any], *_: object) -> MCPError:
        """The same as an error of the protocol."""
        outcome, call = self._unrecorded(context)
        return call.answers.error(outcome.envelope)

    def _unrecorded(self, context: MiddlewareContext[Any]) -> tuple[Outcome, AnsweredCall]:
        message = context.message
        name = getattr(message, "name", None) or getattr(message, "uri", None) or _completed(message)
        name = shown_name(str(name))
        request = Request(lambda: sdk_context(context.fastmcp_context))
        call = AnsweredCall(self._answers(context), request, name=name, wire=_wire(context))
        effects = self._hints.noted(_server(context), name)
        return call.unrecorded(AuditError(), effects=effects), call

    def covered(self, server: FastMCP[Any]) -> Answers:
        """What answers a failure in a background task, whose request is answered already."""
        boundary, _ = self._boundaries.get(server, (None, None))
        return Answers(boundary or self._make_boundary(server=server.name), self._fields)

    def _answers(self, context: MiddlewareContext[Any]) -> Answers:
        return Answers(self._boundary(context), self._fields)

    def _boundary_of(self, server: FastMCP[Any]) -> Boundary:
        """The boundary of the server, which may not have been checked."""
        if server not in self._boundaries:
            self._boundaries[server] = self._make_boundary(server=server.name, rename=rename), None
        return self._boundaries[server][0]

    def _boundary(self, context: MiddlewareContext[Any]) -> Boundary:
        """The boundary of the server; the server is checked when its middleware or its mounts have changed."""
        server = _server(context)
        boundary = self._boundary_of(server)
        below = list(mounted(server))
        now = [(id(part), *map(id, getattr(part, "middleware", ()))) for part in (server, *below)]
        if self._boundaries[server][1] != now:
            require_compatible(server, below, self)
            for part in (server, *below):
                watch(part)
                cover(part, self)
            self._boundaries[server] = boundary, now
        return boundary

    async def _sendable(
        self, made: CallToolResult, request: Request, context: MiddlewareContext[Any]
    ) -> CallToolResult:
        """The result without numbers that JSON lacks; the result of a contract tool has none."""
        if made.is_error or request.contract is not NO_CONTRACT:
            return made
        content = made.structured_content
        answer = sendable(made, made_of=content)
        if answer.structured_content is not content:
            answer = sendable(made, await self._result_schema(context), made_of=content)
        return answer

    async def _result_schema(self, context: MiddlewareContext[Any]) -> dict[str, Any] | None:
        tool = await _server(context).get_tool(context.message.name)
        return None if tool is None or tool.output_schema is None else without_error(tool.output_schema)


def _server(context: MiddlewareContext[Any]) -> FastMCP[Any]:
    assert context.fastmcp_context is not None, "FastMCP runs its middleware within a context"
    return context.fastmcp_context.fastmcp


def _wire(context: MiddlewareContext[Any]) -> Any:
    """The request of a client; None for a call by code on the server."""
    return None if context.fastmcp_context is None else context.fastmcp_context.request_context


def _completed(message: Any) -> str | None:
    """What a request for completions asks to complete; None for another message, which the SDK refuses."""
    try:
        params = mcp_types.CompleteRequestParams.model_validate(message, by_name=False)
    except ValidationError:
        return None
    ref = params.ref
    return f"{ref.name if isinstance(ref, mcp_types.PromptReference) else ref.uri}.{params.argument.name}"


def _required(result: Any) -> Any:
    """`result`, a `ToolResult` or the model that an extension answers with.

    Raises:
        TypeError: If other middleware returned anything else, which FastMCP cannot send.
    """
    if not isinstance(result, BaseModel):
        raise TypeError(f"middleware returned {type(result).__name__}, not a ToolResult")
    return result


def _protocol_result(result: ToolResult) -> CallToolResult:
    raw = result.to_mcp_result()
    if isinstance(raw, CallToolResult):
        return raw
    content, structured = raw if isinstance(raw, tuple) else (raw, None)
    return CallToolResult(content=content, structured_content=structured)


async def _tool_names(server: FastMCP[Any]) -> list[str]:
    """The names of the tools that the caller may list."""
    try:
        return [tool.name for tool in await server.list_tools()]
    except Exception:  # noqa: BLE001 - a list that fails must not hide the failure
        return []
