"""`Server`: the SDK's `MCPServer`, whose tools fail with envelopes."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, cast, overload

from mcp.server.mcpserver import Context as SDKContext
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.mcpserver.tools import Tool as SDKTool
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    URL_ELICITATION_REQUIRED,
    CallToolRequestParams,
    CallToolResult,
    ErrorData,
    Icon,
    InputRequiredResult,
    ToolAnnotations,
)
from mcp_types import Tool as MCPTool
from pydantic import ConfigDict, PrivateAttr, ValidationError
from typing_extensions import TypeVar

from mcpcore.boundary import Boundary, Judge, Relayed, is_a, leaves_of, passes_through
from mcpcore.codes import PROTOCOL_INVALID_PARAMS, ErrorCode
from mcpcore.context import Request, current
from mcpcore.contract import CONTRACT_META_KEY, Contract, ContractError, FailureMode
from mcpcore.definition import admitting_error
from mcpcore.envelope import CANONICAL, Envelope
from mcpcore.errors import FrameworkError
from mcpcore.governance import TRACE_FIELD, checked, in_force
from mcpcore.limits import DEFAULT_LIMITS, Limits
from mcpcore.results import converted, found_in, require_writable, sendable
from mcpcore.threads import in_thread
from mcpcore.tool import MethodTool, Tool, ToolDecorator, ToolOptions, as_tool, make_tool, takes_context
from mcpcore.unwrapping import UnreadError, as_raised

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractAsyncContextManager

    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel.helper_types import ReadResourceContents
    from pydantic import AnyUrl

    from mcpcore.audit import AuditTrail
    from mcpcore.definition import ToolDefinition

LifespanT = TypeVar("LifespanT", default=Any)
R = TypeVar("R", bound=str)
_CallableT = TypeVar("_CallableT", bound=Callable[..., Any])

EXPOSE_VARIABLE: Final = "MCPCORE_EXPOSE_INTERNAL_ERRORS"

_PROTOCOL_NEEDS: Final = frozenset({MISSING_REQUIRED_CLIENT_CAPABILITY, URL_ELICITATION_REQUIRED})
"""Errors of the SDK that are steps of the protocol, not failures of the tool: the client answers them by itself."""

UnknownTool = Literal["protocol", "result"]


class ToolFailure(ToolError, Relayed):  # noqa: N818 - the word of the docs
    """What `server.call_tool(...)` raises where a tool fails: an error of the SDK's kind, with the envelope."""

    def __init__(self, envelope: Envelope) -> None:
        """Carry `envelope`."""
        super().__init__(envelope.message)
        self.envelope = envelope


