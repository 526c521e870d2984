"""Every form of registration that mcpcore, the SDK and FastMCP share is recognised."""

from __future__ import annotations

import textwrap
from typing import Final

import pytest

from tests.lint.engine.registering import check

FAMILIES: Final = {
    "fastmcp": ("fastmcp", "from fastmcp import FastMCP as Made"),
    "sdk 1": ("sdk", "from mcp.server.fastmcp import FastMCP as Made"),
    "sdk 2": ("sdk", "from mcp.server import MCPServer as Made"),
    "sdk 2, by its module": ("sdk", "from mcp.server.mcpserver import MCPServer as Made"),
    "mcpcore": ("mcpcore", "from mcpcore import Server as Made"),
}
FUNCTIONS: Final = """
def first(q: str):
    raise ValueError(q)

def second(n: int, limit: int = 3):
    raise ValueError(n)

"""

COMMON: Final[dict[str, tuple[str, str]]] = {
    # -- decorators ----------------------------------------------------------------------------------------------------
    "a decorator": (
        """
        @mcp.tool()  # here
        def search(q: str):
            raise ValueError(q)
        """,
        "search: tool % search(q)",
    ),
    "a decorator with a name": (
        """
        @mcp.tool(name="find")  # here
        async def search(q: str, *, limit: int = 3):
            raise ValueError(q)
        """,
        "find: tool % search(q, limit)",
    ),
    "a decorator with a name first": (
        """
        @mcp.tool("find")  # here
        def search(q: str):
            raise ValueError(q)
        """,
        "find: tool % search(q)",
    ),
    "a name from a constant, and one that nobody can know": (
        """
        import os
        NAME = "find"
        @mcp.tool(name=NAME)
        def search(q: str):
            raise ValueError(q)
        @mcp.tool(name=os.environ["NAME"])
        def other(q: str):
            raise ValueError(q)
        @mcp.tool(**options())
        def third(q: str):
            raise ValueError(q)
        """,
        """
        find: tool % search(q)
        ?: tool % other(q)
        ?: tool % third(q)
        """,
    ),
    "a resource, a template and a prompt": (
        """
        @mcp.resource("data://all")  # here
        def whole():
            raise ValueError(1)
        @mcp.resource("data://{key}", name="one")  # here
        def part(key: str):
            raise ValueError(1)
        @mcp.prompt()  # here
        def ask(topic: str):
            raise ValueError(1)
        @mcp.prompt(name="other")  # here
        def ask_more(topic: str):
            raise ValueError(1)
        """,
        """
        whole: resource % whole()
        one: resource % part(key)
        ask: prompt % ask(topic)
        other: prompt % ask_more(topic)
        """,
    ),
    "further decorators above and below": (
        """
        import functools
        def logged(fn):
            @functools.wraps(fn)
            def inner(*args, **kwargs):
                return fn(*args, **kwargs)
            return inner
        @logged
        @mcp.tool()  # here
        @logged
        @functools.lru_cache
        def search(q: str):
            raise ValueError(q)
        """,
        "search: tool % search(q)",
    ),
    "an alias of the method": (
        """
        tool = mcp.tool
        @tool()  # here
        def search(q: str):
            raise ValueError(q)
        @tool(name="b")  # here
        def other(q: str):
            raise ValueError(q)
        """,
        "search: tool % search(q)\nb: tool % other(q)",
    ),
    "an alias of the decorator": (
        """
        register = mcp.tool(description="Finds.")
        @register  # here
        def search(q: str):
            raise ValueError(q)
        register(first)  # here
        """,
        "search: tool % search(q)\nfirst: tool % first(q)",
    ),
    "a function nested in another": (
        """
        def register_tools(mcp: Made) -> None:
            @mcp.tool()  # here
            def search(q: str):
                raise ValueError(q)
        """,
        "search: tool % register_tools.search(q)",
    ),
    "under conditions": (
        """
        import os
        if os.environ.get("WRITES"):
            @mcp.tool()  # here
            def search(q: str):
                raise ValueError(q)
        else:
            mcp.tool(name="f")(first)  # here
        try:
            import numpy
        except ImportError:
            pass
        else:
            mcp.add_tool(second)  # here
        """,
        "search: tool % search(q)\nf: tool % first(q)\nsecond: tool % second(n, limit)",
    ),
    # -- calls ---------------------------------------------------------------------------------------------------------
    "the decorator called": (
        """
        mcp.tool()(first)  # here
        mcp.tool(name="b")(second)  # here
        mcp.resource("data://all", name="c")(first)  # here
        mcp.prompt()(first)  # here
        """,
        """
        first: tool % first(q)
        b: tool % second(n, limit)
        c: resource % first(q)
        first: prompt % first(q)
        """,
    ),
    "add_tool": (
        """
        mcp.add_tool(first)  # here
        mcp.add_tool(second, "b")  # here
        mcp.add_tool(fn=first, name="c")  # here
        mcp.add_tool(second, name=first.__name__ + "x")  # here
        """,
        """
        first: tool % first(q)
        b: tool % second(n, limit)
        c: tool % first(q)
        ?: tool % second(n, limit)
        """,
    ),
    "the name of the function itself": (
        """
        mcp.add_tool(second, name=second.__name__, description=second.__doc__)  # here
        """,
        "second: tool % second(n, limit)",
    ),
    "decorated and added again": (
        """
        @mcp.tool()  # here
        def search(q: str):
            raise ValueError(q)
        mcp.add_tool(search)
        also = search
        Made("y").add_tool(also)
        """,
        "search: tool % search(q)",
    ),
    "added in a loop": (
        """
        for fn in (first, second):
            mcp.add_tool(fn)  # here
        """,
        "first: tool % first(q)\nsecond: tool % second(n, limit)",
    ),
    "decorated in a loop": (
        """
        for fn in [first, second]:
            mcp.tool()(fn)  # here
        """,
        "first: tool % first(q)\nsecond: tool % second(n, limit)",
    ),
    "in a loop over a constant, with names": (
        """
        TOOLS = [("a", first), ("b", second)]
        MORE = {"c": first, "d": second}
        for name, fn in TOOLS:
            mcp.add_tool(fn, name=name)  # here
        for name, fn in MORE.items():
            mcp.tool(name=name)(fn)  # here
        for fn in MORE.values():
            mcp.add_tool(fn, name=f"x_{fn.__name__}")  # here
        for each in [*TOOLS]:
            mcp.add_tool(each[1], "y_" + each[0])  # here
        """,
        """
        a: tool % first(q)
        b: tool % second(n, limit)
        c: tool % first(q)
        d: tool % second(n, limit)
        x_first: tool % first(q)
        x_second: tool % second(n, limit)
        y_a: tool % first(q)
        y_b: tool % second(n, limit)
        """,
    ),
    "in a loop over objects": (
        """
        from dataclasses import dataclass
        from typing import Any, NamedTuple
        class Spec(NamedTuple):
            name: str
            fn: Any
        @dataclass
        class Other:
            fn: Any
            name: str
        for spec in (Spec("a", first), Spec(name="b", fn=second)):
            mcp.add_tool(spec.fn, spec.name)  # here
        for spec in (Other(first, "c"),):
            mcp.tool(name=spec.name)(spec.fn)  # here
        for spec in ({"fn": second, "name": "d"},):
            mcp.tool(name=spec["name"])(spec["fn"])  # here
        """,
        """
        a: tool % first(q)
        b: tool % second(n, limit)
        c: tool % first(q)
        d: tool % second(n, limit)
        """,
    ),
    "in loops over what is put together": (
        """
        READ = (first,)
        WRITE = [second]
        def all_tools():
            return [*READ, *WRITE]
        for fn in READ + tuple(WRITE):
            mcp.add_tool(fn)  # here
        for fn in all_tools():
            mcp.add_tool(fn, name="x")  # here
        for fn in sorted(READ):
            mcp.add_tool(fn, name="y")  # here
        [mcp.add_tool(fn, name="z") for fn in WRITE]  # here
        """,
        """
        first: tool % first(q)
        second: tool % second(n, limit)
        x: tool % first(q)
        x: tool % second(n, limit)
        y: tool % first(q)
        z: tool % second(n, limit)
        """,
    ),
    "in a loop over a list that grows": (
        """
        import os
        tools = [first]
        if os.environ.get("WRITES"):
            tools.append(second)
        for fn in tools:
            mcp.add_tool(fn)  # here
        def setup():
            more = []
            more.extend((first,))
            for fn in more:
                mcp.add_tool(fn, name="b")  # here
        """,
        "first: tool % first(q)\nsecond: tool % second(n, limit)\nb: tool % first(q)",
    ),
    "what nobody can know in a loop": (
        """
        import helpers
        for name in ("first", "second"):
            mcp.add_tool(getattr(helpers, name))
        for fn in helpers.TOOLS:
            mcp.add_tool(fn)
        """,
        "",
    ),
    # -- what is registered --------------------------------------------------------------------------------------------
    "a lambda under a name": (
        """
        def fail(q):
            raise ValueError(q)
        search = lambda q: fail(q)
        """,
        "",
    ),
    "a decorator with some of its arguments": (
        """
        from functools import partial
        reading = partial(mcp.tool, annotations={"readOnlyHint": True})
        @reading()  # here
        def read(q: str):
            raise ValueError(q)
        @reading(name="two")  # here
        def other(q: str):
            raise ValueError(q)
        """,
        """
        read: tool % read(q)
        two: tool % other(q)
        """,
    ),
    "a partial": (
        """
        from functools import partial
        mcp.add_tool(partial(second, 1), name="one")  # here
        mcp.tool(name="two")(partial(second, limit=4))  # here
        later = partial(partial(second, 1), limit=2)
        mcp.add_tool(later)  # here
        """,
        """
        one: tool % second()
        two: tool % second()
        ?: tool % second()
        """,
    ),
    "methods": (
        """
        class Base:
            def inherited(self, key: str):
                raise ValueError(key)
        class Store(Base):
            def search(self, q: str):
                raise ValueError(q)
            @staticmethod
            def plain(n: int):
                raise ValueError(n)
            @classmethod
            def made(cls, n: int):
                raise ValueError(n)
            def register(self, mcp: Made) -> None:
                mcp.add_tool(self.search)  # here
                mcp.tool(name="own")(self.inherited)  # here
                for method in (self.search, self.inherited):
                    mcp.add_tool(method, name="looped")  # here
        store = Store()
        mcp.tool()(store.search)  # here
        mcp.add_tool(store.inherited)  # here
        mcp.add_tool(Store.plain)  # here
        mcp.add_tool(Store.made)  # here
        def setup(other: Store):
            mcp.add_tool(other.search, "typed")  # here
        """,
        """
        search: tool % Store.search(q)
        own: tool % Base.inherited(key)
        looped: tool % Store.search(q)
        looped: tool % Base.inherited(key)
        search: tool % Store.search(q)
        inherited: tool % Base.inherited(key)
        plain: tool % Store.plain(n)
        made: tool % Store.made(n)
        typed: tool % Store.search(q)
        """,
    ),
    "a callable object": (
        """
        class Search:
            def __call__(self, q: str):
                raise ValueError(q)
        mcp.add_tool(Search(), name="a")  # here
        search = Search()
        mcp.tool()(search)  # here
        """,
        "a: tool % Search.__call__(q)\nSearch: tool % Search.__call__(q)",
    ),
    "a closure": (
        """
        def make(client):
            def search(q: str):
                raise ValueError(q)
            return search
        mcp.add_tool(make(1))  # here
        searching = make(2)
        mcp.tool(name="b")(searching)  # here
        """,
        "search: tool % make.search(q)\nb: tool % make.search(q)",
    ),
    "a wrapped function": (
        """
        from functools import wraps
        from elsewhere import guarded
        def logged(fn):
            @wraps(fn)
            def inner(*args):
                return fn(*args)
            return inner
        mcp.add_tool(logged(first))  # here
        mcp.tool(name="b")(guarded(second))  # here
        kept = logged(second)
        mcp.add_tool(kept)  # here
        """,
        "first: tool % first(q)\nb: tool % second(n, limit)\nsecond: tool % second(n, limit)",
    ),
    "one of several functions": (
        """
        import sys
        if sys.platform == "win32":
            def look(q: str):
                raise ValueError(q)
        else:
            def look(q: str, n: int):
                raise ValueError(q)
        mcp.add_tool(look)  # here
        """,
        "look: tool % look(q)",
    ),
    # -- servers -------------------------------------------------------------------------------------------------------
    "a server of a function": (
        """
        def create() -> Made:
            made = Made("y")
            made.add_tool(first)  # here
            return made
        def build():
            inner = Made("z")
            return inner
        def plain():
            return mcp
        async def later():
            return Made("l")
        one = create()
        two = build()
        three = plain()
        @one.tool()  # here
        def a(q: str):
            raise ValueError(q)
        @two.tool()  # here
        def b(q: str):
            raise ValueError(q)
        @plain().tool()  # here
        def c(q: str):
            raise ValueError(q)
        async def main():
            four = await later()
            @four.tool()  # here
            def d(q: str):
                raise ValueError(q)
        """,
        """
        first: tool % first(q)
        a: tool % a(q)
        b: tool % b(q)
        c: tool % c(q)
        d: tool % main.d(q)
        """,
    ),
    "a server that is handed in": (
        """
        from typing import Optional
        def one(made: Made):
            made.add_tool(first)  # here
        def two(made: "Made | None"):
            made.add_tool(second)  # here
        def four(made: Optional[Made] = None):
            made.tool(name="d")(first)  # here
        """,
        """
        first: tool % first(q)
        second: tool % second(n, limit)
        d: tool % first(q)
        """,
    ),
    "a server in an attribute": (
        """
        class App:
            shared = Made("s")
            def __init__(self, given: Made):
                self.own = Made("y")
                self.given = given
                self.made = self._create()
                self.own.add_tool(self.search)  # here
                @self.given.tool()  # here
                def inner(q: str):
                    raise ValueError(q)
            def _create(self) -> Made:
                return Made("m")
            @property
            def server(self) -> Made:
                return self.own
            def register(self):
                self.given.tool(name="b")(self.search)  # here
                self.made.add_tool(first, name="c")  # here
                self.shared.add_tool(first, name="d")  # here
                self.server.add_tool(first, name="e")  # here
            @shared.tool(name="f")  # here
            @staticmethod
            def six(q: str):
                raise ValueError(q)
            def search(self, q: str):
                raise ValueError(q)
        app = App(mcp)
        app.own.add_tool(first, name="g")  # here
        App.shared.add_tool(first, name="h")  # here
        """,
        """
        search: tool % App.search(q)
        inner: tool % App.__init__.inner(q)
        b: tool % App.search(q)
        c: tool % first(q)
        d: tool % first(q)
        e: tool % first(q)
        f: tool % App.six(q)
        g: tool % first(q)
        h: tool % first(q)
        """,
    ),
    "a class that is a server": (
        """
        class Mine(Made):
            def __init__(self):
                super().__init__("mine")
                self.add_tool(self.search)  # here
                self.tool(name="b")(first)  # here
            def search(self, q: str):
                raise ValueError(q)
        mine = Mine()
        @mine.tool()  # here
        def other(q: str):
            raise ValueError(q)
        """,
        "search: tool % Mine.search(q)\nb: tool % first(q)\nother: tool % other(q)",
    ),
    "a class that hands a list to the server that it is": (
        """
        class Mine(Made):
            def __init__(self):
                super().__init__("mine", tools=[first])  # here
        """,
        "first: tool % first(q)",
    ),
    "a server that a function makes for all": (
        """
        made = None
        later: "Made | None" = None
        def setup():
            global made, later
            later = Made("y")
        @later.tool()  # here
        def search(q: str):
            raise ValueError(q)
        """,
        "search: tool % search(q)",
    ),
    "a server that is handed in without a word": (
        """
        def register(m, n=None):
            @m.tool()
            def search(q: str):
                raise ValueError(q)
            register_more(m)
        def register_more(x):
            x.add_tool(first)
        def never(y):
            y.add_tool(first)
        class App:
            def register(self, z):
                z.add_tool(second)
        register(mcp)  # here
        App().register(mcp)  # here
        """,
        "search: tool % register.search(q)\nfirst: tool % first(q)\nsecond: tool % second(n, limit)",
    ),
    "one of several servers in a loop": (
        """
        for made in (mcp, Made("y")):
            made.add_tool(first)  # here
        """,
        "first: tool % first(q)",
    ),
    # -- functions of the project that register ------------------------------------------------------------------------
    "a decorator of the project": (
        """
        def my_tool(fn):
            return mcp.tool()(fn)
        @my_tool  # here
        def search(q: str):
            raise ValueError(q)
        """,
        "search: tool % search(q)",
    ),
    "a decorator of the project with arguments": (
        """
        from functools import wraps
        def my_tool(name=None, **options):
            def decorate(fn):
                @wraps(fn)
                def inner(*args, **kwargs):
                    return fn(*args, **kwargs)
                return mcp.tool(name=name or fn.__name__, **options)(inner)
            return decorate
        @my_tool("a")  # here
        def search(q: str):
            raise ValueError(q)
        @my_tool(description="Finds.")  # here
        def other(q: str):
            raise ValueError(q)
        my_tool(name="c")(first)  # here
        """,
        "a: tool % search(q)\nother: tool % other(q)\nc: tool % first(q)",
    ),
    "a decorator of the project that decorates a wrapper": (
        """
        import functools
        def logged_tool(*args, **kwargs):
            def decorate(fn):
                @mcp.tool(*args, **kwargs)
                @functools.wraps(fn)
                async def inner(*a, **k):
                    return await fn(*a, **k)
                return inner
            return decorate
        @logged_tool()  # here
        async def search(q: str):
            raise ValueError(q)
        @logged_tool("b")  # here
        async def other(q: str):
            raise ValueError(q)
        @logged_tool(name="c")  # here
        async def third(q: str):
            raise ValueError(q)
        """,
        "search: tool % search(q)\nb: tool % other(q)\nc: tool % third(q)",
    ),
    "a function that returns the decorator": (
        """
        def read_tool(title, **options):
            return mcp.tool(name=title, **options)
        def deeper(**options):
            return read_tool("fixed", **options)
        @read_tool("a")  # here
        def search(q: str):
            raise ValueError(q)
        @deeper()  # here
        def other(q: str):
            raise ValueError(q)
        """,
        "a: tool % search(q)\nfixed: tool % other(q)",
    ),
    "functions that register what they are given": (
        """
        def register_one(server: Made, fn, name=None):
            server.add_tool(fn, name=name)
        def register_all(server: Made, fns):
            for fn in fns:
                server.add_tool(fn)
        def register_these(server: Made, *fns):
            for fn in fns:
                server.tool()(fn)
        register_one(mcp, first, name="a")  # here
        register_one(mcp, second)  # here
        register_all(mcp, [first])  # here
        register_these(mcp, first, second)  # here
        """,
        """
        a: tool % first(q)
        second: tool % second(n, limit)
        first: tool % first(q)
        first: tool % first(q)
        second: tool % second(n, limit)
        """,
    ),
    "a method that registers": (
        """
        class Registry:
            def __init__(self):
                self.mcp = Made("y")
            def tool(self, name=None):
                def decorate(fn):
                    self.mcp.add_tool(fn, name=name)
                    return fn
                return decorate
            def register_tool(self, fn):
                self.mcp.add_tool(fn)
        registry = Registry()
        @registry.tool(name="a")  # here
        def search(q: str):
            raise ValueError(q)
        registry.register_tool(first)  # here
        """,
        "a: tool % search(q)\nfirst: tool % first(q)",
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("case", COMMON)
def test_registrations_common_to_all_frameworks(project, family, case):
    """Each case is one form, with its names, kinds, handlers, parameters and registering lines."""
    flavour, made = FAMILIES[family]
    source, expected = COMMON[case]
    text = f'{made}\n{FUNCTIONS}mcp = Made("x")\n{textwrap.dedent(source)}'
    check(project, text, expected, flavour=flavour)


def test_modules_that_a_package_imports_from_itself(project):
    """`from . import store` in `__init__.py` means the module `store`."""
    check(
        project,
        "",
        "search: tool sdk search(q)",
        tools__init="""
        from mcp.server.fastmcp import FastMCP
        from . import store
        def register(mcp: FastMCP):
            mcp.tool()(store.search)  # here
        """,
        tools__store="def search(q: str):\n    raise ValueError(q)\n",
    )
