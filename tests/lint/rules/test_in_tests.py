"""Tools that are made for a test are read by no model, so nothing is said of their words."""

from __future__ import annotations

import pytest
from mcpcore_lint import Settings, lint_source

TOOL = """\
from fastmcp import FastMCP

mcp = FastMCP("x")


@mcp.tool
def pay(amount: float): ...
"""


@pytest.mark.parametrize(
    ("path", "told"),
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
def test_words_for_a_model_are_asked_for_outside_of_tests(path, told):
    """Told by the file's name or by the folders that it lies in."""
    settings = Settings(select=frozenset({"definitions"}))
    found = {each.rule for each in lint_source(TOOL, path=path, settings=settings).diagnostics}
    assert found == ({"field-description", "tool-description-required"} if told else set())


@pytest.mark.parametrize(("path", "told"), [("server.py", True), ("tests/server.py", False)])
def test_a_tool_of_a_test_may_print(path, told):
    """No client reads the output of a test."""
    settings = Settings(select=frozenset({"no-stdout-in-tool"}))
    code = TOOL.replace("...", "\n    print(amount)")
    assert [each.rule for each in lint_source(code, path=path, settings=settings).diagnostics] == (
        ["no-stdout-in-tool"] if told else []
    )
