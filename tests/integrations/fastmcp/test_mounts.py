"""Servers around contract tools: mounts, proxies, and middleware that would break contracts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server import create_proxy
from fastmcp.server.middleware import Middleware
from fastmcp.server.middleware.error_handling import ErrorHandlingMiddleware, RetryMiddleware
from fastmcp.server.middleware.rate_limiting import SlidingWindowRateLimitingMiddleware
from mcp.shared.exceptions import MCPError

from mcpcore import ContractError, Server, not_found, tool
from mcpcore.contract.failure_modes import CONTRACT_META_KEY
from mcpcore.integrations.fastmcp import ContractFailure, ContractMiddleware
from tests.answers import records_of
from tests.integrations.fastmcp.contract_server import calling, error_of, extended, listing, logged, records
from tests.integrations.fastmcp.plain_server import SECRET, bare, contracted, get_order


class TestMounts:
    @pytest.mark.parametrize("above", [True, False])
    @pytest.mark.parametrize("below", [True, False])
    @pytest.mark.parametrize("namespace", ["shop", None])
    def test_a_parent_covers_mounted_servers(
        self, above: bool, below: bool, namespace: str | None, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Contracts, schemas and all failures work, with one record each, wherever the middleware is."""
        if not above and not below:
            return
        child = contracted(bare("child")) if below else bare("child")
        middle: FastMCP[Any] = FastMCP("middle")
        middle.mount(child)
        parent: FastMCP[Any] = FastMCP("parent")
        if above:
            contracted(parent)
        parent.mount(middle, namespace=namespace)
        prefix = f"{namespace}_" if namespace else ""
        tools = listing(parent)
        published = tools[f"{prefix}get_order"].meta[CONTRACT_META_KEY]
        assert ["no_order"] == [entry["reason"] for entry in published]
        branches = tools[f"{prefix}get_order"].output_schema["anyOf"]
        assert 1 == sum(branch.get("required") == ["error"] for branch in branches)
        assert listing(bare())["plain"].output_schema == tools[f"{prefix}plain"].output_schema
        for name, arguments, code in (
            ("get_order", {"order_id": "none"}, "NOT_FOUND"),
            ("get_order", {"order_id": "crash"}, "INTERNAL_ERROR"),
            ("get_order", {"order_id": [SECRET]}, "INVALID_PARAMS"),
            ("get_order", {"odd": SECRET}, "INVALID_PARAMS"),
            ("plain", {"how": "crash"}, "INTERNAL_ERROR"),
            ("plain", {"how": "said"}, "INTERNAL_ERROR"),
            ("plain", {"odd": SECRET}, "INVALID_PARAMS"),
            ("marked", {}, "INTERNAL_ERROR"),
        ):
            caplog.clear()
            result = calling(parent, f"{prefix}{name}", arguments)
            error = error_of(result)
            assert code == error["name"]
            assert "hunter2" not in result.model_dump_json()
            (record,) = records(caplog)
            assert error["correlationId"] == record["correlationId"]
            if not below and result.structured_content is not None:
                assert f"{prefix}{name}" == error["tool"]
        if above:
            with pytest.raises(MCPError, match="Unknown tool: gt_order"):
                calling(parent, "gt_order")

    def test_renamed_and_transformed_tools_keep_their_contracts(self) -> None:
        """Tools are renamed by `tool_names` of a mount, and arguments by a transform."""
        from fastmcp.tools import Tool
        from fastmcp.tools.tool_transform import ArgTransform

        parent = contracted(FastMCP("parent"))
        parent.mount(bare("child"), tool_names={"get_order": "order"})
        parent.add_tool(
            Tool.from_tool(get_order, name="by_number", transform_args={"order_id": ArgTransform(name="number")})
        )
        assert "no_order" == error_of(calling(parent, "order", {"order_id": "none"}))["data"]["reason"]
        assert "no_order" == error_of(calling(parent, "by_number", {"number": "none"}))["data"]["reason"]
        assert "invalid_arguments" == error_of(calling(parent, "order", {"odd": 1}))["data"]["reason"]
        assert [CONTRACT_META_KEY in definition.meta for definition in listing(parent).values()].count(True) == 2

    def test_a_server_of_mcpcore_is_mounted_by_a_proxy(self, caplog: pytest.LogCaptureFixture) -> None:
        """`mcp.mount(server)` fails with an error that says so, at the latest when it is served."""
        server = Server("ours", tools=[get_order])
        for mcp in (FastMCP("parent"), contracted(FastMCP("parent"))):
            with pytest.raises(Exception, match=r"mount\(create_proxy\(server\)\)"):  # noqa: PT012 - by release
                mcp.mount(server)  # type: ignore[arg-type]
                listing(mcp)
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = server.nothing  # type: ignore[attr-defined]
        parent = contracted(FastMCP("parent"))
        parent.mount(create_proxy(server))
        result = calling(parent, "get_order", {"order_id": "none"})
        assert ("no_order", "get_order") == (error_of(result)["data"]["reason"], error_of(result)["tool"])
        assert ["no_order"] == [entry["reason"] for entry in listing(parent)["get_order"].meta[CONTRACT_META_KEY]]

    def test_an_unsupported_mount_is_refused_by_the_middleware(self) -> None:
        """If a release's `mount` accepts anything, the error is raised when a client lists the tools."""
        from fastmcp.server.providers.fastmcp_provider import FastMCPProvider

        class Other:
            middleware: tuple[()] = ()

            def required_extensions(self) -> list[Any]:
                return []

        mcp = contracted(FastMCP("parent"))
        mcp.providers.append(FastMCPProvider(Other()))  # type: ignore[arg-type]
        with pytest.raises(ContractError, match=r"takes FastMCP servers, not a .*\.Other; mount a proxy"):
            anyio.run(mcp.list_tools)

    def test_failures_of_a_proxied_backend_are_passed_on(self, caplog: pytest.LogCaptureFixture) -> None:
        """An envelope is kept with a note of its origin, and another failure becomes an envelope."""
        parent = contracted(FastMCP("parent"), bind={"role": "R"})
        parent.mount(create_proxy(contracted(bare("with"))), namespace="with")
        parent.mount(create_proxy(bare("without")), namespace="without")
        error = error_of(calling(parent, "with_get_order", {"order_id": "none"}))
        assert ("NOT_FOUND", "no_order", "with_get_order") == (error["name"], error["data"]["reason"], error["tool"])
        assert "Call list_orders." == error["data"]["recovery"]["hint"]
        backend, ours = records(caplog)
        assert error["correlationId"] == ours["correlationId"] != backend["correlationId"]
        origin = {"correlationId": backend["correlationId"], "tool": "get_order"}
        assert origin == error["data"]["upstream"] == ours["data"]["upstream"]
        assert ("with", "parent") == (backend["server"], ours["server"])
        assert "no_order" == error_of(calling(parent, "without_get_order", {"order_id": "none"}))["data"]["reason"]
        assert "Told to the model." == error_of(calling(parent, "without_plain", {"how": "said"}))["message"]


