"""The command `mcpcore migrate`: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mcpcore.cli.root import cli
from tests.files import write_files
from tests.migrate.migrating import run

PLAIN = '''from fastmcp import FastMCP
from mcpcore.integrations.fastmcp import ContractMiddleware

mcp = FastMCP("x", middleware=[ContractMiddleware(expose_internal_errors="message")])


@mcp.tool
def f(x: int) -> int:
    """Fails."""
    raise ValueError("x is too long")
'''
LEFT = PLAIN.replace("(x: int)", "(*x: int)")


def command(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(cli, ["migrate", *arguments])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one server, which is the current folder."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "server.py").write_text(PLAIN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_first_run_shows_a_diff_that_git_applies(project: Path) -> None:
    """Without --write, nothing is written, and git applies the output to get what --write writes."""
    arguments = [sys.executable, "-m", "mcpcore", "migrate", ".", "--only", "raise", "--only", "server"]
    shown = subprocess.run(arguments, check=True, capture_output=True, text=True)
    assert PLAIN == (project / "server.py").read_text()
    assert "1 place would be converted in 1 file; nothing is left" in shown.stderr
    assert 'Where this wrote expose_internal_errors="message", clients go on to read' in shown.stderr
    (project / ".git").rmdir()
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", "init", "-q"], check=True, env=environment)
    subprocess.run(["git", "apply"], input=shown.stdout.encode(), check=True, env=environment)
    applied = (project / "server.py").read_text()
    (project / "server.py").write_text(PLAIN)
    assert 0 == command(".", "--write").exit_code
    assert applied == (project / "server.py").read_text()
    again = command(".", "--write")
    assert 0 == again.exit_code
    assert "" == again.stdout


def test_what_is_left_is_one_line_and_a_comment(project: Path) -> None:
    """The report names the line of each place that is left, in the file as it is on disk; the exit code is 1."""
    (project / "server.py").write_text(LEFT)
    line = "the tool takes any arguments: name each of them, since a contract describes them to the client"
    shown = command("server.py")
    assert 1 == shown.exit_code
    assert shown.stdout.splitlines()[-1] == f"server.py:10 f: {line}"
    written = command("server.py", "--write")
    assert 1 == written.exit_code
    number = int(written.stdout.splitlines()[-1].split(":")[1].split()[0])
    assert 'raise ValueError("x is too long")' in (project / "server.py").read_text().splitlines()[number - 1]
    assert 1 == command("server.py", "--write").exit_code


def test_a_file_with_a_syntax_error_is_left(project: Path) -> None:
    """The report names the file, and the other files are migrated."""
    (project / "broken.py").write_text("from mcp import x\ndef f(:\n")
    result = command(".", "--write")
    assert 1 == result.exit_code
    assert "broken.py:2: parse-error: invalid syntax; correct the file and run again" in result.stdout
    assert "ctx.fail" in (project / "server.py").read_text()


def test_what_cannot_run_exits_with_2(project: Path) -> None:
    """Unknown paths and rules, and files that cannot be written, exit with 2."""
    missing = command("nowhere")
    assert 2 == missing.exit_code
    assert "nowhere: no such file or folder" in missing.stderr
    unknown = command(".", "--only", "rise")
    assert 2 == unknown.exit_code
    assert "'rise' is not one of server, raise" in unknown.stderr
    (project / "server.py").chmod(0o444)
    refused = command(".", "--write")
    assert 2 == refused.exit_code
    assert "server.py: not written: the file is read-only" in refused.stderr
    assert PLAIN == (project / "server.py").read_text()


def test_a_folder_without_tools_is_named_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong path does not look like a finished migration."""
    monkeypatch.chdir(tmp_path)
    done = command(".")
    assert 0 == done.exit_code
    assert "No tools were found. Name the files or folders of the server." in done.stderr


