"""What tests of a server expect, and the run changes, has a line that says what to write instead."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from mcpcore_lint.migrate.expectations import reasons
from mcpcore_lint.migrate.model import Left
from mcpcore_lint.runner.outcome import Ran

from mcpcore.cli.root import cli
from tests.files import write_files
from tests.migrate.migrating import report, run
from tests.tables import in_one_test

SERVER = """from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")


@mcp.tool()
async def find(path: str) -> str:
    if not path:
        raise ValueError("The path is empty, so nothing can be found")
    return path


@mcp.tool()
def look(path: str) -> str:
    if not path:
        raise ValueError("The path is empty, so nothing can be seen")
    return path
"""
ADDED = """

import inspect
from mcp.server.fastmcp import FastMCP
from server import find, mcp


def other():
    return 1


class Store:
    def read_resource(self, uri): ...

    async def find(self): ...


class Step:
    def __init__(self, output_schema):
        self.output_schema = output_schema
"""
REFUSED = 'looks for "{}" where arguments are refused: look for "invalid_arguments", the reason'
SCHEMA = "compares a whole output schema: it has `error` in `properties`, and `required` in `anyOf`"
DATA = "compares the data of a failure of a resource: it also has `error`, with the code and advice"
SOURCE = "reads the source of the server, which is of mcpcore now: read that of mcp.server.mcpserver.MCPServer"
ASYNC = "checks that a tool is a coroutine function: check its .handler, since a tool with a contract is an object"
SIZE = (
    "limits the size of a list of tools: output schemas have `error` now, which advertise_errors=False of Server "
    "leaves out"
)
NO_TOOL = (
    "expects a result for an unknown tool: expect an MCPError, since it is an error of the protocol now, or give the "
    'server unknown_tool="result"'
)
WORDS = "reads the words of an exception of read_resource(): they are in its __cause__"


@in_one_test(
    ("body", "expected"),
    [
        ("text = call_tool('find', {})\n    assert 'validation error' in text", REFUSED.format("validation error")),
        (
            "text = call_tool('find', {})\n    test.assertIn('Input validation error', text)",
            REFUSED.format("Input validation error"),
        ),
        (
            "with pytest.raises(ToolError, match='2 validation errors'):\n        mcp.call_tool('find', {})",
            REFUSED.format("2 validation errors"),
        ),
        ("text = call_tool('find', {})\n    assert 'empty' in text", ""),
        ("text = str(Model(path=1))\n    assert 'validation error' in text", ""),
        (
            "with pytest.raises(ValidationError, match='validation error'):\n        Model()\n    call_tool('find', {})",
            "",
        ),
        ("text = check(call_tool)\n    call_tool('find')\n    assert 'validation error' in check(1)", ""),
        ("call_tool('find')\n    with pytest.raises(ValueError, match='validation error'):\n        check(1)", ""),
        ("text = upstream.call_tool('other', {})\n    assert 'validation error' in text", ""),
        (
            "for text in [mcp.call_tool('sub_find', {})]:\n        assert 'validation error' in text",
            REFUSED.format("validation error"),
        ),
        (
            "try:\n        mcp.call_tool('find', {})\n    except ToolError as e:\n        assert 'validation error' in str(e)",
            REFUSED.format("validation error"),
        ),
        (
            "with Client(mcp) as one:\n        one.call_tool('find', {})\n        assert 'validation error' in one.check()",
            "",
        ),
        (
            "result = client.call_tool('nope', {})\n    assert 'Unknown tool: nope' in result.content[0].text",
            NO_TOOL,
        ),
        (
            (
                "import fastmcp\n    with fastmcp.Client(mcp) as one, pytest.raises(ToolError, match='Unknown tool'):\n"
                "        one.call_tool('nope')"
            ),
            NO_TOOL,
        ),
        ("with pytest.raises(ToolError, match='Unknown tool'):\n        mcp.call_tool('nope')", ""),
        ("result = client.call_tool('find', {})\n    assert 'Unknown tool' in result.content[0].text", ""),
        ("text = dispatch('nope').content[0].text\n    assert 'Unknown tool' in text", ""),
        ("assert tool.outputSchema == {'type': 'object'}", SCHEMA),
        ("schema = tool.output_schema\n    assert schema['required'] == ['result']", SCHEMA),
        ("parts = tool.output_schema.get('properties', {})\n    assert set(parts) == {'result'}", SCHEMA),
        ("assert tool.output_schema['type'] == 'object'", ""),
        ("tools = mcp.list_tools()\n    size = len(text_of(tools).encode())\n    assert size <= LIMIT", SIZE),
        ("tests.assertLess(sum(len(tool.model_dump_json()) for tool in mcp.list_tools()), 9)", SIZE),
        ("assert len(mcp.list_tools()) < 9", ""),
        ("for tool in mcp.list_tools():\n        assert len(tool.description.encode()) < 9", ""),
        ("for tool in mcp.list_tools():\n        assert len(json.dumps(tool.model_dump()['inputSchema'])) < 9", ""),
        ("mcp.list_tools()\n    assert len(text_of(server).encode()) < 9", ""),
        ("assert tool.output_schema['properties']['result'] == {}", ""),
        ("assert tool.input_schema == {'type': 'object'}", ""),
        ("schema = list(other)\n    other = list(schema)\n    assert schema == other", ""),
        ("error = failing(session.read_resource, uri)\n    assert error.data == {'uri': uri}", DATA),
        ("error = failing(session.send, uri)\n    assert error.data == {'uri': uri}", ""),
        ("read_resource(uri)\n    result = call_tool('find')\n    assert result.data == {'uri': uri}", ""),
        ("step = Step({})\n    assert step.output_schema == {}", ""),
        ("assert 'uvicorn' in inspect.getsource(FastMCP.run)", SOURCE),
        ("assert 'return' in inspect.getsource(other)", ""),
        ("assert inspect.iscoroutinefunction(getattr(server, 'find'))", ASYNC),
        ("assert inspect.iscoroutinefunction(find)", ASYNC),
        ("assert not inspect.iscoroutinefunction(other)", ""),
        ("assert not inspect.iscoroutinefunction(other)\n    find('x')", ""),
        ("assert not inspect.iscoroutinefunction(getattr(server, 'look'))", ""),
        (
            "run = _call_tool(name)\n    assert 'validation error' in run.text.lower()",
            REFUSED.format("validation error"),
        ),
        ("error = run(_read_resource_error(uri))\n    assert error.data == {'uri': uri}", DATA),
        ("for tool in [find]:\n        assert inspect.iscoroutinefunction(tool)", ASYNC),
        ("assert inspect.iscoroutinefunction(client.get)\n    server.find('x')", ""),
        ("assert inspect.iscoroutinefunction(Store.find)", ""),
        ("with pytest.raises(Exception) as info:\n        mcp.read_resource('x://y')\n    str(info)", WORDS),
        ("with pytest.raises(Exception, match='no y'):\n        mcp.read_resource('x://y')", WORDS),
        ("with pytest.raises(Exception):\n        mcp.read_resource('x://y')", ""),
        ("with patch('x') as double:\n        mcp.read_resource('x://y')", ""),
        ("try:\n        mcp.read_resource('x://y')\n    except ValueError as e:\n        raise", ""),
        ("with pytest.raises(Exception, match='no y'):\n        Store().read_resource('x://y')", ""),
    ],
)
def test_what_a_test_expects(body: str, expected: str, tmp_path: Path) -> None:
    """A line is about something that the test certainly reads; a look-alike has none."""
    test = f"{ADDED}\n\ndef test_it():\n    {body}\n"
    done, _ = run(tmp_path, {"server.py": SERVER, "test_server.py": test})
    lines = [line.partition(": ")[2] for line in report(done) if line.startswith("test_server.py")]
    assert [expected] * bool(expected) == lines


def test_a_server_that_says_that_arguments_are_refused(tmp_path: Path) -> None:
    """A test may be about its text, which goes on to say so."""
    own = SERVER.replace("The path is empty", "Validation error: the path is empty")
    test = "def test_it():\n    assert 'Validation error' in mcp.call_tool('find', {'path': ''})\n"
    other = "from fastmcp import FastMCP\nfrom server import mcp\n\nFastMCP('y').mount(mcp)\n"
    files = {"server.py": own, "other.py": other, "third.py": SERVER}
    files |= {f"test_{name}": f"from {name[:-3]} import mcp\n\n\n{test}" for name in files}
    done, _ = run(tmp_path, files)
    assert [f"test_third.py:5: {REFUSED.format('Validation error')}"] == [
        line for line in report(done) if "looks for" in line
    ]


def test_the_names_of_tools_that_a_test_is_run_for(tmp_path: Path) -> None:
    """They may be in its decorator."""
    head = "import inspect\nimport pytest\nimport server\n\n\n@pytest.mark.parametrize('name', ['{}'])\n"
    test = "def test_it(name):\n    tool = getattr(server, name)\n    assert inspect.iscoroutinefunction(tool)\n"
    for tool, expected in (("find", [f"test_server.py:9: {ASYNC}"]), ("look", [])):
        files = {"server.py": SERVER, "test_server.py": f"{head.format(tool)}{test}"}
        done, _ = run(tmp_path / tool, files)
        assert expected == [line for line in report(done) if line.startswith("test_server.py")]


def test_a_file_of_code_reads_the_words_of_an_exception(tmp_path: Path) -> None:
    """Its line is not only about tests. A server that the run leaves alone changes nothing."""
    read = "\n\ndef read():\n    try:\n        return mcp.read_resource('x://y')\n    except Exception as e:\n        return str(e)\n"
    done, files = run(tmp_path, {"server.py": f"{SERVER}{read}"})
    assert [WORDS] == [line.partition(": ")[2] for line in report(done)]
    again, _ = run(tmp_path, files)
    assert [] == report(again)


LOW = """from mcp.server import Server
from mcp.types import TextContent


