"""Every way to register a tool leads to its function, or to one finding that says that it does not."""

from __future__ import annotations

import textwrap
from typing import Final

import pytest
from mcpcore_lint.runner.groups import Walk
from mcpcore_lint.runner.runner import FilesRun
from mcpcore_lint.settings import Settings

from tests.files import write_files

FASTMCP: Final = "from fastmcp import FastMCP\nmcp = FastMCP('x')\n"
LOWLEVEL: Final = "from mcp.server import Server\nfrom mcp import types\nserver = Server('x')\n"
BOTH: Final = "def find(q: str) -> str: ...\ndef lend(q: str) -> str: ...\n"
ROUTED: Final = "from fastapi import FastAPI\nfrom fastmcp import FastMCP\napp = FastAPI()\n"
SERVED: Final = """
    if name == "find":
        return find(arguments)
    if name == "lend":
        return lend(arguments)
"""
SEARCHED: Final = """
@server.call_tool()
async def call(name, arguments):
    found = None
    for key, entry in enabled.items():
        if entry.get("title", key) == name:
            found = key
            break
    if found is None:
        raise ValueError(name)
    tool = enabled.get(found)
    return await tool["run"](tool["model"](**arguments))
"""
FOUND: Final[dict[str, str]] = {
    "the key of the name in a table that is copied and awaited": LOWLEVEL
    + BOTH
    + """
import copy
class Find: ...
class Lend: ...
TABLE = {"find": {"run": find, "model": Find}, "lend": {"run": lend, "model": Lend}}
def changed(table):
    own = copy.deepcopy(table)
    return own
async def chosen(table):
    return table
async def main():
    enabled = await chosen(changed(TABLE))
"""
    + textwrap.indent(SEARCHED, "    "),
    "a mode that is looked up for the name": LOWLEVEL
    + BOTH
    + """
usual = "fast"
@server.call_tool()
async def call(name, arguments):
    mode = arguments.get("mode")
    for tool in TOOLS:
        if tool.name == name:
            mode = usual
    if name == "find":
        return find(arguments)
    if name == "lend":
        return lend(arguments)
    if mode == "fast":
        return run(arguments)
    raise ValueError(name)
def run(arguments): ...
""",
    "a handler in the table of requests": LOWLEVEL
    + BOTH
    + """
async def handle(request):
    name, arguments = request.params.name, request.params.arguments
"""
    + SERVED
    + "server.request_handlers[types.CallToolRequest] = handle\n",
    "a handler beside others in the table of requests": LOWLEVEL
    + BOTH
    + """
async def handle(request):
    name, arguments = request.params.name, request.params.arguments
"""
    + SERVED
    + "server.request_handlers[types.ListToolsRequest] = listed\n"
    + "server.request_handlers[types.CallToolRequest] = handle\n",
    "a handler for a method of the protocol": LOWLEVEL
    + BOTH
    + """
async def handle(ctx, params):
    if params.name == "find":
        return find(params.arguments)
    if params.name == "lend":
        return lend(params.arguments)
server.add_request_handler("tools/call", types.CallToolRequestParams, handle)
""",
    "the low-level server of a FastMCP": FASTMCP
    + BOTH
    + "@mcp._mcp_server.call_tool()\nasync def call(name, arguments):"
    + SERVED,
    "the provider of a FastMCP, below a decorator of the project": FASTMCP
    + """
def serve(function):
    mcp.local_provider.add_tool(function)
    return function
@serve
"""
    + BOTH.replace("def lend", "@serve\ndef lend"),
    "a subclass that answers calls itself": "from mcp.server.fastmcp import FastMCP\n"
    + BOTH
    + "class Library(FastMCP):\n  async def call_tool(self, name, arguments):"
    + SERVED,
    "branches inside a test of the beginning": LOWLEVEL
    + BOTH
    + """
@server.call_tool()
async def call(name, arguments):
    if name.startswith("book_"):
        return []
    elif name.islower():
        if name == "find":
            return find(arguments)
        elif name == "lend":
            return lend(arguments)
    return []
""",
    "objects that are asked one after the other": LOWLEVEL
    + """
class Finds:
    async def handle(self, name, arguments):
        if name == "find":
            return self.find(arguments)
    def find(self, arguments): ...
class Lends:
    async def handle(self, name, arguments):
        if name == "lend":
            return self.lend(arguments)
    def lend(self, arguments): ...
@server.call_tool()
async def call(name, arguments):
    for part in [Finds(), Lends()]:
        return await part.handle(name, arguments)
""",
    "getattr with the method": FASTMCP + BOTH + "getattr(mcp, 'tool')()(find)\ngetattr(mcp, 'add_tool')(lend)\n",
    "a method of the server in an attribute": FASTMCP
    + BOTH
    + """
class Library:
    def __init__(self):
        self.keep = mcp.tool
        self.keep()(find)
        self.keep(name="lend")(lend)
""",
    "a decorator that is passed": FASTMCP
    + """
def install(publish):
    @publish()
    def find(q: str) -> str: ...
    @publish(name="lend")
    def give(q: str) -> str: ...
install(mcp.tool)
""",
    "a method that is passed on": FASTMCP
    + BOTH
    + """
def install(add, allowed):
    def allowed_only(fn, **options):
        if fn.__name__ in allowed:
            add(fn, **options)
    allowed_only(find)
    allowed_only(lend)
install(mcp.add_tool, {"find"})
""",
    "a loop over the functions that register": """
from fastmcp import FastMCP
hall = FastMCP("x")
def finding(zoo):
    @zoo.tool()
    def find(q: str) -> str: ...
def lending(zoo):
    @zoo.tool
    def lend(q: str) -> str: ...
for install in [finding, lending]:
    install(hall)
""",
    "a table of functions that return records": FASTMCP
    + BOTH
    + """
import sys
def finding():
    return [(find, "find", True)]
def lending():
    return [(lend, "lend", False)]
TABLE = {"a": finding, "b": lending}
for key in sys.argv:
    make = TABLE[key]
    for fn, name, *_ in make():
        mcp.add_tool(fn, name=name)
""",
    "a wrapper without wraps": FASTMCP
    + BOTH
    + """
def traced(fn):
    def inner(*args, **kwargs):
        return fn(*args, **kwargs)
    inner.__name__ = fn.__name__
    return inner
for fn in (find, lend):
    mcp.tool(name=fn.__name__)(traced(fn))
""",
    "objects whose method a wrapper calls": FASTMCP
    + """
class Base:
    name = ""
    async def __call__(self, **kwargs):
        return await self.execute(**kwargs)
class Find(Base):
    name = "find"
    async def execute(self, q: str): ...
class Lend(Base):
    name = "lend"
    async def execute(self, q: str): ...
def wrapped(tool):
    signature = signature_of(tool)
    async def run(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        return await tool(**bound.arguments)
    return run
def install(server, classes):
    for cls in classes:
        tool = cls()
        server.tool(name=cls.name)(wrapped(tool))
install(mcp, [Find, Lend])
""",
    "objects that another package makes of functions": LOWLEVEL
    + BOTH
    + """
from acme_agents import FunctionTool
ALL = [FunctionTool(find), FunctionTool(lend)]
BY_NAME = {tool.name: tool for tool in ALL}
@server.call_tool()
async def call(name, arguments):
    return await BY_NAME[name].run_async(args=arguments)
""",
    "a model of the arguments next to the function": LOWLEVEL
    + BOTH
    + """
class Query: ...
MODELS = {"find": Query, "lend": Query}
FUNCTIONS = {"find": find, "lend": lend}
@server.call_tool()
async def call(name, arguments):
    model, function = MODELS.get(name), FUNCTIONS.get(name)
    query = model(**arguments)
    return await function(query)
""",
    "a decorator that is cast": """
from typing import cast
from fastmcp import FastMCP
def tool(server: FastMCP, **options):
    return cast(object, server.tool(**options))
def register(server: FastMCP):
    @tool(server, name="find")
    def find(q: str) -> str: ...
    @tool(server, name="lend")
    def lend(q: str) -> str: ...
""",
    "a server that a protocol describes": BOTH
    + """
from typing import Any, Protocol
class McpLike(Protocol):
    def tool(self, *args: Any, **options: Any) -> Any: ...
class Plugin:
    mcp: McpLike
def made(function):
    def inner(q: str) -> str:
        return function(q)
    return inner
def install(plugin: Plugin):
    for function in (find, lend):
        plugin.mcp.tool(made(function), name=function.__name__)
""",
    "objects that a class makes of tables": FASTMCP
    + BOTH
    + """
class Spec:
    @classmethod
    def of(cls, table):
        parts = {}
        for key, value in table.items():
            parts[key] = value
        return cls(**parts)
def chosen(specs, **flags):
    return [spec for spec in specs if spec.fits(flags)]
SPECS = [Spec.of(table) for table in [{"run": find}, {"run": lend, "slow": True}]]
for spec in chosen(SPECS, slow=False):
    run = spec.run
    mcp.tool(description=run.__doc__)(run)
""",
    "a tool of a function in the list of a server": """
from fastmcp import FastMCP
from fastmcp.tools import Tool
"""
    + BOTH
    + """
tools = []
tools.append(Tool(name="find", fn=find))
tools.append(Tool(name="lend", fn=lend))
mcp = FastMCP("x", tools=tools)
""",
    "a method that goes through map": FASTMCP + BOTH + "list(map(mcp.add_tool, [find, lend]))\n",
    "a decorator that goes through map": FASTMCP + BOTH + "list(map(mcp.tool(), [find, lend]))\n",
    "a comprehension": FASTMCP + BOTH + "added = [mcp.tool()(function) for function in (find, lend)]\n",
    "functions of one line that register, in a loop": FASTMCP
    + BOTH
    + """
def add_find(s): s.tool(find)
def add_lend(s): s.add_tool(lend)
for add in (add_find, add_lend): add(mcp)
""",
    "functions that register, by their names": FASTMCP
    + BOTH
    + """
def add_find(s):
    s.tool(find)
def add_lend(s):
    s.tool(lend)
ADDERS = {"find": add_find, "lend": add_lend}
for name in ADDERS:
    ADDERS[name](mcp)
""",
    "an object that is called": FASTMCP
    + """
class Adds:
    def __init__(self, server):
        self.server = server
    def __call__(self, fn):
        return self.server.tool(fn)
adds = Adds(mcp)
@adds
def find(q: str): ...
@adds
def lend(q: str): ...
""",
    "functions that the objects of a table were made with": LOWLEVEL
    + BOTH
    + """
class Library:
    def __init__(self, name, run):
        self.name, self.run = name, run
    def call_tool(self, **arguments):
        return self.run(arguments)
TABLE = {spec.name: spec for spec in [Library("find", find), Library("lend", run=lend)]}
@server.call_tool()
async def call(name, arguments):
    return TABLE[name].call_tool(**arguments)
""",
    "routes of the router of an application": ROUTED
    + """
@app.router.get("/find")
def find(q: str): ...
@app.options("/lend")
def lend(q: str): ...
mcp = FastMCP.from_fastapi(app)
""",
    "routes without decorators": ROUTED
    + BOTH
    + """
app.get("/find")(find)
app.add_api_route(path="/lend", endpoint=lend)
mcp = FastMCP.from_fastapi(app)
""",
    "methods that are routes": ROUTED
    + """
class Books:
    def __init__(self, application):
        application.add_api_route("/find", self.find)
    def find(self, q: str): ...
class Loans:
    def __init__(self):
        self.app = app
        self.api = FastAPI()
    @app.get("/lend")
    def lend(self, q: str): ...
Books(app)
mcp = FastMCP.from_fastapi(app)
""",
    "a table of functions that make the functions": FASTMCP
    + """
def make_find(client):
    def find(q: str): ...
    return find
def make_lend(client):
    def lend(q: str): ...
    return lend
MAKERS = {"find": make_find, "lend": make_lend}
for spec in load():
    maker = MAKERS.get(spec.name)
    run = maker(1)
    mcp.tool(name=spec.name)(run)
""",
    "an entry of each table in a table": FASTMCP
    + BOTH
    + """
TABLE = {"find": {"run": find}, "lend": {"run": lend}}
for name, entry in TABLE.items():
    run = entry.get("run")
    if run is not None:
        mcp.tool(name=name)(run)
""",
    "objects that a function makes of classes": LOWLEVEL
    + """
class Finds:
    def run(self, arguments): return self.find(arguments)
class Lends:
    def run(self, arguments): return self.find(arguments)
def made():
    def make(kind): return kind()
    table = {"find": make(Finds), "lend": make(Lends)}
    return table
def register(server, table):
    @server.call_tool()
    async def call(name, arguments):
        return table.get(name).run(arguments)
register(server, made())
""",
    "a function that runs what was looked up": LOWLEVEL
    + BOTH
    + """
TABLE = {"find": find, "lend": lend}
async def run(function, arguments):
    return await function(arguments)
@server.call_tool()
async def call(name, arguments):
    function = TABLE.get(name)
    if name == "stop":
        return []
    return await run(function, arguments)
""",
    "a dispatcher that an executor runs": LOWLEVEL
    + BOTH
    + """
import asyncio
def handle(name, arguments):"""
    + SERVED
    + """
@server.call_tool()
async def call(name, arguments):
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, handle, name, arguments)
""",
}
REPORTED: Final[dict[str, str]] = {
    "the key of the name in a table from elsewhere": "from elsewhere import enabled\n"
    + LOWLEVEL
    + SEARCHED.replace("call_tool()", "call_tool()  # here"),
    "the entry of the name in a table": LOWLEVEL
    + BOTH
    + """
TABLE = {"find": {"run": find}, "lend": {"run": lend}}
@server.call_tool()  # here
async def call(name, arguments):
    found = None
    for key in TABLE:
        if key == name:
            found = TABLE[key]
    if found is None:
        raise ValueError(name)
    return found["run"](arguments)
""",
    "a server in a context variable": FASTMCP
    + """
from contextvars import ContextVar
current = ContextVar("current")
@current.get().tool  # here
def find(q: str): ...
""",
    "a server of a package that mentions no framework": """
from acme import hall
@hall.tool()  # here
def find(q: str): ...
""",
    "a server of a class of another package": """
from acme import Hall
hall = Hall("x")
@hall.tool()  # here
def find(q: str): ...
""",
    "a function that only other packages call": """
def attach(hall):
    @hall.tool  # here
    def find(q: str): ...
""",
    "objects that a function makes of tables and more": FASTMCP
    + BOTH
    + """
class Spec: ...
def made(table, slow):
    parts = {}
    for key, value in table.items():
        parts[key] = value
    return Spec(slow=slow, **parts)
for spec in [made({"run": find}, True)]:
    mcp.tool()(spec.run)  # here
""",
    "an attribute that nothing sets": FASTMCP
    + """
class Host:
    def install(self):
        for function in self.functions:
            mcp.tool()(function)  # here
Host().install()
""",
    "arguments in a tuple": FASTMCP + BOTH + "for args in [(find,), (lend,)]:\n    mcp.add_tool(*args)  # here\n",
    "options in a dict": FASTMCP + BOTH + "for options in [{'fn': find}]:\n    mcp.add_tool(**options)  # here\n",
    "a method that an object keeps": FASTMCP
    + BOTH
    + """
class Library:
    def __init__(self, keep):
        self.keep = keep
    def install(self):
        self.keep(find)
Library(mcp.add_tool).install()  # here
""",
    "a lambda that registers": FASTMCP + BOTH + "add = lambda fn: mcp.add_tool(fn)  # here\nadd(find)\n",
    "subclasses that only exist at run time": FASTMCP
    + """
class Base:
    def execute(self, q: str): ...
for cls in Base.__subclasses__():
    mcp.add_tool(cls().execute)  # here
""",
    "the unknown branch of a choice": FASTMCP
    + """
import functools
class Base: ...
def traced(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        return fn(*args, **kwargs)
    return inner
def install(offline):
    for cls in Base.__subclasses__():
        def find(q: str) -> str: ...
        mcp.add_tool(find if offline else traced(cls().execute))  # here
""",
    "a list that several functions pass on": FASTMCP
    + """
import os
def register(server, tools):
    for fn in tools:
        server.add_tool(fn)
def load():
    return [globals()[name] for name in os.environ]
def everything(server):
    register(server, load())  # here
def main():
    everything(mcp)
main()
""",
    "the routes of an application": """
from fastapi import FastAPI
from fastmcp import FastMCP
from acme import routers
app = FastAPI()
for router in routers:
    app.include_router(router)
mcp = FastMCP.from_fastapi(app=app)  # here
""",
    "the routes of an application for another package": """
from fastapi import FastAPI
from fastapi_mcp import FastApiMCP
app = FastAPI()
mcp = FastApiMCP(app)  # here
""",
    "a server that another package makes": """
from acme_core.mcp import make_server
hall = make_server("x")
@hall.tool()  # here
def find(q: str) -> str: ...
""",
    "a function that is passed to where it is not seen": FASTMCP
    + """
def install(add, modules):
    def only(fn, **options):
        add(fn, **options)
    for module in modules:
        module.install(only)
install(mcp.add_tool, load())  # here
""",
    "a function for the beginning of a name": LOWLEVEL
    + """
@server.call_tool()  # here
async def call(name, arguments):
    handler = {"book": load("book")}.get(name.split("_")[0])
    return await handler(name, arguments)
""",
    "a method with the name of the tool": LOWLEVEL
    + """
class Library:
    async def find(self, q): ...
@server.call_tool()  # here
async def call(name, arguments):
    method = getattr(Library(), name)
    return await method(**arguments)
""",
}


