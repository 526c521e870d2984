"""Suppression comments as people write them: what each holds for, and that none holds for more than it says."""

from __future__ import annotations

import pytest

EMPTY = "no-fake-empty"
HEAD = """\
from mcpcore import tool


@tool
async def fetch(key: str = "a") -> str:
    \"\"\"Fetch.\"\"\"
    try:
        return str(key)
    except Exception:
"""
RULES = f"{EMPTY},unknown-rule,unused-ignore,ignore-without-reason,no-swallowed-error,field-description"


@pytest.mark.parametrize(
    ("comment", "rules"),
    [
        ("# mcpcore: ignore[no-fake-empty] why", []),
        ("#mcpcore:ignore [ no-fake-empty ] - why", []),
        ("# noqa: X # mcpcore: ignore[no-fake-empty] why", []),
        ("# mcpcore: ignore[no-fake-empty, no-swallowed-error] why", ["unused-ignore"]),
        ("# mcpcore: ignore[no-fake-empty]", ["ignore-without-reason"]),
        ("# mcpcore: ignore[no-fake-empty", ["ignore-without-reason"]),
        ("# mcpcore: ignore[field-description", [EMPTY, "ignore-without-reason", "unused-ignore"]),
        ("# mcpcore: ignore[] why", [EMPTY, "unknown-rule"]),
        ("# mcpcore: ignore[nope] why", [EMPTY, "unknown-rule"]),
        ("# mcpcore: ignore why", []),
        ("# mcpcore: ignored[no-fake-empty] why", [EMPTY]),
        ('+ " # mcpcore: ignore[no-fake-empty] in a string"', []),
    ],
)
def test_on_the_line(empty, comment, rules):
    """A comment holds for the rules that it names; one with a bracket never for all of them."""
    empty.write("server.py", f'{HEAD}        return "" {comment}\n')
    assert sorted(rules) == sorted(rule for _, line, rule in empty.found("--select", RULES) if line > 5)


def test_in_a_string(empty):
    """What looks like a comment in a string is none."""
    empty.write("server.py", f'{HEAD}        x = """\n# mcpcore: ignore[no-fake-empty] why\n"""; return ""\n')
    assert [EMPTY] == [rule for _, line, rule in empty.found("--select", RULES) if line > 5]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_places(empty, end):
    """At the head of a file, on a decorator, and on the first line of a statement of several lines."""
    text = (
        "# mcpcore: ignore-file[tool-description-required] generated\n"
        "from mcpcore import tool\n\n\n"
        "@tool(  # mcpcore: ignore[error-contract-empty] on purpose\n    errors=[\n    ],\n)\n"
        "async def fetch(  # mcpcore: ignore[field-description] plain\n    host: str,\n) -> str: ...\n"
    )
    empty.write("server.py", text.replace("\n", end).encode())
    rules = "tool-description-required,error-contract-empty,field-description,unused-ignore"
    assert [] == empty.found("--select", rules)
    empty.write("server.py", text.replace("  # mcpcore", "  # other").replace("# mcpcore", "# other"))
    assert {"tool-description-required", "error-contract-empty", "field-description"} == {
        rule for _, _, rule in empty.found("--select", rules)
    }
