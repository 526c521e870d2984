"""Small projects and the errors that their tool `fetch` throws: how such a table is read and checked.

A case is the text of some files and the expected lines. `#-- store.py` begins another file; the first is `server.py`.
Each file starts with `HEAD`. An expected line is a code or class, a colon and its call path; `?:` marks a call within
the project that is reported as unresolved. Nothing else may be found.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

Cases: TypeAlias = "dict[str, tuple[str, str]]"
Gap: TypeAlias = Literal["invented", "missed", "unknown", "way"]

GAPS: Final[dict[Gap, str]] = {
    "invented": "an error is reported that cannot leave the handler, or a known code is reported as unknown",
    "missed": "an error that leaves the handler is neither found nor reported as unknown",
    "unknown": "a call or an error that could be resolved is reported as unknown",
    "way": "the error is right, but its call path has another name",
}
"""How the linter's answer can differ from Python's behaviour."""

HEAD = (
    "from mcpcore import CodedError, Context, ErrorCode, conflict, forbidden, not_found, rate_limited, timeout, tool\n"
)


def files_of(text: str) -> Iterator[tuple[str, str]]:
    """The files of a case: paths and contents."""
    path, lines = "server.py", [HEAD]
    for line in textwrap.dedent(text).strip("\n").splitlines():
        if line.startswith("#-- "):
            yield path, "".join(lines)
            path, lines = line.removeprefix("#-- ").strip(), [HEAD]
        else:
            lines.append(line + "\n")
    yield path, "".join(lines)


def expected_of(text: str) -> set[str]:
    """The expected lines."""
    return {line.strip() for line in text.strip().splitlines() if line.strip()}


def params(cases: Cases, gaps: dict[str, Gap]) -> list[object]:
    """The cases as parameters; known gaps are strict xfails, so that closing one is noticed."""
    assert set(gaps) <= set(cases), set(gaps) - set(cases)
    return [
        pytest.param(
            name,
            marks=[pytest.mark.xfail(reason=GAPS[gaps[name]], raises=AssertionError, strict=True)]
            if name in gaps
            else [],
        )
        for name in cases
    ]


def found_of(project, text: str, name: str = "fetch") -> set[str]:
    """The linter's result, in the form of the expected lines."""
    for path, content in files_of(text):
        target = project.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)
    reach = project.reach(name)
    found = set()
    for each in (*reach.own, *reach.throws):
        labels = each.codes or (each.type_name.removeprefix("builtins."),)
        if each.codes is None:
            labels = (each.type_name.removeprefix("builtins.") + "?",)
        found |= {f"{label}: {' > '.join(each.path)}" for label in labels}
    found |= {f"?: {each.name}" for each in reach.unresolved if each.project or each.takes_context}
    return found


__all__ = ["Cases", "Gap", "expected_of", "files_of", "found_of", "params"]
