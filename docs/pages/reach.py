"""The page about the texts that reach the model, from what the reach tests recorded and the locks name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pages.markdown import table

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "reach" / "recorded.json"
DEV, ADAPTERS, NPM = "requirements/dev.lock", "requirements/adapters.lock", "tests/reach/package.json"

# Client: its package, the file that pins it, and how it comes by the text.
CLIENTS = {
    "Python SDK 2 (2026-07-28)": ("mcp", DEV, "text blocks of the result"),
    "Python SDK 2 (handshake)": ("mcp", DEV, "text blocks of the result"),
    "Python SDK 1": ("mcp", ADAPTERS, "text blocks of the result"),
    "FastMCP client": ("fastmcp", DEV, "text of the exception that it raises"),
    "Pydantic AI": ("pydantic-ai-slim", DEV, "retry prompt with the structured content"),
    "Pydantic AI (PolicyToolset)": ("pydantic-ai-slim", DEV, "retry prompt or failed tool result, with the text"),
    "OpenAI Agents SDK": ("openai-agents", DEV, "output of the function call"),
    "LangChain (langchain.mcp)": ("langchain", DEV, "tool message"),
    "LangChain (langchain-mcp-adapters)": ("langchain-mcp-adapters", ADAPTERS, "tool message"),
    "TypeScript SDK 1": ("@modelcontextprotocol/sdk", NPM, "text blocks of the result"),
    "TypeScript SDK 2 (2026-07-28)": ("@modelcontextprotocol/client", NPM, "text blocks of the result"),
    "TypeScript SDK 2 (handshake)": ("@modelcontextprotocol/client", NPM, "text blocks of the result"),
    "Inspector (command line)": ("@modelcontextprotocol/inspector", NPM, "what it prints"),
}
CASES = {
    "declared": "a declared failure",
    "retryable": "a retryable one",
    "arguments": "arguments that do not fit",
    "crash": "a crash",
    "unknown": "an unknown tool",
}
SECTIONS = {
    "mcpcore": (
        "mcpcore",
        "A `Server`; a FastMCP server with `ContractMiddleware` gives every client the same texts.",
    ),
    "tool-error": (
        "The SDK alone",
        "The same tool on an `MCPServer`. Its author raises `ToolError` with the same sentence.",
    ),
    "fastmcp": (
        "FastMCP alone",
        "The same tool on a `FastMCP` server, with FastMCP's `ToolError` and its default options. The option "
        "`mask_error_details=True` hides the text of a crash.",
    ),
}
INTRODUCTION = """\
# What reaches the model

A failure helps an agent only as far as its model reads it. Some clients pass on the text of a result, some its structured
content, and some only a part of either. `tests/reach/` calls the same tool in five ways through {clients} clients, with a scripted
model where a framework wants one, and records the text that reaches the model. `make test` compares the record with what
the clients do.

- **A declared failure**: too few articles are left. The model can ask for fewer.
- **A retryable one**: the depot does not answer for 30 seconds, and a part of the reservation was made.
- **Arguments that do not fit**: a word where a number belongs. The handler does not run.
- **A crash**: an exception that no entry declares, with a password in its text. It has no declared reason and recovery, but an id
  that is also in the log.
- **An unknown tool**: a misspelt name. Frameworks answer it themselves and do not ask the server.

"""


def page() -> str:
    """The page."""
    note = "Generated from `tests/reach/recorded.json` by `docs/generate.py`; `python -m tests.reach.drivers` records again."
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    clients = {client for entry in recorded["mcpcore"]["declared"] for client in entry["clients"]}
    assert clients == CLIENTS.keys(), clients ^ CLIENTS.keys()
    parts = [INTRODUCTION.format(clients=len(CLIENTS)) + note, "", "## The clients", ""]
    rows: list[list[object]] = [
        [client, f"`{name}` {version(name, lock)}", way] for client, (name, lock, way) in CLIENTS.items()
    ]
    parts += [table(["client", "package", "what the model gets"], rows), ""]
    parts += [
        "`langchain-mcp-adapters` requires the Python SDK 1 (`mcp<2`), so it cannot be installed next to mcpcore. The tests run it "
        "in a separate environment, against the same servers. All other clients in Python share one environment "
        "with mcpcore.",
        "",
    ]
    for server, (title, what) in SECTIONS.items():
        parts += [f"## {title}", "", what, "", arrivals(recorded[server]), ""]
    parts += ["## The texts", "", "Ids and times are replaced.", ""]
    for server, (title, _) in SECTIONS.items():
        parts += [f"### {title}: the texts", ""]
        for case, name in CASES.items():
            for entry in recorded[server][case]:
                parts += [f"For {name}, {readers(entry['clients'])}:", "", "```text", entry["text"], "```", ""]
    return "\n".join(parts)


def readers(clients: list[str]) -> str:
    """The clients that show a text; most clients show the same one."""
    if len(clients) == len(CLIENTS):
        return "all clients"
    return "most clients" if len(clients) >= len(CLIENTS) / 2 else " and ".join(clients)


def arrivals(cases: dict[str, list[dict[str, Any]]]) -> str:
    """A row for each client: which parts of the failure are in the text."""
    rows: list[list[object]] = []
    for client in CLIENTS:
        entries = [next(entry for entry in cases[case] if client in entry["clients"]) for case in CASES]
        rows.append([client, *(", ".join(map(shown, entry["arrives"])) or "nothing" for entry in entries)])
    return table(["client", *CASES.values()], rows)


def shown(part: str) -> str:
    """A part of the failure, in bold where it should not be there."""
    return f"**{part}**" if part.startswith("the ") else part


def version(package: str, lock: str) -> str:
    """The version of a package that a lock pins."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    pattern = rf'"{package}": "([^"]+)"' if lock.endswith(".json") else rf"^{package}==(\S+)"
    match = re.search(pattern, text, re.MULTILINE)
    assert match, f"{lock} does not pin {package}"
    return match[1]
