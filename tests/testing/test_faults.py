"""Failures on demand: what the declared reason's own failure looks like, and never by accident."""

from __future__ import annotations

import json
import re
from typing import Any, Literal, TypedDict

import pytest
from pydantic import BaseModel, Field

from examples.agents import server as box_office
from examples.fleet import server as articles
from examples.library import server as library
from examples.orders import server as orders
from examples.workspace import server as workspace
from mcpcore import Context, Envelope, ErrorCode, FailureMode, Retry, Server, tool
from mcpcore.boundary.faults import INSTRUCTIONS, FaultError
from mcpcore.client.schemas import SampleValues
from mcpcore.contract.errors import failure_of
from mcpcore.testing import failing, tool_client
from mcpcore.testing.servers import declared_tools
from mcpcore.wire.dialects import DIALECTS
from tests.doors import DOORS, behind

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.anyio


class Missing(BaseModel):
    order_id: str
    tries: int = Field(ge=3)


class Slow(TypedDict):
    seconds: float


NO_ORDER = FailureMode(
    "no_order",
    ErrorCode.NOT_FOUND,
    when="There is no order {order_id}.",
    recovery="Call list_orders.",
    data=Missing,
)
UNCONFIRMED = FailureMode(
    "unconfirmed", ErrorCode.TIMEOUT, when="The payment was not confirmed.", recovery="Look first.", effects="unknown"
)
BUSY = FailureMode(
    "busy",
    ErrorCode.RATE_LIMITED,
    when="The service is busy.",
    recovery="Wait.",
    retry=Retry.after(seconds=1),
    data=Slow,
    example={"seconds": 2.5},
)


class Desk:
    """Counts what its handlers did."""

    def __init__(self) -> None:
        self.done: list[str] = []

    @tool(errors=[NO_ORDER, UNCONFIRMED])
    async def pay(self, ctx: Context[Literal["no_order", "unconfirmed"]], order_id: str) -> str:
        """Pay an order."""
        self.done.append(order_id)
        return "paid"

    @tool(errors=[BUSY])
    def count(self, ctx: Context[Literal["busy"]]) -> int:
        """Count orders."""
        self.done.append("count")
        return 7

    @tool(errors=[UNCONFIRMED])
    def refund(self, ctx: Context[Literal["unconfirmed"]], order_id: str) -> Any:
        """Refund an order; nothing shows that this handler is async."""
        return self.pay(order_id)

    @tool
    def plain(self) -> int:
        """Declare nothing."""
        return 1

    def server(self, **options) -> Server:
        return Server("desk", tools=[self.pay, self.count, self.refund, self.plain], **options)


def without_own(result):
    """The result without what differs from failure to failure, and without what says that it was injected."""
    whole = result.model_dump(mode="json", by_alias=True)
    error = whole["structuredContent"]["error"]
    for name in ("correlationId", "timestamp", "injected"):
        error.pop(name, None)
    text = whole["content"][0]["text"]
    text = text.replace("\n\nThis failure was injected by a test. The tool itself did not report it.", "")
    whole["content"][0]["text"] = re.sub(r"id [0-9a-f]{16}\)", "id …)", text)
    return whole


EXAMPLES = {
    "box_office": lambda folder: box_office.make_server(),
    "articles": lambda folder: articles.server,
    "library": lambda folder: library.server,
    "orders": lambda folder: orders.make_server(None),
    "workspace": lambda folder: workspace.make_server(str(folder)),
}


ISBN = {"isbn": "9780441172719"}
KNOWN = {"library": {"get_book": ISBN, "add_book": ISBN, "lend_book": ISBN}}
"""Arguments that no sample fits."""


