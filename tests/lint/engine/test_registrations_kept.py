"""Decorators of a project that keep a function as a tool, for code that registers all of them later."""

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
def test_a_function_that_is_kept_as_a_tool_is_one(project, case):
    """Whatever lies between the decorator and the server."""
    source, files, expected = KEPT[case]
    check(project, source, expected, **files)


@pytest.mark.parametrize("case", NOT_KEPT)
def test_other_decorators_make_no_tools(project, case):
    """Not for a word in their names alone."""
    check(project, NOT_KEPT[case], "")
