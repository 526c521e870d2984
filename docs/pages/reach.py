"""The page about the texts that reach the model, from what the reach tests recorded and the locks name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pages import hosts
from pages.markdown import table
from pages.versions import pinned

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
OWN = [case for case in CASES if case != "unknown"]
"""Failures that the server answers; for unknown tools, frameworks have their own texts."""
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

Your failure helps an agent only if its model reads it. Some hosts show the text of a result, some its structured content, and
some both, so mcpcore writes the failure into both. This page shows what arrives, in real hosts and clients.

## In agent hosts

"""
LIBRARIES = """\
## In client libraries

The same tool fails in four ways; the last is a crash with a password in its text. In {clients} clients, from the Python SDK to LangChain and the
Inspector, these parts reach the model:

"""
TEXTS = """
FastMCP's option `mask_error_details=True` hides the text of a crash.

For the declared failure, most models read one of these texts, depending on the server.
"""
END = """\
A model that makes the same call again and again reads an extra paragraph from the third time on: see
[identical calls](../reference/wire.md#identical-calls). [What each client shows](../reference/client-texts.md) has every text of
every client, and the output schemas clients accept.
"""
REFERENCE = """\
# What each client shows

The details behind [What reaches the model](../explanation/what-reaches-the-model.md), from `tests/hosts/results`, which `make hosts`
writes, and `tests/reach/recorded.json`, which `python -m tests.reach.drivers` writes. `make test` compares the record with what the
clients do.
"""


def page() -> str:
    """The page: what arrives, in hosts and in clients."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    clients = {client for entry in recorded["mcpcore"]["declared"] for client in entry["clients"]}
    assert clients == CLIENTS.keys(), clients ^ CLIENTS.keys()
    rows: list[list[object]] = [[title, *arrivals(recorded[server])] for server, (title, _) in SECTIONS.items()]
    parts = [INTRODUCTION + "\n".join(hosts.hosts()), LIBRARIES.format(clients=len(CLIENTS))]
    parts += [table(["server", *(CASES[case] for case in OWN)], rows), TEXTS]
    for server, (title, _) in SECTIONS.items():
        entry = max(recorded[server]["declared"], key=lambda entry: len(entry["clients"]))
        parts += [f"{title}:", "", "```text", entry["text"], "```", ""]
    return "\n".join([*parts, END])


def texts() -> str:
    """The reference: every text of every client, and the output schemas that clients accept."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    parts = [REFERENCE, "## Agent hosts", "", *hosts.details(), "## Client libraries", ""]
    packages: list[list[object]] = [[client, pinned(name, lock), way] for client, (name, lock, way) in CLIENTS.items()]
    parts += [table(["client", "package", "what the model gets"], packages), ""]
    parts += [
        "`langchain-mcp-adapters` requires the Python SDK 1 (`mcp<2`), so it cannot be installed next to mcpcore. The tests run it "
        "in a separate environment, against the same servers. All other clients in Python share one environment "
        "with mcpcore. Ids and times are replaced below.",
        "",
    ]
    for server, (title, what) in SECTIONS.items():
        parts += [f"### {title}", "", what, ""]
        for case, name in CASES.items():
            for entry in recorded[server][case]:
                parts += [f"For {name}, {readers(entry['clients'])}:", "", "```text", entry["text"], "```", ""]
    return "\n".join([*parts, "## Output schemas", "", *hosts.output_schemas()])


def readers(clients: list[str]) -> str:
    """The clients that show a text; most clients show the same one."""
    if len(clients) == len(CLIENTS):
        return "all clients"
    return "most clients" if len(clients) >= len(CLIENTS) / 2 else " and ".join(clients)


def arrivals(cases: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Which parts of each failure of a server's own are in the text, which is the same for all clients."""
    parts = [{", ".join(map(shown, entry["arrives"])) for entry in cases[case]} for case in OWN]
    assert all(len(texts) == 1 for texts in parts), parts
    return [texts.pop() for texts in parts]


def shown(part: str) -> str:
    """A part of the failure, in bold where it should not be there."""
    return f"**{part}**" if part.startswith("the ") else part