def call(client) -> None:
    client.call_tool("find")


def register(server: Server, store) -> None:
    @server.call_tool()
    async def call(name: str, arguments: dict) -> list[TextContent]:
        if name == "find":
            return await find(arguments)
        return []


async def find(arguments: dict) -> list[TextContent]:
    if not arguments:
        return [TextContent(type="text", text="Error: no arguments")]
    return [TextContent(type="text", text="x")]
"""


def test_a_double_of_a_low_level_server(tmp_path: Path) -> None:
    """It has no decorators in version 2. A session has a method of such a name, too."""
    test = """from unittest.mock import Mock

from low import call, find, register


async def test_it(session):
    double, client = Mock(), Mock()
    register(double, call(client))
    double.call_tool.assert_called_once()
    client.call_tool.assert_called_once()
    session.call_tool.assert_not_called()


async def test_function():
    result = await find({"x": 1})
    assert result[0].text == "x"


async def test_other():
    result = sorted("x")
    assert result[0] == "x"
"""
    done, _ = run(tmp_path, {"low.py": LOW, "test_low.py": test})
    assert [
        "test_low.py:9: expects a double to have a decorator that SDK 2.0 does not have: expect add_request_handler",
        "test_low.py:16: reads a part of what find() returns: it is a CallToolResult if the tool failed",
    ] == [line for line in report(done) if line.startswith("test_low.py")]


def test_each_test_that_fails_has_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line is about all cases of a test. One that failed before with another text is not new, and the summary is shown."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    tests = """import atexit
import pytest

