"""Tools registered in loops over the members of modules and classes, and over lists built elsewhere."""

from __future__ import annotations

from typing import Final

import pytest

from tests.lint.engine.registering import check

USERS: Final = """
    import asyncio
    from json import dumps
    LIMIT = 3
    def handle_find(q: str):
        raise ValueError(q)
    async def handle_list(q: str):
        raise ValueError(q)
    def _hidden(q: str):
        raise ValueError(q)
    def helper(q: str):
        raise ValueError(q)
"""
ORDERS: Final = """
    __all__ = ["place", "cancel"]
    def place(q: str):
        raise ValueError(q)
    async def cancel(q: str):
        raise ValueError(q)
    def other(q: str):
        raise ValueError(q)
"""
START: Final = """
        import importlib
        import inspect
        import sys
        from fastmcp import FastMCP
        mcp = FastMCP("x")
"""
BOTH: Final = "handle_find: tool fastmcp handle_find(q)\nhandle_list: tool fastmcp handle_list(q)"
EXPORTED: Final = "place: tool fastmcp place(q)\ncancel: tool fastmcp cancel(q)"

LOOPED: Final[dict[str, tuple[str, str]]] = {
    "the members of a module, by a prefix": (
        """
        from acme import users
        for name, fn in inspect.getmembers(users, inspect.isfunction):
            if name.startswith("handle_"):
                mcp.tool()(fn)  # here
        """,
        BOTH,
    ),
    "all of them but those that are private or left out": (
        """
        from acme import users
        LEFT_OUT = {"helper"}
        for name, fn in inspect.getmembers(users, predicate=inspect.isfunction):
            if name.startswith("_") or name in LEFT_OUT:
                continue
            mcp.add_tool(fn)  # here
        """,
        BOTH,
    ),
    "coroutines alone": (
        """
        from acme import users
        for _, fn in inspect.getmembers(users, inspect.iscoroutinefunction):
            mcp.tool(fn)  # here
        """,
        "handle_list: tool fastmcp handle_list(q)",
    ),
    "a counted list": (
        """
        from acme import users
        for number, fn in enumerate([users.handle_find, users.handle_list]):
            mcp.add_tool(fn)  # here
        """,
        BOTH,
    ),
    "dir() and getattr()": (
        """
        from acme import users
        for name in dir(users):
            if not name.startswith("handle_"):
                continue
            mcp.tool(name=f"user_{name}")(getattr(users, name))  # here
        """,
        "user_handle_find: tool fastmcp handle_find(q)\nuser_handle_list: tool fastmcp handle_list(q)",
    ),
    "a function of the project that registers one tool": (
        """
        from acme import users
        def add_read_only_tool(server: FastMCP, fn):
            server.add_tool(fn, annotations={"readOnlyHint": True})
        def run():
            own = FastMCP("own", **{})
            for fn in (users.handle_find, users.handle_list):
                add_read_only_tool(own, fn)  # here
        """,
        BOTH,
    ),
    "a list that a decorator fills": (
        """
        tools = []
        others = []
        @tools.append
        def handle_find(q: str):
            raise ValueError(q)
        @tools.append
        async def handle_list(q: str):
            raise ValueError(q)
        @others.append
        def handle_other(q: str):
            raise ValueError(q)
        def register(unused):
            tools = unused
            @tools.append
            def local(q: str):
                raise ValueError(q)
        for fn in tools:
            mcp.tool(fn)  # here
        """,
        BOTH,
    ),
    "a function of any name, nested in another": (
        """
        from acme import users
        SPECS = [(users.handle_find, "find"), (users.handle_list, "list")]
        def create():
            own = FastMCP("own")
            def expose(fn, name):
                own.add_tool(fn, name=name)
            for fn, name in SPECS:
                expose(fn, name)  # here
        """,
        "find: tool fastmcp handle_find(q)\nlist: tool fastmcp handle_list(q)",
    ),
    "groups of a table": (
        """
        from acme import users
        GROUPS = {"read": [users.handle_find], "write": [users.handle_list], "none": [users.helper]}
        def register_group(server, group):
            for fn in GROUPS[group]:
                server.tool(fn)
        for group in ("read", "write"):
            register_group(mcp, group)  # here
        """,
        BOTH,
    ),
    "the names of __all__": (
        """
        from acme import orders
        for name in orders.__all__:
            fn = getattr(orders, name)
            mcp.tool()(fn)  # here
        """,
        EXPORTED,
    ),
    "vars()": (
        """
        from acme import users
        for fn in vars(users).values():
            if inspect.isfunction(fn) and fn.__name__.startswith("handle_"):
                mcp.tool()(fn)  # here
        """,
        BOTH,
    ),
    "__dict__, and functions defined in the module alone": (
        """
        from acme import orders, users
        for module in (orders,):
            for name, fn in module.__dict__.items():
                if callable(fn) and fn.__module__ == module.__name__ and name in module.__all__:
                    mcp.tool()(fn)  # here
        """,
        EXPORTED,
    ),
    "globals()": (
        """
        def tool_find(q: str):
            raise ValueError(q)
        def other(q: str):
            raise ValueError(q)
        for name, fn in list(globals().items()):
            if name.startswith("tool_"):
                mcp.tool()(fn)  # here
        mcp.tool(name="b")(globals()["other"])  # here
        """,
        "tool_find: tool fastmcp tool_find(q)\nb: tool fastmcp other(q)",
    ),
    "the own module": (
        """
        def tool_find(q: str):
            raise ValueError(q)
        for name, fn in inspect.getmembers(sys.modules[__name__], inspect.isfunction):
            if name.startswith("tool"):
                mcp.tool()(fn)  # here
        """,
        "tool_find: tool fastmcp tool_find(q)",
    ),
    "modules that are imported by name": (
        """
        MODULES = ["users", "orders"]
        def load(names):
            found = []
            for each in names:
                found.append(importlib.import_module(f"acme.{each}"))
            return found
        def register_all(server: FastMCP):
            for module in load(MODULES):
                for name in getattr(module, "__all__", []):
                    server.tool()(getattr(module, name))  # here
        """,
        EXPORTED,
    ),
    "a relative import by name": (
        """
        for each in ("users",):
            module = importlib.import_module("." + each, package="acme")
            mcp.tool()(module.handle_find)  # here
        """,
        "handle_find: tool fastmcp handle_find(q)",
    ),
    "a predicate of the project, made for each module": (
        """
        from acme import users
        def wanted(module):
            return lambda item: inspect.isfunction(item) and item.__name__ != "helper" and item.__name__[0] != "_"
        for module in [users]:
            for name, fn in inspect.getmembers(module, wanted(module)):
                if not name.startswith("_"):
                    mcp.tool()(fn)  # here
        """,
        BOTH,
    ),
    "under a condition that cannot be read, all but the private ones": (
        """
        from acme import users
        import settings
        for name, fn in inspect.getmembers(users, inspect.isfunction):
            if name in settings.ENABLED:
                mcp.tool()(fn)  # here
        """,
        BOTH + "\nhelper: tool fastmcp helper(q)",
    ),
    "the methods of an object": (
        """
        class Tools:
            def __init__(self, server: FastMCP):
                for name in dir(self):
                    if name.startswith("tool_"):
                        server.tool()(getattr(self, name))  # here
            def tool_find(self, q: str):
                raise ValueError(q)
            def other(self, q: str):
                raise ValueError(q)
        """,
        "tool_find: tool fastmcp Tools.tool_find(q)",
    ),
    "the methods of an object, from outside": (
        """
        class Tools:
            def find(self, q: str):
                raise ValueError(q)
            def _other(self, q: str):
                raise ValueError(q)
        tools = Tools()
        for name, method in inspect.getmembers(tools, predicate=inspect.ismethod):
            if not name.startswith("_"):
                mcp.tool()(method)  # here
        """,
        "find: tool fastmcp Tools.find(q)",
    ),
    "a list from several modules, filtered and wrapped": (
        """
        import functools
        from acme import lists
        from acme.lists import MORE
        def traced(fn):
            @functools.wraps(fn)
            def inner(*args, **kwargs):
                return fn(*args, **kwargs)
            return inner
        ENABLED = [fn for fn in [*lists.TOOLS, *MORE] + lists.LATER if enabled(fn)]
        for fn in ENABLED:
            mcp.tool()(traced(fn))  # here
        """,
        "a: tool fastmcp a(q)\nb: tool fastmcp b(q)\nc: tool fastmcp c(q)\nd: tool fastmcp d(q)",
    ),
    "wrapped by one name after the other": (
        """
        from acme.lists import TABLE
        def traced(fn): return fn
        def register(server: FastMCP):
            for name, fn in TABLE.items():
                fn = traced(fn)
                wrapped = traced(fn)
                server.tool(name=name)(wrapped)  # here
        """,
        "one: tool fastmcp a(q)\ntwo: tool fastmcp b(q)",
    ),
    "pairs, and a condition on the name": (
        """
        from acme.lists import a, b
        for fn, name in ((a, "first"), (b, "second")):
            if name != "first":
                mcp.tool(name=name)(fn)  # here
        """,
        "second: tool fastmcp b(q)",
    ),
    "a generator function": (
        """
        from acme import users
        def handlers():
            for name in dir(users):
                if name.startswith("handle_"):
                    yield getattr(users, name)
        for fn in handlers():
            mcp.tool()(fn)  # here
        """,
        BOTH,
    ),
    "functions that a factory makes": (
        """
        SPECS = [{"name": "a", "path": "/a"}, {"name": "b", "path": "/b"}]
        def make_tool(spec):
            def call(q: str):
                raise ValueError(spec["path"])
            call.__name__ = spec["name"]
            return call
        for spec in SPECS:
            mcp.tool(name=spec["name"])(make_tool(spec))  # here
        for fn in [make_tool(spec) for spec in SPECS]:
            mcp.tool()(fn)  # here
        """,
        """
        a: tool fastmcp make_tool.call(q)
        b: tool fastmcp make_tool.call(q)
        ?: tool fastmcp make_tool.call(q)
        ?: tool fastmcp make_tool.call(q)
        """,
    ),
    "a table that is filled by names": (
        """
        from acme import users
        TABLE = {name: getattr(users, name) for name in ("handle_find", "handle_list")}
        for name, fn in TABLE.items():
            mcp.tool(name=name)(fn)  # here
        """,
        BOTH,
    ),
    "modules that register by themselves": (
        """
        from acme import selfish
        for module in [selfish]:
            module.register(mcp)
        """,
        "mine: tool fastmcp register.mine(q)",
    ),
    "a function that is given the module": (
        """
        from acme import orders, users
        def register_module(server, module, prefix):
            for name, fn in inspect.getmembers(module, inspect.isfunction):
                if name.startswith(prefix):
                    server.tool()(fn)
        register_module(mcp, users, "handle_")  # here
        register_module(mcp, orders, prefix="pl")  # here
        """,
        BOTH + "\nplace: tool fastmcp place(q)",
    ),
    "a function that is given the modules": (
        """
        from acme import orders, users
        def register_modules(server, *modules):
            for module in modules:
                for name in getattr(module, "__all__", ()):
                    server.add_tool(getattr(module, name))
        register_modules(mcp, orders, users)  # here
        """,
        EXPORTED,
    ),
}
FILES: Final = {
    "acme__init": "",
    "acme__users": USERS,
    "acme__orders": ORDERS,
    "acme__lists": """
        def a(q: str):
            raise ValueError(q)
        def b(q: str):
            raise ValueError(q)
        def c(q: str):
            raise ValueError(q)
        def d(q: str):
            raise ValueError(q)
        TOOLS = [a]
        TOOLS.append(b)
        MORE = (c,)
        LATER = [d]
        TABLE = {"one": a, "two": b}
    """,
    "acme__selfish": """
        from fastmcp import FastMCP
        def register(mcp: FastMCP):
            @mcp.tool
            def mine(q: str):
                raise ValueError(q)
    """,
}


@pytest.mark.parametrize("case", LOOPED)
def test_each_function_of_a_loop_is_a_tool(project, case):
    """The linter finds each function that the code names, and no others."""
    source, expected = LOOPED[case]
    files = {name: text for name, text in FILES.items() if "selfish" in source or "selfish" not in name}
    check(project, START + source, expected, **files)
