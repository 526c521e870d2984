"""Rules about wording do not apply to tools in tests, because no model reads them."""

from __future__ import annotations

import pytest
from mcpcore_lint import Settings, lint_source
from mcpcore_lint.runner.groups import Walk

TOOL = """\
from fastmcp import FastMCP

mcp = FastMCP("x")


@mcp.tool
def pay(amount: float): ...
"""


@pytest.mark.parametrize(
    ("path", "reported"),
    [
        ("server.py", True),
        ("testing/server.py", True),
        ("tests.py", True),
        ("tests/server.py", False),
        ("libs/test/deploy/servers/main.py", False),
        ("src/test_server.py", False),
        ("src/server_test.py", False),
        ("conftest.py", False),
    ],
)
def test_wording_is_checked_outside_tests(path, reported):
    """A test is recognised by its file name or by a parent folder."""
    settings = Settings(select=frozenset({"definitions"}))
    rules = {diagnostic.rule for diagnostic in lint_source(TOOL, path=path, settings=settings).diagnostics}
    assert rules == ({"field-description", "tool-description-required"} if reported else set())


@pytest.mark.parametrize(("path", "reported"), [("server.py", True), ("tests/server.py", False)])
def test_a_tool_of_a_test_may_print(path, reported):
    """No client reads the output of a test."""
    settings = Settings(select=frozenset({"no-stdout-in-tool"}))
    code = TOOL.replace("...", "\n    print(amount)")
    assert [diagnostic.rule for diagnostic in lint_source(code, path=path, settings=settings).diagnostics] == (
        ["no-stdout-in-tool"] if reported else []
    )


def test_files_of_tests_are_checked_on_request(tmp_path):
    """They are otherwise read only where another file imports them. A source file may be called `test_plans.py`."""
    for name in (
        "server.py",
        "tests/a.py",
        "src/test_server.py",
        "src/server_test.py",
        "src/test_plans.py",
        "conftest.py",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(TOOL.replace('FastMCP("x")', "make()" if "plans" in name else 'FastMCP("x")'))
    roots = [str(tmp_path)]
    assert [*Walk(Settings(), str(tmp_path)).run(roots).files] == [
        str(tmp_path / name) for name in ("server.py", "src/test_plans.py")
    ]
    assert len(Walk(Settings(include_tests=True), str(tmp_path)).run(roots).files) == 6


@pytest.mark.parametrize("name", ["error-contract-retry-type", "error-contract-retryable-type"])
def test_a_rule_is_selected_and_suppressed_by_its_other_name(name):
    """The other name of a rule is no unknown rule."""
    code = (
        "from mcpcore import ErrorCode, FailureMode\n"
        f'A = FailureMode("a", ErrorCode.CONFLICT, when="w", recovery="r", retry=3)  # mcpcore: ignore[{name}] tested\n'
        'B = FailureMode("b", ErrorCode.CONFLICT, when="w", recovery="r", retry=3)\n'
    )
    findings = lint_source(code, settings=Settings(select=frozenset({name, "linter"}))).diagnostics
    assert [(finding.rule, finding.span.line) for finding in findings] == [("error-contract-retry-type", 3)]
