"""A server of mcpcore, whose handlers do by hand what the contract would do for them."""

from typing import Literal

from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from mcpcore import CodedError, Context, ErrorCode, FailureMode, Retry, Server, not_found, resource, tool

GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is not there.", recovery="Call search to find another article.")


@tool(errors=[GONE])
async def fetch(ctx: Context[Literal["gone"]], pmid: str) -> dict:
    """Fetch."""
    if pmid == "1":
        raise ToolError("gone")  # expect: prefer-mcp-error-in-handler
    if pmid == "2":
        raise CodedError(ErrorCode.FORBIDDEN, "not yours")  # expect: prefer-error-factory
    if pmid == "3":
        raise ctx.fail("gone", data={"seen": {pmid}})  # expect: details-not-json
    try:
        return {"text": open(pmid).read()}
    except* OSError as group:
        raise ctx.fail("gone", f"{group}")  # expect: no-stringify-upstream-error, preserve-cause-on-rethrow


@tool
def plain(pmid: str) -> str:
    """A tool without a contract may fail as the SDK's tools do."""
    if pmid:
        raise ToolError("gone: call search")

    def inner() -> str:
        raise RuntimeError("no")  # expect: prefer-mcp-error-in-handler

    return inner()


@resource("x://{pmid}")
def read(pmid: str) -> str:
    raise (not_found("x") if pmid else ValueError("y"))  # expect: prefer-mcp-error-in-handler


server = Server("x", tools=[fetch, plain])


@server.tool(errors=[GONE])
def closing(ctx: Context[Literal["gone"]], pmid: str) -> list:
    """Close."""
    try:
        return [pmid]
    except (TimeoutError, ConnectionError):
        return []  # expect: no-fake-empty
    except BaseException:
        server.close()
        raise


@server.tool(
    annotations=ToolAnnotations(read_only_hint=False, idempotent_hint=False),
    errors=[
        FailureMode("late", ErrorCode.TIMEOUT, when="It took too long.", recovery="Look for the article first."),
        FailureMode(
            "full",
            ErrorCode.RATE_LIMITED,
            when="The queue is full.",
            recovery="Send the article again in a moment.",
            retry=Retry.after(seconds=3),
        ),
    ],
)
def send(ctx: Context[Literal["late", "full"]], pmid: str) -> str:
    """Send."""
    if pmid:
        raise ctx.fail("full")
    raise ctx.fail("late", retry=Retry.now())  # expect: retry-unsafe
