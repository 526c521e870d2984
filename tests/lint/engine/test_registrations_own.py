"""Forms of registration specific to one framework, projects of several files, and non-registrations."""

from __future__ import annotations

import time
from typing import Final

import pytest
from mcpcore_lint.model import string

from tests.lint.engine.registering import check

OWN: Final[dict[str, tuple[str, str]]] = {
    # -- FastMCP -------------------------------------------------------------------------------------------------------
    "FastMCP: the method as a decorator, without a call": (
        """
        from fastmcp import FastMCP
        mcp = FastMCP("x")
        @mcp.tool  # here
        def search(q: str):
            raise ValueError(q)
        @mcp.prompt  # here
        def ask(q: str):
            raise ValueError(q)
        """,
        "search: tool fastmcp search(q)\nask: prompt fastmcp ask(q)",
    ),
    "FastMCP: the function handed to the method": (
        """
        from fastmcp import FastMCP
        mcp = FastMCP("x")
        def search(q: str):
            raise ValueError(q)
        def fail(q):
            raise ValueError(q)
        mcp.tool(search)  # here
        mcp.tool(search, name="b")  # here
        mcp.tool(name_or_fn=search, name="c")  # here
        mcp.tool(name_or_fn="d")(search)  # here
        mcp.prompt(search, name="e")  # here
        for fn in (search,):
            mcp.tool(fn, name="f")  # here
        class Store:
            def __init__(self, mcp: FastMCP):
                mcp.tool(self.find)  # here
            def find(self, key: str):
                raise ValueError(key)
        """,
        """
        search: tool fastmcp search(q)
        b: tool fastmcp search(q)
        c: tool fastmcp search(q)
        d: tool fastmcp search(q)
        e: prompt fastmcp search(q)
        f: tool fastmcp search(q)
        find: tool fastmcp Store.find(key)
        """,
    ),
    "FastMCP: a list for the constructor": (
        """
        from fastmcp import FastMCP
        from fastmcp.tools import Tool
        def first(q: str):
            raise ValueError(q)
        def second(q: str):
            raise ValueError(q)
        def third(q: str):
            raise ValueError(q)
        def fourth(q: str):
            raise ValueError(q)
        READ = [third]
        mcp = FastMCP("x", tools=[first, Tool.from_function(second, name="b")])  # here
        other = FastMCP("y", tools=READ + [  # here
            fourth,  # here
        ])
        """,
        """
        first: tool fastmcp first(q)
        b: tool fastmcp second(q)
        third: tool fastmcp third(q)
        fourth: tool fastmcp fourth(q)
        """,
    ),
    "FastMCP: tools made of functions": (
        """
        from fastmcp import FastMCP
        from fastmcp.prompts import Prompt
        from fastmcp.prompts.function_prompt import FunctionPrompt
        from fastmcp.resources import FunctionResource, Resource, ResourceTemplate
        from fastmcp.tools import FunctionTool, Tool
        from fastmcp.tools.tool import Tool as Other
        import fastmcp.tools
        def search(q: str):
            raise ValueError(q)
        mcp = FastMCP("x")
        made = Tool.from_function(fn=search, name="a")  # here
        mcp.add_tool(made)
        mcp.add_tool(Tool.from_function(search))  # here
        FunctionTool.from_function(search, name="b")  # here
        Other.from_function(search, name="c")  # here
        fastmcp.tools.Tool.from_function(search, "d")  # here
        FunctionTool(fn=search, name="e", parameters={})  # here
        mcp.add_resource(Resource.from_function(search, uri="a://b", name="f"))  # here
        mcp.add_resource(FunctionResource(uri="a://c", name="g", fn=search))  # here
        mcp.add_template(ResourceTemplate.from_function(fn=search, uri_template="a://{q}", name="h"))  # here
        mcp.add_prompt(Prompt.from_function(search, name="i"))  # here
        mcp.add_prompt(FunctionPrompt.from_function(fn=search))  # here
        tools = [Tool.from_function(each, name="j") for each in (search,)]  # here
        mcp.add_tool(tools[0])
        """,
        """
        a: tool fastmcp search(q)
        c: tool fastmcp search(q)
        search: tool fastmcp search(q)
        b: tool fastmcp search(q)
        d: tool fastmcp search(q)
        e: tool fastmcp search(q)
        f: resource fastmcp search(q)
        g: resource fastmcp search(q)
        h: resource fastmcp search(q)
        i: prompt fastmcp search(q)
        search: prompt fastmcp search(q)
        j: tool fastmcp search(q)
        """,
    ),
    "FastMCP: decorators without a server": (
        """
        from fastmcp import FastMCP
        from fastmcp.prompts import prompt
        from fastmcp.resources import resource
        from fastmcp.tools import tool
        @tool  # here
        def search(q: str):
            raise ValueError(q)
        @tool("b")  # here
        def other(q: str):
            raise ValueError(q)
        @resource("a://b")  # here
        def data():
            raise ValueError(1)
        @prompt(name="c")  # here
        def ask(q: str):
            raise ValueError(q)
        FastMCP("x", tools=[search, other])
        FastMCP("y").add_tool(search)
        """,
        """
        search: tool fastmcp search(q)
        b: tool fastmcp other(q)
        data: resource fastmcp data()
        c: prompt fastmcp ask(q)
        """,
    ),
    "FastMCP: the mixin": (
        """
        from fastmcp import FastMCP
        from fastmcp.contrib.mcp_mixin import MCPMixin, mcp_prompt, mcp_resource, mcp_tool
        class Store(MCPMixin):
            @mcp_tool()  # here
            def search(self, q: str):
                raise ValueError(q)
            @mcp_tool(name="b", description="Finds.")  # here
            def other(self, q: str):
                raise ValueError(q)
            @mcp_resource(uri="a://b")  # here
            def data(self):
                raise ValueError(1)
            @mcp_prompt("c")  # here
            def ask(self, q: str):
                raise ValueError(q)
        Store().register_all(FastMCP("x"))
        """,
        """
        search: tool fastmcp Store.search(q)
        b: tool fastmcp Store.other(q)
        data: resource fastmcp Store.data()
        c: prompt fastmcp Store.ask(q)
        """,
    ),
    "FastMCP: servers of other kinds": (
        """
        from fastmcp import FastMCP
        from fastmcp.apps import FastMCPApp
        from fastmcp.server.providers import LocalProvider
        from fastmcp.server import create_proxy
        provider = LocalProvider()
        @provider.tool  # here
        def a(q: str):
            raise ValueError(q)
        app = FastMCPApp("x")
        @app.tool("c")  # here
        def save(q: str):
            raise ValueError(q)
        remote = FastMCP.as_proxy("http://x")
        @remote.tool  # here
        def d(q: str):
            raise ValueError(q)
        spec = FastMCP.from_openapi({}, None)
        @spec.tool  # here
        def e(q: str):
            raise ValueError(q)
        other = create_proxy("http://x")
        @other.tool  # here
        def f(q: str):
            raise ValueError(q)
        main = FastMCP("m")
        main.mount(spec, namespace="s")
        """,
        """
        a: tool fastmcp a(q)
        c: tool fastmcp save(q)
        d: tool fastmcp d(q)
        e: tool fastmcp e(q)
        f: tool fastmcp f(q)
        """,
    ),
    "FastMCP: the context and what is injected are no parameters of the model": (
        """
        from fastmcp import Context, FastMCP
        from fastmcp.dependencies import Depends
        mcp = FastMCP("x")
        def connect(): ...
        @mcp.tool  # here
        async def search(q: str, ctx: Context, db=Depends(connect)):
            raise ValueError(q)
        """,
        "search: tool fastmcp search(q)",
    ),
    # -- the SDK -------------------------------------------------------------------------------------------------------
    "either package, whichever is there": (
        """
        try:
            from fastmcp import FastMCP
        except ImportError:
            from mcp.server.fastmcp import FastMCP
        service = FastMCP("x")
        @service.tool()  # here
        def search(q: str):
            raise ValueError(q)
        """,
        "search: tool fastmcp search(q)",
    ),
    "SDK: tools made of functions": (
        """
        from mcp.server.fastmcp import FastMCP
        from mcp.server.fastmcp.prompts import Prompt
        from mcp.server.fastmcp.resources import FunctionResource
        from mcp.server.fastmcp.tools import Tool
        def search(q: str):
            raise ValueError(q)
        made = Tool.from_function(fn=search, name="a", description="Finds.")  # here
        mcp = FastMCP("x", tools=[made, Tool.from_function(search, "b")])  # here
        mcp.add_tool(made.fn, made.name, made.description)
        mcp.add_resource(FunctionResource(uri="a://b", name="c", fn=search))  # here
        mcp.add_resource(FunctionResource.from_function(search, "a://c", "d"))  # here
        mcp.add_prompt(Prompt.from_function(search, name="e"))  # here
        """,
        """
        a: tool sdk search(q)
        b: tool sdk search(q)
        c: resource sdk search(q)
        d: resource sdk search(q)
        e: prompt sdk search(q)
        """,
    ),
    "SDK: what an extension brings": (
        """
        from mcp.server.extension import Extension, ToolBinding
        from mcp.server.apps import Apps
        def ping(q: str):
            raise ValueError(q)
        class Own(Extension):
            def tools(self):
                return [ToolBinding(fn=ping)]  # here
        apps = Apps()
        @apps.tool(resource_uri="ui://x", name="b")  # here
        def show(q: str):
            raise ValueError(q)
        """,
        "ping: tool sdk ping(q)\nb: tool sdk show(q)",
    ),
    "SDK: the low-level server": (
        """
        from mcp.server import Server
        from mcp.server.lowlevel import Server as Low
        server = Server("x")
        @server.list_tools()
        async def list_tools(): ...
        @server.call_tool()  # here
        async def call(name: str, arguments: dict):
            raise ValueError(name)
        other = Server("w")
        @other.call_tool(validate_input=False)  # here
        async def more(name: str, arguments: dict):
            raise ValueError(name)
        async def handle(ctx, params):
            raise ValueError(params)
        Low("y", on_call_tool=handle)  # here
        class Mine:
            def __init__(self):
                self.server = Server("z")
                self.server.call_tool()(self.call)  # here
                Server("q", on_call_tool=self.call)  # here
            async def call(self, name: str, arguments: dict):
                raise ValueError(name)
        """,
        """
        ?: tool lowlevel call(name, arguments)
        ?: tool lowlevel more(name, arguments)
        ?: tool lowlevel handle(ctx, params)
        ?: tool lowlevel Mine.call(name, arguments)
        ?: tool lowlevel Mine.call(name, arguments)
        """,
    ),
    # -- mcpcore -------------------------------------------------------------------------------------------------------
    "mcpcore: every spelling of the decorator": (
        """
        import mcpcore
        import mcpcore as m
        import mcpcore.declare.decorators
        from mcpcore import *
        from mcpcore import tool as t
        from mcpcore.declare.decorators import tool as deep
        @tool  # here
        def one(q: str):
            raise ValueError(q)
        @tool()  # here
        def two(q: str):
            raise ValueError(q)
        @t(errors=[], name="c")  # here
        def three(q: str):
            raise ValueError(q)
        @m.tool  # here
        def four(q: str):
            raise ValueError(q)
        @mcpcore.tool(errors=[])  # here
        def five(q: str):
            raise ValueError(q)
        @deep(errors=[])  # here
        def six(q: str):
            raise ValueError(q)
        """,
        """
        one: tool mcpcore one(q)
        two: tool mcpcore two(q)
        c: tool mcpcore three(q)
        four: tool mcpcore four(q)
        five: tool mcpcore five(q)
        six: tool mcpcore six(q)
        """,
    ),
    "mcpcore: the decorator called, and lists": (
        """
        from mcpcore import Context, Server, tool
        def first(ctx: Context, q: str):
            raise ValueError(q)
        def second(q: str):
            raise ValueError(q)
        made = tool(errors=[])(first)  # here
        again = tool(second)  # here
        server = Server("x", tools=[made, again, tool(name="d")(second)])  # here
        server.add_tool(made)
        server.add_tool(second, name="e", errors=[])  # here
        """,
        """
        first: tool mcpcore first(q)
        second: tool mcpcore second(q)
        d: tool mcpcore second(q)
        e: tool mcpcore second(q)
        """,
    ),
    "mcpcore: methods": (
        """
        from typing import Literal
        from mcpcore import Context, Server, tool
        class Store:
            @tool(errors=[])  # here
            async def search(self, ctx: Context[Literal["a"]], q: str):
                raise ValueError(q)
            @staticmethod
            @tool  # here
            def plain(q: str):
                raise ValueError(q)
        store = Store()
        Server("x", tools=[store.search, Store.plain])
        """,
        "search: tool mcpcore Store.search(q)\nplain: tool mcpcore Store.plain(q)",
    ),
    "mcpcore: a tool under another name": (
        """
        from mcpcore import Server, tool
        @tool(errors=[])  # here
        def search(q: str):
            raise ValueError(q)
        Server("x").add_tool(search, name="other")  # here
        """,
        "search: tool mcpcore search(q)\nother: tool mcpcore search(q)",
    ),
    "mcpcore: a decorator of the project": (
        """
        from mcpcore import tool
        def our_tool(*, name=None, errors=()):
            return tool(name=name, errors=[*errors])
        @our_tool(name="a")  # here
        def search(q: str):
            raise ValueError(q)
        @our_tool()  # here
        def other(q: str):
            raise ValueError(q)
        """,
        "a: tool mcpcore search(q)\nother: tool mcpcore other(q)",
    ),
}

