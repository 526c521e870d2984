"""Registrations whose functions cannot be found are reported once; tools of other packages are not reported."""

from __future__ import annotations

import textwrap
from typing import Final

import pytest
from mcpcore_lint.runner.engine import lint_source
from mcpcore_lint.settings import Settings

RULE: Final = "tool-registration-unresolved"
START: Final = """
import importlib
import inspect
import os
import sys
from fastmcp import FastMCP
mcp = FastMCP("x")
"""
UNRESOLVED: Final[dict[str, tuple[str, str]]] = {
    "modules by unknown names": (
        """
        for name in os.listdir("acme/tools"):
            module = importlib.import_module(f"acme.tools.{name}")
            for _, fn in inspect.getmembers(module, inspect.isfunction):
                mcp.tool()(fn)  # here
        """,
        "acme.tools.*:*",
    ),
    "modules of unknown packages": (
        """
        def load(names: list[str]):
            for name in names:
                module = importlib.import_module(name)
                for _, fn in inspect.getmembers(module, inspect.isfunction):
                    mcp.tool()(fn)  # here
        """,
        "a.module:run",
    ),
    "a member by an unknown name": (
        """
        import store
        for name in os.environ["TOOLS"].split(","):
            mcp.add_tool(getattr(store, name))  # here
        """,
        "store:*",
    ),
    "a member by a prefix that no function has": (
        """
        import store
        def register(names: list[str]):
            for name in names:
                mcp.tool(getattr(store, f"handle_{name}"))  # here
        """,
        "store:handle_*",
    ),
    "a tool made from an unknown function": (
        """
        from fastmcp.tools import Tool
        mcp.add_tool(Tool.from_function(globals()[os.environ["TOOL"]]))  # here
        """,
        "app:*",
    ),
    "functions that a class keeps for a low-level handler": (
        """
        from mcp.server import Server
        server = Server("x")
        class Registry:
            def __init__(self):
                self.kept = {}
            def keep(self, fn):
                self.kept[fn.__name__] = fn
            async def run(self, name, arguments):
                return await self.kept[name](arguments)
        registry = Registry()
        @server.call_tool()  # here
        async def call_tool(name, arguments):
            return await registry.run(name, arguments)
        """,
        "a.module:run",
    ),
}
SILENT: Final[dict[str, str]] = {
    "a schema that is looked up by the tool's name": """
        from mcp.server import Server
        server = Server("x")
        SCHEMAS = {}
        @server.call_tool()
        async def call_tool(name, arguments):
            schema = SCHEMAS.get(name)
            if schema is None:
                raise ValueError(name)
            if name == "find":
                return [arguments]
            return [schema["title"]]
        """,
    "a function that is handed in": """
        def register(server: FastMCP, fn):
            server.add_tool(fn)
            server.tool()(fn)
        """,
    "what another package brings": """
        from tools_of_others import search, toolkit
        mcp.add_tool(search)
        for tool in toolkit.get_tools():
            mcp.add_tool(tool)
        """,
    "a proxy and a mount": """
        from fastmcp import Client
        proxy = FastMCP.as_proxy(Client("http://x"))
        mcp.mount(proxy)
        async def copy(client: Client):
            for tool in await client.list_tools():
                mcp.add_tool(tool)
        """,
    "an object of the framework": """
        from fastmcp.tools import Tool
        class Search(Tool):
            async def run(self, arguments): ...
        mcp.add_tool(Search(name="search", parameters={}))
        """,
    "plugins": """
        from importlib.metadata import entry_points
        for point in entry_points(group="acme"):
            mcp.add_tool(point.load())
        for name in os.environ["PLUGINS"].split(","):
            mcp.add_tool(importlib.import_module("json").loads)
        """,
    "an empty list": """
        TOOLS = []
        for fn in TOOLS:
            mcp.add_tool(fn)
        """,
    "a list that a decorator for tools fills": """
        TOOLS = []
        def my_tool(fn):
            TOOLS.append(fn)
            return fn
        @my_tool
        def find(q: str) -> str: ...
        for fn in TOOLS:
            mcp.add_tool(fn)
        """,
    "what a class keeps": """
        class Registry:
            def __init__(self, server: FastMCP):
                self.server = server
                self.pending = []
            def add(self, fn):
                self.pending.append(fn)
            def flush(self):
                for fn in self.pending:
                    self.server.add_tool(fn)
        """,
    "a low-level server that hands everything on": """
        from mcp.server import Server
        server = Server("x")
        SESSIONS = {}
        @server.call_tool()
        async def call(name: str, arguments: dict):
            session = SESSIONS[name.split("/")[0]]
            return await session.call_tool(name, arguments)
        """,
    "a low-level server with a table that can be read": """
        from mcp.server import Server
        server = Server("x")
        async def find(arguments): ...
        HANDLERS = {"find": find}
        @server.call_tool()
        async def call(name: str, arguments: dict):
            return await HANDLERS[name](arguments)
        """,
    "a prompt": """
        import store
        for name in os.environ["PROMPTS"].split(","):
            mcp.prompt()(getattr(store, name))
        """,
    "a filter that leaves nothing": """
        import store
        for name, fn in inspect.getmembers(store, inspect.isfunction):
            if name.startswith("tool_"):
                mcp.tool()(fn)
        """,
}
STORE: Final = "def find(q: str) -> str: ...\n"


