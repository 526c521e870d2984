"""What tests of every area share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

Call = Callable[..., CallToolResult]


@pytest.fixture
def anyio_backend() -> str:
    """The loop of tests that are coroutines."""
    return "asyncio"


@pytest.fixture(params=["legacy", "auto"], ids=["handshake", "2026-07-28"])
def era(request: pytest.FixtureRequest) -> str:
    """Both eras of the protocol, as the mode of a client."""
    return str(request.param)


@pytest.fixture
def call() -> Call:
    """Call one tool through the SDK's in-memory client: `call(server, name, arguments, mode=...)`."""

    def called(server: Any, name: str, arguments: dict[str, Any] | None = None, *, mode: str = "auto") -> Any:
        async def run() -> Any:
            async with Client(server, mode=mode) as client:
                try:
                    return await client.call_tool(name, arguments or {})
                except MCPError as error:  # raised outside, or the client's task group wraps it
                    return error

        result = anyio.run(run)
        if isinstance(result, MCPError):
            raise result
        return result

    return called
