"""`raises_reason`, `assert_fails` and `make_context`."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from fastmcp import Client as FastMCPClient, FastMCP
from mcp_types import CallToolResult
from pydantic import BaseModel

from mcpcore import Context, ErrorCode, FailureMode, Server, resource, tool
from mcpcore.client import call as call_tool
from mcpcore.services.batch import Batch, BatchResult
from mcpcore.testing import assert_fails, make_context, raises_reason, tool_client

pytestmark = pytest.mark.anyio


class Missing(BaseModel):
    order_id: str


NO_ORDER = FailureMode("no_order", ErrorCode.NOT_FOUND, when="No order.", recovery="List them.", data=Missing)
SLOW = FailureMode("slow", ErrorCode.TIMEOUT, when="It is slow.", recovery="Wait.")


@tool(errors=[NO_ORDER, SLOW])
async def get_order(ctx: Context[Literal["no_order", "slow"]], order_id: str) -> str:
    """Get an order."""
    if order_id == "slow":
        raise ctx.fail("slow")
    if order_id == "bad":
        raise ctx.fail("no_order", data={"id": order_id})
    if order_id == "crash":
        raise KeyError(order_id)
    if order_id != "A-1":
        raise ctx.fail(NO_ORDER, data=Missing(order_id=order_id))
    return order_id


@tool
def read_lifespan(ctx: Context[Any, str]) -> str:
    """Read what the lifespan yields."""
    return ctx.lifespan_context


@tool(errors=[NO_ORDER, SLOW])
async def get_orders(ctx: Context[Literal["no_order", "slow"]], order_ids: list[str]) -> BatchResult[str]:
    """Get orders."""
    batch = Batch[str](ctx)
    for order_id in order_ids:
        with batch.item(order_id):
            batch.add(await get_order.handler(ctx, order_id))
    return batch.result()


@resource("orders://{order_id}", errors=[SLOW])
def order_at(ctx: Context[Literal["slow"]], order_id: str) -> str:
    """An order."""
    raise ctx.fail("slow")


server = Server("orders", tools=[get_order, get_orders], resources=[order_at])
mcp: FastMCP[Any] = FastMCP("orders")
mcp.add_tool(get_order)
mcp.add_tool(get_orders)


async def test_a_raised_failure_is_read_after_the_block() -> None:
    """From a tool that is called like a function, in an exception group, and from a client."""
    with raises_reason("no_order", code=ErrorCode.NOT_FOUND, data={"order_id": "x"}) as failure:
        await get_order(order_id="x")
    assert ("no_order", ErrorCode.NOT_FOUND, "No order.", {"order_id": "x"}) == (
        failure.reason,
        failure.code,
        failure.message,
        failure.data,
    )
    assert failure.exception.__class__.__name__ == "CodedError"
    async with raises_reason("slow"):
        raise await _failure("slow")
    async with tool_client(server) as client:
        with raises_reason("no_order", data={"order_id": "y"}):
            await call_tool(client, "get_order", {"order_id": "y"})
        with raises_reason("slow"):
            await client.read_resource("orders://1")


async def _failure(order_id: str) -> BaseException:
    try:
        await get_order(order_id=order_id)
    except Exception as exc:
        return ExceptionGroup("group", [KeyError(), exc])
    raise AssertionError


async def test_a_mismatch_shows_both_surfaces() -> None:
    """The text and the structured content; the failure itself is the cause."""
    with pytest.raises(AssertionError) as caught, raises_reason("slow"):
        await get_order(order_id="x")
    text = str(caught.value)
    assert text.startswith("expected a failure with the reason 'slow', but it failed with the reason 'no_order'")
    assert "text:\nError: No order." in text
    assert '"reason": "no_order"' in text.partition("structured content:")[2]
    assert caught.value.__cause__ is not None
    for options, message in (
        ({"code": ErrorCode.CONFLICT}, "expected the code CONFLICT, not NOT_FOUND"),
        ({"data": {"order_id": "y"}}, "'order_id' is 'x', expected 'y'"),
        ({"data": {"id": "y"}}, "'id' is missing, expected 'y'"),
    ):
        with pytest.raises(AssertionError, match=message), raises_reason("no_order", **options):
            await get_order(order_id="x")
    message = "the failure breaks its contract: the data of 'no_order'"
    with pytest.raises(AssertionError, match=message), raises_reason("no_order"):
        await get_order(order_id="bad")


async def test_other_exceptions_pass() -> None:
    """And a block without a failure is an error; before its end there is nothing to read."""
    with pytest.raises(KeyError), raises_reason("slow"):
        await get_order(order_id="crash")
    with pytest.raises(AssertionError, match="the block raised none"), raises_reason("slow") as failure:
        await get_order(order_id="A-1")
    for name in ("exception", "reason"):
        with pytest.raises(ValueError, match="has not raised a failure yet"):
            getattr(failure, name)


@pytest.mark.parametrize("served", [server, mcp], ids=["Server", "FastMCP"])
async def test_results(served: Any) -> None:
    """Of both kinds of servers."""
    async with tool_client(served) as client:
        failed = await client.call_tool("get_order", {"order_id": "x"})
        fine = await client.call_tool("get_order", {"order_id": "A-1"})
    assert "List them." == assert_fails(failed, "no_order", data={"order_id": "x"}).hint
    with pytest.raises(AssertionError, match="but the call succeeded\n\ntext:\nA-1"):
        assert_fails(fine, "no_order")
    with pytest.raises(AssertionError, match="expected a failure with the reason 'slow'") as caught:
        assert_fails(failed, "slow")
    assert "text:\nError: No order." in str(caught.value)
    assert '"order_id": "x"' in str(caught.value)
    content: Any = failed.content[0]
    text = content.text.replace("reason no_order", "reason slow")
    forged = {
        "isError": True,
        "content": [{"type": "text", "text": text}],
        "structuredContent": failed.structured_content,
    }
    with pytest.raises(AssertionError, match="different values of the reason: 'slow', 'no_order'"):
        assert_fails(forged, "no_order")
    with pytest.raises(TypeError):
        assert_fails(object(), "no_order")


@pytest.mark.parametrize("served", [server, mcp], ids=["Server", "FastMCP"])
async def test_an_item_of_a_batch(served: Any) -> None:
    """In a batch of which a part succeeded, and in one that failed as a whole."""
    async with tool_client(served) as client:
        part = await client.call_tool("get_orders", {"order_ids": ["A-1", "x", "slow"]})
        whole = await client.call_tool("get_orders", {"order_ids": ["x", "slow"]})
        fine = await client.call_tool("get_orders", {"order_ids": ["A-1"]})
    assert "List them." == assert_fails(part, "no_order", item=0, data={"order_id": "x"}).hint
    assert_fails(part, "slow", item=-1, code=ErrorCode.TIMEOUT)
    assert {"no_order", "slow"} == {failure["error"]["data"]["reason"] for failure in part.structured_content["failed"]}
    assert {"slow", "no_order"} == {entry["error"]["data"]["reason"] for entry in failed_of(whole)}
    for index, entry in enumerate(failed_of(whole)):
        assert_fails(whole, entry["error"]["data"]["reason"], item=index)
    with pytest.raises(AssertionError, match="expected a failure with the reason 'slow', but it failed with"):
        assert_fails(part, "slow", item=0)
    for result, message in (
        (fine, "0 items failed"),
        (part, "2 items failed"),
        (CallToolResult(content=[]), "0 items"),
    ):
        with pytest.raises(AssertionError, match=rf"expected failed\[2\] with the reason 'slow', but {message}"):
            assert_fails(result, "slow", item=2)
    wrong: Any
    for wrong, message in (
        ({"item": "x"}, "item= takes the index of a failed item such as 0, not 'x'"),
        ({"code": "TIMEOUT"}, "code= takes a code such as ErrorCode.NOT_FOUND, not 'TIMEOUT'"),
    ):
        with pytest.raises(TypeError, match=message):
            assert_fails(part, "slow", **wrong)


def failed_of(result: Any) -> Any:
    """Return the failed items of a batch that failed as a whole."""
    return result.structured_content["error"]["data"]["failed"]


async def test_parts_that_are_missing() -> None:
    """A failure without a text or a result, one with the text of another program, and a success without content."""
    async with tool_client(server) as client:
        failed = await client.call_tool("get_order", {"order_id": "x"})
    failure = assert_fails(failed, "no_order")
    assert failure == assert_fails(failure, "no_order")
    failed.content[0].text = "It failed."  # type: ignore[union-attr]
    assert_fails(failed, "no_order")
    with pytest.raises(AssertionError, match=r"the call succeeded\n\ntext:\n\(none\)\n\nstructured content:\n\(none\)"):
        assert_fails(CallToolResult(content=[]), "no_order")


async def test_the_client_of_fastmcp() -> None:
    """Its result, and its exception."""
    async with FastMCPClient(mcp) as client:
        assert_fails(await client.call_tool("get_order", {"order_id": "x"}, raise_on_error=False), "no_order")
        with raises_reason("no_order"):
            await client.call_tool("get_order", {"order_id": "x"})


async def test_a_made_context_has_the_contract(make_context: Any) -> None:
    """And the value of the lifespan; the fixture is the function."""
    ctx = make_context(get_order)
    assert get_order.contract is ctx.contract
    with raises_reason("slow"):
        await get_order.handler(ctx, order_id="slow")
    assert "database" == read_lifespan.handler(make_context(read_lifespan, lifespan_context="database"))
    with pytest.raises(ValueError, match="outside a request"):
        read_lifespan.handler(make_context(read_lifespan))
    with pytest.raises(TypeError, match="not function"):
        make_context(lambda: None)


async def test_the_fixture_of_the_client(tool_client: Any) -> None:
    """It is the function."""
    async with tool_client(server) as client:
        assert "get_order" == (await client.list_tools()).tools[0].name


def test_made_contexts_have_the_name() -> None:
    """It is in messages."""
    assert "get_order" in repr(make_context(get_order))


def test_the_names_of_the_package() -> None:
    """They load on first use; any other name is an error."""
    import mcpcore.testing

    assert "fuzz_tool" in dir(mcpcore.testing)
    with pytest.raises(AttributeError, match="no attribute 'fuzz'"):
        mcpcore.testing.fuzz  # noqa: B018
