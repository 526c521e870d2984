"""`pytest --reason-coverage`: in one process, under pytest-xdist, and for servers in other processes."""

from __future__ import annotations

import functools
import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS

from mcpcore import CodedError, Context, Contract, ErrorCode, FailureMode, tool
from mcpcore.testing import make_context
from mcpcore.testing.reasons.recording import Covered, Handler, merged, reason_recorder
from mcpcore.testing.reasons.running import find_sites

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
        FailureMode("late", ErrorCode.CONFLICT, when="It is late.", recovery="Wait."),
        FailureMode("never", ErrorCode.CONFLICT, when="Never.", recovery="Wait."),
    ]
)
async def get_order(ctx: Context[Literal["no_order", "slow", "late", "never"]], order_id: str) -> str:
    """Get an order."""
    if order_id == "late":
        raise ctx.fail("late")
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
SERVER = """
server = Server("orders", tools=[*TOOLS])
if __name__ == '__main__':
    server.run()
"""
ON_FASTMCP = """
from fastmcp import FastMCP
from mcpcore.integrations.fastmcp import ContractMiddleware
from shop import TOOLS

mcp = FastMCP("orders")
mcp.add_middleware(ContractMiddleware())
for added in TOOLS:
    mcp.add_tool(added)
"""
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

    def __init__(self, folder: Path, tests: str) -> None:
        self.folder = folder
        (folder / "conftest.py").write_text("import shop\n")
        (folder / "shop.py").write_text(SHOP + SERVER)
        (folder / "front.py").write_text(ON_FASTMCP)
        (folder / "test_shop.py").write_text(HEAD + tests)

    def run(self, *options: str, code: int = 0) -> str:
        """What pytest printed."""
        return run_pytest(self.folder, *options, code=code)

    @property
    def report(self) -> dict[str, Any]:
        """The report as JSON."""
        report: dict[str, Any] = json.loads((self.folder / "out" / "r.json").read_text())
        return report


def run_pytest(folder: Path, *options: str, code: int = 0, python: Sequence[str] = ()) -> str:
    (folder / "pytest.ini").write_text("[pytest]\n")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "MCPCORE_"))}
    plugins = ("-p", "no:cacheprovider", "-p", "no:langsmith_plugin")
    command = [sys.executable, *python, "-m", "pytest", "-q", *plugins, *options]
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
async def test_server():
    assert (await call(server, "get_order", order_id="x")).is_error
    assert (await call(server, "get_order", order_id="crash")).is_error

async def test_fastmcp():
    from front import mcp
    assert (await call(mcp, "get_order", order_id="late")).is_error
    assert (await call(mcp, "list_orders", limit=4)).is_error
    assert (await call(mcp, "list_orders", limit="x")).is_error

async def test_handler(make_context):
    with pytest.raises(CodedError):
        await get_order.handler(make_context(get_order), order_id="x")

def test_a_process_that_was_killed_while_it_wrote():
    with open(os.environ["MCPCORE_REASON_COVERAGE"] + "/1.jsonl", "w") as file:
        file.write('["raised", ["tool",')
