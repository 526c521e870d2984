"""Tools with contracts among those of the SDK, and the fallback tools that the contracts of a `Server` name."""

from __future__ import annotations

import copy
import functools
import operator
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from mcp.server.mcpserver.tools import Tool as SDKTool, ToolManager
from mcp.shared.exceptions import MCPError
from mcp_types import InputRequiredResult, ListToolsResult, Tool as MCPTool
from mcp_types.methods import serialize_server_result
from pydantic import ConfigDict, PrivateAttr, ValidationError
from pydantic_core import from_json, to_json

from mcpcore.boundary.fallbacks import Fallback, FallbackCheck, fallbacks_in
from mcpcore.boundary.mapper import FailureMapper
from mcpcore.boundary.outcome import FailedCall, observe
from mcpcore.boundary.request import Request
from mcpcore.contract.effects import ToolEffects, default_effects
from mcpcore.contract.failure_modes import CONTRACT_META_KEY, Contract
from mcpcore.sdk.definition import ToolDefinition, admitting_error
from mcpcore.sdk.errors import PROTOCOL_NEEDS, ToolFailure, invalid_arguments_error, require_granted, with_failures
from mcpcore.sdk.handlers import nested_call, require_served_by_sdk, run_handler
from mcpcore.sdk.results import converted
from mcpcore.values.unwrapping import is_a
from mcpcore.wire.envelope import CANONICAL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.prompts import PromptManager
    from mcp.server.mcpserver.resources import ResourceManager

    from mcpcore.boundary.strictness import Strictness
    from mcpcore.declare.declaration import Declaration
    from mcpcore.declare.decorators import Tool
    from mcpcore.sdk.returned import ResultForm
    from mcpcore.sdk.startup import Startup
    from mcpcore.wire.dialects.dialect import Dialect


class ContractTool(SDKTool):
    """A tool of mcpcore among those of the SDK."""

    # Made without validation, it needs no validator, which would take 1 ms of the import.
    model_config = ConfigDict(defer_build=True)
    _tool: Tool[..., Any] = PrivateAttr()

    @classmethod
    def of(cls, tool: Tool[..., Any]) -> ContractTool:
        """The SDK's kind of tool for `tool`."""
        require_served_by_sdk(tool)
        definition = tool.definition
        return cls.model_construct(_tool=tool, **{name: getattr(definition.sdk, name) for name in SDKTool.model_fields})

    # Cached, since pydantic looks a private attribute up the long way, some times in each call.
    @functools.cached_property
    def tool(self) -> Tool[..., Any]:
        """The tool as it was declared."""
        return self._tool

    @functools.cached_property
    def contract(self) -> Contract[Any]:
        """Its failure modes."""
        return self._tool.contract

    @functools.cached_property
    def definition(self) -> ToolDefinition:
        """Its schemas."""
        return self._tool.definition

    @functools.cached_property
    def results(self) -> ResultForm:
        """How its results are written."""
        return self.definition.results

    @functools.cached_property
    def default_effects(self) -> ToolEffects:
        """The effects that follow from its annotations for a failure that declares none."""
        return default_effects(self.annotations)

    @functools.cached_property
    def published(self) -> list[Any]:
        """The contract as `tools/list` carries it."""
        return self._tool.contract.to_json(self.default_effects)

    def start(self, arguments: Mapping[str, Any], request: Request) -> Awaitable[Any]:
        """Validate the arguments and start the handler; what it returns, or questions to the client, once awaited.

        Raises:
            FrameworkError: If the arguments do not fit, or the caller lacks a scope.
        """
        definition, declaration = self.definition, self.tool.declaration
        request.arguments = arguments
        if declaration.scopes:
            require_granted(declaration.scopes, request)
        try:
            values = definition.validate(arguments)
        except ValidationError as exc:
            error = invalid_arguments_error(exc, definition.places, self.name, arguments)
            # `forget_tracebacks` then need not look whether the frames of the cause are still running.
            raise error from exc.with_traceback(None)
        return self._resolved(values, request) if self.resolved_params else run_handler(self.tool, values, request)

    async def _resolved(self, values: dict[str, Any], request: Request) -> Any:
        resolved = await self.definition.resolve(values, request)
        if isinstance(resolved, InputRequiredResult):
            return resolved
        return await run_handler(self.tool, values | resolved, request)

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
        request = Request(lambda: context, effects=self.default_effects)
        try:
            with nested_call(request, self.name):
                return converted(self.results, await self.start(arguments, request))
        except Exception as exc:
            if is_a(exc, MCPError) and cast("MCPError", exc).code in PROTOCOL_NEEDS:
                raise
            raise self._failure(exc, request) from exc

    def _failure(self, exc: Exception, request: Request) -> ToolFailure:
        call = FailedCall(
            name=self.name, contract=self._tool.contract, arguments=request.arguments, state=request.state()
        )
        outcome = FailureMapper().outcome(exc, call)
        observe(outcome, call)
        return ToolFailure(outcome.envelope)


