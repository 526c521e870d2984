"""`tool_client` starts any server in memory, strict, and its exceptions come out as they are."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal

import anyio
import pytest
from fastmcp import FastMCP
from fastmcp.server.middleware.error_handling import RetryMiddleware
from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError

from mcpcore import Context, ContractError, ErrorCode, FailureMode, Server, prompt, resource, tool
from mcpcore.integrations.fastmcp import ContractMiddleware
from mcpcore.testing import tool_client
from tests.answers import envelope_of

pytestmark = pytest.mark.anyio

NO_ORDER = FailureMode(
    "no_order", ErrorCode.NOT_FOUND, when="There is no order.", recovery="List.", fallback_tool="list_orders"
)
MISSPELT = FailureMode(
    "no_order", ErrorCode.NOT_FOUND, when="There is no order.", recovery="List.", fallback_tool="list_order"
)


@tool(errors=[NO_ORDER])
async def get_order(ctx: Context[Literal["no_order"]], order_id: str) -> dict[str, str]:
    """Get an order."""
    if order_id != "A-1":
        raise ctx.fail("no_order", data={"order_id": order_id})
    return {"id": order_id}


@tool
def list_orders() -> list[str]:
    """The ids of all orders."""
    return ["A-1"]


@tool(errors=[MISSPELT], name="get_item")
def get_item(ctx: Context[Literal["no_order"]]) -> str:
    """Get an item."""
    raise ctx.fail("no_order")


GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="There is no order.", recovery="List the orders.")


@resource("orders://{order_id}", errors=[GONE])
def order_at(ctx: Context[Literal["gone"]], order_id: str) -> str:
    """An order."""
    if order_id != "A-1":
        raise ctx.fail("gone")
    return order_id


@prompt
def describe(order_id: str) -> str:
    """Describe an order."""
    return f"Describe {order_id}."


def on_server(*tools: Any, **options: Any) -> Server[Any]:
    return Server("orders", tools=tools, resources=[order_at], prompts=[describe], **options)


def on_fastmcp(*tools: Any, lifespan: Any = None, **options: Any) -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("orders", lifespan=lifespan)
    mcp.add_middleware(ContractMiddleware(**options))
    for added in tools:
        mcp.add_tool(added)
    mcp.add_resource(order_at)
    mcp.add_prompt(describe)
    return mcp


@pytest.fixture(params=[on_server, on_fastmcp], ids=["Server", "FastMCP"])
def make(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Both kinds of servers."""
    made: Callable[..., Any] = request.param
    return made


@pytest.mark.parametrize("namespaces", [("shop",), (None,), ("shop", "all")])
@pytest.mark.parametrize("covered", [True, False])
async def test_mounted_servers_are_strict_too(namespaces: tuple[str | None, ...], *, covered: bool) -> None:
    """Also if only the mounted server has a middleware, or none of them has one."""

    @tool(errors=[GONE])
    def lose(ctx: Context[Literal["gone"]]) -> str:
        ctx.fail("gone")
        return "done"

    mcp: FastMCP[Any] = FastMCP("orders")
    if covered:
        mcp.add_middleware(ContractMiddleware())
    mcp.add_tool(lose)
    name = "lose"
    for namespace in namespaces:
        below, mcp = mcp, FastMCP("above")
        mcp.mount(below, namespace)
        name = name if namespace is None else f"{namespace}_{name}"
    async with tool_client(mcp) as client:
        assert (await client.call_tool(name)).is_error
    async with tool_client(mcp, strict=False) as client:
        assert not (await client.call_tool(name)).is_error


async def test_one_client_for_all_servers(make: Callable[..., Any]) -> None:
    """It calls, lists, reads and gets; a failed tool is a result, and the session is at hand."""
    async with tool_client(make(get_order, list_orders)) as client:
        assert {"id": "A-1"} == (await client.call_tool("get_order", {"order_id": "A-1"})).structured_content
        failed = await client.call_tool("get_order", {"order_id": "x"})
        assert failed.is_error
        envelope = envelope_of(failed)
        assert ("no_order", "list_orders", {"order_id": "x"}) == (
            envelope.reason,
            envelope.fallback_tool,
            envelope.details,
        )
        assert ["get_order", "list_orders"] == [tool.name for tool in (await client.list_tools()).tools]
        (content,) = (await client.read_resource("orders://A-1")).contents
        assert "A-1" == content.text  # type: ignore[union-attr]
        (message,) = (await client.get_prompt("describe", {"order_id": "A-1"})).messages
        assert "Describe A-1." == message.content.text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="There is no order"):
            await client.read_resource("orders://B-2")
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("get_orders")
        assert "orders" == client.session.server_info.name  # type: ignore[union-attr]
        assert type(client) is Client


async def test_servers_without_contracts() -> None:
    """A server of the SDK, its low-level server, and a FastMCP server to which nothing is added."""
    plain = MCPServer("plain")
    plain.add_tool(lambda: "yes", name="ask")
    for server in (plain, plain._lowlevel_server):
        async with tool_client(server) as client:
            assert not (await client.call_tool("ask")).is_error
    bare: FastMCP[Any] = FastMCP("bare")
    bare.add_tool(get_order)
    async with tool_client(bare) as client:
        assert (await client.call_tool("get_order", {"order_id": "x"})).is_error
    assert not [middleware for middleware in bare.middleware if isinstance(middleware, ContractMiddleware)]


@pytest.mark.parametrize("other", [None, "http://localhost/mcp", Server, 3], ids=repr)
async def test_anything_else_is_refused(other: Any) -> None:
    """The message says what fits."""
    with pytest.raises(TypeError, match=r"tool_client\(...\) takes a Server, an MCPServer or a FastMCP server, not "):
        async with tool_client(other):
            pass