"""


def test_what_no_test_raised_with_fastmcp(tmp_path: Path) -> None:
    """It is in the terminal, in JSON, HTML and Markdown, with the place that would raise it; a report that cannot be written
    fails the run."""
    formats = ("json:out/r.json", "html:out/r.html", "markdown:out/r.md", "html:test_shop.py/r.html")
    options = [f"--reason-coverage-report={name}" for name in formats]
    shop = Project(tmp_path, IN_MEMORY)
    out = shop.run(*options, code=1)
    line = SHOP.split("\n").index('    raise ctx.fail("slow")') + 1
    for part in (
        f"not raised: slow (shop.py:{line})",
        "not raised: never (no known code raises it)",
        "TOTAL              4       2  50%",
        "r.html cannot be written: ",
    ):
        assert part in out
    assert ["out/r.json", "out/r.html", "out/r.md"] == re.findall("Written: (.*)", out)
    assert {"no_order": True, "slow": False, "late": True, "never": False} == raised(shop.report)
    assert ["NOT_FOUND"] == undeclared(shop.report, "list_orders")
    assert 1 == len(undeclared(shop.report, "get_order"))
    for name in ("r.html", "r.md"):
        text = (tmp_path / "out" / name).read_text()
        assert "2 of 4 declared reasons were raised: 50%." in text
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
    program = f"from front import mcp; mcp.run(transport='streamable-http', port={port})"
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


@pytest.mark.slow
def test_servers_in_other_processes(tmp_path: Path) -> None:
    """Over stdio and over HTTP, and killed; the tests run in the workers of pytest-xdist."""
    shop = Project(tmp_path, OTHER_PROCESSES)
    (tmp_path / "out").mkdir()
    options = ("-n", "2", "--rootdir=out", "--reason-coverage-fail-under=75")
    out = shop.run("--reason-coverage-report=json:out/r.json", *options, code=1)
    assert "TOTAL              4       2  50%" in out
    assert "50% of the declared reasons were raised, fewer than the required 75%" in out
    assert f"{tmp_path / 'shop.py'}:" in out  # which is not in the root
    assert {"no_order": True, "slow": True, "late": False, "never": False} == raised(shop.report)
    assert ["NOT_FOUND"] == undeclared(shop.report, "list_orders")


def test_a_source_without_contracts(tmp_path: Path) -> None:
    """Nothing is reported, and no percentage is reached; the run failed anyway."""
    shop = Project(tmp_path, "def test_it(): assert not server\n")
    options = ("--reason-coverage-source=test_shop.py", "--reason-coverage-report=markdown:r.md")
    out = shop.run("--reason-coverage-fail-under=1", *options, code=1)
    assert "No contract was declared in this run." in out
    assert "no reason is declared in this run" in out
    assert "No contract was declared in this run." in (tmp_path / "r.md").read_text()


def test_a_helper_of_another_tool(tmp_path: Path) -> None:
    """A failure is raised where the tool leads to, not wherever its file names the reason; nowhere if nothing is read."""
    file = tmp_path / "shop.py"
    file.write_text(SHOP.replace("async def get_order", "async def find_order").replace("wait(ctx)", "pass"))
    first = SHOP.split("\n").index("@tool(") + 1
    for settings in ("", "select = 1"):
        (tmp_path / "pyproject.toml").write_text(f"[tool.mcpcore.lint]\n{settings}\n")
        covered = Covered(handler=Handler("tool", "get_order", str(file), first), declared={"slow": "TIMEOUT"})
        find_sites([covered], tmp_path)
        assert {} == covered.sites


def test_code_without_a_file(tmp_path: Path) -> None:
    """No place is known for the reasons of a tool that the program wrote itself."""
    covered = Covered(
        handler=Handler("tool", "made", str(tmp_path / "<string>"), 1), declared={"no_order": "NOT_FOUND"}
    )
    find_sites([covered], tmp_path)
    assert {} == covered.sites


@pytest.mark.anyio
async def test_failures_of_tools_that_are_called_like_functions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are seen, whether the handler is async or not; a failure that the test makes itself does not count."""
    recorder = reason_recorder(str(tmp_path))
    assert recorder is not None
    monkeypatch.setattr("mcpcore.boundary.coverage_hook.observer", recorder)
    errors = [
        FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Look elsewhere."),
        FailureMode("busy", ErrorCode.RATE_LIMITED, when="It is busy.", recovery="Wait."),
    ]

    @tool(errors=errors)
    def get_now(ctx: Context[Literal["gone", "busy"]], order_id: str) -> str:
        """Get it."""
        if order_id == "busy":
            raise ctx.fail("busy")
        if order_id != "A-1":
            raise ctx.fail("gone")
        return order_id

    @tool(errors=errors)
    async def get_later(ctx: Context[Literal["gone", "busy"]]) -> str:
        """Get it."""
        raise ctx.fail("busy")

    get_busy = tool(errors=errors, name="get_busy")(functools.partial(get_now.handler, order_id="busy"))
    with pytest.raises(CodedError, match="busy"):
        get_busy.handler(make_context(get_busy))
    assert "A-1" == get_now(order_id="A-1")
    with pytest.raises(CodedError):
        get_now(order_id="A-2")
    with pytest.raises(CodedError):
        await get_later()
    with pytest.raises(CodedError, match="busy"):
        get_now.handler(make_context(get_now), order_id="busy")
    assert "gone" == make_context(get_later).fail("gone").reason
    recorder.close()
    assert {"get_busy": {"busy"}, "get_now": {"gone", "busy"}, "get_later": {"busy"}} == {
        record.handler.name: record.raised for record in merged(tmp_path)
    }
    assert not any(record.undeclared for record in merged(tmp_path))


def test_what_cannot_be_written(tmp_path: Path) -> None:
    """A full disk changes no answer, and neither does a folder that cannot be made."""
    (tmp_path / "file").write_text("")
    assert reason_recorder(str(tmp_path / "file" / "folder")) is None
    recorder = reason_recorder(str(tmp_path))
    assert recorder is not None
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        recorder.failed("tool", "full", Contract(), "NOT_FOUND", None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    recorder.failed("tool", "later", Contract(), "NOT_FOUND", None)
    recorder.close()
    assert [] == merged(tmp_path)


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


def test_a_percentage_that_is_reached(pytester: pytest.Pytester) -> None:
    """The run succeeds, nothing is reported as failed, and the list of the SDK is as it was."""
    inherited = list(DEFAULT_INHERITED_ENV_VARS)
    pytester.makepyfile("def test_it(): pass")
    plugins = ("-p", "no:langsmith_plugin", "-p", "no:xdist")
    done = pytester.runpytest_inprocess("--reason-coverage-fail-under=100", *plugins)
    assert (pytest.ExitCode.TESTS_FAILED, True) == (done.ret, "no reason is declared" in done.stdout.str())
    done = pytester.runpytest_inprocess("--reason-coverage-fail-under=0", *plugins)
    assert (pytest.ExitCode.OK, False) == (done.ret, "FAILED" in done.stdout.str())
    assert inherited == DEFAULT_INHERITED_ENV_VARS


def test_without_the_option(tmp_path: Path) -> None:
    """The plugin loads neither the SDK nor the rest of mcpcore, and records nothing."""
    (tmp_path / "test_it.py").write_text(
        "import os, sys\n"
        "def test_it():\n"
        "    loaded = sorted(name for name in sys.modules if name.split('.')[0] in ('mcp', 'mcpcore', 'hypothesis'))\n"
        "    assert ['mcpcore', 'mcpcore.testing', 'mcpcore.testing.plugin'] == loaded\n"
        "    assert 'MCPCORE_REASON_COVERAGE' not in os.environ\n"
    )
    assert "reason coverage" not in run_pytest(
        tmp_path, "-p", "no:hypothesispytest", python=("-X", "utf8")
    )  # not forked