NOT_TOOLS: Final[dict[str, str]] = {
    "a method of that name of another class": """
        class Registry:
            def tool(self, fn=None, **options):
                self.kept = fn
                return fn
            def add_tool(self, fn): ...
        registry = Registry()
        server = Registry()
        mcp = Registry()
        @registry.tool
        def one(): raise ValueError(1)
        @server.tool()
        def two(): raise ValueError(1)
        @mcp.tool
        def three(): raise ValueError(1)
        mcp.add_tool(one)
        """,
    "a mock": """
        from unittest.mock import MagicMock, Mock
        mcp = MagicMock()
        server = Mock(spec=object)
        @mcp.tool()
        def one(): raise ValueError(1)
        server.add_tool(one)
        def test_it(mock_mcp, fake_server):
            mock_mcp.tool()(one)
            fake_server.add_tool(one)
        """,
    "tools of other libraries": """
        import click
        import langchain_core.tools
        from agents import Agent, function_tool
        from crewai.tools import tool as crew
        from langchain.tools import StructuredTool, Tool
        from langchain_core.tools import tool
        from pydantic_ai import Agent as Other
        from smolagents import tool as smol
        import mcp
        agent = Other("model")
        @tool
        def one(): raise ValueError(1)
        @tool("name")
        def two(): raise ValueError(1)
        @langchain_core.tools.tool
        def three(): raise ValueError(1)
        @function_tool
        def four(): raise ValueError(1)
        @agent.tool
        def five(ctx): raise ValueError(1)
        @agent.tool_plain
        def six(): raise ValueError(1)
        @crew("x")
        def seven(): raise ValueError(1)
        @smol
        def eight(): raise ValueError(1)
        @click.command()
        def nine(): raise ValueError(1)
        Tool.from_function(one, name="x")
        StructuredTool.from_function(one)
        Agent(tools=[one])
        """,
    "servers of other libraries": """
        from fastapi import FastAPI
        from flask_restful import Api
        from fastmcp import FastMCP
        app = FastAPI()
        api = Api()
        @app.get("/mcp")
        def one(): raise ValueError(1)
        @app.tool()
        def two(): raise ValueError(1)
        api.add_resource(one, "/x")
        def register(app: FastAPI, server: "FastAPI"):
            @app.tool()
            def three(): raise ValueError(1)
            server.add_tool(one)
        """,
    "a client": """
        from fastmcp import Client, FastMCP
        from mcp import ClientSession
        async def run(client: Client, session: ClientSession):
            await client.call_tool("x", {})
            await session.call_tool("x")
            tools = await session.list_tools()
        """,
    "a function that only has such a name": """
        import mcp
        def tool(fn):
            return fn
        def register_tool(name, fn):
            return fn
        def my_tool(**options):
            def decorate(fn):
                return fn
            return decorate
        @tool
        def one(): raise ValueError(1)
        @my_tool(name="x")
        def two(): raise ValueError(1)
        register_tool("x", one)
        """,
    "functions that lead back to themselves": """
        from fastmcp import FastMCP
        def my_tool(fn=None):
            return my_tool(fn)
        def other_tool(**options):
            return again_tool(**options)
        def again_tool(**options):
            return other_tool(**options)
        def make_server():
            return make_server()
        server = make_server()
        mcp = mcp
        @my_tool
        def one(): raise ValueError(1)
        @other_tool(name="x")
        def two(): raise ValueError(1)
        for fn in fn:
            x = fn
        tool = tool
        @tool
        def three(): raise ValueError(1)
        """,
    "the type of a tool": """
        from mcp.types import Tool
        import mcp.types as types
        Tool(name="x", inputSchema={})
        types.Tool(name="y", inputSchema={})
        """,
}


