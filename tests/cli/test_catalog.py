"""`mcpcore catalog` and `mcpcore diff`: their sources, outputs and exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
from click.testing import CliRunner

from mcpcore.cli.root import cli
from mcpcore.cli.sources import _unpack, parse_source
from tests.catalog.making import catalog, failure, item
from tests.files import write_files

pytestmark = pytest.mark.no_server

ROOT = Path(__file__).parents[2]
WILD = Path(__file__).parent / "servers" / "contracts.py"
LOWLEVEL = Path(__file__).parent / "servers" / "lowlevel.py"
SHIPPING = ROOT / "examples" / "shipping" / "server.py"

SERVER = '''\
"""A server."""
from typing import Annotated

import store
from pydantic import BaseModel
from mcp_types import ToolAnnotations
from mcpcore import Context, ErrorCode, FailureMode, Retry, Server, prompt, resource, tool

print("noise")

Id = Annotated[str, "of one"]


class Gone(BaseModel):
    id: str
    at: int | None = None


@tool(
    annotations=ToolAnnotations(read_only_hint=True),
    errors=[
        FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call search to find another one.",
                    data=Gone, example={"id": "1"}, strategy="check_input"),
        FailureMode("busy", ErrorCode.RATE_LIMITED, when="It is busy.", recovery="Wait and call again.",
                    retry=Retry.after(seconds=3), effects="none"),
    ],
)
def fetch(ctx: Context, id: Id) -> str:
    """Fetch one."""
    if id == "1":
        raise ctx.fail("gone", data=Gone(id=id))
    if not store.find(id):
        raise ctx.fail("busy")
    return id


@resource("doc://{id}", errors=[FailureMode("no_doc", ErrorCode.NOT_FOUND, when="None.", recovery="List the documents.")])
def doc(ctx: Context, id: str) -> str:
    """A document."""
    raise ctx.fail("no_doc")


@prompt(errors=[FailureMode("no_topic", ErrorCode.NOT_FOUND, when="None.", recovery="Choose another topic.")])
def ask(ctx: Context, topic: str) -> str:
    """Ask."""
    raise ctx.fail("no_topic")


def plain(x: int = 0) -> str:
    """A plain tool."""
    try:
        return str(store.find(str(x)))
    except KeyError as exc:
        return f"Error: {exc}"


server = Server("articles", tools=[fetch], resources=[doc], prompts=[ask])
server.add_tool(plain)
server.add_tool(len, name="length")
'''
STORE = '"""A store."""\n\n\ndef find(key):\n    """Find it."""\n    raise LookupError(key)\n'


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a server, in a repository of git whose only commit has it."""
    write_files(tmp_path, {"server.py": SERVER, "store.py": STORE, "pyproject.toml": "[project]\nname = 'x'\n"})
    monkeypatch.chdir(tmp_path)
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first")
    return tmp_path


def git(*arguments):
    subprocess.run(["git", *arguments], check=True, capture_output=True, timeout=60)


def mcpcore(*arguments):
    return CliRunner().invoke(cli, list(map(str, arguments)), catch_exceptions=False)


def made(*arguments):
    done = mcpcore("catalog", *arguments, "--format", "json")
    assert 0 == done.exit_code, done.stderr
    return json.loads(done.stdout)["servers"]


def by_name(servers):
    return {entry["name"]: entry for server in servers for entry in server["items"]}


