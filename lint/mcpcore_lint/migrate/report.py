"""The report of what is left, also in the files that list dependencies."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final

from mcpcore_lint.migrate.model import Left

if TYPE_CHECKING:
    from collections.abc import Iterable

_LISTED: Final = re.compile(
    r"^[^#\n]*?(?:^|[\"'])[ \t]*(mcp|fastmcp)\b(?![-_.\w])(?:\[[^\]]*\])?([^\n\"'#;]*)", re.MULTILINE
)
_QUOTED: Final = re.compile(r"[\"'](mcp|fastmcp)\b(?![-_.\w])(?:\[[^\]\n]*\])?([^\n\"';]*)")
_KEY: Final = re.compile(r"^(mcp|fastmcp)\s*=\s*(?:\{[^\n]*?version\s*=\s*)?[\"']([^\"'\n]*)", re.MULTILINE)
_OLD: Final = {
    "mcp": re.compile(r"<\s*2|(?:==|~=|\^)\s*1\b"),
    "fastmcp": re.compile(r"<=?\s*[34]\b(?!\.[1-9])|(?:==|~=|\^)\s*[0-3]\b"),
}
_LOCKS: Final = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock")
_LEAST: Final = {"mcp": "2.3", "fastmcp": "4.0"}
FILES: Final = re.compile(
    r"pyproject\.toml|requirements[\w.-]*\.txt|setup\.cfg|setup\.py|Dockerfile[\w.-]*|Containerfile|[\w.-]+\.sh"
    rf"|{'|'.join(map(re.escape, _LOCKS))}"
)
"""The names of files that say what is installed."""
INSTALLS: Final = re.compile(rb"(?<![\w-])(?:fast)?mcp(?:\[[^\]\n]*\])?[<>=~!]=")
"""A requirement in a source file, such as one of a script that installs them."""
_OLD_PYTHON: Final = re.compile(
    r"^(?:requires-python|python|python_requires)\s*=\s*[\"']?[^\"'\n]*?(?:>=|\^|~=?)\s*3\.(?:\d|10)(?![\d]).*$"
    r"|^\s*FROM\s+(?:\S*/)?python:3\.(?:\d|10)(?!\d).*$",
    re.MULTILINE | re.IGNORECASE,
)
"""A version of Python before 3.11, which mcpcore needs."""
_INSTALLED: Final = re.compile(
    r"(?<![\w-])(mcp|fastmcp)(?:\[[^\]\n]*\])?((?:[<>=~!]=+|[<>](?=\d))[^\s\"']+"
    r"|(?<=install mcp)(?![\w.=-])|(?<=install fastmcp)(?![\w.=-]))"
)


def merged(left: Iterable[Left]) -> list[Left]:
    """One entry for each place and pattern, with the names of all its tools, in the order of the files."""
    tools: dict[Left, list[str]] = {}
    for remaining in left:
        names = tools.setdefault(remaining._replace(tools=()), [])
        names += [tool for tool in remaining.tools if tool not in names]
    return sorted(
        (key._replace(tools=tuple(names)) for key, names in tools.items()), key=lambda remaining: remaining[:2]
    )


def left_in_requirements(path: str, text: str) -> list[Left]:
    """The pins that keep out the SDK that mcpcore needs, and the missing requirement of mcpcore itself."""
    left: list[Left] = []
    if path.endswith(_LOCKS):
        named = re.search(r"^name = \"(?:mcp|fastmcp)\"|\"(?:mcp|fastmcp)\": \{", text, re.MULTILINE)
        return [Left(path, 1, (), "the lock file", "write it again after the requirements")] if named else []
    for old in _OLD_PYTHON.finditer(text):
        line = text.count("\n", 0, old.start()) + 1 + (len(old[0]) - len(old[0].lstrip("\n")))
        left.append(Left(path, line, (), " ".join(old[0].split()), "mcpcore needs Python 3.11 or later"))
    lists_mcpcore = re.search(r"(?<![\w-])mcpcore\b", text) is not None
    listed = _listed(text) if path.endswith(".toml") else None
    matches = [*_LISTED.finditer(text)]
    if listed is not None:
        matches = [match for match in _QUOTED.finditer(text) if match[0][1:].strip() in listed]
    is_list = path.endswith((".toml", ".txt", ".cfg", "setup.py"))
    for match in [*matches, *_KEY.finditer(text)] if is_list else _INSTALLED.finditer(text):
        line = text.count("\n", 0, match.start(1)) + 1
        name, version = match[1].lower(), match[2]
        if any(remaining.line == line for remaining in left):
            continue
        is_old, need = _OLD[name].search(version), f"needs {name} {_LEAST[name]} or later"
        if is_old or not lists_mcpcore:
            pattern = f"the pin {name}{version.strip()}" if is_old else f"the dependency {name}"
            decide = f"mcpcore {need}" if lists_mcpcore else f"add mcpcore too, which {need}"
            left.append(Left(path, line, (), pattern, decide))
            lists_mcpcore = True
    return left


def after_syntax_error(project: bytes) -> str:
    """The next step for a file that cannot be parsed: the `pyproject.toml` may ask for a later Python."""
    match = re.search(rb"^requires-python\s*=\s*[\"'][^\"'\n]*(?:>=|~=|==)\s*3\.(\d+)", project, re.MULTILINE)
    if match is not None and int(match[1]) > sys.version_info[1]:
        return f"the project needs Python 3.{int(match[1])}, so run mcpcore with that"
    return "correct the file and run again"


def _listed(text: str) -> list[str] | None:
    """The requirements in a `pyproject.toml`; None if it cannot be read."""
    import tomllib

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
    project = table.get("project", {})
    groups = [project.get("dependencies", []), *project.get("optional-dependencies", {}).values()]
    groups += table.get("dependency-groups", {}).values()
    return [
        line.partition(";")[0].strip()
        for group in groups
        if isinstance(group, list)
        for line in group
        if isinstance(line, str)
    ]