@pytest.mark.parametrize("case", [*OWN, *NOT_TOOLS])
def test_registrations_specific_to_a_framework(project, case):
    """Each case is one form, with its names, kinds, flavours, handlers, parameters and registering lines, or no tool."""
    check(project, *(OWN[case] if case in OWN else (NOT_TOOLS[case], "")))


def test_a_server_of_another_module(project):
    """The server, its methods and the project's decorators may be imported from any module."""
    check(
        project,
        """
        from fastmcp import FastMCP
        from functools import wraps
        mcp = FastMCP("x")
        tool = mcp.tool
        def read_tool(**options):
            return mcp.tool(tags={"read"}, **options)
        def register(fn):
            mcp.add_tool(fn)
        class App:
            def __init__(self):
                self.mcp = mcp
        """,
        """
        one: tool fastmcp one(q)
        two: tool fastmcp two(q)
        c: tool fastmcp three(q)
        d: tool fastmcp four(q)
        plain: tool fastmcp plain(q)
        e: tool fastmcp five(q)
        f: tool fastmcp Own.__init__.six(q)
        """,
        other="""
        import app
        from app import App, mcp as server, read_tool as reading, register, tool
        @server.tool  # here
        def one(q: str):
            raise ValueError(q)
        @tool  # here
        def two(q: str):
            raise ValueError(q)
        @reading(name="c")  # here
        def three(q: str):
            raise ValueError(q)
        @app.tool(name="d")  # here
        def four(q: str):
            raise ValueError(q)
        def plain(q: str):
            raise ValueError(q)
        register(plain)  # here
        @app.read_tool(name="e")  # here
        def five(q: str):
            raise ValueError(q)
        class Own(App):
            def __init__(self):
                super().__init__()
                @self.mcp.tool(name="f")  # here
                def six(q: str):
                    raise ValueError(q)
        """,
    )


