"""The server of the soak: `python -m bench.soak.served KIND [--stateful]`, on a port that it prints.

KIND is "server", "fastmcp", or "sdk" for the bare SDK. `MCPCORE_AUDIT` is the trail. `/vitals` says how the process is.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import anyio
import uvicorn
from fastmcp import FastMCP
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from starlette.responses import JSONResponse

from mcpcore import Context, ErrorCode, FailureMode, Server, prompt, resource, tool
from mcpcore.integrations.fastmcp import ContractMiddleware

if TYPE_CHECKING:
    from starlette.requests import Request

KINDS = ("server", "fastmcp", "sdk")
LARGE = 200_000
"""Characters of the largest answer."""

NO_MATCH = FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Call search first.")


@tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


@tool(errors=[NO_MATCH])
async def fetch(ctx: Context[Literal["no_match"]], key: str) -> str:
    """Fail in the declared way."""
    raise ctx.fail("no_match", data={"key": key})


@tool
def crash(key: str) -> str:
    """Fail in a way that nobody declared, in a thread."""
    raise KeyError(key)


@tool
async def large() -> str:
    """Return much."""
    return "x" * LARGE


@tool
async def slow() -> str:
    """Wait for a client that does not."""
    await anyio.sleep(30)
    return "late"


@tool(timeout=0.05)
async def late() -> str:
    """Take longer than the timeout."""
    await anyio.sleep(30)
    return "late"


@tool(max_concurrency=1)
async def single() -> str:
    """Work for one caller at a time."""
    await anyio.sleep(0.02)
    return "done"


@resource("soak://{key}", errors=[NO_MATCH])
async def read(ctx: Context[Literal["no_match"]], key: str) -> str:
    """Fail in the declared way."""
    raise ctx.fail("no_match", data={"key": key})


@prompt(errors=[NO_MATCH])
async def ask(ctx: Context[Literal["no_match"]], key: str) -> str:
    """Fail in the declared way."""
    raise ctx.fail("no_match", data={"key": key})


TOOLS = (echo, fetch, crash, large, slow, late, single)


def app_of(kind: str, *, stateful: bool) -> Any:
    """The application of a server of one kind."""
    options: dict[str, Any] = {"stateless_http": not stateful}
    if kind == "fastmcp":
        mcp: FastMCP[Any] = FastMCP("soak")
        contracts = ContractMiddleware()
        mcp.add_middleware(contracts)
        for made in TOOLS:
            mcp.add_tool(made)
        mcp.add_resource(read)
        mcp.add_prompt(ask)
        app = contracts.watch_http(mcp.http_app(**options))
    elif kind == "server":
        app = Server("soak", tools=TOOLS, resources=[read], prompts=[ask]).streamable_http_app(**options)
    else:
        app = bare_sdk().streamable_http_app(**options)
    app.add_route("/vitals", vitals)
    return app


def bare_sdk() -> MCPServer[Any]:
    """The same tools on the bare SDK, as far as it has the like."""
    server: MCPServer[Any] = MCPServer("soak")

    @server.tool()
    async def echo(text: str) -> str:
        return text

    @server.tool()
    async def fetch(key: str) -> str:
        raise ToolError(f"no match for {key}")

    @server.tool()
    def crash(key: str) -> str:
        raise KeyError(key)

    @server.tool()
    async def large() -> str:
        return "x" * LARGE

    @server.tool()
    async def slow() -> str:
        await anyio.sleep(30)
        return "late"

    return server


async def vitals(_: Request) -> JSONResponse:
    """The memory in KiB, the tasks and the open files of this process."""
    gc.collect()
    return JSONResponse({"rss_kib": resident(), "tasks": len(asyncio.all_tasks()), "files": open_files()})


def resident() -> int:
    """The memory of this process in KiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def open_files() -> int:
    """How many files and sockets this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--stateful", action="store_true")
    options = parser.parse_args()
    # The bare SDK writes a line for each request and a traceback for each failure; all are measured without a log.
    logging.disable(logging.CRITICAL)
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(512)
    app = app_of(options.kind, stateful=options.stateful)
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(app, log_level="critical", access_log=False, timeout_graceful_shutdown=5)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
