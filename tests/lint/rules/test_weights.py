"""Severities on servers of the SDK and FastMCP, which depend on how these handle exceptions, and the settings."""

from __future__ import annotations

import textwrap

import pytest
from mcpcore_lint import Severity, lint_source
from mcpcore_lint.settings import PerFile, Settings

from tests.tables import in_one_test

HEADS = {
    "fastmcp": "from fastmcp import FastMCP\nserver = FastMCP('x')\n",
    "fastmcp-masked": "from fastmcp import FastMCP\nserver = FastMCP('x', mask_error_details=True)\n",
    "sdk-1": "from mcp.server.fastmcp import FastMCP\nserver = FastMCP('x')\n",
    "sdk-2": "from mcp.server.mcpserver import MCPServer\nserver = MCPServer('x')\n",
    "mcpcore": "from mcpcore import Server\nserver = Server('x')\n",
}
INFO, WARN, ERROR = Severity.INFO, Severity.WARNING, Severity.ERROR
BODIES = {
    "a sentence": "raise ValueError(f'no {a}, call search first')",
    "no sentence": "raise KeyError(a)",
    "any exception": "raise Exception('no article')",
    "wrapped": """
        try:
            return httpx.get(a).text
        except httpx.HTTPError as error:
            raise ToolError(f'failed: {error}') from error
        """,
    "traceback": """
        try:
            return httpx.get(a).text
        except httpx.HTTPError as error:
            raise ToolError(traceback.format_exc()) from error
        """,
    "no cause": """
        try:
            return httpx.get(a).text
        except httpx.HTTPError:
            raise ToolError('no article')
        """,
    "protocol": "raise MCPError(1, 'no article')",
    "swallowed": """
        try:
            index(a)
        except Exception as error:
            logger.warning("not indexed: %s", error)
        return a
        """,
}
SEVERITIES = {
    # rule, body: what is found on FastMCP, FastMCP that masks, SDK 1, SDK 2, mcpcore
    ("prefer-mcp-error-in-handler", "a sentence"): (None, WARN, None, WARN, WARN),
    ("prefer-mcp-error-in-handler", "no sentence"): (None, WARN, None, WARN, WARN),
    ("prefer-mcp-error-in-handler", "any exception"): (INFO, WARN, INFO, WARN, WARN),
    ("no-stringify-upstream-error", "wrapped"): (None, INFO, None, INFO, WARN),
    ("no-stringify-upstream-error", "traceback"): (INFO, INFO, INFO, INFO, WARN),
    ("preserve-cause-on-rethrow", "no cause"): (None, None, None, None, WARN),
    ("no-protocol-error-in-tool", "protocol"): (None, WARN, None, ERROR, ERROR),
    ("no-swallowed-error", "swallowed"): (INFO, INFO, INFO, INFO, WARN),
}
NAMED = {
    # What is found there where the settings name the rule.
    ("prefer-mcp-error-in-handler", "a sentence"): INFO,
    ("prefer-mcp-error-in-handler", "no sentence"): INFO,
    ("no-stringify-upstream-error", "wrapped"): INFO,
    ("preserve-cause-on-rethrow", "no cause"): INFO,
    ("no-protocol-error-in-tool", "protocol"): INFO,
}


def findings_of(family, rule, body, *, settings=None):
    """The findings of a rule in a tool of a family, in a folder without any requirements."""
    exceptions = {"fastmcp": "fastmcp.exceptions", "sdk-1": "mcp.server.fastmcp.exceptions"}.get(
        family.removesuffix("-masked"), "mcp.server.mcpserver.exceptions"
    )
    protocol = "McpError as MCPError" if family == "sdk-1" else "MCPError"
    source = (
        f"import httpx, logging, traceback\nfrom {exceptions} import ToolError\nfrom mcp import {protocol}\n"
        f"{HEADS[family]}\nlogger = logging.getLogger()\n\n@server.tool()\ndef fetch(a: str):\n    '''Fetch.'''\n"
        f"{textwrap.indent(textwrap.dedent(BODIES[body]).strip(), '    ')}\n"
    )
    report = lint_source(source, settings=settings or Settings(), root="/nonexistent")
    return [diagnostic for diagnostic in report.diagnostics if diagnostic.rule == rule]


