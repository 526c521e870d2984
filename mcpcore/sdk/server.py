"""`Server`: the SDK's `MCPServer`, whose tools fail with envelopes."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, cast, overload

from mcp.server.mcpserver import Context as SDKContext
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.resources import Resource
from mcp.server.mcpserver.tools import Tool as SDKTool
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    Icon,
    InputRequiredResult,
    PromptReference,
    ToolAnnotations,
)
from mcp_types import Tool as MCPTool
from pydantic import ValidationError
from typing_extensions import TypeVar, Unpack

from mcpcore.audit import AuditError
from mcpcore.bound_fields import TRACE_FIELD, checked, in_force
from mcpcore.boundary import (
    Boundary,
    Verdict,
    is_a,
    log_recording,
    passes_through,
    returned_failure,
)
from mcpcore.breaches import note_item
from mcpcore.codes import ErrorCode
from mcpcore.contract import CONTRACT_META_KEY, Contract, ContractError, FailureMode
from mcpcore.declare.context import Request, current
from mcpcore.declare.declaration import ToolOptions, takes_context
from mcpcore.declare.definition import admitting_error
from mcpcore.declare.prompt import PromptDecorator, PromptOptions, as_prompt
from mcpcore.declare.resource import ResourceDecorator, ResourceOptions, as_resource
from mcpcore.declare.tool import MethodTool, Tool, ToolDecorator, as_tool, make_tool
from mcpcore.effects import default_effects
from mcpcore.envelope import CANONICAL, Envelope
from mcpcore.fallbacks import FallbackCheck, external_names
from mcpcore.jsonable import shown_name
from mcpcore.limits import DEFAULT_LIMITS, Limits
from mcpcore.recording import recorded_first
from mcpcore.sdk.fallbacks import ServerFallbacks
from mcpcore.sdk.handlers import registering, with_contracts
from mcpcore.sdk.prompts import register as register_prompt
from mcpcore.sdk.resources import register as register_resource
from mcpcore.sdk.results import converted, failure_in, require_writable, sendable
from mcpcore.sdk.returned import Resources, watched_prompt
from mcpcore.sdk.serving import (
    PROTOCOL_NEEDS,
    UnknownTool,
    check_options,
    chosen_error,
    exposes_internal_errors,
    invalid_arguments_error,
    missing_attribute,
    part_of_answer,
    protocol_error_of,
    protocols_own,
    shown_value,
    trace_id,
    unknown_tool_error,
    with_failures,
)
from mcpcore.sdk.startup import Startup
from mcpcore.sdk.tools import ContractTool
from mcpcore.sdk.tools import ToolFailure as ToolFailure  # noqa: PLC0414 - part of this module
from mcpcore.sdk.unwrapping import UnansweredError, as_raised
from mcpcore.strictness import Strictness

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from contextlib import AbstractAsyncContextManager

    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel.helper_types import ReadResourceContents
    from mcp.server.mcpserver.resources.templates import ResourceSecurity
    from mcp_types import Annotations
    from mcp_types import Prompt as MCPPrompt
    from mcp_types import Resource as MCPResource
    from mcp_types import ResourceTemplate as MCPResourceTemplate
    from pydantic import AnyUrl

    from mcpcore.audit import AuditTrail
    from mcpcore.breaches import BrokenItem
    from mcpcore.codes import Effects, ErrorCode
    from mcpcore.declare.prompt import DeclaredPrompt
    from mcpcore.declare.resource import DeclaredResource
    from mcpcore.effects import CallState
    from mcpcore.lost import LostFailure
    from mcpcore.sdk.options import ServerOptions

LifespanT = TypeVar("LifespanT", default=Any)
R = TypeVar("R", bound=str)
_CallableT = TypeVar("_CallableT", bound=Callable[..., Any])


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
        resources: Iterable[DeclaredResource[..., Any] | Resource] | None = None,
        prompts: Iterable[DeclaredPrompt[..., Any] | Prompt] | None = None,
        lifespan: Callable[[MCPServer[LifespanT]], AbstractAsyncContextManager[LifespanT]] | None = None,
        audit: AuditTrail | str | os.PathLike[str] | None = None,
        advertise_errors: bool = True,
        describe_failures: bool = False,
        expose_internal_errors: bool = False,
        strict: bool = False,
        unknown_tool: UnknownTool = "protocol",
        dialect: str = "canonical",
        limits: Limits = DEFAULT_LIMITS,
        bind: Mapping[str, str | None] | None = None,
        external_tools: Iterable[str] = (),
        **options: Unpack[ServerOptions],
    ) -> None:
        """Make a server.

        Args:
            name: The server's name.
            *args: The SDK's own positional arguments.
            tools: Tools of mcpcore and of the SDK.
            resources: Resources of mcpcore and of the SDK.
            prompts: Prompts of mcpcore and of the SDK.
            lifespan: The lifespan of the SDK: it sets up before the first request and tears down after the last.
            audit: The audit trail, or a path for it; by default the path in the environment variable MCPCORE_AUDIT, if
                it is set. Without a trail, the records go to the logger `mcpcore.audit`.
            advertise_errors: Whether the output schemas admit the error; some clients validate it.
            describe_failures: Whether the description of each tool ends with a section that names its failure modes,
                since few hosts show the model the contract in `_meta`. It makes `tools/list` longer; the end of the
                reference of the options says by how much.
            expose_internal_errors: Whether clients see exceptions that nobody declared; for development only. The
                environment variable MCPCORE_EXPOSE_INTERNAL_ERRORS=1 does the same.
            strict: Whether a call that breaks its contract fails with INTERNAL_ERROR, and whether an unknown fallback
                tool keeps the server from starting; for tests and CI. The environment variable MCPCORE_STRICT=1 does
                the same.
            unknown_tool: Whether a client that calls an unknown tool gets a "protocol" error, or a "result" that the
                model sees.
            dialect: The envelope that clients of this server read.
            limits: The bounds of an envelope.
            bind: Fields of every envelope and record: `session_id`, `role`, `workspace_root`, `phase_id`, `plan_hash`
                and `invariant_id`.
            external_tools: Tools of other servers, which contracts may name as fallback tools.
            **options: All that the SDK's `MCPServer` takes; see `mcpcore.sdk.options.ServerOptions`.

        Raises:
            ContractError: If a tool cannot be served.
            ValueError: If an option has a value that it cannot have.
            TypeError: If an option is unknown.
        """
        check_options("Server", unknown_tool=unknown_tool, limits=limits)
        self._advertise_errors = advertise_errors
        self._describe_failures = describe_failures
        self._unknown_tool: UnknownTool = unknown_tool
        self._fields = checked(bind or {}, "Server(bind=…)")
        from mcpcore.logs import own_handler

        self._complete: Callable[..., Awaitable[Completion | None]] | None = None
        external = external_names("Server", external_tools)
        self._startup = Startup(name or "mcp-server", self._record_own_failure, self._check_fallbacks)
        watched: Any = self._startup.watched(_no_lifespan if lifespan is None else lifespan)
        with own_handler():
            # The positional arguments may be any of these options, so that no checker can match the two.
            super().__init__(name, *args, lifespan=watched, **cast("dict[str, Any]", options))
        self._resource_manager = Resources.of(self._resource_manager)
        self._boundary = Boundary(
            server=self.name,
            expose=exposes_internal_errors(expose_internal_errors),
            limits=limits,
            dialect=dialect,
            audit=audit,
            strictness=Strictness(strict),
        )
        self._fallbacks = ServerFallbacks(
            FallbackCheck(self.name, "Server", external),
            self._startup,
            self._boundary.strictness,
            (self._tool_manager, self._resource_manager, self._prompt_manager),
            self.list_tools,
        )
        with self._startup.component():
            for item in tools or ():
                self._add(item)
            for resource in resources or ():
                if as_resource(resource) is None and not isinstance(resource, Resource):
                    raise ContractError(
                        "Server(resources=[...]) takes resources made by @resource and those of the SDK, not "
                        f"{resource!r}"
                    )
                self.add_resource(resource)
            for prompt in prompts or ():
                if as_prompt(prompt) is None and not isinstance(prompt, Prompt):
                    raise ContractError(
                        f"Server(prompts=[...]) takes prompts made by @prompt and those of the SDK, not {prompt!r}"
                    )
                self.add_prompt(prompt)

    def _record_own_failure(self, exc: BaseException, code: ErrorCode | None) -> Envelope:
        return self._boundary.judged(
            exc, contract=_NO_CONTRACT, name=self.name, surface="server", context=dict(self._fields), code=code
        ).envelope

    async def _check_fallbacks(self) -> None:
        await self._fallbacks.check()

    async def run_streamable_http_async(self, **options: Any) -> None:
        """Serve streamable HTTP, as the SDK's server does; a port that is taken is recorded."""
        with self._startup.transport():
            await super().run_streamable_http_async(**options)

    async def run_sse_async(self, **options: Any) -> None:
        """Serve SSE, as the SDK's server does; a port that is taken is recorded."""
        with self._startup.transport():
            await super().run_sse_async(**options)

    @property
    def audit(self) -> AuditTrail:
        """The trail that failures are recorded in."""
        return self._boundary.trail

    @property
    def strictness(self) -> Strictness:
        """Whether a broken contract fails the call."""
        return self._boundary.strictness

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Explain how to mount the server when FastMCP reads an attribute that only its servers have."""
            raise missing_attribute(self, name)

    @property
    def contracts(self) -> dict[str, Contract[Any]]:
        """The contract of each contract tool, by the tool's name."""
        return {
            registered.name: registered.tool.contract
            for registered in self._tool_manager.list_tools()
            if isinstance(registered, ContractTool)
        }

    # --- registration ---------------------------------------------------------------------------------------------

    def _add(self, item: object) -> None:
        tool = as_tool(item)
        if tool is not None:
            self._register(ContractTool.of(tool))
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
        if isinstance(registered, ContractTool):
            self._fallbacks.check_new("tool", registered.name, registered.tool.contract)
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
        with self._startup.registration():
            made = as_tool(fn)
            if made is not None:
                changes = {key: value for key, value in given.items() if value is not None}
                self._register(ContractTool.of(made.changed(**changes) if changes else made))
            elif errors is not None or takes_context(fn, name=name):
                options = {**given, "errors": errors or ()}
                self._register(ContractTool.of(_unbound(make_tool(fn, ToolOptions(**options)))))
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
        with self._startup.registration():
            if errors is None:
                return self._startup.registered(
                    super().tool(name, title, description, annotations, icons, meta, structured_output)
                )
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

    def add_resource(self, resource: Resource | DeclaredResource[..., Any]) -> None:
        """Add a resource: one made by `@resource`, or one of the SDK.

        Raises:
            ContractError: If the server has a resource of its URI already.
        """
        with self._startup.registration():
            declared = as_resource(resource)
            if declared is None:
                super().add_resource(cast("Resource", resource))
            else:
                self._fallbacks.check_new("resource", declared.uri, declared.contract)
                register_resource(self._resource_manager, declared, security=self._resource_security)

    @overload
    def resource(
        self,
        uri: str,
        *,
        errors: Sequence[FailureMode[R]],
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        icons: list[Icon] | None = None,
        annotations: Annotations | None = None,
        meta: dict[str, Any] | None = None,
        security: ResourceSecurity | None = None,
    ) -> ResourceDecorator[R]: ...
    @overload
    def resource(
        self,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        icons: list[Icon] | None = None,
        annotations: Annotations | None = None,
        meta: dict[str, Any] | None = None,
        security: ResourceSecurity | None = None,
    ) -> Callable[[_CallableT], _CallableT]: ...
    def resource(self, uri: str, *, errors: Sequence[FailureMode[Any]] | None = None, **options: Any) -> Any:
        """Register the decorated function; with `errors` as a resource with a contract.

        Without `errors` it becomes a resource of the SDK's own kind, unless it takes mcpcore's `Context`. With
        `errors` the name refers to the `DeclaredResource`, which a unit test calls; without, to the function.

        Raises:
            ContractError: If the contract or the handler cannot be served, or the URI is taken.
        """
        with self._startup.registration():
            return self._startup.registered(
                registering(
                    errors,
                    lambda contract: ResourceDecorator(ResourceOptions(uri=uri, errors=contract, **options)),
                    functools.partial(super().resource, uri, **options),
                    self.add_resource,
                )
            )

    def add_prompt(self, prompt: Prompt | DeclaredPrompt[..., Any]) -> None:
        """Add a prompt: one made by `@prompt`, or one of the SDK, whose function fails if it returns an exception.

        Raises:
            ContractError: If the server has a prompt of its name already.
        """
        with self._startup.registration():
            declared = as_prompt(prompt)
            if declared is None:
                super().add_prompt(watched_prompt(cast("Prompt", prompt)))
            else:
                self._fallbacks.check_new("prompt", declared.name, declared.contract)
                register_prompt(self._prompt_manager, declared)

    @overload
    def prompt(
        self,
        *,
        errors: Sequence[FailureMode[R]],
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[Icon] | None = None,
    ) -> PromptDecorator[R]: ...
    @overload
    def prompt(
        self,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[Icon] | None = None,
    ) -> Callable[[_CallableT], _CallableT]: ...
    def prompt(
        self,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[Icon] | None = None,
        *,
        errors: Sequence[FailureMode[Any]] | None = None,
    ) -> Any:
        """Register the decorated function; with `errors` as a prompt with a contract.

        Without `errors` it becomes a prompt of the SDK's own kind, unless it takes mcpcore's `Context`. With `errors`
        the name refers to the `DeclaredPrompt`, which a unit test calls; without, to the function.

        Raises:
            ContractError: If the contract or the handler cannot be served, or the name is taken.
        """
        options: dict[str, Any] = {"name": name, "title": title, "description": description, "icons": icons}
        with self._startup.registration():
            return self._startup.registered(
                registering(
                    errors,
                    lambda contract: PromptDecorator(PromptOptions(errors=contract, **options)),
                    functools.partial(super().prompt, **options),
                    self.add_prompt,
                )
            )

    def completion(  # pyright: ignore[reportIncompatibleMethodOverride] - the SDK declares no types
        self,
    ) -> Callable[[_CallableT], _CallableT]:
        """Register the decorated function as the handler of completions; its failures are recorded."""

        def register(fn: _CallableT) -> _CallableT:
            self._complete = fn
            self._lowlevel_server.add_request_handler(
                "completion/complete", CompleteRequestParams, self._handle_complete
            )
            return fn

        return register

    # --- what clients see -----------------------------------------------------------------------------------------

    async def list_tools(self) -> list[MCPTool]:
        """The tools as clients see them: with their contracts, and output schemas that admit the error."""
        return [self._described(registered) for registered in self._tool_manager.list_tools()]

    async def list_resources(self) -> list[MCPResource]:
        """The resources as clients see them, with their contracts."""
        return with_contracts(await super().list_resources(), self._resource_manager.list_resources())

    async def list_resource_templates(self) -> list[MCPResourceTemplate]:
        """The templates of resources as clients see them, with their contracts."""
        listed = await super().list_resource_templates()
        return with_contracts(listed, self._resource_manager.list_templates())

    async def list_prompts(self) -> list[MCPPrompt]:
        """The prompts as clients see them, with their contracts."""
        return with_contracts(await super().list_prompts(), self._prompt_manager.list_prompts())

    def _described(self, registered: SDKTool) -> MCPTool:
        schema, meta, description = registered.output_schema, registered.meta, registered.description
        if isinstance(registered, ContractTool) and len(registered.tool.contract):
            meta = {**(meta or {}), CONTRACT_META_KEY: registered.published}
            if self._describe_failures:
                description = with_failures(description, registered.published)
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
        if isinstance(registered, ContractTool) and registered.definition.output_schema is not None:
            return registered.definition.output_schema
        return admitting_error(schema)

    # --- calls ----------------------------------------------------------------------------------------------------

    @recorded_first
    async def _handle_call_tool(
        self, ctx: ServerRequestContext[LifespanT], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        registered = self._tool_manager.get_tool(params.name)
        if registered is None:
            return self._unknown(ctx, params.name)
        contract = registered.tool.contract if isinstance(registered, ContractTool) else _NO_CONTRACT
        request = Request(
            functools.partial(
                SDKContext,
                request_context=cast("Any", ctx),
                mcp_server=self,
                input_params=params,
                subscriptions=self._subscriptions,
            ),
            contract=contract,
            effects=_effects_of(registered),
            judged=functools.partial(self._judged_item, ctx, params.name),
            part=functools.partial(part_of_answer, self._boundary),
            shown=functools.partial(shown_value, self._boundary),
        )
        token = current.set(request)
        try:
            result = await self._called(registered, params.arguments or {}, request)
        except BaseException as exc:
            if passes_through(exc):
                raise
            lost = request.lost(returned_failure(exc))
            context = self._context(ctx, request, exc)
            if (protocol := protocols_own(exc, every_code=not isinstance(registered, ContractTool))) is not None:
                verdict = self._report_lost(lost, ctx, request, name=params.name) if lost else None
                if verdict is not None:
                    return self._boundary.result(verdict.envelope)
                raise self._recorded(
                    protocol, name=params.name, surface="tool", context=context, call=request.state()
                ) from None
            return self._boundary.answer(
                exc, contract=contract, name=params.name, context=context, lost=lost, call=request.state()
            )
        finally:
            current.reset(token)
        lost = request.lost()
        failure = failure_in(result, registered.output_schema)
        if failure is None:
            verdict = self._report_lost(lost, ctx, request, name=params.name) if lost else None
            return result if verdict is None else self._boundary.result(verdict.envelope)
        return self._boundary.answer(
            failure,
            contract=contract,
            name=params.name,
            context=self._context(ctx, request, failure),
            lost=lost,
            call=request.state(),
        )

    def _report_lost(
        self,
        lost: Sequence[LostFailure | BrokenItem],
        ctx: ServerRequestContext[LifespanT],
        request: Request,
        *,
        name: str,
        surface: str = "tool",
    ) -> Verdict | None:
        """Report failures that a call lost which ended otherwise; the verdict to answer it with, if it may not."""
        context = self._context(ctx, request, lost[0].error)
        return self._boundary.report_lost(
            lost, contract=request.contract, name=name, context=context, surface=surface, call=request.state()
        )

    def _judged_item(
        self,
        ctx: ServerRequestContext[LifespanT],
        name: str,
        exc: BaseException,
        request: Request,
        *,
        surface: str = "tool",
    ) -> Envelope:
        """The envelope of a part of a call that failed while the call goes on; recorded as a failed call is."""
        context = self._context(ctx, request, exc)
        verdict = self._boundary.judged(
            exc,
            contract=request.contract,
            name=name,
            context=context,
            surface=surface,
            call=request.state(of_part=True),
        )
        note_item(verdict, request)
        return verdict.envelope

    async def _called(
        self, registered: SDKTool, arguments: dict[str, Any], request: Request
    ) -> CallToolResult | InputRequiredResult:
        if isinstance(registered, ContractTool):
            return await registered.execute(arguments, request)
        # A subclass may run and convert in its own way.
        own = type(registered).run is SDKTool.run
        request.began = True
        try:
            returned = await registered.run(arguments, request.sdk, convert_result=not own)
        except ToolError as exc:
            if isinstance(exc.__cause__, ValidationError) and type(exc) is ToolError:
                raise invalid_arguments_error(
                    exc.__cause__, registered.parameters, registered.name, arguments
                ) from exc.__cause__
            raise
        if own:
            return converted(registered.fn_metadata, returned, registered.output_schema)
        if isinstance(returned, CallToolResult) and not returned.is_error:
            return sendable(returned, registered.output_schema)
        return returned  # type: ignore[no-any-return]

    def _context(self, ctx: ServerRequestContext[LifespanT], request: Request, exc: BaseException) -> dict[str, Any]:
        found = in_force(self._fields, request, exc)
        trace = trace_id(ctx.meta, getattr(ctx.request, "headers", None))
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
            raise UnansweredError(exc) from None

    @recorded_first
    async def _handle_read_resource(self, ctx: ServerRequestContext[LifespanT], params: Any) -> Any:
        with self._scope(ctx, params, name=str(params.uri), surface="resource") as request:
            request.reads = True
            reading = super()._handle_read_resource(ctx, params)
            return await self._answered(reading, ctx, request, name=str(params.uri), surface="resource")

    @recorded_first
    async def _handle_get_prompt(self, ctx: ServerRequestContext[LifespanT], params: Any) -> Any:
        with self._scope(ctx, params, name=params.name, surface="prompt") as request:
            getting = super()._handle_get_prompt(ctx, params)
            return await self._answered(getting, ctx, request, name=params.name, surface="prompt")

    @recorded_first
    async def _handle_complete(self, ctx: ServerRequestContext[LifespanT], params: Any) -> Any:
        ref = params.ref
        name = f"{ref.name if isinstance(ref, PromptReference) else ref.uri}.{params.argument.name}"
        with self._scope(ctx, None, name=name, surface="completion") as request:
            return await self._answered(self._completed(params), ctx, request, name=name, surface="completion")

    async def _completed(self, params: CompleteRequestParams) -> CompleteResult:
        assert self._complete is not None  # the handler is registered together with it
        completion = await self._complete(params.ref, params.argument, params.context)
        return CompleteResult(completion=Completion(values=[]) if completion is None else completion)

    async def _answered(
        self,
        answering: Awaitable[Any],
        ctx: ServerRequestContext[LifespanT],
        request: Request,
        *,
        name: str,
        surface: str,
    ) -> Any:
        """What a resource or a prompt answers; its failure as an error of the protocol, recorded first."""
        try:
            result = await answering
            require_writable(result)
        except BaseException as exc:
            if passes_through(exc):
                raise
            # Nothing here is bound to the exception, which would hold on to all that its frames hold.
            raise self._as_error(as_raised(exc, name), ctx, request, name=name, surface=surface) from None
        if lost := request.lost():
            name = shown_name(name)
            verdict = self._report_lost(lost, ctx, request, name=name, surface=surface)
            if verdict is not None:
                raise self._error_of(verdict, name=name, surface=surface)
        return result

    def _as_error(
        self, exc: BaseException, ctx: ServerRequestContext[LifespanT], request: Request, *, name: str, surface: str
    ) -> MCPError:
        """The error of the protocol that tells of `exc`, recorded."""
        name = shown_name(name)
        lost = request.lost(exc)
        context = self._context(ctx, request, exc)
        if is_a(exc, MCPError):
            broken = self._report_lost(lost, ctx, request, name=name, surface=surface) if lost else None
            if broken is not None:
                return self._error_of(broken, name=name, surface=surface)
            return self._recorded(cast("MCPError", exc), name=name, surface=surface, context=context)
        verdict = self._boundary.judged(
            exc, contract=request.contract, name=name, surface=surface, context=context, lost=lost
        )
        return self._error_of(verdict, name=name, surface=surface)

    def _error_of(self, verdict: Verdict, *, name: str, surface: str) -> MCPError:
        """The error of the protocol for the failure of a resource or a prompt."""
        error = self._protocol_error(verdict.envelope)
        if surface == "resource" and self._boundary.dialect.name == CANONICAL:
            error.error.data["uri"] = shown_value(self._boundary, name)  # as the SDK tells it
        return error

    def _recorded(
        self,
        error: MCPError,
        *,
        name: str,
        surface: str,
        context: dict[str, Any],
        call: CallState | None = None,
    ) -> MCPError:
        """`error`, which its author chose, recorded unless it is a step of the protocol; else what it gives way to."""
        if error.code in PROTOCOL_NEEDS:
            return error
        verdict = self._boundary.judged(
            error, contract=_NO_CONTRACT, name=name, surface=surface, context=context, call=call
        )
        if verdict.exception is not error or verdict.relayed:
            return self._protocol_error(verdict.envelope)
        return chosen_error(error, verdict.envelope.message, self._boundary.judge.limits)

    @contextlib.contextmanager
    def _scope(
        self, ctx: ServerRequestContext[LifespanT], params: Any, *, name: str, surface: str
    ) -> Iterator[Request]:
        """A request of its own, so that what an exception takes along ends with it, as in a tool."""
        request = Request(
            functools.partial(
                SDKContext,
                request_context=cast("Any", ctx),
                mcp_server=self,
                input_params=params,
                subscriptions=self._subscriptions,
            ),
            judged=functools.partial(self._judged_item, ctx, shown_name(name), surface=surface),
            part=functools.partial(part_of_answer, self._boundary),
            shown=functools.partial(shown_value, self._boundary),
        )
        request.claimed = False
        token = current.set(request)
        try:
            yield request
        finally:
            current.reset(token)

    def _unknown(self, ctx: ServerRequestContext[LifespanT], name: str) -> CallToolResult:
        error = unknown_tool_error(name, (registered.name for registered in self._tool_manager.list_tools()))
        request = Request(functools.partial(SDKContext, request_context=cast("Any", ctx), mcp_server=self))
        verdict = self._boundary.judged(
            error, contract=_NO_CONTRACT, name=shown_name(name), context=self._context(ctx, request, error)
        )
        if self._unknown_tool == "result":
            return self._boundary.result(verdict.envelope)
        raise self._protocol_error(verdict.envelope)

    # --- records that had to wait for the trail; for `recorded_first` ---------------------------------------------

    def unrecorded(self, ctx: ServerRequestContext[LifespanT], params: Any) -> CallToolResult:
        """The result of a tool whose failure could not be recorded, where the trail's policy is to refuse.

        Raises:
            MCPError: If the call was not that of a tool.
        """
        if not isinstance(params, CallToolRequestParams):
            raise self.unrecorded_error(ctx, params)
        return self._boundary.result(self._unrecorded_verdict(ctx, params).envelope)

    def unrecorded_error(self, ctx: ServerRequestContext[LifespanT], params: Any) -> MCPError:
        """The same as an error of the protocol."""
        return self._protocol_error(self._unrecorded_verdict(ctx, params).envelope)

    def recording_failed(self, exc: Exception) -> None:
        """Log what went wrong with a record that had to wait."""
        log_recording(exc)

    def _unrecorded_verdict(self, ctx: ServerRequestContext[LifespanT], params: Any) -> Verdict:
        name = str(getattr(params, "name", None) or getattr(params, "uri", ""))
        request = Request(functools.partial(SDKContext, request_context=cast("Any", ctx), mcp_server=self))
        context = self._context(ctx, request, AuditError())
        registered = self._tool_manager.get_tool(name) if isinstance(params, CallToolRequestParams) else None
        return self._boundary.unrecorded(
            contract=_NO_CONTRACT, name=name, context=context, effects=_effects_of(registered)
        )

    def _protocol_error(self, envelope: Envelope) -> MCPError:
        return protocol_error_of(self._boundary, envelope)


class _Registering(ToolDecorator[R]):
    """What `@server.tool(errors=[...])` returns: it makes the tool and registers it."""

    def __init__(self, options: ToolOptions, server: Server[Any]) -> None:
        super().__init__(options)
        self._server = server

    if not TYPE_CHECKING:  # the types are those of the class above

        def __call__(self, fn: Callable[..., Any], /) -> Any:
            with self._server._startup.registration():  # noqa: SLF001 - a part of the server
                return super().__call__(fn)

    def _made(self, made: Tool[..., Any] | MethodTool[Any, ..., Any]) -> Any:
        self._server.add_tool(_unbound(made))
        return made


@contextlib.asynccontextmanager
async def _no_lifespan(_: object) -> AsyncIterator[dict[str, Any]]:
    """The lifespan of a server that has none; the SDK's default yields the same."""
    yield {}


_NO_CONTRACT: Final[Contract[Any]] = Contract()


def _effects_of(registered: SDKTool | None) -> Effects | None:
    """The effects that follow from the annotations of a tool for a failure that declares none."""
    if isinstance(registered, ContractTool):
        return registered.default_effects
    return None if registered is None else default_effects(registered.annotations)


def _unbound(made: Any) -> Tool[..., Any]:
    tool = as_tool(made)
    assert tool is not None
    return tool
