"""Looks into files of a project and its environment; run by the interpreter of the project, as a script.

Needs nothing but Python. The argument is JSON: the task, and its own arguments. Writes JSON to standard output.
"""

from __future__ import annotations

import ast
import asyncio
import functools
import importlib
import inspect
import json
import os
import re
import sys
import tempfile
import traceback
from importlib import metadata
from typing import Any, Final

_LOW_LEVEL = "mcp.server.lowlevel.server.Server"
_SERVERS = ("fastmcp.server.server.FastMCP", "mcp.server.mcpserver.server.MCPServer", _LOW_LEVEL)


def main() -> None:
    """Do what the argument asks for."""
    # What a module prints must not get into the answer.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    task, *arguments = json.loads(sys.argv[1])
    json.dump(_TASKS[task](*arguments), answer)
    answer.flush()
    os._exit(0)  # threads of the project may go on


# -- importing files, and listing the tools of their servers -----------------------------------------------------------


def _imported(folders: list[str], modules: list[tuple[str, str]]) -> dict[str, Any]:
    """For each path why its import failed, and where, and the number of tools.

    Args:
        folders: Where imports start from.
        modules: The path and the name of each module, which are imported one after the other.
    """
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
                        failed[str(module.__file__)] = _described(error, "tools/list: ")
    return {"failed": failed, "tools": len(tools)}


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
    annotation = value.__annotations__.get("return")
    if isinstance(annotation, str):
        first, *names = annotation.strip("'\"").partition("[")[0].split(".")
        annotation = functools.reduce(lambda part, name: getattr(part, name, None), names, value.__globals__.get(first))
    # Other classes of the same name may be servers that somebody pays for.
    kind = getattr(annotation, "__origin__", annotation)
    return not needed and isinstance(kind, type) and not _kinds(kind).isdisjoint(_SERVERS)


def _kinds(kind: type) -> set[str]:
    return {f"{part.__module__}.{part.__qualname__}" for part in kind.__mro__}


def _problem(path: str, name: str, modules: dict[str, str]) -> dict[str, Any] | None:
    try:
        importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001 - a module may exit
        if isinstance(error, SystemExit) and name.endswith("__main__"):
            return None  # a program that ran, and did not like its arguments
        problem = _described(error)
        frames = traceback.extract_tb(error.__traceback__)
        problem["at"] = next((frame.filename for frame in reversed(frames) if frame.filename in modules), path)
        problem["at"] = (
            error.filename if isinstance(error, SyntaxError) and error.filename in modules else problem["at"]
        )
        return problem
    return None


def _described(error: BaseException, before: str = "") -> dict[str, Any]:
    while members := getattr(error, "exceptions", None):  # a group, which Python 3.10 does not know
        error = members[0]
    text = " ".join(str(error).split())[:200]
    if isinstance(error, SyntaxError):
        text += f", with Python {sys.version_info[0]}.{sys.version_info[1]}"
    return {"why": f"{before}{type(error).__name__}: {text}", "missing": getattr(error, "name", None), "at": ""}


# -- starting a server ------------------------------------------------------------------------------------------------

_SAID: Final = re.compile(r"[\w.]*(?:Error|Exception|Exit)\b: |[\w.-]+: error: ")
"""The last line of a traceback, or what a program says of its arguments."""
_PATIENCE: Final = 20
"""How many seconds a server may take to list its tools."""
_TAIL: Final = 50_000
"""How many bytes of its log are looked at."""


