"""Tools that a server discovers: routes of an application, functions in the files of a folder, subclasses of a base."""

import textwrap
from typing import Final

import pytest
from mcpcore_lint.runner.groups import Walk
from mcpcore_lint.runner.runner import FilesRun
from mcpcore_lint.settings import Settings

from tests.files import write_files

HELD: Final = {
    "tools/__init__.py": "",
    "tools/search.py": 'from json import dumps\ndef find(q: str) -> str:\n    """Find."""\ndef _helper(q): ...\n',
    "tools/loans.py": 'def lend(q: str) -> str:\n    """Lend."""\n',
}
ROUTERS: Final = {
    "library/__init__.py": "",
    "library/search.py": """
        from fastapi import APIRouter
        router = APIRouter(prefix="/books")

        @router.get("/find")
        async def find(q: str): ...

        @router.get("/health", include_in_schema=False)
        def health(): ...
    """,
    "library/loans.py": """
        from fastapi import APIRouter
        api = APIRouter()

        def lend(q: str): ...

        api.add_api_route("/lend", lend, methods=["POST"])
    """,
}
MAKES: Final = """
    from fastapi import FastAPI
    from fastmcp import FastMCP
    from library import loans, search
"""
BASE: Final = """
    from abc import ABC, abstractmethod
    from typing import Any, Generic, TypeVar
    from mcp.server import Server
    T = TypeVar("T")

    class Own(Server[Any]): ...

    server: Server[Any] = Own("x")

    class Base(ABC, Generic[T]):
        name = ""
        @abstractmethod
        async def run(self, arguments): ...

    class Tools:
        known: dict[str, Base] = {}
        @classmethod
        def named(cls, name) -> Base:
            return cls.known[name]

    class Find(Base):
        name = "find"
        async def run(self, arguments):
            return "found"

    class Lend(Base[str]):
        @property
        def name(self):
            return "lend"
        async def run(self, arguments):
            return "lent"
"""
FOUND: Final[dict[str, dict[str, str]]] = {
    "routes whose functions are passed by name": {
        "app.py": """
            from fastapi import APIRouter, FastAPI
            from fastmcp import FastMCP
            api, app = APIRouter(), FastAPI()

            def find(q: str): ...

            def lend(q: str): ...

            api.add_api_route(path="/find", endpoint=find)
            app.add_api_route("/lend", endpoint=lend)
            app.include_router(prefix="/books", router=api)
            mcp = FastMCP.from_fastapi(app=app)
        """,
    },
    "the members of modules that pkgutil lists": {
        **HELD,
        "app.py": """
            import importlib
            import inspect
            import pkgutil
            import tools
            from fastmcp import FastMCP
            mcp = FastMCP("x")
            for info in pkgutil.iter_modules(tools.__path__):
                module = importlib.import_module(f"tools.{info.name}")
                for name, function in inspect.getmembers(module, inspect.isfunction):
                    if not name.startswith("_"):
                        mcp.tool(function)
        """,
    },
    "the members that a decorator marks, beside helpers": {
        "tools.py": """
            from marks import marked
            def helper(q): ...
            @marked
            def find(q: str) -> str:
                return helper(q)
            @marked
            def lend(q: str) -> str: ...
        """,
        "marks.py": """
            def marked(function):
                function._is_tool = True
                return function

            def is_tool(member):
                while hasattr(member, "__wrapped__"):
                    member = member.__wrapped__
                return hasattr(member, "_is_tool")
        """,
        "app.py": """
            import inspect
            import tools
            from fastmcp import FastMCP
            from marks import is_tool
            mcp = FastMCP("x")
            for name, function in inspect.getmembers(tools, inspect.isfunction):
                if is_tool(function) and name != "marked":
                    mcp.tool(function)
            for name, function in inspect.getmembers(tools, inspect.isfunction):
                if name != "marked" and getattr(function, "_is_tool", False):
                    mcp.tool(function)
        """,
    },
    "the members of files that are loaded by their paths": {
        **HELD,
        "app.py": """
            import importlib.util
            import inspect
            import os
            from pathlib import Path
            from fastmcp import FastMCP
            mcp = FastMCP("x")

            def members(folder):
                for file in [name[:-3] for name in os.listdir(folder) if name.endswith(".py")]:
                    spec = importlib.util.spec_from_file_location(file, os.path.join(folder, f"{file}.py"))
                    module = importlib.util.module_from_spec(spec)
                    spec.loader.exec_module(module)
                    for name, function in inspect.getmembers(module, inspect.isfunction):
                        if not name.startswith("_"):
                            yield function

            for function in members(Path(__file__).parent / "tools"):
                mcp.add_tool(function)
        """,
    },
    "the members of modules that are imported relative to a package": {
        **HELD,
        "tools/__init__.py": """
            import importlib
            from pathlib import Path

            def register(mcp):
                for path in Path(__file__).parent.glob("*.py"):
                    module = importlib.import_module(f".{path.stem}", __package__)
                    for name in dir(module):
                        if not name.startswith("_"):
                            mcp.tool()(getattr(module, name))
        """,
        "app.py": """
            import tools
            from fastmcp import FastMCP
            mcp = FastMCP("x")
            tools.register(mcp)
        """,
    },
    "the routes of routers": {
        **ROUTERS,
        "app.py": MAKES
        + """
    app = FastAPI()
    for router in (search.router, loans.api):
        app.include_router(router)
    mcp = FastMCP.from_fastapi(app)
""",
    },
    "the routes of an application that a function makes": {
        **ROUTERS,
        "app.py": MAKES
        + """
    def include(application):
        application.include_router(search.router)
        application.include_router(loans.api)

    def make():
        application = FastAPI()
        include(application)
        return application

    mcp = FastMCP.from_openapi(make().openapi(), client=None)
""",
    },
    "the routes of an application, without those that are left out": {
        "app.py": """
            from fastapi import FastAPI
            from fastapi_mcp import FastApiMCP
            app = FastAPI()

            @app.get("/find")
            def find(q: str): ...

            @app.post("/lend", operation_id="lend_book")
            def lend(q: str): ...

            @app.get("/admin", tags=["admin"])
            def admin(): ...

            @app.get("/stop", operation_id="stop_it")
            def stop(): ...

            mcp = FastApiMCP(app, exclude_tags=["admin"], exclude_operations=["stop_it"])
        """,
    },
    "the functions of a module that have the name of the tool": {
        **HELD,
        "tools/__init__.py": "from tools.search import find\nfrom tools.loans import lend\nlimit = 5\ndef _own(): ...\n",
        "app.py": """
            from mcp.server import Server
            import tools
            server = Server("x")

            @server.call_tool()
            async def call(name, arguments):
                run = getattr(tools, name, None)
                if run is None:
                    raise ValueError(name)
                return await run(**arguments)
        """,
    },
}
REPORTED: Final[dict[str, dict[str, str]]] = {
    "an abstract tool that nothing implements": {
        "app.py": BASE.partition("    class Find")[0]
        + """
    @server.call_tool()  # here
    async def call(name, arguments):
        tool = Tools.named(name)
        return await tool.run(arguments)
""",
    },
    "routes that a function chooses among": {
        **ROUTERS,
        "app.py": MAKES
        + """
    app = FastAPI()
    app.include_router(search.router)
    mcp = FastMCP.from_fastapi(app, route_map_fn=lambda route, kind: None)  # here
""",
    },
    "a folder that the user names": {
        **HELD,
        "app.py": """
            import importlib
            import os
            from fastmcp import FastMCP
            mcp = FastMCP("x")
            for file in os.listdir(os.environ["TOOLS"]):
                module = importlib.import_module(file)
                mcp.tool()(module.find)  # here
        """,
    },
}


def _run(folder, files):
    write_files(folder, {path: textwrap.dedent(source) for path, source in files.items()})
    return FilesRun(Walk(Settings(), str(folder)).run([str(folder)]), cache=False).report()


@pytest.mark.parametrize("case", FOUND)
def test_the_functions_are_found(case, tmp_path):
    """Both functions are tools, and no finding says that something is unknown."""
    report = _run(tmp_path, FOUND[case])
    assert not report.failures
    assert {"find", "lend"} == {
        (tool.name or tool.handler).rpartition(".")[2].removesuffix("_book") for tool in report.tools
    } - {"call"}
    assert not [finding for finding in report.diagnostics if finding.rule == "tool-registration-unresolved"]


@pytest.mark.parametrize("case", REPORTED)
def test_what_cannot_be_found_is_one_finding(case, tmp_path):
    """The finding is at the registration."""
    report = _run(tmp_path, REPORTED[case])
    places = [item.span.line for item in report.diagnostics if item.rule == "tool-registration-unresolved"]
    lines = enumerate(textwrap.dedent(REPORTED[case]["app.py"]).splitlines(), 1)
    assert [line for line, text in lines if "# here" in text] == places
