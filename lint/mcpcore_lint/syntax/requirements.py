"""Which releases of mcpcore and of the MCP SDK a project asks for, by the files that list its dependencies."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpcore_lint.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

PYPROJECT: Final = "pyproject.toml"
LISTS: Final = ("requirements.txt", "setup.cfg", "setup.py")
"""Files that are searched for requirements line by line."""
LOCKS: Final = ("uv.lock", "poetry.lock")

_NAME: Final = regex(r"\s*(mcpcore|fastmcp|mcp)\b(?![-_.])(?:\[[^\]]*\])?([^;#\"']*)", re.IGNORECASE)
_LISTED: Final = regex(
    r"^[^#\n]*?(?:^|[\"'])[ \t]*((?:mcpcore|fastmcp|mcp)\b(?![-_.])[^\n\"'#]*)", re.MULTILINE | re.IGNORECASE
)
_LOCKED: Final = regex(r"^name = \"mcp\"\r?\nversion = \"(\d+)\.", re.MULTILINE)
_CLAUSE: Final = regex(r"(===?|~=|>=|<=|!=|[<>^~])?\s*v?(\d+)((?:\.\d+)*)")


class Requirements(NamedTuple):
    """What the nearest project of a file depends on."""

    declared: bool = False
    """Whether some file lists the dependencies of the project at all."""
    mcpcore: bool = False
    """Whether the project itself depends on mcpcore; a tool that only its developers run does not count."""
    sdk: int | None = None
    """The major version of the SDK; None where none is listed, or more than one will do."""
    fastmcp: bool = False
    """Whether FastMCP is listed; it requires the SDK too."""


class Nearest(NamedTuple):
    """The requirements that hold for a folder, and the files that the answer rests on."""

    requirements: Requirements
    files: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    """Files that would have decided instead, and are not there."""


def nearest(folder: str, root: str, exists: Callable[[str, str], bool]) -> Nearest:
    """The requirements of the nearest project round a folder, up to the folder of the run.

    Args:
        folder: The folder of a file.
        root: The topmost folder to look at.
        exists: Whether a folder holds a name.
    """
    files: list[str] = []
    absent: list[str] = []

    def present(place: str, names: Iterable[str]) -> list[str]:
        paths = {name: os.path.join(place, name) for name in names}
        found = [path for name, path in paths.items() if exists(place, name)]
        files.extend(found)
        absent.extend(path for path in paths.values() if path not in found)
        return found

    requirements = Requirements()
    for place in _up(folder, root):
        requirements = _of_files(present(place, (PYPROJECT, *LISTS)))
        if requirements.declared:
            if requirements.sdk is None and not requirements.fastmcp:
                locks = [path for at in dict.fromkeys((place, root)) for path in present(at, LOCKS)]
                requirements = requirements._replace(sdk=_locked(locks))
            break
    return Nearest(requirements, tuple(files), tuple(absent))


def _up(folder: str, root: str) -> Iterator[str]:
    """A folder and those round it, up to the topmost one; the folder alone if it lies elsewhere."""
    yield folder
    while folder != root and folder.startswith(os.path.join(root, "")):
        folder = os.path.dirname(folder)
        yield folder


def _locked(paths: Iterable[str]) -> int | None:
    """The major version of the SDK that the first lock file with one has."""
    matches = (_LOCKED.search(_text(path)) for path in paths)
    return next((int(match[1]) for match in matches if match is not None), None)


def _of_files(paths: Iterable[str]) -> Requirements:
    """The requirements in the files of one folder together."""
    declared = mcpcore = fastmcp = False
    versions: set[int | None] = set()
    for path in paths:
        text = _text(path)
        own = _of_pyproject(text) if path.endswith(PYPROJECT) else _of_list(text)
        if own is None:
            continue
        declared = True
        for requirement, of_the_project in own:
            match = _NAME.match(requirement)
            if match is None:
                continue
            if match[1].lower() == "mcpcore":
                mcpcore = mcpcore or of_the_project
            elif match[1].lower() == "fastmcp":
                fastmcp = True
            else:
                versions.add(major_of(match[2]))
    known = versions - {None}
    return Requirements(declared, mcpcore, known.pop() if len(known) == 1 else None, fastmcp)


def _of_list(text: str) -> list[tuple[str, bool]]:
    return [(match[1], True) for match in _LISTED.finditer(text)]


def _of_pyproject(text: str) -> list[tuple[str, bool]] | None:
    """The requirements in a `pyproject.toml`, each with whether the project itself needs it; None if it has none.

    Without a project in it, the file only configures tools, and the next one above decides.
    """
    if "[project]" not in text and "[tool.poetry" not in text:
        return None
    if "mcp" not in text.lower():
        return []
    import tomllib

    try:
        whole = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return _of_list(text)
    return list(_requirements(whole))


def _requirements(whole: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    project = _table(whole.get("project"))
    if project.get("name") == "mcpcore":
        yield "mcpcore", True
    for requirement in _strings(project.get("dependencies")):
        yield requirement, True
    for group in (project.get("optional-dependencies"), whole.get("dependency-groups")):
        for requirements in _table(group).values():
            for requirement in _strings(requirements):
                yield requirement, False
    poetry = _table(_table(whole.get("tool")).get("poetry"))
    for name, version in _table(poetry.get("dependencies")).items():
        text = version if isinstance(version, str) else _table(version).get("version")
        yield f"{name} {text if isinstance(text, str) else ''}", True


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def major_of(specifier: str) -> int | None:
    """The major version that every release of a specifier has; None where it leaves more than one."""
    if specifier.lstrip().startswith("@"):
        return None
    lowest: int | None = None
    highest: int | None = None
    for operator, major, rest in _CLAUSE.findall(specifier):
        number = int(major)
        if operator in {"", "==", "===", "~=", "^", "~"}:
            return number
        if operator in {">", ">="}:
            lowest = number
        elif operator == "<=":
            highest = number
        elif operator == "<":
            highest = number if rest.strip(".0") else number - 1
    if lowest is not None and lowest >= 2:
        return lowest
    # There was no release before 1 that anybody still asks for.
    return highest if highest is not None and highest <= 1 else None
