"""What a client sees of failures through the proxy, in both eras and over every pair of transports."""

from __future__ import annotations

import sys
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcpcore import Envelope, ErrorCode
from tests.answers import envelope_of, settled
from tests.proxy.conftest import PLAIN, Connect

ROUTES = ["stdio-child", "stdio-url", "http-child", "http-url"]


async def _check(client: Client, *, has_session: bool = True) -> None:
    """Check the failures and the successes of the plain server."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert "error" in tools["add"].output_schema["properties"]

    looked = envelope_of(await client.call_tool("look_up", {"word": "rust"}))
    assert (ErrorCode.NOT_FOUND, "none") == (looked.error_code, looked.effects)
    assert "no article about 4 letters was found" == looked.message

    charged = envelope_of(await client.call_tool("charge", {"amount": 1}))
    assert ErrorCode.RATE_LIMITED == charged.error_code
    assert 30_000 == charged.retry.to_json()["afterMs"]
    assert "charge" == charged.tool

    crashed = await client.call_tool("crash", {})
    envelope = envelope_of(crashed)
    assert (ErrorCode.INTERNAL_ERROR, ErrorCode.INTERNAL_ERROR.sentence) == (envelope.error_code, envelope.message)
    assert "secret.py" not in crashed.model_dump_json()

    bad = envelope_of(await client.call_tool("add", {"a": "one", "c": 2}))
    assert ("invalid_arguments", ErrorCode.INVALID_PARAMS) == (bad.reason, bad.error_code)
    assert ["a", "b"] == sorted(issue["path"] for issue in bad.details["issues"])

    added = await client.call_tool("add", {"a": 1, "b": 2})
    assert not added.is_error
    assert {"value": 3} == added.structured_content

    pictured = await client.call_tool("picture", {})
    assert ["text", "image"] == [block.type for block in pictured.content]
    assert Envelope.from_result(pictured) is not None

    failures = [Envelope.from_result(await client.call_tool("add", {"a": -1, "b": 2})) for _ in range(4)]
    assert ([None, None, 3, 4] if has_session else [None] * 4) == [failure and failure.repeated for failure in failures]

    seen: list[float] = []

    async def on_progress(progress: float, *_: Any) -> None:
        seen.append(progress)

    assert "done" == (await client.call_tool("progress", {}, progress_callback=on_progress)).content[0].text
    assert [1] == seen

    assert envelope_of(await settled(client.read_resource("data://missing"))).correlation_id


@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES)
def test_failures_are_readable_on_every_route(
    route: str, era: str, through: Connect, http_front: Any, plain_url: str
) -> None:
    """The same answers come over stdio and HTTP, in front of a command and of a URL."""
    front, back = route.split("-")
    target = ("--", *PLAIN) if back == "child" else ("--url", plain_url)

    async def over_stdio() -> None:
        command = PLAIN if back == "child" else ()
        async with through(*(() if back == "child" else target), command=command, mode=era) as client:
            await _check(client)

    async def over_http(url: str) -> None:
        async with Client(url, mode=era) as client:
            await _check(client, has_session=era == "legacy")

    if front == "stdio":
        anyio.run(over_stdio)
    else:
        with http_front(*target) as url:
            anyio.run(over_http, url)


@pytest.mark.anyio
async def test_every_failure_is_recorded(through: Connect, tmp_path: Any) -> None:
    """The audit trail has one record for each failure, with the id that the client got, and verifies."""
    from mcpcore.audit import verify

    trail = tmp_path / "trail.jsonl"
    async with through("--audit", trail) as client:
        results = [await client.call_tool(*call) for call in (("crash", {}), ("add", {}), ("charge", {"amount": 1}))]
        ids = [str(result.structured_content["error"]["correlationId"]) for result in results]
    text = trail.read_text()
    assert all(ident in text for ident in ids)
    assert "secret.py" in text, "the log has what the client must not see"
    assert verify(trail).ok


@pytest.mark.anyio
async def test_an_option_leaves_repeated_calls_alone(through: Connect) -> None:
    """Else the third failure says that it is the third."""
    async with through("--no-repeat-notice") as client:
        results = [await client.call_tool("add", {"a": -1, "b": 2}) for _ in range(4)]
        assert not any("identical" in result.model_dump_json() for result in results)


def test_a_server_that_ends_is_started_again_once(through: Connect) -> None:
    """Its open call is answered, the next one works, and after a second end the client is left alone."""

    async def run(mode: str) -> None:
        async with through(mode=mode) as client:
            ended = envelope_of(await client.call_tool("end", {}))
            assert ("server_ended", "unknown", False) == (ended.reason, ended.effects, ended.retryable)
            assert "exit code 3" in ended.message
            assert not (await client.call_tool("add", {"a": 1, "b": 1})).is_error
            assert "server_ended" == envelope_of(await client.call_tool("end", {})).reason
            with pytest.raises(MCPError):
                await client.call_tool("add", {"a": 1, "b": 1})

    anyio.run(run, "legacy")
    anyio.run(run, "auto")


@pytest.mark.anyio
async def test_a_server_with_contracts_keeps_its_envelopes(through: Connect, tmp_path: Any) -> None:
    """A failure of a server of mcpcore passes as it is, with the id of the server's own log."""
    source = """
from mcpcore import Server, tool, FailureMode, ErrorCode, Context
@tool(errors=[FailureMode("no_match", ErrorCode.NOT_FOUND, when="Nothing matches.", recovery="Search first.")])
async def fetch(ctx: Context) -> str:
    raise ctx.fail("no_match")
Server("own", tools=[fetch]).run()
"""
    path, trail = tmp_path / "own.py", tmp_path / "own.jsonl"
    path.write_text(source)
    command = ("env", f"MCPCORE_AUDIT={trail}", sys.executable, str(path))
    async with through("--audit", tmp_path / "proxy.jsonl", command=command) as client:
        failed = envelope_of(await client.call_tool("fetch", {}))
        assert "no_match" == failed.reason
        assert failed.correlation_id in trail.read_text()
        assert failed.correlation_id in (tmp_path / "proxy.jsonl").read_text()
        await client.call_tool("fetch", {})
        third = envelope_of(await client.call_tool("fetch", {}))
        assert 3 == third.repeated, "the server itself says so"
        assert third.correlation_id in trail.read_text()
