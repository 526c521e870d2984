"""A server as someone in a hurry writes it; each comment `expect:` names what is found on its line."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

import mcpcore
from mcpcore import Context, Contract, ErrorCode, FailureMode, Retry, Server, not_found
from mcpcore import tool as make_tool
from pydantic import BaseModel, Field


class Reason(StrEnum):
    GONE = "gone"
    TOO_MANY = "TooMany"


class Articles(BaseModel):
    articles: list[str]


class Outcome(Articles):
    problem: str | None = Field(default=None, serialization_alias="error")


HINT = "Try again."
COMMON = (
    FailureMode(Reason.GONE, ErrorCode.NOT_FOUND, when="It was deleted.", recovery=HINT),  # expect: error-contract-recovery-min-words
    FailureMode(Reason.TOO_MANY, ErrorCode.INVALID_PARAMS, when="More than 100.", recovery="Ask for 100 articles at most."),  # expect: error-contract-reason-format
)
SHARED: Contract = Contract([
    *COMMON,
    mcpcore.FailureMode("gone", mcpcore.ErrorCode.CONFLICT, when="It moved.", recovery="Call search_articles to find it again."),
])


def busy(reason: str) -> FailureMode:
    return FailureMode(reason, -32003, when="Too many calls.", recovery="Wait 30 seconds and call again.")  # expect: error-contract-code-type


server = Server("articles")


@server.tool(errors=COMMON)
async def search_articles(ctx: Context[Literal["gone", "TooMany"]], text: Annotated[str, Field(description="Words.")]) -> Articles:
    """Search for articles."""
    raise ctx.fail(Reason.GONE)


@server.tool(errors=[*COMMON, busy("busy")])
async def fetch_articles(ctx: Context, text: Annotated[str, Field(description="Words.")]) -> Articles:  # expect: error-contract-context-mismatch
    """Fetch articles: the reason that the function is given is known, and what it writes itself is told there."""
    raise not_found(text)


@make_tool(errors=SHARED)  # expect: error-contract-reason-unique
def fetch_one() -> Outcome:  # expect: output-error-field
    """Fetch one."""


@make_tool(
    errors=[
        FailureMode(
            "no_match",
            ErrorCode.NOT_FOUND,
            when="Nothing matches.",
            recovery="Wait a moment and try again.",  # expect: error-contract-retry-contradiction
            fallback_tool="serach_articles",  # expect: error-contract-recovery-unknown-tool
        ),
        FailureMode(
            "queue_full",
            ErrorCode.RATELIMITED,  # expect: error-contract-code-unknown
            when=" ",  # expect: error-contract-when-required
            recovery="",  # expect: error-contract-recovery-empty
            retry=Retry.never,  # expect: error-contract-retry-type
        ),
        FailureMode(  # expect: error-contract-recovery-required
            "",  # expect: error-contract-reason-required
            ErrorCode.UNKNOWN_ERROR,  # expect: error-contract-code-unknown-error
            when="Nobody knows.",
        ),
        "no_access",  # expect: error-contract-entry-type
    ]
)
async def export(ctx: Context[Literal["no_match"]], path: Annotated[str, Field(description="Where to.")]) -> Articles:
    """Export articles."""
    raise ctx.fail("no_match")


@make_tool(errors=FailureMode("a", ErrorCode.CONFLICT, when="x", recovery="Read it again and write once more."))  # expect: error-contract-type
def one() -> str:
    """One."""


@make_tool(errors=())  # expect: error-contract-empty
def two() -> str:
    """Two."""


@make_tool(
    errors=[
        FailureMode("no_room", ErrorCode.CONFLICT, when="The disk is full.", recovery="Delete files that nobody needs."),
        FailureMode("no_file", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_files to see what there is."),
    ]
)
def write(
    ctx: Context[
        Literal["no_rom"],  # expect: error-contract-context-mismatch
    ],
) -> str:
    """Write."""
    raise ctx.fail("no_room")
