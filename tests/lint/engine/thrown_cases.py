"""Small projects with all that their tool `fetch` throws: how such a table is read and checked.

A case is the text of some files and what is expected. `#-- store.py` begins another file; the first is `server.py`.
Each file starts with `HEAD`. Each line expected is a code or class, a colon, and the way to it; `?:` stands before a
call of the project's own that is reported as unknown. Nothing else may be found.
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
    "invented": "an error is told that does not leave the handler, or a known code is told as unknown",
    "missed": "an error that leaves the handler is not found, and nothing says that something is unknown",
    "unknown": "a call or an error is told as unknown that could be known",
    "way": "the error is right, the way to it is shown by another name",
}
"""How an answer can fall short of what Python does."""

HEAD = (
    "from mcpcore import CodedError, Context, ErrorCode, conflict, forbidden, not_found, rate_limited, timeout, tool\n"
)


def files_of(text: str) -> Iterator[tuple[str, str]]:
    """The files of a case: path and content."""
    path, lines = "server.py", [HEAD]
    for line in textwrap.dedent(text).strip("\n").splitlines():
        if line.startswith("#-- "):
            yield path, "".join(lines)
            path, lines = line.removeprefix("#-- ").strip(), [HEAD]
        else:
            lines.append(line + "\n")
    yield path, "".join(lines)


def expected_of(text: str) -> set[str]:
    """The lines expected."""
    return {line.strip() for line in text.strip().splitlines() if line.strip()}


def params(cases: Cases, gaps: dict[str, Gap]) -> list[object]:
    """The cases as parameters; those that the linter does not answer yet must fail, so that a mended one is noticed."""
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
    """What the linter finds, in the form of the lines expected."""
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
