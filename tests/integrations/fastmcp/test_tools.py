"""Contract tools on a FastMCP server: how they are registered, called and answered."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import pytest
from fastmcp import Client, FastMCP
from fastmcp import Context as FastMCPContext
from fastmcp.dependencies import CurrentContext, Depends
from fastmcp.exceptions import ToolError
from fastmcp.tools import Tool as FastMCPTool
from fastmcp.tools import tool as fastmcp_tool
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field

from mcpcore import Context, ContractError, Envelope, ErrorCode, FailureMode, Limits, Server, Tool, not_found, tool
from mcpcore.contract import CONTRACT_META_KEY
from mcpcore.integrations.fastmcp import ContractMiddleware

NO_ORDER = FailureMode(
    "no_order",
    ErrorCode.NOT_FOUND,
    when="There is no order of that id.",
    recovery="Call list_orders to see the ids.",
    fallback_tool="list_orders",
)
SECRET = "password=hunter2hunter2"


class Order(BaseModel):
    """What the tools return."""

    id: str


def failing(ctx: Context[Literal["no_order"]], order_id: str) -> Order:
    """Get an order."""
    match order_id:
        case "none":
            raise ctx.fail("no_order", data={"order_id": order_id})
        case "crash":
            raise KeyError(SECRET)
    return Order(id=order_id)


async def failing_async(ctx: Context[Literal["no_order"]], order_id: str) -> Order:
    """Get an order."""
    return failing(ctx, order_id)


def server_of(*tools: Any, **options: Any) -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("orders")
    mcp.add_middleware(ContractMiddleware(**options))
    for each in tools:
        mcp.add_tool(each)
    return mcp


def calling(mcp: Any, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> Any:
    """The result of a call through FastMCP's own client."""

    async def run() -> Any:
        async with Client(mcp, **options) as client:
            return await client.call_tool_mcp(name, arguments or {})

    return anyio.run(run)


def listing(mcp: Any) -> dict[str, Any]:
    async def run() -> Any:
        async with Client(mcp) as client:
            return {listed.name: listed for listed in await client.list_tools()}

    return anyio.run(run)


def error_of(result: Any) -> dict[str, Any]:
    assert result.is_error, result
    error = dict(result.structured_content["error"])
    (block,) = result.content
    assert f"id {error['correlationId']})" in block.text
    return error


