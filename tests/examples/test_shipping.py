"""The shipping desk on FastMCP, as a client over stdio sees it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from mcpcore import Envelope
from tests.files import ROOT


def test_every_outcome_of_the_shipping_desk(tmp_path):
    """Successes, each declared failure, bad arguments, a plain tool's crash and an unknown tool, with their records."""
    trail = tmp_path / "failures.jsonl"
    calls = [
        ("list_orders", {}, None),
        ("get_order", {"order_id": "A-1"}, None),
        ("get_order", {"order_id": "A-9"}, "no_order"),
        ("ship_order", {"order_id": "A-9"}, "no_order"),
        ("ship_order", {"order_id": "A-2"}, "shipped"),
        ("ship_order", {"order_id": "A-1"}, None),
        ("ship_order", {"order_id": "A-1"}, "shipped"),
        ("get_order", {"order": "hunter2"}, "invalid_arguments"),
        ("get_order", {"order_id": "hunter2"}, "invalid_arguments"),
        ("stock_count", {"item": "lamp"}, None),
        ("stock_count", {"item": "hunter2"}, "crash"),
    ]
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "examples.shipping"],
        cwd=str(ROOT),
        env={**os.environ, "MCPCORE_AUDIT": str(trail)},
    )

    async def run() -> tuple[list[Any], list[Any]]:
        async with Client(stdio_client(server)) as client:
            return [await client.call_tool(name, arguments) for name, arguments, _ in calls], (
                await client.list_tools()
            ).tools

    results, tools = anyio.run(run)
    for (name, arguments, reason), result in zip(calls, results, strict=True):
        assert (reason is not None) == result.is_error, (name, arguments, result)
        # The plain tool keeps its output schema, which does not admit the error, so its failure is in the text alone.
        sent = None if reason is None else Envelope.from_result(result)
        error = None if sent is None else sent.to_json()
        if reason == "crash":
            assert "INTERNAL_ERROR" == error["name"]
            assert result.structured_content is None
        elif reason is not None:
            assert reason == error["data"]["reason"]
        assert "hunter2" not in result.model_dump_json()
    records = [json.loads(line) for line in trail.read_text().splitlines()]
    failures = [sent for result in results if result.is_error and (sent := Envelope.from_result(result)) is not None]
    assert [sent.correlation_id for sent in failures] == [record["correlationId"] for record in records]
    described = {listed.name: listed for listed in tools}
    assert ["no_order", "shipped", "out_of_stock"] == [
        entry["reason"] for entry in described["ship_order"].meta["dev.mcpcore/errors"]
    ]
    assert "Fails with:" in described["ship_order"].description


def test_its_own_tests_raise_every_reason():
    """The tests of the example pass with the plugin, and reach 100 % of the declared reasons."""
    options = ("-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:langsmith_plugin", "--import-mode=importlib")
    command = [sys.executable, "-m", "pytest", "examples/shipping", "--reason-coverage-fail-under=100", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^TOTAL +4 +4 +100%$", done.stdout, re.MULTILINE)
