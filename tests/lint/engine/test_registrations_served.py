"""Tools of a low-level handler: the functions to which it dispatches the calls of each name."""

from __future__ import annotations

from typing import Final

import pytest
from mcpcore_lint.runner.explain import explain_tool

from tests.lint.engine.registering import check

HEAD: Final = """
        from mcp.server.lowlevel import Server
        server = Server("x")
"""

SERVED: Final[dict[str, tuple[str, str]]] = {
    "comparisons, in any order and spelling": (
        HEAD
        + """
        READ = "read"
        class Names:
            WRITE = "write"
        @server.call_tool()
        async def call_tool(name: str, arguments: dict):
            if name == "find":
                return await find(arguments)
            elif READ == name:
                result = await read(arguments["key"])
                return [str(result)]
            elif name in ("drop", "purge"):
                return await drop(name, arguments)
            if name == Names.WRITE and arguments:
                return await write(**arguments)
            raise ValueError(name)
        async def find(arguments):
            raise ValueError("find")
        async def read(key):
            raise ValueError("read")
        async def drop(name, arguments):
            raise ValueError("drop")
        async def write(key, value):
            raise ValueError("write")
        """,
        """
        ?: tool lowlevel call_tool(name, arguments)
        find: tool lowlevel find(arguments)
        read: tool lowlevel read(key)
        drop: tool lowlevel drop(name, arguments)
        purge: tool lowlevel drop(name, arguments)
        write: tool lowlevel write(key, value)
        """,
    ),
    "match, with an enum and alternatives": (
        HEAD
        + """
        from enum import Enum, StrEnum
        class Names(StrEnum):
            FIND = "find"
        class Others(Enum):
            READ = "read"
        @server.call_tool()
        async def call_tool(name: str, arguments: dict):
            match name:
                case Names.FIND:
                    found = find(arguments["q"], arguments.get("limit", 3))
                    return [found]
                case Others.READ.value | "fetch":
                    return await read(arguments)
                case _:
                    raise ValueError(name)
        def find(q, limit):
            raise ValueError("find")
        async def read(arguments):
            raise ValueError("read")
        """,
        """
        ?: tool lowlevel call_tool(name, arguments)
        find: tool lowlevel find(q, limit)
        read: tool lowlevel read(arguments)
        fetch: tool lowlevel read(arguments)
        """,
    ),
    "a table of functions and methods": (
        HEAD
        + """
        class Store:
            async def get(self, key):
                raise ValueError(key)
        store = Store()
        async def find(arguments):
            raise ValueError("find")
        HANDLERS = {"find": find, "get": store.get, **{"look": find}}
        @server.call_tool()
        async def call_tool(name: str, arguments: dict):
            if name not in HANDLERS:
                raise ValueError(name)
            return await HANDLERS[name](arguments)
        """,
        """
        ?: tool lowlevel call_tool(name, arguments)
        find: tool lowlevel find(arguments)
        get: tool lowlevel Store.get(key)
        look: tool lowlevel find(arguments)
        """,
    ),
    "a class that keeps its table": (
        HEAD
        + """
        class Handlers:
            def __init__(self, only=None):
                every = {"find": self._find, "read": self._read}
                if only:
                    self.handlers = {k: v for k, v in every.items() if k in only}
                else:
                    self.handlers = every
            async def handle(self, name: str, arguments: dict):
                handler = self.handlers[name]
                result = await handler(arguments)
                return shape(result)
            async def _find(self, arguments):
                raise ValueError("find")
            async def _read(self, arguments):
                raise ValueError("read")
        def shape(result):
            raise ValueError("shape")
        def make():
            handlers = Handlers()
            @server.call_tool()
            async def call_tool(name: str, arguments: dict):
                try:
                    return await handlers.handle(name, arguments)
                except KeyError:
                    raise ValueError(name) from None
        """,
        """
        ?: tool lowlevel make.call_tool(name, arguments)
        find: tool lowlevel Handlers._find(arguments)
        read: tool lowlevel Handlers._read(arguments)
        """,
    ),
    "a search by something else than the name": (
        HEAD
        + """
        class Find:
            name = "find"
            kind = "find"
            async def run(self, arguments):
                raise ValueError("find")
        TOOLS = [Find()]
        @server.call_tool()
        async def call_tool(name: str, arguments: dict):
            tool = next((each for each in TOOLS if each.kind == arguments["kind"]), None)
            if not tool:
                raise ValueError(name)
            return await tool.run(arguments)
        """,
        "?: tool lowlevel call_tool(name, arguments)",
    ),
    "the second SDK: the request is handed over": (
        """
        from mcp.server import ServerRequestContext
        from mcp.server.lowlevel import Server
        from mcp_types import CallToolRequestParams
        async def on_call(ctx: ServerRequestContext, params: CallToolRequestParams):
            if params.name == "find":
                return await find(params.arguments or {})
            if ctx is None:
                raise ValueError("no")
            return await others(ctx, params)
        async def others(ctx, params):
            name, arguments = params.name, params.arguments
            if name != "read":
                raise ValueError(name)
            query = arguments["q"]
            result = await read(query)
            return [result]
        async def find(arguments):
            raise ValueError("find")
        async def read(q):
            raise ValueError("read")
        server = Server("x", on_call_tool=on_call)
        """,
        """
        find: tool lowlevel find(arguments)
        read: tool lowlevel read(q)
        ?: tool lowlevel on_call(ctx, params)
        """,
    ),
    "what prepares, shapes or serves is no tool": (
        HEAD
        + """
        class Client:
            async def search(self, q):
                raise ValueError(q)
        client = Client()
        def parse(arguments):
            raise ValueError("parse")
        def shape(found):
            raise ValueError("shape")
        async def read(options):
            raise ValueError("read")
        @server.call_tool()
        async def call_tool(name: str, arguments: dict):
            if name == "search":
                return await client.search(arguments["q"])
            if name == "read":
                options = parse(arguments)
                return shape(await read(options))
            if name == "count":
                counted = parse(arguments)
                return [f"{counted} in all"]
            raise ValueError(name)
        """,
        """
        ?: tool lowlevel call_tool(name, arguments)
        read: tool lowlevel read(options)
        """,
    ),
    "what a branch tests, or makes a sentence of, is no tool": (
        HEAD
        + """
        class Tasks:
            def cancel(self, query):
                raise ValueError(query)
        tasks = Tasks()
        def check(values):
            raise ValueError("check")
        def draw(arguments):
            raise ValueError("draw")
        async def send(arguments):
            raise ValueError("send")
        @server.call_tool()
        async def call_tool(name: str, arguments: dict):
            if name == "cancel":
                result = tasks.cancel(arguments)
                return [TextContent(type="text", text=f"Cancelled: {result}")]
            if name in ("bars", "lines"):
                if not check(arguments.get("y")):
                    raise ValueError("bad")
                return [TextContent(type="text", text="done")]
            if name == "circle":
                drawn = draw(arguments)
                return [TextContent(type="text", text="Drawn: " + drawn)]
            if name == "mail":
                await send(arguments)
            return [TextContent(type="text", text="done")]
        """,
        "?: tool lowlevel call_tool(name, arguments)",
    ),
    "what a branch gives out in another form is a tool's": (
        HEAD
        + """
        import json
        class Tasks:
            def cancel(self, query):
                raise ValueError(query)
        tasks = Tasks()
        async def find(arguments):
            raise ValueError("find")
        async def read(key):
            raise ValueError("read")
        async def size(arguments):
            raise ValueError("size")
        async def git_log(path):
            raise ValueError("log")
        @server.call_tool()
        async def call_tool(name: str, arguments: dict):
            if name == "find":
                found = await find(arguments)
                text = json.dumps(found, indent=2)
                return [TextContent(type="text", text=text)]
            if name == "cancel":
                result = tasks.cancel(arguments)
                return {"content": [f"{result}"]}
            if name == "git-log":
                log = await git_log(arguments["path"])
                return [TextContent(type="text", text="Commits: " + log)]
            if name == "read":
                result = await read(arguments["key"])
            elif name == "size":
                result = await size(arguments) or {}
            else:
                raise ValueError(name)
            return [TextContent(type="text", text=result.model_dump_json())]
        """,
        """
        ?: tool lowlevel call_tool(name, arguments)
        find: tool lowlevel find(arguments)
        cancel: tool lowlevel Tasks.cancel(query)
        git-log: tool lowlevel git_log(path)
        read: tool lowlevel read(key)
        size: tool lowlevel size(arguments)
        """,
    ),
    "entries that are unpacked, with the name of a method": (
        HEAD
        + """
        class Users:
            async def on_find(self, arguments):
                raise ValueError("find")
            async def on_drop(self, arguments):
                raise ValueError("drop")
            async def on_other(self, arguments):
                raise ValueError("other")
        class Dispatcher:
            def __init__(self):
                self.users = Users()
                self.table = {"find": (self.users, "on_find"), "drop": (self.users, "on_drop")}
            def register(self):
                @server.call_tool()
                async def call_tool(name: str, arguments: dict):
                    entry = self.table.get(name)
                    if not entry:
                        raise ValueError(name)
                    holder, method_name = entry
                    method = getattr(holder, method_name)
                    return await method(arguments)
        """,
        """
        ?: tool lowlevel Dispatcher.register.call_tool(name, arguments)
        find: tool lowlevel Users.on_find(arguments)
        drop: tool lowlevel Users.on_drop(arguments)
        """,
    ),
    "records that are searched for the name": (
        HEAD
        + """
        from dataclasses import dataclass
        from typing import Callable
        @dataclass
        class Record:
            name: str
            run: Callable
            tags: tuple = ()
        async def find(arguments):
            raise ValueError("find")
        async def drop(arguments):
            raise ValueError("drop")
        def serve(excluded):
            every = [Record(name="find", run=find), Record("drop", run=drop, tags=("write",))]
            allowed = [record for record in every if record.name not in excluded]
            @server.call_tool()
            async def call_tool(name: str, arguments: dict):
                run = next((record.run for record in allowed if record.name == name), None)
                if run is None:
                    raise ValueError(name)
                return await run(arguments)
        """,
        """
        ?: tool lowlevel serve.call_tool(name, arguments)
        find: tool lowlevel find(arguments)
        drop: tool lowlevel drop(arguments)
        """,
    ),
    "a loop that compares the name of each record": (
        HEAD
        + """
        from typing import NamedTuple
        class Record(NamedTuple):
            name: str
            run: object
        async def find(arguments):
            raise ValueError("find")
        async def drop(arguments):
            raise ValueError("drop")
        RECORDS = [Record("find", find), Record(name="drop", run=drop)]
        @server.call_tool()
        async def call_tool(name: str, arguments: dict):
            for record in RECORDS:
                if record.name == name:
                    return await record.run(arguments)
            raise ValueError(name)
        """,
        """
        ?: tool lowlevel call_tool(name, arguments)
        find: tool lowlevel find(arguments)
        drop: tool lowlevel drop(arguments)
        """,
    ),
    "a part of a table's entry": (
        HEAD
        + """
        async def find(arguments):
            raise ValueError("find")
        async def drop(arguments):
            raise ValueError("drop")
        TABLE = {"find": {"about": "finds", "run": find}, "drop": {"about": "drops", "run": drop}}
        @server.call_tool()
        async def call_tool(name: str, arguments: dict):
            if name not in TABLE:
                raise ValueError(name)
            return await TABLE[name]["run"](arguments)
        """,
        """
        ?: tool lowlevel call_tool(name, arguments)
        find: tool lowlevel find(arguments)
        drop: tool lowlevel drop(arguments)
        """,
    ),
    "methods that are called after the tools": (
        HEAD
        + """
        class Tools:
            def __init__(self):
                server.call_tool()(self.call)
            async def call(self, name: str, arguments: dict):
                method = getattr(self, f"on_{name}", None)
                if method is None:
                    raise ValueError(name)
                return await method(**arguments)
            async def on_find(self, key):
                raise ValueError("find")
            async def other(self, key):
                raise ValueError("other")
        """,
        """
        ?: tool lowlevel Tools.call(name, arguments)
        find: tool lowlevel Tools.on_find(key)
        """,
    ),
}