def test_an_imported_server_is_listed_with_its_contracts_and_its_source(project):
    """It is not started; the declarations, the listing and the source code are put together."""
    servers = made("server.py")
    assert ["articles"] == [server["name"] for server in servers]
    items = by_name(servers)
    busy, gone = items["fetch"]["errors"]
    assert {"kind": "retryable_after_ms", "afterMs": 3000} == busy["retry"]
    assert ({"id": "1"}, "check_input") == (gone["example"], gone["strategy"])
    assert "at" in gone["dataSchema"]["properties"]
    assert [{"path": "server.py", "function": "fetch"}] == gone["raised"]
    assert [{"type": "LookupError", "raised": [{"path": "store.py", "function": "find", "through": ["fetch"]}]}] == (
        items["fetch"]["undeclared"]
    )
    assert items["fetch"]["readOnly"] is True
    assert "no_doc" == items["doc://{id}"]["errors"][0]["reason"]
    assert [{"path": "server.py", "function": "ask"}] == items["ask"]["errors"][0]["raised"]
    assert ["raised", "returned"] == items["plain"]["failures"]
    assert "defined" not in items["length"]
    assert "store" not in sys.modules


def test_source_code_is_read_without_running_it(project):
    """A folder, or a file with --static: nothing is imported, and the contracts are the same."""
    # A model that contains itself four times is followed, but not far.
    inner = "".join(f'    {name}: "Gone | None" = None\n' for name in ("all_of", "any_of", "none_of", "near"))
    source = SERVER.replace('print("noise")', "raise SystemExit(7)").replace("    at:", inner + "    at:")
    (project / "server.py").write_text(source, encoding="utf-8")
    static = by_name(made("--static", "server.py"))
    assert ["busy", "gone"] == [error["reason"] for error in static["fetch"]["errors"]]
    assert static == by_name(made(project)) == by_name(made("--static", "server"))
    assert 1_000 < len(json.dumps(static["fetch"]["errors"])) < 1_000_000
    assert ["string"] == [static["fetch"]["inputSchema"]["properties"]["id"]["type"]]
    refused = mcpcore("catalog", "server.py")
    assert 2 == refused.exit_code
    assert "mcpcore catalog --static server.py" in refused.stderr


def test_a_revision_is_read_and_never_run(project):
    """`REV:PATH` reads the code of a commit; the working tree and its code play no part."""
    write_files(project, {"server.py": SERVER.replace('"gone"', '"missing"'), "trap.py": "raise SystemExit(1)"})
    same = mcpcore("diff", "main:server.py", "HEAD:./server.py")
    assert (0, "The contracts are the same.\n") == (same.exit_code, same.stdout)
    changed = mcpcore("diff", "main:server.py", "server.py")
    assert 1 == changed.exit_code
    assert "breaking  tool fetch, missing: the reason was renamed from gone  [reason-renamed]" in changed.stdout
    assert 1 == mcpcore("diff", "HEAD:", ".").exit_code
    assert 0 == mcpcore("diff", "main:server.py", "server.py", "--fail-on", "never").exit_code
    (project / "inner").mkdir()
    os.chdir(project / "inner")
    assert 0 == mcpcore("diff", "main:../server.py", "main:server.py").exit_code
    # Whatever modes git gives to files, they can be read.
    git("config", "tar.umask", "0777")
    _unpack(parse_source("main:server.py"), project / "inner")
    assert os.stat("server.py").st_mode & 0o600 == 0o600


