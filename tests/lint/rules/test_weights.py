"""Findings that weigh less on servers of the SDK and FastMCP, and what the settings make of them."""

from __future__ import annotations

import textwrap

import pytest
from mcpcore_lint import Severity, lint_source
from mcpcore_lint.settings import PerFile, Settings

HEADS = {
    "fastmcp": "from fastmcp import FastMCP\nserver = FastMCP('x')\n",
    "sdk": "from mcp.server.fastmcp import FastMCP\nserver = FastMCP('x')\n",
    "mcpcore": "from mcpcore import Server\nserver = Server('x')\n",
}
CASES = {
    "prefer-mcp-error-in-handler": "raise ValueError(f'no {a}, call search first')",
    "no-stringify-upstream-error": """
        try:
            return httpx.get(a).text
        except httpx.HTTPError as error:
            raise RuntimeError(f'failed: {error}') from error
        """,
    "no-swallowed-error": """
        try:
            index(a)
        except Exception as error:
            logger.warning("not indexed: %s", error)
        return a
        """,
}


def found(family, rule, *, settings=None):
    """The severities of a rule's findings in a tool of a family."""
    body = textwrap.indent(textwrap.dedent(CASES[rule]).strip(), "    ")
    imports = "import httpx\nfrom mcpcore import service_unavailable\n"
    if family == "mcpcore":
        body = body.replace("RuntimeError", "service_unavailable")
    source = f"{imports}{HEADS[family]}\n@server.tool()\ndef fetch(a: str):\n    '''Fetch.'''\n{body}\n"
    report = lint_source(source, settings=settings or Settings())
    return [each.severity for each in report.diagnostics if each.rule == rule]


@pytest.mark.parametrize("rule", CASES)
@pytest.mark.parametrize("family", ["sdk", "fastmcp"])
def test_what_a_plain_server_does_rightly_is_information(family, rule):
    """Its framework sends what mcpcore would hide, and has no codes."""
    assert found(family, rule) == [Severity.INFO]


@pytest.mark.parametrize("rule", CASES)
def test_the_same_is_a_warning_on_a_server_of_mcpcore(rule):
    """There a coded error says more, and is at hand."""
    assert found("mcpcore", rule) == [Severity.WARNING]


@pytest.mark.parametrize("family", HEADS)
def test_a_result_that_is_marked_as_failed_is_wrong_in_a_tool_of_mcpcore_alone(family):
    """The SDK and FastMCP have no other way to fail with a text of one's own and data beside it."""
    answer = "CallToolResult(content=[TextContent(type='text', text=f'no {a}')], isError=True)"
    source = (
        f"from mcp.types import CallToolResult, TextContent\n{HEADS[family]}\n@server.tool()\ndef fetch(a: str):\n"
        f"    '''Fetch.'''\n    return {answer}\n"
    )
    rules = {each.rule for each in lint_source(source).diagnostics}
    assert ("no-error-as-data" in rules) == (family == "mcpcore")


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("pass", Severity.WARNING),
        ("pass  # noqa: S110", Severity.WARNING),
        ("pass  # ignore", Severity.WARNING),
        ("pass  # it is indexed again tonight", Severity.INFO),
        ("# The index is optional.\n        pass", Severity.INFO),
        ("print('not indexed')", Severity.INFO),
    ],
)
def test_what_somebody_thought_of_weighs_less(body, severity):
    """On a plain server, what passes in silence is a warning; with a log line or a comment that says why, it is not."""
    source = (
        "from fastmcp import FastMCP\nmcp = FastMCP('x')\n\n@mcp.tool\ndef fetch(a: str) -> str:\n    '''Fetch.'''\n"
        f"    try:\n        index(a)\n    except Exception:\n        {body}\n    return a\n"
    )
    report = lint_source(source, settings=Settings(select=frozenset({"no-swallowed-error"})))
    assert [severity] == [each.severity for each in report.diagnostics]


@pytest.mark.parametrize(
    ("imported", "severity"),
    [("from mcp import MCPError", Severity.ERROR), ("from mcp.shared.exceptions import McpError", Severity.INFO)],
)
def test_the_error_of_the_first_version_reaches_the_model(imported, severity):
    """Version 1 of the SDK makes a result of it; of version 2's own, most hosts show the model nothing."""
    name = imported.rpartition(" ")[2]
    source = (
        f"{imported}\nfrom mcp.server.fastmcp import FastMCP\nserver = FastMCP('x')\n\n@server.tool()\n"
        f"def fetch(a: str) -> str:\n    '''Fetch.'''\n    raise {name}(a)\n"
    )
    report = lint_source(source, settings=Settings(select=frozenset({"no-protocol-error-in-tool"})))
    assert [severity] == [each.severity for each in report.diagnostics]


@pytest.mark.parametrize("severity", list(Severity))
@pytest.mark.parametrize("family", HEADS)
def test_a_severity_in_the_settings_goes_before(family, severity):
    """For a rule as a whole, and for the files that a pattern names."""
    rule = "prefer-mcp-error-in-handler"
    whole = Settings(severities={rule: severity})
    assert found(family, rule, settings=whole) == [severity]
    some = Settings(per_file=(PerFile("*", severities={rule: severity}),))
    assert found(family, rule, settings=some) == [severity]


def test_an_exception_that_says_nothing_is_a_warning_everywhere():
    """No framework can make a sentence of it."""
    for raised in ("raise ValueError", "raise ValueError()", "raise KeyError(a)", "raise Exception('no article')"):
        source = f"{HEADS['fastmcp']}\n@server.tool\ndef fetch(a: str):\n    '''Fetch.'''\n    {raised}\n"
        diagnostics = lint_source(source).diagnostics
        severities = [each.severity for each in diagnostics if each.rule == "prefer-mcp-error-in-handler"]
        assert severities == [Severity.WARNING], raised
