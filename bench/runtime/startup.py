"""What starting costs: the imports, and the commands that need no server."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from statistics import median
from typing import Any

_TIMED = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"
_SDK = "import mcp.server.mcpserver"
_IMPORTS = {
    "import mcpcore": "import mcpcore",
    "import mcp.server.mcpserver": _SDK,
    "from mcpcore import Server, tool": "from mcpcore import Server, tool",
}
_COMMANDS = {"mcpcore --version": ["--version"], "mcpcore --help": ["--help"]}
ROUNDS = 15


def _python(*arguments: str) -> str:
    # With bytecode, as an installed package has it.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True, env=environment)
    return done.stdout


def measure() -> dict[str, Any]:
    """Medians over interleaved rounds, in milliseconds."""
    took: dict[str, list[float]] = {name: [] for name in (*_IMPORTS, "beyond the SDK", *_COMMANDS)}
    for statement in _IMPORTS.values():
        _python("-c", statement)
    for _ in range(ROUNDS):
        for name, statement in _IMPORTS.items():
            took[name].append(float(_python("-c", _TIMED.format(statement))) * 1_000)
        # In one process, so that nothing but this package is in the difference.
        code = f"{_SDK}; " + _TIMED.format("from mcpcore import Server, tool")
        took["beyond the SDK"].append(float(_python("-c", code)) * 1_000)
        for name, arguments in _COMMANDS.items():
            begun = time.perf_counter()
            _python("-m", "mcpcore", *arguments)
            took[name].append((time.perf_counter() - begun) * 1_000)
    loaded = _python(
        "-c",
        "import sys; sys.argv = ['mcpcore', '--help']\n"
        "try:\n    from mcpcore.cli import main; main()\n"
        "except SystemExit:\n    pass\n"
        "print('SDK:', [name for name in sys.modules if name == 'mcp' or name.startswith('mcp.')])",
    )
    return {
        "milliseconds": {name: round(median(values), 1) for name, values in took.items()},
        "commands_load_the_sdk": "SDK: []" not in loaded,
    }