def test_a_catalog_in_a_revision_is_read_as_it_is(project):
    """A lock file of another commit is data."""
    assert 0 == mcpcore("catalog", "server.py", "-o", "lock.json").exit_code
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "lock")
    assert 0 == mcpcore("diff", "main:lock.json", "lock.json").exit_code
    assert 0 == mcpcore("diff", "main:lock.json", "server.py", "--import").exit_code


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["main:nothing.py"], "main:nothing.py: the revision has no 'nothing.py'"),
        (["main:pyproject.toml"], "registers no tools"),
        (["nobranch:server.py"], "the git repository has no revision nobranch"),
        (["origin/main:server.py"], "the git repository has no revision origin/main"),
        (["0123456789" * 4 + ":server.py"], "check out the whole history (actions/checkout with fetch-depth: 0)"),
        (["nobranch:app"], "there is neither a module nor a git revision nobranch"),
        (["store:nothing"], "store has no nothing"),
        (["missing.json"], "the file missing.json does not exist"),
        (["store.py", "--static"], "store.py registers no tools, resources or prompts"),
        (["broken.py", "--static"], "broken.py cannot be read: broken.py:2: "),
        (["absent", "--static"], "the file of the module absent was not found"),
        (["broken.json"], "broken.json is not JSON"),
        (["huge.json"], "is larger than"),
        ([], "which server?"),
        (["--"], "the command after `--` is missing"),
        (["server.py:nothing"], "server.py has no nothing"),
        (["bad"], "the configuration cannot be used"),
        (["lists.py"], "lists.py cannot list what it has: ValueError: no"),
        (
            ["refuses.py"],
            "refuses.py cannot list what it has: ValueError: the server refused to list its tools: not now",
        ),
        (["infinite.json", "--format", "json"], "the catalog cannot be written as JSON"),
        (["server.py", "-o", "no/such/folder/x.md"], "cannot be written"),
        (["server.py", "-o", "server.py"], "server.py is source code that this command has not written"),
        (["server.py", "-o", "LOUD.PY"], "LOUD.PY is source code that this command has not written"),
        (["server.py", "-o", "shapes.PyI"], "shapes.PyI is source code that this command has not written"),
    ],
)
def test_what_cannot_be_read_is_named(project, monkeypatch, words, message):
    """A message says what is wrong and where, and the exit code is 2."""
    (project / "broken.py").write_text("from mcpcore import tool\n@tool(\n", encoding="utf-8")
    for name in ("LOUD.PY", "shapes.PyI"):
        (project / name).write_text("x = 1\n", encoding="utf-8")
    write_files(
        project,
        {
            "broken.json": "{",
            "huge.json": "1" * 20_000,
            "bad/pyproject.toml": "[tool.mcpcore.lint]\nselect = 7\n",
            "lists.py": "from mcpcore import Server\n\nclass Odd(Server):\n    async def list_tools(self):\n        raise ValueError('no')\n\n"
            "server = Odd('x')\n",
            "refuses.py": "from mcp.server import Server\nfrom mcp.shared.exceptions import MCPError\n\n"
            "async def refuse(ctx, params):\n    raise MCPError(-32000, 'not now')\n\n"
            "server = Server('x', on_list_tools=refuse)\n",
        },
    )
    large = catalog(item(failure(example={"id": 12321}))).dumps().replace("12321", "1e999")
    (project / "infinite.json").write_text(large, encoding="utf-8")
    monkeypatch.setattr("mcpcore.catalog.model.MAX_FILE", 10_000)
    done = mcpcore("catalog", *words)
    assert 2 == done.exit_code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_output_is_replaced_as_a_whole(project):
    """The format follows the name; the mode of the file and a link stay; nothing is left behind."""
    for name, begin in (
        ("a.md", "# Failure"),
        ("a.json", "{"),
        ("a.html", "<!DOCTYPE"),
        ("a.py", '"""Failure'),
        ("a.py", '"""Failure'),  # its own file, which may be replaced
        ("a", "# F"),
    ):
        assert (0, "") == (mcpcore("catalog", "--static", "server.py", "-o", name).exit_code, "")
        assert (project / name).read_text(encoding="utf-8").startswith(begin)
    (project / "a.md").chmod(0o640)
    (project / "link.md").symlink_to("a.md")
    before = (project / "a.md").read_text(encoding="utf-8")
    assert 0 == mcpcore("catalog", "--static", "server.py", "-o", "link.md").exit_code
    assert (project / "link.md").is_symlink()
    assert 0o640 == (project / "a.md").stat().st_mode & 0o777
    assert before == (project / "a.md").read_text(encoding="utf-8")
    assert not [path for path in project.iterdir() if path.name.startswith((".a.md", ".link"))]


def test_a_device_is_written_to_and_not_replaced(project):
    """/dev/null stays what it is."""
    assert 0 == mcpcore("catalog", "server.py", "--static", "-o", "/dev/null").exit_code
    assert Path("/dev/null").is_char_device()


