"""`--write` tries what it wrote: it imports the files, puts back those that broke, and runs a command of the project."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from mcpcore_lint.migrate.model import FAILS, STOPS, stopped
from mcpcore_lint.migrate.starting import Starting
from mcpcore_lint.runner.checker import Checker
from mcpcore_lint.runner.trial import Experiment
from mcpcore_lint.settings import Settings

from mcpcore.cli.root import cli
from tests.files import write_files
from tests.tables import in_one_test

SERVER = """from fastmcp import FastMCP

mcp = FastMCP("x")


@mcp.tool
def f(x: str) -> str:
    raise ValueError(f"The text {x} is too long")
"""


def migrate(folder: Path, files: dict[str, str], *arguments: str) -> Result:
    """Run the command with `--write` on some files."""
    (folder / ".git").mkdir(parents=True)
    write_files(folder, files)
    return CliRunner().invoke(cli, ["migrate", str(folder), "--write", *arguments])


def test_the_files_are_imported_and_the_tools_listed(tmp_path: Path) -> None:
    """Output of an imported file is not read."""
    done = migrate(tmp_path, {"server.py": f"print('hello')\n{SERVER}"})
    assert 0 == done.exit_code, done.output
    assert "The files can be imported, and their servers list 1 tool." in done.stderr
    assert "ctx.fail" in (tmp_path / "server.py").read_text()


def test_a_server_that_a_function_makes_is_listed(tmp_path: Path) -> None:
    """The function needs no argument and says what it returns; one that fails, or that is imported, is not called again."""
    made = SERVER.replace("mcp = FastMCP", "def make(name: str = 'x') -> FastMCP:\n    mcp = FastMCP")
    made = (
        made.replace("\n\n\n@mcp", "\n\n    @mcp")
        .replace("\ndef f", "\n    def f")
        .replace("    raise", "        raise")
    )
    made += "\n    return mcp\n\n\ndef broken() -> 'FastMCP':\n    raise SystemExit('no key')\n\n\ndef other(x) -> FastMCP: ...\n"
    # A function that does not say what it returns is not called: it may write, delete or serve.
    made += f"\n\ndef erase():\n    open({str(tmp_path / 'erased')!r}, 'w')\n    return FastMCP('y')\n"
    # Nor is one whose server is another one.
    erases = f"    open({str(tmp_path / 'erased')!r}, 'w')\n"
    made += f"\n\nclass Server: ...\n\n\ndef rent() -> Server:\n{erases}\n\ndef buy() -> 'Server | None':\n{erases}"
    made += f"\n\ndef lend() -> 'Server':\n{erases}"
    done = migrate(tmp_path, {"server.py": made})
    assert 0 == done.exit_code, done.output
    assert "The files can be imported, and their servers list 1 tool." in done.stderr
    assert not (tmp_path / "erased").exists()


STARTED = """import asyncio
import os
from typing import Any


class App:
    def __init__(self) -> None:
        from fastmcp import FastMCP
        self.mcp: Any = FastMCP("a")
        self.mcp.tool(find)

    def serve(self) -> None:
        asyncio.run(self.mcp.run_stdio_async())


def find(path: str) -> str:
    raise ValueError(f"The path {path} is too long")


