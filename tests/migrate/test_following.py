"""Tests of a project follow the tools that they call."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.migrate.migrating import report, run

SERVER = """from typing import Any

from mcp.server.mcpserver import MCPServer

mcp = MCPServer("x")


@mcp.tool()
def check(x: int) -> int:
    if x < 0:
        raise ValueError(f"The number {x} is below zero")
    if x > 9:
        raise KeyError("There is no such number")
    return int(str(x))


def looked_up(x: str) -> str:
    if not x:
        raise ValueError("The name is empty")
    raise LookupError("There is no such name")


@mcp.tool()
def look_up(x: str) -> str:
    return looked_up(x)


@mcp.tool()
def found(x: str) -> dict[str, Any]:
    if x == "a":
        return {"error": "There is no order a"}
    return {"x": x}
"""
TESTS = """import pytest

from server import check, found, look_up


def test_check():
    with pytest.raises(ValueError, match="is below zero"):
        check(-1)
    with pytest.raises(KeyError):
        check(10)
    with pytest.raises(ValueError, match="invalid literal"):
        check("x" if False else 1) and int("x")
    with pytest.raises((ValueError, KeyError)):
        raise ValueError(check(1))
    with pytest.raises(ValueError, match="-12"):
        check(int("-12"))


def test_look_up():
    with pytest.raises(ValueError, match="is empty"):
        look_up("")
    with pytest.raises(LookupError):
        look_up("a")


def test_found():
    assert found("b") == {"x": "b"}
    result = found("a")
    assert "error" in result


def test_text():
    result = found("a")
    assert result["error"] == "There is no order a"


"""
OTHER = """
def test_other_uses():
    result = found("a")
    assert "error" in result
    print(result)
"""


def test_tests_of_raised_classes_follow(tmp_path: Path) -> None:
    """The class changes where the converted failure has the expected text; a returned failure that a test reads has a line."""
    outcome, files = run(tmp_path, {"server.py": SERVER, "test_server.py": TESTS})
    expected = TESTS.replace('raises(ValueError, match="is below', 'raises(CodedError, match="is below')
    expected = expected.replace("raises(KeyError)", "raises(CodedError)").replace(
        'ValueError, match="-', 'CodedError, match="-'
    )
    expected = expected.replace("\nfrom server", "from mcpcore import CodedError\n\nfrom server")
    assert expected == files["test_server.py"]
    left = (
        "of a helper is in no contract: raise a class of your own there, and declare it with .on(...), if clients need"
    )
    assert [
        f'server.py:34 look_up: ValueError("The name is empty") {left} its code or advice',
        f'server.py:35 look_up: LookupError("There is no such name") {left} its code or advice',
        "server.py:46 found: a test reads the failure that it returns: change test_server.py:29, and run the command again",
    ] == report(outcome)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    arguments = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    ran = subprocess.run(arguments, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert "4 passed" in ran.stdout, ran.stdout


def test_a_tool_whose_test_cannot_follow_goes_on_to_return_its_failure(tmp_path: Path) -> None:
    """A line names the test. Its other tests are unchanged."""
    outcome, files = run(tmp_path, {"server.py": SERVER, "test_server.py": TESTS + OTHER})
    assert 'return {"error": "There is no order a"}' in files["server.py"]
    assert 'assert result["error"] == "There is no order a"' in files["test_server.py"]
    assert "a test reads the failure that it returns: change test_server.py:" in "\n".join(report(outcome))


PATCHED = """from unittest.mock import patch

from server import found


def test_found():
    with patch("server.ORDERS", []):
        result = found("a")
    assert "error" in result
"""
KEPT = """import pytest

from server import tools


def test_found():
    result = tools["found"]("a")
    assert "error" in result
"""
INLINE = """import pytest

from server import tools


def test_found():
    assert "error" in tools['found']("a")
"""


@pytest.mark.parametrize("tests", [PATCHED, KEPT, INLINE], ids=["patched", "kept", "inline"])
def test_a_tool_returns_the_failure_that_a_test_reads(tests: str, tmp_path: Path) -> None:
    """A context manager that expects no exception hides no test, nor does a mapping of the tools by their names."""
    outcome, files = run(tmp_path, {"server.py": SERVER, "test_server.py": tests})
    assert 'return {"error": "There is no order a"}' in files["server.py"]
    assert "a test reads the failure that it returns: change test_server.py:" in "\n".join(report(outcome))


PASSING = """from mcp.server.mcpserver import MCPServer