def test_two_servers_whose_modules_have_one_name(project):
    """Each server gets its own modules; servers of one name get numbers."""
    for folder, reason in (("one", "first"), ("two", "second")):
        (project / folder).mkdir()
        (project / folder / "server.py").write_text(SERVER.replace("import store", "import store\nimport words").replace(
            '"gone"', "words.REASON"), encoding="utf-8")  # fmt: skip
        write_files(project, {f"{folder}/store.py": STORE, f"{folder}/words.py": f"REASON = {reason!r}\n"})
    servers = made("one/server.py", "two/server.py")
    assert ["articles", "articles (2)"] == [server["name"] for server in servers]
    reasons = [[error["reason"] for error in server["items"][0]["errors"]] for server in servers]
    assert [["busy", "first"], ["busy", "second"]] == reasons


def test_a_fastmcp_server_and_a_low_level_one():
    """The functions of FastMCP are found behind its tools, also of a mounted server; arguments follow `--`."""
    items = by_name(made(f"{SHIPPING}:make_server"))
    places = [error["raised"] for error in items["ship_order"]["errors"]]
    assert [[{"path": "examples/shipping/server.py", "function": "make_server.ship_order"}]] * 3 == places
    assert "stock_count" in items
    assert made(LOWLEVEL)[0]["items"]
    workspace = ROOT / "examples" / "workspace" / "server.py"
    assert "read_file" in by_name(json.loads(
        mcpcore("catalog", workspace, "--format", "json", "--", ROOT).stdout)["servers"])  # fmt: skip


def test_a_listed_tool_without_a_name_is_left_out(tmp_path):
    """The others are listed, also in a project whose configuration of the linter, which reads the source, is wrong."""
    write_files(
        tmp_path,
        {
            "pyproject.toml": "[tool.mcpcore.lint]\nselect = 7\n",
            "nameless.py": "from mcp_types import Tool\nfrom mcpcore import Context, ErrorCode, FailureMode, Server, tool\n\n"
            "GONE = FailureMode('gone', ErrorCode.NOT_FOUND, when='Gone.', recovery='Search.')\n\n"
            "@tool(errors=[GONE])\ndef fetch(ctx: Context) -> str:\n    raise ctx.fail('gone')\n\n"
            "class Odd(Server):\n    async def list_tools(self):\n"
            "        return [Tool(name='', input_schema={'type': 'object'}), *await super().list_tools()]\n\n"
            "server = Odd('x', tools=[fetch])\n",
        },
    )
    (listed,) = made(tmp_path / "nameless.py")
    assert ["fetch"] == [entry["name"] for entry in listed["items"]]
    assert "raised" not in listed["items"][0]["errors"][0]


def test_contracts_of_fastmcp_resources_and_prompts(tmp_path):
    """The declarations behind FastMCP's resources and prompts are found too."""
    path = tmp_path / "fast.py"
    path.write_text(
        "from fastmcp import FastMCP\n"
        "from mcpcore import Context, ErrorCode, FailureMode, prompt, resource\n"
        "from mcpcore.integrations.fastmcp import ContractMiddleware\n\n"
        "mcp = FastMCP('fast')\nmcp.add_middleware(ContractMiddleware())\n"
        "GONE = FailureMode('gone', ErrorCode.NOT_FOUND, when='Gone.', recovery='Search.', example={'id': 1})\n\n"
        "@mcp.resource('doc://{id}')\n@resource('doc://{id}', errors=[GONE])\n"
        "def doc(ctx: Context, id: str) -> str:\n    raise ctx.fail('gone')\n\n"
        "@mcp.resource('all://docs')\n@resource('all://docs', errors=[GONE])\n"
        "def docs(ctx: Context) -> str:\n    raise ctx.fail('gone')\n\n"
        "@mcp.prompt\n@prompt(errors=[GONE])\n"
        "def ask(ctx: Context) -> str:\n    raise ctx.fail('gone')\n\n"
        "@mcp.resource('plain://x')\ndef plain() -> str:\n    return ''\n",
        encoding="utf-8",
    )
    items = by_name(made(path))
    for name in ("doc://{id}", "all://docs", "ask"):
        assert {"id": 1} == items[name]["errors"][0]["example"], name
        assert items[name]["errors"][0]["raised"], name
    assert [] == items["plain://x"].get("errors", [])