def test_tools_made_in_one_module_and_added_in_another(project):
    """Each tool is found once, in the module that creates it."""
    check(
        project,
        """
        from mcp.server.fastmcp import FastMCP
        import tools
        from tools import TOOLS, search_tool
        mcp = FastMCP("x")
        mcp.add_tool(search_tool)
        mcp.add_tool(search_tool.fn, search_tool.name, search_tool.description)
        for each in TOOLS:
            mcp.add_tool(each.fn, each.name)
        for each in (tools.search_tool,):
            mcp.add_tool(each)
        """,
        "a: tool sdk search(q)\nb: tool sdk search(q)",
        tools="""
        from mcp.server.fastmcp.tools import Tool
        def search(q: str):
            raise ValueError(q)
        search_tool = Tool.from_function(fn=search, name="a")  # here
        TOOLS = [search_tool, Tool.from_function(search, "b")]  # here
        """,
    )


def test_an_imported_handler_is_read_in_its_own_file(project):
    """The registration belongs to the registering file, the handler to its own."""
    project.write(
        app="""
        from fastmcp import FastMCP
        import handlers
        from handlers import search as find
        mcp = FastMCP("x", tools=[handlers.other])
        mcp.tool(find)
        """,
        handlers="""
        def search(q: str):
            raise ValueError(q)
        def other(q: str):
            raise ValueError(q)
        """,
    )
    tools = project.tools()
    assert {"search", "other"} == set(tools)
    assert {("app.py", "handlers.py")} == {(tool.module.path, tool.handler.module.path) for tool in tools.values()}


