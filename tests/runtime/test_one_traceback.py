"""A crash writes one traceback to the log, whichever handler fails and however the server is reached."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from mcpcore import Server, tool

HEADS = {
    "server": """
from mcpcore import Server

server = Server("crashing")
contract = server.tool(errors=[])
""",
    # This test creates no `Server` because the SDK would set up logging, which FastMCP leaves to the application.
    "fastmcp": """
from fastmcp import FastMCP
from mcpcore import tool
from mcpcore.integrations.fastmcp import ContractMiddleware

server = FastMCP("crashing", middleware=[ContractMiddleware()])
contract = lambda fn: server.tool(tool(errors=[])(fn))
""",
}
SERVER = """
import sys

def crash():
    raise RuntimeError("broken, password=hunter2")

@contract
def contract_tool() -> str:
    return crash()

@contract
async def async_tool() -> str:
    return crash()

@server.tool()
def sdk_tool() -> str:
    return crash()

@server.resource("page://one")
def page() -> str:
    return crash()

@server.resource("pages://{name}")
def pages(name: str) -> str:
    return crash()

@server.prompt()
def ask() -> str:
    return crash()

if __name__ == "__main__":
    server.run(*sys.argv[1:2], **({"port": int(sys.argv[2])} if sys.argv[2:] else {}))
"""
ASKS: dict[str, Any] = {
    "contract_tool": lambda client: client.call_tool("contract_tool", {}),
    "async_tool": lambda client: client.call_tool("async_tool", {}),
    "sdk_tool": lambda client: client.call_tool("sdk_tool", {}),
    "resource": lambda client: client.read_resource("page://one"),
    "template": lambda client: client.read_resource("pages://one"),
    "prompt": lambda client: client.get_prompt("ask", {}),
}


async def _ask_all(client: Client) -> None:
    for ask in ASKS.values():
        with contextlib.suppress(MCPError):
            assert (await ask(client)).is_error


def _log_over_stdio(folder: Path) -> str:
    log = folder / "stderr.txt"

    async def run() -> None:
        parameters = StdioServerParameters(
            command=sys.executable, args=[str(folder / "crashing.py"), "stdio"], env=dict(os.environ)
        )
        with log.open("w") as stream:
            async with Client(stdio_client(parameters, errlog=stream)) as client:
                await _ask_all(client)

    anyio.run(run)
    return log.read_text()


def _log_over_http(folder: Path) -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "stderr.txt"
    with log.open("w") as stream:
        command = [sys.executable, str(folder / "crashing.py"), "streamable-http", str(port)]
        server = subprocess.Popen(command, stdout=stream, stderr=stream)
    try:
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)

        async def run() -> None:
            async with Client(f"http://127.0.0.1:{port}/mcp") as client:
                await _ask_all(client)

        anyio.run(run)
    finally:
        server.terminate()
        server.wait(30)
    return log.read_text()


@pytest.mark.parametrize(("transport", "framework"), [(_log_over_stdio, "server"), (_log_over_http, "fastmcp")])
def test_a_crash_writes_one_traceback_to_the_log(
    transport: Any, framework: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server sets up logging itself, and the traceback is redacted."""
    monkeypatch.delenv("MCPCORE_AUDIT", raising=False)
    (tmp_path / "crashing.py").write_text(HEADS[framework] + SERVER)
    log = transport(tmp_path)
    assert log.count("Traceback (most recent call last)") == len(ASKS), log
    assert log.count("RuntimeError: broken, password=[redacted]") == len(ASKS)
    assert "hunter2" not in log
    ids = re.findall(r"failed unexpectedly \(id ([0-9a-f]{16})\)", log)
    assert len(set(ids)) == len(ASKS)
    assert all(f'"correlationId":"{identity}"' in log for identity in ids)


@pytest.mark.usefixtures("door")
def test_the_record_in_the_log_keeps_its_traceback_if_crashes_are_not_logged(
    call: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Otherwise the traceback would be lost."""

    @tool
    def crash() -> str:
        raise RuntimeError("broken")

    caplog.set_level(logging.INFO, "mcpcore.audit")
    for level, logged in ((logging.CRITICAL, True), (logging.ERROR, False)):
        caplog.clear()
        caplog.set_level(level, "mcpcore")
        caplog.handler.setLevel(logging.NOTSET)
        assert call(Server("s", tools=[crash]), "crash").is_error
        # A server of another test may count its refused requests here meanwhile.
        (record,) = [record for record in caplog.records if getattr(record, "audit", {}).get("tool") == "crash"]
        assert ("Traceback" in record.getMessage()) is logged
        assert "Traceback" in record.audit["traceback"]  # type: ignore[attr-defined]
