"""`pytest --reason-coverage`: in one process, under pytest-xdist, and for servers in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SHOP = '''
from typing import Literal

from mcpcore import Context, ErrorCode, FailureMode, Server, not_found, tool


def wait(ctx: Context[Literal["slow"]]) -> None:
    raise ctx.fail("slow")


@tool(
    errors=[
        FailureMode("no_order", ErrorCode.NOT_FOUND, when="There is none.", recovery="Call list_orders."),
        FailureMode("slow", ErrorCode.TIMEOUT, when="It is slow.", recovery="Wait."),
        FailureMode("never", ErrorCode.CONFLICT, when="Never.", recovery="Wait."),
    ]
)
async def get_order(ctx: Context[Literal["no_order", "slow", "never"]], order_id: str) -> str:
    """Get an order."""
    if order_id == "slow":
        wait(ctx)
    if order_id == "crash":
        raise KeyError(order_id)
    if order_id != "A-1":
        raise ctx.fail("no_order")
    return order_id


@tool
def list_orders(limit: int) -> list[str]:
    """List the orders."""
    if limit > 3:
        raise not_found("too many")
    return []


TOOLS = (get_order, list_orders)
'''
SERVERS = {
    "Server": "server = Server('orders', tools=[*TOOLS])\n",
    "FastMCP": (
        "from fastmcp import FastMCP\nserver = FastMCP('orders')\n"
        "from mcpcore.integrations.fastmcp import ContractMiddleware\n"
        "server.add_middleware(ContractMiddleware())\n"
        "for added in TOOLS:\n    server.add_tool(added)\n"
    ),
}
RUN = "if __name__ == '__main__':\n    server.run()\n"
HEAD = """
import anyio, os, signal, sys
import pytest
from mcp import Client, StdioServerParameters
from mcpcore import CodedError
from mcpcore.testing import raises_reason, tool_client
from shop import get_order, server

pytestmark = pytest.mark.anyio

@pytest.fixture
def anyio_backend():
    return "asyncio"

async def call(server, name, **arguments):
    async with tool_client(server) as client:
        return await client.call_tool(name, arguments)
"""


class Project:
    """A project in a folder, whose tests run in a process of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *options: str, code: int = 0) -> str:
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "MCPCORE_"))}
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:langsmith_plugin",
            *options,
        ]
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, timeout=120, env=env, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def report(self, *options: str, code: int = 0) -> dict[str, Any]:
        self.run("--reason-coverage-report=json:r.json", *options, code=code)
        report: dict[str, Any] = json.loads((self.folder / "r.json").read_text())
        return report


@pytest.fixture(params=SERVERS)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    """A project with a server of each kind."""
    (tmp_path / "shop.py").write_text(SHOP + SERVERS[request.param] + RUN)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return Project(tmp_path)


def raised(report: dict[str, Any], name: str = "get_order") -> dict[str, bool]:
    (handler,) = [handler for handler in report["handlers"] if handler["name"] == name]
    return {reason["reason"]: reason["raised"] for reason in handler["reasons"]}


def undeclared(report: dict[str, Any], name: str = "get_order") -> list[str]:
    (handler,) = [handler for handler in report["handlers"] if handler["name"] == name]
    return [entry["code"] for entry in handler["undeclared"]]


def test_what_no_test_raised(project: Project) -> None:
    """It is in the terminal, in JSON, HTML and Markdown, with the place that would raise it."""
    (project.folder / "test_shop.py").write_text(
        HEAD
        + """
async def test_calls():
    assert (await call(server, "get_order", order_id="x")).is_error
    assert (await call(server, "get_order", order_id="crash")).is_error
    assert (await call(server, "list_orders", limit=4)).is_error
    assert (await call(server, "list_orders", limit="x")).is_error
"""
    )
    formats = ("json", "html", "markdown")
    out = project.run("--reason-coverage", *(f"--reason-coverage-report={kind}" for kind in formats))
    line = SHOP.split("\n").index('    raise ctx.fail("slow")') + 1
    assert f"not raised: slow (shop.py:{line})" in out
    assert "not raised: never (no known code raises it)" in out
    assert "TOTAL              3       1  33.3%" in out
    report = json.loads((project.folder / "reason-coverage.json").read_text())
    assert {"no_order": True, "slow": False, "never": False} == raised(report)
    assert ["NOT_FOUND"] == undeclared(report, "list_orders")
    assert 1 == len(undeclared(report))
    for name in ("reason-coverage.html", "reason-coverage.md"):
        text = (project.folder / name).read_text()
        assert "1 of 3 declared reasons were raised: 33.3%." in text
        assert "slow" in text or "sl&#" in text


