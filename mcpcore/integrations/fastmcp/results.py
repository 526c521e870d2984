"""What the handlers of resources and prompts return, as FastMCP takes it.

A handler may return what it returns on a `Server`, and FastMCP's own kinds of results.
"""

from __future__ import annotations

from typing import Any

from fastmcp.prompts.base import Message, PromptResult
from fastmcp.resources.base import Resource, ResourceContent, ResourceResult
from mcp_types import InputRequiredResult

from mcpcore.exceptions import returned_failure
from mcpcore.sdk.prompts import messages_of
from mcpcore.sdk.resources import content_of


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