def test_a_program_without_fastmcp_reads_the_same_error() -> None:
    """The check does not import FastMCP."""
    program = (
        "import anyio, sys\n"
        "from mcpcore.testing import tool_client\n"
        "async def main():\n"
        "    async with tool_client(3): ...\n"
        "try:\n"
        "    anyio.run(main)\n"
        "except TypeError as exc:\n"
        "    print(exc, 'fastmcp' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert "takes a Server, an MCPServer or a FastMCP server, not int" in done.stdout
    assert done.stdout.endswith("False\n")


async def test_the_lifespan_runs_around_the_client(make: Callable[..., Any]) -> None:
    """It starts before the block and ends with it."""
    events: list[str] = []

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[dict[str, Any]]:
        events.append("starts")
        yield {}
        events.append("ends")

    async with tool_client(make(lifespan=lifespan)):
        assert ["starts"] == events
    assert ["starts", "ends"] == events


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_unknown_fallback_tool_is_an_error(make: Callable[..., Any], mode: str) -> None:
    """The error itself, in both eras of the protocol, also for each further client."""
    server = make(get_item, list_orders)
    for _ in range(2):
        with pytest.raises(ContractError, match=r"unknown fallback tool 'list_order': .*did you mean 'list_orders'\?"):
            async with tool_client(server, mode=mode):
                raise AssertionError
    async with tool_client(make(get_item, external_tools=["list_order"])) as client:
        assert (await client.call_tool("get_item")).is_error


async def test_strict_is_an_option(make: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """False is lenient whatever the server says; None leaves it to the server; afterwards nothing is changed."""
    for strict, own, starts in ((False, True, True), (None, False, True), (None, True, False), (True, False, False)):
        server = make(get_item, strict=own)
        if starts:
            async with tool_client(server, strict=strict) as client:
                assert (await client.call_tool("get_item")).is_error
        else:
            with pytest.raises(ContractError):
                async with tool_client(server, strict=strict):
                    raise AssertionError
    monkeypatch.setenv("MCPCORE_STRICT", "1")
    async with tool_client(make(get_item), strict=False):
        pass
    with pytest.raises(ContractError):
        async with tool_client(make(get_item), strict=None):
            raise AssertionError


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_exception_of_a_lifespan_comes_out_as_it_is(make: Callable[..., Any], mode: str) -> None:
    """With its cause, and in no group: from the start and from the end."""

    @asynccontextmanager
    async def starts_badly(_: Any) -> AsyncIterator[dict[str, Any]]:
        raise LookupError("no database") from KeyError("cause")
        yield {}

    @asynccontextmanager
    async def ends_badly(_: Any) -> AsyncIterator[dict[str, Any]]:
        yield {}
        raise LookupError("no goodbye")

    with pytest.raises(LookupError, match="no database") as caught:
        async with tool_client(make(lifespan=starts_badly), mode=mode):
            raise AssertionError
    assert type(caught.value.__cause__) is KeyError
    with pytest.raises(LookupError, match="no goodbye"):
        async with tool_client(make(lifespan=ends_badly), mode=mode):
            pass
    with pytest.raises(ValueError, match="of the test") as failed:
        async with tool_client(make(lifespan=ends_badly), mode=mode):
            raise ValueError("of the test")
    assert ["The server also failed to stop:"] == [note.partition(": ")[0] + ":" for note in failed.value.__notes__]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_exception_of_a_test_comes_out_as_it_is(make: Callable[..., Any], mode: str) -> None:
    """Also one that is no `Exception`, such as those of `pytest.skip()`; its cause stays."""
    for exc in (AssertionError("wrong"), KeyboardInterrupt(), pytest.skip.Exception("later")):
        with pytest.raises(type(exc)) as caught:
            async with tool_client(make(get_order, list_orders), mode=mode):
                raise exc from KeyError("cause")
        assert caught.value is exc
        assert type(exc.__cause__) is KeyError


async def test_cancellation_passes(make: Callable[..., Any]) -> None:
    """A timeout around the block, and within it."""
    with anyio.move_on_after(0.05) as scope:
        async with tool_client(make(get_order, list_orders)):
            await anyio.sleep(5)
    assert scope.cancelled_caught
    async with tool_client(make(get_order, list_orders)) as client:
        with anyio.move_on_after(0.05) as scope:
            await anyio.sleep(5)
        assert not (await client.call_tool("list_orders")).is_error
    assert scope.cancelled_caught


async def test_middleware_that_undoes_contracts_is_an_error() -> None:
    """As the middleware itself raises it."""
    mcp = on_fastmcp(get_order, list_orders)
    mcp.add_middleware(RetryMiddleware())
    with pytest.raises(ContractError, match="RetryMiddleware repeats failed calls"):
        async with tool_client(mcp):
            raise AssertionError


async def test_several_failures_stay_a_group() -> None:
    """None of them is the cause of the others."""

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[dict[str, Any]]:
        raise ExceptionGroup("two", [KeyError("a"), LookupError("b")])
        yield {}

    with pytest.raises(ExceptionGroup, match="two"):
        async with tool_client(on_server(get_order, list_orders, lifespan=lifespan)):
            raise AssertionError


async def test_lists_are_not_cached(make: Callable[..., Any]) -> None:
    """A tool that is registered in a test is in the next list."""
    server = make(list_orders)
    async with tool_client(server) as client:
        assert 1 == len((await client.list_tools()).tools)
        server.add_tool(get_order)
        assert 2 == len((await client.list_tools()).tools)
