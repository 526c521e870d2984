"""Tests of a project follow the tools that they call."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
    assert result["success"] is False
    assert not result["success"]
    assert result["error"] == "There is no order a"
    assert "no order" in result["error"]


def test_other_uses():
    result = found("a")
    assert "error" in result
    print(result)
    both = found("a")
    assert len(both) == 1, "error"
"""


def test_tests_of_raised_classes_follow(tmp_path: Path) -> None:
    """The class changes where the converted failure has the expected text; an assert about a returned failure has a line."""
    outcome, files = run(tmp_path, {"server.py": SERVER, "test_server.py": TESTS})
    expected = TESTS.replace('raises(ValueError, match="is', 'raises(CodedError, match="is')
    expected = expected.replace("raises(KeyError)", "raises(CodedError)")
    expected = expected.replace('raises(ValueError, match="is empty', 'raises(CodedError, match="is empty')
    expected = expected.replace("raises(LookupError)", "raises(CodedError)")
    expected = expected.replace("found, look_up\n", "found, look_up\nfrom mcpcore import CodedError\n")
    expected = expected.replace(
        """    result = found("a")
    assert "error" in result


def test_text():
    result = found("a")
    assert result["success"] is False
    assert not result["success"]
    assert result["error"] == "There is no order a"
    assert "no order" in result["error"]
""",
        """    with pytest.raises(CodedError) as caught:
        found("a")


def test_text():
    with pytest.raises(CodedError) as caught:
        found("a")
    assert "There is no order a" == str(caught.value)
    assert "no order" in str(caught.value)
""",
    )
    assert expected == files["test_server.py"]
    assert [
        "test_server.py:40: found() returned a failure, and a test asserts that: expect CodedError with pytest.raises"
    ] == report(outcome)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    arguments = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not other", str(tmp_path)]
    ran = subprocess.run(arguments, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert "4 passed" in ran.stdout, ran.stdout