def main():
    if os.environ.get("REFUSED"):
        raise SystemExit("no key")
    App().serve()


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("refused", "name", "end", "project"),
    [
        ("", "serve", "it lists 1 tool", '[project.scripts]\nserve = "shop.main:main"\nwork = "work:main"\n'),
        ("1", "shop/main.py", "no list of tools: no key", "[project]\n"),
    ],
)
def test_a_server_is_started_as_its_users_do(
    refused: str, name: str, end: str, project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client reads the tools, or what the program says. A program of the project that starts no server is not."""
    work = "from shop.main import App\n\n\ndef main():\n    App()\n    open('ran', 'w')\n\n\nif __name__ == '__main__':\n    main()\n"
    monkeypatch.setenv("REFUSED", refused)
    done = migrate(
        tmp_path,
        {
            "shop/main.py": STARTED,
            "shop/__init__.py": "from .main import main\n",
            "work.py": work,
            "pyproject.toml": project,
        },
    )
    assert (f"{name} was started over stdio: {end}\n", False) == (
        done.stdout.replace(f"{tmp_path}/", ""),
        (tmp_path / "ran").exists(),
    )


def test_a_script_may_name_a_method_of_the_server(tmp_path: Path) -> None:
    """As entry points do, which follow attributes."""
    project = '[project.scripts]\nserve = "server:mcp.run"\n'
    done = migrate(tmp_path, {"server.py": SERVER, "pyproject.toml": project})
    assert "serve was started over stdio: it lists 1 tool\n" in done.stdout


STARTS = """import asyncio, anyio, os, sys
from fastmcp import FastMCP
mcp = FastMCP("x")
def erase(): os.remove("x")
async def serve(): await mcp.run_async()
def usage():
    erase()
    sys.exit(2)
class Server:
    def run(self): erase()
def main():
"""


@in_one_test(
    ("body", "starts"),
    [
        ("mcp.run()", True),
        ("sys.exit(asyncio.run(serve()))", True),
        ("anyio.run(serve)", True),
        ("while True: mcp.run()", True),
        ("if '--version' in sys.argv:\n        print(1)\n        return\n    mcp.run()", True),
        ("if not os.environ.get('KEY'):\n        print('no key')\n        sys.exit(1)\n    mcp.run()", True),
        ("if x: mcp.run()\n    elif y: mcp.run('sse', port=int(os.environ.get('PORT')))", True),
        ("try: mcp.run()\n    except KeyboardInterrupt: erase()\n    except Exception as e: sys.exit(str(e))", True),
        ("mcp.run('http')", False),
        ("Server().run()", False),
        ("if x: mcp.run()\n    else: erase()", False),
        ("if x:\n        erase()\n        return\n    mcp.run()", False),
        ("if x:\n        erase()\n        sys.exit()\n    mcp.run()", False),
        ("if x: sys.exit(erase())\n    mcp.run()", False),
        ("if x: usage()\n    mcp.run()", False),
        ("x and mcp.run()", False),
        ("mcp.run() if x else erase()", False),
        ("match x:\n        case 1: mcp.run()\n        case _: erase()", False),
        ("try: int(sys.argv[1])\n    except IndexError: erase()\n    else: mcp.run()", False),
        ("{'serve': serve}.get(x, erase)()", False),
        ("main()", False),
    ],
)
def test_a_program_that_may_do_something_else_is_not_started(body: str, starts: bool, tmp_path: Path) -> None:
    """It gets no arguments, so a command that is no server could run."""
    path = tmp_path / "server.py"
    path.write_text(f"{STARTS}    {body}\n")
    module = Checker(str(tmp_path), Settings(), files=[str(path)], every=True).project.read(str(path))
    module.complete()
    assert starts == Starting().by_function(module, "main")


def test_a_program_may_write_anything(tmp_path: Path) -> None:
    """Its last text is shown without control characters, and it leaves no compiled files."""
    text = "import sys, other\nsys.stderr.buffer.write(b'\\x1b[31mno\\xff key\\n')\nsys.exit(1)\n"
    body = f"{SERVER}\n\ndef main():\n    import late\n    mcp.run()\n\n\nif __name__ == '__main__':\n    main()\n"
    scripts = '[project.scripts]\nmissing = "c:main"\nodd = 1\nserve = "server:main [all]"\n'
    done = migrate(tmp_path, {"server.py": body, "late.py": text, "other.py": "", "pyproject.toml": scripts})
    assert "serve was started over stdio: no list of tools: \\u001b[31mno\ufffd key\n" in done.stdout
    assert not [*tmp_path.rglob("*.pyc")]
    # Only the end of a long log is read.
    late = "import sys\nprint('KeyError: old', *['log\\n'] * 20_000, 'last', file=sys.stderr)\nsys.exit()\n"
    for number, (text, end) in enumerate({late: "last", "raise SystemExit": "MCPError: Connection closed"}.items()):
        done = migrate(tmp_path / str(number), {"server.py": body, "late.py": text, "pyproject.toml": scripts})
        assert f"serve was started over stdio: no list of tools: {end}\n" in done.stdout
    broken = migrate(
        tmp_path / "b", {"server.py": SERVER, "b.py": "(", "pyproject.toml": "[project.scripts]\nb = 'b:f'"}
    )
    assert "1 place converted" in broken.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts are sent to consoles there")
def test_an_interruption_ends_the_server_and_restores_the_files(tmp_path: Path) -> None:
    """The server ignores the end of its input and a request to end."""
    waits = "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    waits += "with open('new', 'w') as file: file.write(str(os.getpid()))\nos.rename('new', 'pid')\ntime.sleep(99)\n"
    body = f"{SERVER}\n\nif __name__ == '__main__':\n    import waits\n    mcp.run()\n"
    write_files(tmp_path, {"server.py": body, "waits.py": waits, "pyproject.toml": "[project]\n"})
    command = [sys.executable, "-m", "mcpcore", "migrate", str(tmp_path), "--write"]
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "pid").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        assert b"Aborted!" in process.communicate()[1]
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    assert body == (tmp_path / "server.py").read_text()


LOW = """from mcp.server import Server
from mcp.types import CallToolRequestParams, ListToolsResult, Tool


async def list_tools(context, params):
    return ListToolsResult(tools=[Tool(name=f"find{context.lifespan_context}", input_schema={"type": "object"})])


async def list_with_state(context, params):
    return ListToolsResult(tools=[context.lifespan_context["tool"]])


async def list_nothing(context, params):
    return {"tools": 1}


class App:
    def __init__(self):
        self.server = Server("a", on_list_tools=list_tools)


app = App()
server = Server("b")


class Hiding:
    @property
    def __dict__(self):
        raise SystemExit("nothing to see")


hiding = Hiding()
connecting = Server("c", on_list_tools=list_with_state, lifespan=lambda server: 1 / 0)
"""


def test_a_low_level_server_is_listed(tmp_path: Path) -> None:
    """A client in memory reads its tools, also where an object holds it. Tools that come of a lifespan are not listed."""
    done = migrate(
        tmp_path / "a", {"server.py": SERVER, "low.py": LOW, "pyproject.toml": '[project.scripts]\nx = "low:f"\n'}
    )
    assert "The files can be imported, and their servers list 2 tools." in done.stderr
    wrong = LOW.replace("on_list_tools=list_tools", "on_list_tools=list_nothing")
    done = migrate(
        tmp_path / "b", {"server.py": SERVER, "low.py": wrong, "pyproject.toml": '[project.scripts]\nx = "low:f"\n'}
    )
    assert "low.py cannot list its tools: MCPError: Handler returned an invalid result" in done.stdout


def test_a_file_that_breaks_is_put_back(tmp_path: Path) -> None:
    """The report names it and why; a file that only imports it stays as it was written."""
    errors = "class OrderError(Exception):\n    pass\n"
    breaking = f"{SERVER}\n\nimport inspect\n\nassert inspect.isfunction(f), 'no function'\n"
    files = {"pkg/__init__.py": "", "pkg/errors.py": errors, "pkg/broken.py": breaking}
    files["pkg/other.py"] = SERVER.replace("from fastmcp", "from pkg import broken\nfrom fastmcp")
    done = migrate(tmp_path, files)
    assert 1 == done.exit_code, done.output
    first = done.stdout.splitlines()[0]
    assert first.endswith(
        "broken.py is unchanged, since it could not be imported any more: AssertionError: no function"
    )
    assert breaking == (tmp_path / "pkg" / "broken.py").read_text()
    assert "ctx.fail" in (tmp_path / "pkg" / "other.py").read_text()
    assert "1 place converted in 1 file" in done.stderr


def test_a_file_that_never_could_be_imported_is_named(tmp_path: Path) -> None:
    """It stays as it was written, since it could not be imported before either."""
    done = migrate(tmp_path, {"server.py": f"{SERVER}\nraise SystemExit('no key')\n"})
    assert 1 == done.exit_code
    assert "server.py cannot be imported: SystemExit: no key" in done.stdout
    assert "ctx.fail" in (tmp_path / "server.py").read_text()


def test_without_the_dependencies_nothing_was_tried(tmp_path: Path) -> None:
    """The command says which module is missing, and which option names an environment."""
    lacking = migrate(tmp_path / "a", {"server.py": f"import nowhere\n{SERVER}"})
    missing = migrate(tmp_path / "b", {"server.py": SERVER}, "--environment", str(tmp_path))
    assert (0, 0) == (lacking.exit_code, missing.exit_code)
    assert "Nothing was tried: the environment has no module nowhere; name one that has the new dep" in lacking.stderr
    assert f"Nothing was tried: {tmp_path} did not run" in missing.stderr


def test_a_file_that_lacks_a_module_does_not_stop_the_others(tmp_path: Path) -> None:
    """The function of a script is imported too, also from a file that does not change."""
    files = {"server.py": SERVER, "evals.py": f"import nowhere\n{SERVER}", "pkg/__init__.py": "import pkg.nothing\n"}
    done = migrate(tmp_path / "a", {**files, "pyproject.toml": '[project.scripts]\nx = "pkg:main"\n'})
    assert [
        "pkg/__init__.py cannot be imported: ModuleNotFoundError: No module named 'pkg.nothing'",
        "evals.py was not tried: the environment has no module nowhere",
    ] == [line.removeprefix(f"{tmp_path}/a/") for line in done.stdout.splitlines() if "module" in line]
    assert "The other files can be imported" in migrate(tmp_path / "b", files).stderr


def test_an_interruption_leaves_the_files_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files are written when it comes."""
    monkeypatch.setattr(Experiment, "outcome", lambda *_: sys.exit((tmp_path / "server.py").read_text()))
    done = migrate(tmp_path, {"server.py": SERVER, "requirements.txt": "fastmcp<3"})
    assert (True, SERVER, "fastmcp<3") == (
        "ctx.fail" in done.output,
        *((tmp_path / name).read_text() for name in ("server.py", "requirements.txt")),
    )


def test_an_interpreter_that_is_too_old_is_no_defect_of_the_project(tmp_path: Path) -> None:
    """The command says which Python is needed, and puts nothing back."""
    files = {
        "server.py": f"import newer\n{SERVER}",
        "newer.py": "def f(:\n",
        "unread.py": "import mcp\ndef f(:\n",
        "pyproject.toml": '[project]\nrequires-python = ">=3.99"\n',
    }
    done = migrate(tmp_path, files)
    assert "cannot be imported" not in done.output
    assert (
        "Nothing was tried: the interpreter cannot read the files, SyntaxError: invalid syntax (newer.py" in done.stderr
    )
    assert "parse-error: invalid syntax; the project needs Python 3.99, so run mcpcore with that" in done.stdout
    assert "ctx.fail" in (tmp_path / "server.py").read_text()


def test_a_command_runs_before_and_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report shows how it ended, and the failures that are new, without lines of a log; the exit code is 1 if it failed only afterwards."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    log = "ERROR    server:server.py:7 x\\nERROR:root:x\\nERROR server.py:7 x\\nERROR: x of y\\n"
    tests = "ERROR tests/test_a.py::test_b[c d] - E\\nERROR test_a.py\\nERROR: test_b (test_a.B)\\nFAILED one"
    script = f"written = 'FailureMode' in open('server.py').read(); print('{log}{tests}' if written else 'fine')"
    command = f'{sys.executable} -c "{script}; assert not written"'
    environment = Path(sys.executable).parents[1]
    done = migrate(folder, {"server.py": SERVER}, "--check", command, "--environment", str(environment))
    assert 1 == done.exit_code
    lines = [line for line in done.stdout.splitlines() if line.startswith("--check")]
    assert [
        "--check before: fine (exit code 0)",
        "--check after: FAILED one (exit code 1)",
        "--check ERROR tests/test_a.py::test_b[c d] - E",
        "--check ERROR test_a.py",
        "--check ERROR: test_b (test_a.B)",
        "--check FAILED one",
    ] == lines


def test_errors_that_are_alike_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report names each error once, with the number of tests that fail with it after and before."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    tests = """import pytest

written = 'FailureMode' in open('server.py').read()

@pytest.mark.parametrize('number', range(3))
def test_context(number):
    try:
        object().first
    except AttributeError:
        object().fastmcp if written else None

def test_text():
    assert not written, 'first\\nsecond'

def test_old():
    raise KeyError('old')
"""
    command = f"{sys.executable} -m pytest -q -p no:cacheprovider"
    done = migrate(folder, {"server.py": SERVER, "test_it.py": tests}, "--check", command)
    lines = [line for line in done.stdout.splitlines() if line.startswith("--check") and "FAILED" not in line]
    assert [
        "--check 3 tests (0 before): AttributeError: 'object' object has no attribute 'fastmcp'",
        "--check 1 test (0 before): AssertionError: first",
        "--check 1 test (1 before): KeyError: 'old'",
    ] == lines[2:]
    assert "a test that passed only with earlier ones has failed before, too" in done.stderr


def test_names_that_the_installed_release_does_not_have_are_listed(tmp_path: Path) -> None:
    """Also where nothing is written. An import that the file can do without, and one of another package, are not."""
    server = (
        "from fastmcp import FastMCP\nfrom fastmcp.server.middleware.nowhere import Absent\nfrom fastmcp import absent\n"
        "from fastmcp.server import middleware\nfrom mcp.types import Tool\nfrom elsewhere import x\n"
        "try:\n    from fastmcp.other import y\nexcept ImportError:\n    y = None\n"
    )
    done = migrate(
        tmp_path, {"server.py": server, "test_server.py": "from fastmcp.tests import z\n\ndef test_z(): ...\n"}
    )
    lines = [line.replace(f"{tmp_path}/", "") for line in done.stdout.splitlines()]
    assert (1, server) == (done.exit_code, (tmp_path / "server.py").read_text())
    assert [
        "The server does not work until you change this: PATH:LINE: finding: next step:",
        "server.py:2: the import of Absent: the installed fastmcp has no fastmcp.server.middleware.nowhere.Absent",
        "server.py:3: the import of absent: the installed fastmcp has no fastmcp.absent",
        "About the project: PATH:LINE: finding: next step:",
        "test_server.py:1: the import of z: the installed fastmcp has no fastmcp.tests.z",
    ] == lines


def test_packages_that_ask_for_an_earlier_release_are_listed(tmp_path: Path) -> None:
    """The metadata of the environment says so. A cap above the release, and that of an extra, do not matter.

    Neither does what the project asked for when it was installed.
    """
    site = tmp_path / "site"
    asking = {
        "old-one": "mcp[cli]>=1.2,<2",
        "new": "mcp<3",
        "other": "mcp-agent<1",
        "My_Server": "mcp<2",
        "old_extra": "fastmcp<3; extra == 'x'",
    }
    for name, wanted in asking.items():
        (site / f"{name}-1.dist-info").mkdir(parents=True)
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\nRequires-Dist: {wanted}\n"
        (site / f"{name}-1.dist-info" / "METADATA").write_text(text)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{site}" exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    lists = (
        '[project]\nname = "my-server"\ndependencies = [\n    "fastmcp>=4",\n    "old_one>=1",\n'
        '    "new", "other",\n    "old-extra",\n'
    )
    # These leave out what the installed FastMCP, SDK and mcpcore need; the others take a release that all have, or may.
    lists += '    "websockets>=12,<14",\n    "uvicorn>=0.30,<99",\n    "pydantic==2.*",\n    "starlette ~=1",\n    "PyJWT[x]==2",\n'
    lists += '    "typing-extensions==4.12", # one line, with the later bound\n    "click==8.1",\n]\n'
    project = tmp_path / "project"
    done = migrate(project, {"pyproject.toml": lists, "server.py": SERVER}, "--environment", str(python))
    lines = [line for line in done.stdout.splitlines() if "the dependency" in line]
    reason = "it asks for mcp[cli]>=1.2,<2, so take a release of it that does not, or leave it out"
    assert [f"{project}/pyproject.toml:6: the dependency old-one: {reason}"] == lines
    lines = [line.partition("/pyproject.toml:")[2] for line in done.stdout.splitlines() if "the pin " in line]
    assert [
        "9: the pin websockets>=12,<14: the installed fastmcp needs websockets ",
        "13: the pin PyJWT[x]==2: the installed mcp needs pyjwt ",
        "14: the pin typing-extensions==4.12: the installed mcpcore needs typing-extensions ",
        "15: the pin click==8.1: the installed mcpcore needs click ",
    ] == [line.partition("needs ")[0] + "needs " + line.partition("needs ")[2].split()[0] + " " for line in lines]


def test_what_a_low_level_server_passes_on_is_put_back_with_it(tmp_path: Path) -> None:
    """Its failures stay as version 1 of the SDK takes them."""
    server = "import mcp.server\nfrom mcp.server import Server\nfrom helper import find\n\nif hasattr(mcp.server, 'ServerRequestContext'):\n"
    server += "    assert '@' + 'server.call_tool' in open(__file__).read()\n    Server.call_tool = lambda self: lambda function: function\n"
    server += "\n\nserver = Server('x')\n\n\n@server.call_tool()\nasync def call(name, arguments) -> list:\n"
    server += "    if name == 'find':\n        return await find(arguments)\n    return []\n"
    helper = "from mcp.types import TextContent\n\n\nasync def find(arguments) -> list:\n"
    helper += "    return [TextContent(type='text', text='Error: nothing to find')]\n"
    done = migrate(tmp_path, {"server.py": server, "helper.py": helper, "requirements.txt": "mcp<2"})
    assert "helper.py is unchanged, since it could not be imported any more: server.py could not" in done.stdout
    assert (server, helper) == ((tmp_path / "server.py").read_text(), (tmp_path / "helper.py").read_text())
    assert "mcp<2" == (tmp_path / "requirements.txt").read_text()


@pytest.mark.parametrize(
    ("code", "stops"),
    [
        ("import x", STOPS),
        ("try:\n    import x\nexcept ImportError:\n    x = None", 0),
        (
            "try:\n    try:\n        import x\n    except ImportError:\n        raise\nexcept Exception:\n    x = None",
            0,
        ),
        ("try:\n    import x\nexcept lib.ImportErrorX:\n    x = None", STOPS),
        ("try:\n    import x\nexcept AttributeError:\n    x = None", STOPS),
        ("try:\n    import x\nexcept ImportError:\n    sys.exit('install x')", STOPS),
        ("try:\n    import x\nexcept ImportError:\n    raise SystemExit", STOPS),
        ("try:\n    x()\nexcept ImportError:\n    y = None", STOPS),
        ("try:\n    x()\nexcept (TypeError, ValueError):\n    y = None", 0),
        ("try:\n    mcp.settings.x()\nexcept Exception:\n    y = None", FAILS),
        ("try:\n    from fastmcp.server.auth import x\nexcept ImportError:\n    x = None", FAILS),
        ("try:\n    pass\nexcept ValueError:\n    pass\nelse:\n    x()", STOPS),
        ("try:\n    pass\nexcept Exception:\n    pass\nfinally:\n    x()", STOPS),
        ("try:\n    pass\nexcept Exception:\n    x()", STOPS),
        ("def f():\n    x()", FAILS),
        ("class A:\n    y = x()", STOPS),
    ],
)
def test_a_clause_may_answer_for_a_name_that_is_not_there(code: str, stops: int) -> None:
    """It has to catch what the line raises, around the line, and go on with more than an open server."""
    line = next(number for number, text in enumerate(code.splitlines(), 1) if "import x" in text or "x()" in text)
    assert stops == stopped(ast.parse(code), line)
