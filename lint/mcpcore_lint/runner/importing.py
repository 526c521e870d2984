"""Imports files of a project and lists the tools of their servers; run by another interpreter, as a script.

Needs nothing but Python. The first argument is JSON: the folders that imports start from, and the path and the name of
each module. Writes JSON to standard output: for each path why its import failed, and where, and the number of tools.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import traceback
from typing import Any

_SERVERS = ("fastmcp.server.server.FastMCP", "mcp.server.mcpserver.server.MCPServer")


def main() -> None:
    """Import the modules one after the other."""
    # What a module prints must not get into the answer.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    folders, modules = json.loads(sys.argv[1])
    sys.path[0:1] = folders
    failed = {path: problem for path, name in modules if (problem := _problem(path, name, dict(modules))) is not None}
    tools: set[str] = set()
    for module in [*sys.modules.values()] if not failed else []:
        if getattr(module, "__file__", None) in dict(modules):
            for value in [*vars(module).values()]:
                if any(f"{kind.__module__}.{kind.__qualname__}" in _SERVERS for kind in type(value).__mro__):
                    try:
                        tools.update(tool.name for tool in asyncio.run(value.list_tools()))
                    except Exception as error:  # noqa: BLE001 - the server of another project may raise anything
                        failed[str(module.__file__)] = _told(error, "tools/list: ")
    json.dump({"failed": failed, "tools": len(tools)}, answer)
    answer.flush()
    os._exit(0)  # threads of the project may go on


def _problem(path: str, name: str, modules: dict[str, str]) -> dict[str, Any] | None:
    try:
        importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001 - a module may exit
        told = _told(error)
        frames = traceback.extract_tb(error.__traceback__)
        told["at"] = next((frame.filename for frame in reversed(frames) if frame.filename in modules), path)
        told["at"] = error.filename if isinstance(error, SyntaxError) and error.filename in modules else told["at"]
        return told
    return None


def _told(error: BaseException, before: str = "") -> dict[str, Any]:
    text = " ".join(str(error).split())[:200]
    return {"why": f"{before}{type(error).__name__}: {text}", "missing": getattr(error, "name", None), "at": ""}


if __name__ == "__main__":
    main()