def test_a_running_server_that_sends_anything():
    """Broken parts are marked and named on standard error, and never reach the terminal unescaped."""
    done = mcpcore("catalog", "--format", "json", "--", sys.executable, WILD, "good")
    assert 0 == done.exit_code, done.stderr
    (server,) = json.loads(done.stdout)["servers"]
    assert 3 == len(server["items"])
    assert "the tool fetch is listed twice; the first is kept" in server["problems"]
    assert "an entry in the list of tools has no name" in server["problems"]
    assert any("refused to list its resources" in problem for problem in server["problems"])
    assert "\x1b" not in done.stdout + done.stderr
    assert "Warning:" in done.stderr


@pytest.mark.parametrize(
    ("mode", "code", "message"),
    [
        ("types", 0, "the list of tools breaks the protocol at tools.0.inputSchema"),
        ("many", 0, "the server lists more than 60 entries"),
        ("endless", 0, "the list of tools has more than 2 pages"),
        ("ends", 1, "went away"),
        ("sleeps", 1, "did not list what it has within 3 s"),
        ("broken", 1, "the list of tools breaks the protocol at tools.0.inputSchema"),
    ],
)
def test_running_servers_that_break_the_protocol(monkeypatch, mode, code, message):
    """Each is a clear message, and what could be read stays."""
    monkeypatch.setattr("mcpcore.cli.importing._MAX_PAGES", 2)
    if mode == "many":
        monkeypatch.setattr("mcpcore.cli.importing._MAX_ITEMS", 60)
    timeout = "3" if mode == "sleeps" else "30"
    done = mcpcore("catalog", "--timeout", timeout, "--", sys.executable, WILD, mode)
    assert (code, True) == (done.exit_code, message in done.stdout + done.stderr), done.stderr


def test_a_server_over_http(served):
    """`--url` and a URL as a word are the same."""
    with served(ROOT / "examples" / "shipping" / "server.py:make_server", "--http", "127.0.0.1:0") as (_, url):
        assert made("--url", url) == made(url)
        assert "out_of_stock" in [error["reason"] for error in by_name(made(url))["ship_order"]["errors"]]


def test_many_problems_are_counted(tmp_path):
    """The first twenty are named."""
    path = tmp_path / "a.json"
    path.write_text(catalog(item(problems=[f"problem {number}" for number in range(25)])).dumps(), encoding="utf-8")
    assert "and 5 more problems" in mcpcore("catalog", path).stderr


# -- diff ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def pair(tmp_path, monkeypatch):
    """Two catalogs that differ in a new reason and in words."""
    monkeypatch.chdir(tmp_path)
    full = failure("full", name="RATE_LIMITED", code=-32003, when="Full.", recovery="Wait.")
    for name, made_catalog in (("old", catalog(item(failure()))), ("new", catalog(item(failure(when="Gone."), full)))):
        (tmp_path / f"{name}.json").write_text(made_catalog.dumps(), encoding="utf-8")
    return tmp_path