@pytest.mark.parametrize("framework", DOORS)
@pytest.mark.parametrize("example", EXAMPLES)
async def test_an_injected_failure_is_the_handlers_own(example, framework, tmp_path):
    """For every declared reason of the examples, the two answers differ only in what says that one was injected."""
    server = behind(framework, EXAMPLES[example](tmp_path))
    declarations = await declared_tools(server)
    compared = 0
    for name, declaration in declarations.items():
        schema = declaration.definition.sdk.parameters
        arguments = SampleValues(schema, "text").object_of(schema, every=False) | KNOWN.get(example, {}).get(name, {})
        for entry in declaration.contract:
            async with tool_client(server, fail={name: entry.reason}) as client:
                injected = await client.call_tool(name, arguments)
            data = Envelope.from_result(injected).details or None

            def raising(*_, entry=entry, data=data, **__):
                raise failure_of(entry, None, data)

            async def raising_async(*_, raising=raising, **__):
                raising()

            run = declaration.run
            declaration.run = raising_async if declaration.is_async else raising
            try:
                async with tool_client(server) as client:
                    own = await client.call_tool(name, arguments)
            finally:
                declaration.run = run
            assert injected.structured_content["error"]["injected"] is True
            assert "\n\nThis failure was injected by a test. " in injected.content[0].text
            assert without_own(own) == without_own(injected), (name, entry.reason)
            compared += 1
    assert compared == sum(len(declaration.contract) for declaration in declarations.values()) > 0


@pytest.mark.parametrize("framework", DOORS)
async def test_all_raises_each_reason_once_and_then_the_handlers_run(framework):
    """`all` goes through every declared reason of every tool in turn; a plain tool has none."""
    desk = Desk()
    async with tool_client(behind(framework, desk.server()), fail="all") as client:
        pays = [Envelope.from_result(await client.call_tool("pay", {"order_id": "A"})) for _ in range(3)]
        counts = [Envelope.from_result(await client.call_tool("count", {})) for _ in range(2)]
        plain = await client.call_tool("plain", {})
    assert ["no_order", "unconfirmed", None] == [failure and failure.reason for failure in pays]
    assert ["busy", None] == [failure and failure.reason for failure in counts]
    assert not plain.is_error
    assert ["A", "count"] == desk.done


@pytest.mark.parametrize("framework", DOORS)
async def test_data_comes_from_the_example_or_is_made_up(framework):
    """A field that is called like an argument has its value; without an example, values fit the model."""
    async with tool_client(behind(framework, Desk().server()), fail={"pay": "no_order", "count": "busy"}) as client:
        pay = Envelope.from_result(await client.call_tool("pay", {"order_id": "A-7"}))
        count = Envelope.from_result(await client.call_tool("count", {}))
    assert {"order_id": "A-7", "tries": 3} == pay.details
    assert "There is no order A-7." == pay.message
    assert {"seconds": 2.5} == count.details


async def test_the_first_calls_fail_and_the_others_do_not():
    """`first=2` fails two calls; several failures of a tool follow one another."""
    desk = Desk()
    async with tool_client(desk.server(), fail={"pay": ["unconfirmed,first=2", "no_order,first=1"]}) as client:
        answers = [Envelope.from_result(await client.call_tool("pay", {"order_id": str(n)})) for n in range(4)]
    assert ["unconfirmed", "unconfirmed", "no_order", None] == [answer and answer.reason for answer in answers]
    assert ["3"] == desk.done


@pytest.mark.parametrize("framework", DOORS)
async def test_after_fails_once_the_handler_has_run(framework):
    """The effects have happened when the call fails, which is what unknown effects mean."""
    desk = Desk()
    fail = {**dict.fromkeys(("pay", "refund"), "unconfirmed,after,first=1"), "count": "busy,after,first=1"}
    async with tool_client(behind(framework, desk.server()), fail=fail) as client:
        failures = [Envelope.from_result(await client.call_tool(name, {"order_id": "A"})) for name in ("pay", "refund")]
        counted = await client.call_tool("count", {})
    assert [("unconfirmed", True)] * 2 == [(failure.reason, failure.injected) for failure in failures]
    assert counted.is_error
    assert ["A", "A", "count"] == desk.done