class ToolListing:
    """The tools of a server as clients see them: with their contracts, and output schemas that admit the error.

    It is also middleware, which puts the tools into the answer to `tools/list`. The SDK validates and writes the list
    for each client again, which takes most of the time of the request. From this server it gets an empty list: it
    still checks the request, and makes the other parts of the answer.
    """

    def __init__(
        self,
        server: Any,
        dialect: Dialect,
        own_tools: Callable[[], list[SDKTool] | None],
        *,
        advertise_errors: bool,
        describe_failures: bool,
    ) -> None:
        """List the tools of `server`, one of the SDK's lower level, whose failures are written in `dialect`.

        `own_tools` are those that may be kept; None if the application lists its tools in its own way.
        """
        self._server = server
        self._dialect = dialect
        self.advertise_errors = advertise_errors
        self.describe_failures = describe_failures
        self._own_tools = own_tools
        self._kept: tuple[Sequence[SDKTool], list[tuple[Any, ...]], dict[str, bytes | None]] = (), [], {}
        self._replaced: ContextVar[object] = ContextVar("mcpcore_replaced_list", default=None)

    def __call__(self, ctx: ServerRequestContext[Any], call_next: CallNext) -> Awaitable[HandlerResult]:
        """Answer `tools/list`; other requests pass, without another coroutine."""
        # Middleware that was added later would see the empty list.
        is_innermost = ctx.method == "tools/list" and self._server.middleware[-1:] == [self]
        tools = self._own_tools() if is_innermost else None
        text = None if tools is None else self._text(tools, ctx.protocol_version)
        # Without a text, the SDK makes the list, and says what is wrong with it.
        return call_next(ctx) if text is None else self._answered(ctx, call_next, text)

    async def _answered(self, ctx: ServerRequestContext[Any], call_next: CallNext, text: bytes) -> HandlerResult:
        token = self._replaced.set(ctx)
        try:
            result: Any = await call_next(ctx)
        finally:
            self._replaced.reset(token)
        # Parsed for each client, since a client in memory may change what it gets.
        return {**result, "tools": from_json(text)}

    def replaces(self, ctx: object) -> bool:
        """Whether this puts the tools into the answer to the request."""
        return self._replaced.get() is ctx

    def tool(self, registered: SDKTool) -> MCPTool:
        """One tool."""
        schema, meta, description = registered.output_schema, registered.meta, registered.description
        if isinstance(registered, ContractTool) and len(registered.tool.contract):
            meta = {**(meta or {}), CONTRACT_META_KEY: registered.published}
            if self.describe_failures:
                description = with_failures(description, registered.published)
        if self.advertise_errors and schema is not None:
            schema = _admitting_failure(registered, schema, self._dialect)
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

    def _text(self, tools: Sequence[SDKTool], version: str) -> bytes | None:
        """The JSON that the SDK makes of `tools` in a version of the protocol, kept until a tool changes.

        None if the SDK refuses it, or if it is no JSON.
        """
        parts = [*map(_listed, tools)]
        kept, kept_parts, texts = self._kept
        # An application may change a schema in place, which comparing it with a copy of the old one shows.
        if len(tools) != len(kept) or not all(map(operator.is_, tools, kept)) or parts != kept_parts:
            texts = {}
            self._kept = tools, copy.deepcopy(parts), texts
        if version not in texts:
            texts[version] = None
            result = ListToolsResult(tools=[*map(self.tool, tools)])
            with suppress(ValueError):
                plain = result.model_dump(by_alias=True, mode="json", exclude_none=True)
                written = serialize_server_result("tools/list", version, plain)["tools"]
                text = to_json(written)
                texts[version] = text if from_json(text) == written else None
        return texts[version]