class TestCompatibility:
    @pytest.mark.parametrize("other", [ErrorHandlingMiddleware(), RetryMiddleware()])
    @pytest.mark.parametrize("first", [True, False])
    @pytest.mark.parametrize("mounted", [True, False])
    def test_middleware_that_would_break_contracts_is_refused(
        self, other: Middleware, first: bool, mounted: bool
    ) -> None:
        """The error says what to change, to code and clients, for middleware before, after and below ours."""
        below = bare()
        mcp: FastMCP[Any] = FastMCP("parent")
        mcp.mount(below)
        where = below if mounted else mcp
        if first:
            where.add_middleware(other)
        contracted(mcp)
        if not first:
            where.add_middleware(other)
        # Middleware before ours replaces this error too, and keeps its message.
        for call, arguments in ((mcp.call_tool, ("get_order", {"order_id": "1"})), (mcp.list_tools, ())):
            with pytest.raises((ContractError, MCPError), match=f"{type(other).__name__} .* remove it"):
                anyio.run(call, *arguments)
        with pytest.raises(Exception):  # noqa: B017 - the type depends on the transport
            listing(mcp)

    @pytest.mark.parametrize("mode", ["legacy", "auto"])
    def test_a_client_reads_the_fix(self, mode: Any, caplog: pytest.LogCaptureFixture) -> None:
        """The trail has one record, however many messages are refused."""
        mcp = extended(contracted(bare()), RetryMiddleware())

        async def run() -> list[MCPError]:
            errors = []
            for _ in range(2):
                with pytest.raises(MCPError) as caught:
                    async with Client(mcp, mode=mode) as client:
                        await client.call_tool("plain", {})
                errors.append(caught.value)
            return errors

        for error in anyio.run(run):
            assert "INITIALIZATION_FAILED" == error.error.data["error"]["name"]
            assert "RetryMiddleware repeats failed calls" in error.error.message
        assert ["INITIALIZATION_FAILED"] == [record["name"] for record in records(caplog)]

    def test_middleware_that_only_observes_is_allowed(self, caplog: pytest.LogCaptureFixture) -> None:
        """`transform_errors=False` keeps the callback, and its log adds nothing to ours."""
        seen: list[str] = []
        mcp = extended(
            contracted(bare()),
            ErrorHandlingMiddleware(
                transform_errors=False, error_callback=lambda exc, _: seen.append(type(exc).__name__)
            ),
        )
        error_of(calling(mcp, "plain", {"how": "crash"}))
        error_of(calling(mcp, "get_order", {"order_id": "crash"}))
        assert ["ToolError", "ToolError"] == seen
        assert "hunter2" not in logged(caplog)

    @pytest.mark.usefixtures("only_warnings")
    def test_a_middleware_that_is_not_outermost_warns_once(self, caplog: pytest.LogCaptureFixture) -> None:
        """Earlier middleware is not covered."""
        mcp = extended(bare(), SlidingWindowRateLimitingMiddleware(max_requests=100))
        contracted(mcp)
        for _ in range(2):
            error_of(calling(mcp, "plain", {"how": "crash"}))
        (said,) = [r.getMessage() for r in caplog.records if "not the outermost" in r.getMessage()]
        assert "SlidingWindowRateLimitingMiddleware" in said
        caplog.clear()
        calling(contracted(bare()), "plain", {"how": "fine"})
        assert "outermost" not in caplog.text


