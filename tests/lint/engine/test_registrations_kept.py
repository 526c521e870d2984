"""Functions that a decorator collects or a table lists, and other code later registers as tools."""

from __future__ import annotations

import pytest

from tests.lint.engine.registering import check

REGISTER = """
from fastmcp import FastMCP
from registry import TOOLS

def register_all(mcp: FastMCP) -> None:
    for each in TOOLS:
        mcp.tool(name=each["name"])(each["func"])
"""

KEPT = {
    "a named record, in a table that is an argument of the decorator": (
        """
        from registry import tool

        @tool(service="a")  # here
        def fetch(q: str):
            raise ValueError(q)
        """,
        {
            "registry": """
            \"\"\"Tools of the MCP server.\"\"\"
            class ToolSpec:
                def __init__(self, *, name, fn): ...

            class Registry:
                def add(self, spec): ...

            REGISTRY = Registry()

            def tool(*, service, name=None, registry=REGISTRY):
                def decorate(fn):
                    spec = ToolSpec(name=name or fn.__name__, fn=fn)
                    registry.add(spec)
                    return fn

                return decorate
            """
        },
        "fetch: tool sdk fetch(q)",
    ),
    "a method of the base class that is given all by name": (
        """
        from base import BaseModule
        from mcp.server.fastmcp import FastMCP

        class Detections(BaseModule):
            def register_tools(self, server: FastMCP) -> None:
                self._add_tool(server=server, method=self.search, name="search")  # here

            def search(self, q: str):
                raise ValueError(q)
        """,
        {
            "base": """
            from functools import wraps
            from mcp.server.fastmcp import FastMCP

            def in_a_thread(method):
                @wraps(method)
                async def wrapper(*args, **kwargs):
                    return await run(method, *args, **kwargs)

                return wrapper

            class BaseModule:
                def _add_tool(self, server: FastMCP, method, name: str) -> None:
                    prefixed = f"x_{name}"
                    server.add_tool(in_a_thread(method), name=prefixed)
            """
        },
        "x_search: tool sdk Detections.search(q)",
    ),
    "a list as the decorator": (
        """
        from fastmcp import FastMCP

        tools = []

        @tools.append  # here
        def fetch(q: str):
            raise ValueError(q)
        """,
        {},
        "fetch: tool fastmcp fetch(q)",
    ),
    "a table in another file": (
        """
        from registry import kept_tool

        @kept_tool(description="Finds.")  # here
        def fetch(q: str):
            raise ValueError(q)

        @kept_tool(name="search")  # here
        async def other(q: str):
            raise ValueError(q)
        """,
        {
            "registry": """
            \"\"\"Tools of the MCP server.\"\"\"
            TOOLS = []

            def kept_tool(name=None, description=None, **kwargs):
                def decorator(func):
                    tool_name = name or func.__name__
                    TOOLS.append({"func": func, "name": tool_name, "description": description})
                    return func
                return decorator
            """,
            "register": REGISTER,
        },
        """
        fetch: tool sdk fetch(q)
        search: tool sdk other(q)
        """,
    ),
    "a record of the project, made by a decorator with arguments filled in": (
        """
        from dataclasses import dataclass
        from functools import partial
        from mcp.server.fastmcp import FastMCP

        @dataclass
        class Definition:
            fn: object
            name: str | None = None

        def generic_tool(*, kind, name=None):
            def decorator(fn):
                return Definition(fn=fn, name=name)
            return decorator

        my_tool = partial(generic_tool, kind="a")

        @my_tool()  # here
        def fetch(q: str):
            raise ValueError(q)

        def register(mcp: FastMCP, definitions):
            for each in definitions:
                mcp.add_tool(fn=each.fn, name=each.name)
        """,
        {},
        "fetch: tool sdk fetch(q)",
    ),
    "a mark on the function": (
        """
        import inspect

        def mcp_tool(fn):
            fn._is_tool = True
            return fn

        class Tools:
            @mcp_tool  # here
            def fetch(self, q: str):
                raise ValueError(q)

        def register(mcp, tools):
            for _, method in inspect.getmembers(tools, lambda each: hasattr(each, "_is_tool")):
                mcp.tool()(method)
        """,
        {},
        "fetch: tool sdk Tools.fetch(q)",
    ),
}