written = 'mcpcore' in open('server.py').read()
atexit.register(print, 'the last words')


@pytest.mark.parametrize('case', ['a b', 'c'])
def test_refused(case):
    text = call_tool()
    assert 'validation error' in text


class TestIt:
    def test_other(self):
        assert not written

    def test_old(self):
        raise KeyError('new' if written else 'old')


def call_tool():
    return 'Error' if written else '1 validation error'
"""
    write_files(tmp_path, {"server.py": SERVER, "tests/test_it.py": tests, "test_broken.py": "import mcp\ndef f(:\n"})
    command = f"{sys.executable} -m pytest -q -p no:cacheprovider tests"
    done = CliRunner().invoke(cli, ["migrate", ".", "--write", "--check", command])
    lines = [line for line in done.stdout.splitlines() if line.startswith("--check")]
    assert ["before: 1 failed, 3 passed", "after: 4 failed"] == [
        line.removeprefix("--check ").partition(" in ")[0] for line in lines[:2]
    ]
    assert [
        "--check 1 test (0 before): assert not True",
        "--check 1 test (0 before): KeyError: 'new'",
        f"--check FAILED tests/test_it.py::test_refused (2 cases): line 11 {REFUSED.format('validation error')}",
        "--check FAILED tests/test_it.py::TestIt::test_other - assert not True",
    ] == lines[2:]


def test_a_reason_stands_beside_its_own_test() -> None:
    """Tests of one name may be in several classes or files, and pytest reports the error of a fixture separately."""
    code = """class TestA:
    def test_it(self):
        def inner():
            assert 'validation error' in text

    def test_that(self): ...