def _run(folder, source):
    (folder / "app.py").write_text(textwrap.dedent(source))
    return FilesRun(Walk(Settings(), str(folder)).run([str(folder)]), cache=False).report()


@pytest.mark.parametrize("case", FOUND)
def test_the_functions_are_found(case, tmp_path):
    """Both functions are tools, and no finding says that something is unknown."""
    report = _run(tmp_path, FOUND[case])
    assert not report.failures
    dispatchers = {"call", "handle", "call_tool"}
    assert {"find", "lend"} == {(tool.name or tool.handler).rpartition(".")[2] for tool in report.tools} - dispatchers
    assert not [finding for finding in report.diagnostics if finding.rule == "tool-registration-unresolved"]


@pytest.mark.parametrize("case", REPORTED)
def test_what_cannot_be_found_is_one_finding(case, tmp_path):
    """The finding is at the registration."""
    report = _run(tmp_path, REPORTED[case])
    lines = [number for number, line in enumerate(REPORTED[case].splitlines(), 1) if line.endswith("# here")]
    unresolved = [finding for finding in report.diagnostics if finding.rule == "tool-registration-unresolved"]
    assert lines == [finding.span.line for finding in unresolved]


def test_packages_of_one_repository_are_read(tmp_path):
    """A server imports its tools from a package beside its own."""
    files = {
        "pyproject.toml": "[project]\nname = 'acme'\nversion = '1'\n",
        "packages/core/pyproject.toml": "[project]\nname = 'core'\nversion = '1'\n",
        "packages/core/src/core/__init__.py": "",
        "packages/core/src/core/tools.py": BOTH,
        "packages/server/pyproject.toml": "[project]\nname = 'server'\nversion = '1'\n",
        "packages/server/src/server/__init__.py": "",
        "packages/server/src/server/app.py": "from core.tools import find, lend\n"
        + FASTMCP
        + "mcp.tool(find)\nmcp.tool(lend)\n",
    }
    write_files(tmp_path, files)
    report = FilesRun(Walk(Settings(), str(tmp_path)).run([str(tmp_path)]), cache=False).report()
    assert [tool.name for tool in report.tools] == ["find", "lend"]