class Server(MCPServer[LifespanT], Generic[LifespanT]):
    """An MCP server whose tools fail with declared, typed and recorded envelopes.

    It is the SDK's `MCPServer` with nothing taken away: `@server.tool()`, resources, prompts, middleware, transports
    and lifespans are the SDK's own, and what its tools raise comes out in the same envelope.
    """

    def __init__(
        self,
        name: str | None = None,
        *args: Any,
        tools: Iterable[Tool[..., Any] | SDKTool] | None = None,
        lifespan: Callable[[MCPServer[LifespanT]], AbstractAsyncContextManager[LifespanT]] | None = None,
        audit: AuditTrail | str | os.PathLike[str] | None = None,
        advertise_errors: bool = True,
        describe_failures: bool = False,
        expose_internal_errors: bool = False,
        unknown_tool: UnknownTool = "protocol",
        dialect: str = "canonical",
        limits: Limits = DEFAULT_LIMITS,
        bind: Mapping[str, str | None] | None = None,
        **options: Any,
    ) -> None:
        """Make a server.

        Args:
            name: The server's name.
            *args: The SDK's own positional arguments.
            tools: Tools of mcpcore and of the SDK.
            lifespan: What is set up before the first request and torn down after the last; the SDK's own, as all of
                `options`.
            audit: Where failures are recorded, beside the logger `mcpcore.audit`: a path, or a trail; left out, the
                path in the environment variable MCPCORE_AUDIT, if any.
            advertise_errors: Whether the output schemas admit the error; some clients validate it.
            describe_failures: Whether descriptions end with what the tool fails with.
            expose_internal_errors: Whether clients see exceptions that nobody declared; for development only. The
                environment variable MCPCORE_EXPOSE_INTERNAL_ERRORS=1 does the same.
            unknown_tool: What calling an unknown tool is: a "protocol" error, or a "result" that the model sees.
            dialect: The envelope that clients of this server read.
            limits: The bounds of an envelope.
            bind: Fields that stand in every envelope and record; see `mcpcore.governance`.
            **options: All that the SDK's `MCPServer` takes.

        Raises:
            ContractError: If a tool cannot be served.
            ValueError: If an option has a value that it cannot have.
            TypeError: If an option is unknown.
        """
        if unknown_tool not in ("protocol", "result"):
            raise ValueError(f"Server(unknown_tool=...) must be 'protocol' or 'result', not {unknown_tool!r}")
        if not isinstance(limits, Limits):
            raise TypeError(f"Server(limits=...) must be Limits(...), not {type(limits).__name__}")
        self._advertise_errors = advertise_errors
        self._describe_failures = describe_failures
        self._unknown_tool: UnknownTool = unknown_tool
        self._fields = checked(bind or {}, "Server(bind=…)")
        from mcpcore.logs import own_handler

        with own_handler():
            super().__init__(name, *args, lifespan=lifespan, **options)
        self._boundary = Boundary(
            server=self.name,
            expose=expose_internal_errors or os.environ.get(EXPOSE_VARIABLE, "").lower() in ("1", "true", "yes"),
            limits=limits,
            dialect=dialect,
            audit=audit,
        )
        for item in tools or ():
            self._add(item)

    @property
    def audit(self) -> AuditTrail:
        """The trail that failures are recorded in."""
        return self._boundary.trail

    @property
    def contracts(self) -> dict[str, Contract[Any]]:
        """The contract of each contract tool, by the tool's name."""
        return {
            registered.name: registered.tool.contract
            for registered in self._tool_manager.list_tools()
            if isinstance(registered, _ContractTool)
        }

    # --- registration ---------------------------------------------------------------------------------------------

    def _add(self, item: object) -> None:
        tool = as_tool(item)
        if tool is not None:
            self._register(_ContractTool.of(tool))
        elif isinstance(item, SDKTool):
            self._register(item)
        else:
            raise ContractError(
                f"Server(tools=[...]) takes tools made by @tool and tools of the SDK, not {item!r}; put @tool above it"
            )

    def _register(self, registered: SDKTool) -> None:
        manager = self._tool_manager
        if manager.get_tool(registered.name) is not None:
            raise ContractError(
                f"server {self.name!r} has a tool {registered.name!r} already; a client could not tell the two apart: "
                "give one of them another name"
            )
        manager._tools[registered.name] = registered  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]

    def add_tool(
        self,
        fn: Callable[..., Any] | Tool[..., Any],
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        structured_output: bool | None = None,  # noqa: FBT001 - the SDK's own signature
        *,
        errors: Sequence[FailureMode[Any]] | None = None,
    ) -> None:
        """Add a tool: one made by `@tool`, or a function, which with `errors` becomes a contract tool.

        A function without `errors` becomes a tool of the SDK's own kind, unless it takes mcpcore's `Context`.

        Raises:
            ContractError: If the contract or the handler cannot stand, or the name is taken.
        """
        given: dict[str, Any] = {
            "name": name,
            "title": title,
            "description": description,
            "annotations": annotations,
            "icons": icons,
            "meta": meta,
            "structured_output": structured_output,
            "errors": errors,
        }
        made = as_tool(fn)
        if made is not None:
            changes = {key: value for key, value in given.items() if value is not None}
            self._register(_ContractTool.of(made.changed(**changes) if changes else made))
        elif errors is not None or takes_context(fn, name=name):
            options = {**given, "errors": errors or ()}
            self._register(_ContractTool.of(_unbound(make_tool(fn, ToolOptions(**options)))))
        else:
            super().add_tool(fn, name, title, description, annotations, icons, meta, structured_output)

    @overload
    def tool(
        self,
        *,
        errors: Sequence[FailureMode[R]],
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        structured_output: bool | None = None,
    ) -> ToolDecorator[R]: ...
    @overload
    def tool(
        self,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        structured_output: bool | None = None,  # noqa: FBT001 - the SDK's own signature
    ) -> Callable[[_CallableT], _CallableT]: ...
    def tool(
        self,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        structured_output: bool | None = None,  # noqa: FBT001 - the SDK's own signature
        *,
        errors: Sequence[FailureMode[Any]] | None = None,
    ) -> Any:
        """Register the decorated function; with `errors` as a contract tool, else as a tool of the SDK's own kind.

        With `errors` the name stands for the `Tool`, which a unit test calls; without, for the function, as ever.

        Raises:
            ContractError: If the contract or the handler cannot stand, or the name is taken.
        """
        if errors is None:
            return super().tool(name, title, description, annotations, icons, meta, structured_output)
        options = ToolOptions(
            name=name,
            title=title,
            description=description,
            annotations=annotations,
            icons=icons,
            meta=meta,
            structured_output=structured_output,
            errors=errors,
        )
        return _Registering(options, self)

    # --- what clients see -----------------------------------------------------------------------------------------

    async def list_tools(self) -> list[MCPTool]:
        """The tools as clients see them: with their contracts, and output schemas that admit the error."""
        return [self._described(registered) for registered in self._tool_manager.list_tools()]

    def _described(self, registered: SDKTool) -> MCPTool:
        schema, meta, description = registered.output_schema, registered.meta, registered.description
        if isinstance(registered, _ContractTool) and len(registered.tool.contract):
            meta = {**(meta or {}), CONTRACT_META_KEY: registered.published}
            if self._describe_failures:
                description = _with_failures(description, registered.tool.contract)
        if self._advertise_errors and schema is not None:
            schema = self._admitting_failure(registered, schema)
        return MCPTool(
            name=registered.name,
            title=registered.title,
            description=description,
            input_schema=registered.parameters,
            output_schema=schema,
            annotations=registered.annotations,
            icons=registered.icons,
            _meta=meta,
        )

    def _admitting_failure(self, registered: SDKTool, schema: dict[str, Any]) -> dict[str, Any]:
        dialect = self._boundary.dialect
        if dialect.name != CANONICAL:
            return admitting_error(schema, dialect.schema)
        if isinstance(registered, _ContractTool) and registered.definition.output_schema is not None:
            return registered.definition.output_schema
        return admitting_error(schema)

    # --- calls ----------------------------------------------------------------------------------------------------

    async def _handle_call_tool(
        self, ctx: ServerRequestContext[LifespanT], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        registered = self._tool_manager.get_tool(params.name)
        if registered is None:
            return self._unknown(ctx, params.name)
        contract = registered.tool.contract if isinstance(registered, _ContractTool) else _NO_CONTRACT
        request = Request(
            functools.partial(
                SDKContext,
                request_context=cast("Any", ctx),
                mcp_server=self,
                input_params=params,
                subscriptions=self._subscriptions,
            ),
            contract=contract,
            judged=functools.partial(self._judged_item, ctx, params.name),
            part=self._part,
        )
        token = current.set(request)
        try:
            result = await self._called(registered, params.arguments or {}, request)
        except BaseException as exc:
            if passes_through(exc):
                raise
            context = self._context(ctx, request, exc)
            if (protocol := _protocols_own(exc, registered)) is not None:
                raise self._recorded(protocol, name=params.name, surface="tool", context=context) from None
            return self._boundary.answer(exc, contract=contract, name=params.name, context=context)
        finally:
            current.reset(token)
        misread, told = found_in(result, self._boundary.dialect, registered.output_schema)
        if misread is None:
            return result
        context = self._context(ctx, request, misread)
        verdict = self._boundary.judged(misread, contract=contract, name=params.name, context=context, told=told)
        if told is not None and verdict.exception is misread:
            return result
        return self._boundary.result(verdict.envelope)

    def _judged_item(
        self, ctx: ServerRequestContext[LifespanT], name: str, exc: BaseException, request: Request
    ) -> Envelope:
        """The envelope of a part of a call that failed while the call goes on; recorded as a failed call is."""
        context = self._context(ctx, request, exc)
        return self._boundary.judged(exc, contract=request.contract, name=name, context=context).envelope

    def _part(self, envelope: Envelope) -> dict[str, Any]:
        """The envelope as a part of an answer, in the dialect of the server."""
        dialect = self._boundary.dialect
        structured, _ = dialect.write(envelope, limits=self._boundary.judge.limits)
        return dialect.part(structured)

    async def _called(
        self, registered: SDKTool, arguments: dict[str, Any], request: Request
    ) -> CallToolResult | InputRequiredResult:
        if isinstance(registered, _ContractTool):
            return await registered.execute(arguments, request)
        # A subclass may run and convert in its own way.
        own = type(registered).run is SDKTool.run
        try:
            returned = await registered.run(arguments, request.sdk, convert_result=not own)
        except ToolError as exc:
            if isinstance(exc.__cause__, ValidationError) and type(exc) is ToolError:
                raise _unfit(exc.__cause__, registered, arguments) from exc.__cause__
            raise
        if own:
            return converted(registered.fn_metadata.convert_result, returned, registered.output_schema)
        if isinstance(returned, CallToolResult) and not returned.is_error:
            return sendable(returned, registered.output_schema)
        return returned  # type: ignore[no-any-return]

    def _context(self, ctx: ServerRequestContext[LifespanT], request: Request, exc: BaseException) -> dict[str, Any]:
        found = in_force(self._fields, request, exc)
        trace = _trace_id(ctx)
        if trace is not None:
            found[TRACE_FIELD] = trace
        return found

    async def read_resource(
        self, uri: AnyUrl | str, context: SDKContext[LifespanT, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """Read a resource, as the SDK's server does.

        Raises:
            ResourceError: If it cannot be read; an error of the SDK's kind.
        """
        request = current.get()
        if request is None or not request.reads:
            return await super().read_resource(uri, context)
        request.reads = False  # what its handler reads in turn fails as ever
        try:
            return await super().read_resource(uri, context)
        except ResourceError as exc:
            raise UnreadError(exc) from None

    async def _handle_read_resource(self, ctx: ServerRequestContext[LifespanT], params: Any) -> Any:
        with self._scope(ctx) as request:
            request.reads = True
            reading = super()._handle_read_resource(ctx, params)
            return await self._answered(reading, ctx, request, name=str(params.uri), surface="resource")

    async def _handle_get_prompt(self, ctx: ServerRequestContext[LifespanT], params: Any) -> Any:
        with self._scope(ctx) as request:
            getting = super()._handle_get_prompt(ctx, params)
            return await self._answered(getting, ctx, request, name=params.name, surface="prompt")

    async def _answered(
        self, answering: Awaitable[Any], ctx: ServerRequestContext[LifespanT], request: Request, **what: str
    ) -> Any:
        """What a resource or a prompt answers; its failure as an error of the protocol, recorded first."""
        try:
            result = await answering
            require_writable(result)
        except BaseException as exc:
            if passes_through(exc):
                raise
            # Nothing here is bound to the exception, which would hold on to all that its frames hold.
            raise self._as_error(as_raised(exc), ctx, request, **what) from None
        return result

    def _as_error(
        self, exc: BaseException, ctx: ServerRequestContext[LifespanT], request: Request, *, name: str, surface: str
    ) -> MCPError:
        """The error of the protocol that tells of `exc`, recorded."""
        context = self._context(ctx, request, exc)
        if is_a(exc, MCPError):
            return self._recorded(cast("MCPError", exc), name=name, surface=surface, context=context)
        verdict = self._boundary.judged(exc, contract=_NO_CONTRACT, name=name, surface=surface, context=context)
        error = self._protocol_error(verdict.envelope)
        if surface == "resource" and self._boundary.dialect.name == CANONICAL:
            error.error.data["uri"] = name  # as the SDK tells it
        return error

    def _recorded(self, error: MCPError, *, name: str, surface: str, context: dict[str, Any]) -> MCPError:
        """`error`, which its author chose, recorded unless it is a step of the protocol; else what it gives way to."""
        if error.code in _PROTOCOL_NEEDS:
            return error
        verdict = self._boundary.judged(error, contract=_NO_CONTRACT, name=name, surface=surface, context=context)
        return error if verdict.exception is error else self._protocol_error(verdict.envelope)

    @contextlib.contextmanager
    def _scope(self, ctx: ServerRequestContext[LifespanT]) -> Iterator[Request]:
        """A request of its own, so that what an exception takes along ends with it, as in a tool."""
        make = functools.partial(
            SDKContext, request_context=cast("Any", ctx), mcp_server=self, subscriptions=self._subscriptions
        )
        request = Request(make)
        token = current.set(request)
        try:
            yield request
        finally:
            current.reset(token)

    def _unknown(self, ctx: ServerRequestContext[LifespanT], name: str) -> CallToolResult:
        import difflib

        known = [registered.name for registered in self._tool_manager.list_tools()]
        shown = name if len(name) <= 128 else f"{name[:127]}…"
        near = difflib.get_close_matches(shown, known, n=3, cutoff=0.6)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        hint = (
            f"Call {near[0]} instead, or list the tools to see what there is."
            if near
            else "List the tools to see what there is."
        )
        recovery: dict[str, Any] = {"hint": hint, "strategy": "try_alternative"}
        if near:
            recovery["fallbackTool"] = near[0]
        error = FrameworkError(
            ErrorCode.NOT_FOUND,
            f"Unknown tool: {shown}.{meant}",
            {"tool": shown, "near": near},
            reason="unknown_tool",
            recovery=recovery,
        )
        request = Request(functools.partial(SDKContext, request_context=cast("Any", ctx), mcp_server=self))
        verdict = self._boundary.judged(
            error, contract=_NO_CONTRACT, name=shown, context=self._context(ctx, request, error)
        )
        if self._unknown_tool == "result":
            return self._boundary.result(verdict.envelope)
        raise self._protocol_error(verdict.envelope)

    def _protocol_error(self, envelope: Envelope) -> MCPError:
        structured, _ = self._boundary.dialect.write(envelope, limits=self._boundary.judge.limits)
        return protocol_error(envelope, structured)


def protocol_error(envelope: Envelope, written: dict[str, Any] | None = None) -> MCPError:
    """The envelope where the protocol itself carries the error, as `written` in a dialect or in the canonical form.

    Source of the numbers: the MCP specification of 2026-07-28 leaves -32602 and -32603 for them.
    """
    number = INVALID_PARAMS if envelope.error_code in PROTOCOL_INVALID_PARAMS else INTERNAL_ERROR
    data = {"error": envelope.to_json()} if written is None else written
    return MCPError(code=number, message=envelope.message, data=data)


class _ContractTool(SDKTool):
    """A tool of mcpcore among those of the SDK."""

    # Made without validation, it needs no validator, which would take 1 ms of the import.
    model_config = ConfigDict(defer_build=True)
    _tool: Tool[..., Any] = PrivateAttr()
    _definition: Any = PrivateAttr()

    @classmethod
    def of(cls, tool: Tool[..., Any]) -> _ContractTool:
        definition = tool.definition
        made = cls.model_construct(**{name: getattr(definition.sdk, name) for name in SDKTool.model_fields})
        made._tool = tool  # noqa: SLF001 - its own
        made._definition = definition  # noqa: SLF001 - its own
        return made

    # Cached, since pydantic looks a private attribute up the long way, some times in each call.
    @functools.cached_property
    def tool(self) -> Tool[..., Any]:
        return self._tool

    @functools.cached_property
    def definition(self) -> ToolDefinition:
        return self._definition  # type: ignore[no-any-return]

    @functools.cached_property
    def published(self) -> list[Any]:
        """The contract as `tools/list` carries it."""
        return self._tool.contract.to_json()

    async def execute(self, arguments: Mapping[str, Any], request: Request) -> CallToolResult | InputRequiredResult:
        """Validate, run the handler, convert; raises what goes wrong."""
        definition = self.definition
        try:
            values = definition.validate(arguments)
        except ValidationError as exc:
            raise _unfit(exc, self, arguments) from exc
        if self.resolved_params:
            resolved = await definition.resolve(values, request)
            if isinstance(resolved, InputRequiredResult):
                return resolved
            values |= resolved
        if self.context_kwarg is not None:
            values[self.context_kwarg] = request.sdk
        leading = self.tool.leading(request)
        if definition.positional:
            leading = (*leading, *(values.pop(name) for name in definition.positional))
        handler = self.tool.declaration.handler
        if self.tool.declaration.is_async:
            returned = await handler(*leading, **values)
        else:
            returned = await in_thread(functools.partial(handler, *leading, **values))
            # A decorator may hide that the function within is async.
            if inspect.isawaitable(returned):
                returned = await returned
        return converted(definition.convert, returned, self.output_schema)

    async def run(
        self,
        arguments: dict[str, Any],
        context: Any,
        convert_result: bool = False,  # noqa: ARG002, FBT001, FBT002 - the SDK's own signature
    ) -> Any:
        """Run the tool for code on the server, which `server.call_tool` does.

        Raises:
            ToolFailure: If the tool fails; an error of the SDK's own kind.
        """
        request = Request(lambda: context)
        token = current.set(request)
        try:
            return await self.execute(arguments, request)
        except MCPError as exc:
            if exc.code in _PROTOCOL_NEEDS:
                raise
            raise self._failure(exc) from exc
        except Exception as exc:
            raise self._failure(exc) from exc
        finally:
            current.reset(token)

    def _failure(self, exc: Exception) -> ToolFailure:
        return ToolFailure(Judge().verdict(exc, contract=self._tool.contract, name=self.name).envelope)


class _Registering(ToolDecorator[R]):
    """What `@server.tool(errors=[...])` returns: it makes the tool and registers it."""

    def __init__(self, options: ToolOptions, server: Server[Any]) -> None:
        super().__init__(options)
        self._server = server

    def _made(self, made: Tool[..., Any] | MethodTool[Any, ..., Any]) -> Any:
        self._server.add_tool(_unbound(made))
        return made


def _protocols_own(exc: BaseException, registered: SDKTool) -> MCPError | None:
    """The error that the protocol itself needs, also within a group, or that a tool of the SDK's chose; None else."""
    leaves = list(leaves_of(exc))
    if len(leaves) != 1 or not is_a(leaves[0], MCPError):
        return None
    if not isinstance(getattr(leaves[0], "error", None), ErrorData):
        return None
    error = cast("MCPError", leaves[0])
    return error if error.code in _PROTOCOL_NEEDS or not isinstance(registered, _ContractTool) else None


_NO_CONTRACT: Final[Contract[Any]] = Contract()


def _unbound(made: Any) -> Tool[..., Any]:
    tool = as_tool(made)
    assert tool is not None
    return tool


def _unfit(error: ValidationError, registered: SDKTool, arguments: Mapping[str, Any]) -> FrameworkError:
    from mcpcore.arguments import INVALID_ARGUMENTS, misfit

    message, issues, hint = misfit(error, registered.parameters, registered.name, arguments)
    return FrameworkError(
        ErrorCode.INVALID_PARAMS, message, {"issues": issues}, reason=INVALID_ARGUMENTS, recovery=hint
    )


def _with_failures(description: str, contract: Contract[Any]) -> str:
    lines = [f"- {entry.reason} ({entry.code.name}): {entry.when} {entry.recovery}" for entry in contract]
    return "\n".join([description.rstrip(), "", "Fails with:", *lines]).lstrip()


def _trace_id(ctx: ServerRequestContext[Any]) -> str | None:
    """The trace of the caller: W3C Trace Context, in the request's `_meta` or the HTTP header."""
    meta: Any = ctx.meta
    parent = meta.get("traceparent") if isinstance(meta, Mapping) else None
    if not isinstance(parent, str):
        headers = getattr(ctx.request, "headers", None)
        parent = headers.get("traceparent") if headers is not None else None
    if not isinstance(parent, str):
        return None
    parts = parent.strip().split("-")
    trace = parts[1].lower() if len(parts) >= 4 and len(parts[0]) == 2 and parts[0].lower() != "ff" else ""
    return trace if len(trace) == 32 and set(trace) <= set("0123456789abcdef") and set(trace) != {"0"} else None
