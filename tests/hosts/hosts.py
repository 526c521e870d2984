"""The agent hosts, how each is configured, and what each puts before its model."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.reach.drivers import NODE

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MODULES = HERE / "node_modules"
RESULTS = HERE / "results"
SLOWEST = 300
"""Seconds that a host may take for all calls, on a machine with other work."""

Commands = Mapping[str, list[str]]
"""The command of each MCP server."""


class Host(NamedTuple):
    """An agent host."""

    name: str
    program: str
    """The file in `node_modules` that is there if the host is installed; it may have a pattern for the platform."""

    start: Callable[[Path, Commands, str], tuple[list[str], dict[str, str]]]
    """Configures the host in a home folder, and returns its command and what it needs in its environment."""

    checks_arguments: bool = False
    """Whether it compares arguments with the input schema, and does not make a call whose arguments break it."""

    @property
    def installed(self) -> bool:
        """Whether the package is there for this platform."""
        return any(MODULES.glob(self.program))


def write(path: Path, text: str) -> None:
    """Write a file into a new folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def codex(home: Path, servers: Commands, url: str) -> tuple[list[str], dict[str, str]]:
    """`codex exec`, with all servers required, since it would not wait for them otherwise."""
    lines = [
        'model = "scripted"',
        'model_provider = "scripted"',
        'approval_policy = "never"',
        "[model_providers.scripted]",
        'name = "scripted"',
        f'base_url = "{url}/v1"',
        'wire_api = "responses"',
        'env_key = "SCRIPTED_KEY"',
    ]
    for name, command in servers.items():
        lines += [
            f"[mcp_servers.{name}]",
            f"command = {json.dumps(command[0])}",
            f"args = {json.dumps(command[1:])}",
            'default_tools_approval_mode = "approve"',
            "required = true",
            f"startup_timeout_sec = {SLOWEST}",
        ]
    write(home / "config.toml", "\n".join(lines))
    command = [str(NODE), str(MODULES / "@openai/codex/bin/codex.js"), "exec", "--skip-git-repo-check"]
    return command, {"CODEX_HOME": str(home), "SCRIPTED_KEY": "none"}


def gemini(home: Path, servers: Commands, url: str) -> tuple[list[str], dict[str, str]]:
    """`gemini -p`, with a model named, since it would ask a model for the best one otherwise."""
    settings = {
        "mcpServers": {
            name: {"command": command[0], "args": command[1:], "trust": True} for name, command in servers.items()
        },
        "model": {"name": "gemini-2.5-flash"},
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "telemetry": {"enabled": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    write(home / ".gemini" / "settings.json", json.dumps(settings))
    command = [str(NODE), str(MODULES / "@google/gemini-cli/bundle/gemini.js"), "-p"]
    return command, {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url}


def opencode(home: Path, servers: Commands, url: str) -> tuple[list[str], dict[str, str]]:
    """`opencode run`, from the package of the platform: only an install script makes it a command of `opencode-ai`.

    The package for Linux on x64 is the only one that is locked.
    """
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"scripted": {"name": "scripted"}},
    }
    settings = {
        "model": "scripted/scripted",
        "provider": {"scripted": provider},
        "autoupdate": False,
        "share": "disabled",
        "mcp": {
            name: {"type": "local", "command": command, "timeout": SLOWEST * 1000} for name, command in servers.items()
        },
    }
    write(home / ".config" / "opencode" / "opencode.json", json.dumps(settings))
    (program,) = MODULES.glob(OPENCODE)
    return [str(program), "run"], {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}


OPENCODE = "opencode-*/bin/opencode"

HOSTS = (
    Host("Codex", "@openai/codex-*/vendor", codex),
    Host("Gemini CLI", "@google/gemini-cli/bundle/gemini.js", gemini, checks_arguments=True),
    Host("opencode", OPENCODE, opencode),
)


def python(*arguments: str) -> list[str]:
    """A command of an MCP server in Python, which imports this checkout. Hosts pass on little of their environment."""
    return ["/usr/bin/env", f"PYTHONPATH={ROOT}{os.pathsep}{ROOT / 'lint'}", sys.executable, *arguments]


def run(host: Host, folder: Path, servers: Commands, url: str) -> str:
    """Run a host with a prompt until it ends, and return what it printed.

    It gets a separate home and an empty working folder, and reaches nothing on the network but the model.
    """
    home, work = folder / "home", folder / "work"
    work.mkdir()
    command, environment = host.start(home, servers, url)
    nowhere = "http://127.0.0.1:9"
    environment |= {
        "HOME": str(home),
        "PATH": os.pathsep.join([str(NODE.parent), os.defpath]),
        "HTTP_PROXY": nowhere,
        "HTTPS_PROXY": nowhere,
        "NO_PROXY": "127.0.0.1",
    }
    process = subprocess.Popen(
        [*command, "Do what the script says."],
        cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        encoding="utf-8", start_new_session=True,
    )  # fmt: skip
    try:
        printed, _ = process.communicate(timeout=SLOWEST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # the launchers of hosts start the programs as children
        printed, _ = process.communicate()
        raise AssertionError(f"{host.name} did not end within {SLOWEST} s:\n{printed}") from None
    assert process.returncode == 0, f"{host.name} ended with status {process.returncode}:\n{printed}"
    return printed


def values(value: object, *, beside: str = "") -> Iterator[Any]:
    """`value` and all values in it, also those of the JSON in its strings, since hosts nest both; not those of the text `beside`."""
    yield value
    children: Iterable[Any] = ()
    if isinstance(value, str):
        children = documents(value.replace(beside, ""))
    elif isinstance(value, dict | list):
        children = value.values() if isinstance(value, dict) else value
    for child in children:
        yield from values(child, beside=beside)


def documents(text: str) -> Iterator[Any]:
    """The JSON objects and lists in `text`."""
    end = 0
    for match in re.finditer(r"[{\[]", text):
        if match.start() >= end:
            with suppress(ValueError):
                document, end = json.JSONDecoder().raw_decode(text, match.start())
                yield document


def texts(shown: str) -> list[str]:
    """`shown`, and all strings in the JSON in it."""
    return [value for value in values(shown) if isinstance(value, str)]
