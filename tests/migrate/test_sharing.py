"""Tools of several files share helpers, and each text that a model read before has a line."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from mcpcore.cli.root import cli
from tests.migrate.migrating import report, run

SERVER = """from mcp.server.fastmcp import FastMCP

from pkg import one, two

mcp = FastMCP("x")
one.register(mcp)
two.register(mcp)
"""
TOOLS = """from mcp.server.fastmcp import FastMCP

from pkg.client import get, make
from pkg.paths import check


def register(mcp: FastMCP) -> None:
    @mcp.tool()
    def {name}(path: str) -> str:
        check(path)
        make(path)
        return get(path)
"""
CLIENT = """from fastapi import HTTPException


class EmptyPathError(ValueError):
    pass


def get(path: str) -> str:
    if not path:
        raise EmptyPathError("path must not be empty at the start of a call")
    if path == "x":
        raise HTTPException(status_code=404, detail="There is no x")
    return path


def create_error(text: str) -> RuntimeError:
    return RuntimeError(f"[client] {text}")


def make(path: str) -> None:
    if path == "y":
        raise create_error("There is no y")
"""
PATHS = """from pkg.client import EmptyPathError, get


def check(path: str) -> None:
    if path == "z":
        raise EmptyPathError("path must not be empty at the start of a call")
    get(path)
"""


CITIES = '''from mcpcore import Server

mcp = Server("x")


@mcp.tool()
def first(city: str) -> str:
    """Find it."""
    if city == "x":
        raise ValueError("City not found. Use list_cities.")


@mcp.tool()
def second(city: str) -> str:
    """Find it."""
    if city == "y":
        raise ValueError("City not found. Check the spelling.")
'''


def test_failures_with_other_advice_have_other_entries(tmp_path: Path) -> None:
    """Both clients read the advice that they read before."""
    _, files = run(tmp_path, {"server.py": CITIES})
    assert all(f'recovery="{advice}"' in files["server.py"] for advice in ("Use list_cities.", "Check the spelling."))


def _project(tmp_path: Path) -> dict[str, str | bytes]:
    tools = {f"pkg/{name}.py": TOOLS.format(name=name) for name in ("one", "two")}
    return {"server.py": SERVER, "pkg/__init__.py": "", "pkg/client.py": CLIENT, "pkg/paths.py": PATHS, **tools}


def test_every_exception_of_a_helper_has_a_line(tmp_path: Path) -> None:
    """This holds for an argument by its name, and for an exception that another function makes."""
    outcome, _ = run(tmp_path, _project(tmp_path), write=False)
    own = 'EmptyPathError("path must not be empty at the start of a call") of a helper is in no contract'
    assert [
        own,
        'HTTPException("There is no x") of a helper is in no contract',
        'RuntimeError("[client] \N{HORIZONTAL ELLIPSIS}") of a helper is in no contract',
        own,
    ] == [left.pattern for left in outcome.left if "helper" in left.pattern]


def test_places_with_the_same_next_step_share_it(tmp_path: Path) -> None:
    """The report says the step once, with the places below it."""
    run(tmp_path, _project(tmp_path), write=False)
    result = CliRunner().invoke(cli, ["migrate", str(tmp_path)])
    lines = result.output.splitlines()
    left = "an exception of a helper is in no contract"
    # The project can declare the class that it has.
    own = next(number for number, line in enumerate(lines) if line.startswith(f"2 places: {left}: declare it"))
    assert ["client.py:10 one, two: Em", "paths.py:6 one, two: Em"] == [
        line.rpartition("/")[2].partition("ptyPath")[0] for line in lines[own + 1 : own + 3]
    ]
    at = next(number for number, line in enumerate(lines) if line.startswith(f"2 places: {left}: raise a class"))
    assert lines[at + 1].endswith('client.py:12 one, two: HTTPException("There is no x")')
    assert lines[at + 2].endswith('client.py:17 one, two: RuntimeError("[client] \N{HORIZONTAL ELLIPSIS}")')
    assert 1 == result.output.count("raise a class of your own")


LOW_LEVEL = """from mcp import McpError
from mcp.server import Server
from mcp.types import CallToolResult, Tool

