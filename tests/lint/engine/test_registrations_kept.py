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
    "a decorator that a method of the registry returns": (
        """
        import mcp
        class Registry:
            _tools = {}
            @classmethod
            def register(cls, name):
                def decorator(fn):
                    cls._tools[name] = fn
                    return fn
                return decorator
        def tool(name, description=""):
            return Registry.register(name)
        @tool(name="find")  # here
        def fetch(q: str):
            raise ValueError(q)
        """,
        {},
        "find: tool sdk fetch(q)",
    ),
    "a list for each kind, in a table": (
        """
        import mcp
        TOOLS = {}
        def register_tool(kind, name):
            def decorator(fn):
                TOOLS[kind].append((name, fn))
                return fn
            return decorator
        @register_tool("a", name="find")  # here
        def fetch(q: str):
            raise ValueError(q)
        """,
        {},
        "find: tool sdk fetch(q)",
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
    "a mark that no code reads": """
        import mcp
        def mcp_tool(fn):
            fn.mcp_tool_name = fn.__name__
            return fn
        @mcp_tool
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


@pytest.mark.parametrize("case", NOT_KEPT)
def test_other_decorators_make_no_tools(project, case):
    """A telling name alone does not make a decorator a registration."""
    check(project, NOT_KEPT[case], "")
