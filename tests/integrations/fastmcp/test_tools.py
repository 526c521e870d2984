"""Contract tools on a FastMCP server: how they are registered, and how their arguments are validated."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import anyio
import pytest
from fastmcp import Client, Context as FastMCPContext, FastMCP
from fastmcp.exceptions import NotFoundError
from fastmcp.server.transforms import Transform
from fastmcp.tools import Tool as FastMCPTool, tool as fastmcp_tool
from mcp.shared.exceptions import MCPError
from pydantic import AnyUrl, BaseModel, ConfigDict, Field

from mcpcore import Context, tool
from mcpcore.contract.failure_modes import CONTRACT_META_KEY, ContractError
from mcpcore.integrations.fastmcp import ContractMiddleware
from tests.answers import envelope_of
from tests.integrations.fastmcp.contract_server import (
    NO_ORDER,
    calling,
    error_of,
    extended,
    failing,
    failing_async,
    listing,
    server_of,
)


class TestRegistration:
    @pytest.mark.parametrize(
        "register",
        [
            lambda mcp, fn: mcp.tool(fn),
            lambda mcp, fn: tool(errors=[NO_ORDER])(mcp.tool(fn)),
            lambda mcp, fn: mcp.prompt(fn),
        ],
        ids=["tool", "wrong order", "prompt"],
    )
    def test_a_context_without_a_contract_decorator_is_an_error_that_says_what_is_missing(self, register: Any) -> None:
        """FastMCP alone would treat the context as an argument, and pydantic would only say that it has no schema."""

        def get_order(ctx: Context[Literal["no_order"]], order_id: str) -> str:
            """Get an order."""
            raise ctx.fail("no_order")

        with pytest.raises(
            ContractError, match=r"put @tool, .* of mcpcore directly above the function, below @mcp\.tool"
        ):
            register(server_of(), get_order)

    def test_a_decorator_of_fastmcp_below_ours_is_refused(self) -> None:
        """FastMCP would serve only the function, without its contract."""

        def get_order(order_id: str) -> str:
            """Get an order."""
            return order_id

        with pytest.raises(ContractError, match=r"put @mcp\.tool above @tool"):
            tool(errors=[NO_ORDER])(server_of().tool(get_order))

    def test_a_model_that_allows_arbitrary_types_may_have_a_context(self) -> None:
        """Pydantic then only checks the class."""

        class Job(BaseModel):
            model_config = ConfigDict(arbitrary_types_allowed=True)
            ctx: Context[Literal["no_order"]]

        ctx: Context[Literal["no_order"]] = Context()
        assert Job(ctx=ctx).ctx is ctx

    @pytest.mark.parametrize("handler", [failing, failing_async])
    @pytest.mark.parametrize(
        "register",
        [
            lambda mcp, made: mcp.tool(made),
            lambda mcp, made: mcp.tool()(made),
            lambda mcp, made: mcp.tool("failing")(made),
            lambda mcp, made: mcp.tool(name="failing", tags={"orders"}, timeout=30, meta={"own": 1})(made),
            lambda mcp, made: mcp.add_tool(made),
            lambda mcp, made: mcp.add_tool(FastMCPTool.from_function(made, name="failing")),
            lambda mcp, made: mcp.add_tool(FastMCPTool.from_tool(made, name="failing")),
            lambda mcp, made: mcp.add_tool(fastmcp_tool(made)),
        ],
        ids=["bare", "call", "named", "options", "add", "from_function", "transformed", "standalone"],
    )
    def test_every_kind_of_registration_serves_the_contract(self, register: Any, handler: Any) -> None:
        """All have the same envelope, the contract in `_meta`, and a schema that accepts the error."""
        made = tool(errors=[NO_ORDER], name="failing")(handler)
        mcp = server_of()
        register(mcp, made)
        listed = listing(mcp)["failing"]
        assert ["no_order"] == [entry["reason"] for entry in listed.meta[CONTRACT_META_KEY]]
        assert ["order_id"] == list(listed.input_schema["properties"])
        assert {"required": ["error"]} == listed.output_schema["anyOf"][1]
        assert "Get an order." == listed.description
        error = error_of(calling(mcp, "failing", {"order_id": "none"}))
        assert ("NOT_FOUND", "no_order", "failing") == (error["name"], error["data"]["reason"], error["tool"])
        assert {"hint": NO_ORDER.recovery, "fallbackTool": "list_orders"} == error["data"]["recovery"]
        assert {"id": "7"} == calling(mcp, "failing", {"order_id": "7"}).structured_content

    def test_the_options_of_both_decorators_apply(self) -> None:
        """FastMCP's options take precedence, and metadata of both is merged with the contract."""
        mcp = server_of()
        made = tool(errors=[NO_ORDER], title="Ours", description="Said.", meta={"ours": 1}, name="ours")(failing)
        mcp.tool(name="theirs", meta={"theirs": 2}, tags={"a"})(made)
        mcp.add_tool(tool(errors=[NO_ORDER], structured_output=False, name="text")(failing))
        listed = listing(mcp)
        theirs = listed["theirs"]
        assert ("Ours", "Said.") == (theirs.title, theirs.description)
        assert {"ours", "theirs", CONTRACT_META_KEY} <= theirs.meta.keys()
        assert listed["text"].output_schema is None

    def test_methods_are_registered_bound(self) -> None:
        """`mcp.tool(instance.method)` and `mcp.add_tool(...)` work, also with FastMCP's decorator above."""

        class Shop:
            def __init__(self, name: str) -> None:
                self.name = name

            @tool(errors=[NO_ORDER])
            async def get(self, ctx: Context[Literal["no_order"]], order_id: str) -> str:
                if order_id == "none":
                    raise ctx.fail("no_order", f"{self.name} has none.")
                return f"{self.name} {order_id}"

            @fastmcp_tool(name="counted", tags={"x"})
            @tool(errors=[NO_ORDER])
            def count(self, ctx: Context[Literal["no_order"]]) -> str:
                raise ctx.fail("no_order", self.name)

            @classmethod
            @tool(errors=[NO_ORDER], name="of_class")
            def of_class(cls, x: int) -> str:
                return f"{cls.__name__} {x}"

        mcp = server_of(Shop("A").get)
        mcp.tool(Shop("B").get, name="get_b")
        extended(mcp, Shop("C").count, Shop.of_class)
        assert {"get", "get_b", "counted", "of_class"} == listing(mcp).keys()
        assert {"result": "A 1"} == calling(mcp, "get", {"order_id": "1"}).structured_content
        assert "B has none." == error_of(calling(mcp, "get_b", {"order_id": "none"}))["message"]
        assert "C" == error_of(calling(mcp, "counted"))["message"]
        assert {"result": "Shop 2"} == calling(mcp, "of_class", {"x": 2}).structured_content

    @pytest.mark.anyio
    async def test_the_fastmcp_client_reads_the_value(self) -> None:
        """`result.data` is a model, or the value inside its wrapper."""

        @tool
        def number(x: int = 3) -> int:
            return x

        async with Client(server_of(tool(errors=[NO_ORDER])(failing), number)) as client:
            order, three = (
                (await client.call_tool("failing", {"order_id": "7"})).data,
                (await client.call_tool("number", {})).data,
            )
        assert ("7", 3) == (order.id, three)

    def test_every_kind_of_default_and_field_is_described_and_kept(self) -> None:
        """Defaults of all kinds, aliases, descriptions and bounds are kept, and defaults are not validated."""

        @tool
        def f(
            a: int = None,  # type: ignore[assignment]  # noqa: RUF013 - the default is not of the type
            b: Annotated[int, Field(gt=3, description="B.")] = 5,
            c: list[int] = Field(default_factory=lambda: [1]),  # noqa: B008
            d: Any = Field(default_factory=object),  # noqa: B008
            e: str = Field(default="x", alias="from"),
            /,
        ) -> list[Any]:
            return [a, b, c, type(d) is object, e]

        mcp = server_of(f)
        listed = listing(mcp)["f"].input_schema
        assert {"a", "b", "c", "d", "from"} == listed["properties"].keys()
        assert ("B.", 3, 5) == tuple(
            listed["properties"]["b"][key] for key in ("description", "exclusiveMinimum", "default")
        )
        assert {"result": [None, 5, [1], True, "x"]} == calling(mcp, "f").structured_content
        sent = {"a": 1, "b": 9, "c": [2], "d": 1, "from": "y"}
        assert {"result": [1, 9, [2], False, "y"]} == calling(mcp, "f", sent).structured_content
        assert "b" == error_of(calling(mcp, "f", {"b": 2}))["data"]["issues"][0]["path"]

    def test_a_signature_leaves_out_the_context(self) -> None:
        """FastMCP gets one more parameter, which it injects."""
        import inspect

        made: Any = tool(errors=[NO_ORDER])(failing)
        assert ["order_id", "mcpcore_call"] == list(inspect.signature(made).parameters)