def test_what_clients_read_differently_has_a_line(tmp_path: Path) -> None:
    """It is there for the servers that change in that way, and only for them."""
    refused, unknown = (
        "Refused arguments read differently",
        "Those that a tool with a contract does not have are refused",
    )
    data, logged = "The data of a failure of a resource have an `error`", "Failures are logged with their texts"
    schema = "`error` among their properties and `required` in `anyOf`"
    effects, version = "Failures say that the call may have taken effect", "Clients read an empty version of the server"
    sdk = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('x')\n"
    resource = "\n\n@mcp.resource('x://y')\ndef y() -> str:\n    return 'y'\n"
    tool = "\n\n@mcp.tool()\ndef f() -> str:\n    raise ValueError('The file is not there')\n"
    low = "from mcp.server import Server\n\nserver = Server('x')\n\n\n@server.list_tools()\nasync def f():\n    return []\n"
    for number, (source, expected) in enumerate([
        (f"{sdk}{resource}", [refused, data, logged, schema, version]),
        (f"{sdk}mcp._mcp_server.version = '3'\n", [refused, logged, schema]),
        (f"{sdk}{tool}", [refused, unknown, logged, schema, effects, version]),
        (f"{sdk}{tool}".replace("-> str", "-> 'dict[str, Any]'"), [refused, unknown, logged, effects, version]),
        (f"{sdk}{tool}".replace("tool()", "tool(structured_output=False)"), [refused, unknown, logged, effects, version]),
        (f"{sdk}{resource}".replace("mcp.server.fastmcp", "fastmcp"), [refused, data]),
        ("from mcp.types import ImageContent\n\nprint(ImageContent.mimeType)\n", []),
        (low, [version]),
        (low.replace("'x'", "'x', '3'"), []),
    ]):  # fmt: skip
        write_files(tmp_path / str(number), {"server.py": source})
        stderr = command(str(tmp_path / str(number))).stderr
        assert expected == [
            text for text in (refused, unknown, data, logged, schema, effects, version) if text in stderr
        ]


def test_files_that_are_generated_are_named(tmp_path: Path) -> None:
    """Their templates need the change, too; a generator that holds such a text is no generated file."""
    code = 'from mcp.server.fastmcp import FastMCP\n\nHEADER = "# DO NOT EDIT"\nmcp = FastMCP("x")\n'
    for name, head in (
        ("made", '"""A server.\n\nDO NOT EDIT THIS FILE.\n"""\n'),
        ("mark", "# @generated\n"),
        ("own", ""),
    ):
        (tmp_path / f"{name}.py").write_text(head + code)
    stderr = command(str(tmp_path)).stderr
    assert f"Files say that they are generated: {tmp_path / 'made.py'}, {tmp_path / 'mark.py'}. Change" in stderr
    assert "3 files would change" in stderr


def test_options_of_the_server_are_listed(tmp_path: Path) -> None:
    """The report names options that version 2 takes elsewhere."""
    source = 'from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP("x", host="h", port=1)  # FastMCP\n'
    (tmp_path / "server.py").write_text(source)
    (tmp_path / "both.py").write_text(
        "from fastmcp import FastMCP\nfrom mcp.server.fastmcp import FastMCP as SDK\n\nmcp = SDK('x')\nother: FastMCP\n"
    )
    threads = "runs functions without `async` in parallel threads (every tool, resource and prompt): "
    stderr = command(str(tmp_path)).stderr
    assert threads in stderr
    assert "advertise_errors=False of Server, for clients that do not validate failures" in stderr
    assert f"still name the old class of the server: {tmp_path / 'server.py'}:3." in stderr
    (tmp_path / "tools.py").write_text("from server import mcp\n\n\n@mcp.tool()\nasync def f() -> None: ...\n")
    assert "in parallel threads" not in command(str(tmp_path)).stderr
    fast = "from fastmcp import FastMCP\n\nmcp = FastMCP('x')\n\n\n@mcp.tool\ndef f() -> str:\n    return ''\n"
    for number, (pin, is_2) in enumerate({">=2.12": 1, "[x] ~= 2.3": 1, "<3": 1, ">=3,<4": 0, "": 0}.items()):
        write_files(tmp_path / str(number), {"server.py": fast, "requirements.txt": f"fastmcp{pin}\nmcp==2.0\n"})
        stderr = command(str(tmp_path / str(number))).stderr
        assert bool(is_2) == ("FastMCP since 3.0 runs functions without `async` in parallel threads (f): " in stderr)
    outcome, _ = run(tmp_path, {"server.py": source})
    assert [
        "server.py:3: host='h' of the server, which SDK 2.0 does not have, is removed: give it where the server is run",
        "server.py:3: port=1 of the server, which SDK 2.0 does not have, is removed: give it where the server is run",
    ] == [removed.text(Path(removed.path).name, removed.line) for removed in outcome.removed]