def test_workers_of_xdist(project: Project) -> None:
    """Each worker raises one reason; the controller reports both."""
    (project.folder / "test_shop.py").write_text(
        HEAD
        + """
@pytest.mark.parametrize("order_id", ["x", "slow"])
async def test_calls(order_id, worker_id):
    assert (await call(server, "get_order", order_id=order_id)).is_error
"""
    )
    report = project.report("-n", "2", "--dist", "each")
    assert {"no_order": True, "slow": True, "never": False} == raised(report)


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["alone", "xdist"])
def test_servers_over_stdio(project: Project, options: tuple[str, ...]) -> None:
    """A server in a process of its own, which the SDK gives few variables, and one that is killed."""
    (project.folder / "test_shop.py").write_text(
        HEAD.replace("from shop import get_order, server\n", "")
        + """
async def test_calls():
    async with Client(StdioServerParameters(command=sys.executable, args=["shop.py"])) as client:
        assert (await client.call_tool("get_order", {"order_id": "x"})).is_error

def test_killed():
    import subprocess
    program = (
        "import anyio, os, signal\\nfrom shop import get_order\\n"
        "try:\\n    anyio.run(lambda: get_order(order_id='slow'))\\n"
        "except Exception:\\n    os.kill(os.getpid(), signal.SIGKILL)\\n"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == -signal.SIGKILL
"""
    )
    report = project.report(*options)
    assert {"no_order": True, "slow": True, "never": False} == raised(report)


def test_calls_without_a_server(project: Project) -> None:
    """A tool that is called like a function, and a handler with a made context."""
    (project.folder / "test_shop.py").write_text(
        HEAD
        + """
async def test_function():
    with raises_reason("no_order"):
        await get_order(order_id="x")

async def test_handler(make_context):
    with pytest.raises(CodedError):
        await get_order.handler(make_context(get_order), order_id="slow")
"""
    )
    assert {"no_order": True, "slow": True, "never": False} == raised(project.report())


def test_fail_under(project: Project) -> None:
    """It fails the run below the percentage, and without any reasons."""
    (project.folder / "test_shop.py").write_text(
        HEAD + "async def test_one():\n    assert (await call(server, 'get_order', order_id='x')).is_error\n"
    )
    project.run("--reason-coverage-fail-under=33")
    out = project.run("--reason-coverage-fail-under=34", code=1)
    assert "33.3% of the declared reasons were raised, fewer than the required 34%" in out
    out = project.run("-n", "1", "--reason-coverage-fail-under=34", code=1)
    assert "fewer than the required 34%" in out
    (project.folder / "other").mkdir()
    out = project.run("--reason-coverage-fail-under=1", "--reason-coverage-source=other", code=1)
    assert "no reason is declared" in out
    project.run("--reason-coverage-fail-under=101", code=4)
    project.run("--reason-coverage-source=missing", code=4)
    project.run("--reason-coverage-report=pdf", code=4)


def test_without_the_option(tmp_path: Path) -> None:
    """The plugin loads neither the SDK nor the rest of mcpcore, and records nothing."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(
        "import os, sys\n"
        "def test_it():\n"
        "    loaded = sorted(name for name in sys.modules if name.split('.')[0] in ('mcp', 'mcpcore', 'hypothesis'))\n"
        "    assert ['mcpcore', 'mcpcore.testing', 'mcpcore.testing.plugin'] == loaded\n"
        "    assert 'MCPCORE_REASON_COVERAGE' not in os.environ\n"
    )
    assert "reason coverage" not in Project(tmp_path).run("-p", "no:hypothesispytest")
