"""Documents and workflows that say which versions of Python a project needs: they follow, or have a line."""

import re
from typing import Final

from mcpcore_lint.codemods.edits import apply
from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.migrate.model import Left
from mcpcore_lint.migrate.requirements import Requirements

DOCUMENT: Final = re.compile(r"(?:\.(?:md|markdown|rst)|(?:^|/)manifest\.json)$", re.IGNORECASE)
"""The path of a document, or of what describes a bundle."""
_PAST: Final = re.compile(
    r"(?<![^\W_])(?:changes?|history|news|releases?)[\W_]*(?:notes|v?\d[\w.]*)?[\W_]*$|change[\W_]?log|upgrad|migrat"
    r"|what.s[\W_]new|\d+[.-]\d+[.-]\d",
    re.IGNORECASE | re.MULTILINE,
)
"""The heading of a part about earlier releases, or the name of a file or a folder with them."""
_HEADING: Final = re.compile(
    r"^[ \t]*(?P<fence>```|~~~)[\s\S]*?^[ \t]*(?P=fence)"
    r"|^(?P<level>#+)[ ].*|^.+(?=\n(?P<line>={3,}|-{3,}|~{3,})\r?$)",
    re.MULTILINE,
)
"""A heading, or a block of code, whose comments are no headings."""
_PYTHON: Final = re.compile(
    r"(?P<within>\w-)?\bpython(?P<before>(?:%[\dA-F]{2}|[^\w\n])*(?:version(?:s|\b)[^\w\n]*)?)3\.(?P<minor>\d+)(?!\d|\.\d)"
    r"(?P<behind>[`*_]*(?:\+|%2B|[ ](?:or|and)[ ](?:newer|higher|later|above|up|greater)\b))?"
    r"(?P<capped>[ ]*,[ ]*<=?[ ]*3\.)?",
    re.IGNORECASE,
)
"""A version of Python, as in `python-3.10+`, `Python >= 3.10` or "Python 3.10 or newer"."""
_AT_LEAST: Final = re.compile(r">=|\u2265|%3E%3D|&gt;=", re.IGNORECASE)
_RELEASE: Final = re.compile(r"\bv\d|(?<![\w.])\d+\.\d")
"""The version of something, as in a table of the releases of a project."""
_NEAR: Final = 120
"""How many characters of a line before a version of Python may say which release it is about."""
_DECIDE: Final = "the project needs Python 3.{} or later now"
_MATRIX: Final = re.compile(r"python-?version:[ \t]*\[(?P<versions>[^\]\n]*)\]", re.IGNORECASE)


def _is_least(match: re.Match[str]) -> bool:
    """Whether a version of Python is the least one of something that is no package such as `some-python`."""
    return bool(match["behind"] or _AT_LEAST.search(match["before"])) and not (match["within"] or match["capped"])


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
    return [] if any(re.search(rf"\b3\.{minor}\b|\bpy3{minor}\b", rest) for minor in gone) else edits


def is_about_past(path: str) -> bool:
    """Whether a document is about earlier releases, as the names of its folders or its own say."""
    return _PAST.search(re.sub(r"[/\\]|\.\w+$", "\n", path)) is not None


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
    above: dict[int, str] = {}
    matches = [*_PYTHON.finditer(text)]
    named = {int(match["minor"]) for match in matches if _is_least(match)}
    only = old or (min(named) if len(named) == 1 else 0)
    for match in sorted([*_HEADING.finditer(text), *matches], key=lambda match: match.start()):
        if match.re is _HEADING:
            level = len(match["level"] or "") or " =-~".index((match["line"] or " ")[0])
            above = {**{outer: above[outer] for outer in above if outer < level}, level: match[0]} if level else above
            continue
        if int(match["minor"]) >= least or any(map(_PAST.search, above.values())):
            continue
        before = text[max(match.start() - _NEAR, 0) : match.start()].rpartition("\n")[2]
        # A line may be about another release of the project: "| 0.1 | Python 3.10+ |".
        is_other = _RELEASE.search(_PYTHON.sub("", before))
        if writable and _is_least(match) and int(match["minor"]) == only and not is_other:
            edits.append(Edit(*match.span("minor"), str(least)))
        else:
            line = text.count("\n", 0, match.start("minor")) + 1
            left.append(Left(path, line, (), "an earlier version of Python", _DECIDE.format(least)))
    return Requirements(tuple(edits), tuple(left))