server = Server("x")


@server.list_tools()
async def list_tools() -> list[Tool]:
    return [Tool(name="find-one", inputSchema={})]


@server.call_tool()
async def call_tool(name: str, arguments: dict) -> dict:
    if name != "find-one":
        raise McpError(name)
    return CallToolResult(content=[], isError=False).model_dump()
"""


def test_a_low_level_server_keeps_its_names(tmp_path: Path) -> None:
    """Half of the new names would be right for no version of the SDK."""
    test = "from pkg import call_tool\n\n\ndef test_x(result):\n    assert result.isError\n"
    outcome, files = run(tmp_path, {"pkg.py": LOW_LEVEL, "tests/test_pkg.py": test})
    assert () == outcome.files
    assert [LOW_LEVEL, test] == [*files.values()]
    line = report(outcome)[0]
    assert "find-one: call_tool() of a low-level server answers for all tools" in line
    assert "a function such as find_one(...)" in line


def test_a_value_of_an_argument_that_is_invalid_is_the_callers_fault(tmp_path: Path) -> None:
    """A failure that is returned has no class; the message shows which argument it is about."""
    source = """from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")
DIRECTIONS = ("left", "right")


@mcp.tool()
def turn(direction: str) -> dict:
    if direction == "up":
        return {"error": f"Invalid direction: {direction}. Valid directions: {', '.join(DIRECTIONS)}"}
    if direction == "down":
        return {"error": f"Invalid direction: {direction}"}
    return {}
"""
    other = """from server import mcp


@mcp.tool()
def move(direction: str) -> dict:
    if direction == "down":
        return {"error": f"Invalid direction: {direction}"}
    return {"error": f"Invalid state: {mcp.name}"}
"""
    third = """import json
from server import mcp


@mcp.tool()
def save(plan: str) -> dict:
    try:
        return json.loads(plan.strip())
    except json.JSONDecodeError as exc:
        return {"error": f"Invalid JSON: {exc}"}


@mcp.tool()
def load(path: str) -> dict:
    try:
        return json.loads(read(path))
    except json.JSONDecodeError as exc:
        return {"error": f"Invalid JSON: {exc}"}
"""
    outcome, files = run(tmp_path, {"server.py": source, "other.py": other, "third.py": third})
    # A text of the server that is no JSON is not the caller's fault.
    assert ["validation", "serialization"] == re.findall(r"raise (\w+)_error\(f\"Invalid JSON", files["third.py"])
    assert 'VALIDATION_ERROR,\n            when="The direction is not one of left, right."' in files["server.py"]
    # A sentence that leaves out what is right says no more than the code.
    assert 'raise validation_error(f"Invalid direction: {direction}")' in files["server.py"]
    # INTERNAL_ERROR would say that another attempt is useless, which may be false.
    assert 'return {"error": f"Invalid state: {mcp.name}"}' in files["other.py"]
    # A file does not return some failures and raise others.
    assert 'return {"error": f"Invalid direction: {direction}"}' in files["other.py"]
    assert "move: other failures are returned, and stay" in report(outcome)[0]
    assert "move: a failure is returned whose text tells no code: declare a failure mode" in report(outcome)[1]


def test_files_that_do_not_name_the_protocol_count(tmp_path: Path) -> None:
    """The function of a tool may be in one, and so may other code that reads what it returns."""
    tool = 'def find(path: str) -> dict:\n    if not path:\n        return {"error": "The path is empty"}\n    return {"path": path}\n'
    files: dict[str, str | bytes] = {
        "server.py": "from fastmcp import FastMCP\nfrom finding import find\n\nserver = FastMCP('x')\nserver.tool(find)\n",
        "finding.py": tool,
    }
    assert "ctx.fail" in run(tmp_path / "a", files)[1]["finding.py"]
    files["worker.py"] = "from finding import find\n\n\ndef work(path):\n    return find(path)['path']\n"
    assert any("a failure is returned to other code too" in line for line in report(run(tmp_path / "b", files)[0]))