def records(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [record.audit for record in caplog.records if record.name == "mcpcore.audit"]  # type: ignore[attr-defined]


class TestRegistration:
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
    def test_every_way_serves_the_contract(self, register: Any, handler: Any) -> None:
        """The same envelope on both surfaces, the contract in `_meta`, and a schema that admits the error."""
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
        result = calling(mcp, "failing", {"order_id": "7"})
        assert {"id": "7"} == result.structured_content

    def test_the_decorators_stand_above_one_another(self) -> None:
        """`@mcp.tool` above `@tool(...)` leaves the tool, which a unit test calls as ever."""
        mcp = server_of()

        @mcp.tool
        @tool(errors=[NO_ORDER])
        async def get_order(ctx: Context[Literal["no_order"]], order_id: str) -> Order:
            if order_id == "none":
                raise ctx.fail("no_order")
            return Order(id=order_id)

        assert isinstance(get_order, Tool)
        assert Order(id="1") == anyio.run(get_order, "1")
        assert "no_order" == error_of(calling(mcp, "get_order", {"order_id": "none"}))["data"]["reason"]

    def test_the_options_of_both_decorators_count(self) -> None:
        """FastMCP's have the last word; the metadata of both and the contract stand side by side."""
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
        """By `mcp.tool(instance.method)` and `mcp.add_tool(...)`, with FastMCP's own decorator above, too."""

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
        mcp.add_tool(Shop("C").count)
        mcp.add_tool(Shop.of_class)
        assert {"get", "get_b", "counted", "of_class"} == listing(mcp).keys()
        assert {"result": "A 1"} == calling(mcp, "get", {"order_id": "1"}).structured_content
        assert "B has none." == error_of(calling(mcp, "get_b", {"order_id": "none"}))["message"]
        assert "C" == error_of(calling(mcp, "counted"))["message"]
        assert {"result": "Shop 2"} == calling(mcp, "of_class", {"x": 2}).structured_content

    def test_fastmcps_client_reads_the_value(self) -> None:
        """`result.data` is a model, or the value in the object that wraps it."""

        @tool
        def number(x: int = 3) -> int:
            return x

        mcp = server_of(tool(errors=[NO_ORDER])(failing), number)

        async def run() -> tuple[Any, Any]:
            async with Client(mcp) as client:
                return (await client.call_tool("failing", {"order_id": "7"})).data, (
                    await client.call_tool("number", {})
                ).data

        order, three = anyio.run(run)
        assert ("7", 3) == (order.id, three)

    def test_every_kind_of_default_and_field_is_described_and_kept(self) -> None:
        """Defaults of all kinds, aliases, descriptions and bounds; defaults are not checked."""

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
        error = error_of(calling(mcp, "f", {"b": 2}))
        assert "b" == error["data"]["issues"][0]["path"]

    def test_a_signature_is_the_handlers_without_its_context(self) -> None:
        """FastMCP gets one more parameter, which it fills in."""
        import inspect

        made: Any = tool(errors=[NO_ORDER])(failing)
        names = list(inspect.signature(made).parameters)
        assert ["order_id", "mcpcore_call"] == names


class TestArguments:
    @pytest.mark.parametrize(
        ("arguments", "path", "hint"),
        [
            ({}, "order_id", "Add 'order_id': a string."),
            ({"order_id": SECRET, "ordr": SECRET}, "ordr", "There is no 'ordr'; did you mean 'order_id'?"),
            ({"order_id": [SECRET]}, "order_id", "Send 'order_id' as a string."),
        ],
    )
    @pytest.mark.parametrize("name", ["contract", "plain"])
    def test_bad_ones_come_with_hints_and_without_an_echo(
        self, name: str, arguments: Any, path: str, hint: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Of contract tools and of FastMCP's own; no log has them either."""

        def plain(order_id: str) -> str:
            return order_id

        mcp = server_of(tool(errors=[NO_ORDER], name="contract")(failing), FastMCPTool.from_function(plain))
        with caplog.at_level("INFO"):
            result = calling(mcp, name, arguments)
        error = error_of(result)
        assert ("INVALID_PARAMS", "invalid_arguments") == (error["name"], error["data"]["reason"])
        assert [path] == [issue["path"] for issue in error["data"]["issues"]]
        assert hint == error["data"]["recovery"]["hint"]
        assert "hunter2" not in result.model_dump_json()
        assert "hunter2" not in caplog.text
        assert 1 == len(records(caplog))

    def test_strict_servers_take_no_text_for_a_number(self) -> None:
        """`strict_input_validation` holds for contract tools."""

        @tool
        def f(x: int) -> int:
            return x

        strict: FastMCP[Any] = FastMCP("s", strict_input_validation=True)
        strict.add_middleware(ContractMiddleware())
        strict.add_tool(f)
        assert "invalid_arguments" == error_of(calling(strict, "f", {"x": "1"}))["data"]["reason"]
        assert {"result": 1} == calling(strict, "f", {"x": 1}).structured_content
        assert {"result": 1} == calling(server_of(f), "f", {"x": "1"}).structured_content


class TestInjection:
    def test_dependencies_and_contexts_stand_beside_ours(self) -> None:
        """`Depends`, `CurrentContext`, and FastMCP's context by its type, in async and in sync handlers."""

        async def database() -> str:
            return "db"

        @tool(errors=[NO_ORDER])
        async def f(
            ctx: Context[Literal["no_order"]],
            x: int,
            theirs: FastMCPContext,
            current: FastMCPContext = CurrentContext(),  # noqa: B008
            db: str = Depends(database),
            maybe: FastMCPContext | None = None,
        ) -> list[Any]:
            if x < 0:
                raise ctx.fail("no_order", db)
            return [
                x,
                db,
                theirs is current is ctx.fastmcp is maybe,
                theirs.fastmcp.name,
                ctx.request_id == theirs.request_id,
            ]

        @tool(errors=[NO_ORDER])
        def sync(ctx: Context[Literal["no_order"]], db: Annotated[str, Depends(database)], x: int = 1) -> list[Any]:
            return [db, x, ctx.fastmcp.fastmcp.name]

        mcp = server_of(f, sync)
        assert ["x"] == list(listing(mcp)["f"].input_schema["properties"])
        assert {"result": [1, "db", True, "orders", True]} == calling(mcp, "f", {"x": 1}).structured_content
        assert {"result": ["db", 1, "orders"]} == calling(mcp, "sync").structured_content
        assert "db" == error_of(calling(mcp, "f", {"x": -1}))["message"]
        with pytest.raises(ContractError, match="'theirs' is filled in by FastMCP"):
            Server("s", tools=[f])

    @pytest.mark.parametrize("sync", [True, False])
    def test_a_failure_of_a_dependency_is_that_of_the_tool(self, sync: bool) -> None:
        """With the recovery of its declared reason; a crash there is masked."""

        def find(kind: str = "") -> str:
            raise not_found("None.", {"reason": "no_order"}) if sync else KeyError(SECRET)

        @tool(errors=[NO_ORDER])
        async def f(db: str = Depends(find)) -> str:
            return db

        error = error_of(calling(server_of(f), "f"))
        if sync:
            assert ("None.", NO_ORDER.recovery) == (error["message"], error["data"]["recovery"]["hint"])
        else:
            assert ErrorCode.INTERNAL_ERROR.sentence == error["message"]

    @pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
    @pytest.mark.parametrize("mode", ["legacy", "auto"])
    def test_all_of_the_context_works_through_either(self, mode: str) -> None:
        """Progress, logs, resources, notifications, the session and headers, of ours and of FastMCP's."""
        seen: dict[str, Any] = {"progress": [], "logs": [], "notes": []}

        @tool(errors=[NO_ORDER])
        async def f(ctx: Context[Literal["no_order"]]) -> list[Any]:
            await ctx.report_progress(1, 2, "ours")
            await ctx.fastmcp.report_progress(2, 2, "theirs")
            await ctx.info("ours")
            await ctx.fastmcp.info("theirs")
            (ours,) = await ctx.read_resource("data://one")
            theirs = (await ctx.fastmcp.read_resource("data://one")).contents[0]
            for notify in (ctx.notify_tools_changed, ctx.notify_prompts_changed, ctx.notify_resources_changed):
                await notify()
            await ctx.notify_resource_updated("data://one")
            same = ctx.session is ctx.fastmcp.session
            return [ours.content, theirs.content, same, ctx.headers is None, ctx.mcp_server is ctx.fastmcp.fastmcp]

        mcp = server_of(f)

        @mcp.resource("data://one")
        def one() -> str:
            return "text"

        async def on_progress(done: float, total: float | None, message: str | None) -> None:
            seen["progress"].append(message)

        async def on_log(params: Any) -> None:
            seen["logs"].append(params.data if isinstance(params.data, str) else params.data["msg"])

        async def on_message(message: Any) -> None:
            seen["notes"].append(getattr(message, "method", None))

        async def run() -> Any:
            async with Client(
                mcp, mode=mode, log_handler=on_log, progress_handler=on_progress, message_handler=on_message
            ) as client:
                result = await client.call_tool_mcp("f", {})
                await anyio.sleep(0.1)
                return result

        assert {"result": ["text", "text", True, True, True]} == anyio.run(run).structured_content
        assert ["ours", "theirs"] == seen["progress"]
        if mode == "legacy":  # the protocol of 2026-07-28 has no level of logs unless a request asks for one
            assert ["ours", "theirs"] == seen["logs"]
        assert {
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
            "notifications/resources/list_changed",
            "notifications/resources/updated",
        } <= set(seen["notes"])

    def test_code_on_the_server_calls_without_a_client(self) -> None:
        """Progress and logs go nowhere, and what needs a client says so."""

        @tool(errors=[NO_ORDER])
        async def f(ctx: Context[Literal["no_order"]]) -> str:
            await ctx.report_progress(1)
            await ctx.info("x")
            ctx.bind(role="R")
            assert (None, None) == (ctx.input_responses, ctx.request_state)
            with pytest.raises(ValueError, match="outside of a request"):
                _ = ctx.session
            raise ctx.fail("no_order")

        mcp = server_of(f, bind={"session_id": "S"})
        result = anyio.run(mcp.call_tool, "f")
        assert result.is_error
        assert {"role": "R", "session_id": "S"} == result.structured_content["error"]["context"]
        with pytest.raises(ValueError, match=r"only in a request of a FastMCP server"):
            _ = Context().fastmcp

    def test_a_tool_is_run_in_the_thread_that_fastmcp_is_asked_for(self) -> None:
        """`run_in_thread=False` keeps a sync handler on the thread of the event loop."""
        import threading

        @tool
        def where() -> bool:
            return threading.current_thread() is threading.main_thread()

        mcp = server_of(where)
        mcp.tool(tool(name="inline")(where.handler), run_in_thread=False)
        assert {"result": False} == calling(mcp, "where").structured_content
        assert {"result": True} == calling(mcp, "inline").structured_content

    def test_the_lifespan_of_a_mounted_server_reaches_its_tools(self) -> None:
        """`ctx.lifespan_context` is that of the server which has the tool."""
        from contextlib import asynccontextmanager

        @asynccontextmanager
        async def lifespan(server: Any) -> Any:
            yield {"of": server.name}

        @tool
        async def f(ctx: Context[Any, dict[str, str]]) -> str:
            return ctx.lifespan_context["of"]

        child: FastMCP[Any] = FastMCP("child", lifespan=lifespan)
        child.add_tool(f)
        parent: FastMCP[Any] = FastMCP("parent", lifespan=lifespan)
        parent.add_middleware(ContractMiddleware())
        parent.mount(child)
        assert {"result": "child"} == calling(parent, "f").structured_content


class TestOptions:
    def test_are_those_of_a_server(self) -> None:
        """Their names and their defaults, and their complaints."""
        import inspect

        ours = inspect.signature(ContractMiddleware).parameters
        theirs = inspect.signature(Server).parameters
        for name in ours:
            assert ours[name].default == theirs[name].default, name
        assert ours.keys() == theirs.keys() - {"name", "args", "tools", "resources", "prompts", "lifespan", "options"}
        with pytest.raises(ValueError, match=r"ContractMiddleware\(unknown_tool=...\) must be"):
            ContractMiddleware(unknown_tool="ignore")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"ContractMiddleware\(limits=...\) must be Limits"):
            ContractMiddleware(limits=3)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="dialect must be one of"):
            ContractMiddleware(dialect="esperanto")
        with pytest.raises(TypeError, match="'colour' is not a field"):
            ContractMiddleware(bind={"colour": "red"})

    def test_count_on_the_wire(self, tmp_path: Path) -> None:
        """The trail, the bound fields, the limits, descriptions and exposure."""
        trail = tmp_path / "failures.jsonl"
        mcp = server_of(
            tool(errors=[NO_ORDER])(failing),
            audit=trail,
            bind={"role": "R"},
            limits=Limits(message=40),
            describe_failures=True,
            expose_internal_errors=True,
        )
        assert listing(mcp)["failing"].description.endswith(
            "Fails with:\n- no_order (NOT_FOUND): There is no order of that id. Call list_orders to see the ids."
        )
        error = error_of(calling(mcp, "failing", {"order_id": "crash"}))
        assert ("KeyError", {"role": "R"}) == (error["data"]["exception"]["type"], error["context"])
        (record,) = [json.loads(line) for line in trail.read_text().splitlines()]
        assert ("orders", "failing", error["correlationId"]) == (
            record["server"],
            record["tool"],
            record["correlationId"],
        )
        (middleware,) = [each for each in mcp.middleware if isinstance(each, ContractMiddleware)]
        assert middleware.audit.path == trail

    @pytest.mark.parametrize("dialect", ["ok_envelope_b", "taxonomy", "system_error"])
    def test_a_dialect_is_written_and_advertised(self, dialect: str) -> None:
        """The envelope is read back, and fits the schema that the list shows, also through a server above."""
        import jsonschema

        child = server_of(tool(errors=[NO_ORDER])(failing), dialect=dialect)

        @child.tool
        def count() -> int:
            raise KeyError(SECRET)

        parent: FastMCP[Any] = FastMCP("parent")
        parent.add_middleware(ContractMiddleware(dialect=dialect))
        parent.mount(child)
        for mcp in (child, parent):
            for name, arguments in (("failing", {"order_id": "none"}), ("count", {})):
                result = calling(mcp, name, arguments)
                envelope = Envelope.from_result(result)
                assert envelope is not None
                assert (dialect, {"failing": "NOT_FOUND", "count": "INTERNAL_ERROR"}[name]) == (
                    envelope.dialect,
                    envelope.name,
                )
                jsonschema.validate(result.structured_content, listing(mcp)[name].output_schema)

    def test_advertising_may_be_turned_off(self) -> None:
        """Also for the tools of a server below that advertises."""

        @tool
        def number() -> int:
            return 1

        made = tool(errors=[NO_ORDER])(failing)
        child = server_of(made, number)
        mcp = server_of(made, number, advertise_errors=False)
        parent: FastMCP[Any] = FastMCP("parent")
        parent.add_middleware(ContractMiddleware(advertise_errors=False))
        parent.mount(child)
        for server in (mcp, parent):
            for name in ("failing", "number"):
                schema = listing(server)[name].output_schema
                assert "anyOf" not in schema
                assert "error" not in schema["properties"]
                assert 1 == len(schema["required"])


