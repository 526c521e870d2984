"""The cost of a small tool, two parameters and a result of two fields, in memory: `python -m bench.runtime.small`.

It is measured in processor time, in short rounds in turns with the peers, and fails where a target is missed. The
fixed costs of the SDK are the same for every call, so this is where the framework's own share is largest. On FastMCP,
the same tool behind a `ContractMiddleware` is compared with one of FastMCP's own on a server without it.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import sys
from contextlib import AsyncExitStack
from time import process_time
from typing import Any, Final, Literal

from fastmcp import Client as FastMCPClient
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from mcp import Client
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel

from bench.runtime.rounds import Key, Samples, measure, ratio
from mcpcore import Context, ErrorCode, FailureMode, Server, tool
from mcpcore.integrations.fastmcp import ContractMiddleware

CASES: Final = ("success", "declared", "declared with data", "bad arguments", "crash")
ON_FASTMCP: Final = ("success", "declared")

TARGETS: Final = {
    "auto": {"success": 0.97, "declared with data": 0.93, "bad arguments": 0.95, "crash": 1.05},
    "fastmcp": {"success": 1.15, "declared": 1.3},
}
"""The most that an ending may cost."""

TOLERANCE: Final = 0.03
"""How far a figure may exceed its target: two runs on one machine differ by about as much."""


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


def contract_tool() -> Any:
    """The same tool with a contract; `ending` says how the call ends."""

    @tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="No such order.", recovery="Search first.")])
    async def get_order(ctx: Context[Literal["no_match"]], order_id: str, ending: str) -> Order:
        """Get an order."""
        if ending == "declared":
            raise ctx.fail("no_match", f"There is no order {order_id}.")
        if ending == "declared with data":
            raise ctx.fail("no_match", f"There is no order {order_id}.", data={"orderId": order_id})
        if ending == "crash":
            raise KeyError(order_id)
        return Order(id=order_id, total=3)

    return get_order


def fastmcp(*, contract: bool) -> FastMCP:
    """A FastMCP server with the tool, as FastMCP's own or with its contract."""
    server = FastMCP("bench")
    if contract:
        server.add_middleware(ContractMiddleware())
        server.add_tool(contract_tool())
        return server

    @server.tool
    async def get_order(order_id: str, ending: str) -> Order:
        """Get an order."""
        if ending != "success":
            raise ToolError(f"There is no order {order_id}.")
        return Order(id=order_id, total=3)

    return server


async def run(*, mode: str, rounds: int, batch: int) -> dict[Key, Samples]:
    """All endings in turns: "auto" calls in the same task, "legacy" sends messages through memory streams."""
    async with AsyncExitStack() as stack:
        calls: dict[Key, Any] = {}
        ours = Server("bench", tools=[contract_tool()])
        for name, server, endings in (("sdk", sdk(), CASES[:1]), ("mcpcore", ours, CASES)):
            client = await stack.enter_async_context(Client(server, mode=mode))
            await client.list_tools()
            for ending in endings:
                arguments: dict[str, Any] = {"order_id": "A-9", "ending": ending}
                if ending == "bad arguments":
                    arguments["order_id"] = 9
                result = await client.call_tool("get_order", arguments)
                assert result.is_error == (ending != "success"), result
                calls[name, ending] = functools.partial(client.call_tool, "get_order", arguments)
        return await measure(calls, rounds=rounds, batch=batch, clock=process_time)


async def run_on_fastmcp(*, rounds: int, batch: int) -> dict[Key, Samples]:
    """The endings on both FastMCP servers in turns."""
    async with AsyncExitStack() as stack:
        calls: dict[Key, Any] = {}
        for name, contract in (("fastmcp", False), ("mcpcore", True)):
            client = await stack.enter_async_context(FastMCPClient(fastmcp(contract=contract)))
            await client.list_tools()
            for ending in ON_FASTMCP:
                arguments = {"order_id": "A-9", "ending": ending}
                call = functools.partial(client.call_tool, "get_order", arguments, raise_on_error=False)
                assert (await call()).is_error == (ending != "success")
                calls[name, ending] = call
        return await measure(calls, rounds=rounds, batch=batch, clock=process_time)


def figures(*, rounds: int = 60, batch: int = 40) -> dict[str, dict[str, float]]:
    """The cost of each ending: by connection as a ratio to a success of the bare SDK, on FastMCP to the same ending."""
    logging.disable(logging.CRITICAL)
    found = {}
    for mode in ("auto", "legacy"):
        samples = asyncio.run(run(mode=mode, rounds=rounds, batch=batch))
        found[mode] = {ending: ratio(samples["mcpcore", ending], samples["sdk", "success"]) for ending in CASES}
    samples = asyncio.run(run_on_fastmcp(rounds=rounds, batch=batch // 2))
    found["fastmcp"] = {ending: ratio(samples["mcpcore", ending], samples["fastmcp", ending]) for ending in ON_FASTMCP}
    logging.disable(logging.NOTSET)
    return found


def missed(found: dict[str, dict[str, float]]) -> list[str]:
    """The targets that were missed by more than the tolerance."""
    return [
        f"{mode}, {ending}: {found[mode][ending]:.2f}, at most {target}"
        for mode, targets in TARGETS.items()
        for ending, target in targets.items()
        if found[mode][ending] > target + TOLERANCE
    ]


def main() -> int:
    """Measure and print; 1 if a target was missed."""
    found = figures()
    for mode, ratios in found.items():
        print(f"{mode}: " + ", ".join(f"{ending} {times:.2f}" for ending, times in ratios.items()))
    misses = missed(found)
    print(*(f"MISSED {miss}" for miss in misses), sep="\n", end="\n" if misses else "")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