def test_registrations_on_the_same_server_are_recognised(project):
    """Lists, `from_function`, aliases and calls lead to the server, so a repeated tool name is reported."""
    project.write(
        app="""
        from fastmcp import FastMCP
        from fastmcp.tools import Tool
        def search(q: str): ...
        mcp = FastMCP("x", tools=[search])
        also = mcp
        made = Tool.from_function(search, name="made")
        mcp.add_tool(made)
        also.add_tool(Tool.from_function(search, name="nested"))
        tool = mcp.tool
        @tool
        def other(): ...
        def register(server):
            server.tool(search, name="handed")
        register(mcp)
        def add(server, fn):
            server.add_tool(fn)
        def third(): ...
        add(mcp, third)
        """
    )
    servers = {name: tool.server for name, tool in project.tools().items()}
    other_server = servers.pop("handed")
    assert {"app.py:5:6"} == set(servers.values())
    assert other_server not in servers.values()


def test_the_description_is_the_argument_or_the_docstring(project):
    """It is read by name or by position, and is unknown if versions of the SDK differ."""
    project.write(
        app="""
        from mcp.server.mcpserver import MCPServer
        mcp = MCPServer("x")
        def bare(q: str): ...
        def told(q: str):
            '''Told.'''
        mcp.add_tool(bare, "a", "A", "Third.")
        mcp.add_tool(bare, "b", "Second.")
        mcp.add_tool(bare, "c", description="Named.")
        mcp.add_tool(bare, "d")
        mcp.add_tool(told, "e")
        mcp.add_tool(bare, name="f", description=told.__doc__)
        """
    )
    descriptions = {
        name: (type(tool.description).__name__, string(tool.description)) for name, tool in project.tools().items()
    }
    assert {
        "a": ("Const", "Third."),
        "b": ("Unknown", None),
        "c": ("Const", "Named."),
        "d": ("Missing", None),
        "e": ("Const", "Told."),
        "f": ("Const", "Told."),
    } == descriptions