class TestUnknownTools:
    def test_are_the_protocols_error_with_near_names(self, caplog: pytest.LogCaptureFixture) -> None:
        """-32602, the envelope in its data, and one record."""
        caplog.set_level(logging.INFO)
        mcp = server_of(tool(errors=[NO_ORDER], name="get_order")(failing))
        with pytest.raises(MCPError) as raised:
            calling(mcp, "get_ordr")
        assert (-32602, "Unknown tool: get_ordr. Did you mean get_order?") == (raised.value.code, raised.value.message)
        assert "unknown_tool" == raised.value.data["error"]["data"]["reason"]
        assert 1 == len(records(caplog))

    def test_may_be_a_result_and_are_one_to_code_on_the_server(self) -> None:
        """By the option, or where no client would read an error of the protocol."""
        assert "unknown_tool" == error_of(calling(server_of(unknown_tool="result"), "nothing"))["data"]["reason"]
        mcp = server_of()

        @mcp.tool
        async def outer() -> str:
            return str((await mcp.call_tool("nothing")).is_error)

        assert anyio.run(mcp.call_tool, "nothing").is_error
        assert {"result": "True"} == calling(mcp, "outer").structured_content

    def test_no_hidden_tool_is_suggested(self) -> None:
        """Only tools that the caller may list are near."""
        mcp = server_of(tool(name="secret_tool", errors=[NO_ORDER])(failing))
        mcp.disable(names={"secret_tool"})
        with pytest.raises(MCPError) as raised:
            calling(mcp, "secret_tool")
        assert [] == raised.value.data["error"]["data"]["near"]