def test_servers_that_both_have_the_middleware_name_a_tool_in_one_way(caplog: pytest.LogCaptureFixture) -> None:
    """The client reads the name that it called, and nobody is warned of mcpcore's own middleware."""

    @tool
    def flip() -> str:
        """Flip."""
        raise not_found("no coin")

    sub, top = FastMCP("sub"), FastMCP("top")
    for server in (sub, top):
        server.add_middleware(ContractMiddleware())
    sub.add_tool(flip)
    top.mount(sub, namespace="s")
    assert "s_flip" == error_of(calling(top, "s_flip"))["tool"]
    assert not [record for record in caplog.records if "outermost" in record.getMessage()]


@pytest.mark.parametrize("covered", [1, 2])
def test_a_failed_call_within_a_mounted_server_leaves_one_record(covered: int, tmp_path: Path) -> None:
    """It is that of the server's own middleware, or of the server above, whether the handler catches it or not."""

    @tool
    def fails() -> str:
        """Fail."""
        raise not_found("no coin")

    child, top = FastMCP("child"), FastMCP("top")

    @tool
    async def catches() -> str:
        """Call the other, and go on."""
        with pytest.raises(ToolError) as caught:
            await child.call_tool("fails")
        return str(isinstance(caught.value, ContractFailure))

    @tool
    async def passes() -> str:
        """Call the other."""
        await child.call_tool("fails")
        return "not raised"

    trail = tmp_path / "trail"
    for server in (top, child)[:covered]:
        server.add_middleware(ContractMiddleware(audit=trail))
    for added in (fails, catches, passes):
        child.add_tool(added)
    top.mount(child, namespace="c")
    assert "True" == calling(top, "c_catches").content[0].text
    assert ["NOT_FOUND"] == [record["name"] for record in records_of(trail)]
    assert "NOT_FOUND" == error_of(calling(top, "c_passes"))["name"]
    assert ["NOT_FOUND"] * 2 == [record["name"] for record in records_of(trail)]