def _linted(source, path="app.py", **settings):
    text = START + textwrap.dedent(source)
    report = lint_source(
        text.replace("  # here", ""),
        path=path,
        root="/nowhere",
        settings=Settings(select=frozenset({RULE}), **settings),
        files={"store.py": STORE},
    )
    assert not report.failures
    return text, report.diagnostics


@pytest.mark.parametrize("case", UNRESOLVED)
def test_a_registration_that_cannot_be_resolved_is_reported_once(case):
    """It has one finding, however often its loop runs, and the help shows an entry for the settings."""
    source, example = UNRESOLVED[case]
    text, findings = _linted(source)
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# here")]
    assert lines == [finding.span.line for finding in findings]
    assert f'handlers = ["{example}"]' in findings[0].help


@pytest.mark.parametrize("case", SILENT)
def test_tools_of_other_packages_are_not_reported(case):
    """Parameters, other packages' tools and empty lists may register anything, but name no function to check."""
    assert not _linted(SILENT[case])[1]


@pytest.mark.parametrize("path", ["tests/app.py", "test_app.py", "conftest.py"])
def test_tests_may_register_any_function(path):
    """No model uses a server that a test creates."""
    source, _ = UNRESOLVED["a member by an unknown name"]
    assert not _linted(source, path)[1]


def test_handlers_in_the_settings_silence_the_rule():
    """With `handlers` the functions are named, so no registration is reported as unresolved."""
    source, example = UNRESOLVED["a member by an unknown name"]
    assert not _linted(source, handlers=(example,))[1]


def test_the_help_says_what_the_example_matches():
    """An entry that names no function is recognized before anyone copies it into the settings."""
    _, (named,) = _linted(UNRESOLVED["a member by an unknown name"][0])
    _, (unnamed,) = _linted(UNRESOLVED["a member by a prefix that no function has"][0])
    assert named.help.endswith('handlers = ["store:*"], which matches find')
    assert unnamed.help.endswith('handlers = ["store:handle_*"], which matches no function that was found')


def test_an_entry_for_a_package_matches_the_functions_of_its_modules(tmp_path):
    """The help counts the functions of all files of the package, and names two."""
    tools = tmp_path / "acme" / "tools"
    tools.mkdir(parents=True)
    (tmp_path / "acme" / "__init__.py").touch()
    (tools / "__init__.py").touch()
    (tools / "books.py").write_text("def find(): ...\n\n\ndef lend(): ...\n")
    (tools / "users.py").write_text("def greet(): ...\n\n\ndef _hidden(): ...\n")
    registers = 'mcp.tool()(getattr(importlib.import_module(f"acme.tools.{os.environ[name]}"), os.environ["RUN"]))\n'
    settings = Settings(select=frozenset({RULE}))
    (finding,) = lint_source(START + registers, path="app.py", root=str(tmp_path), settings=settings).diagnostics
    assert finding.help.endswith('handlers = ["acme.tools.*:*"], which matches find, lend and 1 more')
