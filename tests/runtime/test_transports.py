"""The same failure over every transport, in both eras and on both doors, with real processes."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from tests.answers import envelope_of

SERVER = Path(__file__).with_name("wire_server.py")
TOOLS = ("pet", "tree", "counts", "typed", "numbers", "text", "sdk")


@pytest.fixture(scope="module")
def ports(served_by: str) -> Iterator[dict[str, int]]:
    """Start a server in another process and return its port for each kind of HTTP."""
    process = subprocess.Popen(
        [sys.executable, str(SERVER), "--door", served_by, "--ports"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout:
        yield json.loads(process.stdout.readline())
        process.terminate()


async def exercise(target: Any, era: str, names: tuple[str, ...] = TOOLS, *, has_session: bool = True) -> None:
    async with Client(target, mode=era) as client:
        tools = {listed.name: listed for listed in (await client.list_tools()).tools}
        assert "no_match" == (tools["fetch"].meta or {})["dev.mcpcore/errors"][0]["reason"]
        assert ("2026-07-28" == client.protocol_version) == (era == "auto")

        assert {"articles": ["1"]} == (await client.call_tool("fetch", {"pmids": ["1"]})).structured_content

        failed = await client.call_tool("fetch", {"pmids": []})
        envelope = envelope_of(failed)
        assert ("no_match", "None of 0 PMIDs — nichts gefunden 😀.") == (envelope.reason, envelope.message)
        assert ({"pmids": [], "sep": "\\u2028"}, "search_articles") == (envelope.details, envelope.fallback_tool)
        assert envelope.text() == failed.content[0].text  # type: ignore[union-attr]

        for name in names:
            assert not (await client.call_tool(name, {"kind": "none"})).is_error
            for kind, expected in (
                ("declared", "NOT_FOUND"),
                ("crash", "INTERNAL_ERROR"),
                ("exit", "INTERNAL_ERROR"),
                ("surrogate", "INTERNAL_ERROR"),
                (7, "INVALID_PARAMS"),
            ):
                result = await client.call_tool(name, {"kind": kind})
                failure_read = envelope_of(result)
                assert (True, expected) == (result.is_error, failure_read.name)
                # On FastMCP, only the text has the failure if the schema of a plain tool does not admit it.
                assert failure_read.tool == (None if result.structured_content is None else name)
                assert "hunter2" not in result.model_dump_json()

        failures = [envelope_of(await client.call_tool("fetch", {"pmids": []})) for _ in range(4)]
        assert ([None, None, 3, 4] if has_session else [None] * 4) == [failure.repeated for failure in failures]

        with pytest.raises(MCPError, match=r"Did you mean fetch\?") as raised:
            await client.call_tool("fetsh", {})
        assert (-32602, "NOT_FOUND") == (raised.value.code, raised.value.data["error"]["name"])


@pytest.mark.slow
@pytest.mark.parametrize(("era", "framework"), [("legacy", "fastmcp"), ("auto", "server")])
def test_over_stdio(era: str, framework: str, tmp_path: Path) -> None:
    """A subprocess, as desktop clients start it, logs to standard error only."""
    with (tmp_path / "stderr").open("w") as errors:
        command = StdioServerParameters(
            command=sys.executable, args=[str(SERVER), "--door", framework], env=dict(os.environ)
        )
        anyio.run(exercise, stdio_client(command, errlog=errors), era)
    assert "KeyError: 'hunter2'" in (tmp_path / "stderr").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("way", ["plain", "json", "stateless", "stateless json"])
def test_over_http(ports: dict[str, int], way: str, era: str) -> None:
    """A real server on a local port may be stateless or not, and answer with JSON or event streams."""
    run = functools.partial(exercise, names=("pet", "sdk"), has_session=era == "legacy" and "stateless" not in way)
    anyio.run(run, f"http://127.0.0.1:{ports[way]}/mcp", era)


@pytest.mark.slow
def test_over_sse(ports: dict[str, int]) -> None:
    """The older transport only supports the handshake."""
    anyio.run(exercise, sse_client(f"http://127.0.0.1:{ports['sse']}/sse"), "legacy", ("pet", "sdk"))
