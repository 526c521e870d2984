"""A finding in code that several tools reach is reported once, across files, processes and runs."""

from __future__ import annotations

import cProfile

import pytest
from mcpcore_lint.engine.syntax.imports import ImportSearch
from mcpcore_lint.engine.syntax.project import Project
from mcpcore_lint.runner.engine import lint_paths, lint_source
from mcpcore_lint.settings import Settings

ONLY = Settings(select=frozenset({"no-stdout-in-tool"}))
SERVER = """
from fastmcp import FastMCP
from service import load

mcp = FastMCP("x")


@mcp.tool
def fetch{number}(key: str) -> str:
    return load(key)
"""
SERVICE = "from log import step\n\n\ndef load(key):\n    step(key)\n    return key\n"
LOG = "def step(text):\n    print(text)\n"
SAID = "print() in step writes to standard output, which over stdio carries the protocol "


@pytest.fixture
def many(project, tmp_path_factory, monkeypatch):
    """Sixty servers, each with a tool that reaches the same `print`: enough files to use a second process."""
    monkeypatch.setenv("MCPCORE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    project.write(service=SERVICE, log=LOG)
    for number in range(10, 70):
        project.write(**{f"server{number}": SERVER.format(number=number)})
    return project


def findings(project, *, jobs=1, **options):
    """The findings of a run."""
    report = lint_paths(str(project.root), root=str(project.root), settings=ONLY._replace(jobs=jobs), **options)
    assert not report.failures
    return report.diagnostics


def test_one_finding_for_sixty_files(many):
    """The finding is the same with one or two processes, from the cache, and after one file has changed."""
    diagnostics = findings(many)
    assert [("log.py", 2, f"{SAID}(tools: fetch10, fetch11, fetch12 and 57 more)")] == [
        (diagnostic.path, diagnostic.span.line, diagnostic.message) for diagnostic in diagnostics
    ]
    assert [f"server{number}.py" for number in range(10, 70)] == [place.path for place in diagnostics[0].related]
    assert "fetch10 calls it here: fetch10 > load > step" == diagnostics[0].related[0].message
    assert diagnostics[0].tool is None
    assert diagnostics == findings(many, jobs=2)
    assert diagnostics == findings(many, jobs=2, cache=True)
    assert diagnostics == findings(many, cache=True)
    many.write(server33=SERVER.format(number=33) + "\n\n# changed\n")
    assert diagnostics == findings(many, cache=True)


def test_a_print_in_a_file_that_only_its_importer_names(many):
    """The next run notices a change in a file that the tool's own file imports only indirectly."""
    many.write(log="def step(text):\n    pass\n")
    assert () == findings(many, cache=True)
    many.write(log=LOG)
    assert 1 == len(findings(many, cache=True))
    many.write(log=LOG.replace("print(text)", "print(text)  # mcpcore: ignore[no-stdout-in-tool] a test"))
    assert () == findings(many, cache=True)


def test_a_handler_that_another_tool_calls(project):
    """A finding in a handler belongs to its own tool, and also to other tools that call the handler."""
    code = (
        "from fastmcp import FastMCP\nmcp = FastMCP('x')\n@mcp.tool\ndef fetch(a: str) -> str:\n    print(a)\n"
        "    return a\n"
    )
    (finding,) = lint_source(code, root=str(project.root), settings=ONLY).diagnostics
    assert (("fetch",), ()) == (finding.tools, finding.related)
    assert finding.message.endswith("carries the protocol (tool: fetch)")
    code += "@mcp.tool\ndef show(a: str) -> str:\n    return fetch(a)\n"
    (finding,) = lint_source(code, root=str(project.root), settings=ONLY).diagnostics
    assert finding.tool is None
    assert finding.message.endswith("carries the protocol (tools: fetch, show)")
    assert ["show calls it here: show > fetch"] == [place.message for place in finding.related]


@pytest.mark.parametrize(
    ("line", "reached"),
    [
        ("from package import first", True),
        ("from package import (  # both\n    second,\n    first as other,\n)", True),
        ("import package.first", True),
        ("import os, package.first as other", True),
        ("def later():\n    from package.first import work", True),
        ("from package.outer import again", True),
        ("from package import second", False),
        ("import os", False),
        ("text = 'import package.first'", False),
        ("important = 1", False),
    ],
)
def test_search_through_imports(project, line, reached):
    """Imports in every form are followed without parsing a file."""
    project.write(
        app=line + "\n",
        package__init="",
        package__first="def work():\n    print(1)\n",
        package__second="from . import outer2\n",
        package__outer="from . import first\nfrom . import outer\n",
    )
    search = ImportSearch(Project(str(project.root)), lambda text: "print(" in text)
    assert reached is search.found_from(str(project.root / "app.py"))
    assert not search.found_from(str(project.root / "gone.py"))


def test_a_dispatcher_to_many_functions_is_judged_in_a_time_that_grows_with_their_number(project):
    """For each tool, only the calls that concern its result are looked at closely."""
    tools = "".join(
        f"def f{at}(a):\n    try:\n        return [open(a['x'])]\n    except Exception as e:\n        return [{{'error': str(e)}}]\n"
        for at in range(60)
    )
    chain = "".join(f"    {'el' * bool(at)}if name == 't{at}':\n        return f{at}(arguments)\n" for at in range(60))
    head = "from mcp.server import Server\napp = Server('x')\n"
    project.write(app=f"{head}{tools}@app.call_tool()\nasync def call_tool(name, arguments):\n{chain}")
    profile, settings = cProfile.Profile(), Settings(select=frozenset({"no-error-as-data"}), jobs=1)
    assert profile.runcall(lint_paths, str(project.root), root=str(project.root), settings=settings).diagnostics
    looked_at = [entry.callcount for entry in profile.getstats() if getattr(entry.code, "co_name", "") == "catching"]
    assert sum(looked_at) < 60 * 60


def test_what_many_tools_share_is_looked_for_once(project):
    """Twice as many methods with schemas, and calls of a helper, take about twice as many steps."""

    lines = (
        "  Tool(name='t#', inputSchema={'properties': {'a': {}}}),\n",
        " def f#(self, a):\n  return fail('no #', a)\n",
        " if name == 't#':\n  return api.f#(arguments.get('a'))\n",
    )

    def steps(count):
        tools, methods, chain = ("".join(line.replace("#", f"{at}") for at in range(count)) for line in lines)
        project.write(
            app="from mcp.server import Server\napp = Server('x')\ndef fail(text, a):\n if a:\n  return {'error': text}\n"
            f"class Api:\n tools = [\n{tools} ]\n{methods}api = Api()\n@app.call_tool()\n"
            f"async def call_tool(name, arguments):\n{chain} return fail('x', arguments.get('a'))\n"
        )
        profile, settings = cProfile.Profile(), Settings(select=frozenset({"no-error-as-data"}), jobs=1)
        assert profile.runcall(lint_paths, str(project.root), root=str(project.root), settings=settings).diagnostics
        return sum(entry.callcount for entry in profile.getstats())

    assert steps(80) < 3 * steps(40)


def test_a_handler_in_another_file_is_reported_once(project):
    """The dispatcher returns the result of a handler, whose failure is the handler's own finding."""
    project.write(
        server="""
            from mcp.server import Server
            from tools import handle_read

            server = Server("x")

            @server.call_tool()
            async def call_tool(name, arguments):
                if name == "read":
                    return await handle_read(arguments)
                raise ValueError(name)
        """,
        tools="async def handle_read(key):\n    if key not in KEYS:\n        return {'error': key}\n    return KEYS[key]\n",
    )
    report = lint_paths(str(project.root), root=str(project.root), settings=Settings())
    assert [finding.message.partition(" ")[0] for finding in report.diagnostics] == ["read"]
