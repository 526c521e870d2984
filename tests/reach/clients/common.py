"""What the drivers in Python share: the calls to make, and how they answer.

A driver gets the addresses of the servers as JSON, and prints `{server: {client: {case: text}}}`. The scripts run in
environments without mcpcore too, so nothing here imports it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

Texts = dict[str, dict[str, str]]

CASES: dict[str, tuple[str, dict[str, object]]] = json.loads(Path(__file__).with_name("cases.json").read_text())
"""The tool and the arguments of each case."""


async def answer(ask: Callable[[str], Awaitable[Texts]]) -> None:
    """Ask every server, and print what reached the model."""
    servers: dict[str, str] = json.loads(sys.argv[1])
    print(json.dumps({server: await ask(url) for server, url in servers.items()}))
