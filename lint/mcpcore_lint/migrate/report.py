"""The report of what is left."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from mcpcore_lint.migrate.model import Left


def merged(left: Iterable[Left]) -> list[Left]:
    """One entry for each place and pattern, with the names of all its tools, in the order of the files."""
    tools: dict[Left, list[str]] = {}
    for remaining in left:
        names = tools.setdefault(remaining._replace(tools=()), [])
        names += [tool for tool in remaining.tools if tool not in names]
    return sorted(
        (key._replace(tools=tuple(names)) for key, names in tools.items()), key=lambda remaining: remaining[:2]
    )


def after_syntax_error(project: bytes) -> str:
    """The next step for a file that cannot be parsed: the `pyproject.toml` may ask for a later Python."""
    match = re.search(rb"^requires-python\s*=\s*[\"'][^\"'\n]*(?:>=|~=|==)\s*3\.(\d+)", project, re.MULTILINE)
    if match is not None and int(match[1]) > sys.version_info[1]:
        return f"the project needs Python 3.{int(match[1])}, so run mcpcore with that"
    return "correct the file and run again"
