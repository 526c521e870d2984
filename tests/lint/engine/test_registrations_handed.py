"""Registrations through function parameters and tables of tuples, records and factories."""

from __future__ import annotations

from typing import Final

import pytest

from tests.lint.engine.registering import check

HANDED: Final[dict[str, tuple[str, str]]] = {
    "the method under its own name": (
        """
        from collections.abc import Callable
        from mcp.server.fastmcp import FastMCP
        mcp = FastMCP("x")
        def search(q: str):
            raise ValueError(q)
        def find(q: str):
            raise ValueError(q)
        def register_tools(add_tool: Callable[..., None]) -> None:
            add_tool(search)  # here
            for name, each in {"a": find}.items():
                add_tool(each, name=name)  # here
        register_tools(mcp.add_tool)
        """,
        "search: tool sdk search(q)\na: tool sdk find(q)",
    ),
    "a table of tuples that are taken apart": (
        """
        from mcp.server.fastmcp import FastMCP
        def search(q: str):
            raise ValueError(q)
        def find(q: str):
            raise ValueError(q)
        REGISTRY = {"a": (search, {"x": 1}), "b": (find, {})}
        def register_tools(server: FastMCP, names: set[str]) -> None:
            for name in names:
                fn, config = REGISTRY[name]
                server.add_tool(fn, name=name, description=config)  # here
        """,
        "a: tool sdk search(q)\nb: tool sdk find(q)",
    ),
    "a table of functions, of records and of dicts": (
        """
        from dataclasses import dataclass
        from mcp.server.fastmcp import FastMCP
        mcp = FastMCP("x")
        @dataclass
        class Spec:
            run: object
            title: str
        def search(q: str):
            raise ValueError(q)
        def find(q: str):
            raise ValueError(q)
        PLAIN = {"a": search, "b": find}
        SPECS = {"c": Spec(search, "C"), "d": Spec(run=find, title="D")}
        DICTS = {"e": {"run": search}, "f": {"run": find}}
        for name in PLAIN:
            mcp.tool(name=name)(PLAIN[name])  # here
        for name in sorted(SPECS):
            spec = SPECS.get(name)
            mcp.add_tool(spec.run, name=name, title=spec.title)  # here
        def register(key):
            mcp.add_tool(DICTS[key]["run"], name=key)  # here
        """,
        """
        a: tool sdk search(q)
        b: tool sdk find(q)
        c: tool sdk search(q)
        d: tool sdk find(q)
        e: tool sdk search(q)
        f: tool sdk find(q)
        """,
    ),
    "those of a table alone that a loop names": (
        """
        from mcp.server.fastmcp import FastMCP
        mcp = FastMCP("x")
        def search(q: str):
            raise ValueError(q)
        def find(q: str):
            raise ValueError(q)
        TABLE = dict(a=search, b=find)
        for name in ("b",):
            mcp.add_tool(TABLE[name], name=name)  # here
        """,
        "b: tool sdk find(q)",
    ),
    "through a factory that wraps the function, and by factories in the table": (
        """
        import functools
        import inspect
        from mcp.server.fastmcp import FastMCP
        async def search(q: str, client):
            raise ValueError(q)
        def make_find(options):
            def find(q: str):
                raise ValueError(q)
            return find
        REGISTRY = {"a": (search, {"client": True}), "b": (make_find, {})}
        def with_client(fn, config):
            if not config:
                return fn
            @functools.wraps(fn)
            async def wrapper(*args, **kwargs):
                return await fn(*args, client=object(), **kwargs)
            wrapper.__signature__ = inspect.signature(fn).replace(parameters=[])
            return wrapper
        def build(base, config, more=None):
            fn = base
            fn = with_client(fn, config)
            fn = with_client(fn=fn, config=more)
            if not inspect.iscoroutinefunction(fn):
                @functools.wraps(fn)
                async def waiting(**kwargs):
                    return fn(**kwargs)
                return waiting
            return fn
        def register_tools(server: FastMCP, names: set[str]) -> None:
            for name in names:
                base, config = REGISTRY[name]
                if name == "b":
                    made = base(options=config)
                elif name == "c":
                    made = base(options=None)
                else:
                    made = build(base=base, config=config)
                server.add_tool(made, name=name)  # here
        """,
        "a: tool sdk search()\nb: tool sdk make_find.find(q)",
    ),
    "a loop over functions, each through a factory": (
        """
        import functools
        from mcp.server.fastmcp import FastMCP
        mcp = FastMCP("x")
        def search(q: str):
            raise ValueError(q)
        def find(q: str):
            raise ValueError(q)
        def logged(fn):
            @functools.wraps(fn)
            def wrapper(*args, **kwargs):
                return fn(*args, **kwargs)
            return wrapper
        for name, fn in [("a", search), ("b", find)]:
            mcp.add_tool(logged(fn), name=name)  # here
        """,
        "a: tool sdk search(q)\nb: tool sdk find(q)",
    ),
}

NOTHING: Final = {
    "a table that is not there": """
        from elsewhere import TABLE
        from mcp.server.fastmcp import FastMCP
        mcp = FastMCP("x")
        def register(name):
            fn, _ = TABLE[name]
            mcp.add_tool(fn, name=name)
            mcp.add_tool(TABLE.get(name), name=name)
        """,
    "of another kind of server": """
        from elsewhere import registry
        from mcp.server.fastmcp import FastMCP
        def search(q: str):
            raise ValueError(q)
        def install(add):
            add(search)
        install(registry.add)
        install(print)
        """,
    "no word of a protocol": """
        def search(q: str):
            raise ValueError(q)
        def register(add_tool):
            add_tool(search)
        """,
    "a name of the file itself": """
        from mcp.server.fastmcp import FastMCP
        tools = []
        def search(q: str):
            raise ValueError(q)
        def add_tool(fn):
            print(fn)
        add_tool(search)
        """,
}


@pytest.mark.parametrize("case", HANDED)
def test_registrations_through_parameters_and_tables_are_found(project, case):
    """The server, its methods, the function and its name may each come from a parameter or a table."""
    source, expected = HANDED[case]
    check(project, source, expected)


@pytest.mark.parametrize("case", NOTHING)
def test_lookalikes_register_nothing(project, case):
    """A parameter or table that has nothing to do with a server defines no tool."""
    check(project, NOTHING[case], "")
