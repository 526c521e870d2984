"""What is ever put into a collection is registered where a loop goes through it, and no registration is silent."""

from __future__ import annotations

import textwrap
from typing import Final

import pytest
from mcpcore_lint.engine.registrations import elements, functions
from mcpcore_lint.runner.engine import lint_paths
from mcpcore_lint.settings import Settings

from tests.files import write_files

RULE: Final = "tool-registration-unresolved"
FOUND: Final[dict[str, tuple[set[str], dict[str, str]]]] = {
    "a list that a factory's decorator fills": (
        {"find", "lend"},
        {
            "acme/reg.py": """
                def make():
                    records = []
                    def publish(kind):
                        def collect(fn):
                            records.append((fn.__name__, fn, kind))
                            return fn
                        return collect
                    def attach(server):
                        for name, fn, kind in records:
                            server.add_tool(fn, name=name)
                    return publish, attach
            """,
            "acme/a.py": """
                from acme.reg import make
                publish, attach = make()
                @publish("x")
                def find(q: str) -> str: ...
                @publish("y")
                def lend(q: str) -> str: ...
            """,
            "acme/main.py": """
                from fastmcp import FastMCP
                from acme import a
                mcp = FastMCP("x")
                a.attach(mcp)
            """,
        },
    ),
    "a list that another file changes": (
        {"find", "lend"},
        {
            "acme/reg.py": """
                ALL = []
            """,
            "acme/a.py": """
                from acme.reg import ALL
                from acme import reg
                def find(q): ...
                def lend(q): ...
                ALL.append(find)
                reg.ALL += [lend]
            """,
            "acme/main.py": """
                from fastmcp import FastMCP
                from acme.reg import ALL
                mcp = FastMCP("x")
                for run in ALL:
                    mcp.add_tool(run)
            """,
        },
    ),
    "a list that a function fills": (
        {"find"},
        {
            "acme/main.py": """
                from fastmcp import FastMCP
                mcp = FastMCP("x")
                def find(q): ...
                def fill(into):
                    into.append(find)
                KEPT = []
                fill(KEPT)
                for run in KEPT:
                    mcp.add_tool(run)
            """,
        },
    ),
    "a server under any name, also as an attribute": (
        {"Books.find", "Books.publish.lend", "setup.greet"},
        {
            "acme/a.py": """
                class Books:
                    def __init__(self, host):
                        self.host = host
                    def publish(self):
                        self.host.tool()(self.find)
                        @self.host.tool()
                        def lend(q): ...
                    def find(self, q): ...
                def setup(srv):
                    @srv.tool()
                    def greet(q): ...
            """,
            "acme/main.py": """
                from fastmcp import FastMCP
                from acme.a import Books, setup
                it = FastMCP("x")
                Books(it).publish()
                setup(it)
            """,
        },
    ),
    "a table in an object, filled by a method": (
        {"find", "lend"},
        {
            "acme/main.py": """
                from fastmcp import FastMCP
                class Registry:
                    def __init__(self):
                        self.pending = {}
                    def add(self, fn):
                        self.pending[fn.__name__] = fn
                        return fn
                    def flush(self, server: FastMCP):
                        for name, fn in self.pending.items():
                            server.add_tool(fn)
                registry = Registry()
                @registry.add
                def find(q): ...
                def lend(q): ...
                registry.add(lend)
                registry.flush(FastMCP("x"))
            """,
        },
    ),
    "a function that an object keeps": (
        {"find"},
        {
            "acme/main.py": """
                from fastmcp import FastMCP
                class Wrapped:
                    def __init__(self, fn, name):
                        self.fn = fn
                    def publish(self, server: FastMCP):
                        server.add_tool(self.fn)
                def find(q): ...
                for w in [Wrapped(find, "x")]:
                    w.publish(FastMCP("x"))
            """,
        },
    ),
    "a registering function of any name": (
        {"find"},
        {
            "acme/wiring.py": """
                def publish(server, fn):
                    server.add_tool(fn)
            """,
            "acme/main.py": """
                from fastmcp import FastMCP
                from acme.wiring import publish
                it = FastMCP("x")
                def find(q): ...
                publish(it, find)
            """,
        },
    ),
    "records of an object that dispatches, given to its constructor": (
        {"find", "call"},
        {
            "acme/reg.py": """
                class Spec:
                    def __init__(self, name, handler): ...
                class Registry:
                    def __init__(self, specs):
                        self.specs = {}
                        for spec in specs:
                            self.specs[spec.name] = spec
                    async def dispatch(self, name, arguments):
                        spec = self.specs.get(name)
                        return await spec.handler(arguments)
            """,
            "acme/main.py": """
                from mcp.server import Server
                from acme.reg import Registry, Spec
                server = Server("x")
                async def find(arguments): ...
                registry = Registry([Spec(name="find", handler=find)])
                @server.call_tool()
                async def call(name, arguments):
                    return await registry.dispatch(name, arguments)
            """,
        },
    ),
    "objects that functions keep and find by name": (
        {"call", "Find.run", "Lend.run"},
        {
            "acme/tools.py": """
                class Tool:
                    def __init__(self, name):
                        self.name = name
                    def run(self, arguments): ...
                class Find(Tool):
                    def run(self, arguments): ...
                class Lend(Tool):
                    def run(self, arguments): ...
            """,
            "acme/main.py": """
                from mcp.server import Server
                from acme import tools
                server = Server("x")
                kept = {}
                def add_tool_object(made: tools.Tool):
                    kept[made.name] = made
                def tool_object(name) -> tools.Tool | None:
                    if name not in kept:
                        return None
                    return kept[name]
                add_tool_object(tools.Find("find"))
                add_tool_object(tools.Lend("lend"))
                @server.call_tool()
                async def call(name, arguments):
                    chosen = tool_object(name)
                    if not chosen:
                        raise ValueError(name)
                    return chosen.run(arguments)
            """,
        },
    ),
    "records that a decorator makes of functions": (
        {"find", "lend"},
        {
            "acme/specs.py": """
                from functools import partial
                class Spec:
                    def __init__(self, run, title): ...
                    def bound(self, value):
                        return type(self)(run=bind(self.run, value), title=self.title)
                def bind(run, value):
                    def bound(*args):
                        return run(value, *args)
                    return run
                def any_spec(title, kind):
                    def decorate(run):
                        return Spec(run=run, title=title)
                    return decorate
                spec = partial(any_spec, kind="book")
            """,
            "acme/books.py": """
                from acme.specs import spec
                @spec("Find")
                def find(q): ...
                @spec("Lend")
                def lend(q): ...
                ALL = [find, lend]
            """,
            "acme/main.py": """
                from fastmcp import FastMCP
                from acme.books import ALL
                def register(server: FastMCP, specs):
                    for one in specs:
                        server.add_tool(one.run, name=one.title)
                register(FastMCP("x"), [each.bound(3) for each in ALL])
            """,
        },
    ),
    "lists that are joined, cut, copied and awaited": (
        {"find", "greet", "read"},
        {
            "acme/main.py": """
                from fastmcp import FastMCP
                mcp = FastMCP("x")
                def find(q): ...
                def greet(q): ...
                def read(q): ...
                async def listed():
                    return [find]
                async def register():
                    for run in [*await listed(), *[greet][:1], *[read].copy()]:
                        mcp.add_tool(run)
            """,
        },
    ),
    "what a function returns beside something else": (
        {"find", "lend"},
        {
            "acme/books.py": """
                def find(q): ...
                def lend(q): ...
                ALL = [find] + [lend]
            """,
            "acme/main.py": """
                from fastmcp import FastMCP
                from fastmcp.tools import FunctionTool
                from acme.books import ALL
                def chosen(without):
                    listed = list(ALL)
                    return [fn for fn in listed if fn.__name__ not in without], without
                functions, left_out = chosen({"x"})
                mcp = FastMCP("x")
                for fn in functions:
                    made = FunctionTool.from_function(fn)
                    mcp.add_tool(made)
            """,
        },
    ),
    "a tool that is a class": (
        {"Search.run"},
        {
            "acme/main.py": """
                from fastmcp import FastMCP
                from fastmcp.tools import Tool
                class Search(Tool):
                    async def run(self, arguments): ...
                FastMCP("x").add_tool(Search(name="search", parameters={}))
            """,
        },
    ),
}
UNRESOLVED: Final[dict[str, dict[str, str]]] = {
    "a server that nothing shows to be one": {
        "acme/main.py": """
            from fastmcp import FastMCP
            from acme.hosts import hosts
            @hosts["x"].tool()  # here
            def find(q): ...
        """,
        "acme/hosts.py": "hosts = {}\n",
    },
    "an object of the project that nothing can call": {
        "acme/main.py": """
            from fastmcp import FastMCP
            mcp = FastMCP("x")
            class Search:
                def go(self): ...
            mcp.add_tool(Search())  # here
        """,
    },
    "one entry of a table for a low-level server": {
        "acme/main.py": """
            import importlib
            from mcp.server import Server
            server = Server("x")
            async def find(arguments): ...
            TABLE = {"find": find, "lend": importlib.import_module("acme." + open("x").read()).run}
            @server.call_tool()  # here
            async def call(name, arguments):
                return await TABLE[name](arguments)
        """,
    },
    "an object that a call finds by name": {
        "acme/main.py": """
            from mcp.server import Server
            from acme.reg import made
            server = Server("x")
            @server.call_tool()  # here
            async def call(name, arguments):
                chosen = made["all"].tool(name)
                return await chosen.dispatch(arguments)
        """,
        "acme/reg.py": """
            made = {}
            class Tool:
                async def dispatch(self, arguments): ...
        """,
    },
    "a dispatcher of unknown class, which the project may define": {
        "acme/main.py": """
            from mcp.server import Server
            from acme.reg import made
            server = Server("x")
            dispatcher = made["x"]
            @server.call_tool()  # here
            async def call(name, arguments):
                return await dispatcher.dispatch(name, arguments)
        """,
        "acme/reg.py": """
            made = {}
            class Registry:
                async def dispatch(self, name, arguments): ...
        """,
    },
}


