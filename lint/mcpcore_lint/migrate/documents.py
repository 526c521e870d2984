"""Documents and workflows that say which versions of Python a project needs: they follow, or have a line."""

import re
from typing import Final

from mcpcore_lint.codemods.edits import apply
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
_MATRIX: Final = re.compile(r"python-?version:[ \t]*\[(?P<versions>[^\]\n]*)\]", re.IGNORECASE)


def without_earlier(text: str, least: int) -> list[Edit]:
    """The edits of a workflow that leave out earlier versions of Python; none if something else there names one."""
    edits: list[Edit] = []
    gone: set[str] = set()
    for match in _MATRIX.finditer(text):
        items = [*re.finditer(r"(?P<quote>[\"']?)3\.(?P<minor>\d+)(?P=quote)[ \t]*,?[ \t]*", match["versions"])]
        old = [item for item in items if int(item["minor"]) < least]
        is_read = "".join(item[0] for item in items).strip() == match["versions"].strip()
        if is_read and old and old == items[: len(old)] != items:
            start = match.start("versions")
            edits.append(Edit(start + old[0].start(), start + old[-1].end(), ""))
            gone |= {item["minor"] for item in old}
    rest = apply(text, edits)
    return [] if any(re.search(rf"\b3\.{minor}\b", rest) for minor in gone) else edits


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
    matches = _PYTHON.finditer(text) if not _PAST.search(path.rpartition("/")[2]) else ()
    for match in (match for match in matches if int(match["minor"]) < least):
        *_, heading = ["", *(part[0] for part in _HEADING.finditer(text, 0, match.start()))]
        if _PAST.search(heading):
            continue
        is_least = match["behind"] or _AT_LEAST.search(match["before"])
        if writable and is_least and int(match["minor"]) == (old or int(match["minor"])):
            edits.append(Edit(*match.span("minor"), str(least)))
        else:
            line = text.count("\n", 0, match.start("minor")) + 1
            left.append(Left(path, line, (), "an earlier version of Python", decide))
    return Requirements(tuple(edits), tuple(left))