def test_the_exit_code_follows_the_level(pair):
    """By default only breaking changes fail; the threshold and the levels can be changed."""
    assert 0 == mcpcore("diff", "old.json", "new.json").exit_code
    assert 1 == mcpcore("diff", "old.json", "new.json", "--fail-on", "risky").exit_code
    assert 1 == mcpcore("diff", "old.json", "new.json", "--level", "reason-added=breaking").exit_code
    (pair / "pyproject.toml").write_text(
        '[tool.mcpcore.diff]\nfail-on = "risky"\n[tool.mcpcore.diff.levels]\nreason-added = "safe"\n', encoding="utf-8"
    )
    assert 0 == mcpcore("diff", "old.json", "new.json").exit_code
    assert 1 == mcpcore("diff", "old.json", "new.json", "--fail-on", "safe").exit_code
    assert 1 == mcpcore("diff", "old.json", "new.json", "--level", "reason-added=risky").exit_code


def test_the_report_goes_to_standard_output_or_a_file(pair):
    """Every format can be written to a file."""
    assert 1 == json.loads(mcpcore("diff", "old.json", "new.json", "--format", "json").stdout)["summary"]["risky"]
    assert "::warning " in mcpcore("diff", "old.json", "new.json", "--format", "github").stdout
    assert "" == mcpcore("diff", "old.json", "new.json", "--format", "md", "-o", "report.md").stdout
    assert "### Risky" in (pair / "report.md").read_text(encoding="utf-8")


def test_a_lock_file_is_checked(project):
    """Any change of the contract fails, and the message says how to update the lock file."""
    missing = mcpcore("diff", "--check", "lock.json", "server.py")
    assert 2 == missing.exit_code
    assert "mcpcore catalog --output lock.json server.py" in missing.stderr
    assert 0 == mcpcore("catalog", "--output", "lock.json", "server.py").exit_code
    assert 0 == mcpcore("diff", "--check", "lock.json", "server.py").exit_code
    (project / "server.py").write_text("\n\n" + SERVER.replace("It is busy.", "It is very busy."), encoding="utf-8")
    stale = mcpcore("diff", "--check", "lock.json", "server.py")
    assert 1 == stale.exit_code
    assert (
        "lock.json is not up to date; if the changes are intended: mcpcore catalog --output lock.json server.py"
        in stale.stderr
    )
    assert 0 == mcpcore("diff", "--check", "lock.json", "server.py", "--fail-on", "risky").exit_code
    assert 0 == mcpcore("catalog", "--output", "lock.json", "server.py").exit_code
    assert 0 == mcpcore("diff", "--check", "lock.json", "server.py").exit_code
    assert 2 == mcpcore("diff", "--check", "lock.json").exit_code
    swapped = mcpcore("diff", "--check", "server.py", "lock.json")
    assert (2, True) == (swapped.exit_code, "write mcpcore diff --check lock.json server.py" in swapped.stderr)
    assert "give a file that `mcpcore catalog` wrote" in mcpcore("diff", "--check", "server.py", "server.py").stderr


def test_a_command_can_be_the_newer_side(pair):
    """The words after `--` start a server."""
    assert "reason" in mcpcore("diff", "old.json", "--", sys.executable, WILD, "good").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["old.json"], "diff compares two contracts, but got 1"),
        (["old.json", "new.json", "--level", "reason-added"], "--level reason-added: write RULE=LEVEL"),
        (["old.json", "new.json", "--level", "reason=safe"], "unknown rule 'reason'"),
        (["old.json", "new.json", "--static", "--import"], "--static and --import exclude each other"),
        (["old.json", "--"], "the command after `--` is missing"),
    ],
)
def test_what_diff_cannot_do(pair, words, message):
    """The exit code is 2, and the message says what is missing."""
    done = mcpcore("diff", *words)
    assert (2, True) == (done.exit_code, message in done.stderr), done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "pyproject.toml cannot be read"),
        ("[tool.mcpcore]\ndiff = 7", "[tool.mcpcore.diff] is not a table"),
        ("[tool.mcpcore.diff]\nlevel = 7", "[tool.mcpcore.diff] has no key 'level'"),
        ("[tool.mcpcore.diff]\nlevels = 7", "levels must be a table"),
        ("[tool.mcpcore.diff]\nfail-on = 'all'", "fail-on must be one of"),
        ("[tool]\nmcpcore = 7", ""),
        ("tool = 7", ""),
    ],
)
def test_a_configuration_that_cannot_be_used(pair, text, message):
    """The message names the file and the key."""
    (pair / "pyproject.toml").write_text(text, encoding="utf-8")
    done = mcpcore("diff", "old.json", "new.json")
    assert (2 if message else 0, True) == (done.exit_code, message in done.stderr)


