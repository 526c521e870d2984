"""What public servers say when a call fails, before and through the proxy.

`python -m bench.proxy.servers --bin DIR [--bin DIR ...]` looks for the servers in the folders, calls each one directly
and through `mcpcore proxy`, and writes bench/results/proxy-servers.md. The servers come from PyPI and npm:

    python -m venv one && one/bin/pip install mcp-server-time mcp-server-fetch mcp-server-git
    python -m venv two && two/bin/pip install "mcp<2" mcp-server-sqlite mcp-server-duckdb mcp-server-calculator \
        arxiv-mcp-server
    npm install @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem \
        @modelcontextprotocol/server-memory @cyanheads/git-mcp-server @negokaz/excel-mcp-server kubernetes-mcp-server
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

from mcpcore import Envelope

RESULTS = Path(__file__).parents[1] / "results"


@dataclass(frozen=True)
class Case:
    """A server, and calls of it that fail; `{work}` is a folder with an empty git repository `repo`."""

    package: str
    language: str
    command: tuple[str, ...]
    calls: tuple[tuple[str, dict[str, Any]], ...]
    env: dict[str, str] = field(default_factory=dict)


CASES = (
    Case("mcp-server-time", "Python", ("mcp-server-time",), (
        ("get_current_time", {"timezone": "Mars/Olympus"}),
        ("convert_time", {"source_timezone": "UTC", "time": "25:99", "target_timezone": "UTC"}),
    )),
    Case("mcp-server-fetch", "Python", ("mcp-server-fetch", "--ignore-robots-txt"), (
        ("fetch", {"url": "http://127.0.0.1:1/"}),
    )),
    Case("mcp-server-git", "Python", ("mcp-server-git",), (
        ("git_status", {"repo_path": "{work}/nowhere"}),
        ("git_checkout", {"repo_path": "{work}/repo", "branch_name": "nope"}),
    )),
    Case("mcp-server-sqlite", "Python", ("mcp-server-sqlite", "--db-path", "{work}/a.db"), (
        ("read_query", {"query": "SELECT * FROM nowhere"}),
        ("read_query", {"query": "DROP TABLE a"}),
    )),
    Case("mcp-server-duckdb", "Python", ("mcp-server-duckdb", "--db-path", "{work}/b.db"), (
        ("query", {"query": "SELECT * FROM nowhere"}),
    )),
    Case("mcp-server-calculator", "Python", ("mcp-server-calculator",), (
        ("calculate", {"expression": "1 / 0"}),
    )),
    Case("arxiv-mcp-server", "Python", ("arxiv-mcp-server", "--storage-path", "{work}/papers"), (
        ("read_paper", {"paper_id": "0000.00000"}),
    )),
    Case("@modelcontextprotocol/server-everything", "TypeScript", ("mcp-server-everything",), (
        ("get-resource-reference", {"resourceType": "Text", "resourceId": -1}),
        ("get-sum", {"a": "one"}),
    )),
    Case("@modelcontextprotocol/server-filesystem", "TypeScript", ("mcp-server-filesystem", "{work}"), (
        ("read_text_file", {"path": "{work}/missing.txt"}),
        ("read_text_file", {"path": "/etc/passwd"}),
    )),
    Case("@modelcontextprotocol/server-memory", "TypeScript", ("mcp-server-memory",), (
        ("add_observations", {"observations": [{"entityName": "nobody", "contents": ["x"]}]}),
    ), {"MEMORY_FILE_PATH": "{work}/memory.jsonl"}),
    Case("@cyanheads/git-mcp-server", "TypeScript", ("git-mcp-server",), (
        ("git_checkout", {"path": "{work}/repo", "target": "nope"}),
    )),
    Case("@negokaz/excel-mcp-server", "Go", ("excel-mcp-server",), (
        ("excel_describe_sheets", {"fileAbsolutePath": "{work}/missing.xlsx"}),
    )),
    Case("kubernetes-mcp-server", "Go", ("kubernetes-mcp-server", "--kubeconfig", "{work}/kubeconfig"), (
        ("namespaces_list", {}),
    )),
)  # fmt: skip

KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""


def filled(value: Any, work: str) -> Any:
    """`value` with the path of the folder."""
    if isinstance(value, str):
        return value.replace("{work}", work)
    if isinstance(value, dict):
        return {key: filled(item, work) for key, item in value.items()}
    return [filled(item, work) for item in value] if isinstance(value, list | tuple) else value


async def answers(command: list[str], case: Case, work: str) -> list[Any]:
    """What the server says to each call of the case."""
    env = {**os.environ, **filled(case.env, work)}
    parameters = StdioServerParameters(command=command[0], args=command[1:], env=env, cwd=work)
    results: list[Any] = []
    with Path(os.devnull).open("w") as nowhere, anyio.fail_after(60):  # noqa: ASYNC230 - once
        async with Client(stdio_client(parameters, errlog=nowhere), mode="legacy") as client:
            await client.list_tools()
            for tool, arguments in case.calls:
                try:
                    results.append(await client.call_tool(tool, filled(arguments, work)))
                except MCPError as exc:
                    results.append(exc)
    return results


def before(answer: Any) -> str:
    """A failure as a server without contracts sends it."""
    if isinstance(answer, MCPError):
        return f"JSON-RPC error {answer.code}: {answer.message}"
    assert isinstance(answer, CallToolResult)
    texts = " ".join(getattr(block, "text", f"[{block.type}]") for block in answer.content)
    return f"{'isError' if answer.is_error else 'a success'}: {texts}"


def now(answer: Any) -> str:
    """The same failure through the proxy."""
    envelope = Envelope.from_result(answer)
    if envelope is None:
        return "a success, as before"
    parts = [envelope.name]
    parts += [envelope.reason] if envelope.reason else []
    retry = envelope.retry.to_json()
    parts.append({"not_retryable": "not retryable", "retryable_immediate": "retry"}.get(retry["kind"], "retry later"))
    parts += [f"effects {envelope.effects}"] if envelope.effects else []
    return f"{' · '.join(parts)}: {envelope.message}" + (f" {envelope.hint}" if envelope.hint else "")


def cell(text: str, work: str) -> str:
    """A text for a cell of a table."""
    text = " ".join(text.replace(work, "/folder").split())
    text = text if len(text) <= 160 else f"{text[:160]}…"
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("`", "'")


def main() -> int:
    """Make the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", action="append", default=[], help="a folder with the commands of servers")
    path = os.pathsep.join([*parser.parse_args().bin, os.environ.get("PATH", "")])
    os.environ["PATH"] = path
    rows, missing = [], []
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["git", "init", "-q", f"{work}/repo"], check=True)
        Path(work, "kubeconfig").write_text(KUBECONFIG)
        for case in CASES:
            command = shutil.which(case.command[0], path=path)
            if command is None:
                missing.append(case.package)
                continue
            own = [command, *filled(case.command[1:], work)]
            try:
                plain = anyio.run(answers, own, case, work)
                proxied = anyio.run(answers, [sys.executable, "-m", "mcpcore", "proxy", "--", *own], case, work)
            except Exception as exc:
                print(f"{case.package} cannot run: {exc!r}", file=sys.stderr)
                missing.append(case.package)
                continue
            for (tool, _), first, second in zip(case.calls, plain, proxied, strict=True):
                cells = (f"`{tool}`", cell(before(first), work), cell(now(second), work))
                rows.append(f"| {case.package} ({case.language}) | {' | '.join(cells)} |")
                print(rows[-1])
    head = "| server | tool | a failing call said | through the proxy |\n|---|---|---|---|\n"
    (RESULTS / "proxy-servers.md").write_text(head + "\n".join(rows) + "\n")
    if missing:
        print(f"not found, or not able to run: {', '.join(missing)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