TABLES = {
    "a list that a function filters and another one returns with more": (
        """
        from fastmcp import FastMCP
        from fastmcp.tools import FunctionTool
        from prepared import prepare

        def main(disabled, annotations):
            (
                final,
                names,
            ) = prepare(disabled)
            mcp = FastMCP("x")
            for tool in final:
                made = FunctionTool.from_function(tool, annotations=annotations.get(tool.__name__))
                mcp.add_tool(made)
        """,
        {
            "prepared": """
            from tables import get_tools

            def confirmed(fn): ...

            def prepare(disabled):
                tools = get_tools()
                enabled = [tool for tool in tools if tool.__name__ not in disabled]
                final = [(confirmed(tool) if tool in disabled else tool) for tool in enabled]
                return final, {tool.__name__ for tool in tools}
            """,
            "tables": """
            def fetch(q: str):
                raise ValueError(q)

            def put(q: str):
                raise ValueError(q)

            READING = [fetch]
            WRITING = [put]

            def get_tools(reading=False):
                tools = list(READING)
                if not reading:
                    tools.extend(WRITING)
                return tools
            """,
        },
        """
        fetch: tool fastmcp fetch(q)
        put: tool fastmcp put(q)
        """,
    ),
    "records that are made of a table and handed through functions": (
        """
        from mcp.server.fastmcp import FastMCP

        class Record:
            @classmethod
            def of(cls, table): ...

        def fetch(q: str):
            raise ValueError(q)

        TABLE = [{"func": fetch, "private": False}]
        tools = [Record.of(each) for each in TABLE]

        def chosen(records, **flags):
            return [each for each in records if each.fits(flags)]

        def filtered(**flags):
            return chosen(tools, **flags)

        def register(mcp: FastMCP):
            found: list[Record] = filtered(private=False)
            for each in found:
                func = each.func
                mcp.tool(name="fetch", description=func.__doc__)(func)  # here
        """,
        {},
        "fetch: tool sdk fetch(q)",
    ),
}

NOT_KEPT = {
    "results in a cache": """
        from mcp.server.fastmcp import FastMCP
        TOOL_RESULTS = {}
        def cached_tool(func):
            def inner(q):
                TOOL_RESULTS[q] = func(q)
                return TOOL_RESULTS[q]
            return inner
        @cached_tool
        def fetch(q: str):
            raise ValueError(q)
        """,
    "counted by name": """
        import mcp
        registered = {}
        def tool_counter(func):
            registered[func.__name__] = 0
            return func
        @tool_counter
        def fetch(q: str):
            raise ValueError(q)
        """,
    "no word of MCP": """
        TOOLS = []
        def tool(func):
            TOOLS.append(func)
            return func
        @tool
        def fetch(q: str):
            raise ValueError(q)
        """,
    "not called a tool": """
        import mcp
        registry = []
        def task(func):
            registry.append(func)
            return func
        @task
        def fetch(q: str):
            raise ValueError(q)
        """,
    "a time limit on the function": """
        import mcp
        def tool_timeout(seconds):
            def decorator(func):
                func.__mcp_timeout__ = seconds
                return func
            return decorator
        @tool_timeout(5)
        def fetch(q: str):
            raise ValueError(q)
        """,
}


@pytest.mark.parametrize("case", KEPT)
def test_a_collected_function_is_a_tool(project, case):
    """This holds for every path from the decorator to the server."""
    source, files, expected = KEPT[case]
    check(project, source, expected, **files)


@pytest.mark.parametrize("case", TABLES)
def test_the_functions_of_a_table_are_tools(project, case):
    """Filters, records and functions that pass the table on are followed."""
    source, files, expected = TABLES[case]
    check(project, source, expected, **files)


@pytest.mark.parametrize("case", NOT_KEPT)
def test_other_decorators_make_no_tools(project, case):
    """A telling name alone does not make a decorator a registration."""
    check(project, NOT_KEPT[case], "")
