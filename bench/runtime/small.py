"""The cost of a small tool, two parameters and a result of two fields, in memory: `python -m bench.runtime.small`.

It is measured in processor time, in short rounds in turns with the peers, and fails where a target is missed. The
fixed costs of the SDK are the same for every call, so this is where the framework's own share is largest. On FastMCP,
the same tool behind a `ContractMiddleware` is compared with one of FastMCP's own on a server without it. A list of
tools and a declaration are compared with the SDK's own.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack
from multiprocessing import get_context
from time import process_time
from typing import TYPE_CHECKING, Any, Final, Literal

from fastmcp import Client as FastMCPClient, FastMCP
from fastmcp.exceptions import ToolError
from mcp import Client
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel

from bench.runtime.rounds import Key, Samples, measure, ratio
from mcpcore import Context, ErrorCode, FailureMode, Server, tool
from mcpcore.audit import AuditTrail
from mcpcore.integrations.fastmcp import ContractMiddleware

if TYPE_CHECKING:
    from collections.abc import Iterable

CASES: Final = ("success", "declared", "declared with data", "bad arguments", "crash")
ON_FASTMCP: Final = ("success", "declared")
RECORDED: Final = "declared with data"
COUNTS: Final = (10, 100, 1_000)

# The most that a figure may be.
TARGETS: Final = {
    "auto": {"success": 0.97, "declared with data": 0.93, "bad arguments": 0.95, "crash": 1.05},
    "fastmcp": {"success": 1.15, "declared": 1.3},
    "recorded": {"trail": 1.25, "signed trail": 1.25, "OpenTelemetry": 1.2},
    "registry": {**{f"list of {count}": 1.15 for count in COUNTS}, "declare": 1.45},
}
# How far a figure may exceed its target: two runs on one machine differ by about as much.
TOLERANCE: Final = 0.03


class Order(BaseModel):
    """The tool's result."""

    id: str
    total: int


def sdk(count: int = 1) -> MCPServer:
    """The bare SDK, which only succeeds, with the tool under as many names."""
    server = MCPServer("bench")

    async def get_order(order_id: str, ending: str) -> Order:  # noqa: ARG001 - the same parameters
        """Get an order."""
        return Order(id=order_id, total=3)

    for number in range(count):
        server.add_tool(get_order, name=f"get_order{number or ''}")
    return server


def contract_tool(number: int = 0) -> Any:
    """The same tool with a contract; `ending` says how the call ends."""

    entry = FailureMode("no_match", ErrorCode.NOT_FOUND, when="No such order.", recovery="Search first.")

    @tool(name=f"get_order{number or ''}", errors=[entry])
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


def contract_server(count: int = 1, **options: Any) -> Server[Any]:
    """A server with as many such tools."""
    return Server("bench", tools=map(contract_tool, range(count)), **options)


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


async def run(peers: Iterable[tuple[str, Any, tuple[str, ...]]], *, rounds: int, batch: int) -> dict[Key, Samples]:
    """The endings of some peers in turns; a peer is a name, a client and its endings."""
    async with AsyncExitStack() as stack:
        calls: dict[Key, Any] = {}
        for name, connecting, endings in peers:
            client = await stack.enter_async_context(connecting)
            await client.list_tools()
            options = {"raise_on_error": False} if isinstance(client, FastMCPClient) else {}
            for ending in endings:
                arguments = {"order_id": 9 if ending == "bad arguments" else "A-9", "ending": ending}
                call = functools.partial(client.call_tool, "get_order", arguments, **options)
                assert (await call()).is_error == (ending != "success")
                calls[name, ending] = call
        return await measure(calls, rounds=rounds, batch=batch, clock=process_time)