@pytest.mark.parametrize("case", SERVED)
def test_a_function_that_a_low_level_handler_dispatches_to_is_a_tool(project, case):
    """The function that serves a name is found under that name; its helpers are not tools."""
    source, expected = SERVED[case]
    check(project, source, expected)


FINDINGS: Final = {
    "app": """
        from mcp.server.lowlevel import Server
        from mcp.types import TextContent
        from tools import find
        server = Server("x")

        @server.call_tool()
        async def call_tool(name: str, arguments: dict):
            if name == "find":
                return [TextContent(type="text", text=await find(arguments))]
            if name == "read":
                def inner():
                    raise Exception
                inner()
                return await read(arguments)
            raise ValueError(f"Unknown tool: {name}")

        async def read(arguments):
            try:
                return open(arguments["path"]).read()
            except Exception as exc:
                return f"Error: {exc}"
    """,
    "tools": """
        async def find(arguments):
            try:
                return str(arguments["q"])
            except Exception:
                return []
    """,
}


def test_findings_of_served_functions_name_the_tool_and_appear_once(project):
    """The handler rules check each function under its tool's name, with one finding each."""
    project.write(**FINDINGS)
    run = project.run(select=frozenset({"handler"}))
    module = run.project.read(str(project.root / "app.py"))
    result = run.check(str(project.root / "app.py"), module)
    assert not result.failures
    findings = sorted((diagnostic.path, diagnostic.rule, diagnostic.tool) for diagnostic in result.diagnostics)
    assert findings == [
        ("app.py", "no-error-as-data", "read"),
        ("app.py", "prefer-mcp-error-in-handler", "call_tool"),
        ("tools.py", "no-fake-empty", "find"),
    ]