@in_one_test(("family", "place"), [(family, place) for place, family in enumerate(HEADS)])
@in_one_test(("rule", "body"), SEVERITIES)
def test_the_severity_depends_on_how_the_framework_handles_the_failure(family, place, rule, body):
    """Nothing is reported if the client gets the text anyway, and only findings on mcpcore servers name mcpcore."""
    expected = SEVERITIES[rule, body][place]
    findings = findings_of(family, rule, body)
    assert [expected] * (expected is not None) == [finding.severity for finding in findings]
    for finding in findings if family != "mcpcore" else ():
        said = f"{finding.message} {finding.help}"
        assert not any(word in said for word in ("mcpcore", "coded", "ctx.fail", "not_found", "boundary")), said


@pytest.mark.parametrize("family", ["fastmcp", "sdk-1"])
@pytest.mark.parametrize(("rule", "body"), NAMED)
def test_a_rule_selected_by_its_id_reports_everything(family, rule, body):
    """This holds for `select` and `extend-select`, for the run or some files, but not for a family."""
    ids = frozenset({rule})
    for settings in (
        Settings(select=ids),
        Settings(extend_select=ids),
        Settings(per_file=(PerFile("*", select=ids),)),
    ):
        assert [NAMED[rule, body]] == [
            finding.severity for finding in findings_of(family, rule, body, settings=settings)
        ]
    assert not findings_of(family, rule, body, settings=Settings(select=frozenset({"handler"})))


@pytest.mark.parametrize("family", HEADS)
def test_a_result_marked_as_failed_is_wrong_only_with_mcpcore(family):
    """On the SDK and FastMCP only such a result can carry a text and data."""
    answer = "CallToolResult(content=[TextContent(type='text', text=f'no {a}')], isError=True)"
    source = (
        f"from mcp.types import CallToolResult, TextContent\n{HEADS[family]}\n@server.tool()\ndef fetch(a: str):\n"
        f"    '''Fetch.'''\n    return {answer}\n"
    )
    rules = {diagnostic.rule for diagnostic in lint_source(source).diagnostics}
    assert ("no-error-as-data" in rules) == (family == "mcpcore")


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("pass", Severity.WARNING),
        ("print('not indexed')", Severity.INFO),
    ],
)
def test_a_deliberate_choice_has_a_lower_severity(body, severity):
    """On a plain server, silence is a warning; with a log line it is not."""
    source = (
        "from fastmcp import FastMCP\nmcp = FastMCP('x')\n\n@mcp.tool\ndef fetch(a: str) -> str:\n    '''Fetch.'''\n"
        f"    try:\n        index(a)\n    except Exception:\n        {body}\n    return a\n"
    )
    report = lint_source(source, settings=Settings(select=frozenset({"no-swallowed-error"})))
    assert [severity] == [diagnostic.severity for diagnostic in report.diagnostics]


@in_one_test("severity", list(Severity))
@in_one_test("family", HEADS)
def test_a_severity_in_the_settings_takes_precedence(family, severity):
    """It applies to a rule as a whole, or to the files that a pattern matches."""
    rule = "prefer-mcp-error-in-handler"
    for settings in (
        Settings(severities={rule: severity}),
        Settings(per_file=(PerFile("*", severities={rule: severity}),)),
    ):
        assert [severity] == [
            finding.severity for finding in findings_of(family, rule, "a sentence", settings=settings)
        ]


def test_a_tool_that_the_project_stores_is_information():
    """The project may wrap the tool and convert its exceptions to ToolError."""
    source = (
        "from mcp.server.mcpserver import MCPServer\nTOOLS = []\n\ndef tool(function):\n    TOOLS.append(function)\n"
        "    return function\n\n@tool\ndef fetch(a: str):\n    '''Fetch.'''\n    raise ValueError('no article')\n"
    )
    diagnostics = lint_source(source, root="/nonexistent").diagnostics
    assert [INFO] == [
        diagnostic.severity for diagnostic in diagnostics if diagnostic.rule == "prefer-mcp-error-in-handler"
    ]