async def run_registry(*, rounds: int) -> dict[Key, Samples]:
    """Lists of tools, and servers that are made with twenty."""

    async def declare(make: Any) -> None:
        make(20)

    samples: dict[Key, Samples] = {}
    makers: tuple[tuple[str, Any], ...] = (("sdk", sdk), ("mcpcore", contract_server))
    for count in COUNTS:
        async with AsyncExitStack() as stack:
            lists: dict[Key, Any] = {
                (name, f"list of {count}"): (await stack.enter_async_context(Client(make(count)))).list_tools
                for name, make in makers
            }
            # A sample of a short list has more calls, so that all samples take about as long.
            batch = max(2, 200 // count)
            samples |= await measure(lists, rounds=rounds, batch=batch, warm=3, clock=process_time)
    declaring: dict[Key, Any] = {(name, "declare"): functools.partial(declare, make) for name, make in makers}
    return samples | await measure(declaring, rounds=rounds, batch=2, warm=3, clock=process_time)


def recorded(folder: str | None, *, rounds: int, batch: int) -> dict[str, float]:
    """A failure that is recorded in files, or without a folder by OpenTelemetry, which this process then uses for good.

    It is compared with a success of the bare SDK, which makes the same spans.
    """
    logging.disable(logging.CRITICAL)
    if folder is None:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider

        trace.set_tracer_provider(TracerProvider())
        servers = {"OpenTelemetry": contract_server()}
    else:
        keys = {"trail": None, "signed trail": "0" * 32}
        trails = {name: AuditTrail.open(f"{folder}/{name}", key=key) for name, key in keys.items()}
        servers = {name: contract_server(audit=trail) for name, trail in trails.items()}
    peers = [("sdk", Client(sdk()), CASES[:1]), *((name, Client(servers[name]), (RECORDED,)) for name in servers)]
    samples = asyncio.run(run(peers, rounds=rounds, batch=batch))
    return {name: ratio(samples[name, RECORDED], samples["sdk", "success"]) for name in servers}


def figures(*, rounds: int = 60, batch: int = 40) -> dict[str, dict[str, float]]:
    """The cost of each ending: by connection as a ratio to a success of the bare SDK, on FastMCP to the same ending."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        traced = process.submit(recorded, None, rounds=rounds, batch=batch).result()
    logging.disable(logging.CRITICAL)
    ratios = {}
    for mode in ("auto", "legacy"):
        clients = (("sdk", sdk(), CASES[:1]), ("mcpcore", contract_server(), CASES))
        peers = [(name, Client(server, mode=mode), endings) for name, server, endings in clients]
        samples = asyncio.run(run(peers, rounds=rounds, batch=batch))
        ratios[mode] = {ending: ratio(samples["mcpcore", ending], samples["sdk", "success"]) for ending in CASES}
    pair = (("fastmcp", False), ("mcpcore", True))
    on_fastmcp = [(name, FastMCPClient(fastmcp(contract=contract)), ON_FASTMCP) for name, contract in pair]
    samples = asyncio.run(run(on_fastmcp, rounds=rounds, batch=batch // 2))
    ratios["fastmcp"] = {ending: ratio(samples["mcpcore", ending], samples["fastmcp", ending]) for ending in ON_FASTMCP}
    with tempfile.TemporaryDirectory() as folder:
        ratios["recorded"] = recorded(folder, rounds=rounds, batch=batch) | traced
    samples = asyncio.run(run_registry(rounds=max(rounds // 4, 3)))
    ratios["registry"] = {what: ratio(samples["mcpcore", what], samples["sdk", what]) for what in TARGETS["registry"]}
    logging.disable(logging.NOTSET)
    return ratios


def missed(ratios: dict[str, dict[str, float]]) -> list[str]:
    """The targets that were missed by more than the tolerance."""
    return [
        f"{mode}, {ending}: {ratios[mode][ending]:.2f}, at most {target}"
        for mode, targets in TARGETS.items()
        for ending, target in targets.items()
        if ratios[mode][ending] > target + TOLERANCE
    ]


def main() -> int:
    """Measure and print; 1 if a target was missed."""
    measured = figures()
    for mode, ratios in measured.items():
        print(f"{mode}: " + ", ".join(f"{ending} {times:.2f}" for ending, times in ratios.items()))
    misses = missed(measured)
    print(*(f"MISSED {miss}" for miss in misses), sep="\n", end="\n" if misses else "")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
