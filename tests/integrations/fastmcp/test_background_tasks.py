"""Contract tools that run as FastMCP background tasks: the request is answered before the tool runs."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from fastmcp import Client, FastMCP
from fastmcp.server.context import Context as FastMCPContext
from fastmcp.utilities.tasks import TaskConfig

from mcpcore import Context, ErrorCode, FailureMode, tool
from mcpcore.integrations.fastmcp import ContractMiddleware
from tests.integrations.fastmcp.contract_server import extended

NO_ORDER = FailureMode("no_order", ErrorCode.NOT_FOUND, when="There is no such order.", recovery="Call list_orders.")
SECRET = "password=hunter2hunter2"


def exporting() -> Any:
    """A tool; FastMCP's decorator keeps its options on the object."""

    @tool(errors=[NO_ORDER])
    async def export(ctx: Context[Literal["no_order"]], order_id: str = "A-1", pages: int = 1) -> str:
        if order_id == "none":
            raise ctx.fail("no_order", data={"order_id": order_id})
        if order_id == "crash":
            raise KeyError(SECRET)
        return f"{pages} of {order_id}"

    return export


def served(**options: Any) -> FastMCP[Any]:
    return extended(FastMCP("orders"), ContractMiddleware(**options))


@pytest.mark.parametrize("task", [True, TaskConfig(mode="required")])
def test_a_contract_tool_may_run_as_a_task(task: Any) -> None:
    """Either kind of option works; a sync handler is refused with FastMCP's own message."""
    mcp = served()
    mcp.tool(task=task)(exporting())
    registered: Any = anyio.run(mcp.get_tool, "export")
    assert registered.task_config.mode == ("optional" if task is True else "required")

    @tool
    def sync(ctx: Context) -> int:
        return 1

    with pytest.raises(ValueError, match="'sync' uses a sync function but has task execution enabled"):
        mcp.tool(task=task)(sync)
    plain = served()
    plain.tool(task=False)(sync)
    assert 1 == anyio.run(_called, plain, "sync").data


def test_the_defaults_of_arguments_can_be_kept_in_a_set() -> None:
    """The library that runs the tasks stores them in a set when it reads the signature."""
    assert 3 == len({parameter.default for parameter in inspect.signature(exporting()).parameters.values()})


async def _called(mcp: FastMCP[Any], name: str) -> Any:
    async with Client(mcp) as client:
        return await client.call_tool(name, {})


@pytest.mark.anyio
@pytest.mark.parametrize("mounted", [False, True], ids=["served", "mounted"])
async def test_a_background_handler_is_recorded_by_the_middleware(mounted: bool, trail: Path) -> None:
    """The middleware's trail, dialect and fields apply, also for a tool on a mounted server without middleware."""
    mcp = child = served(audit=trail, dialect="tool_error", bind={"role": "R"})
    if mounted:
        child = FastMCP("child")
        mcp.mount(child)
    child.add_tool(exporting())
    # The middleware discovers a mounted server when a client calls a tool, which is also how a task begins.
    assert "1 of A-1" == (await _called(mcp, "export")).content[0].text
    registered: Any = await child.get_tool("export")
    async with FastMCPContext(fastmcp=child):
        result = (await registered.run({"order_id": "none"})).to_mcp_result()
    (record,) = map(json.loads, trail.read_text().splitlines())
    assert ("no_order", {"role": "R"}) == (record["reason"], record["context"])
    assert ("child" if mounted else "orders") == record["server"]
    assert "correlationId" not in result.structured_content
    assert record["message"] in result.content[0].text


@pytest.mark.anyio
async def test_a_worker_that_has_served_no_request_also_records(trail: Path) -> None:
    """A worker may be a process without clients."""
    mcp = extended(served(audit=trail), exporting())
    registered: Any = await mcp.get_tool("export")
    async with FastMCPContext(fastmcp=mcp):
        result = (await registered.run({"order_id": "crash"})).to_mcp_result()
    assert "INTERNAL_ERROR" == result.structured_content["error"]["name"]
    assert "orders" == json.loads(trail.read_text())["server"]
    assert "hunter2" not in result.model_dump_json() + trail.read_text()


@pytest.mark.anyio
async def test_a_server_with_its_own_middleware_keeps_it(tmp_path: Path) -> None:
    """The parent may have middleware, too."""
    ours, theirs = tmp_path / "parent.jsonl", tmp_path / "child.jsonl"
    mcp, child = served(audit=ours), served(audit=theirs)
    child.add_tool(exporting())
    mcp.mount(child)

    await _called(mcp, "export")
    registered: Any = await child.get_tool("export")
    async with FastMCPContext(fastmcp=child):
        await registered.run({"order_id": "none"})
    assert not ours.exists() or not ours.read_text()
    assert "no_order" == json.loads(theirs.read_text())["reason"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("order_id", "pages", "name"),
    [("none", 1, "NOT_FOUND"), ("crash", 1, "INTERNAL_ERROR"), ("A", "x", "INVALID_PARAMS")],
)
async def test_a_real_task_completes_with_the_envelope(
    order_id: str, pages: Any, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The extension for background tasks, a separate distribution, runs the tool."""
    extension = pytest.importorskip("fastmcp_tasks").TasksExtension
    mcp = served()
    mcp.add_extension(extension())
    mcp.tool(task=True)(exporting())

    async with Client(mcp) as client:
        with anyio.fail_after(30):
            assert "2 of A-1" == (await client.call_tool("export", {"pages": 2})).data
            result = await client.call_tool_mcp("export", {"order_id": order_id, "pages": pages})
    error = result.structured_content["error"]
    assert (True, name) == (result.is_error, error["name"])
    (record,) = [record.audit for record in caplog.records if record.name == "mcpcore.audit"]  # type: ignore[attr-defined]
    assert ("orders", error["correlationId"]) == (record["server"], record["correlationId"])
    assert "hunter2" not in result.model_dump_json()
