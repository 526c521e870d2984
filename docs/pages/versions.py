"""The versions of Python and of the libraries that pyproject.toml asks for, and those that a lock pins."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

from pages.markdown import table

ROOT: Final = Path(__file__).parents[2]


def versions() -> str:
    """The versions that pyproject.toml asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    classifier = "Programming Language :: Python :: "
    pythons = [line.removeprefix(classifier) for line in project["classifiers"] if line.startswith(f"{classifier}3.")]
    rows: list[list[object]] = [["Python", ", ".join(pythons), ""]]
    needed = [(requirement, "") for requirement in project["dependencies"]]
    needed += [
        (requirement, f"`mcpcore[{extra}]`")
        for extra, requirements in project["optional-dependencies"].items()
        for requirement in requirements
    ]
    for requirement, extra in needed:
        name, bounds = re.fullmatch(r"([\w.-]+(?:\[[\w,-]+\])?)(.*)", requirement).groups()  # type: ignore[union-attr]
        rows.append([f"`{name}`", ", ".join(bounds.split(",")), extra])
    return table(["", "versions", "extra"], rows)


def pinned(package: str, lock: str) -> str:
    """A package with the version that a lock pins."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    pattern = rf'"{package}": "([^"]+)"' if lock.endswith(".json") else rf"^{package}==(\S+)"
    match = re.search(pattern, text, re.MULTILINE)
    assert match, f"{lock} does not pin {package}"
    return f"`{package}` {match[1]}"