_listed: Final = operator.attrgetter(
    "name",
    "title",
    "description",
    "parameters",
    "output_schema",
    "annotations",
    "icons",
    "meta",
)
"""The attributes of a tool that a list of tools shows."""


def _admitting_failure(tool: SDKTool, schema: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    """The output schema of `tool`, so that a failure in the dialect fits it too."""
    if dialect.name != CANONICAL:
        return admitting_error(schema, dialect.schema)
    if isinstance(tool, ContractTool) and tool.definition.output_schema is not None:
        return tool.definition.output_schema
    return admitting_error(schema)


class Registered(NamedTuple):
    """A registered tool, resource or prompt: its contract, its function and its declaration, where they are known."""

    contract: Contract[Any] | None
    function: Callable[..., Any] | None
    declaration: Declaration | None = None


def registered_on(server: MCPServer[Any]) -> Callable[[str, str], Awaitable[Registered]]:
    """A function that finds what `server` has registered, by kind ("tool", "resource", "prompt") and by name or URI."""
    tools, resources, prompts = server._tool_manager, server._resource_manager, server._prompt_manager  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    registered = {
        **{("tool", tool.name): _registered(tool) for tool in tools.list_tools()},
        **{("resource", str(resource.uri)): _registered(resource) for resource in resources.list_resources()},
        **{("resource", template.uri_template): _registered(template) for template in resources.list_templates()},
        **{("prompt", prompt.name): _registered(prompt) for prompt in prompts.list_prompts()},
    }

    async def find(kind: str, name: str) -> Registered:
        return registered.get((kind, name), Registered(None, None))

    return find


def _registered(item: object) -> Registered:
    declared = item.tool if isinstance(item, ContractTool) else getattr(item, "_declared", None)
    if declared is not None:
        return Registered(declared.contract, declared.declaration.handler, declared.declaration)
    return Registered(None, getattr(item, "fn", None))


# --- fallback tools ---------------------------------------------------------------------------------------------------


class ServerFallbacks:
    """Checks the fallback tools of a `Server` when it starts, and those of what it registers later."""

    def __init__(
        self,
        check: FallbackCheck,
        startup: Startup,
        strictness: Strictness,
        managers: tuple[ToolManager, ResourceManager, PromptManager],
        list_tools: Callable[[], Awaitable[Sequence[MCPTool]]],
    ) -> None:
        """Report with `check`; the `managers` hold what the server has registered, `list_tools` is its own method."""
        self._check = check
        self._startup = startup
        self._strictness = strictness
        self._tools, self._resources, self._prompts = managers
        self._list_tools = list_tools

    async def check(self) -> None:
        """Check all contracts, once the lifespan has registered its own tools.

        Raises:
            ContractError: If a fallback tool is unknown and the server is strict.
        """
        known: dict[str, Any] = self._by_name()
        unknown = self._check.unknown(self._declared(known), known)
        if unknown:
            # A subclass may list tools that it does not register; its list may need a request.
            with suppress(Exception):
                known = {tool.name: tool for tool in await self._list_tools()} | known
            unknown = self._check.unknown(self._declared(known), known)
        self._check.report(unknown, known, strict=self._strictness.on)

    def check_new(self, noun: str, name: str, contract: Contract[Any], own: Any = None) -> None:
        """Check a contract that is about to be registered; before the server has started, this does nothing.

        Raises:
            ContractError: If a fallback tool is unknown and the server is strict.
        """
        if not self._startup.running:
            return
        known = self._by_name()
        if own is not None:
            known[name] = own
        unknown = self._check.unknown(fallbacks_in(noun, name, contract, known, own), known)
        self._check.report(unknown, known, strict=self._strictness.on)

    def _by_name(self) -> dict[str, Any]:
        return {tool.name: tool for tool in self._tools.list_tools()}

    def _declared(self, known: Mapping[str, Any]) -> Iterator[Fallback]:
        for tool in self._tools.list_tools():
            if isinstance(tool, ContractTool):
                yield from fallbacks_in("tool", tool.name, tool.tool.contract, known, tool)
        for resource in self._resources.list_resources():
            yield from fallbacks_in("resource", str(resource.uri), getattr(resource, "contract", ()), known)
        for template in self._resources.list_templates():
            yield from fallbacks_in("resource", template.uri_template, getattr(template, "contract", ()), known)
        for prompt in self._prompts.list_prompts():
            yield from fallbacks_in("prompt", prompt.name, getattr(prompt, "contract", ()), known)
