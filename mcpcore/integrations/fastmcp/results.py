"""What handlers return, as FastMCP takes it or writes it itself.

A handler may return what it returns on a `Server`, and FastMCP's own kinds of results.
"""

from __future__ import annotations

from typing import Any, Final, get_args

from fastmcp.prompts.base import Message, PromptResult
from fastmcp.resources.base import Resource, ResourceContent, ResourceResult
from fastmcp.tools.base import ToolResult
from fastmcp.utilities.types import Audio, File, Image
from mcp_types import CallToolResult, ContentBlock, InputRequiredResult, TextContent
from pydantic import BaseModel
from pydantic_core import from_json, to_json

from mcpcore.sdk.definition import ToolDefinition
from mcpcore.sdk.resources_and_prompts import content_of_resource, messages_of_prompt
from mcpcore.sdk.results import converted, written_parts
from mcpcore.sdk.returned import text_of
from mcpcore.values.unwrapping import returned_failure

_CONTENT: Final = (*get_args(ContentBlock), Audio, File, Image)


def tool_result(returned: Any, definition: ToolDefinition) -> CallToolResult | InputRequiredResult:
    """The result of a contract tool, in FastMCP's form.

    Raises:
        ReturnedError: If it is a failure, or there are exceptions within it.
        BrokenResultError: If it breaks the tool's own output model, or cannot be written.
    """
    form, wrapped = definition.results, definition.results.metadata.wrap_output
    if isinstance(returned, ToolResult):
        sent = CallToolResult(
            content=returned.content,
            structured_content=returned.structured_content,
            is_error=returned.is_error,
            _meta=returned.meta,
        )
        return converted(form, sent)
    if isinstance(returned, bytes):
        # JSON has no bytes: FastMCP sends them as a text, decoded or as base64, and no structured content.
        return CallToolResult(content=ToolResult(content=returned).content)
    if issubclass(type(returned), CallToolResult | InputRequiredResult):
        result = converted(form, returned)
        if not isinstance(result, CallToolResult) or result.is_error:
            return result
    else:
        content, structured = _as_fastmcp_writes(returned, *written_parts(form, returned), wrapped=wrapped)
        result = CallToolResult(content=content, structured_content=structured)
    if wrapped:
        # With this mark, FastMCP's client takes the value out of the object that wraps it.
        fastmcp_meta = {**((result.meta or {}).get("fastmcp") or {}), "wrap_result": True}
        result = result.model_copy(update={"meta": {**(result.meta or {}), "fastmcp": fastmcp_meta}})
    return result


def _as_fastmcp_writes(returned: Any, content: list[Any], structured: Any, *, wrapped: bool) -> tuple[list[Any], Any]:
    """The content and the structured content that the SDK makes of the value `returned`, in FastMCP's form.

    FastMCP writes a value as one text without indentation, and sends an object as structured content even if the tool
    has no output schema. `wrapped` says whether the structured content is an object with the value as its only key.
    """
    if returned is None or isinstance(returned, str) or text_of(returned) is not None:
        return content, structured
    if any(isinstance(item, _CONTENT) for item in (returned if isinstance(returned, list | tuple) else (returned,))):
        return ToolResult(content=returned).content, structured
    if structured == {} and (written := from_json(to_json(returned, fallback=str, inf_nan_mode="null"))) != {}:
        # The SDK takes the class of a URL, for one, for a model without fields.
        structured, wrapped = {"result": written}, True
    value = structured["result"] if wrapped and structured is not None else structured
    text = to_json(returned if structured is None else value, fallback=str, inf_nan_mode="null").decode()
    if structured is None and text.startswith("{"):
        structured = from_json(text)
    if structured is None:
        value = from_json(text)  # a moment or an identifier is a text without quotation marks
    text = value if isinstance(value, str) else text
    return [] if value == [] else [TextContent(type="text", text=text)], structured


class FailedResult(ToolResult):
    """A failed call: its fields are those of a `CallToolResult` already, which FastMCP's own class would convert."""

    def __init__(self, **fields: Any) -> None:
        """Take the fields as they are."""
        BaseModel.__init__(self, **fields)

    def to_mcp_result(self) -> CallToolResult:
        """The same in the form of the protocol."""
        return CallToolResult(**vars(self))


def require_answer(result: object) -> None:
    """Check that `result` is a `ToolResult`, or the model that an extension answers with.

    Raises:
        TypeError: If other middleware returned anything else, which FastMCP cannot send.
    """
    if not isinstance(result, BaseModel):
        raise TypeError(f"middleware returned {type(result).__name__}, not a ToolResult")


def protocol_result(result: ToolResult) -> CallToolResult:
    """`result` as FastMCP sends it."""
    raw = result.to_mcp_result()
    if isinstance(raw, CallToolResult):
        return raw
    content, structured = raw if isinstance(raw, tuple) else (raw, None)
    return CallToolResult(content=content, structured_content=structured)


async def resource_result(
    returned: Any, *, mime_type: str | None, meta: dict[str, Any] | None
) -> ResourceResult | InputRequiredResult:
    """What the handler of a resource returned.

    Raises:
        ReturnedError: If it is an exception, or there are exceptions within it.
    """
    if isinstance(returned, ResourceResult | InputRequiredResult):
        return returned
    if isinstance(returned, Resource):
        returned = await returned.read()
        return await resource_result(returned, mime_type=mime_type, meta=meta)
    if isinstance(returned, list) and returned and all(isinstance(item, ResourceContent) for item in returned):
        return ResourceResult(returned)
    content = await content_of_resource(returned)
    return ResourceResult([ResourceContent(content, mime_type=mime_type or "text/plain", meta=meta)])


async def prompt_result(
    returned: Any, *, name: str, description: str | None, meta: dict[str, Any] | None
) -> PromptResult | InputRequiredResult:
    """What the handler of the prompt `name` returned.

    Raises:
        Exception: If it cannot be a message, or there are exceptions within it.
    """
    if isinstance(returned, PromptResult | InputRequiredResult):
        return returned
    messages: list[Message] = []
    for item in returned if isinstance(returned, list | tuple) else [returned]:
        if isinstance(item, Message):
            messages.append(item)
            continue
        try:
            made = await messages_of_prompt([item], name)
        except ValueError as exc:
            # The SDK wraps whatever went wrong.
            raise (exc if exc.__cause__ is None else returned_failure(exc.__cause__)) from None
        assert not isinstance(made, InputRequiredResult)
        messages += [Message(message.content, role=message.role) for message in made]
    return PromptResult(messages, description=description, meta=meta)
