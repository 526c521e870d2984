"""Small projects and the errors that their tool `fetch` throws: how such a table is read and checked.

A case is the text of some files and the expected lines. `#-- store.py` begins another file; the first is `server.py`.
Each file starts with `HEAD`. An expected line is a code or class, a colon and its call path; `?:` marks a call within
the project that is reported as unresolved. Nothing else may be found.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import pytest

from tests.files import write_files
from tests.lint.engine.thrown import catching, changing, classes, handed, modules, nearly, own, raising

TABLES = {
    table.__name__.rpartition(".")[2]: table.CASES
    for table in (catching, changing, classes, handed, modules, nearly, own, raising)
}

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


def found_of(project, text: str) -> set[str]:
    """The linter's result, in the form of the expected lines."""
    write_files(project.root, dict(files_of(text)))
    reach = project.reach()
    lines = set()
    for throw in (*reach.own, *reach.throws):
        name = throw.type_name.removeprefix("builtins.")
        labels = (f"{name}?",) if throw.codes is None else throw.codes or (name,)
        lines |= {f"{label}: {' > '.join(throw.path)}" for label in labels}
    lines |= {f"?: {call.name}" for call in reach.unresolved if call.project or call.takes_context}
    return lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [pytest.param(*case, id=f"{name}: {title}") for name, cases in TABLES.items() for title, case in cases.items()],
)
def test_exactly_the_errors_that_can_leave_a_tool_are_found(project, text, expected):
    """Each error has its call path; a call that cannot be followed is unresolved."""
    assert {line.strip() for line in expected.splitlines() if line.strip()} == found_of(project, text)