def test_long_and_circular_dispatch_ends(project):
    """A chain of a thousand branches is read, and dispatchers that call each other are read once."""
    chain = "".join(
        f"    {'el' if number else ''}if name == 't{number}':\n        return await do(arguments)\n"
        for number in range(1_200)
    )
    project.write(
        app="from mcp.server.lowlevel import Server\nserver = Server('x')\n@server.call_tool()\n"
        f"async def call_tool(name, arguments):\n{chain}    return await other(name, arguments)\n"
        "async def do(arguments):\n    raise ValueError('x')\n"
        "async def other(name, arguments):\n    if name == 'last':\n        return await do(arguments)\n"
        "    return await call_tool(name, arguments)\n"
    )
    names = set(project.tools())
    assert {"t0", "t1199", "last", "call_tool"} <= names
    assert 1_202 == len(names)


@pytest.mark.parametrize(
    "lines",
    [
        "if name == 'find':\n        return find(arguments)\n    raise ValueError(name)",
        "match name:\n        case 'find':\n            return find(arguments)\n        case _:\n            raise ValueError(name)",
        "handler = TABLE.get(name)\n    if handler is None:\n        raise ValueError(name)\n    return handler(arguments)",
        "if name not in TABLE:\n        raise ValueError(name)\n    return TABLE[name](arguments)",
        "if not (handler := TABLE.get(name)):\n        raise ValueError(name)\n    return handler(arguments)",
    ],
)
def test_the_error_for_an_unknown_tool_is_accepted(project, lines):
    """The protocol requires the error, whatever its message; it is not attributed to any tool."""
    project.write(
        app="from mcp.server.lowlevel import Server\nserver = Server('x')\ndef find(arguments):\n    return 1\n"
        f"TABLE = {{'find': find}}\n@server.call_tool()\nasync def call_tool(name, arguments):\n    {lines}\n"
    )
    run = project.run(select=frozenset({"prefer-mcp-error-in-handler"}))
    path = str(project.root / "app.py")
    assert not run.check(path, run.project.read(path)).diagnostics
    tool = next(tool for tool in run.find_tools(run.project.read(path)) if tool.serves)
    (text,) = explain_tool(run, tool, "find")
    assert "ValueError" not in text
