"""Tools with contracts among those of the SDK."""

from __future__ import annotations

import copy
import functools
import operator
from typing import TYPE_CHECKING, Any, Final, cast

from mcp.server.mcpserver.tools import Tool as SDKTool
from mcp.shared.exceptions import MCPError
from mcp_types import InputRequiredResult
from mcp_types import Tool as MCPTool
from pydantic import ConfigDict, PrivateAttr, ValidationError

from mcpcore.boundary.mapper import FailureMapper
from mcpcore.boundary.outcome import FailedCall, observe
from mcpcore.boundary.request import Request
from mcpcore.contract.effects import default_effects
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from mcpcore.sdk.definition import admitting_error
from mcpcore.sdk.errors import ToolFailure
from mcpcore.sdk.handlers import nested_call, require_served_by_sdk, run_handler
from mcpcore.sdk.results import converted
from mcpcore.sdk.scopes import require_granted
from mcpcore.sdk.serving import PROTOCOL_NEEDS, invalid_arguments_error, with_failures
from mcpcore.values.unwrapping import is_a
from mcpcore.wire.envelope import CANONICAL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping, Sequence

    from mcpcore.contract.effects import ToolEffects
    from mcpcore.contract.failure_modes import Contract
    from mcpcore.declare.tool import Tool
    from mcpcore.sdk.definition import ToolDefinition
    from mcpcore.sdk.returned import ResultForm
    from mcpcore.wire.dialects.dialect import Dialect


class ContractTool(SDKTool):
    """A tool of mcpcore among those of the SDK."""

    # Made without validation, it needs no validator, which would take 1 ms of the import.
    model_config = ConfigDict(defer_build=True)
    _tool: Tool[..., Any] = PrivateAttr()
    _definition: Any = PrivateAttr()

    @classmethod
    def of(cls, tool: Tool[..., Any]) -> ContractTool:
        """The SDK's kind of tool for `tool`."""
        require_served_by_sdk(tool)
        definition = tool.definition
        made = cls.model_construct(**{name: getattr(definition.sdk, name) for name in SDKTool.model_fields})
        made._tool = tool  # noqa: SLF001 - its own
        made._definition = definition  # noqa: SLF001 - its own
        return made

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
        return self._definition  # type: ignore[no-any-return]

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
        if self.resolved_params:
            return self._resolved(values, request)
        return run_handler(self.tool, values, request)

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
                returned = await self.start(arguments, request)
                return converted(self.results, returned)
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
    """The tools of a server as clients see them: with their contracts, and output schemas that admit the error."""

    def __init__(self, dialect: Dialect, *, advertise_errors: bool, describe_failures: bool) -> None:
        """List tools whose failures are written in `dialect`."""
        self._dialect = dialect
        self.advertise_errors = advertise_errors
        self.describe_failures = describe_failures
        self._written: dict[int, tuple[SDKTool, tuple[Any, ...], dict[str, Any]]] = {}

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

    def written(self, tools: Sequence[SDKTool]) -> list[dict[str, Any]]:
        """The tools in the form of the wire, which is kept until a tool changes.

        The SDK copies it before anybody else gets it.
        """
        kept, self._written = self._written, {}
        for registered in tools:
            parts = _listed(registered)
            known = kept.get(id(registered))
            # An application may change a schema in place, which comparing it with a copy of the old one shows.
            if known is None or known[0] is not registered or known[1] != parts:
                written = self.tool(registered).model_dump(by_alias=True, mode="json", exclude_none=True)
                known = registered, copy.deepcopy(parts), written
            self._written[id(registered)] = known
        return [written for *_, written in self._written.values()]


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
