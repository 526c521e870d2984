"""Rules about wording do not apply to tools in tests, because no model reads them."""

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
    found = {diagnostic.rule for diagnostic in lint_source(TOOL, path=path, settings=settings).diagnostics}
    assert found == ({"field-description", "tool-description-required"} if reported else set())


@pytest.mark.parametrize(("path", "reported"), [("server.py", True), ("tests/server.py", False)])
def test_a_tool_of_a_test_may_print(path, reported):
    """No client reads the output of a test."""
    settings = Settings(select=frozenset({"no-stdout-in-tool"}))
    code = TOOL.replace("...", "\n    print(amount)")
    assert [diagnostic.rule for diagnostic in lint_source(code, path=path, settings=settings).diagnostics] == (
        ["no-stdout-in-tool"] if reported else []
    )
