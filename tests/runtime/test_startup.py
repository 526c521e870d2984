"""Failures while a server starts or stops are recorded and raised again."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server.extension import Extension, ToolBinding

from mcpcore import Context, ContractError, Server, tool
from tests.answers import ask

LIFESPAN = """
import sys
from contextlib import asynccontextmanager
from mcpcore import CodedError, ErrorCode, Server

@asynccontextmanager
async def lifespan(app):
    {before}
    yield {{}}
    {after}
"""
SERVERS = {
    "server": """
server = Server("library", lifespan=lifespan, bind={{"role": "reader"}})

if __name__ == "__main__":
    server.run(*sys.argv[1:2], **({{"port": int(sys.argv[2])}} if sys.argv[2:] else {{}}))
""",
    "fastmcp": """
from fastmcp import FastMCP
from mcpcore.integrations.fastmcp import ContractMiddleware

contracts = ContractMiddleware(bind={{"role": "reader"}})
server = FastMCP("library", lifespan=contracts.watch_lifespan(lifespan), middleware=[contracts])

if __name__ == "__main__":
    port = {{"port": int(sys.argv[2])}} if sys.argv[2:] else {{}}
    server.run(sys.argv[1], show_banner=False, **port)
""",
}
REGISTERS_ALONE = pytest.mark.server_only("FastMCP registers components itself, and tells no middleware of it")
BROKEN = 'raise RuntimeError("no database, password=hunter2")'


def _run(
    folder: Path, door: str, *command: str, before: str = "pass", after: str = "pass"
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    """Run a server until it ends and return the records of its trail."""
    (folder / "library.py").write_text((LIFESPAN + SERVERS[door]).format(before=before, after=after))
    trail = folder / "trail.jsonl"
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, "MCPCORE_AUDIT": str(trail)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    return done, [json.loads(line) for line in trail.read_text().splitlines()] if trail.exists() else []


WAYS = {
    "stdio": ("library.py", "stdio"),
    "HTTP": ("library.py", "streamable-http", "0"),
    "SSE": ("library.py", "sse", "0"),
    "mcpcore run": ("-m", "mcpcore", "run", "library.py"),
    "mcpcore run --http": ("-m", "mcpcore", "run", "library.py", "--http", ":0"),
    "mcpcore run on all networks": ("-m", "mcpcore", "run", "library.py", "--http", "0.0.0.0:0", "--verbose"),
}

# A process takes most of a second, so that each test starts each framework in one way.
EITHER = pytest.mark.parametrize(("way", "framework"), [("stdio", "server"), ("mcpcore run", "fastmcp")])


@pytest.mark.parametrize(
    ("way", "framework"),
    [
        ("stdio", "server"),
        ("HTTP", "fastmcp"),
        ("mcpcore run", "fastmcp"),
        ("mcpcore run --http", "server"),
        ("mcpcore run on all networks", "server"),
    ],
)
def test_a_lifespan_that_fails_is_recorded(way: str, framework: str, tmp_path: Path) -> None:
    """As INITIALIZATION_FAILED, with the exception and without its secrets; the process ends with an error.

    `mcpcore run` says why in a message, with the line, and without a traceback or a secret.
    """
    done, (record,) = _run(tmp_path, framework, *WAYS[way], before=BROKEN)
    assert (record["name"], record["surface"], record["server"]) == ("INITIALIZATION_FAILED", "server", "library")
    assert record["context"] == {"role": "reader"}
    assert record["exception"]["type"] == "RuntimeError"
    assert record["exception"]["message"] == "no database, password=[redacted]"
    assert "library.py" in record["traceback"]
    assert "hunter2" not in json.dumps(record)
    assert f"the server 'library' cannot start: INITIALIZATION_FAILED (id {record['correlationId']})" in done.stderr
    if not way.startswith("mcpcore run"):
        assert done.returncode != 0
        return
    assert done.returncode == 2
    assert "Error: library.py cannot start: RuntimeError: no database, password=[redacted]\n" in done.stderr
    assert "library.py:8: raise RuntimeError(" in done.stderr
    assert "hunter2" not in done.stderr
    assert "\nTraceback" not in done.stderr


def test_mcpcore_run_shows_the_traceback_on_request(tmp_path: Path) -> None:
    """The exit code stays the same."""
    done, records = _run(tmp_path, "server", *WAYS["mcpcore run"], "--traceback", before=BROKEN)
    assert done.returncode == 2
    assert "\nTraceback (most recent call last):\n" in done.stderr
    assert len(records) == 1


@EITHER
def test_a_coded_startup_failure_keeps_its_code_and_reason(way: str, framework: str, tmp_path: Path) -> None:
    """Its author's choice is kept."""
    before = 'raise CodedError.startup_failure(ErrorCode.CONFIGURATION_ERROR, "No key is set.", {"key": "API"})'
    _, (record,) = _run(tmp_path, framework, *WAYS[way], before=before)
    assert (record["name"], record["reason"]) == ("CONFIGURATION_ERROR", "startup_failure")
    assert (record["message"], record["data"]) == ("No key is set.", {"key": "API"})


