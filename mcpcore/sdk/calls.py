"""The requests of clients that a `Server` answers: calls of tools, resources, prompts and completions."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any, Final, cast

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context as SDKContext, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool as SDKTool, ToolManager
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    CompleteResult,
    Completion,
    InputRequiredResult,
    PromptReference,
)
from pydantic import ValidationError

from mcpcore.boundary.request import CallLimits, Request, holding_places
from mcpcore.boundary.script import Boundary, recorded_first
from mcpcore.contract.effects import default_effects
from mcpcore.contract.errors import PLAIN_ERRORS
from mcpcore.sdk.answers import AnsweredCall, ResponseWriter
from mcpcore.sdk.errors import UnknownTool, as_raised, invalid_arguments_error, protocols_own, unknown_tool_error
from mcpcore.sdk.handlers import in_thread
from mcpcore.sdk.results import failure_in, require_writable, sendable, written_result
from mcpcore.sdk.returned import ResultForm
from mcpcore.sdk.tools import ContractTool
from mcpcore.values.jsonable import shown_name
from mcpcore.values.request_var import current
from mcpcore.values.unwrapping import passes_through, returned_failure

answers_nested: Final[ContextVar[tuple[object, Callable[[str, dict[str, Any]], Awaitable[Any]] | None]]] = ContextVar(
    "answers_nested", default=(None, None)
)
"""The `Calls` of a server whose `call_tool` is replaced, and what answers when that method calls the replaced one."""


class Calls:
    """Answers the requests of the clients of one server."""

    def __init__(
        self,
        server: MCPServer[Any],
        tools: ToolManager,
        boundary: Boundary,
        *,
        fields: Mapping[str, str | None],
        unknown_tool: UnknownTool,
        limits: CallLimits | None,
    ) -> None:
        """Answer for `server`, which has registered `tools`."""
        self.may_defer = boundary.trail.may_defer
        self._limits = limits
        self._server = server
        self._tools = tools
        self._answers = ResponseWriter(boundary, fields)
        self._repeats = boundary.repeats
        self._unknown_tool: UnknownTool = unknown_tool

    def _make_context(self, ctx: ServerRequestContext[Any], params: Any) -> SDKContext[Any, Any]:
        return SDKContext(
            request_context=cast("Any", ctx),
            mcp_server=self._server,
            input_params=params,
            subscriptions=self._server._subscriptions,  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        )

    def _answering(
        self,
        ctx: ServerRequestContext[Any],
        params: Any,
        *,
        name: str,
        surface: str,
        tool: SDKTool | None = None,
    ) -> AnsweredCall:
        """The call that answers a new request."""
        make = functools.partial(self._make_context, ctx, params)
        call = AnsweredCall(self._answers, make, name=name, surface=surface, wire=ctx)
        if isinstance(tool, ContractTool):
            call.contract, call.effects = tool.contract, tool.default_effects
        elif tool is not None:
            call.effects = default_effects(tool.annotations)
        else:
            call.claimed = False
        return call

    # --- tools ----------------------------------------------------------------------------------------------------

    @recorded_first
    async def call_tool(
        self, ctx: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> dict[str, Any] | CallToolResult | InputRequiredResult:
        """Call a tool; a failure is recorded, and then answered with a result."""
        tool = self._tools.get_tool(params.name)
        if tool is None:
            return self._unknown(ctx, params)
        call = self._answering(ctx, params, name=params.name, surface="tool", tool=tool)
        contract_tool = tool if isinstance(tool, ContractTool) else None
        token = current.set(call)
        try:
            try:
                start = functools.partial(_run_plain, tool) if contract_tool is None else contract_tool.start
                if self._limits is None:
                    result = await start(params.arguments or {}, call)
                else:
                    result = await self._limits.run(functools.partial(start, params.arguments or {}, call), call)
                if contract_tool is not None:
                    result = written_result(contract_tool.results, result)
            except BaseException as exc:
                # Nearly all failures are of this class, and a call of a function costs more than this check.
                if not issubclass(type(exc), Exception) and passes_through(exc):
                    raise
                lost = call.unraised(returned_failure(exc))
                protocol = None if type(exc) in PLAIN_ERRORS else protocols_own(exc, every_code=contract_tool is None)
                if protocol is None:
                    return self._answers.written_result(call.counted(call.failure(exc, lost).envelope, params))
                refused = call.report_unraised(lost)
                if refused is None:
                    raise call.error(protocol) from None
                return self._answers.written_result(call.counted(refused.envelope, params))
        finally:
            current.reset(token)
        lost = call.unraised()
        failure = failure_in(result, tool.output_schema, name=params.name, strict=call.is_strict)
        outcome = None
        if failure is not None:
            outcome = call.failure(failure, lost)
        elif lost:
            outcome = call.report_unraised(lost)
        if outcome is not None:
            return self._answers.written_result(call.counted(outcome.envelope, params))
        if self._repeats.has_failures and type(result) is not InputRequiredResult:
            call.succeeded(params)
        return result

    @recorded_first
    async def call_by(
        self, ctx: ServerRequestContext[Any], params: CallToolRequestParams, method: Callable[..., Awaitable[Any]]
    ) -> Any:
        """Call a tool with `method`, which replaces `call_tool`; its own failures are answered too."""
        tool = self._tools.get_tool(params.name)
        name = shown_name(params.name) if tool is None else params.name
        call = self._answering(ctx, params, name=name, surface="tool", tool=tool)
        recorded: list[BaseException] = []

        async def answer(name: str, arguments: dict[str, Any]) -> CallToolResult | InputRequiredResult:
            token = answers_nested.set((None, None))
            try:
                result = await self.call_tool(ctx, params.model_copy(update={"name": name, "arguments": arguments}))
            except MCPError as exc:
                recorded.append(exc)
                raise
            finally:
                answers_nested.reset(token)
            return CallToolResult.model_validate(result) if isinstance(result, dict) else result

        token, nested = current.set(call), answers_nested.set((self, answer))
        try:
            return await method(params.name, params.arguments or {}, self._make_context(ctx, params))
        except BaseException as exc:
            if passes_through(exc) or any(exc is error for error in recorded):
                raise
            protocol = protocols_own(exc, every_code=True)
            if protocol is not None:
                raise call.error(protocol) from None
            lost = call.unraised(returned_failure(exc))
            return self._answers.written_result(call.counted(call.failure(exc, lost).envelope, params))
        finally:
            answers_nested.reset(nested)
            current.reset(token)

    def _unknown(self, ctx: ServerRequestContext[Any], params: CallToolRequestParams) -> dict[str, Any]:
        failure = unknown_tool_error(params.name, (tool.name for tool in self._tools.list_tools()))
        call = self._answering(ctx, None, name=shown_name(params.name), surface="tool")
        outcome = call.failure(failure)
        if self._unknown_tool == "result":
            return self._answers.written_result(call.counted(outcome.envelope, params))
        raise self._answers.error(outcome.envelope)

    # --- resources, prompts and completions -----------------------------------------------------------------------

    @recorded_first
    async def read_resource(
        self, ctx: ServerRequestContext[Any], params: Any, read: Callable[[], Awaitable[Any]]
    ) -> Any:
        """Read a resource with `read`, the SDK's own method."""
        uri = str(params.uri)
        call = self._answering(ctx, params, name=shown_name(uri), surface="resource")
        call.reads = True
        return await self._answer(read, call, uri)

    @recorded_first
    async def get_prompt(self, ctx: ServerRequestContext[Any], params: Any, get: Callable[[], Awaitable[Any]]) -> Any:
        """Get a prompt with `get`, the SDK's own method."""
        call = self._answering(ctx, params, name=shown_name(params.name), surface="prompt")
        return await self._answer(get, call, params.name)

    @recorded_first
    async def complete(
        self,
        ctx: ServerRequestContext[Any],
        params: Any,
        complete: Callable[..., Awaitable[Completion | None]],
    ) -> CompleteResult:
        """Complete an argument with `complete`, the handler of the server."""
        ref = params.ref
        name = f"{ref.name if isinstance(ref, PromptReference) else ref.uri}.{params.argument.name}"

        async def completed() -> CompleteResult:
            completion = await complete(params.ref, params.argument, params.context)
            return CompleteResult(completion=Completion(values=[]) if completion is None else completion)

        call = self._answering(ctx, None, name=shown_name(name), surface="completion")
        return cast("CompleteResult", await self._answer(completed, call, name))

    async def _answer(self, answer: Callable[[], Awaitable[Any]], call: AnsweredCall, name: str) -> Any:
        """The answer of a resource or a prompt; its failure is recorded and raised as an error of the protocol."""
        token = current.set(call)
        try:
            result = await (answer() if self._limits is None else self._limits.run(answer, call))
            require_writable(result)
        except BaseException as exc:
            if passes_through(exc):
                raise
            failure = as_raised(exc, name)
            # The error has no cause, since that would keep the frames of the handler alive.
            raise call.error(failure, call.unraised(failure)) from None
        finally:
            current.reset(token)
        refused = call.report_unraised(call.unraised())
        if refused is not None:
            raise call.error_of(refused)
        return result

    # --- records that had to wait for the trail; for `recorded_first` ---------------------------------------------

    def unrecorded(
        self, ctx: ServerRequestContext[Any], params: Any, *_: object
    ) -> tuple[MCPError, dict[str, Any] | None]:
        """The error for a failure that could not be recorded, and for a tool the result; the trail's policy refuses."""
        name = str(getattr(params, "name", None) or getattr(params, "uri", ""))
        is_tool = isinstance(params, CallToolRequestParams)
        tool = self._tools.get_tool(name) if is_tool else None
        envelope = self._answering(ctx, None, name=name, surface="tool", tool=tool).unrecorded().envelope
        return self._answers.error(envelope), self._answers.written_result(envelope) if is_tool else None


