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

from mcpcore.sdk.prompts import messages_of
from mcpcore.sdk.resources import content_of
from mcpcore.sdk.returned import text_of
from mcpcore.values.unwrapping import returned_failure

_CONTENT: Final = (*get_args(ContentBlock), Audio, File, Image)


def as_fastmcp_writes(result: CallToolResult, returned: Any, *, wrapped: bool) -> CallToolResult:
    """`result`, which the SDK's conversion made of the value `returned`, in FastMCP's form.

    FastMCP writes a value as one text without indentation, and sends an object as structured content even if the tool
    has no output schema. `wrapped` says whether the structured content is an object with the value as its only key.
    """
    if returned is None or isinstance(returned, str | CallToolResult) or text_of(returned) is not None:
        return result
    if any(isinstance(item, _CONTENT) for item in (returned if isinstance(returned, list | tuple) else (returned,))):
        return result.model_copy(update={"content": ToolResult(content=returned).content})
    structured = result.structured_content
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
    if value == []:
        return result.model_copy(update={"content": [], "structured_content": structured})
    return result.model_copy(
        update={"content": [TextContent(type="text", text=text)], "structured_content": structured}
    )


def as_the_sdk_writes(returned: ToolResult) -> CallToolResult:
    """FastMCP's own result of a tool, as one of the SDK."""
    return CallToolResult(
        content=returned.content,
        structured_content=returned.structured_content,
        is_error=returned.is_error,
        _meta=returned.meta,
    )


def required(result: Any) -> Any:
    """`result`, a `ToolResult` or the model that an extension answers with.

    Raises:
        TypeError: If other middleware returned anything else, which FastMCP cannot send.
    """
    if not isinstance(result, BaseModel):
        raise TypeError(f"middleware returned {type(result).__name__}, not a ToolResult")
    return result


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
    content = await content_of(returned)
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
            made = await messages_of([item], name)
        except ValueError as exc:
            # The SDK wraps whatever went wrong.
            raise (exc if exc.__cause__ is None else returned_failure(exc.__cause__)) from None
        assert not isinstance(made, InputRequiredResult)
        messages += [Message(message.content, role=message.role) for message in made]
    return PromptResult(messages, description=description, meta=meta)
