"""Registrations through what is handed on: the method of a server, and what stands in a table beside other things."""

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
    "the method under another name, itself and behind a filter": (
        """
        from mcp.server.fastmcp import FastMCP
        def search(q: str):
            raise ValueError(q)
        def find(q: str):
            raise ValueError(q)
        def install(add, more) -> None:
            add(search)  # here
            for each in (find,):
                more(each, name="b")  # here
            other(search)
        def main(only):
            mcp = FastMCP("x")
            def filtered(fn, **options):
                if fn.__name__ in only:
                    mcp.add_tool(fn, **options)
            install(mcp.add_tool, more=filtered)
        """,
        "search: tool sdk search(q)\nb: tool sdk find(q)",
    ),
}

NOTHING: Final = {
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
def test_what_is_registered_through_what_is_handed_on_is_found(project, case):
    """The server, its methods, the function and its name may each come by a parameter or out of a table."""
    source, expected = HANDED[case]
    check(project, source, expected)


@pytest.mark.parametrize("case", NOTHING)
def test_what_only_looks_so_registers_nothing(project, case):
    """A parameter or a table that has nothing to do with a server is left alone."""
    check(project, NOTHING[case], "")


def test_the_method_of_a_server_is_followed_into_another_file(project):
    """Where it is handed on as itself, its tools stand where it is handed on; under its own name where it is called."""
    check(
        project,
        """
        import more
        import tools
        from mcp.server.fastmcp import FastMCP
        mcp = FastMCP("x")
        tools.register(mcp.add_tool)  # here
        more.register(mcp.add_tool)
        """,
        "search: tool sdk search(q)\nfind: tool sdk find(q)",
        tools="""
        def search(q: str):
            raise ValueError(q)
        def register(add):
            add(search)
        """,
        more="""
        import mcp
        def find(q: str):
            raise ValueError(q)
        def register(add_tool):
            add_tool(find)  # here
        """,
    )