def _in_own_thread(tool: SDKTool, request: Request) -> Callable[..., Awaitable[Any]]:
    """The function of `tool` in one of the tool's threads, which a timeout can leave; the SDK waits for its threads."""

    async def run(**arguments: Any) -> Any:
        return await in_thread(holding_places(request, functools.partial(tool.fn, **arguments)), tool, request)

    return run


async def _run_plain(
    tool: SDKTool, arguments: dict[str, Any], request: Request
) -> dict[str, Any] | CallToolResult | InputRequiredResult:
    # A subclass may run and convert in its own way.
    own = type(tool).run is SDKTool.run
    if own and not tool.is_async:
        tool = tool.model_copy(update={"fn": _in_own_thread(tool, request), "is_async": True})
    request.began = True
    try:
        returned = await tool.run(arguments, request.sdk, convert_result=not own)
    except ToolError as exc:
        # The SDK raises ToolError itself for arguments that do not fit, and a subclass for a ValidationError of the
        # handler's own.
        if isinstance(exc.__cause__, ValidationError) and type(exc) is ToolError:
            raise invalid_arguments_error(exc.__cause__, tool.parameters, tool.name, arguments) from exc.__cause__
        raise
    if own:
        return written_result(ResultForm.of(tool.fn_metadata, tool.output_schema), returned)
    if isinstance(returned, CallToolResult) and not returned.is_error:
        return sendable(returned, tool.output_schema)
    return returned  # type: ignore[no-any-return]