def test_functions_that_a_decorator_makes_async_run_in_no_thread(tmp_path: Path) -> None:
    """The line about threads leaves them out; one that has a wrapper for either kind returns a plain function."""
    source = "from mcp.server.fastmcp import FastMCP\n\nmcp = FastMCP('x')\n"
    threaded = "def threaded(run):\n    async def runner():\n        return run()\n    return runner\n\n"
    either = threaded.replace("    return runner", "    def plain():\n        return run()\n    return runner or plain")
    for number, (above, marks, is_plain) in enumerate((
        (threaded, "@mcp.tool()\n@threaded", 0),
        (either, "@mcp.tool()\n@threaded", 1),
        ("def make():\n    def wrap(run):\n        async def runner(): ...\n    return wrap\nmcp.tool = make\n", "@mcp.tool()", 0),
        ("mcp.tool = mcp.tool\n", "@mcp.tool()", 1),
    )):  # fmt: skip
        write_files(
            tmp_path / f"made{number}", {"server.py": f"{source}{above}\n\n{marks}\ndef f() -> str:\n    return ''\n"}
        )
        assert bool(is_plain) == ("in parallel threads (f)" in command(str(tmp_path / f"made{number}")).stderr)


def test_the_report_is_in_the_order_of_importance(project: Path) -> None:
    """Places that are left come first, possible failures come last, and nothing speaks of a TODO that is not there."""
    source = """from fastmcp import FastMCP

mcp = FastMCP("x")


def checked(x: str) -> str:
    raise RuntimeError(f"Failed: {x}")


@mcp.tool
def f(x: str) -> str:
    return checked(x)


@mcp.tool
def g(*x: str) -> str:
    raise ValueError("No text")


@mcp.tool
def h(x: str) -> str:
    try:
        return x.lower()
    except Exception as e:
        return f"Error: {e}"


@mcp.tool
def i(x: str) -> list[str]:
    try:
        return [x.lower()]
    except Exception:
        return []
"""
    (project / "server.py").write_text(source)
    (project / "Dockerfile").write_text("RUN pip install 'fastmcp<3'\n")
    done = command(".", "--write")
    assert 1 == done.exit_code
    starts = [line.partition(":")[0] for line in done.stdout.splitlines() if line.endswith(":") or ": PATH" in line]
    assert [
        "Left to you",
        "About the project",
        "Removed, for a reviewer",
        "Possible failures, for a reviewer",
    ] == starts
    assert "TODO" not in done.stderr
    assert "Next: run your formatter, do what the lines above say, and run your tests." in done.stderr


