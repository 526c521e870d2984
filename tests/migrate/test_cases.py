"""What the codemods write, for servers in the style of the SDK and of FastMCP."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.migrate.migrating import CASES, migrated, run

NAMES = sorted(path.name.removesuffix(".before.py") for path in CASES.glob("*.before.py"))


@pytest.mark.parametrize("name", NAMES)
def test_a_server_is_migrated_and_a_second_run_changes_nothing(name: str, tmp_path: Path) -> None:
    """Each case gives its expected file, which the codemods then leave alone."""
    before, after = ((CASES / f"{name}.{state}.py").read_text() for state in ("before", "after"))
    first, files = run(tmp_path / "project", {"server.py": before})
    assert after == files["server.py"]
    compile(files["server.py"], "server.py", "exec")
    second, files = run(tmp_path / "project", {})
    assert () == second.files
    assert () == second.converted
    assert [(left.line, left.pattern) for left in first.left] == [(left.line, left.pattern) for left in second.left]


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        (b'\xef\xbb\xbffrom fastmcp import FastMCP\r\nmcp = FastMCP("a")\r\n', b"\r\n"),
        (b"# -*- coding: latin-1 -*-\n# \xe9\nfrom fastmcp import FastMCP\nmcp = FastMCP('a')\n", b"# \xe9\n"),
    ],
    ids=["bom-crlf", "latin-1"],
)
def test_encoding_and_line_ends_stay(raw: bytes, kept: bytes, tmp_path: Path) -> None:
    """Files keep their byte-order mark, their encoding and their line ends, also in the new lines."""
    newline = b"\r\n" if b"\r\n" in raw else b"\n"
    tool = b'@mcp.tool()\ndef f(x: str) -> str:\n\t"""\xc3\xa9"""\n\traise ValueError(f"x is {x} bad")'
    if b"latin" in raw:
        tool = tool.replace(b"\xc3", b"")
    run(tmp_path, {"server.py": raw + tool.replace(b"\n", newline)})
    written = (tmp_path / "server.py").read_bytes()
    assert kept in written
    assert raw.startswith(b"\xef") is written.startswith(b"\xef\xbb\xbf")
    assert b'\traise ctx.fail("x_is_bad", f"x is {x} bad")' in written
    assert b"\n\tdef" not in written
    assert not written.endswith(b"\n")
    if newline == b"\r\n":
        assert written.count(b"\r\n") == written.count(b"\n")
    compile(written, "server.py", "exec")


def test_names_in_tests_follow(tmp_path: Path) -> None:
    """Tests get the new names: in strings of patches, in attributes, in keywords of doubles, and in specs."""
    test = """from unittest.mock import MagicMock, patch

import pytest
from mcp.server.fastmcp import FastMCP
from pkg import server


@patch("pkg.server.FastMCP")
@patch("mcp.server.fastmcp.FastMCP.run")
def test_one(run, made):
    double = MagicMock(spec=FastMCP)
    result = MagicMock(isError=True, mine=1)
    assert result.isError and double.isErrorx
    with patch.object(server, "FastMCP"), patch.object(server.FastMCP, "run"):
        assert isinstance(server.mcp, FastMCP)
"""
    source = 'from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP("x")\n'
    files = {"pkg/__init__.py": "", "pkg/server.py": source, "tests/test_server.py": test}
    _, files = run(tmp_path, files)
    expected = (
        test.replace('"pkg.server.FastMCP"', '"pkg.server.Server"')
        .replace("mcp.server.fastmcp.FastMCP.run", "mcpcore.Server.run")
        .replace("from mcp.server.fastmcp import FastMCP", "from mcpcore import Server")
        .replace("spec=FastMCP", "spec=Server")
        .replace("server.mcp, FastMCP", "server.mcp, Server")
        .replace('server, "FastMCP"', 'server, "Server"')
        .replace("server.FastMCP, ", "server.Server, ")
        .replace("isError=True", "is_error=True")
        .replace("result.isError ", "result.is_error ")
    )
    assert expected == files["tests/test_server.py"]


def test_a_source_file_may_have_the_name_of_a_test(tmp_path: Path) -> None:
    """A file `test_runs.py` without tests is migrated; a file of tests keeps the failures of its tools."""
    source = 'from mcpcore import Server\n\nmcp = Server("x")\n\n\n@mcp.tool()\ndef f(x: int) -> int:\n    raise ValueError("x is too long")\n'
    assert "ctx.fail" in migrated(tmp_path / "a", source, name="test_runs.py")
    assert source == migrated(tmp_path / "b", f"{source}", name="tests/helpers.py")
    tests = f"{source}\n\ndef test_f() -> None:\n    pass\n"
    assert tests == migrated(tmp_path / "c", tests, name="test_f.py")


def test_version_one_names(tmp_path: Path) -> None:
    """McpError takes a code and a message in version 2, and its context does not name the session."""
    source = """from mcp import McpError, types
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.server.session import ServerSession
from mcp.types import ErrorData, INVALID_PARAMS


