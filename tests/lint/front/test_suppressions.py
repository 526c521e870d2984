"""Suppression comments: each form covers exactly the lines and rules that it names."""

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
        ("# mcpcore: ignored by all who read it", [EMPTY]),
        ("# mcpcore: ignore no-fake-empty why", []),
        ("# mcpcore: ignore[handler] why", [EMPTY, "unknown-rule"]),
        ("# mcpcore: ignore[all] why", [EMPTY, "unknown-rule"]),
        ('+ " # mcpcore: ignore[no-fake-empty] in a string"', []),
    ],
)
def test_on_the_line(empty, comment, rules):
    """A comment suppresses the rules that it names; one with brackets never suppresses all rules."""
    empty.write("server.py", f'{HEAD}        return "" {comment}\n')
    assert sorted(rules) == sorted(rule for _, line, rule in empty.findings("--select", RULES) if line > 5)


def test_the_help_for_an_invalid_suppression(empty):
    """For a family, empty brackets or a comment on its own line, the help shows the correct form."""
    empty.write(
        "server.py",
        f"{HEAD}        # mcpcore: ignore[no-fake-empty] above\n        return ''  # mcpcore: ignore[handler] all\n"
        "# mcpcore: ignore[] none\n",
    )
    messages = {
        finding["line"]: f"{finding['message']}; {finding['help']}"
        for finding in empty.json("--select", RULES)["diagnostics"]
    }
    assert "put it at the end of the statement's first line" in messages[10]
    assert "'handler' selects several rules" in messages[11]
    assert "the brackets name no rule; name the rule, or leave out the brackets" in messages[12]


def test_an_unclosed_bracket_is_not_fixed(empty):
    """No fix treats a bracket on another line as the closing one."""
    text = f'{HEAD}        return ""  # mcpcore: ignore[no-fake-empty, parse-error\nLATER = [1]\n'
    path = empty.write("server.py", text)
    assert "unused-ignore" in {rule for _, _, rule in empty.findings("--select", f"{RULES},parse-error")}
    empty.lint("--fix", "--select", f"{RULES},parse-error")
    assert text == path.read_text()


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_lines_that_cannot_have_a_comment(empty, end):
    """The lines of a string are covered by a comment after the string."""
    text = (
        "from mcpcore import ErrorCode, FailureMode, tool\n\n\n"
        "MODES = [\n    FailureMode(\n"
        '        "a", ErrorCode.NOT_FOUND, when="x", recovery="""Try\n\nagain.""",  # mcpcore: ignore[{}] why\n    ),\n]\n'
        '\n\n@tool(errors=MODES)\ndef fetch(q: str) -> str:\n    """Fetch."""\n    return go(q)\n'
    )
    rule = "error-contract-recovery-min-words"
    for used in (rule, "parse-error"):
        empty.write("server.py", text.format(used).replace("\n", end).encode())
        assert [("server.py", 6, rule)] * (used != rule) == empty.findings("--select", f"{rule},unused-ignore")


def test_on_a_decorator(empty):
    """A decorated statement begins on the line of its first decorator."""
    server = "from mcpcore import tool\n\n\n@tool{}\n@other{}\ndef ping() -> str: ...{}\n"
    comment = "  # mcpcore: ignore[tool-description-required] plain"
    for place, rules in (((comment, "", ""), []), (("", "", comment), []), (("", comment, ""), ["unused-ignore"])):
        empty.write("server.py", server.format(*place))
        reported = [rule for _, _, rule in empty.findings("--select", "tool-description-required,unused-ignore")]
        assert rules == [rule for rule in reported if rule != "tool-description-required"]
        assert bool(rules) == ("tool-description-required" in reported)


def test_in_a_string(empty):
    """A string that looks like a comment does not suppress anything."""
    empty.write("server.py", f'{HEAD}        x = """\n# mcpcore: ignore[no-fake-empty] why\n"""; return ""\n')
    assert [EMPTY] == [rule for _, line, rule in empty.findings("--select", RULES) if line > 5]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_places(empty, end):
    """A comment works at the top of a file, on a decorator, and on the first line of a multi-line statement."""
    text = (
        "# mcpcore: ignore-file[tool-description-required] generated\n"
        "from mcpcore import tool\n\n\n"
        "@tool(  # mcpcore: ignore[error-contract-empty] on purpose\n    errors=[\n    ],\n)\n"
        "async def fetch(  # mcpcore: ignore[field-description] plain\n    host: str,\n) -> str: ...\n"
    )
    empty.write("server.py", text.replace("\n", end).encode())
    rules = "tool-description-required,error-contract-empty,field-description,unused-ignore"
    assert [] == empty.findings("--select", rules)
    empty.write("server.py", text.replace("  # mcpcore", "  # other").replace("# mcpcore", "# other"))
    assert {"tool-description-required", "error-contract-empty", "field-description"} == {
        rule for _, _, rule in empty.findings("--select", rules)
    }