def _started(arguments: list[str], folders: list[str]) -> dict[str, Any]:
    """The number of tools that a client of a program reads over stdio, or the last text of the program."""
    stdio = importlib.import_module("mcp.client.stdio")
    path = [*folders, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    program = stdio.StdioServerParameters(command=sys.executable, args=["-B", *arguments], env=environment)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        try:
            tools = asyncio.run(asyncio.wait_for(_listed(stdio.stdio_client(program, errors)), _PATIENCE))
        except BaseException as error:  # noqa: BLE001 - the server of another project may raise anything
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - _TAIL))
            texts = [line.strip() for line in errors if line.strip()]
            why = ([text for text in texts if _SAID.match(text)] or texts or [_described(error)["why"]])[-1][:200]
            late = isinstance(error, (TimeoutError, asyncio.TimeoutError))  # two classes in Python 3.10
            return {"why": f"no answer in {_PATIENCE} seconds{f'; {why}' * bool(texts)}" if late else why}
    return {"tools": tools, "why": ""}


async def _listed(transport: Any) -> int:
    async with importlib.import_module("mcp").Client(transport) as client:
        return len((await client.list_tools()).tools)


# -- looking up what files import from the frameworks ------------------------------------------------------------------

_LEAST: Final = {"mcp": 2, "fastmcp": 4}
"""The major releases that the written code needs."""
_CAPPED: Final = re.compile(r"(mcp|fastmcp)(?![\w.-])(?:\[[^\]]*\])?\s*\(?[^;<]*<(=?)\s*(\d+)([.\d]*)")
_BRINGS: Final = {"mcp": "mcp", "fastmcp-slim": "fastmcp", "mcpcore": "mcpcore"}
"""The packages that have the requirements of the frameworks, and mcpcore."""
_NEEDED: Final = re.compile(r"(?!mcp\b)([\w.-]+)[^;]*?>=([\d.]*\d)(?:,[^;]*)?(?:; extra == '(?:server|client)')?$")


def _looked_up(*paths: str) -> dict[str, Any]:
    """The imports of files that the installed releases do not have, as path, line, module and name.

    And the packages that ask for earlier releases, and what the releases need.
    """
    installed = {name for name, least in _LEAST.items() if _major(name) >= least}
    imports = [entry for path in paths for entry in _imports(path) if entry[2].split(".")[0] in installed]
    missing = [entry for entry in imports if not _has(entry[2], entry[3])]
    asking = [
        (str(dist.metadata["Name"]), wanted.partition(";")[0].strip())
        for dist in metadata.distributions()
        for wanted in dist.requires or ()
        if (cap := _CAPPED.match(wanted)) is not None
        and "extra ==" not in wanted
        and int(cap[3]) + bool(cap[2] or cap[4].strip(".0")) <= _LEAST[cap[1]]
    ]
    needs = [
        (_BRINGS[name], need[1], need[2])
        for dist in metadata.distributions()
        if (name := str(dist.metadata["Name"])) in _BRINGS and _BRINGS[name] in {*installed, "mcpcore"}
        for wanted in dist.requires or ()
        if (need := _NEEDED.match(wanted)) is not None
    ]
    return {"missing": missing, "asking": asking if installed else [], "needs": needs}


def _major(name: str) -> int:
    try:
        return int(metadata.version(name).partition(".")[0])
    except (metadata.PackageNotFoundError, ValueError):
        return 0


def _imports(path: str) -> list[tuple[str, int, str, str]]:
    """The names that a file imports, without those in a `try`, which it can do without."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return []
    tries = [part for part in ast.walk(tree) if isinstance(part, ast.Try) and part.handlers]
    guarded = {inner for part in tries for inner in ast.walk(part)}
    return [
        (path, node.lineno, node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level and node not in guarded
        for alias in node.names
        if alias.name != "*"
    ]


def _has(module: str, name: str) -> bool:
    """Whether an installed module has a name, or cannot be imported for another reason, such as a missing extra."""
    try:
        if hasattr(importlib.import_module(module), name):
            return True
        importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError as error:
        return not f"{module}.{name}".startswith(str(error.name)) or str(error.name).partition(".")[0] == error.name
    except BaseException:  # noqa: BLE001 - an optional part may raise anything
        return True
    return True


_TASKS: Final[dict[str, Any]] = {"import": _imported, "look up": _looked_up, "start": _started}

if __name__ == "__main__":
    main()
