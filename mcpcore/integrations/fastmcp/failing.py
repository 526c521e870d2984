"""The failures behind FastMCP's errors: names that do not exist, arguments that do not fit, and all others.

FastMCP checks the names of arguments before a contract tool can check their values. They are reported in the same words
as on a `Server`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastmcp.exceptions import DisabledError, NotFoundError, ValidationError as FastMCPValidationError
from fastmcp.server.auth import AuthContext
from fastmcp.server.dependencies import get_access_token
from pydantic import ValidationError
from pydantic_core import InitErrorDetails

from mcpcore.boundary.scopes import require_scopes
from mcpcore.contract.errors import CodedError, FrameworkError
from mcpcore.contract.failure_modes import NO_CONTRACT
from mcpcore.integrations.fastmcp.calling import FastMCPCall, server_of
from mcpcore.integrations.fastmcp.errors import is_before_handler, is_refusal_of_a_transform, raised_within
from mcpcore.integrations.fastmcp.finding import contract_tool_of, find_contract_prompt, find_contract_tool, tool_names
from mcpcore.sdk.serving import invalid_arguments_error, protocols_own, unknown_tool_error
from mcpcore.values.logs import LOGGER
from mcpcore.values.unwrapping import returned_failure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastmcp import FastMCP
    from fastmcp.server.middleware.middleware import MiddlewareContext
    from mcp_types import CallToolRequestParams, GetPromptRequestParams

    from mcpcore.boundary.request import Request
    from mcpcore.declare.tool import Tool
    from mcpcore.integrations.fastmcp.served import ServedServer


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