def test_many_possible_failures_are_shown_in_part(project: Path) -> None:
    """A reviewer sees the texts of some, since a list of lines says nothing about what clients may read."""
    raises = "".join(f"    if x == {number}:\n        raise OSError('No {number}')\n" for number in range(25))
    (project / "helper.py").write_text(f"def help(x: int) -> None:\n{raises}")
    tools = "".join(
        f"\n\n@mcp.tool\ndef {name}(x: int) -> None:\n    {body}\n" for name, body in (("f", "help(x)"), ("g", "two()"))
    )
    (project / "two.py").write_text(
        "def two() -> None:\n    raise KeyError('No two')\n\n\ndef three() -> None:\n    two()\n"
    )
    (project / "server.py").write_text(
        f'from fastmcp import FastMCP\n\nfrom helper import help\nfrom two import three, two\n\nmcp = FastMCP("x"){tools}'
        "\n\n@mcp.tool\ndef h() -> None:\n    three()\n"
    )
    lines = command(".").stdout.partition("Possible failures")[2].splitlines()
    assert [
        (
            "26 places: an exception of a helper is in no contract: raise a class of your own there, and declare it with "
            ".on(...), if clients need its code or advice"
        ),
        '    two.py:2 g, h: KeyError("No two")',
        *(f'    helper.py:{3 + 2 * number} f: OSError("No {number}")' for number in range(11)),
        "    and 14 more: helper.py:25, 27, 29, 31, 33, 35, 37, 39, 41, 43, 45, 47, 49, 51",
    ] == lines[1:]


def test_places_that_are_alike_are_one_line(project: Path) -> None:
    """A file has one line for a finding with the same next step; it names eight places, and their tools."""
    tools = "".join(
        f"\n\n@mcp.tool\ndef f{number}(x: str, *y: str) -> str:\n    raise ValueError('The text is too long')\n"
        for number in range(9)
    )
    (project / "server.py").write_text(f'from fastmcp import FastMCP\n\nmcp = FastMCP("x"){tools}')
    done = command(".")
    lines = [line for line in done.stdout.splitlines() if "the tool takes any arguments" in line]
    assert [
        (
            "9 places: server.py:7, 12, 17, 22, 27, 32, 37, 42, … f0, f1, f2 and 6 more: the tool takes any arguments: name "
            "each of them, since a contract describes them to the client"
        )
    ] == lines
    assert "9 places left to you" in done.stderr
    (project / "pyproject.toml").write_text("[project]\ndependencies = ['fastmcp<3']\nrequires-python = '>=3.10'\n")
    for number in range(14):
        (project / f"{number}.md").write_text("Python 3.9\n")
    assert "    and 2 more: 8.md:1; 9.md:1\n" in command(".").stdout


def test_places_with_tests_or_classes_share_a_next_step(project: Path) -> None:
    """Each has a line with its test or its class."""
    tools = "".join(
        f"\n\n@mcp.tool\ndef {name}(x: str) -> dict:\n    return {{'error': 'The text is too long'}}\n" for name in "fg"
    )
    results = "".join(
        f"\n\nclass {name}(BaseModel):\n    error: str = ''\n\n\n@mcp.tool\ndef {name.lower()}(x: str) -> {name}:\n"
        f"    if not x:\n        raise ValueError('The text is too short')\n    return {name}(error=x)\n"
        for name in ("First", "Second")
    )
    (project / "server.py").write_text(
        f'from fastmcp import FastMCP\nfrom pydantic import BaseModel\n\nmcp = FastMCP("x"){tools}{results}'
    )
    reads = "".join(f"def test_{name}():\n    assert server.{name}('')['error'] == 'x'\n" for name in "fg")
    (project / "test_server.py").write_text(f"import pytest\nimport server\n{reads}")
    lines = command(".").stdout.partition("next step:\n")[2].splitlines()
    assert [
        "2 places: a test reads the failure that it returns: change it, and run the command again",
        "    server.py:8 f: test_server.py:4",
        "    server.py:13 g: test_server.py:6",
        (
            "2 places: the field error of a result: give it another name, since clients look for a failure there, and run "
            "the command again"
        ),
        "    server.py:23 first: the result First",
        "    server.py:34 second: the result Second",
    ] == lines[:6]