def test_the_lock_file_of_the_example_is_up_to_date():
    """To update it: mcpcore catalog examples/shipping/server.py:make_server -o examples/shipping/contracts.lock.json"""
    done = mcpcore("diff", "--check", SHIPPING.parent / "contracts.lock.json", f"{SHIPPING}:make_server")
    assert 0 == done.exit_code, done.stdout + done.stderr
    assert (
        made(f"{SHIPPING}:make_server") == json.loads((SHIPPING.parent / "contracts.lock.json").read_text())["servers"]
    )


@pytest.mark.parametrize(("command", "further"), [("catalog", []), ("diff", ["new.json"]), ("explain", ["no_order"])])
def test_an_interruption_ends_the_command(pair, monkeypatch, command, further):
    """The exit code is that of shells, also while the command loads its modules."""

    interrupted = mock.Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr("mcpcore.cli.sources.read_sources", interrupted)
    assert 130 == mcpcore(command, "old.json", *further).exit_code
    monkeypatch.setitem(sys.modules, "mcpcore.cli.sources", type("Loading", (), {"__getattr__": interrupted})())
    assert command == "diff" or 130 == mcpcore(command, "old.json", *further).exit_code


def test_a_write_that_fails_leaves_the_old_file(pair, monkeypatch):
    """So does a catalog that cannot be written in the format."""

    before = (pair / "new.json").read_text(encoding="utf-8")
    monkeypatch.setattr("os.replace", mock.Mock(side_effect=OSError(28, "No space left on device")))
    done = mcpcore("catalog", "old.json", "-o", "new.json")
    assert (2, True) == (done.exit_code, "No space left on device" in done.stderr)
    assert before == (pair / "new.json").read_text(encoding="utf-8")
    assert ["new.json", "old.json"] == sorted(path.name for path in pair.iterdir())


