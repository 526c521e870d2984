"""The server that is attacked: over stdio, or with `--http` over streamable HTTP on a port that it prints.

`--door` chooses the framework that serves the same tools. `MCPCORE_AUDIT` is the trail.
"""

from __future__ import annotations

import argparse
import socket
from typing import Any, Literal

import anyio
import uvicorn
from mcp_types import Completion
from pydantic import BaseModel

from mcpcore import Context, ErrorCode, FailureMode, Server, prompt, resource, tool
from tests.doors import DOORS, behind, on_fastmcp

SECRET = "hunter2-is-the-secret"
"""A text that only a log may have."""

NO_MATCH = FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Call echo first.")


class Item(BaseModel):
    """A nested argument."""

    name: str
    tags: list[str] = []


@tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


@tool(errors=[NO_MATCH])
async def fetch(ctx: Context[Literal["no_match"]], key: Any, item: Item | None = None, count: int = 0) -> str:
    """Fail in the declared way, with the words of the caller."""
    raise ctx.fail("no_match", data={"key": key, "item": item and item.name, "count": count})


@tool
def crash(key: str) -> str:
    """Fail in a way that nobody declared, in a thread."""
    raise RuntimeError(f"{SECRET}: {key}")


@tool(timeout=0.2)
async def slow(seconds: float = 30) -> str:
    """Take longer than the timeout."""
    await anyio.sleep(seconds)
    return "late"


@tool
async def wait() -> str:
    """Wait for a client that does not."""
    await anyio.sleep(30)
    return "late"


@resource("thing://{key}", errors=[NO_MATCH])
async def thing(ctx: Context[Literal["no_match"]], key: str) -> str:
    """Fail in the declared way."""
    raise ctx.fail("no_match", data={"key": key})


@prompt(errors=[NO_MATCH])
async def ask(ctx: Context[Literal["no_match"]], key: str) -> str:
    """Fail in the declared way."""
    raise ctx.fail("no_match", data={"key": key})


server = Server("victim", tools=[echo, fetch, crash, slow, wait], resources=[thing], prompts=[ask])


@server.tool()
def plain(text: str, numbers: list[int] | None = None) -> str:
    """A tool of the framework's own kind."""
    if text == "crash":
        raise RuntimeError(SECRET)
    return text


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> Completion | None:
    """Fail for one value."""
    if argument.value == "crash":
        raise RuntimeError(SECRET)
    return Completion(values=[argument.value])


def serve_http(door: str) -> None:
    """Serve streamable HTTP with sessions on a port that is printed."""
    from mcpcore.integrations.fastmcp import ContractMiddleware

    if door == "fastmcp":
        mcp = on_fastmcp(server)
        contracts = next(layer for layer in mcp.middleware if isinstance(layer, ContractMiddleware))
        app = contracts.watch_http(mcp.http_app())
    else:
        app = server.streamable_http_app()
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listening])


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--door", choices=DOORS, required=True)
    parser.add_argument("--http", action="store_true")
    options = parser.parse_args()
    if options.http:
        serve_http(options.door)
    else:
        behind(options.door, server).run()


if __name__ == "__main__":
    main()
