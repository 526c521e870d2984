"""The server of the deployment tests, as an application that uvicorn imports in each of its workers.

`MCPCORE_AUDIT` is the trail that all workers share. Each worker imports FastMCP only if it serves with it.
"""

from __future__ import annotations

import os
from typing import Any, Literal

import httpx2
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from mcpcore import Context, ErrorCode, FailureMode, Server, tool

NO_MATCH = FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Call search first.")
PUBLIC = "tools.example"
"""The name of the server on the outside, which a reverse proxy passes on."""


@tool(errors=[NO_MATCH])
async def fetch(ctx: Context[Literal["no_match"]], key: int) -> int:
    """Return the process that answers, or fail."""
    if key % 2:
        raise ctx.fail("no_match", f"There is no {key}.")
    return os.getpid()


def server_app() -> Any:
    """Return the application of a `Server`."""
    security = TransportSecuritySettings(allowed_hosts=["127.0.0.1:*", PUBLIC])
    server = Server("workers", tools=[fetch])
    return server.streamable_http_app(stateless_http=True, json_response=True, transport_security=security)


def fastmcp_app() -> Any:
    """Return the application of a FastMCP server."""
    from fastmcp import FastMCP

    from mcpcore.integrations.fastmcp import ContractMiddleware

    mcp: FastMCP[Any] = FastMCP("workers")
    contracts = ContractMiddleware()
    mcp.add_middleware(contracts)
    mcp.add_tool(fetch)
    return contracts.watch_http(
        mcp.http_app(stateless_http=True, host_origin_protection=True, allowed_hosts=["127.0.0.1", PUBLIC])
    )


def proxy_app(upstream: str) -> Starlette:
    """Return a reverse proxy for the server at `upstream`: it adds the usual headers and streams both bodies."""
    # A connection for each request, as nginx does by default, so that the workers take turns.
    alone = httpx2.Limits(max_keepalive_connections=0)
    client = httpx2.AsyncClient(base_url=upstream, timeout=30, limits=alone)
    dropped = {"host", "connection", "transfer-encoding", "content-length"}

    async def forward(request: Request) -> StreamingResponse:
        headers = [(name, value) for name, value in request.headers.items() if name not in dropped]
        headers += [("host", PUBLIC), ("x-forwarded-for", "192.0.2.7"), ("x-forwarded-proto", "https")]
        sent = client.build_request(request.method, request.url.path, headers=headers, content=request.stream())
        answer = await client.send(sent, stream=True)
        kept = {name: value for name, value in answer.headers.items() if name not in dropped}
        return StreamingResponse(answer.aiter_raw(), answer.status_code, kept)

    return Starlette(routes=[Route("/mcp", forward, methods=["GET", "POST", "DELETE"])])
