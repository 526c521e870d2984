"""A server for tests of the transports, a process of its own: over stdio, or over HTTP on a port that it prints."""

from __future__ import annotations

import argparse
import socket
from typing import Literal, NotRequired

import uvicorn
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, ConfigDict, RootModel
from typing_extensions import TypedDict

from mcpcore import Context, ErrorCode, FailureMode, Server, tool


class Articles(BaseModel):
    """What fetch returns."""

    model_config = ConfigDict(extra="forbid")
    articles: list[str]


class Cat(BaseModel):
    """One of a union."""

    kind: Literal["cat"]


class Dog(BaseModel):
    """The other."""

    kind: Literal["dog"]


class Pet(RootModel[Cat | Dog]):
    """A union at the root."""


class Tree(BaseModel):
    """A model that contains itself."""

    children: list[Tree] = []
    name: str


class Typed(TypedDict):
    """A mapping with known keys."""

    name: str
    note: NotRequired[str]


NO_MATCH = FailureMode(
    "no_match",
    ErrorCode.NOT_FOUND,
    when="No requested PMID returned data.",
    recovery="Call search_articles first.",
    fallback_tool="search_articles",
)


@tool(errors=[NO_MATCH])
async def fetch(ctx: Context[Literal["no_match"]], pmids: list[str]) -> Articles:
    """Fetch articles."""
    if not pmids:
        raise ctx.fail("no_match", "None of 0 PMIDs — nichts gefunden 😀.", data={"pmids": pmids, "sep": "\u2028"})
    return Articles(articles=pmids)


def failing(kind: str) -> None:
    """Fail, or not."""
    match kind:
        case "declared":
            raise Context(NO_MATCH_CONTRACT).fail("no_match")
        case "crash":
            raise KeyError("hunter2")
        case "exit":
            raise SystemExit("hunter2")
        case "surrogate":
            raise ToolError("half \ud800 of a pair")


NO_MATCH_CONTRACT = fetch.contract


@tool(errors=[NO_MATCH])
def pet(kind: str) -> Pet:
    """A union."""
    failing(kind)
    return Pet(Cat(kind="cat"))


@tool(errors=[NO_MATCH])
def tree(kind: str) -> Tree:
    """A tree."""
    failing(kind)
    return Tree(name="root", children=[Tree(name="leaf")])


@tool(errors=[NO_MATCH])
def counts(kind: str) -> dict[str, int]:
    """A mapping."""
    failing(kind)
    return {"a": 1}


@tool(errors=[NO_MATCH])
def typed(kind: str) -> Typed:
    """A typed dict."""
    failing(kind)
    return {"name": "a"}


@tool(errors=[NO_MATCH])
def numbers(kind: str) -> list[int]:
    """A list."""
    failing(kind)
    return [1]


@tool(errors=[NO_MATCH])
def text(kind: str) -> str:
    """A text."""
    failing(kind)
    return "fine"


server = Server("wire", tools=[fetch, pet, tree, counts, typed, numbers, text])


@server.tool()
def sdk(kind: str) -> dict[str, int]:
    """A tool of the SDK's own."""
    failing(kind)
    return {"a": 1}


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--stateless", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.http:
        server.run()
        return
    app = server.streamable_http_app(json_response=options.json, stateless_http=options.stateless)
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])


if __name__ == "__main__":
    main()