mcp = MCPServer("x")


def known(name: str) -> str:
    if not name:
        raise ValueError("The name is empty")
    return name


@mcp.tool()
def sell(name: str, count: int) -> str:
    if known(name) and count > 9:
        raise ValueError("There is no stock of so many")
    return name
"""
UNNAMED = """import pytest

from server import sell


def test_sell():
    with pytest.raises(ValueError):
        sell("", 1)
    with pytest.raises(ValueError, match="no stock"):
        sell("a", 10)
"""


def test_a_test_that_expects_one_of_several_classes_follows(tmp_path: Path) -> None:
    """So does one of unittest, which may give a text as well."""
    test = """from unittest import TestCase

from server import check


class TestIt(TestCase):
    def test_it(self):
        with pytest.raises((ValueError, TypeError)):
            check(-1)
        with self.assertRaises(KeyError):
            check(10)
        with self.assertRaisesRegex(ValueError, "is below"):
            check(-1)
        with self.assertRaisesRegex(ValueError, "other"):
            check(-1)
        with self.assertRaises(TypeError):
            check(-1)
"""
    _, files = run(tmp_path, {"server.py": SERVER, "test_server.py": f"import pytest\n{test}"})
    expected = test.replace("TypeError))", "TypeError, CodedError))").replace("(KeyError", "(CodedError")
    expected = expected.replace('ValueError, "is', 'CodedError, "is')
    assert files["test_server.py"].endswith(expected.partition("\n\n\n")[2])


def test_a_test_that_expects_no_text_also_takes_what_a_helper_raises(tmp_path: Path) -> None:
    """Only the failure that the text names is certainly the one that changed."""
    _, files = run(tmp_path, {"server.py": PASSING, "test_server.py": UNNAMED})
    assert 'with pytest.raises((ValueError, CodedError)):\n        sell("", 1)' in files["test_server.py"]
    assert 'with pytest.raises(CodedError, match="no stock"):' in files["test_server.py"]


TOOLS = """from mcpcore import Server


class Tools:
    def __init__(self, mcp):
        mcp.add_tool(self.turn)

    def turn(self, direction: str) -> str:
        if direction == "up":
            raise ValueError("The direction is too long")
        raise ValueError(direction)


Tools(Server("x"))
"""
METHODS = """import pytest


def test_turn(tools):
    with pytest.raises(ValueError, match="is too.* long"):
        tools.turn("up")
    with pytest.raises(ValueError):
        tools.turn("left")
    with pytest.raises(ValueError, match="left"):
        tools.turn("left")
"""


def test_methods_of_objects_that_fixtures_make_follow(tmp_path: Path) -> None:
    """The name and the text tell which tool it is; without a text, either class may be raised."""
    _, files = run(tmp_path, {"tools.py": TOOLS, "test_tools.py": METHODS})
    assert 'raise ctx.fail("direction_is_too_long", "The direction is too long")' in files["tools.py"]
    for part in (
        'pytest.raises(CodedError, match="is too.* long")',
        "pytest.raises((ValueError, CodedError)):",
        'pytest.raises(ValueError, match="left")',
    ):
        assert part in files["test_tools.py"]


CALLED = """import json

import pytest


async def test_found(app):
    result = await app.call_tool("found", {"x": "b"})
    assert json.loads(result[0][0].text) == result[1]
    assert result and result[0]
    listed = await app.call_tool("found", {"x": "c"})
    assert listed[0].text