def test_a_contract_goes_through_a_decorator_of_the_project(project):
    """The contract passed to the decorator is the one that it passes to mcpcore."""
    project.write(
        app="""
        from mcpcore import ErrorCode, FailureMode, tool
        GONE = FailureMode("gone", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Look for another one first.")
        def our_tool(**options):
            return tool(**options)
        def coded(errors):
            return tool(errors=errors)
        def plain(fn):
            return tool(errors=[GONE])(fn)
        @our_tool(errors=[GONE])
        def one(): ...
        @coded([GONE])
        def two(): ...
        @plain
        def three(): ...
        """
    )
    reasons = {name: tool.contract.reasons if tool.contract else None for name, tool in project.tools().items()}
    assert {"one": ("gone",), "two": ("gone",), "three": ("gone",)} == reasons


HOSTILE: Final = {
    "names bound over and over": "\n".join(
        [f"tool = tool{n} = mcp.tools or tool{n - 1}" for n in range(1, 300)] + ["@tool", "def f(): ..."]
    ),
    "lists of lists": "\n".join(
        ["t = []"] + ["t = t + t + [*t, *t]"] * 200 + ["for f in t + t:", "    mcp.tool(f)", "mcp.tool(t)"]
    ),
    "dicts of dicts": "\n".join(["t = {}"] + ["t = t"] * 200 + ["for k, f in t.items():", "    mcp.tool(f, name=k)"]),
    "wrappers of wrappers": "\n".join(
        ["def w(fn):"] + ["    fn = w(fn, fn(fn))"] * 200 + ["    return mcp.tool(fn)", "@w", "def f(): ..."]
    ),
    "decorators that call one another": "\n".join(
        [
            f"def tool_{n}(**k):\n    if k:\n        return tool_{n - 1}(**k)\n    return tool_{n - 2}(**k)"
            for n in range(2, 60)
        ]
        + ["def tool_1(**k):\n    return mcp.tool(**k)", "def tool_0(**k):\n    return tool_59(**k)"]
        + ["@tool_59(name='x')", "def f(): ..."]
    ),
    "a chain of calls": "mcp.tool" + "()" * 300 + "(f)\nmcp.tool(" + "g(" * 80 + "f" + ")" * 80 + ")",
    "a part of a part of an entry": "for n in T:\n    mcp.add_tool(T[n]"
    + ".a" * 2_500
    + ")\nfn = T[n]\nmcp.tool(fn, fn)",
    "names that are taken apart over and over": "\n".join(
        ["def go(n, add):", "    f0, c = T[n]"]
        + [f"    f{i}, c = f{i - 1}, T[c]\n    f{i} = wrap(f{i - 1}, f{i}, c)" for i in range(1, 200)]
        + ["    mcp.add_tool(f199, name=n)", "    add(go, f199)", "    go(n, add)", "T = {'a': go, **T}"]
        + ["go('a', mcp.add_tool)", "go(go, go)"]
    ),
    "factories of servers": "\n".join(
        [f"def make_{n}():\n    return make_{n - 1}() or make_{n + 1}()" for n in range(100)]
        + ["server = make_50()", "@server.tool", "def f(): ..."]
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_pathological_code_does_not_take_long(project, case):
    """Heavily cross-referenced code costs no more than other code."""
    project.write(app=f"from fastmcp import FastMCP\nmcp = FastMCP('x')\n{HOSTILE[case]}\n")
    before = time.process_time()
    project.run()
    assert time.process_time() - before < 3
