"""Looks up what files import from the frameworks in the environment of a project; run by its interpreter, as a script.

Needs nothing but Python. The argument is JSON: the paths of files. Writes JSON to standard output: the imports that the
installed releases do not have, as path, line, module and name, and the packages that ask for earlier releases.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import sys
from importlib import metadata
from typing import Final

_LEAST: Final = {"mcp": 2, "fastmcp": 4}
"""The major releases that the written code needs."""
_CAPPED: Final = re.compile(r"(mcp|fastmcp)(?![\w.-])(?:\[[^\]]*\])?\s*\(?[^;<]*<(=?)\s*(\d+)([.\d]*)")
_BRINGS: Final = {"mcp": "mcp", "fastmcp-slim": "fastmcp"}
"""The packages that have the requirements of the frameworks."""
_NEEDED: Final = re.compile(r"(?!mcp\b)([\w.-]+)[^;]*?>=([\d.]*\d)(?:,[^;]*)?(?:; extra == '(?:server|client)')?$")


def main() -> None:
    """Look up the imports of the files."""
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    installed = {name for name, least in _LEAST.items() if _major(name) >= least}
    imports = [
        entry for path in json.loads(sys.argv[1]) for entry in _imports(path) if entry[2].split(".")[0] in installed
    ]
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
        if (name := str(dist.metadata["Name"])) in _BRINGS and _BRINGS[name] in installed
        for wanted in dist.requires or ()
        if (need := _NEEDED.match(wanted)) is not None
    ]
    json.dump({"missing": missing, "asking": asking if installed else [], "needs": needs}, answer)
    answer.flush()
    os._exit(0)


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


if __name__ == "__main__":
    main()
