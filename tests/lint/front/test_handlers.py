"""Functions that the settings name as tools, files linted by themselves, and runs that find no tools."""

from __future__ import annotations

import pytest

USERS = '''
def handle_find(q: str) -> dict:
    """Find a user."""
    try:
        return {"user": {"ada": 1}[q]}
    except KeyError as exc:
        return {"error": str(exc)}


def helper(q: str) -> dict:
    try:
        return {"user": {"ada": 1}[q]}
    except KeyError as exc:
        return {"error": str(exc)}


class Users:
    def handle_all(self, q: str) -> dict:
        """List them all."""
        raise Exception(q)

    def _handle_none(self, q: str) -> dict:
        raise Exception(q)
'''
LOOP = """
import inspect
from fastmcp import FastMCP
from acme.tools import users
mcp = FastMCP("x")
for name, fn in inspect.getmembers(users, inspect.isfunction):
    if name.startswith("handle_"):
        mcp.tool()(fn)
"""


@pytest.fixture
def acme(empty):
    """A package with a module of functions."""
    empty.write("acme/__init__.py", "")
    empty.write("acme/tools/__init__.py", "")
    empty.write("acme/tools/users.py", USERS)
    return empty


def _rules(project, *args, **options):
    return sorted({(path, line, rule) for path, line, rule in project.findings(*args, **options)})


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("acme.tools.*:handle_*", {"handle_find"}),
        ("acme.tools.users:h*", {"handle_find", "helper"}),
        ("*:Users.*", {"handle_all"}),
        ("acme.*:Users._*", {"_handle_none"}),
    ],
)
def test_the_settings_name_functions_that_are_tools(acme, entry, expected):
    """Every rule applies to them; a pattern matches private functions only if it begins with an underscore."""
    acme.settings(f'select = ["handler", "definitions", "linter"]\nhandlers = ["{entry}"]')
    report = acme.json("--no-cache", ".")
    tools = {finding["tool"] for finding in report["diagnostics"] if finding["tool"]}
    # Findings of one rule in one file are one; its places name their tools first.
    tools |= {place["message"].split()[0] for finding in report["diagnostics"] for place in finding["related"]}
    assert expected == tools
    assert not [finding for finding in report["diagnostics"] if finding["rule"] == "unknown-handler"]


def test_a_function_that_is_also_registered_is_one_tool(acme):
    """A function that is both registered and named in the settings is one tool."""
    acme.write("acme/server.py", LOOP)
    before = acme.lint("--no-cache", ".").output
    acme.settings('handlers = ["acme.tools.*:handle_*"]')
    after = acme.lint("--no-cache", ".").output
    assert before.splitlines()[-1] == after.splitlines()[-1]
    assert after.splitlines()[-1].endswith("files, 1 tool")


def test_an_entry_that_names_nothing_is_a_finding(acme):
    """The finding points at the entry. A run over a part of the project cannot tell."""
    acme.settings('handlers = [\n  "acme.tools.*:handle_*",\n  "acme.tolls.*:handle_*",\n]')
    expected = ("pyproject.toml", 4, "unknown-handler")
    assert expected in acme.findings("--no-cache", ".", code=1)
    assert expected not in acme.findings("--no-cache", "acme/__init__.py")
    acme.settings('ignore = ["unknown-handler"]\nhandlers = ["acme.tolls.*:handle_*"]')
    assert not acme.findings("--no-cache", ".")


@pytest.mark.parametrize("entry", ["acme.tools", ":handle", "acme:", "a b:c", "acme:A.b.c", "acme:x:y"])
def test_an_invalid_entry_is_rejected(acme, entry):
    """The message shows the form, with the file and the key."""
    acme.settings(f'handlers = ["{entry}"]')
    output = acme.lint(".", code=2).stderr
    assert 'handlers: must be "module:function" or "module:Class.method"' in output
    assert "acme.tools.*:handle_*" in output


def test_the_cache_depends_on_the_entries(acme):
    """Changing the entries checks the files again."""
    acme.write("acme/server.py", "from fastmcp import FastMCP\nmcp = FastMCP('x')\n")
    acme.settings('handlers = ["acme.tools.*:handle_*"]')
    first = acme.lint(".").output
    assert first == acme.lint(".").output
    acme.settings('handlers = ["acme.tools.*:helper"]')
    assert first != acme.lint(".").output


def test_a_file_by_itself_has_the_tools_that_others_register(acme):
    """Its findings are those of the whole run, from disk and from an editor, with and without the cache."""
    acme.write("acme/server.py", LOOP)
    whole = [finding for finding in acme.findings(".") if finding[0] == "acme/tools/users.py"]
    assert ("acme/tools/users.py", 7, "no-error-as-data") in whole
    for arguments in (["acme/tools/users.py"], ["acme/tools/users.py"], ["--no-cache", "acme/tools/users.py"]):
        assert whole == acme.findings(*arguments, code=1)
    assert whole == acme.findings("--stdin-filename", "acme/tools/users.py", input=USERS, code=1)
    assert whole == [finding for finding in acme.findings(".") if finding[0] == "acme/tools/users.py"]