"""


def test_what_a_server_returned_follows(tmp_path: Path) -> None:
    """It was a tuple or a list in version 1; a test of a failure leaves the tool as it is."""
    server = SERVER.replace("mcpserver import MCPServer", "fastmcp import FastMCP").replace("MCPServer", "FastMCP")
    _, files = run(tmp_path / "a", {"server.py": server, "test_server.py": CALLED})
    for part in (
        "json.loads(result.content[0].text) == result.structured_content",
        "assert result and result.content",
        "assert listed.content[0].text",
    ):
        assert part in files["test_server.py"]
    assert 'return {"error"' not in files["server.py"]
    assert (
        'FastMCP("x")'.replace("FastMCP", "Server")[:-1] + ', expose_internal_errors="message")' in files["server.py"]
    )
    helper = "import pytest\n\n\ndef part(result):\n    return result[1]\n\n\nasync def test_part(app):\n    assert part(await app.call_tool('found', {}))\n"
    for text, after in (
        (helper, "    return result.structured_content\n"),
        (
            f"{helper}    answer = await app.call_tool('found', {{}})\n    part(answer)\n",
            "    return result.structured_content\n",
        ),
        (
            helper.replace("async def", "def").replace("await app", "asyncio.run(app").replace("{}))", "{})))"),
            "    return result.structured_content\n",
        ),
        (
            helper.replace("return result[1]", "blocks = result[0]\n    return blocks[0].text"),
            "    blocks = result.content\n    return blocks[0].text\n",
        ),
        (
            helper.replace("return result[1]", "block = result[0]\n    return block.text"),
            "    block = result.content[0]\n    return block.text\n",
        ),
        (
            helper.replace(
                "return result[1]", "part = result[0]\n    print(part.text)\n    part = result[1]\n    return part['x']"
            ),
            "    part = result.content[0]\n    print(part.text)\n    part = result.structured_content\n",
        ),
        (
            f"{helper}\n\ndef test_other(result):\n    assert isinstance(result, dict)\n",
            "    return result.structured_content\n",
        ),
        (
            f"{helper}\n\ndef call(app):\n    return asyncio.run(app.call_tool('found', {{}}))\n\n\n\
def test_called(app):\n    whole = call(app)\n    assert whole[0][0].text\n",
            "    assert whole.content[0].text\n",
        ),
        (f"{helper}    assert part([])\n", "    return result[1]\n"),
        (f"{helper}    assert part()\n", "    return result[1]\n"),
        (
            helper.replace(
                "    return", "    if not isinstance(result, tuple):\n        return result.content\n    return"
            ),
            "    return result[1]\n",
        ),
        (
            helper.replace("    return", "    if isinstance(result, tuple):\n        return"),
            "        return result[1]\n",
        ),
    ):
        outcome, files = run(tmp_path / f"helper{len(text)}", {"server.py": server, "test_server.py": text})
        assert after in files["test_server.py"]
        line = "a part of what call_tool() returned: read .structured_content or .content of the CallToolResult"
        assert ("if isinstance" in text) == any(line in left for left in report(outcome))
    failing = f"{CALLED}\n\nasync def test_missing(app):\n    assert await app.call_tool('found', {{'x': 'a'}})\n"
    _, files = run(tmp_path / "b", {"server.py": server, "test_server.py": failing})
    assert 'return {"error": "There is no order a"}' in files["server.py"]


UNWRAPPING = {
    "its function": "import inspect\nimport pytest\nfrom server import check\n\n\ndef test_x():\n    inspect.unwrap(check)(1)\n",
    # The SDK has no function to call for a tool with a contract.
    "that of the SDK": "from server import mcp\n\n\ndef test_x():\n    mcp._tool_manager.get_tool('check').fn(x=1)\n",
    "its signature": "import inspect\nimport pytest\nfrom server import check\n\n\ndef test_x():\n    assert inspect.signature(check).parameters\n",
}


@pytest.mark.parametrize("test", UNWRAPPING.values(), ids=UNWRAPPING.keys())
def test_a_tool_whose_function_a_test_calls_gets_no_contract(tmp_path: Path, test: str) -> None:
    """The test passes the arguments of the tool alone, so its places are left with a line, and classes of helpers too."""
    raising = 'raise ValueError(f"The number {x} is below zero")'
    server = SERVER.replace(f"        {raising}", "        raise Missing(str(x))").replace(
        "from typing", 'class Missing(Exception):\n    """Raised when a number is missing."""\n\n\nfrom typing', 1
    )
    outcome, files = run(tmp_path, {"server.py": server, "test_server.py": test})
    assert "def check(x: int) -> int:" in files["server.py"]
    line = "check: a test calls or inspects the function below its decorators: let it call the tool, and run the command again"
    assert 2 == sum(line in left for left in report(outcome))
