"""Which releases of mcpcore and of the MCP SDK a project asks for, by the files that list its dependencies."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from mcpcore_lint.paths import is_below, upwards
from mcpcore_lint.patterns import regex

PYPROJECT: Final = "pyproject.toml"
LISTS: Final = ("requirements.txt", "setup.cfg", "setup.py")
"""Files that are searched for requirements line by line."""

_NAME: Final = regex(r"\s*(mcpcore|fastmcp|mcp)\b(?![-_.])(?:\[[^\]]*\])?([^;#\"']*)", re.IGNORECASE)
_LISTED: Final = regex(
    r"^[^#\n]*?(?:^|[\"'])[ \t]*((?:mcpcore|fastmcp|mcp)\b(?![-_.])[^\n\"'#]*)", re.MULTILINE | re.IGNORECASE
)
_DISTRIBUTION: Final = regex(r"\s*([A-Za-z0-9][\w.-]*)(?![\w.+:/-])(?![^#]*;)")
"""The name in a requirement without a condition, such as `; extra == "web"`, that is not an address."""
_IMPORTED_AS: Final = {
    "beautifulsoup4": "bs4",
    "googleapipythonclient": "googleapiclient",
    "opencvpython": "cv2",
    "pillow": "pil",
    "psycopg2binary": "psycopg2",
    "scikitlearn": "sklearn",
}
"""Distributions whose packages have quite another name."""
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


def nearest(folder: str, root: str, exists: Callable[[str, str], bool]) -> tuple[Requirements, list[str], list[str]]:
    """The requirements of the nearest project round a folder, up to the folder of the run.

    Also the files that list them, and the files that would have decided instead and are not there.

    Args:
        folder: The folder of a file.
        root: The topmost folder to look at.
        exists: Whether a folder holds a name.
    """
    files: list[str] = []
    absent: list[str] = []
    requirements = Requirements()
    for place in upwards(folder):
        texts: dict[str, str] = {}
        for name in (PYPROJECT, *LISTS):
            path = os.path.join(place, name)
            if exists(place, name):
                files.append(path)
                texts[name] = _text(path)
            else:
                absent.append(path)
        requirements = _of_files(texts)
        if requirements.declared or not is_below(place, root):
            break
    return requirements, files, absent


def _of_files(texts: Mapping[str, str]) -> Requirements:
    """The requirements in the files of one folder together."""
    lists = [_of_pyproject(text) if name == PYPROJECT else _of_list(text) for name, text in texts.items()]
    names: set[str] = set()
    versions: set[int] = set()
    for match in filter(None, (_NAME.match(requirement) for entries in lists for requirement in entries or ())):
        names.add(match[1].lower())
        if match[1].lower() == "mcp" and (version := major_of(match[2])) is not None:
            versions.add(version)
    sdk = versions.pop() if len(versions) == 1 else None
    return Requirements(any(entries is not None for entries in lists), "mcpcore" in names, sdk, "fastmcp" in names)


def packages_required(files: Sequence[str]) -> frozenset[str]:
    """The packages that every installation of a project has, by the names of the distributions that it requires.

    Args:
        files: The files that list its requirements, as `nearest` gives them.
    """
    lists = {os.path.basename(path): path for path in files}
    listed = _of_pyproject(_text(lists[PYPROJECT])) if PYPROJECT in lists else None
    # What a pyproject.toml does not list may be there for developers.
    required = listed or (_text(lists[LISTS[0]]).splitlines() if LISTS[0] in lists else ())
    return frozenset(package for requirement in required for package in _packages_of(requirement))


def _packages_of(requirement: str) -> set[str]:
    """The names under which a distribution may be imported: `dotenv` of `python-dotenv`, `yaml` of `PyYAML`."""
    match = _DISTRIBUTION.match(requirement)
    name = package_name(match[1]) if match is not None else ""
    shorter = {name.removeprefix("python"), name.removesuffix("python"), name.removeprefix("py")}
    return {name, *shorter, _IMPORTED_AS.get(name, name)} - {""}


def package_name(name: str) -> str:
    """A name in the form in which names of distributions and of packages are compared."""
    return re.sub(r"[-_.]", "", name).lower()


def _of_list(text: str) -> list[str]:
    return [match[1] for match in _LISTED.finditer(text)]


def _of_pyproject(text: str) -> list[str] | None:
    """The requirements in a `pyproject.toml`, without those of developers; None if it has no project.

    Without a project in it, the file only configures tools, and the next one above decides.
    """
    if "[project]" not in text and "[tool.poetry" not in text:
        return None
    # Parsing is slow, and a file without the word lists none of the frameworks.
    if "mcp" not in text.lower():
        return []
    import tomllib

    try:
        return list(_requirements(tomllib.loads(text)))
    except (ValueError, RecursionError, AttributeError, TypeError):  # not TOML, or not of the standard's form
        return _of_list(text)


def _requirements(whole: dict[str, Any]) -> Iterator[str]:
    project = whole.get("project", {})
    # The project of mcpcore itself does not list what it is.
    if project.get("name") == "mcpcore":
        yield "mcpcore"
    yield from map(str, project.get("dependencies", ()))
    for name, version in whole.get("tool", {}).get("poetry", {}).get("dependencies", {}).items():
        condition = "; optional" if isinstance(version, dict) and version.get("optional") else ""
        yield f"{name} {version if isinstance(version, str) else version.get('version', '')}{condition}"


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def major_of(specifier: str) -> int | None:
    """The major version that every release of a specifier has; None where it leaves more than one.

    There was no release before 1 that a project could still ask for.
    """
    if specifier.lstrip().startswith("@"):
        return None
    for operator, major, rest in _CLAUSE.findall(specifier):
        number = int(major)
        if operator in {"", "==", "===", "~=", "^", "~"} or (operator in {">", ">="} and number >= 2):
            return number
        if (operator == "<" and number == 2 and not rest.strip(".0")) or (operator in {"<", "<="} and number <= 1):
            return 1
    return None