def test_a_file_of_handlers_is_judged_with_its_dispatcher(empty):
    """A dispatcher that raises a returned failure does so too if only the file of the handler is given."""
    empty.write("users.py", "async def find(arguments):\n    return {'error': f'no {arguments}'}\n")
    empty.write(
        "server.py",
        """
        from mcp.server import Server
        from users import find
        server = Server("x")
        @server.call_tool()
        async def call_tool(name: str, arguments: dict):
            if name == "find":
                result = await find(arguments)
                if "error" in result:
                    raise ValueError(result["error"])
                return result
            raise ValueError(name)
        """,
    )
    for paths in (["."], ["server.py"], ["users.py"], ["users.py", "server.py"]):
        assert empty.findings("--no-cache", "--select", "no-error-as-data", *paths) == []


def test_only_tools_that_are_not_for_tests_are_counted(empty):
    """Resources, prompts and tools of tests are checked, but not counted as tools of the server."""
    head = "from fastmcp import FastMCP\nmcp = FastMCP('x')\n"
    tool = '@mcp.tool\ndef find(q: str) -> str:\n    """Find."""\n'
    others = tool.replace("tool", "prompt").replace("find", "ask") + tool.replace("tool", "resource('a://{q}')")
    empty.write("server.py", head + tool + others.replace("find", "read"))
    empty.settings("include-tests = true\n")
    empty.write("tests/test_server.py", head + tool)
    empty.write("tools/own.py", head + "def test_it():\n    @mcp.tool\n    def inner(q: str) -> str: ...\n")
    for arguments in (["--no-cache", "."], ["."], ["."]):
        assert empty.json(*arguments)["summary"]["tools"] == 1
    assert "in 3 files, 1 tool\n" in empty.lint(".").stdout


def test_a_tool_that_each_mode_registers_is_counted_once(empty):
    """Two branches register the same function; under another name it is another tool."""
    tool = 'def {}(q: str) -> str:\n    """Find."""\n    return q\n'
    modes = "if safe:\n    mcp.tool(find)\nelse:\n    mcp.tool(find)\n    mcp.tool(name='other')(find)\n"
    head = "from fastmcp import FastMCP\nmcp = FastMCP('x')\nsafe = bool(input())\n"
    empty.write("server.py", head + tool.format("find") + modes)
    assert empty.json("--no-cache", ".")["summary"]["tools"] == 2


def test_tools_of_tests_do_not_hide_that_no_tool_was_found(empty):
    """The closing line names a file that is not a test, or that answers the protocol itself; not if it has resources."""
    head = "from fastmcp import FastMCP\nmcp = FastMCP('x')\n"
    empty.settings("include-tests = true\n")
    empty.write("tests/test_server.py", head + '@mcp.tool\ndef find(q: str) -> str:\n    """Find."""\n')
    assert "0 tools" in empty.lint("--no-cache", ".").stdout
    assert "no tools were seen" not in empty.lint("--no-cache", ".").stdout
    empty.write("server.py", head)
    assert "0 tools: no tools were seen: server.py imports fastmcp" in empty.lint("--no-cache", ".").stdout
    empty.write("server.py", "def answer(message):\n    return message['method'] == 'tools/call'\n")
    assert "0 tools: no tools were seen: server.py mentions tools/call" in empty.lint("--no-cache", ".").stdout
    empty.write("server.py", head + "@mcp.resource('a://{q}')\ndef read(q: str) -> str: ...\n")
    assert "0 tools\n" in empty.lint("--no-cache", ".").stdout


def test_a_run_that_finds_no_tools_says_why(acme):
    """The closing line names a file that mentions a framework, and the next step."""
    acme.write("acme/lone.py", "from fastmcp import Context\ndef find(q: str, ctx: Context) -> str: ...\n")
    alone = acme.lint("--no-cache", "acme/lone.py").output
    assert "no tools were seen: acme/lone.py imports fastmcp" in alone.splitlines()[-1]
    assert "lint the folder with the code that registers them" in alone
    whole = acme.lint("--no-cache", ".").output
    assert "no tools were seen: acme/lone.py imports fastmcp" in whole.splitlines()[-1]
    assert "`handlers`" in whole
    assert "no tools were seen" not in acme.lint("--no-cache", "acme/tools").output
    acme.json("--no-cache", ".")


def test_a_run_with_registrations_that_cannot_be_resolved_says_so(acme):
    """The closing line points at the findings."""
    acme.write(
        "acme/server.py",
        """
        import os
        from fastmcp import FastMCP
        from acme.tools import users
        mcp = FastMCP("x")
        for name in os.environ["TOOLS"].split():
            mcp.add_tool(getattr(users, name))
        """,
    )
    output = acme.lint("--no-cache", ".").output
    assert "the registrations cannot be resolved" in output.splitlines()[-1]
    assert "info[tool-registration-unresolved]" in output


def test_json_says_that_no_tools_were_seen(empty):
    """A program learns it from a note, as a person does from the last line."""
    empty.write("server.py", "from fastmcp import FastMCP\nmcp = FastMCP('x')\n")
    (note,) = empty.json("--no-cache", ".")["notes"]
    assert note.startswith("no tools were seen: server.py imports fastmcp")
