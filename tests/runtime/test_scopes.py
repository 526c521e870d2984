"""Fields that are bound in a resource or a prompt are unbound when its request ends, as in a tool."""

from __future__ import annotations

import threading
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcpcore import Server
from mcpcore.contract.bound_fields import bind, bound, carried

pytestmark = pytest.mark.usefixtures("door")

SHARED = ValueError("made once, raised often")


def serving(seen: dict[str, Any]) -> Server[Any]:
    server: Server[Any] = Server("s")

    @server.resource("data://{name}")
    async def data(name: str) -> str:
        seen[name] = dict(carried(SHARED))
        with bind(session_id=name):
            await anyio.sleep(0.01)
            seen[f"{name} bound"] = dict(bound())
            raise SHARED

    @server.prompt()
    async def ask(name: str) -> str:
        seen[name] = dict(carried(SHARED))
        with bind(session_id=name):
            await anyio.sleep(0.01)
            raise SHARED

    @server.resource("slow://{name}")
    async def slow(name: str) -> str:
        with bind(session_id=name):
            await anyio.sleep(30)
        return name

    @server.tool()
    async def last() -> Any:  # without an output schema, so that its failure is structured on FastMCP too
        seen["tool"] = dict(bound()) | dict(carried(SHARED))
        raise SHARED

    @server.resource("thread://{name}")
    def threaded(name: str) -> str:
        seen[name] = dict(carried(SHARED))
        seen[f"{name} thread"] = threading.get_ident()
        with bind(session_id=name):
            raise SHARED

    return server


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@pytest.mark.anyio
async def test_nothing_leaks_from_one_request_into_another() -> None:
    """The same exception is raised in concurrent resources and prompts, in threads, and after a cancellation."""
    seen: dict[str, Any] = {}

    async def read(client: Any, uri: str) -> None:
        with pytest.raises(MCPError):
            await client.read_resource(uri)

    async def prompt(client: Any, name: str) -> None:
        with pytest.raises(MCPError):
            await client.get_prompt("ask", {"name": name})

    async with Client(serving(seen)) as client:
        async with anyio.create_task_group() as tasks:
            for n in range(8):
                tasks.start_soon(read, client, f"data://d{n}")
                tasks.start_soon(prompt, client, f"p{n}")
                tasks.start_soon(read, client, f"thread://t{n}")
        with anyio.move_on_after(0.05):
            await client.read_resource("slow://cancelled")
        await read(client, "data://after")
        result = await client.call_tool("last", {})
        assert "session_id" not in result.structured_content["error"].get("context", {})
    for name in [*(f"{kind}{n}" for kind in "dpt" for n in range(8)), "after", "tool"]:
        assert seen[name] == {}, name
    for n in range(8):
        assert seen[f"d{n} bound"] == {"session_id": f"d{n}"}