def check(x: int, ctx: Context[ServerSession, dict[str, int]], other: Context[ServerSession, None]) -> None:
    if x == 1:
        raise McpError(ErrorData(code=INVALID_PARAMS, message="x is 1"))
    error = types.ErrorData(code=1, message="x")
    raise McpError(error)
"""
    expected = """from mcp import MCPError, types
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import INVALID_PARAMS
from mcpcore import Server


def check(x: int, ctx: Context[dict[str, int]], other: Context[None]) -> None:
    if x == 1:
        raise MCPError(code=INVALID_PARAMS, message="x is 1")
    error = types.ErrorData(code=1, message="x")
    raise MCPError.from_error_data(error)
"""
    assert expected == migrated(tmp_path, source)


def test_only_some_rules_are_applied_and_later_runs_extend_the_contract(tmp_path: Path) -> None:
    """`--only` applies some rules; a later run adds entries and reasons to the contract that is there."""
    source = """from mcpcore import Server

mcp = Server("x")


@mcp.tool()
def f(x: int) -> str:
    if x == 1:
        return "Error: x is too short"
    raise ValueError("x is too long")
"""
    first = migrated(tmp_path, source, rules=("raise",))
    assert 'return "Error: x is too short"' in first
    assert 'Literal["x_is_too_long"]' in first
    second = migrated(tmp_path, first)
    assert 'Literal["x_is_too_long", "x_is_too_short"]' in second
    assert second.count("FailureMode(") == 2
    compile(second, "server.py", "exec")
    assert second == migrated(tmp_path, second)


def test_statements_that_share_lines(tmp_path: Path) -> None:
    """Each statement is changed by itself, whatever is on its line and in front of it; spaces behind the edit stay."""
    source = """from mcpcore import Server

mcp = Server("x")


@mcp.tool()
def f(x: str) -> str:
    if x: raise ValueError("order " + str(x) + " is too long")
    y = 1; raise RuntimeError(str(y).format(str(x)).join(
        str(x) ,
    )); print(str(y))
    if y:
        \\
        raise ValueError("y is too long")
    try:
        return open(x).read()
    except KeyError: return "Error: the key is too long"  # not good
    try:
        return open(y).read()
    except OSError :
        raise TimeoutError("it took too long")
"""
    expected = """    if x: raise ctx.fail("order_is_too_long", "order " + str(x) + " is too long")
    y = 1; raise RuntimeError(str(y).format(str(x)).join(
        str(x) ,
    )); print(str(y))
    if y:
        \\
        raise ctx.fail("y_is_too_long", "y is too long")
    try:
        return open(x).read()
    except KeyError as exc: raise ctx.fail("key_is_too_long", "the key is too long") from exc  # not good
    try:
        return open(y).read()
    except OSError as exc :
        raise ctx.fail("it_took_too_long", "it took too long") from exc
"""
    written = migrated(tmp_path, source)
    assert written.endswith(expected)
    assert written == migrated(tmp_path, written)


def test_clauses_stay_beside_a_contract_and_constants_that_are_there(tmp_path: Path) -> None:
    """A class is not mapped twice, and a constant of the file may need data, so neither gets a mapping."""
    source = """from mcpcore import ErrorCode, FailureMode, Server

mcp = Server("x")
NO_KEY = FailureMode("there_is_no_key", ErrorCode.NOT_FOUND, when="There is no key.", recovery="List the keys.")


@mcp.tool(errors=[NO_KEY.on(KeyError)])
def f(x: str) -> str:
    try:
        return {}[x]
    except KeyError as e:
        raise ValueError(f"there is no other key: {e}") from e


@mcp.tool()
def g(x: str) -> str:
    try:
        return {}[x]
    except KeyError as e:
        raise RuntimeError(f"there is no key: {e}") from e
"""
    written = migrated(tmp_path, source)
    assert 2 == written.count("    except KeyError as e:\n        raise ctx.fail(")
    assert 1 == written.count(".on(")
    assert "@mcp.tool(errors=[NO_KEY])" in written


def test_the_lines_of_a_diff_are_those_on_disk(tmp_path: Path) -> None:
    """Without `--write`, the report names the lines of the file as it is, also below a `try` that would go."""
    source = """from mcpcore import Server
from strange import Unknown

mcp = Server("x")


@mcp.tool()
def f(x: dict[str, str]) -> str:
    try:
        if not x:
            raise Unknown(x)
        return x["a"]
    except KeyError:
        return "Error: there is no a"
"""
    outcome, _ = run(tmp_path, {"server.py": source}, write=False)
    assert "-    except KeyError:" in outcome.files[0].diff("server.py")
    assert [11] == [left.line for left in outcome.left]
