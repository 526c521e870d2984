"""Tests of the shipping desk. They raise each declared reason: `pytest examples/shipping --reason-coverage`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from examples.shipping.server import connection, make_server
from mcpcore import ErrorCode
from mcpcore.testing import assert_fails, contract_suite, fuzz_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

server = make_server()

TestContracts = contract_suite(server)


@pytest.fixture
def anyio_backend() -> str:
    """The event loop of the tests."""
    return "asyncio"


@pytest.fixture(autouse=True)
def database() -> Iterator[None]:
    """Undo the changes of a test."""
    yield
    with connection() as db:
        db.execute("update orders set shipped = id = 'A-2'")
        db.execute("update stock set quantity = iif(item = 'lamp', 5, 0)")


@pytest.mark.anyio
async def test_an_order_is_shipped_once(tool_client: Callable[..., Any]) -> None:
    """The second time, it is shipped already."""
    async with tool_client(server) as client:
        first = await client.call_tool("ship_order", {"order_id": "A-1"})
        second = await client.call_tool("ship_order", {"order_id": "A-1"})
    assert first.structured_content["shipped"]
    assert_fails(second, "shipped", code=ErrorCode.CONFLICT, data={"order_id": "A-1"})


@pytest.mark.anyio
async def test_stock_that_is_too_low(tool_client: Callable[..., Any]) -> None:
    """The client learns how much is left, and when to try again."""
    with connection() as db:
        db.execute("update stock set quantity = 1 where item = 'lamp'")
    async with tool_client(server) as client:
        result = await client.call_tool("ship_order", {"order_id": "A-1"})
    failure = assert_fails(result, "out_of_stock", data={"needed": 2, "left": 1})
    assert failure.retry.after_ms == 3_600_000


@pytest.mark.anyio
@pytest.mark.parametrize("tool", ["get_order", "ship_order"])
async def test_an_unknown_order(tool_client: Callable[..., Any], tool: str) -> None:
    """The client is sent to the list of orders."""
    async with tool_client(server) as client:
        result = await client.call_tool(tool, {"order_id": "B-7"})
    assert assert_fails(result, "no_order", data={"order_id": "B-7"}).fallback_tool == "list_orders"


@pytest.mark.parametrize("tool", ["get_order", "ship_order"])
def test_any_arguments(tool: str) -> None:
    """Arguments that fit the schema lead to an order or to a declared failure."""
    fuzz_tool(tool, server=server, max_examples=30)
