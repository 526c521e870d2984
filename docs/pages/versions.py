"""The versions of Python and of the libraries that pyproject.toml asks for, and those that a lock pins."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from pages.markdown import table

ROOT: Final = Path(__file__).parents[2]


_BADGE: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{what}: {value}">
<rect width="{width}" height="20" rx="3" fill="#0f4c4a"/>
<rect x="{left}" width="{right}" height="20" rx="3" fill="#8fe3d6"/>
<g font-family="Verdana,DejaVu Sans,sans-serif" font-size="12">
<text x="6" y="14" fill="#fff">{what}</text>
<text x="{text}" y="14" fill="#06302f">{value}</text>
</g>
</svg>
"""
_LETTER: Final = 8.3
"""The width that a letter of this size takes at most, in pixels, in the widest of these fonts."""


def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def _classified(project: dict[str, Any], classifier: str) -> list[str]:
    return [line.removeprefix(classifier) for line in project["classifiers"] if line.startswith(classifier)]


def badges() -> dict[Path, str]:
    """The pictures at the top of the README: they are files of the repository, so that no other host sees its readers."""
    project = _project()
    pythons = _classified(project, "Programming Language :: Python :: 3.")
    (status,) = _classified(project, "Development Status :: ")
    values = {
        "python": f"3.{pythons[0]} to 3.{pythons[-1]}",
        "status": status.partition(" - ")[2].lower(),
        "license": project["license"],
    }
    made = {}
    for what, value in values.items():
        left, right = (round(len(text) * _LETTER) + 12 for text in (what, value))
        made[ROOT / "docs" / "assets" / f"badge-{what}.svg"] = _BADGE.format(
            what=what, value=value, width=left + right, left=left, right=right, text=left + 6
        )
    return made


def versions() -> str:
    """The versions that pyproject.toml asks for."""
    project = _project()
    pythons = [f"3.{version}" for version in _classified(project, "Programming Language :: Python :: 3.")]
    needed = {"mcpcore": project["dependencies"]}
    needed |= {f"mcpcore[{extra}]": requirements for extra, requirements in project["optional-dependencies"].items()}
    rows: list[list[object]] = [["Python", ", ".join(pythons)]]
    for name, requirements in needed.items():
        libraries = (re.fullmatch(r"([\w.-]+(?:\[[\w,-]+\])?)(.*)", requirement) for requirement in requirements)
        rows.append([f"`{name}`", ", ".join(f"`{match[1]}` {match[2]}" for match in libraries if match)])
    return table(["", "versions"], rows)


def pinned(package: str, lock: str) -> str:
    """A package with the version that a lock pins."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    pattern = rf'"{package}": "([^"]+)"' if lock.endswith(".json") else rf"^{package}==(\S+)"
    match = re.search(pattern, text, re.MULTILINE)
    assert match, f"{lock} does not pin {package}"
    return f"`{package}` {match[1]}"