if True:
    class TestB:
        def test_it(self): ...
"""
    line = Left("tests/test_it.py", 4, (), "why", "write this")
    known = reasons([line], {"tests/test_it.py": code.encode()})
    long = f"test_{'x' * 70}"
    before = Ran(1, ["FAILED tests/test_it.py::test_case[a - b] - KeyError", "1 failed in 0.1s"])
    after = Ran(
        1,
        [
            "____ TestA.test_it ____",
            "E   assert 1",
            "____ TestB.test_it ____",
            "E   assert 2",
            "_ _ _ _ _ _",
            "_ ERROR at setup of TestB.test_that[x y] _",
            "E   assert 3",
            f"_ {long} _",
            "E   assert 4",
            "FAILED tests/test_it.py::test_case[a - b] - KeyError",
            "FAILED tests/test_it.py::test_case[a - c] - KeyError",
            "FAILED tests/test_it.py::TestA::test_it - assert 1",
            "FAILED test_it.py::TestA::test_it[0] - assert [1] - 2",
            "FAILED more/tests/test_it.py::TestA::test_it - assert 1",
            "FAILED s/test_it.py::TestA::test_it - assert 1",
            "FAILED tests/test_it.py::TestB::test_it - assert 2",
            "ERROR tests/test_it.py - ImportError",
            "7 failed in 0.1s",
            "bye",
        ],
    )
    assert [
        "before: 1 failed in 0.1s (exit code 1)",
        "after: 7 failed in 0.1s (exit code 1)",
        "1 test (0 before): assert 2",
        "1 test (0 before): assert 3",
        "1 test (0 before): assert 4",
        "FAILED tests/test_it.py::TestA::test_it: line 4 why: write this",
        "FAILED test_it.py::TestA::test_it: line 4 why: write this",
        "FAILED more/tests/test_it.py::TestA::test_it: line 4 why: write this",
        "FAILED tests/test_it.py::test_case[a - c] - KeyError",
        "FAILED s/test_it.py::TestA::test_it - assert 1",
        "FAILED tests/test_it.py::TestB::test_it - assert 2",
        "ERROR tests/test_it.py - ImportError",
    ] == after.difference(before, known)
    again = Ran(1, ["FAILED tests/test_it.py::TestA::test_it - KeyError"])
    assert "FAILED tests/test_it.py::TestA::test_it: line 4 why: write this" not in after.difference(again, known)


DOUBLES = {
    'sys.modules["fastmcp"] = x': (True, False),
    "sys.modules.setdefault('mcp', x)": (True, True),
    'patch.setitem(sys.modules, "mcp", x)': (True, True),
    "patch.dict('sys.modules', {'other': x, 'mcp': x})": (True, True),
    'patch.setitem(sys.modules, "mcp", None)': (False, False),
    'x = sys.modules["fastmcp"]': (False, False),
    'sys.modules["fastmcp_x"] = x': (False, False),
    'patch.dict(sys.modules, {"other": "mcp"})': (False, False),
    '# sys.modules["mcp"] = x': (False, False),
}


def test_a_stand_in_for_a_framework_has_a_line(tmp_path: Path) -> None:
    """The import of mcpcore fails behind it. A file has one line, also with several of them."""
    tests = {f"tests/test_{number}.py": f"{line}\n" * 2 for number, line in enumerate(DOUBLES)}
    for place, new in enumerate(["mcpcore.integrations.fastmcp", "mcpcore"]):
        server = SERVER if place else SERVER.replace("mcp.server.fastmcp", "fastmcp")
        done, _ = run(tmp_path / str(place), {"server.py": server, **tests})
        fails = f"the server imports {new} now, which fails behind it: add a stand-in for that, or remove this one"
        lines = [line for line in report(done) if line.endswith(fails)]
        assert [f"test_{number}.py" for number, has in enumerate(DOUBLES.values()) if has[place]] == [
            line.partition(":")[0] for line in lines
        ]