class TestNested:
    def test_a_call_by_a_handler_returns_the_failure(self, caplog: pytest.LogCaptureFixture) -> None:
        """`mcp.call_tool` in process gives an error result, recorded once; calling the tool itself raises."""
        caplog.set_level(logging.INFO)
        inner = tool(errors=[NO_ORDER], name="inner")(failing)
        mcp = server_of(inner)

        @mcp.tool
        @tool(errors=[NO_ORDER])
        async def outer(ctx: Context[Literal["no_order"]], direct: bool) -> str:
            if direct:
                return inner("none").id
            result = await mcp.call_tool("inner", {"order_id": "none"})
            return str(result.is_error)

        @mcp.tool
        def plain() -> str:
            return inner("none").id

        assert {"result": "True"} == calling(mcp, "outer", {"direct": False}).structured_content
        assert ["inner"] == [record["tool"] for record in records(caplog)]
        assert "no_order" == error_of(calling(mcp, "outer", {"direct": True}))["data"]["reason"]
        assert "no_order" == error_of(calling(mcp, "plain"))["data"]["reason"]
        assert ["inner", "outer", "plain"] == [record["tool"] for record in records(caplog)]

    def test_a_resource_that_a_handler_reads_fails_as_its_own(self, caplog: pytest.LogCaptureFixture) -> None:
        """The handler gets FastMCP's error; left alone, it is one failure of the tool."""
        caplog.set_level(logging.INFO)

        @tool(errors=[NO_ORDER])
        async def f(ctx: Context[Literal["no_order"]]) -> str:
            (content,) = await ctx.read_resource("data://broken")
            return str(content.content)

        mcp = server_of(f)

        @mcp.resource("data://broken")
        def broken() -> str:
            raise TimeoutError(SECRET)

        assert "TIMEOUT" == error_of(calling(mcp, "f"))["name"]
        assert ["tool"] == [record["surface"] for record in records(caplog)]

    def test_items_of_a_batch_are_judged_and_rendered(self) -> None:
        """`ctx.judged` and `ctx.part` work as on a `Server`."""

        @tool(errors=[NO_ORDER])
        def f(ctx: Context[Literal["no_order"]]) -> dict[str, Any]:
            return {"failed": [ctx.part(ctx.judged(ctx.fail("no_order")))]}

        (failed,) = calling(server_of(f), "f").structured_content["failed"]
        assert "no_order" == failed["data"]["reason"]


