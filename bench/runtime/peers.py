"""The servers that are compared: one tool each, the same handler but for how it fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from collections.abc import Callable

Outcome = Literal["success", "declared", "arguments", "crash"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("success", "declared", "arguments", "crash")

ARGUMENTS: Final[dict[Outcome, dict[str, Any]]] = {
    "success": {"pmids": ["31452104", "31452105"], "limit": 10, "mode": "success"},
    "declared": {"pmids": ["31452104", "31452105"], "limit": 10, "mode": "declared"},
    "arguments": {"pmids": [], "limit": "ten", "mode": "success"},
    "crash": {"pmids": ["31452104", "31452105"], "limit": 10, "mode": "crash"},
}
"""The arguments for each outcome of a call."""

TOOL: Final = "fetch_articles"
_MESSAGE: Final = "None of 2 PMIDs returned data."
_HINT: Final = "Call search_articles to discover valid PMIDs first."


class Article(BaseModel):
    """What a tool of this kind returns."""

    pmid: str
    title: str
    year: int


class Articles(BaseModel):
    """The tool's result."""

    articles: list[Article]
    total: int


Pmids = Annotated[list[str], Field(description="PubMed identifiers.", min_length=1, max_length=200)]
Limit = Annotated[int, Field(description="How many to return.", ge=1, le=100)]
Mode = Annotated[str, Field(description="How the call ends.")]


def articles(pmids: list[str], limit: int) -> Articles:
    """The result of a success."""
    articles = [Article(pmid=pmid, title=f"On {pmid}", year=2026) for pmid in pmids[:limit]]
    return Articles(articles=articles, total=len(articles))


def crash(pmids: list[str]) -> None:
    """An exception that nobody declared, a few calls deep."""
    {}[pmids[0]]


def sdk() -> Any:
    """The bare SDK: a failure is its own `ToolError`, with the hint in the text."""
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError

    server = MCPServer("bench")

    @server.tool()
    async def fetch_articles(pmids: Pmids, limit: Limit = 10, mode: Mode = "success") -> Articles:
        """Fetch articles by PMID."""
        if mode == "declared":
            raise ToolError(f"{_MESSAGE} {_HINT}")
        if mode == "crash":
            crash(pmids)
        return articles(pmids, limit)

    return server


def fastmcp() -> Any:
    """The same tool on FastMCP, with its `ToolError`."""
    from fastmcp import FastMCP
    from fastmcp.exceptions import ToolError

    server = FastMCP("bench")

    @server.tool
    async def fetch_articles(pmids: Pmids, limit: Limit = 10, mode: Mode = "success") -> Articles:
        """Fetch articles by PMID."""
        if mode == "declared":
            raise ToolError(f"{_MESSAGE} {_HINT}")
        if mode == "crash":
            crash(pmids)
        return articles(pmids, limit)

    return server


def mcpcore(**options: Any) -> Any:
    """A contract tool, which declares its failure and sends it in full."""
    from mcpcore import Context, ErrorCode, FailureMode, Server

    server = Server("bench", **options)

    @server.tool(
        errors=[
            FailureMode(
                "no_match",
                ErrorCode.NOT_FOUND,
                when="No requested PMID returned data.",
                recovery=_HINT,
                fallback_tool="search_articles",
            ),
            FailureMode(
                "queue_full",
                ErrorCode.RATE_LIMITED,
                when="The local request queue is at capacity.",
                recovery="Wait 30 seconds and retry, or reduce the batch size.",
            ),
        ]
    )
    async def fetch_articles(
        ctx: Context[Literal["no_match", "queue_full"]], pmids: Pmids, limit: Limit = 10, mode: Mode = "success"
    ) -> Articles:
        """Fetch articles by PMID."""
        if mode == "declared":
            raise ctx.fail("no_match", _MESSAGE, data={"pmids": pmids})
        if mode == "crash":
            crash(pmids)
        return articles(pmids, limit)

    return server


def unadvertised() -> Any:
    """The same, with output schemas as the SDK makes them."""
    return mcpcore(advertise_errors=False)


@dataclass(frozen=True)
class Peer:
    """A server to measure."""

    name: str
    title: str
    make: Callable[[], Any]

    def app(self) -> Any:
        """The server as an ASGI application, streamable HTTP with its default settings."""
        server = self.make()
        return server.http_app() if self.name == "fastmcp" else server.streamable_http_app()

    def target(self) -> Any:
        """The server as the SDK's own client takes it in memory."""
        server = self.make()
        return server._mcp_server if self.name == "fastmcp" else server  # noqa: SLF001 - the one way to the same client


PEERS: Final = {
    peer.name: peer
    for peer in (
        Peer("sdk", "MCP SDK", sdk),
        Peer("fastmcp", "FastMCP", fastmcp),
        Peer("mcpcore", "mcpcore", mcpcore),
        Peer("unadvertised", "mcpcore, advertise_errors=False", unadvertised),
    )
}
