"""Documents that say which versions of Python a project needs: they follow the new code, or have a line."""

import re
from typing import Final

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.migrate.model import Left
from mcpcore_lint.migrate.requirements import Requirements

DOCUMENT: Final = re.compile(r"(?:\.(?:md|markdown|rst)|(?:^|/)manifest\.json)$", re.IGNORECASE)
"""The path of a document, or of what describes a bundle."""
_PAST: Final = re.compile(r"change|history|news|release|upgrad|migrat|what.s new|\d+\.\d+\.\d", re.IGNORECASE)
"""The name of a document about earlier releases, or the heading of such a part."""
_HEADING: Final = re.compile(r"^(?:#+[ ].*|.+(?=\n(?:={3,}|-{3,}|~{3,})$))", re.MULTILINE)
_PYTHON: Final = re.compile(
    r"\bpython(?P<before>(?:%[\dA-F]{2}|[^\w\n])*(?:version(?:s|\b)[^\w\n]*)?)3\.(?P<minor>\d+)(?!\d|\.\d)"
    r"(?P<behind>[`*_]*(?:\+|%2B|[ ](?:or|and)[ ](?:newer|higher|later|above|up|greater)\b))?",
    re.IGNORECASE,
)
"""A version of Python, as in `python-3.10+`, `Python >= 3.10` or "Python 3.10 or newer"."""
_AT_LEAST: Final = re.compile(r">=|\u2265|%3E%3D|&gt;=", re.IGNORECASE)


def plan_document(path: str, text: str, old: int | None, least: int, *, writable: bool) -> Requirements:
    """Plan what a document needs once the code needs a later version of Python.

    Args:
        path: The document, as the report shows it.
        text: Its content.
        old: The least minor version of Python before the run, if the project says it.
        least: The least one now.
        writable: Whether the run may change it.
    """
    edits: list[Edit] = []
    left: list[Left] = []
    decide = f"the project needs Python 3.{least} or later now"
    for match in _PYTHON.finditer(text) if not _PAST.search(path.rpartition("/")[2]) else ():
        *_, heading = ["", *(part[0] for part in _HEADING.finditer(text, 0, match.start()))]
        if int(match["minor"]) >= least or _PAST.search(heading):
            continue
        is_least = match["behind"] or _AT_LEAST.search(match["before"])
        if writable and is_least and int(match["minor"]) == (old or int(match["minor"])):
            edits.append(Edit(*match.span("minor"), str(least)))
        else:
            line = text.count("\n", 0, match.start("minor")) + 1
            left.append(Left(path, line, (), "an earlier version of Python", decide))
    return Requirements(tuple(edits), tuple(left))
