"""Handlers that ask the user: by a request in the handshake era, by a result in the era of 2026-07-28."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from fastmcp import Client, FastMCP
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import BaseModel

from mcpcore import Context, ErrorCode, FailureMode, prompt, resource, tool
from mcpcore.integrations.fastmcp import ContractMiddleware
from tests.answers import outcome_of
from tests.integrations.fastmcp.contract_server import extended


@dataclass
class Answer:
    """A question to the user, as a FastMCP type."""

    yes: bool


class Form(BaseModel):
    """The same question, as an mcpcore type."""

    yes: bool


@pytest.mark.anyio
async def test_a_handler_asks_the_user_through_either_context() -> None:
    """`ctx.elicit` and `ctx.fastmcp.elicit` both work."""
    mcp = extended(FastMCP("orders"), ContractMiddleware())

    @mcp.tool
    @tool
    async def ask(ctx: Context) -> list[str]:
        ours: Any = await ctx.elicit("Ours?", Form)
        theirs: Any = await ctx.fastmcp.elicit("Theirs?", Answer)
        return [f"{ours.action} {ours.data.yes}", f"{theirs.action} {theirs.data.yes}"]

    questions: list[str] = []

    async def answer(message: str, kind: Any, params: Any, context: Any) -> Any:
        questions.append(message)
        return {"yes": True}

    async with Client(mcp, elicitation_handler=answer, mode="legacy") as client:
        result = await client.call_tool_mcp("ask", {})
    assert ["accept True", "accept True"] == result.structured_content["result"], result
    assert ["Ours?", "Theirs?"] == questions


@pytest.mark.parametrize(
    ("context", "name", "words"),
    [
        ("ours", "INVALID_REQUEST", "no back-channel for server-initiated"),
        ("theirs", "INTERNAL_ERROR", "unavailable on 2026-07-28 connections"),
    ],
)
def test_in_the_era_of_2026_07_28_no_context_can_send_a_request(context: str, name: str, words: str) -> None:
    """The protocol no longer has server requests, and the failure says so."""
    mcp = extended(FastMCP("orders"), ContractMiddleware())

    @mcp.tool
    @tool
    async def ask(ctx: Context) -> str:
        await (ctx.elicit("Ours?", Form) if context == "ours" else ctx.fastmcp.elicit("Theirs?", Answer))
        return "never"

    error = calling(mcp, "call_tool_mcp", "ask", {}).structured_content["error"]
    assert name == error["name"]
    assert words in error["message"]


DECLINED = FailureMode("declined", ErrorCode.FORBIDDEN, when="The user said no.", recovery="Ask what to do instead.")
Asking = Context[Literal["declined"]]
QUESTION = ElicitRequest(
    params=ElicitRequestFormParams(
        message="Really?", requested_schema={"type": "object", "properties": {"yes": {"type": "boolean"}}}
    )
)


def question_or_answer(ctx: Asking) -> InputRequiredResult | str:
    """Ask in the first round, and return the user's answer in the second."""
    responses = ctx.sdk.input_responses
    if responses is None:
        assert ctx.fastmcp.input_responses is None
        return InputRequiredResult(input_requests={"sure": QUESTION}, request_state="asked")
    assert "asked" == ctx.sdk.request_state == ctx.fastmcp.request_state
    answer: Any = responses["sure"]
    if answer.action != "accept":
        raise ctx.fail("declined")
    return f"The answer is {answer.content['yes']}."


def calling(mcp: FastMCP[Any], method: str, *args: Any, says: str = "accept", mode: str = "auto") -> Any:
    async def answer(message: str, kind: Any, params: Any, context: Any) -> Any:
        from fastmcp.client.elicitation import ElicitResult

        assert "Really?" == message
        return ElicitResult(action=says, content={"yes": True} if says == "accept" else None)

    client = Client(mcp, elicitation_handler=answer, mode=mode)
    return outcome_of(client, lambda connected: getattr(connected, method)(*args))


def asking() -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("orders")

    @mcp.tool
    @tool(errors=[DECLINED])
    async def delete(ctx: Asking) -> str:
        return question_or_answer(ctx)  # type: ignore[return-value]

    @mcp.resource("orders://all")
    @resource("orders://all", errors=[DECLINED])
    async def read(ctx: Asking) -> str:
        return question_or_answer(ctx)  # type: ignore[return-value]

    @mcp.prompt
    @prompt(errors=[DECLINED])
    async def summarise(ctx: Asking) -> str:
        return question_or_answer(ctx)  # type: ignore[return-value]

    return mcp


@pytest.mark.parametrize("mounted", [False, True], ids=["served", "mounted"])
@pytest.mark.parametrize(
    ("method", "arguments"),
    [("call_tool", ("delete", {})), ("read_resource", ("orders://all",)), ("get_prompt", ("summarise",))],
    ids=["tool", "resource", "prompt"],
)
def test_a_handler_asks_with_its_result_in_rounds(
    method: str, arguments: tuple[Any, ...], mounted: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """A round that asks is not a failure. The user's answer decides how the call ends."""
    mcp = asking()
    if mounted:
        mcp = FastMCP("parent")
        mcp.mount(asking())
    mcp.add_middleware(ContractMiddleware())
    assert "The answer is True." in str(calling(mcp, method, *arguments))
    assert not [record for record in caplog.records if record.name == "mcpcore.audit"]
    declined = calling(mcp, "call_tool_mcp" if method == "call_tool" else method, *arguments, says="decline")
    error = (declined.error.data if isinstance(declined, MCPError) else declined.structured_content)["error"]
    assert ("declined", {"hint": DECLINED.recovery}) == (error["data"]["reason"], error["data"]["recovery"])
    (record,) = [record.audit for record in caplog.records if record.name == "mcpcore.audit"]  # type: ignore[attr-defined]
    assert error["correlationId"] == record["correlationId"]