def test_without_git_or_a_repository_there_is_no_revision(pair, monkeypatch):
    """The message says which of the two is missing."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(pair.parent))
    monkeypatch.setenv("GIT_DIR", str(pair / "nowhere"))
    done = mcpcore("catalog", "main:old.json")
    assert (2, True) == (done.exit_code, "not in a git repository" in done.stderr)
    monkeypatch.setenv("PATH", "")
    done = mcpcore("catalog", "main:old.json")
    assert (2, True) == (done.exit_code, "git cannot be run" in done.stderr)


def test_git_archive_that_fails(project, monkeypatch):
    """A revision that cannot be unpacked is named."""
    real = subprocess.Popen

    class Broken(real):
        def __init__(self, command, **options):
            super().__init__(
                [sys.executable, "-c", "print('x' * 2000)"] if "archive" in command else command, **options
            )

    monkeypatch.setattr("subprocess.Popen", Broken)
    done = mcpcore("catalog", "main:server.py")
    assert (2, True) == (done.exit_code, "git archive failed" in done.stderr)
    assert "does not export" not in done.stderr


def test_a_file_that_git_does_not_export(project):
    """Links are left out of a revision, so that nothing outside of it is read."""
    (project / "link.py").symlink_to("server.py")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "link")
    done = mcpcore("catalog", "main:link.py")
    assert (2, True) == (done.exit_code, "git does not export 'link.py'" in done.stderr)


def test_a_module_of_a_package_is_imported_by_its_name(project):
    """Its paths are relative to the project."""
    write_files(project, {"pack/__init__.py": "", "pack/app.py": SERVER})
    assert [{"path": "pack/app.py", "function": "fetch"}] == by_name(made("pack.app:server"))["fetch"]["errors"][1][
        "raised"
    ]


PUBLISHER = "io.modelcontextprotocol.registry/publisher-provided"
ADDRESS = "https://example.com/failures.html"
SERVER_JSON = (
    '{\r\n   "version": "1.0.0",\r\n   "name": "io.github.a/é",\r\n   "_meta": {\r\n'
    '      "PUBLISHER": {\r\n         "tool": "ci"\r\n      }\r\n   },\r\n   "packages": []\r\n}\r\n'
).replace("PUBLISHER", PUBLISHER)


def addressed(*arguments):
    return mcpcore("catalog", "server.py", "-o", "new.html", "--server-json", "server.json", *arguments)


def test_a_server_json_gets_the_address_of_the_catalog_and_keeps_all_else(project):
    """Order, indentation, line ends and letters stay; a second run replaces the address and nothing more."""
    file = project / "server.json"
    file.write_bytes(SERVER_JSON.encode())
    for address in ("https://example.com/old.html", ADDRESS):
        assert 0 == addressed("--address", address).exit_code
    new = '"ci",\r\n         "dev.mcpcore/catalog": "https://example.com/failures.html"\r\n'
    assert SERVER_JSON.replace('"ci"\r\n', new).encode() == file.read_bytes()
    assert "<html" in (project / "new.html").read_text(encoding="utf-8")

    file.write_bytes(b'{"name": "a", "title": "\\u00e9"}')
    assert 0 == addressed("--address", ADDRESS).exit_code
    expected = (
        f'{{"name": "a", "title": "\\u00e9", "_meta": {{"{PUBLISHER}": {{"dev.mcpcore/catalog": "{ADDRESS}"}}}}}}'
    )
    assert expected == file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "address", "message"),
    [
        (None, ADDRESS, "server.json cannot be read: No such file"),
        ("{", ADDRESS, "server.json: it is not JSON"),
        (b"\xff", ADDRESS, "server.json: 'utf-8' codec can't decode"),
        ("[" * 100_000, ADDRESS, "server.json: it is not JSON"),
        ('{"name": "a", "name": "b"}', ADDRESS, "the key 'name' appears twice"),
        ("[]", ADDRESS, 'this is not a server.json: expected an object with a "name"'),
        ("{}", ADDRESS, 'this is not a server.json: expected an object with a "name"'),
        ('{"name": "a", "_meta": null}', ADDRESS, '["_meta"] must be an object'),
        (f'{{"name": "a", "_meta": {{"{PUBLISHER}": []}}}}', ADDRESS, f'["_meta"]["{PUBLISHER}"] must be an object'),
        ('{"name": "a"}', f"{ADDRESS}#{'x' * 4096}", "bytes; the registry takes 4096"),
        ('{"name": "a"}', "failures.html", "the address must be a whole URL"),
        ('{"name": "a"}', "javascript://x/", "the address must be a whole URL"),
        ('{"name": "a"}', "https://[", "the address must be a whole URL"),
        ('{"name": "a"}', "https:///failures", "the address must be a whole URL"),
        ('{"name": "a"}', None, "--address is missing"),
    ],
)
def test_a_server_json_that_cannot_be_used_leaves_every_file_alone(project, text, address, message):
    """The message says which part is wrong, and the catalog is not written either."""
    file = project / "server.json"
    content = text.encode() if isinstance(text, str) else text
    if content is not None:
        file.write_bytes(content)
    done = addressed(*(["--address", address] if address else []))
    assert (2, True, False) == (done.exit_code, message in done.stderr, (project / "new.html").exists()), done.stderr
    assert content == (file.read_bytes() if file.exists() else None)


def test_an_address_without_a_server_json_is_refused(project):
    """It would be ignored otherwise."""
    assert "--server-json is missing" in mcpcore("catalog", "server.py", "--address", ADDRESS).stderr
