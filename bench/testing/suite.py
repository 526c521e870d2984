"""Tests of the shipping desk, for `python -m bench.testing`: each starts the server and calls a tool four times."""

from __future__ import annotations

from typing import Any

import pytest

from examples.shipping.server import make_server

server = make_server()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def call_tools(client: Any) -> None:
    for number in range(4):
        result = await client.call_tool("get_order", {"order_id": f"{'AB'[number % 2]}-1"})
        assert result.is_error == bool(number % 2)


@pytest.mark.anyio
@pytest.mark.parametrize("number", range(50))
async def test_calls(tool_client: Any, number: int) -> None:  # noqa: ARG001 - repeats the test
    async with tool_client(server) as client:
        await call_tools(client)


@pytest.mark.anyio
@pytest.mark.parametrize("number", range(250))
async def test_more_calls(tool_client: Any, number: int) -> None:  # noqa: ARG001 - repeats the test
    async with tool_client(server) as client:
        await call_tools(client)