def _linted(root, files):
    texts = {path: textwrap.dedent(text).replace("  # here", "") for path, text in files.items()}
    write_files(root, {"acme/__init__.py": "", **texts})
    report = lint_paths([str(root)], root=str(root), settings=Settings(select=frozenset({RULE})))
    assert not report.failures
    return report


@pytest.mark.parametrize("case", FOUND)
def test_what_is_put_into_a_collection_is_registered(tmp_path, case):
    """Each function is found once, and nothing is reported as unresolved."""
    handlers, files = FOUND[case]
    report = _linted(tmp_path, files)
    assert sorted(handlers) == sorted(tool.handler for tool in report.tools)
    assert not report.diagnostics


@pytest.mark.parametrize("case", UNRESOLVED)
def test_no_registration_is_silent(tmp_path, case):
    """A registration has one finding where its function, or its server, is not known."""
    files = UNRESOLVED[case]
    lines = textwrap.dedent(files["acme/main.py"]).splitlines()
    (finding,) = _linted(tmp_path, files).diagnostics
    assert [number for number, line in enumerate(lines, 1) if line.endswith("# here")] == [finding.span.line]


@pytest.mark.parametrize(("module", "limit", "value"), [(functions, "ALL_STEPS", 60), (elements, "MANY", 20)])
def test_what_is_not_read_to_its_end_is_a_finding(tmp_path, monkeypatch, module, limit, value):
    """A registration has a limit as a whole: on one real tree each of its lists and callers had one, and took minutes."""
    monkeypatch.setattr(module, limit, value)
    names = [f"tool_{number}" for number in range(30)]
    files = {
        "acme/main.py": f"""
            from fastmcp import FastMCP
            from acme.tools import {", ".join(names)}
            mcp = FastMCP("x")
            for tool in [{", ".join(names)}]:
                mcp.add_tool(tool)
        """,
        "acme/tools.py": "".join(f"def {name}(q: str) -> str: ...\n" for name in names),
    }
    report = _linted(tmp_path, files)
    assert 0 < len(report.tools) < len(names)
    messages = [finding.message for finding in report.diagnostics]
    assert ["no further function is found behind `mcp.add_tool(tool)`, so no rule checks it"] == messages
