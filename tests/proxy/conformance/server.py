"""A server of the SDK with what the conformance suite asks for; see the scenarios of `conformance list --server`.

The names are those of the suite. `python server.py PORT` serves HTTP, `python server.py` stdio.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

from mcp.server.lowlevel import Server as LowLevel
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    Completion,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel, Field, create_model

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


TITLES = [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]
ENUMS: dict[str, tuple[Any, Any]] = {
    "untitledSingle": (str, {"enum": ["a", "b"]}),
    "titledSingle": (str, {"oneOf": TITLES}),
    "legacyEnum": (str, {"enum": ["a", "b"], "enumNames": ["A", "B"]}),
    "untitledMulti": (list[str], {"items": {"type": "string", "enum": ["a", "b"]}}),
    "titledMulti": (list[str], {"items": {"anyOf": TITLES}}),
}
Choices = create_model(
    "Choices", **{name: (kind, Field(json_schema_extra=schema)) for name, (kind, schema) in ENUMS.items()}
)  # type: ignore[call-overload]


@server.tool()
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Ask the user to choose."""
    return f"Elicitation completed: {(await ctx.elicit('Choose', Choices)).action}"


@server.tool()
def test_region(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Take an argument that is in a header, too."""
    return region


@server.tool()
def test_missing_capability(ctx: Context) -> str:
    """Need a client with a model."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        data = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(code=MISSING_REQUIRED_CLIENT_CAPABILITY, message="A model is needed", data=data)
    return "There is one."


# --- questions since 2026-07-28 -------------------------------------------------------------------------------------


def form(name: str, kind: str = "string") -> ElicitRequest:
    """Return a question for the user."""
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return ElicitRequest(params=ElicitRequestFormParams(message=f"Your {name}?", requested_schema=schema))


def sample(text: str) -> CreateMessageRequest:
    """Return a question for the client's model."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=100))


def ask_once(name: str, state: str | None = None, **questions: InputRequest) -> None:
    """Add a tool that asks, and succeeds once all questions are answered."""

    async def tool(ctx: Context) -> str | InputRequiredResult:
        if questions.keys() <= (ctx.input_responses or {}).keys() and ctx.request_state == state:
            return f"state-ok: {ctx.input_responses}"
        return InputRequiredResult(input_requests=questions, request_state=state)

    server.add_tool(tool, name=f"test_input_required_result_{name}", description="Ask.")


ask_once("elicitation", user_name=form("name"))
ask_once("sampling", capital_question=sample("What is the capital of France?"))
ask_once("list_roots", client_roots=ListRootsRequest())
ask_once("request_state", "nonce", confirm=form("ok", "boolean"))
ask_once("tampered_state", "round-1", confirm=form("ok", "boolean"))
ask_once("multiple_inputs", "all", user_name=form("name"), greeting=sample("Greet"), client_roots=ListRootsRequest())


@server.tool()
async def test_input_required_result_multi_round(ctx: Context) -> str | InputRequiredResult:
    """Ask twice."""
    step = {None: 1, "asked 1": 2}.get(ctx.request_state)
    if step is None:
        return "asked twice"
    return InputRequiredResult(input_requests={f"step{step}": form("name")}, request_state=f"asked {step}")


@server.tool()
async def test_input_required_result_capabilities(ctx: Context) -> InputRequiredResult:
    """Ask only what the client can answer."""
    known = ctx.client_capabilities
    requests: dict[str, InputRequest] = {}
    if known is None or known.sampling is not None:
        requests["sample"] = sample("Hello")
    if known is None or known.elicitation is not None:
        requests["ask"] = form("name")
    return InputRequiredResult(input_requests=requests, request_state="asked")


@server.prompt()
async def test_input_required_result_prompt(ctx: Context) -> list[UserMessage] | InputRequiredResult:
    """Ask before the prompt is made."""
    if ctx.input_responses:
        return [UserMessage(f"Use this: {ctx.input_responses}")]
    return InputRequiredResult(input_requests={"user_context": form("context")})


# --- tools that only have to be listed or to fail ---------------------------------------------------------------------

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}}}},
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@server.tool()
def json_schema_2020_12_tool() -> str:
    """Have a schema with many keywords."""
    return ""


server._tool_manager._tools["json_schema_2020_12_tool"].parameters = SCHEMA


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
