"""The clients of the soak: polite ones that check every answer, and rude ones that break off, stall or send garbage."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
from mcp import Client
from mcp.shared.exceptions import MCPError

from bench.soak.served import LARGE
from mcpcore import Envelope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

HOST = "127.0.0.1"
SESSION = 25
"""Operations for which a client keeps its connection."""


@dataclass
class Tally:
    """What the clients saw."""

    operations: int = 0
    wrong: list[str] = field(default_factory=list)
    """Descriptions of answers that were not as they should be."""

    failures: set[str] = field(default_factory=set)
    """The ids of the failures that were received."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    """How long the operations of each kind took."""

    def expect(self, kind: str, holds: bool, answer: object) -> None:
        """Note an answer that is wrong."""
        if not holds:
            self.wrong.append(f"{kind}: {str(answer)[:300]}")

    def failed(self, kind: str, answer: object, name: str, reason: str | None) -> None:
        """Note the failure in an answer, which should have this name and reason."""
        envelope = Envelope.from_result(answer)
        self.expect(kind, envelope is not None and (envelope.name, envelope.reason) == (name, reason), answer)
        if envelope is not None and envelope.correlation_id is not None:
            self.failures.add(envelope.correlation_id)


# --- clients that follow the protocol ---------------------------------------------------------------------------------


async def _echo(client: Client, tally: Tally, key: str) -> None:
    result = await client.call_tool("echo", {"text": key})
    tally.expect("echo", not result.is_error and result.structured_content == {"result": key}, result)


async def _declared(client: Client, tally: Tally, key: str) -> None:
    result = await client.call_tool("fetch", {"key": key})
    tally.failed("declared", result, "NOT_FOUND", "no_match")
    tally.expect("declared", result.structured_content["error"]["data"]["key"] == key, result)  # type: ignore[index]


async def _arguments(client: Client, tally: Tally, _: str) -> None:
    tally.failed("arguments", await client.call_tool("fetch", {"key": 7}), "INVALID_PARAMS", "invalid_arguments")


async def _crash(client: Client, tally: Tally, key: str) -> None:
    result = await client.call_tool("crash", {"key": key})
    tally.failed("crash", result, "INTERNAL_ERROR", None)
    tally.expect("crash", key not in result.model_dump_json(), result)


async def _unknown(client: Client, tally: Tally, _: str) -> None:
    try:
        result: object = await client.call_tool("ecoh", {})
    except MCPError as error:
        result = error
    tally.failed("unknown", result, "NOT_FOUND", "unknown_tool")


async def _late(client: Client, tally: Tally, _: str) -> None:
    tally.failed("late", await client.call_tool("late", {}), "TIMEOUT", "call_timeout")


async def _single(client: Client, tally: Tally, _: str) -> None:
    result = await client.call_tool("single", {})
    if result.is_error:
        tally.failed("single", result, "RATE_LIMITED", "too_many_calls")


async def _resource(client: Client, tally: Tally, key: str) -> None:
    try:
        result: object = await client.read_resource(f"soak://{key}")
    except MCPError as error:
        result = error
    tally.failed("resource", result, "NOT_FOUND", "no_match")


async def _prompt(client: Client, tally: Tally, key: str) -> None:
    try:
        result: object = await client.get_prompt("ask", {"key": key})
    except MCPError as error:
        result = error
    tally.failed("prompt", result, "NOT_FOUND", "no_match")


async def _large(client: Client, tally: Tally, _: str) -> None:
    result = await client.call_tool("large", {})
    tally.expect("large", len((result.structured_content or {}).get("result", "")) == LARGE, result)


async def _cancelled(client: Client, tally: Tally, _: str) -> None:
    with anyio.move_on_after(0.03) as scope:
        await client.call_tool("slow", {})
    tally.expect("cancelled", scope.cancelled_caught, "an answer came before its time")


OPERATIONS: dict[str, tuple[int, Callable[[Client, Tally, str], Awaitable[None]]]] = {
    "echo": (30, _echo),
    "declared": (20, _declared),
    "arguments": (6, _arguments),
    "crash": (6, _crash),
    "unknown": (4, _unknown),
    "late": (4, _late),
    "single": (6, _single),
    "resource": (6, _resource),
    "prompt": (6, _prompt),
    "large": (4, _large),
    "cancelled": (8, _cancelled),
}
"""The operations, and how often each is chosen."""

OF_THE_SDK = ("echo", "large", "cancelled")
"""The operations that the bare SDK has too."""


async def polite(url: str, tally: Tally, number: int, deadline: float, *, mode: str, kinds: tuple[str, ...]) -> None:
    """Call in connection after connection, and check every answer, until `deadline`."""
    chance = random.Random(number)
    weights = [OPERATIONS[kind][0] for kind in kinds]
    while time.monotonic() < deadline:
        async with Client(url, mode=mode) as client:
            for turn in range(SESSION):
                if time.monotonic() >= deadline:
                    break
                (kind,) = chance.choices(kinds, weights)
                began = time.perf_counter()
                await OPERATIONS[kind][1](client, tally, f"{number}-{turn}-{chance.random()}")
                tally.seconds.setdefault(kind, []).append(time.perf_counter() - began)
                tally.operations += 1


# --- clients that do not ----------------------------------------------------------------------------------------------


def _post(body: bytes, *, length: int | None = None, session: str | None = None) -> bytes:
    # A request of 2026-07-28 needs no session, so that it reaches the tool on every server.
    modern = "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: large\r\n"
    how = modern if session is None else f"Mcp-Session-Id: {session}\r\n"
    head = (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:80\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\n{how}"
        f"Content-Length: {len(body) if length is None else length}\r\n\r\n"
    )
    return head.encode() + body


_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "rude", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_CALL = json.dumps(
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "large", "arguments": {}, "_meta": _META}}
).encode()


async def _sent(port: int, *parts: bytes, pause: float, read: int = 0) -> None:
    """Send some bytes, read some, wait, and close without a word."""
    reader, writer = await asyncio.open_connection(HOST, port, limit=1024)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await anyio.sleep(pause)
        for _ in range(read):
            await reader.read(1024)
            await anyio.sleep(pause)
    finally:
        writer.transport.abort()


async def rude(port: int, tally: Tally, number: int, deadline: float) -> None:
    """Break off, stall, read slowly and send garbage, until `deadline`."""
    chance = random.Random(number)
    while time.monotonic() < deadline:
        kind = chance.choice(("dropped", "half-open", "garbage", "bad message", "slow reader", "bad session"))
        with anyio.move_on_after(5), contextlib.suppress(OSError):  # the server may hang up first
            if kind == "dropped":
                await _sent(port, _post(_CALL, length=len(_CALL) + 50), pause=0.02)
            elif kind == "half-open":
                await _sent(port, b"POST /mcp HTTP/1.1\r\nHost:", pause=1)
            elif kind == "garbage":
                await _sent(port, chance.randbytes(2000), pause=0.02)
            elif kind == "bad message":
                await _sent(port, _post(b'{"jsonrpc": "2.0", "id": {}}' + chance.randbytes(9)), pause=0.02, read=1)
            elif kind == "slow reader":
                await _sent(port, _post(_CALL), pause=0.1, read=20)
            else:
                await _sent(port, _post(_CALL, session="gone"), pause=0.02, read=1)
        tally.operations += 1
