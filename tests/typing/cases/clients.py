"""Calling tools: sessions, results, and a `match` over the reasons of a contract."""

from __future__ import annotations

from typing import Any, Literal

from fastmcp import Client as FastMCPClient
from fastmcp.client.client import CallToolResult as FastMCPResult
from mcp import Client, ClientSession
from mcp_types import CallToolResult
from pydantic import BaseModel
from typing_extensions import assert_never, assert_type

from mcpcore import Contract, ErrorCode, FailureMode, Retry, tool
from mcpcore.client import CallPolicy, RetryBudget, Step, ToolCallFailed, ToolContract, call


class NoMatch(BaseModel):
    pmids: list[str]


# As a generated module has them: mypy widens literals that are not annotated.
NO_MATCH: FailureMode[Literal["no_match"], NoMatch] = FailureMode(
    "no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Search first.", data=NoMatch
)
QUEUE_FULL: FailureMode[Literal["queue_full"], None] = FailureMode(
    "queue_full", ErrorCode.RATE_LIMITED, when="The queue is full.", recovery="Wait.", retry=Retry.after(seconds=30)
)
FETCH: ToolContract[Literal["no_match", "queue_full"]] = ToolContract("fetch_articles", (NO_MATCH, QUEUE_FULL))

# pyright, ty and the plugin of mypy need no annotations.
PLAIN = FailureMode("plain", ErrorCode.TIMEOUT, when="It takes too long.", recovery="Retry.")
PLAIN_CONTRACT = ToolContract("plain_tool", (PLAIN,))


def is_plain(failed: ToolCallFailed) -> bool:
    return PLAIN_CONTRACT.reason_of(failed) == "plian"  # E: plugin pyright basedpyright - misspelt in a comparison


async def begin_session(failed: ToolCallFailed) -> None:
    print(failed.tool)


def log_in(failed: ToolCallFailed) -> dict[str, Any]:
    return {**failed.arguments, "session": "1"}


def show(step: Step) -> None:
    print(step.kind, step.why, step.failure)


POLICY = CallPolicy(
    max_attempts=3,
    fallbacks={"search_articles"},
    corrections=True,
    on={"session_expired": begin_session, ErrorCode.UNAUTHORIZED: log_in},
    budget=RetryBudget(ratio=0.2),
    on_step=show,
)


@tool(errors=[QUEUE_FULL])
def fetch_later(pmid: str) -> str:
    return pmid


async def results(client: Client, session: ClientSession, fastmcp: FastMCPClient[Any]) -> None:
    assert_type(await call(client, "fetch_articles", {"pmids": ["1"]}), CallToolResult)
    assert_type(await call(session, FETCH, {"pmids": ["1"]}, policy=POLICY), CallToolResult)
    assert_type(await call(fastmcp, FETCH), FastMCPResult)
    await call(client, fetch_later, {"pmid": "1"})
    await call(client, 7)  # E: all - not a tool
    await call("client", "fetch_articles")  # E: all - not a session
    await call(client, "fetch_articles", policy="often")  # E: all - not a policy


async def every_reason(client: Client) -> str:
    try:
        await call(client, FETCH, {"pmids": ["1"]}, policy=POLICY)
    except ToolCallFailed as failed:
        reason = FETCH.reason_of(failed)
        match reason:
            case "no_match":
                assert_type(failed.data_of(NO_MATCH), NoMatch)
                return failed.data_of(NO_MATCH).pmids[0]
            case "queue_full":
                return "later"
            case None:
                raise
            case _:
                assert_never(reason)
    return "done"


async def a_reason_is_missing(client: Client) -> str:
    try:
        await call(client, FETCH, {"pmids": ["1"]})
    except ToolCallFailed as failed:
        reason = FETCH.reason_of(failed)
        match reason:
            case "no_match":
                return "search"
            case None:
                raise
            case _:
                assert_never(reason)  # E: all - a reason is missing
    return "done"


def other_data(failed: ToolCallFailed) -> None:
    failed.data_of(NO_MATCH).pmid  # E: all - not a field of the model
    failed.data_of("no_match")  # E: all - not a failure mode


def listed(payload: dict[str, Any]) -> Contract[str]:
    contract = Contract.from_listing(payload)
    assert_type(contract, Contract[str])
    return contract


WRONG: ToolContract[Literal["no_match"]] = ToolContract("fetch", (NO_MATCH, QUEUE_FULL))  # E: all - undeclared reason of a contract