@pytest.mark.parametrize(
    ("before", "framework"),
    [("sys.exit(3)", "server"), ("sys.exit(3)", "fastmcp"), ("raise ExceptionGroup('g', [OSError('x')])", "server")],
)
def test_every_early_end_of_a_lifespan_is_recorded(before: str, framework: str, tmp_path: Path) -> None:
    """This includes an exit."""
    done, (record,) = _run(tmp_path, framework, *WAYS["stdio"], before=before)
    assert done.returncode != 0
    assert record["name"] == "INITIALIZATION_FAILED"


@EITHER
def test_a_lifespan_that_fails_while_the_server_stops_is_recorded(way: str, framework: str, tmp_path: Path) -> None:
    """It had started, so the code is different."""
    done, (record,) = _run(tmp_path, framework, *WAYS[way], after='raise TimeoutError("the pool does not close")')
    assert (record["name"], record["surface"]) == ("TIMEOUT", "server")
    assert "the server 'library' failed to stop: TIMEOUT" in done.stderr
    assert done.returncode != 0


def test_a_server_that_starts_and_stops_records_nothing(tmp_path: Path) -> None:
    """Its input is empty."""
    done, records = _run(tmp_path, "server", *WAYS["stdio"])
    assert (done.returncode, records) == (0, [])


