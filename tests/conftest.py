"""Fixtures for all tests."""

from __future__ import annotations

import functools
import gc
import os
import signal
import ssl
import sys
import weakref
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from jsonschema import Draft202012Validator
from mcp import Client
from mcp_types import CallToolResult
from rich.logging import RichHandler

from tests import forking, reporting
from tests.answers import ask
from tests.doors import DOORS, on_fastmcp

# Any example can be slow on a busy machine, and the benchmarks measure speed instead.
settings.register_profile("mcpcore", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mcpcore")


def heed_signals() -> None:
    """Let the processes that tests start be ended by signals that this process ignores, as under `nohup` or in a background job.

    A process inherits only that a signal is ignored. The handler keeps this process running, and is not inherited.
    """
    for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"):
        number = getattr(signal, name, None)  # Windows has fewer
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


heed_signals()

# Images of Python often forbid bytecode. Then each worker rewrites the assertions of every test file again, and each process that
# a test starts compiles what it imports. Some also forbid buffers, and then only a process that inherits that could be forked.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.pop("PYTHONUNBUFFERED", None)
# Half of the start of each pytest that a test runs would be the import of this plugin of another package.
os.environ["PYTEST_ADDOPTS"] = os.environ.get("PYTEST_ADDOPTS", "") + " -p no:langsmith_plugin"
forking.install()
# FastMCP logs tracebacks with their highlighted source, which takes 50 ms for each and is read by nobody here.
RichHandler.rich_tracebacks = property(lambda _: False, lambda *_: None)
# Each client of HTTP reads the certificates of this machine, for 20 ms, though the servers of the tests have none.
ssl.create_default_context = functools.cache(ssl.create_default_context)

_CHECK_SCHEMA = Draft202012Validator.check_schema
_VALID_SCHEMAS: set[str] = set()


def _check_schema_once(schema: Any, **options: Any) -> None:
    """Check the same text of a schema once: the SDK's client and `jsonschema.validate` do it again for each answer."""
    text = repr((schema, options))
    if text not in _VALID_SCHEMAS:
        _CHECK_SCHEMA(schema, **options)
        _VALID_SCHEMAS.add(text)


Draft202012Validator.check_schema = _check_schema_once


ROOT = Path(__file__).parent
# A quarter of the time of a short program of Node.js, as a client or a type checker is, goes into compiling its modules.
os.environ.setdefault("NODE_COMPILE_CACHE", str(ROOT.parent / ".pytest_cache" / "node"))
WIRE = ("tests/audit/", "tests/dialects/", "tests/runtime/", "tests/services/")
"""The folders of tests that hold on every door."""

Call = Callable[..., CallToolResult]


@pytest.fixture
def anyio_backend() -> str:
    """The event loop of async tests."""
    return "asyncio"


@pytest.fixture(params=["legacy", "auto"], ids=["handshake", "2026-07-28"])
def era(request: pytest.FixtureRequest) -> str:
    """Both eras of the protocol, as the `mode` of a client."""
    return str(request.param)


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """Where a server may write its trail."""
    return tmp_path / "audit.jsonl"


@pytest.fixture
def only_warnings(caplog: pytest.LogCaptureFixture) -> None:
    """The log has no more than an application sees that sets up nothing, where a folder's own `caplog` has more."""
    caplog.set_level("WARNING")


@pytest.fixture
def call() -> Call:
    """Call one tool through the SDK's in-memory client: `call(server, name, arguments, mode=...)`."""

    def called(server: Any, name: str, arguments: dict[str, Any] | None = None, *, mode: str = "auto") -> Any:
        return ask(Client(server, mode=mode), lambda client: client.call_tool(name, arguments or {}))

    return called


def pytest_configure(config: pytest.Config) -> None:
    """Let a worker report less."""
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(reporting)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Collect without looking for garbage: what is made stays, and to look through all of it takes half of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(*forking.GARBAGE)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for `door` on a `Server` and on FastMCP; one marked `server_only` or `no_server` runs once.

    `served_by` is the same for a test that starts its server in another process, with that door.
    """
    alone = any(metafunc.definition.get_closest_marker(mark) is not None for mark in ("server_only", "no_server"))
    doors = DOORS[:1] if alone else DOORS
    if "door" in metafunc.fixturenames:
        metafunc.parametrize("door", doors, indirect=True)
    if "served_by" in metafunc.fixturenames:
        metafunc.parametrize("served_by", doors, scope="session")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the size of the code, which a test records."""
    for report in (*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")):
        for name, value in report.user_properties:
            if name == "budget":
                terminalreporter.section("statements")
                terminalreporter.write_line(str(value))


@pytest.fixture(autouse=True)
def handler_of_interrupts() -> Iterator[None]:
    """After `mcpcore run` in this process, an interrupt that a later test sends would end the process a second later."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    if signal.getsignal(signal.SIGINT) is not handler:
        signal.signal(signal.SIGINT, handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Remove the FastMCP runs of parameters that are marked `server_only`; begin with slow files, so that no worker ends with one."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items[:] = [item for item in items if not (_is_on_fastmcp(item) and item.get_closest_marker("server_only"))]
    items.sort(key=lambda item: item.path not in slow)


def _is_on_fastmcp(item: pytest.Item) -> bool:
    params = getattr(getattr(item, "callspec", None), "params", {})
    return "fastmcp" in (params.get("door"), params.get("served_by"))


@pytest.fixture
def door(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The framework that serves: as "fastmcp", a client of a `Server` talks to FastMCP with the same tools instead.

    A module runs all its tests on both with `pytestmark = pytest.mark.usefixtures("door")`. A test that connects no
    client then fails, since FastMCP would have no part in it.
    """
    twins: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
    reached = False
    if request.param == "fastmcp":
        connect = Client.__init__

        def connected(client: Client, server: Any, *args: Any, **options: Any) -> None:
            from mcpcore import Server

            nonlocal reached
            if isinstance(server, Server):
                reached = True
                if server not in twins:
                    twins[server] = on_fastmcp(server)
                server = twins[server]._mcp_server
            connect(client, server, *args, **options)

        monkeypatch.setattr(Client, "__init__", connected)
    yield str(request.param)
    if request.param == "fastmcp" and not reached:
        pytest.fail(
            "no client was connected to a Server, so FastMCP had no part in this test: mark it no_server, or start its "
            "server by the fixture served_by"
        )


_CONNECT = Client.__init__


def _connect_to_no_server(client: Client, server: Any, *args: Any, **options: Any) -> None:
    from mcpcore import Server

    if isinstance(server, Server):
        pytest.fail("a client was connected to a Server alone: run the test on both doors, with the fixture door")
    _CONNECT(client, server, *args, **options)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a wire test that connects to a `Server` but does not run on the other door.

    A hook and not a fixture, which would cost more than many a test.
    """
    is_alone = item.nodeid.startswith(WIRE) and "door" not in getattr(item, "fixturenames", ())
    if not is_alone or item.get_closest_marker("server_only") is not None:
        return (yield)
    Client.__init__ = _connect_to_no_server  # type: ignore[method-assign, assignment]
    try:
        return (yield)
    finally:
        Client.__init__ = _CONNECT  # type: ignore[method-assign]
