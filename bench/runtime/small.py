"""The cost of a small tool, two parameters and a result of two fields, in memory: `python -m bench.runtime.small`.

The fixed costs of the SDK are the same for every call, so this is where the framework's own share is largest.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from contextlib import AsyncExitStack
from typing import Any, Final, Literal

from mcp import Client
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel

from bench.runtime.rounds import Key, Samples, measure, ratio
from mcpcore import Context, ErrorCode, FailureMode, Server, tool

CASES: Final = ("success", "declared", "declared with data")


class Order(BaseModel):
    """The tool's result."""

    id: str
    total: int


def sdk() -> MCPServer:
    """The bare SDK, which only succeeds."""
    server = MCPServer("bench")

    @server.tool()
    async def get_order(order_id: str, ending: str) -> Order:  # noqa: ARG001 - the same parameters
        """Get an order."""
        return Order(id=order_id, total=3)

    return server


def mcpcore() -> Server:
    """The same tool with a contract; `ending` says how the call ends."""

    @tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="No such order.", recovery="Search first.")])
    async def get_order(ctx: Context[Literal["no_match"]], order_id: str, ending: str) -> Order:
        """Get an order."""
        if ending == "declared":
            raise ctx.fail("no_match", f"There is no order {order_id}.")
        if ending == "declared with data":
            raise ctx.fail("no_match", f"There is no order {order_id}.", data={"orderId": order_id})
        return Order(id=order_id, total=3)

    return Server("bench", tools=[get_order])


async def run(*, mode: str, rounds: int, batch: int) -> dict[Key, Samples]:
    """All endings in turns: "auto" calls in the same task, "legacy" sends messages through memory streams."""
    async with AsyncExitStack() as stack:
        calls: dict[Key, Any] = {}
        for name, server, endings in (("sdk", sdk(), CASES[:1]), ("mcpcore", mcpcore(), CASES)):
            client = await stack.enter_async_context(Client(server, mode=mode))
            await client.list_tools()
            for ending in endings:
                arguments = {"order_id": "A-9", "ending": ending}
                result = await client.call_tool("get_order", arguments)
                assert result.is_error == (ending != "success"), result
                calls[name, ending] = functools.partial(client.call_tool, "get_order", arguments)
        return await measure(calls, rounds=rounds, batch=batch)


def figures(*, rounds: int = 15, batch: int = 150) -> dict[str, dict[str, float]]:
    """The cost of each ending by connection, as a ratio to a success of the bare SDK."""
    logging.disable(logging.CRITICAL)
    found = {}
    for mode in ("auto", "legacy"):
        samples = asyncio.run(run(mode=mode, rounds=rounds, batch=batch))
        found[mode] = {ending: ratio(samples["mcpcore", ending], samples["sdk", "success"]) for ending in CASES}
    logging.disable(logging.NOTSET)
    return found


if __name__ == "__main__":
    for mode, ratios in figures().items():
        print(f"{mode}: " + ", ".join(f"{ending} {times:.2f}" for ending, times in ratios.items()))
