"""Arguments that do not fit a tool or a prompt, reported in the same words as on a `Server`.

FastMCP checks the names of arguments before a contract tool can check their values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastmcp.exceptions import ValidationError as FastMCPValidationError
from pydantic import ValidationError
from pydantic_core import InitErrorDetails

from mcpcore.integrations.fastmcp.finding import find_contract_prompt
from mcpcore.sdk.serving import invalid_arguments_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastmcp import FastMCP
    from mcp_types import CallToolRequestParams, GetPromptRequestParams

    from mcpcore.declare.tool import Tool
    from mcpcore.errors import FrameworkError
    from mcpcore.request import Request


def unfit(exc: BaseException) -> ValidationError | None:
    """The pydantic error behind FastMCP's error for bad arguments; None for another error."""
    cause = exc.__cause__
    if type(exc) is FastMCPValidationError and isinstance(cause, ValidationError) and str(exc) == str(cause):
        return cause
    return None


async def invalid_arguments(
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
            return _caused(invalid_arguments_error(own, definition.sdk.parameters, message.name, arguments), own)
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
            return _caused(invalid_arguments_error(own, prompt.definition.sdk.parameters, name, arguments), own)
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
