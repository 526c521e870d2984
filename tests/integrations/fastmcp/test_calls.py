"""Calls of contract tools: injected parameters, calls from other code, and servers without the middleware."""

from __future__ import annotations

import threading
from typing import Annotated, Any, Literal

import anyio
import pytest
from fastmcp import Client, Context as FastMCPContext, FastMCP
from fastmcp.dependencies import CurrentContext, Depends
from fastmcp.exceptions import ToolError

from mcpcore import Context, ContractError, Server, tool
from mcpcore.integrations.fastmcp import ContractFailure, ContractMiddleware
from tests.integrations.fastmcp.contract_server import (
    NO_ORDER,
    calling,
    error_of,
    extended,
    failing,
    failing_async,
    listing,
    records,
    server_of,
)


class TestInjection:
    def test_dependencies_and_contexts_work_with_ours(self) -> None:
        """`Depends`, `CurrentContext` and FastMCP's context by type work in async and sync handlers."""

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

    @pytest.mark.anyio
    @pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
    @pytest.mark.parametrize("mode", ["legacy", "auto"])
    async def test_every_context_method_works_through_either_context(self, mode: str) -> None:
        """Progress, logs, resources, notifications, session and headers work through both contexts."""
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
        def text() -> str:
            return "text"

        async def on_progress(done: float, total: float | None, message: str | None) -> None:
            seen["progress"].append(message)

        async def on_log(params: Any) -> None:
            seen["logs"].append(params.data if isinstance(params.data, str) else params.data["msg"])

        async def on_message(message: Any) -> None:
            seen["notes"].append(getattr(message, "method", None))

        async with Client(
            mcp, mode=mode, log_handler=on_log, progress_handler=on_progress, message_handler=on_message
        ) as client:
            result = await client.call_tool_mcp("f", {})
            await anyio.sleep(0.1)
            assert {"result": ["text", "text", True, True, True]} == result.structured_content
        assert ["ours", "theirs"] == seen["progress"]
        if mode == "legacy":  # the protocol of 2026-07-28 has no log level unless a request sets one
            assert ["ours", "theirs"] == seen["logs"]
        assert {
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
            "notifications/resources/list_changed",
            "notifications/resources/updated",
        } <= set(seen["notes"])

    def test_code_on_the_server_calls_without_a_client(self) -> None:
        """Progress and logs are dropped, and methods that need a client raise a clear error."""

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
        with pytest.raises(ToolError) as raised:
            anyio.run(mcp.call_tool, "f")
        assert isinstance(raised.value, ContractFailure)
        assert raised.value.envelope is not None
        assert {"role": "R", "session_id": "S"} == raised.value.envelope.context
        with pytest.raises(ValueError, match=r"only in a request of a FastMCP server"):
            _ = Context().fastmcp

    def test_a_tool_runs_in_the_requested_thread(self) -> None:
        """`run_in_thread=False` keeps a sync handler on the event loop's thread."""

        @tool
        def where() -> bool:
            return threading.current_thread() is threading.main_thread()

        mcp = server_of(where)
        mcp.tool(tool(name="inline")(where.handler), run_in_thread=False)
        assert {"result": False} == calling(mcp, "where").structured_content
        assert {"result": True} == calling(mcp, "inline").structured_content

    def test_plain_tools_that_hang_stop_no_contract_tool(self) -> None:
        """FastMCP's own sync tools share one set of threads."""
        release = threading.Event()

        def hangs() -> None:
            release.wait(60)

        @tool
        def answers() -> str:
            return "here"

        mcp = server_of(answers)
        mcp.tool(hangs)

        async def run() -> Any:
            count = int(anyio.to_thread.current_default_thread_limiter().total_tokens)
            async with Client(mcp) as client, anyio.create_task_group() as group:
                for _ in range(count):
                    group.start_soon(client.call_tool, "hangs")
                try:
                    while anyio.to_thread.current_default_thread_limiter().available_tokens:  # noqa: ASYNC110 - no event
                        await anyio.sleep(0.01)
                    with anyio.fail_after(5):
                        return await client.call_tool("answers")
                finally:
                    release.set()

        assert "here" == anyio.run(run).data

    def test_the_lifespan_of_a_mounted_server_reaches_its_tools(self) -> None:
        """`ctx.lifespan_context` is that of the server that has the tool."""
        from contextlib import asynccontextmanager

        @asynccontextmanager
        async def lifespan(server: Any) -> Any:
            yield {"of": server.name}

        @tool
        async def f(ctx: Context[Any, dict[str, str]]) -> str:
            return ctx.lifespan_context["of"]

        child = extended(FastMCP("child", lifespan=lifespan), f)
        parent = extended(FastMCP("parent", lifespan=lifespan), ContractMiddleware())
        parent.mount(child)
        assert {"result": "child"} == calling(parent, "f").structured_content


class TestNested:
    def test_items_of_a_batch_are_recorded_and_rendered(self) -> None:
        """`ctx.judged` and `ctx.part` work as on a `Server`."""

        @tool(errors=[NO_ORDER])
        def f(ctx: Context[Literal["no_order"]]) -> dict[str, Any]:
            return {"failed": [ctx.render_item(ctx.record_failure(ctx.fail("no_order")))]}

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
        """The log says once that the middleware is missing."""
        for name in ("sync", "async"):
            assert "no_order" == error_of(calling(mcp, name, {"order_id": "none"}))["data"]["reason"]
            crash = calling(mcp, name, {"order_id": "crash"})
            assert "INTERNAL_ERROR" == error_of(crash)["name"]
            assert "hunter2" not in crash.model_dump_json()
            assert {"id": "1"} == calling(mcp, name, {"order_id": "1"}).structured_content
        (said,) = [r.getMessage() for r in caplog.records if "has no ContractMiddleware" in r.getMessage()]
        assert "mcp.add_middleware(ContractMiddleware())" in said
        assert 4 == len(records(caplog))
        # Code on the server, such as a test, gets an exception, as from FastMCP's own tools.
        with pytest.raises(ToolError, match="There is no order of that id"):
            anyio.run(mcp.call_tool, "sync", {"order_id": "none"})