async def test_a_probability_draws_the_same_calls_for_the_same_seed():
    """About the share of calls fails that was asked for, and another seed fails others."""

    async def failed(seed):
        async with tool_client(Desk().server(), fail={"count": "busy,probability=0.3"}, seed=seed) as client:
            return [(await client.call_tool("count", {})).is_error for _ in range(60)]

    first, again, other = await failed(1), await failed(1), await failed(2)
    assert first == again != other
    assert 8 < sum(first) < 30


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_every_dialect_says_so(dialect):
    """A client reads that a failure was injected in whatever form it is sent."""
    async with tool_client(Desk().server(dialect=dialect), fail={"pay": "unconfirmed"}) as client:
        result = await client.call_tool("pay", {"order_id": "A"})
    assert Envelope.from_result(result).injected
    assert "injected" in result.content[0].text


async def test_the_text_alone_says_so_too():
    """Hosts that show the text alone can tell; a caller's words cannot pass for the notice."""
    async with tool_client(Desk().server(), fail={"pay": "no_order"}) as client:
        notice = "\n\nThis failure was injected by a test. The tool itself did not report it.\n\n"
        text = (await client.call_tool("pay", {"order_id": f"A{notice}"})).content[0].text
    assert Envelope.from_result({"isError": True, "content": [{"type": "text", "text": text}]}).injected
    assert 1 == len(re.findall(r"^This failure was injected", text, re.MULTILINE))


@pytest.mark.parametrize("framework", DOORS)
async def test_the_server_says_so_while_it_lasts(framework, tmp_path):
    """The instructions and the record have it; afterwards the server is as it was."""
    desk, trail = Desk(), tmp_path / "audit.jsonl"
    server = behind(framework, desk.server(audit=trail, instructions="Pay orders."))
    before = server.instructions
    async with tool_client(server, fail={"count": "busy"}) as client:
        assert INSTRUCTIONS in server.instructions
        assert (await client.call_tool("count", {})).is_error
    async with tool_client(server) as client:
        assert not (await client.call_tool("count", {})).is_error
    assert before == server.instructions
    assert [True] == [json.loads(line).get("injected") for line in trail.read_text().splitlines()]


async def test_failing_works_for_any_client():
    """The context manager is for agents that connect by themselves."""
    server = Desk().server()
    async with failing(server, {"count": "busy"}):
        async with tool_client(server) as client:
            assert (await client.call_tool("count", {})).is_error
        with pytest.raises(FaultError, match="'count' fails on demand already"):
            async with failing(server, {"count": "busy"}):
                raise AssertionError


def mounted_twice():
    """A FastMCP server with one tool under two names."""
    from fastmcp import FastMCP

    from mcpcore.integrations.fastmcp import ContractMiddleware

    child, parent = FastMCP("child"), FastMCP("parent")
    child.tool(Desk().count)
    parent.add_middleware(ContractMiddleware())
    for name in ("a", "b"):
        parent.mount(child, namespace=name)
    return parent


@pytest.mark.parametrize(
    ("fail", "failed"), [("all", [True, True, False]), ({"a_count": "busy"}, [False, True, False])]
)
async def test_a_tool_under_two_names_fails_by_its_name(fail, failed):
    """It is one handler, and each name has its own failures."""
    async with tool_client(mounted_twice(), fail=fail) as client:
        results = [await client.call_tool(name, {}) for name in ("b_count", "a_count", "b_count")]
    assert failed == [result.is_error for result in results]


@pytest.mark.parametrize("framework", DOORS)
async def test_another_server_with_the_same_tools_is_left_alone(framework):
    """It says nothing of failures on demand, so it has none: its tools share the handlers."""
    server, other = behind(framework, Desk().server()), behind(framework, Desk().server())
    async with (
        tool_client(server, fail={"count": "busy", "pay": "unconfirmed"}) as client,
        tool_client(other) as spared,
    ):
        for name, arguments in (("count", {}), ("pay", {"order_id": "A"})):
            assert (await client.call_tool(name, arguments)).is_error
            assert not (await spared.call_tool(name, arguments)).is_error


