"""`pytest --reason-coverage`: in one process, under pytest-xdist, and for servers in other processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["pytester"]

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
    """A project in a folder, whose tests run in another process."""

    def __init__(self, folder: Path, kind: str, tests: str) -> None:
        self.folder = folder
        (folder / "shop.py").write_text(SHOP + SERVERS[kind] + RUN)
        (folder / "test_shop.py").write_text(HEAD + tests)

    def run(self, *options: str, code: int = 0) -> str:
        """What pytest printed."""
        return run_pytest(self.folder, *options, code=code)

    @property
    def report(self) -> dict[str, Any]:
        """The report as JSON."""
        report: dict[str, Any] = json.loads((self.folder / "out" / "r.json").read_text())
        return report


def run_pytest(folder: Path, *options: str, code: int = 0) -> str:
    (folder / "pytest.ini").write_text("[pytest]\n")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "MCPCORE_"))}
    plugins = ("-p", "no:cacheprovider", "-p", "no:langsmith_plugin")
    command = [sys.executable, "-m", "pytest", "-q", *plugins, *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, env=env, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def raised(report: dict[str, Any], name: str = "get_order") -> dict[str, bool]:
    (handler,) = [handler for handler in report["handlers"] if handler["name"] == name]
    return {reason["reason"]: reason["raised"] for reason in handler["reasons"]}


def undeclared(report: dict[str, Any], name: str) -> list[str]:
    (handler,) = [handler for handler in report["handlers"] if handler["name"] == name]
    return [entry["code"] for entry in handler["undeclared"]]


IN_MEMORY = """
async def test_calls():
    assert (await call(server, "get_order", order_id="x")).is_error
    assert (await call(server, "get_order", order_id="crash")).is_error
    assert (await call(server, "list_orders", limit=4)).is_error
    assert (await call(server, "list_orders", limit="x")).is_error
"""


@pytest.mark.parametrize("kind", SERVERS)
def test_what_no_test_raised(tmp_path: Path, kind: str) -> None:
    """It is in the terminal, in JSON, HTML and Markdown, with the place that would raise it; too few fail the run."""
    formats = ("json:out/r.json", "html:out/r.html", "markdown:out/r.md", "html:test_shop.py/r.html")
    options = ("--reason-coverage-fail-under=34", *(f"--reason-coverage-report={name}" for name in formats))
    shop = Project(tmp_path, kind, IN_MEMORY)
    out = shop.run(*options, code=1)
    line = SHOP.split("\n").index('    raise ctx.fail("slow")') + 1
    assert f"not raised: slow (shop.py:{line})" in out
    assert "not raised: never (no known code raises it)" in out
    assert "TOTAL              3       1  33.3%" in out
    assert "33.3% of the declared reasons were raised, fewer than the required 34%" in out
    assert "r.html cannot be written: " in out
    assert {"no_order": True, "slow": False, "never": False} == raised(shop.report)
    assert ["NOT_FOUND"] == undeclared(shop.report, "list_orders")
    assert 1 == len(undeclared(shop.report, "get_order"))
    for name in ("r.html", "r.md"):
        text = (tmp_path / "out" / name).read_text()
        assert "1 of 3 declared reasons were raised: 33.3%." in text
        assert "slow" in text or "sl&#" in text


OTHER_PROCESSES = """
async def test_over_stdio():
    # The SDK gives a server few variables.
    async with Client(StdioServerParameters(command=sys.executable, args=["shop.py"])) as client:
        assert (await client.call_tool("get_order", {"order_id": "x"})).is_error

async def test_over_http():
    import socket, subprocess
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = f"from shop import server; server.run(transport='streamable-http', port={port})"
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    try:
        with anyio.fail_after(60):
            while True:
                try:
                    await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
                    break
                except OSError:
                    await anyio.sleep(0.05)
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            assert (await client.call_tool("list_orders", {"limit": 4})).is_error
    finally:
        process.kill()
        process.wait()

def test_killed():
    import subprocess
    program = (
        "import anyio, os, signal\\nfrom shop import get_order\\n"
        "try:\\n    anyio.run(lambda: get_order(order_id='slow'))\\n"
        "except Exception:\\n    os.kill(os.getpid(), signal.SIGKILL)\\n"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == -signal.SIGKILL
"""


@pytest.mark.parametrize(("kind", "options"), [("Server", ()), ("FastMCP", ("-n", "2"))])
def test_servers_in_other_processes(tmp_path: Path, kind: str, options: tuple[str, ...]) -> None:
    """Over stdio and over HTTP, and killed; the tests run in one process or in the workers of pytest-xdist."""
    shop = Project(tmp_path, kind, OTHER_PROCESSES)
    shop.run("--reason-coverage-report=json:out/r.json", *options)
    assert {"no_order": True, "slow": True, "never": False} == raised(shop.report)
    assert ["NOT_FOUND"] == undeclared(shop.report, "list_orders")


WORKERS = """
async def test_function(worker_id):
    order_id, reason = ("x", "no_order") if worker_id == "gw0" else ("slow", "slow")
    with raises_reason(reason):
        await get_order(order_id=order_id)

async def test_handler(make_context):
    with pytest.raises(CodedError):
        await get_order.handler(make_context(get_order), order_id="x")
"""


def test_workers_of_xdist(tmp_path: Path) -> None:
    """Each worker raises one reason, in a tool that is called like a function; the controller reports both."""
    shop = Project(tmp_path, "Server", WORKERS)
    out = shop.run("-n", "2", "--dist", "each", "--reason-coverage-fail-under=67", code=1)
    assert "TOTAL            3       2  66.6%" in out
    assert "fewer than the required 67%" in out


def test_a_source_without_contracts(tmp_path: Path) -> None:
    """Nothing is reported, and no percentage is reached."""
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n")
    out = run_pytest(tmp_path, "--reason-coverage-fail-under=1", "--reason-coverage-source=test_it.py", code=1)
    assert "No contract was declared in this run." in out
    assert "no reason is declared in this run" in out


def test_wrong_options(pytester: pytest.Pytester) -> None:
    """They are refused before a test runs."""
    for option, message in (
        ("--reason-coverage-fail-under=101", "must be between 0 and 100"),
        ("--reason-coverage-source=missing", "does not exist"),
        ("--reason-coverage-report=pdf", "unknown format 'pdf'"),
    ):
        done = pytester.runpytest_inprocess(option, "-p", "no:langsmith_plugin", "-p", "no:xdist")
        assert pytest.ExitCode.USAGE_ERROR == done.ret
        assert message in "\n".join(done.errlines)


def test_without_the_option(tmp_path: Path) -> None:
    """The plugin loads neither the SDK nor the rest of mcpcore, and records nothing."""
    (tmp_path / "test_it.py").write_text(
        "import os, sys\n"
        "def test_it():\n"
        "    loaded = sorted(name for name in sys.modules if name.split('.')[0] in ('mcp', 'mcpcore', 'hypothesis'))\n"
        "    assert ['mcpcore', 'mcpcore.testing', 'mcpcore.testing.plugin'] == loaded\n"
        "    assert 'MCPCORE_REASON_COVERAGE' not in os.environ\n"
    )
    assert "reason coverage" not in run_pytest(tmp_path, "-p", "no:hypothesispytest")
