"""The server of the transport tests: over stdio, or over HTTP and SSE on ports that it prints.

`--door` chooses the framework that serves the same tools.
"""

from __future__ import annotations

import argparse
import json
import socket
from typing import Any, Literal, NotRequired

import anyio
import uvicorn
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, ConfigDict, RootModel
from typing_extensions import TypedDict

from mcpcore import Context, ErrorCode, FailureMode, Server, Tool, tool
from tests.doors import DOORS, behind


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


def answering(name: str, description: str, returned: Any, value: Any) -> Tool[Any]:
    """Return a tool that fails in the asked way, or returns the value."""

    def handler(kind: str) -> Any:
        failing(kind)
        return value

    handler.__annotations__["return"] = returned
    return tool(errors=[NO_MATCH], name=name, description=description)(handler)


server = Server(
    "wire",
    tools=[
        fetch,
        answering("pet", "A union.", Pet, Pet(Cat(kind="cat"))),
        answering("tree", "A tree.", Tree, Tree(name="root", children=[Tree(name="leaf")])),
        answering("counts", "A mapping.", dict[str, int], {"a": 1}),
        answering("typed", "A typed dict.", Typed, {"name": "a"}),
        answering("numbers", "A list.", list[int], [1]),
        answering("text", "A text.", str, "fine"),
    ],
)


@server.tool()
def sdk(kind: str) -> dict[str, int]:
    """A tool of the SDK's own."""
    failing(kind)
    return {"a": 1}


HTTP: dict[str, dict[str, bool]] = {
    "plain": {},
    "json": {"json_response": True},
    "stateless": {"stateless_http": True},
    "stateless json": {"json_response": True, "stateless_http": True},
}
"""Streamable HTTP, stateless or not, answering with JSON or with event streams."""


async def serve_on_ports(door: str) -> None:
    """Serve each kind of HTTP and SSE on a separate port of one process, and print the ports first."""
    serving = behind(door, server)
    if door == "fastmcp":
        apps = {way: serving.http_app(**options) for way, options in HTTP.items()}
        apps["sse"] = serving.http_app(transport="sse")
    else:
        apps = {way: serving.streamable_http_app(**options) for way, options in HTTP.items()}
        apps["sse"] = serving.sse_app()
    listening = {way: socket.create_server(("127.0.0.1", 0)) for way in apps}
    print(json.dumps({way: listener.getsockname()[1] for way, listener in listening.items()}), flush=True)
    async with anyio.create_task_group() as tasks:
        for way, app in apps.items():
            tasks.start_soon(uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve, [listening[way]])


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--door", choices=DOORS, required=True)
    parser.add_argument("--ports", action="store_true")
    options = parser.parse_args()
    if options.ports:
        anyio.run(serve_on_ports, options.door)
    else:
        behind(options.door, server).run()


if __name__ == "__main__":
    main()
