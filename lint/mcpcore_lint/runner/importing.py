"""Imports files of a project and lists the tools of their servers; run by another interpreter, as a script.

Needs nothing but Python. The first argument is JSON: the folders that imports start from, and the path and the name of
each module. Writes JSON to standard output: for each path why its import failed, and where, and the number of tools.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import json
import os
import sys
import traceback
from typing import Any

_LOW_LEVEL = "mcp.server.lowlevel.server.Server"
_SERVERS = ("fastmcp.server.server.FastMCP", "mcp.server.mcpserver.server.MCPServer", _LOW_LEVEL)


def main() -> None:
    """Import the modules one after the other."""
    # What a module prints must not get into the answer.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    folders, modules = json.loads(sys.argv[1])
    sys.path[0:1] = folders
    failed = {path: problem for path, name in modules if (problem := _problem(path, name, dict(modules))) is not None}
    tools: set[str] = set()
    for module in [*sys.modules.values()]:
        if getattr(module, "__file__", None) in dict(modules):
            for value in [*vars(module).values()]:
                try:
                    servers = _servers(value, module.__name__)
                except BaseException:  # noqa: BLE001, S112 - it may need settings that are not there
                    continue
                for server in servers:
                    try:
                        tools.update(asyncio.run(_tools(server, is_low_level=_LOW_LEVEL in _kinds(type(server)))))
                    except Exception as error:  # noqa: BLE001 - the server of another project may raise anything
                        failed[str(module.__file__)] = _told(error, "tools/list: ")
    json.dump({"failed": failed, "tools": len(tools)}, answer)
    answer.flush()
    os._exit(0)  # threads of the project may go on


def _servers(value: object, module: str) -> list[object]:
    """A server of a module, that which one of its functions makes, or those that one of its objects holds."""
    made = value() if callable(value) and _makes_server(value, module) else value
    own = type(made).__module__ == module and hasattr(made, "__dict__")
    objects = [made, *vars(made).values()] if own else [made]
    return [server for server in objects if not _kinds(type(server)).isdisjoint(_SERVERS)]


async def _tools(server: Any, *, is_low_level: bool) -> list[str]:
    """The names of the tools of a server; of a low-level one, those that a client in memory reads."""
    if not is_low_level:
        return [tool.name for tool in await server.list_tools()]
    if not hasattr(server, "get_request_handler") or server.get_request_handler("tools/list") is None:
        return []
    lifespan = importlib.import_module("mcp.server.lowlevel.server").lifespan
    own, server.lifespan = server.lifespan, lifespan  # it may connect to something
    try:
        async with importlib.import_module("mcp").Client(server) as client:
            return [tool.name for tool in (await client.list_tools()).tools]
    except Exception:
        if own is lifespan:
            raise
        return []


def _makes_server(value: object, module: str) -> bool:
    """Whether it is a function of the module that needs no argument and says that it returns a server."""
    if not inspect.isfunction(value) or value.__module__ != module or inspect.iscoroutinefunction(value):
        return False
    parameters = inspect.signature(value).parameters.values()
    optional = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    needed = [part for part in parameters if part.default is part.empty and part.kind not in optional]
    said = value.__annotations__.get("return")
    if isinstance(said, str):
        first, *names = said.strip("'\"").partition("[")[0].split(".")
        said = functools.reduce(lambda part, name: getattr(part, name, None), names, value.__globals__.get(first))
    # Other classes of the same name may be servers that somebody pays for.
    kind = getattr(said, "__origin__", said)
    return not needed and isinstance(kind, type) and not _kinds(kind).isdisjoint(_SERVERS)


def _kinds(kind: type) -> set[str]:
    return {f"{part.__module__}.{part.__qualname__}" for part in kind.__mro__}


def _problem(path: str, name: str, modules: dict[str, str]) -> dict[str, Any] | None:
    try:
        importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001 - a module may exit
        if isinstance(error, SystemExit) and name.endswith("__main__"):
            return None  # a program that ran, and did not like its arguments
        told = _told(error)
        frames = traceback.extract_tb(error.__traceback__)
        told["at"] = next((frame.filename for frame in reversed(frames) if frame.filename in modules), path)
        told["at"] = error.filename if isinstance(error, SyntaxError) and error.filename in modules else told["at"]
        return told
    return None


def _told(error: BaseException, before: str = "") -> dict[str, Any]:
    while hasattr(error, "exceptions"):  # a group, which Python 3.10 does not know
        error = error.exceptions[0]
    text = " ".join(str(error).split())[:200]
    if isinstance(error, SyntaxError):
        text += f", with Python {sys.version_info[0]}.{sys.version_info[1]}"
    return {"why": f"{before}{type(error).__name__}: {text}", "missing": getattr(error, "name", None), "at": ""}


if __name__ == "__main__":
    main()