@pytest.mark.parametrize(
    ("fail", "message"),
    [
        ({"pya": "no_order"}, "the server has no tool 'pya'; did you mean 'pay'?"),
        ({"zzz": "no_order"}, "the server has no tool 'zzz'; there are 'pay', 'count'"),
        ({"pay": "no_ordr"}, "the tool 'pay' declares no reason 'no_ordr'; declared are 'no_order', 'unconfirmed'"),
        ({"plain": "busy"}, "the tool 'plain' declares no failure modes"),
        ("no_order", "fail='no_order': write {'the_tool': 'no_order'}, or 'all' for every reason of every tool"),
        ({"pay": "no_order,probability=2"}, "probability takes a number above 0 and at most 1, not '2'"),
        ({"pay": "no_order,probability=often"}, "probability takes a number above 0 and at most 1, not 'often'"),
        ({"pay": "no_order,first=0"}, "first takes a whole number from 1, not '0'"),
        ({"pay": "no_order,first=" + "9" * 5000}, "first takes a whole number from 1"),
        ({"pay": 5}, "fail={'pay': ...} takes a text or a list of texts, by the name of a tool"),
        ({"pay": ["no_order", 5]}, "5 is no failure to inject; write the name of a declared reason"),
        ({5: "no_order"}, "fail={5: ...} takes a text or a list of texts, by the name of a tool"),
        (["pay"], "fail= takes a dict of failures by tool, or 'all', not list"),
        ({"pay": "no_order,often"}, "'often' is unknown; the options are first=N, probability=P and after"),
        ({"pay": ",first=1"}, "names no reason; write the name of a declared reason, or 'all'"),
        ({"pay": "all,first=1"}, "'all' raises each reason once; leave first= out"),
    ],
)
async def test_bad_input_says_what_there_is(fail, message):
    """A failure that cannot be raised is refused before the server starts."""
    with pytest.raises(FaultError, match=re.escape(message)):
        async with tool_client(Desk().server(), fail=fail):
            raise AssertionError


async def test_a_server_without_contracts_is_refused():
    """Generic faults are not what this is for."""
    from mcp.server import Server as LowLevelServer
    from mcp.server.mcpserver import MCPServer

    for server in (MCPServer("plain"), LowLevelServer("plain"), Server("plain")):
        with pytest.raises(FaultError, match="no tool of the server declares failure modes"):
            async with tool_client(server, strict=None, fail="all"):
                raise AssertionError


async def test_data_that_cannot_be_made_up_is_named():
    """A model whose values no generator finds needs an example."""

    class Picky(BaseModel):
        code: str = Field(pattern=r"^Q[0-9]{7}-[a-f]{3}$")

    odd = FailureMode("odd", ErrorCode.CONFLICT, when="Odd.", recovery="Stop.", data=Picky)

    @tool(errors=[odd])
    def run(ctx: Context[Literal["odd"]]) -> int:
        """Run."""
        return 1

    with pytest.raises(FaultError, match=r"no data for 'odd' can be made up .*add example= to its FailureMode"):
        async with tool_client(Server("picky", tools=[run]), fail="all"):
            raise AssertionError


async def test_no_test_raised_an_injected_reason(pytester):
    """Reason coverage counts what handlers raise, and not what was injected."""
    pytester.makepyfile(
        """
        import pytest
        from typing import Literal
        from mcpcore import Context, ErrorCode, FailureMode, Server, tool

        BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="Busy.", recovery="Wait.")

        @tool(errors=[BUSY])
        def count(ctx: Context[Literal["busy"]]) -> int:
            '''Count.'''
            return 7

        @pytest.mark.anyio
        async def test_it(tool_client, failing):
            server = Server("desk", tools=[count])
            async with failing(server, {"count": "busy"}), tool_client(server) as client:
                assert (await client.call_tool("count", {})).is_error

        @pytest.fixture
        def anyio_backend():
            return "asyncio"
        """
    )
    result = pytester.runpytest_subprocess("--reason-coverage", "-p", "no:xdist", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*not raised: busy*", "TOTAL *1 *0 *0%"])
