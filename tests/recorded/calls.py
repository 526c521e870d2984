"""Counts the Python functions that a call runs, on both servers: `python -m tests.recorded.calls` prints them.

The count does not depend on the machine, so that it shows a call that became dearer where a time would not. It is that
of the whole process, the client and the framework included: with `--record`, it is kept in `calls.json`.
"""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from fastmcp import Client as FastMCPClient
from mcp import Client

from bench.runtime.small import CASES, contract_tool, fastmcp
from mcpcore import Server

RECORDED = Path(__file__).with_name("calls.json")

_WARM = 30
_TIMES = 5


async def counted(call: Callable[[], Awaitable[Any]]) -> int:
    """The functions of Python that `call` runs: the least of several calls, since the first ones fill caches."""
    for _ in range(_WARM):
        await call()
    counts = []
    for _ in range(_TIMES):
        count = 0

        def note(_frame: object, event: str, _argument: object) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(note)
        try:
            await call()
        finally:
            sys.setprofile(None)
        counts.append(count)
    return min(counts)


async def counts() -> dict[str, int]:
    """The count of each outcome, by the server and the outcome."""
    logging.disable(logging.CRITICAL)
    result: dict[str, int] = {}
    servers: list[tuple[str, Any]] = [
        ("sdk", Client(Server("bench", tools=[contract_tool()]))),
        ("fastmcp", FastMCPClient(fastmcp(contract=True))),
    ]
    for name, connecting in servers:
        async with connecting as client:
            await client.list_tools()
            options = {"raise_on_error": False} if name == "fastmcp" else {}
            for ending in CASES:
                arguments = {"order_id": 9 if ending == "bad arguments" else "A-9", "ending": ending}
                call = functools.partial(client.call_tool, "get_order", arguments, **options)
                result[f"{name}, {ending}"] = await counted(call)
    return result


if __name__ == "__main__":
    text = json.dumps(asyncio.run(counts()), indent=1)
    print(text)
    if "--record" in sys.argv:
        RECORDED.write_text(text + "\n", encoding="utf-8")
