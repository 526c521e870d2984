"""`Server`: the SDK's `MCPServer`, whose tools fail with envelopes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, cast, overload

from mcp.server.mcpserver import Context as SDKContext, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.resources import Resource
from mcp.server.mcpserver.tools import Tool as SDKTool
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    Icon,
    InputRequiredResult,
    ListToolsResult,
    Prompt as MCPPrompt,
    Resource as MCPResource,
    ResourceTemplate as MCPResourceTemplate,
    Tool as MCPTool,
    ToolAnnotations,
)
from typing_extensions import TypeVar, Unpack

from mcpcore.boundary.fallbacks import FallbackCheck, external_names
from mcpcore.boundary.outcome import FailedCall
from mcpcore.boundary.request import checked_limits
from mcpcore.boundary.script import Boundary
from mcpcore.boundary.strictness import Strictness
from mcpcore.contract.bound_fields import checked
from mcpcore.contract.failure_modes import Contract, ContractError, FailureMode
from mcpcore.contract.limits import DEFAULT_LIMITS, Limits
from mcpcore.declare.declaration import ToolOptions
from mcpcore.declare.decorators import (
    DeclaredPrompt,
    DeclaredResource,
    PromptDecorator,
    PromptOptions,
    ResourceDecorator,
    ResourceOptions,
    Tool,
    ToolDecorator,
    as_prompt,
    as_resource,
    as_tool,
    make_tool,
)
from mcpcore.declare.signature import takes_context
from mcpcore.sdk.calls import Calls, answers_nested
from mcpcore.sdk.errors import (
    ToolFailure as ToolFailure,  # noqa: PLC0414 - part of this module
    UnansweredError,
    UnknownTool,
    check_names,
    check_options,
    exposed_texts,
    exposes_internal_errors,
    missing_attribute,
)
from mcpcore.sdk.handlers import registering, with_contracts
from mcpcore.sdk.private import copy_identity_once, handler_of, lowlevel_of
from mcpcore.sdk.refusals import Refusals, watched
from mcpcore.sdk.resources_and_prompts import register_prompt, register_resource
from mcpcore.sdk.returned import Resources, watched_prompt
from mcpcore.sdk.startup import Startup, no_lifespan
from mcpcore.sdk.tools import ContractTool, ServerFallbacks, ToolListing
from mcpcore.values.logs import own_handler
from mcpcore.values.request_var import current

if TYPE_CHECKING:
    import os
    from contextlib import AbstractAsyncContextManager

    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel.helper_types import ReadResourceContents
    from pydantic import AnyUrl
    from starlette.applications import Starlette

    from mcpcore.audit import AuditTrail
    from mcpcore.contract.codes import ErrorCode
    from mcpcore.declare.keywords import OwnKeywords, PromptKeywords, ResourceKeywords, ServerOptions, ToolKeywords
    from mcpcore.wire.envelope import Envelope

LifespanT = TypeVar("LifespanT", default=Any)
R = TypeVar("R", bound=str)
_CallableT = TypeVar("_CallableT", bound=Callable[..., Any])


class Server(MCPServer[LifespanT], Generic[LifespanT]):
    """An MCP server whose tools fail with declared, typed and recorded envelopes.

    It is the SDK's `MCPServer` with nothing taken away: `@server.tool()`, resources, prompts, middleware, transports
    and lifespans are the SDK's own, and what its tools raise comes out in the same envelope.

    ```python
    @tool
    def double(number: int) -> int:
        '''Double a number.'''
        return 2 * number

    server = Server("numbers", tools=[double], strict=True)
    if __name__ == "__main__":
        server.run()
    ```
    """

    def __init__(
        self,
        name: str | None = None,
        *args: Any,
        tools: Iterable[Tool[..., Any] | SDKTool] | None = None,
        resources: Iterable[DeclaredResource[..., Any] | Resource] | None = None,
        prompts: Iterable[DeclaredPrompt[..., Any] | Prompt] | None = None,
        lifespan: Callable[[Server[LifespanT]], AbstractAsyncContextManager[LifespanT]] | None = None,
        audit: AuditTrail | str | os.PathLike[str] | None = None,
        advertise_errors: bool = True,
        describe_failures: bool = False,
        expose_internal_errors: bool | Literal["message"] = False,
        strict: bool = False,
        unknown_tool: UnknownTool = "protocol",
        dialect: str = "canonical",
        tool_failure_meta: bool = False,
        repeat_notice: bool = True,
        limits: Limits = DEFAULT_LIMITS,
        bind: Mapping[str, str | None] | None = None,
        external_tools: Iterable[str] = (),
        timeout: float | None = None,
        max_concurrency: int | None = None,
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
            expose_internal_errors: Whether clients see exceptions that nobody declared. "message" sends their texts, as
                version 1 of the SDK and FastMCP do, for a server that declares its failures step by step. True sends
                the tracebacks too, for development only. The environment variable MCPCORE_EXPOSE_INTERNAL_ERRORS does
                the same with "message" and with 1.
            strict: Whether a call that breaks its contract fails with INTERNAL_ERROR, and whether an unknown fallback
                tool keeps the server from starting; for tests and CI. The environment variable MCPCORE_STRICT=1 does
                the same.
            unknown_tool: Whether a client that calls an unknown tool gets a "protocol" error, or a "result" that the
                model sees.
            dialect: The envelope that clients of this server read.
            tool_failure_meta: Whether failed results have the `ToolFailure` of SEP-3313, a draft of MCP, in `_meta`.
            limits: The bounds of an envelope.
            bind: Fields of every envelope and record: `session_id`, `role`, `workspace_root`, `phase_id`, `plan_hash`
                and `invariant_id`.
            external_tools: Tools of other servers, which contracts may name as fallback tools.
            timeout: Seconds that a request may take; then it fails with TIMEOUT. A tool's own timeout replaces it.
            max_concurrency: Requests that may run concurrently; one more fails with RATE_LIMITED and a waiting time.
            repeat_notice: Whether the third identical call that fails in the same way says so, and each one after it.
            **options: All that the SDK's `MCPServer` takes; see `mcpcore.declare.keywords.ServerOptions`.

        Raises:
            ContractError: If a tool cannot be served.
            ValueError: If an option has a value that it cannot have.
            TypeError: If an option is unknown.
        """
        check_options("Server", limits=limits, unknown_tool=unknown_tool, expose_internal_errors=expose_internal_errors)
        check_names(type(self), options)
        call_limits = checked_limits("Server", "server", timeout=timeout, max_concurrency=max_concurrency)
        self._fields = checked(bind or {}, "Server(bind=…)")
        self.external_tools: frozenset[str] = external_names("Server", external_tools)
        """Tools of other servers, as the option names them."""
        self._startup = Startup(name or "mcp-server", self._record_own_failure, lambda: self._fallbacks.check())  # noqa: PLW0108 - it is made below
        watched: Any = self._startup.watched(no_lifespan if lifespan is None else lifespan)
        extensions = options.pop("extensions", None) or ()  # applied below, where their failures can be recorded
        with own_handler():  # the SDK sets up the root logger
            # The positional arguments may be any of these options, so that no checker can match the two.
            super().__init__(name, *args, lifespan=watched, **cast("dict[str, Any]", options))
        copy_identity_once(lowlevel_of(self))
        self._resource_manager = Resources.of(self._resource_manager)  # notices exceptions that are returned
        self._boundary = Boundary(
            server=self.name,
            expose=exposes_internal_errors(expose_internal_errors),
            limits=limits,
            dialect=dialect,
            audit=audit,
            strictness=Strictness(strict),
            tool_failure_meta=tool_failure_meta,
            repeat_notice=repeat_notice,
        )
        options_of_list = {"advertise_errors": advertise_errors, "describe_failures": describe_failures}
        self._listing = ToolListing(lowlevel_of(self), self._boundary.dialect, self._own_tools, **options_of_list)
        self.middleware.append(cast("Any", self._listing))  # the innermost, so all others see the whole list
        self._calls = Calls(
            self, self._tool_manager, self._boundary, fields=self._fields, unknown_tool=unknown_tool, limits=call_limits
        )
        self._refusals = Refusals(self._boundary.trail, self.name)
        self._fallbacks = ServerFallbacks(
            FallbackCheck(self.name, "Server", self.external_tools),
            self._startup,
            self._boundary.strictness,
            (self._tool_manager, self._resource_manager, self._prompt_manager),
            self.list_tools,
        )
        with self._startup.component():  # without its components, the server cannot start
            for extension in extensions:
                self._apply_extension(extension)
            self._install_extension_interceptor()
            for item in tools or ():
                self._add(item)
            for resource in resources or ():
                self.add_resource(resource)
            for prompt in prompts or ():
                self.add_prompt(prompt)
        self._answer_calls_directly()

    def _record_own_failure(self, exc: BaseException, code: ErrorCode | None) -> Envelope:
        call = FailedCall(name=self.name, surface="server", context=dict(self._fields), code=code)
        return self._boundary.record_failure(exc, call).envelope

    def streamable_http_app(self, **options: Any) -> Starlette:
        """The ASGI application for streamable HTTP, as the SDK makes it with `options`; it counts refused requests."""
        path = options.get("streamable_http_path", "/mcp")  # the SDK's default
        return watched(super().streamable_http_app(**options), self._refusals, path)

    def sse_app(self, **options: Any) -> Starlette:
        """The ASGI application for SSE, as the SDK makes it with `options`; it counts refused requests."""
        paths = options.get("sse_path", "/sse"), options.get("message_path", "/messages/")
        return watched(super().sse_app(**options), self._refusals, *paths)

    async def run_streamable_http_async(self, **options: Any) -> None:
        """Serve streamable HTTP, as the SDK's server does with `options`; a port that is taken is recorded."""
        with self._startup.transport():
            await super().run_streamable_http_async(**options)

    async def run_sse_async(self, **options: Any) -> None:
        """Serve SSE, as the SDK's server does with `options`; a port that is taken is recorded."""
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

    if not TYPE_CHECKING:  # to a checker, a class with `__getattr__` has every attribute

        def __getattr__(self, name: str) -> object:
            """Explain how to mount the server when FastMCP reads an attribute that only its servers have."""
            raise missing_attribute(self, name)
    else:  # the SDK's overloads refuse a transport that may be stdio, which ignores the options of the others

        def run(  # noqa: D102 - that of the SDK
            self, transport: Literal["stdio", "sse", "streamable-http"] = "stdio", *, host: str = ..., port: int = ...,
            sse_path: str = ..., message_path: str = ..., streamable_http_path: str = ..., json_response: bool = ...,
            stateless_http: bool = ..., event_store: Any = ..., retry_interval: int | None = ...,
            max_request_body_size: int = ..., session_idle_timeout: float | None = ..., max_sessions: int | None = ...,
            transport_security: Any = ...,
        ) -> None: ...  # fmt: skip

    @property
    def contracts(self) -> dict[str, Contract[Any]]:
        """The contract of each contract tool, by the tool's name."""
        tools = self._tool_manager.list_tools()
        return {tool.name: tool.tool.contract for tool in tools if isinstance(tool, ContractTool)}

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
        if manager.get_tool(registered.name) is not None:  # the SDK would keep the first and log a warning
            raise ContractError(
                f"server {self.name!r} has a tool {registered.name!r} already; a client could not tell the two apart: "
                "give one of them another name"
            )
        if isinstance(registered, ContractTool):  # first, since a strict server must not keep what it refuses
            self._fallbacks.check_new("tool", registered.name, registered.tool.contract, registered)
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
        **own: Unpack[OwnKeywords],
    ) -> None:
        """Add a tool: one made by `@tool`, or a function, which with `errors` becomes a contract tool.

        So it does with another option of `mcpcore.tool`, such as `read_only`, or if it takes mcpcore's `Context`. Any
        other function becomes a tool of the SDK's own kind. `fn` is the tool or the function; the other parameters are
        those of `mcpcore.tool`.

        Raises:
            ContractError: If the contract or the handler cannot be served, or the name is taken.
        """
        keywords: dict[str, Any] = {
            "name": name,
            "title": title,
            "description": description,
            "annotations": annotations,
            "icons": icons,
            "meta": meta,
            "structured_output": structured_output,
            "errors": errors,
            **own,
        }
        with self._startup.registration():
            made = as_tool(fn)
            if made is not None:
                changes = {key: value for key, value in keywords.items() if value is not None}
                self._register(ContractTool.of(made.with_options(**changes) if changes else made))
            elif errors is not None or own or takes_context(fn, name=name):
                options = {**keywords, "errors": errors or ()}
                self._register(ContractTool.of(cast("Tool[..., Any]", as_tool(make_tool(fn, ToolOptions(**options))))))
            else:
                super().add_tool(fn, name, title, description, annotations, icons, meta, structured_output)

    @overload
    def tool(self, *, errors: Sequence[FailureMode[R]], **options: Unpack[ToolKeywords]) -> ToolDecorator[R]: ...
    @overload
    def tool(  # type: ignore[overload-overlap] # of a call that fits both, the first counts
        self,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        structured_output: bool | None = None,  # noqa: FBT001 - the SDK's own signature
    ) -> Callable[[_CallableT], _CallableT]: ...
    @overload
    def tool(self, **options: Unpack[ToolKeywords]) -> ToolDecorator[Any]: ...
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
        **own: Unpack[OwnKeywords],
    ) -> Any:
        """Register the decorated function; with `errors` as a contract tool, else as a tool of the SDK's own kind.

        The other options of `mcpcore.tool`, such as `read_only`, make a contract tool of it too. For a contract tool
        the name refers to the `Tool`, which a unit test calls; else to the function. The parameters are those of
        `mcpcore.tool`.

        Raises:
            ContractError: If the contract or the handler cannot be served, or the name is taken.
        """
        options = (name, title, description, annotations, icons, meta, structured_output)
        with self._startup.registration():
            if errors is None and not own:  # the SDK's decorator calls `add_tool`, which finds mcpcore's Context
                return self._startup.registered(super().tool(*options))
            contract_options = ToolOptions(*options, errors or (), **own)

        def register(fn: Callable[..., Any]) -> Any:
            made = make_tool(fn, contract_options)
            self.add_tool(cast("Tool[..., Any]", as_tool(made)))
            return made

        return self._startup.registered(register)

    def add_resource(self, resource: Resource | DeclaredResource[..., Any]) -> None:
        """Add `resource`: one made by `@resource`, or one of the SDK.

        Raises:
            ContractError: If the server has a resource of its URI already.
        """
        with self._startup.registration():
            declared = as_resource(resource)
            if declared is not None:
                self._fallbacks.check_new("resource", declared.uri, declared.contract)
                register_resource(self._resource_manager, declared, security=self._resource_security)
            elif isinstance(resource, Resource):
                super().add_resource(resource)
            else:
                raise ContractError(
                    f"Server(resources=[...]) takes resources made by @resource and those of the SDK, not {resource!r}"
                )

    @overload
    def resource(
        self, uri: str, *, errors: Sequence[FailureMode[R]], **options: Unpack[ResourceKeywords]
    ) -> ResourceDecorator[R]: ...
    @overload
    def resource(self, uri: str, **options: Unpack[ResourceKeywords]) -> Callable[[_CallableT], _CallableT]: ...
    def resource(self, uri: str, *, errors: Sequence[FailureMode[Any]] | None = None, **options: Any) -> Any:
        """Register the decorated function; with `errors` as a resource with a contract.

        Without `errors` it becomes a resource of the SDK's own kind, unless it takes mcpcore's `Context`. With
        `errors` the name refers to the `DeclaredResource`, which a unit test calls; without, to the function. The
        parameters are those of `mcpcore.resource`.

        Raises:
            ContractError: If the contract or the handler cannot be served, or the URI is taken.
        """
        with self._startup.registration():
            return self._startup.registered(
                registering(
                    errors,
                    lambda contract: ResourceDecorator(ResourceOptions(uri=uri, errors=contract, **options)),
                    partial(super().resource, uri, **options),
                    self.add_resource,
                )
            )

    def add_prompt(self, prompt: Prompt | DeclaredPrompt[..., Any]) -> None:
        """Add `prompt`: one made by `@prompt`, or one of the SDK, whose function fails if it returns an exception.

        Raises:
            ContractError: If the server has a prompt of its name already.
        """
        with self._startup.registration():
            declared = as_prompt(prompt)
            if declared is not None:
                self._fallbacks.check_new("prompt", declared.name, declared.contract)
                register_prompt(self._prompt_manager, declared)
            elif isinstance(prompt, Prompt):
                super().add_prompt(watched_prompt(prompt))
            else:
                raise ContractError(
                    f"Server(prompts=[...]) takes prompts made by @prompt and those of the SDK, not {prompt!r}"
                )

    @overload
    def prompt(self, *, errors: Sequence[FailureMode[R]], **options: Unpack[PromptKeywords]) -> PromptDecorator[R]: ...
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
        the name refers to the `DeclaredPrompt`, which a unit test calls; without, to the function. The parameters are
        those of `mcpcore.prompt`.

        Raises:
            ContractError: If the contract or the handler cannot be served, or the name is taken.
        """
        with self._startup.registration():
            return self._startup.registered(
                registering(
                    errors,
                    lambda contract: PromptDecorator(PromptOptions(name, title, description, icons, contract)),
                    partial(super().prompt, name, title, description, icons),
                    self.add_prompt,
                )
            )

    def completion(  # pyright: ignore[reportIncompatibleMethodOverride] - the SDK declares no types
        self,
    ) -> Callable[[_CallableT], _CallableT]:
        """Register the decorated function as the handler of completions; its failures are recorded."""

        def register(fn: _CallableT) -> _CallableT:
            complete = partial(self._calls.complete, complete=fn)
            lowlevel_of(self).add_request_handler("completion/complete", CompleteRequestParams, complete)
            return fn

        return register

    # --- what clients see -----------------------------------------------------------------------------------------

    async def list_tools(self) -> list[MCPTool]:
        """The tools as clients see them: with their contracts, and output schemas that admit the error."""
        return [self._listing.tool(registered) for registered in self._tool_manager.list_tools()]

    async def list_resources(self) -> list[MCPResource]:
        """The resources as clients see them, with their contracts."""
        return with_contracts(await super().list_resources(), self._resource_manager.list_resources())

    async def list_resource_templates(self) -> list[MCPResourceTemplate]:
        """The templates of resources as clients see them, with their contracts."""
        return with_contracts(await super().list_resource_templates(), self._resource_manager.list_templates())

    async def list_prompts(self) -> list[MCPPrompt]:
        """The prompts as clients see them, with their contracts."""
        return with_contracts(await super().list_prompts(), self._prompt_manager.list_prompts())

    # --- the requests of clients, which the SDK hands to these methods --------------------------------------------

    async def _handle_list_tools(self, ctx: ServerRequestContext[LifespanT], params: Any) -> Any:
        is_replaced = self._listing.replaces(ctx)  # the listing puts the tools into the answer of the SDK
        return ListToolsResult(tools=[]) if is_replaced else await super()._handle_list_tools(ctx, params)

    def _own_tools(self) -> list[SDKTool] | None:
        """The tools, unless the application lists them in its own way."""
        is_own = getattr(self.list_tools, "__func__", None) is Server.list_tools
        is_asked = handler_of(self, "tools/list") is Server._handle_list_tools
        return self._tool_manager.list_tools() if is_own and is_asked else None

    async def _handle_call_tool(
        self, ctx: ServerRequestContext[LifespanT], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        # Only a `call_tool` of the application or an extension that looks at results asks here.
        calls = self._calls
        is_replaced = self._replaces_calls()
        result = await (calls.call_by(ctx, params, self.call_tool) if is_replaced else calls.call_tool(ctx, params))
        return CallToolResult.model_validate(result) if isinstance(result, dict) else result

    def _answer_calls_directly(self) -> None:
        """Have the SDK get results in the form of the wire, unless an extension or the application reads them."""
        if handler_of(self, "tools/call") is Server._handle_call_tool and not self._replaces_calls():
            lowlevel_of(self).add_request_handler("tools/call", CallToolRequestParams, self._calls.call_tool)

    def _replaces_calls(self) -> bool:
        return getattr(self.call_tool, "__func__", None) is not Server.call_tool

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: SDKContext[LifespanT, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool, as the SDK's server does; a subclass that replaces this method gets the calls of clients.

        There, the result of a failed call has the envelope; everywhere else, the failure is raised.

        Args:
            name: The tool.
            arguments: Its arguments.
            context: The context of a request; a new one if it is None.

        Raises:
            ToolError: If the call failed; an error of the SDK's kind.
        """
        calls, answer = answers_nested.get()
        if answer is None or context is None or calls is not self._calls:  # the method may call another server
            with exposed_texts(self._boundary.mapper, name):
                return await super().call_tool(name, arguments, context)
        return cast("CallToolResult | InputRequiredResult", await answer(name, arguments))

    async def _handle_read_resource(self, ctx: ServerRequestContext[LifespanT], params: Any) -> Any:
        return await self._calls.read_resource(ctx, params, partial(super()._handle_read_resource, ctx, params))

    async def _handle_get_prompt(self, ctx: ServerRequestContext[LifespanT], params: Any) -> Any:
        return await self._calls.get_prompt(ctx, params, partial(super()._handle_get_prompt, ctx, params))

    async def read_resource(
        self, uri: AnyUrl | str, context: SDKContext[LifespanT, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """Read the resource at `uri`, as the SDK's server does; without `context`, in a new one.

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
