"""What a request brings to FastMCP: an access token over HTTP, and a user who answers questions."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
import uvicorn
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.server.auth import require_scopes
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from fastmcp.server.middleware import AuthMiddleware
from pydantic import BaseModel

from mcpcore import Context, tool
from mcpcore.integrations.fastmcp import ContractMiddleware

TOKENS = {
    "reader": {"client_id": "reader", "scopes": ["orders:read"]},
    "stranger": {"client_id": "stranger", "scopes": []},
}


@contextmanager
def served(mcp: FastMCP[Any]) -> Iterator[str]:
    """The URL of `mcp` on a port of this machine."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(mcp.http_app(), log_level="critical", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@pytest.mark.slow
def test_a_token_without_the_scope_is_forbidden_over_http() -> None:
    """A token with the scope may call the tool; both go over a real connection."""
    mcp: FastMCP[Any] = FastMCP("orders", auth=StaticTokenVerifier(TOKENS))
    mcp.add_middleware(ContractMiddleware())
    mcp.add_middleware(AuthMiddleware(auth=require_scopes("orders:read")))

    @mcp.tool
    @tool
    def count(ctx: Context) -> int:
        assert ctx.headers is not None
        return len(ctx.headers["authorization"])

    async def call(url: str, token: str) -> Any:
        async with Client(StreamableHttpTransport(url, auth=token)) as client:
            return await client.call_tool_mcp("count", {})

    with served(mcp) as url:
        assert {"result": len("Bearer reader")} == anyio.run(call, url, "reader").structured_content
        result = anyio.run(call, url, "stranger")
    assert (True, "FORBIDDEN") == (result.is_error, result.structured_content["error"]["name"])


@dataclass
class Answer:
    """A question to the user, for FastMCP."""

    yes: bool


class Form(BaseModel):
    """The same question, for mcpcore."""

    yes: bool


def test_a_handler_asks_the_user_through_either_context() -> None:
    """`ctx.elicit` and `ctx.fastmcp.elicit`."""
    mcp: FastMCP[Any] = FastMCP("orders")
    mcp.add_middleware(ContractMiddleware())

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

    async def run() -> Any:
        async with Client(mcp, elicitation_handler=answer, mode="legacy") as client:
            return await client.call_tool_mcp("ask", {})

    result = anyio.run(run)
    assert ["accept True", "accept True"] == result.structured_content["result"], result
    assert ["Ours?", "Theirs?"] == questions