@pytest.mark.parametrize(
    ("way", "framework"),
    [("HTTP", "server"), ("HTTP", "fastmcp"), ("SSE", "server"), ("mcpcore run --http", "fastmcp")],
)
def test_an_occupied_port_is_recorded(way: str, framework: str, tmp_path: Path) -> None:
    """The transport counts as a component that does not start."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [port if part == "0" else f":{port}" if part == ":0" else part for part in WAYS[way]]
        done, (record,) = _run(tmp_path, framework, *command)
    assert done.returncode != 0
    assert record["name"] == "INITIALIZATION_FAILED"
    assert record["exception"]["type"] == "OSError"


@REGISTERS_ALONE
def test_a_tool_that_cannot_be_served_is_recorded(trail: Path) -> None:
    """The component is broken before the server runs."""

    @tool
    def look() -> str:
        return ""

    with pytest.raises(ContractError):
        Server("s", tools=[look, look], audit=trail)
    record = json.loads(trail.read_text())
    assert (record["name"], record["server"]) == ("INITIALIZATION_FAILED", "s")


@tool
def look() -> str:
    """A tool."""
    return ""


def _look(ctx: Context[Any]) -> str:
    return ctx.request_id


def _two_tools(server: Server[Any]) -> None:
    server.add_tool(look)
    server.add_tool(look)


def _two_decorated_tools(server: Server[Any]) -> None:
    for _ in range(2):
        server.tool(name="look", errors=[])(_look)


def _tool_that_cannot_be_described(server: Server[Any]) -> None:
    def look(*rows: int) -> str:
        return ""

    server.tool(errors=[])(look)


def _two_tools_of_the_sdks_kind(server: Server[Any]) -> None:
    for _ in range(2):
        server.tool(name="look")(_look)


def _tool_decorator_without_parentheses(server: Server[Any]) -> None:
    server.tool(_look)  # type: ignore[call-overload]


def _two_resources(server: Server[Any]) -> None:
    for _ in range(2):
        server.resource("res://look", errors=[])(_look)


def _resource_without_its_parameter(server: Server[Any]) -> None:
    server.resource("res://{row}")(lambda: "")


def _two_prompts(server: Server[Any]) -> None:
    for _ in range(2):
        server.prompt(name="look", errors=[])(_look)


@REGISTERS_ALONE
@pytest.mark.parametrize(
    "broken",
    [
        _two_tools, _two_decorated_tools, _tool_that_cannot_be_described, _two_tools_of_the_sdks_kind,
        _tool_decorator_without_parentheses, _two_resources, _resource_without_its_parameter, _two_prompts,
    ],
    ids=lambda broken: broken.__name__,
)  # fmt: skip
def test_a_component_that_cannot_be_registered_is_recorded_once(
    broken: Callable[[Server[Any]], None], trail: Path
) -> None:
    """The exception is also raised to the code that registers it."""
    server: Server[Any] = Server("s", audit=trail)
    with pytest.raises((ContractError, TypeError, ValueError)) as failed:
        broken(server)
    (record,) = map(json.loads, trail.read_text().splitlines())
    assert (record["name"], record["surface"], record["server"]) == ("INITIALIZATION_FAILED", "server", "s")
    assert record["exception"]["type"].endswith(type(failed.value).__name__)


class _Looking(Extension):
    identifier = "example.look/tools"

    def __init__(self, count: int) -> None:
        self.count = count
        self.intercepted: list[str] = []

    def tools(self) -> list[ToolBinding]:
        return [ToolBinding(look)] * self.count

    async def intercept_tool_call(self, params: Any, ctx: Any, call_next: Any) -> Any:
        self.intercepted.append(params.name)
        return await call_next(ctx)


@pytest.mark.server_only("FastMCP takes no extensions of the SDK")
def test_an_extension_registers_tools_as_the_server_does(trail: Path) -> None:
    """Contract tools are served, with the extension in between, and one that cannot be registered is recorded."""
    extension = _Looking(1)
    server: Server[Any] = Server("s", extensions=[extension])
    assert not ask(Client(server), lambda client: client.call_tool("look", {})).is_error
    assert (["look"], ["look"]) == ([*server.contracts], extension.intercepted)
    with pytest.raises(ContractError, match="has a tool 'look' already"):
        Server("s", audit=trail, extensions=[_Looking(2)])
    (record,) = map(json.loads, trail.read_text().splitlines())
    assert "INITIALIZATION_FAILED" == record["name"]


@REGISTERS_ALONE
def test_a_module_that_cannot_register_a_tool_leaves_a_record(tmp_path: Path, trail: Path) -> None:
    """The import of the module ends the process."""
    (tmp_path / "library.py").write_text(
        "from mcpcore import Server, tool\n@tool\ndef look() -> str: return ''\n"
        "server = Server('library')\nserver.add_tool(look)\nserver.add_tool(look)\n"
    )
    done = subprocess.run(
        [sys.executable, "library.py"],
        cwd=tmp_path,
        env={**os.environ, "MCPCORE_AUDIT": str(trail)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    (record,) = map(json.loads, trail.read_text().splitlines())
    assert record["name"] == "INITIALIZATION_FAILED"


@pytest.mark.usefixtures("door")
def test_a_failed_registration_within_a_call_fails_only_that_call(trail: Path) -> None:
    """The record belongs to that call, and an exception handled while the server is created ends nothing."""
    server: Server[Any] = Server("s", audit=trail, tools=[look])

    @server.tool()
    def extend() -> None:
        server.add_tool(look)

    assert ask(Client(server), lambda client: client.call_tool("extend", {})).is_error
    (record,) = map(json.loads, trail.read_text().splitlines())
    assert (record["surface"], record["tool"]) == ("tool", "extend")


@asynccontextmanager
async def _lifespan(_: Any) -> AsyncIterator[int]:
    yield 7


@asynccontextmanager
async def _lifespan_with_tasks(_: Any) -> AsyncIterator[int]:
    async with anyio.create_task_group():
        yield 7


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize(
    "lifespan",
    [
        _lifespan,
        pytest.param(
            _lifespan_with_tasks,
            marks=pytest.mark.server_only(
                "FastMCP ends a lifespan in a cancel scope, within which no task group can end"
            ),
        ),
    ],
)
def test_the_end_of_a_server_is_not_a_failure_of_its_lifespan(lifespan: Any, trail: Path) -> None:
    """Errors of the surrounding code and cancellations are not recorded."""
    server = Server("s", lifespan=lifespan, audit=trail)

    async def fails() -> None:
        async with Client(server):
            raise LookupError("around")

    with pytest.raises(BaseExceptionGroup):
        anyio.run(fails)

    async def cancelled() -> None:
        with anyio.move_on_after(0.2):
            async with Client(server):
                await anyio.sleep_forever()

    anyio.run(cancelled)
    assert not trail.exists() or not trail.read_text()


@pytest.mark.anyio
@pytest.mark.usefixtures("door")
async def test_a_cancellation_while_a_server_starts_is_not_a_failure(trail: Path) -> None:
    """The cancellation is a choice of the code that started it."""

    @asynccontextmanager
    async def slow(_: Any) -> AsyncIterator[None]:
        await anyio.sleep_forever()
        yield

    server = Server("s", lifespan=slow, audit=trail)

    with anyio.move_on_after(0.2):
        async with Client(server):
            raise AssertionError
    assert not trail.exists() or not trail.read_text()
