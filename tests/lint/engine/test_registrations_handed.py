"""Registrations through function parameters and tables of tuples, records and factories."""

from __future__ import annotations

from typing import Final

import pytest

from tests.lint.engine.registering import check

HANDED: Final[dict[str, tuple[str, str]]] = {
    "a decorator that a condition may leave out": (
        """
        from mcp.server.fastmcp import FastMCP
        def left_out(*args, **options):
            return lambda fn: fn
        def install(mcp: FastMCP, writes: bool):
            writing = mcp.tool if writes else left_out
            reading = left_out if writes else mcp.tool
            @writing(name="save")  # here
            def store(q: str):
                raise ValueError(q)
            @reading()  # here
            def search(q: str):
                raise ValueError(q)
        install(FastMCP("x"), True)
        """,
        "save: tool sdk install.store(q)\nsearch: tool sdk install.search(q)",
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
        for name, spec in sorted(SPECS.items()):
            mcp.add_tool(spec.run, name=name, title=spec.title)  # here
        for key, value in DICTS.items():
            mcp.add_tool(value["run"], name=key)  # here
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