class TestWithoutTheMiddleware:
    @pytest.fixture
    def mcp(self) -> FastMCP[Any]:
        mcp: FastMCP[Any] = FastMCP("bare")
        mcp.tool(tool(errors=[NO_ORDER], name="sync")(failing))
        mcp.tool(tool(errors=[NO_ORDER], name="async")(failing_async))
        return mcp

    def test_a_contract_tool_answers_its_own_failures(
        self, mcp: FastMCP[Any], caplog: pytest.LogCaptureFixture
    ) -> None:
        """And the log says once what is missing."""
        caplog.set_level(logging.INFO)
        for name in ("sync", "async"):
            assert "no_order" == error_of(calling(mcp, name, {"order_id": "none"}))["data"]["reason"]
            crash = calling(mcp, name, {"order_id": "crash"})
            assert "INTERNAL_ERROR" == error_of(crash)["name"]
            assert "hunter2" not in crash.model_dump_json()
            assert {"id": "1"} == calling(mcp, name, {"order_id": "1"}).structured_content
        said = [r.getMessage() for r in caplog.records if "has no ContractMiddleware" in r.getMessage()]
        assert 1 == len(said)
        assert "mcp.add_middleware(ContractMiddleware())" in said[0]
        assert 4 == len(records(caplog))

    def test_a_tool_by_itself_answers_too(self, mcp: FastMCP[Any]) -> None:
        """FastMCP's `tool.run(...)` without a server."""

        async def run() -> Any:
            made: Any = await mcp.get_tool("sync")
            return await made.run({"order_id": "none"})

        assert anyio.run(run).is_error

    def test_a_call_from_another_tool_raises(self, mcp: FastMCP[Any]) -> None:
        """Only FastMCP's own calls are answered with results."""
        inner = tool(errors=[NO_ORDER])(failing)

        @mcp.tool
        def outer() -> str:
            try:
                return inner("none").id
            except Exception as exc:
                return type(exc).__name__

        assert {"result": "CodedError"} == calling(mcp, "outer").structured_content


def test_what_is_between_sees_an_error_of_fastmcps(caplog: pytest.LogCaptureFixture) -> None:
    """A middleware after ours catches `ToolError`, whose text and causes have nothing of a crash."""
    from fastmcp.server.middleware import Middleware

    seen: list[BaseException] = []

    class Watching(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            try:
                return await call_next(context)
            except ToolError as exc:
                seen.append(exc)
                raise

    mcp = server_of(tool(errors=[NO_ORDER])(failing))
    mcp.add_middleware(Watching())
    error_of(calling(mcp, "failing", {"order_id": "none"}))
    error_of(calling(mcp, "failing", {"order_id": "crash"}))
    assert ["There is no order of that id.", "Tool 'failing' failed"] == [str(exc) for exc in seen]
    assert [None, None] == [exc.__cause__ for exc in seen]
    assert [None, None] == [exc.__context__ for exc in seen]
