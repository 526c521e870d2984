"""The policy with langchain-mcp-adapters, in its own environment with the SDK 1."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcpcore.client import CallPolicy, ToolCallFailed
from mcpcore.integrations.langchain_mcp_adapters import PolicyInterceptor
from tests.files import ROOT
from tests.integrations.shop import SECRET, make_shop
from tests.reach.drivers import interpreter

SERVER = [sys.executable, "-m", "tests.integrations.shop"]


@pytest.mark.slow
def test_agents_on_the_adapters_follow_the_policy() -> None:
    """With the interceptor and with the middleware, the model reads the same, and the server sees the same calls."""
    done = subprocess.run(
        [interpreter("adapters"), str(ROOT / "tests" / "integrations" / "adapters_agent.py"), *SERVER],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert 0 == done.returncode, done.stderr
    both = json.loads(done.stdout)
    for way in ("interceptor", "middleware"):
        texts, calls = both[way]["texts"], both[way]["calls"]
        assert "work of size 10 is done" == texts["busy once"]
        assert "retry after 0.01 s" in texts["busy"]
        assert "The contract names other as the fallback." in texts["closed"]
        assert texts["closed"].endswith("other has done it")
        assert "The contract says to call with another size." in texts["too big"]
        assert texts["too big"].endswith("work of size 1 is done")
        assert "INTERNAL_ERROR" in texts["crash"]
        assert SECRET not in done.stdout
        assert "service unavailable, try again later" in texts["x"]
        assert 2 == calls.count("work busy once 10")
        assert 3 == calls.count("work busy 10")
        assert 1 == calls.count("work crash 10") == calls.count("plain x")


@pytest.mark.slow
def test_the_example_shows_the_retry_that_the_model_does_not_see() -> None:
    """It runs with the adapters; its server runs next to the tests."""
    done = subprocess.run(
        [
            interpreter("adapters"),
            "-m",
            "examples.agents.langchain_adapters_agent",
            sys.executable,
            "-m",
            "examples.agents.server",
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert 0 == done.returncode, done.stderr
    assert "not shown to the model: book failed (desk_busy)" in done.stdout
    assert done.stdout.rstrip().endswith("You are on the waiting list for 5 seats for Hamlet.")


@dataclass
class Request:
    """The request of the adapters, whose package cannot be imported next to the SDK 2."""

    name: str
    args: dict[str, Any]

    def override(self, **changes: Any) -> Request:
        return replace(self, **changes)


@pytest.mark.anyio
async def test_the_interceptor_runs_next_to_the_sdk_2_too() -> None:
    """The day the adapters accept the SDK 2, the interceptor does."""
    async with Client(make_shop()) as client:
        tools = (await client.list_tools()).tools

        async def handler(request: Request) -> Any:
            return await client.call_tool(request.name, request.args)

        interceptor = PolicyInterceptor(CallPolicy(fallbacks={"other"}), tools=tools)
        answer = await interceptor(Request("work", {"kind": "closed"}), handler)
        assert ["The contract names other as the fallback.", "other has done it"] == [
            answer.content[0].text[-41:],
            answer.content[1].text,
        ]
        uninformed = PolicyInterceptor(CallPolicy(fallbacks={"other"}))
        assert (await uninformed(Request("work", {"kind": "closed"}), handler)).is_error
        assert not (await uninformed(Request("work", {"kind": "busy once"}), handler)).is_error
        with pytest.raises(MCPError, match="Unknown tool"):
            await uninformed(Request("wrok", {"kind": "closed"}), handler)
        with pytest.raises(ToolCallFailed, match="did not answer"):
            await PolicyInterceptor(CallPolicy(max_elapsed=0.2))(Request("work", {"kind": "late"}), handler)


@pytest.mark.anyio
async def test_what_another_interceptor_returns_in_place_of_a_result_is_left_alone() -> None:
    """A message or a command of LangChain is no failed call."""
    from langchain_core.messages import ToolMessage

    message = ToolMessage("cached", tool_call_id="1")

    async def handler(_: Request) -> Any:
        return message

    assert message is await PolicyInterceptor()(Request("work", {}), handler)
