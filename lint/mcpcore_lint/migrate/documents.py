"""Documents and workflows that say which versions of Python or a framework are needed: they follow, or have a line."""

import re
from collections.abc import Collection, Mapping
from typing import Final

from mcpcore_lint.codemods.edits import apply
from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.migrate.model import Left
from mcpcore_lint.migrate.requirements import Requirements, package

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
_VERSION: Final = re.compile(
    r"(?:(?P<within>\w-)?\bpython|(?<![\w./@-])(?P<package>fastmcp|(?-i:mcp))(?:\[[^\]\n]*\])?)"
    r"(?P<before>(?:%[\dA-F]{2}|[^\w\n])*(?:version(?:s|\b)[^\w\n]*)?)"
    r"(?P<version>(?(package)\d+(?:\.\d+)*(?![\w.]*\w)|3\.\d+(?!\d|\.\d)))"
    r"(?P<behind>[`*_]*(?:\+|%2B|[ ](?:or|and)[ ](?:newer|higher|later|above|up|greater)\b))?"
    r"(?P<capped>[ ]*,[ ]*<=?[ ]*(?(package)\d|3\.))?",
    re.IGNORECASE,
)
"""A version, as in `python-3.10+`, `Python >= 3.10`, "Python 3.10 or newer" or `mcp>=1.2`."""
_AT_LEAST: Final = re.compile(r">=|\u2265|%3E%3D|&gt;=", re.IGNORECASE)
_ASKS: Final = re.compile(r"[>=~]=|\u2265|%3E%3D|&gt;=", re.IGNORECASE)
"""What asks for a version, or for a later one."""
_LOWER: Final = re.compile(r"[>=~]=?[ \t]*(\d+(?:\.\d+)*)")
_RELEASE: Final = re.compile(r"\bv\d|(?<![\w.])\d+\.\d")
"""The version of something, as in a table of the releases of a project."""
_NEAR: Final = 120
"""How many characters of a line before a version of Python may say which release it is about."""
_DECIDE: Final = "the project needs {} {} or later now"
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


def plan_document(
    path: str, text: str, old: int | None, needed: Mapping[str, str], pins: Collection[str], *, writable: bool
) -> Requirements:
    """Plan what a document needs once the code needs later versions.

    Args:
        path: The document, as the report shows it.
        text: Its content.
        old: The least minor version of Python before the run, if the project says it.
        needed: The least versions now, of those of Python and the packages that changed.
        pins: The requirements of the project that changed, as they were.
        writable: Whether the run may change it.
    """
    edits: list[Edit] = []
    left: list[Left] = []
    above: dict[int, str] = {}
    matches = [match for match in _VERSION.finditer(text) if _name_of(match) in needed]
    named = {match["version"] for match in matches if match["package"] is None and _is_least(match)}
    known = {("Python", f"3.{old}" if old else min(named) if len(named) == 1 else "")}
    known |= {(package(pin), _short(lower[1])) for pin in pins if (lower := _LOWER.search(pin)) is not None}
    for match in sorted([*_HEADING.finditer(text), *matches], key=lambda match: match.start()):
        if match.re is _HEADING:
            level = len(match["level"] or "") or " =-~".index((match["line"] or " ")[0])
            above = {**{outer: above[outer] for outer in above if outer < level}, level: match[0]} if level else above
            continue
        name = _name_of(match)
        is_early = [*map(int, match["version"].split("."))] < [*map(int, needed[name].split("."))]
        if not is_early or any(map(_PAST.search, above.values())):
            continue
        before = text[max(match.start() - _NEAR, 0) : match.start()].rpartition("\n")[2]
        # A line may be about another release of the project: "| 0.1 | Python 3.10+ |".
        is_other = _RELEASE.search(_VERSION.sub("", before))
        if writable and _is_least(match) and (name, _short(match["version"])) in known and not is_other:
            edits.append(Edit(*match.span("version"), needed[name]))
        elif name == "Python" or match["behind"] or _ASKS.search(match["before"]):
            line = text.count("\n", 0, match.start("version")) + 1
            left.append(Left(path, line, (), f"an earlier version of {name}", _DECIDE.format(name, needed[name])))
    return Requirements(tuple(edits), tuple(left))


def _name_of(match: re.Match[str]) -> str:
    """The name that a version belongs to: Python, or a package."""
    return match["package"].lower() if match["package"] else "Python"


def _short(version: str) -> str:
    """A version without zeros at its end: that of 2.0.0 is 2."""
    return re.sub(r"(?:\.0)+$", "", version)