class TestArguments:
    def test_strict_servers_accept_no_text_for_a_number(self) -> None:
        """`strict_input_validation` applies to contract tools."""

        @tool
        def f(x: int) -> int:
            return x

        strict = extended(FastMCP("s", strict_input_validation=True), ContractMiddleware(), f)
        assert "invalid_arguments" == error_of(calling(strict, "f", {"x": "1"}))["data"]["reason"]
        assert {"result": 1} == calling(strict, "f", {"x": 1}).structured_content
        assert {"result": 1} == calling(server_of(f), "f", {"x": "1"}).structured_content


class TestUnknownTools:
    def test_may_be_results_and_always_are_for_code_on_the_server(self) -> None:
        """They are results by option, or if no client would read a protocol error."""
        assert "unknown_tool" == error_of(calling(server_of(unknown_tool="result"), "nothing"))["data"]["reason"]
        mcp = server_of()

        @mcp.tool
        async def outer() -> str:
            try:
                await mcp.call_tool("nothing")
            except NotFoundError:
                return "True"
            return "never"

        with pytest.raises(NotFoundError, match=r"^Unknown tool: nothing\."):
            anyio.run(mcp.call_tool, "nothing")
        assert {"result": "True"} == calling(mcp, "outer").structured_content

    def test_no_hidden_tool_is_suggested(self) -> None:
        """Only tools that the caller may list are suggested."""
        mcp = server_of(tool(name="secret_tool", errors=[NO_ORDER])(failing))
        mcp.disable(names={"secret_tool"})
        with pytest.raises(MCPError) as raised:
            calling(mcp, "secret_tool")
        assert [] == raised.value.data["error"]["data"]["near"]


