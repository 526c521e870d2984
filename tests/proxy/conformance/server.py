"""A server of the SDK with what the conformance suite asks for; see the scenarios of `conformance list --server`.

The names are those of the suite. `python server.py PORT` serves HTTP, `python server.py` stdio.
"""

from __future__ import annotations

import sys
from typing import Any

from mcp.server.lowlevel import Server as LowLevel
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp_types import (
    AudioContent,
    Completion,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel, Field

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="

server = MCPServer("conformance", log_level="CRITICAL")


def resource(uri: str) -> EmbeddedResource:
    """Return a text as a block."""
    return EmbeddedResource(
        type="resource", resource=TextResourceContents(uri=uri, mime_type="text/plain", text="text")
    )


@server.tool()
def test_simple_text() -> str:
    """Answer with a text."""
    return "This is a simple text response for testing."


@server.tool()
def test_image_content() -> list[ImageContent]:
    """Answer with an image."""
    return [ImageContent(type="image", data=PIXEL, mime_type="image/png")]


@server.tool()
def test_audio_content() -> list[AudioContent]:
    """Answer with a sound."""
    return [AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")]


@server.tool()
def test_embedded_resource() -> list[EmbeddedResource]:
    """Answer with a resource."""
    return [resource("test://embedded-resource")]


@server.tool()
def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    """Answer with a block of each kind."""
    image = ImageContent(type="image", data=PIXEL, mime_type="image/png")
    return [TextContent(type="text", text="Multiple content types test:"), image, resource("test://mixed")]


@server.tool()
async def test_tool_with_logging(ctx: Context) -> str:
    """Log three times."""
    for step in ("begun", "going on", "done"):
        await ctx.session.send_log_message(level="info", data=step, related_request_id=ctx.request_id)
    return "logged"


@server.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    """Report progress three times."""
    for step in (0, 50, 100):
        await ctx.report_progress(step, 100, f"{step} of 100")
    return "reported"


@server.tool()
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Ask the client's model."""
    question = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    result = await ctx.session.create_message([question], max_tokens=100, related_request_id=ctx.request_id)
    return f"LLM response: {getattr(result.content, 'text', '')}"


class Answer(BaseModel):
    """The answer of the user."""

    response: str = Field(description="User's response")


@server.tool()
async def test_elicitation(message: str, ctx: Context) -> str:
    """Ask the user."""
    return f"User response: {(await ctx.elicit(message, Answer)).action}"


class Defaults(BaseModel):
    """A field of each kind, with a default."""

    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: str = Field("active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = True


@server.tool()
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Ask the user, with defaults."""
    return f"Elicitation completed: {(await ctx.elicit('Say who you are', Defaults)).action}"


@server.tool()
def test_error_handling() -> str:
    """Fail."""
    raise ToolError("This tool intentionally returns an error for testing")


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """Return a text."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """Return bytes."""
    import base64

    return base64.b64decode(PIXEL)


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:  # the suite's name
    """Return a text for an id."""
    return f'{{"id": "{id}", "templateTest": true, "data": "Data for ID: {id}"}}'


@server.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    """Return a text that may change."""
    return "Watched resource content."


@server.prompt()
def test_simple_prompt() -> list[UserMessage]:
    """Say something."""
    return [UserMessage("This is a simple prompt for testing.")]


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
    """Say the arguments."""
    return [UserMessage(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")]


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803 - the suite's name
    """Show a resource."""
    return [UserMessage(resource(resourceUri)), UserMessage("Please process the embedded resource above.")]


@server.prompt()
def test_prompt_with_image() -> list[UserMessage]:
    """Show an image."""
    image = ImageContent(type="image", data=PIXEL, mime_type="image/png")
    return [UserMessage(image), UserMessage("Please analyze the image above.")]


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> Completion:
    """Complete to nothing."""
    return Completion(values=[], total=0, has_more=False)


async def nothing(ctx: Any, params: Any) -> EmptyResult:
    """Accept a request that needs no more."""
    return EmptyResult()


lowlevel: LowLevel[Any] = server._lowlevel_server
lowlevel.add_request_handler("logging/setLevel", SetLevelRequestParams, nothing)
lowlevel.add_request_handler("resources/subscribe", SubscribeRequestParams, nothing)
lowlevel.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, nothing)

if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run(transport="streamable-http", port=int(sys.argv[1]))
    else:
        server.run()
