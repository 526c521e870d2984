"""Single patterns: what is converted, and what is left with which line in the report."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.migrate.converted import CONVERTED
from tests.migrate.left import LEFT
from tests.migrate.migrating import report, run

HEAD = """import contextlib
import functools
import json
from typing import Any

import requests
from cachetools import cached
from library import wrapped
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, TextContent
from mcpcore import Context as Own, ErrorCode, FailureMode, Server, tool

mcp = MCPServer("x")
NOT_FOUND = "Order not found"
EXTRA = {"x": 1}
"""


class Outcome(NamedTuple):
    """What became of a file."""

    before: str
    after: str
    report: str


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """All sources, migrated in one run."""
    folder = tmp_path_factory.mktemp("patterns")
    sources = {name: HEAD + textwrap.dedent(source) for name, (source, _) in {**CONVERTED, **LEFT}.items()}
    paths = {name: f"case_{number}.py" for number, name in enumerate(sources)}
    migration, files = run(folder, {paths[name]: source for name, source in sources.items()})
    lines = [(Path(left.path).name, left.text(left.path, left.line)) for left in migration.left]
    return {
        name: Outcome(source, files[paths[name]], "\n".join(line for path, line in lines if path == paths[name]))
        for name, source in sources.items()
    }


@pytest.mark.parametrize("name", CONVERTED)
def test_a_pattern_is_converted(name: str, outcomes: dict[str, Outcome]) -> None:
    """The new text compiles and has the expected part, or the tool stays as it is."""
    outcome = outcomes[name]
    compile(outcome.after, "after.py", "exec")
    expected = CONVERTED[name][1]
    if expected:
        assert expected in outcome.after
    else:
        assert "ctx.fail(" not in outcome.after


@pytest.mark.parametrize("name", LEFT)
def test_a_pattern_is_left(name: str, outcomes: dict[str, Outcome]) -> None:
    """The report has the expected part."""
    outcome = outcomes[name]
    compile(outcome.after, "after.py", "exec")
    assert LEFT[name][1] in outcome.report


def test_a_tool_whose_result_has_a_field_error_stays(outcomes: dict[str, Outcome], tmp_path: Path) -> None:
    """A contract would break the import of its file. As text alone, the result has no fields; so that tool is converted."""
    after = outcomes["a field error"].after
    for stays in ("@mcp.tool()\ndef find(x: str) -> Found:\n", "@mcp.tool()\ndef passes(x: str) -> Found:\n"):
        assert stays in after
    assert 'raise ctx.fail("order_is_gone", "the order is gone")' in after
    assert 'raise ctx.fail("text_is_long", "the text is long")' in after
    kept = after.replace("from cachetools import cached\nfrom library import wrapped\n", "").replace(
        "import requests\n", ""
    )
    (tmp_path / "server.py").write_text(kept)
    subprocess.run([sys.executable, "server.py"], cwd=tmp_path, check=True)


def test_a_method_of_an_object_of_a_module_is_followed(tmp_path: Path) -> None:
    """A failure that it returns, and that the tool passes on, has a line."""
    source = """from mcp.server.mcpserver import MCPServer

mcp = MCPServer("x")


class Fetcher:
    async def fetch(self, url: str) -> str:
        if not url:
            return "Error: the address is missing"
        return url


fetcher = Fetcher()


@mcp.tool()
async def fetch_content(url: str) -> str:
    return await fetcher.fetch(url)
"""
    outcome, _ = run(tmp_path, {"server.py": source})
    assert [
        (
            "server.py:7 fetch_content: fetch() returns a failure, and the tool passes it on: raise an exception there, or "
            "ctx.fail in the tool"
        )
    ] == report(outcome)


def test_a_function_that_builds_an_error_of_its_argument_has_a_line(tmp_path: Path) -> None:
    """Only a reader can tell whether it is a failure."""
    source = """from mcp.server.mcpserver import MCPServer

mcp = MCPServer("x")


def failed(text: str) -> dict[str, str]:
    return {"status": "error", "message": text}


@mcp.tool()
def find(name: str) -> dict[str, str]:
    return {"name": name} if name else failed("no name")
"""
    outcome, _ = run(tmp_path, {"server.py": source})
    decide = "raise an exception there, or ctx.fail in the tool"
    assert f"server.py:6 find: failed() may return a failure, and the tool passes it on: {decide}" in report(outcome)


def test_failures_that_are_returned_later_are_listed(tmp_path: Path) -> None:
    """They are put into a variable, which the function returns as it is or as JSON; also in a function that a tool calls."""
    source = """import json
from fastmcp import FastMCP

mcp = FastMCP("x")


@mcp.tool
def manage(action: str) -> str:
    if action == "list":
        result = {"success": True, "items": [action]}
    else:
        result = {"success": False, "action": action, "error": f"Unknown action {action}"}
    return json.dumps(result)


@mcp.tool
def look(name: str) -> dict:
    info: dict = {"name": name, "error": None}
    try:
        info["size"] = len(open(name).read())
    except OSError as e:
        info["error"] = f"cannot read it: {e}"
    except ValueError as e:
        info.update({"error": str(e)})
    seen = {"error": f"no {name}"}
    print(seen)
    return info


@mcp.tool
def audit(name: str) -> dict:
    return checked(name)


def checked(name: str) -> dict:
    out = {"success": False, "error": f"no {name}"}
    return out


@mcp.tool
def price(symbol: str) -> str:
    return none() if not symbol else symbol


def none() -> str:
    return '{"error": "All sources are down"}'


@mcp.tool
def state(name: str) -> dict:
    return Job(name).to_dict()


class Job:
    def __init__(self, name: str) -> None:
        self.error = None if name else "x"

    def to_dict(self) -> dict:
        return {"done": True, "error": self.error}
"""
    outcome, _ = run(tmp_path, {"server.py": source})
    later, decide = "a failure is put into what is returned later", "raise ctx.fail instead, with the rest as data"
    passed = "returns a failure, and the tool passes it on: raise an exception there, or ctx.fail in the tool"
    assert [
        f"server.py:13 manage: {later}: {decide}",
        f"server.py:23 look: {later}: {decide}",
        f"server.py:25 look: {later}: {decide}",
        f"server.py:36 audit: checked() {passed}",
        f"server.py:46 price: none() {passed}",
    ] == report(outcome)