def test_a_url_is_sent_whole() -> None:
    """The SDK takes its class for a model without fields."""

    @tool
    def home() -> AnyUrl:
        """Where it is."""
        return AnyUrl("http://a.b/")

    result = calling(server_of(home), "home")
    assert ("http://a.b/", {"result": "http://a.b/"}) == (result.content[0].text, result.structured_content)


def test_a_context_of_another_library_in_place_of_ours_is_an_error_at_import() -> None:
    """It cannot fail with a declared reason; the error says what to write."""
    from mcp.server.mcpserver import Context as SDKContext

    for theirs, owner, inside in (
        (FastMCPContext, "FastMCP", "ctx.fastmcp"),
        (SDKContext[Any, Any], "the SDK", "ctx.sdk"),
    ):

        def find(ctx, name: str) -> str:  # type: ignore[no-untyped-def]
            """Find."""
            return name

        find.__annotations__["ctx"] = theirs
        expected = rf"test_tools\.py:\d+.*'ctx' takes {owner}'s Context.*write `ctx: Context`.*`{inside}`"
        with pytest.raises(ContractError, match=expected):
            tool(errors=[NO_ORDER])(find)


@pytest.mark.anyio
async def test_a_transform_that_is_added_later_may_give_a_tool_a_timeout() -> None:
    """FastMCP's timeout of a contract tool holds, whenever the tool gets it."""

    class Hurried(Transform):
        async def get_tool(self, name: str, call_next: Any, *, version: Any = None) -> Any:
            return (await call_next(name, version=version)).model_copy(update={"timeout": 0.05})

    @tool
    async def sleep(seconds: float) -> str:
        """Sleep."""
        await anyio.sleep(seconds)
        return "rested"

    mcp: FastMCP[Any] = FastMCP("beds", middleware=[ContractMiddleware()], tools=[sleep])

    async with Client(mcp) as client:
        assert "rested" == (await client.call_tool("sleep", {"seconds": 0})).data
        mcp.add_transform(Hurried())
        failed = envelope_of(await client.call_tool_mcp("sleep", {"seconds": 5}))
    assert "TIMEOUT" == failed.name
