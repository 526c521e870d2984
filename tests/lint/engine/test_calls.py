"""Errors that a handler can throw through the functions it calls."""

from __future__ import annotations

import pytest

HEAD = (
    "from mcpcore import CodedError, Context, ErrorCode, conflict, forbidden, not_found, rate_limited, timeout, tool\n"
)

# Each case: the files (the tool `fetch` is in server.py), and the code or class of what leaves it with the way to it.
CASES = {
    "a function of the same file": (
        {"server": "@tool\ndef fetch():\n    _load()\n\ndef _load():\n    raise not_found('x')\n"},
        {("NOT_FOUND", "fetch > _load")},
    ),
    "an imported function, renamed": (
        {
            "server": "from store import load as get\n\n@tool\ndef fetch():\n    return get()\n",
            "store": "def load():\n    raise not_found('x')\n",
        },
        {("NOT_FOUND", "fetch > load")},
    ),
    "a function of an imported module": (
        {
            "server": "import app.store\nimport app.store as s\n\n@tool\ndef fetch():\n    app.store.a()\n    s.b()\n",
            "app__init": "",
            "app__store": "def a():\n    raise not_found('x')\n\ndef b():\n    raise conflict('x')\n",
        },
        {("NOT_FOUND", "fetch > a"), ("CONFLICT", "fetch > b")},
    ),
    "a re-export and a star import": (
        {
            "server": "from app import load\nfrom app.more import *\n\n@tool\ndef fetch():\n    load()\n    more()\n",
            "app__init": "from .store import load\n",
            "app__store": "def load():\n    raise not_found('x')\n",
            "app__more": "__all__ = ['more']\n\ndef more():\n    raise conflict('x')\n",
        },
        {("NOT_FOUND", "fetch > load"), ("CONFLICT", "fetch > more")},
    ),
    "methods through an annotated parameter and an attribute": (
        {
            "server": "from store import Store\n\nclass Service:\n    store: Store\n\n    def __init__(self, store: Store):\n        self.other = store\n\n"
            "    @tool\n    def fetch(self, given: 'Store | None'):\n        self.store.a()\n        self.other.b()\n        given.c()\n",
            "store": "class Store:\n    def a(self):\n        raise not_found('x')\n    def b(self):\n        raise conflict('x')\n    def c(self):\n        raise timeout('x')\n",
        },
        {
            ("NOT_FOUND", "Service.fetch > Store.a"),
            ("CONFLICT", "Service.fetch > Store.b"),
            ("TIMEOUT", "Service.fetch > Store.c"),
        },
    ),
    "an instance made at the top of another module": (
        {
            "server": "from state import store\n\n@tool\nasync def fetch():\n    await store.get()\n",
            "state": "from store import Store\nstore = Store()\n",
            "store": "class Store:\n    async def get(self):\n        await self._request()\n    async def _request(self):\n        raise rate_limited('x')\n",
        },
        {("RATE_LIMITED", "fetch > Store.get > Store._request")},
    ),
    "a constructor, and __post_init__": (
        {
            "server": "from dataclasses import dataclass\n\nclass A:\n    def __init__(self):\n        raise not_found('x')\n\n"
            "@dataclass\nclass B:\n    def __post_init__(self):\n        raise conflict('x')\n\n@tool\ndef fetch():\n    A()\n    B()\n"
        },
        {("NOT_FOUND", "fetch > A.__init__"), ("CONFLICT", "fetch > B.__post_init__")},
    ),
    "inheritance: the method of the instance's own class": (
        {
            "server": "class Base:\n    def get(self):\n        return self.one()\n    def one(self):\n        raise NotImplementedError\n\n"
            "class Sub(Base):\n    def one(self):\n        raise not_found('x')\n\n@tool\ndef fetch():\n    Sub().get()\n"
        },
        {("NOT_FOUND", "fetch > Base.get > Sub.one")},
    ),
    "super()": (
        {
            "server": "class Base:\n    def get(self):\n        raise not_found('x')\n\nclass Sub(Base):\n    def get(self):\n        return super().get()\n\n"
            "@tool\ndef fetch():\n    Sub().get()\n"
        },
        {("NOT_FOUND", "fetch > Sub.get > Base.get")},
    ),
    "a cycle": (
        {
            "server": "@tool\ndef fetch():\n    a(1)\n\ndef a(n):\n    if n:\n        b(n)\n    raise not_found('x')\n\ndef b(n):\n    a(n - 1)\n    raise conflict('x')\n"
        },
        {("NOT_FOUND", "fetch > a"), ("CONFLICT", "fetch > a > b")},
    ),
    "errors that a clause catches are removed, by class and by subclass": (
        {
            "server": "@tool\ndef fetch():\n    try:\n        load()\n    except LookupError:\n        pass\n\ndef load():\n    raise KeyError('x')\n    raise OSError\n"
        },
        {("OSError", "fetch > load")},
    ),
    "a subclass of CodedError is caught as one": (
        {
            "server": "class Gone(CodedError):\n    pass\n\n@tool\ndef fetch():\n    try:\n        load()\n    except CodedError:\n        return\n\n"
            "def load():\n    raise Gone(ErrorCode.NOT_FOUND)\n    raise ValueError\n"
        },
        {("ValueError", "fetch > load")},
    ),
    "a clause of a subclass does not catch its base": (
        {
            "server": "class Gone(CodedError):\n    pass\n\n@tool\ndef fetch():\n    try:\n        load()\n    except Gone:\n        return\n\ndef load():\n    raise not_found('x')\n"
        },
        {("NOT_FOUND", "fetch > load")},
    ),
    "the clauses of one try, in order, with else and finally": (
        {
            "server": "@tool\ndef fetch():\n    try:\n        a()\n    except ValueError:\n        b()\n    else:\n        c()\n    finally:\n        d()\n\n"
            "def a():\n    raise ValueError\ndef b():\n    raise not_found('x')\ndef c():\n    raise ValueError('c')\ndef d():\n    raise conflict('x')\n"
        },
        {("NOT_FOUND", "fetch > b"), ("ValueError", "fetch > c"), ("CONFLICT", "fetch > d")},
    ),
    "a clause that raises again": (
        {
            "server": "@tool\ndef fetch():\n    try:\n        a()\n    except Exception:\n        log()\n        raise\n\ndef log(): ...\ndef a():\n    raise not_found('x')\n"
        },
        {("NOT_FOUND", "fetch > a")},
    ),
    "a raise in the clause of an inner try is not of the outer": (
        {
            "server": "@tool\ndef fetch():\n    try:\n        a()\n    except CodedError:\n        try:\n            b()\n        except OSError:\n            raise\n\n"
            "def a():\n    raise not_found('x')\ndef b():\n    raise OSError\n"
        },
        {("OSError", "fetch > b")},
    ),
    "a finally that returns": (
        {"server": "@tool\ndef fetch():\n    try:\n        a()\n    finally:\n        return 1\n\ndef a():\n    raise not_found('x')\n"},
        set(),
    ),
    "suppress": (
        {
            "server": "import contextlib\nfrom contextlib import suppress\nfrom threading import Lock as lock\n\n@tool\ndef fetch():\n    with suppress(CodedError), lock():\n        a()\n    with contextlib.suppress(KeyError):\n        b()\n\n"
            "def a():\n    raise not_found('x')\ndef b():\n    raise conflict('x')\n"
        },
        {("CONFLICT", "fetch > b")},
    ),
    "except* and a task group": (
        {
            "server": "import asyncio\n\n@tool\nasync def fetch():\n    try:\n        async with asyncio.TaskGroup() as group:\n            group.create_task(a())\n            group.create_task(b())\n"
            "    except* CodedError:\n        pass\n\nasync def a():\n    raise not_found('x')\nasync def b():\n    raise OSError\n"
        },
        {("OSError", "fetch > b")},
    ),
    "a plain except does not see into a group": (
        {
            "server": "import asyncio\n\n@tool\nasync def fetch():\n    try:\n        async with asyncio.TaskGroup() as group:\n            group.create_task(a())\n    except CodedError:\n        pass\n\n"
            "async def a():\n    raise not_found('x')\n"
        },
        {("NOT_FOUND", "fetch > a")},
    ),
    "an exception group that is built by hand": (
        {"server": "@tool\ndef fetch():\n    a()\n\ndef a():\n    raise ExceptionGroup('x', [not_found('x'), ValueError()])\n"},
        {("NOT_FOUND", "fetch > a"), ("ValueError", "fetch > a")},
    ),
    "a function that is handed over, through the clauses of the one that runs it": (
        {
            "server": "@tool\ndef fetch():\n    twice(a)\n    twice(lambda: b())\n\ndef twice(run):\n    try:\n        run()\n    except LookupError:\n        run()\n"
            "    except OSError:\n        pass\n\ndef a():\n    raise OSError\ndef b():\n    raise conflict('x')\n"
        },
        {("OSError", "fetch > twice > a"), ("CONFLICT", "fetch > twice > fetch.<lambda> > b")},
    ),
    "a function that is handed on to another": (
        {
            "server": "@tool\ndef fetch():\n    outer(a)\n\ndef outer(run):\n    inner(run)\n\ndef inner(run):\n    run()\n\ndef a():\n    raise conflict('x')\n"
        },
        {("CONFLICT", "fetch > outer > inner > a")},
    ),
    "a function that is handed to the standard library": (
        {
            "server": "import asyncio, functools\n\n@tool\nasync def fetch():\n    await asyncio.to_thread(a, 1)\n    await asyncio.gather(b(), *[b()])\n    list(map(c, []))\n    functools.partial(d, 1)()\n\n"
            "def a(n):\n    raise not_found('x')\nasync def b():\n    raise conflict('x')\ndef c(n):\n    raise timeout('x')\ndef d(n):\n    raise forbidden('x')\n"
        },
        {("NOT_FOUND", "fetch > a"), ("CONFLICT", "fetch > b"), ("TIMEOUT", "fetch > c"), ("FORBIDDEN", "fetch > d")},
    ),
    "a task that nobody waits for": (
        {"server": "import asyncio\n\n@tool\nasync def fetch():\n    asyncio.create_task(a())\n\nasync def a():\n    raise not_found('x')\n"},
        set(),
    ),
    "a nested function, called and not": (
        {
            "server": "@tool\ndef fetch():\n    def a():\n        raise not_found('x')\n    def b():\n        raise conflict('x')\n    try:\n        a()\n    except KeyError:\n        pass\n    return b.__name__\n"
        },
        {("NOT_FOUND", "fetch > fetch.a")},
    ),
    "an error that a function returns and the handler raises": (
        {
            "server": "@tool\nasync def fetch(n: int):\n    if n:\n        raise make(n)\n    raise await late()\n\ndef make(n):\n    error = not_found('x') if n else deeper()\n    return error\n\n"
            "def deeper():\n    return conflict('x')\nasync def late():\n    return timeout('x')\n"
        },
        {("NOT_FOUND", "fetch > make"), ("CONFLICT", "fetch > make > deeper"), ("TIMEOUT", "fetch > late")},
    ),
    "an error that a function makes without raising it": (
        {"server": "@tool\ndef fetch():\n    return make()\n\ndef make():\n    return not_found('x')\n"},
        set(),
    ),
    "a decorator of the project that catches": (
        {
            "server": "import functools\n\ndef safe(fn):\n    @functools.wraps(fn)\n    def inner(*args):\n        try:\n            return fn(*args)\n        except KeyError as error:\n            raise not_found('x') from error\n    return inner\n\n"
            "@tool\n@safe\ndef fetch():\n    a()\n    b()\n\ndef a():\n    raise KeyError\n\n@safe\ndef b():\n    raise OSError\n    raise KeyError\n"
        },
        {("NOT_FOUND", "fetch > safe.inner"), ("OSError", "fetch > b"), ("NOT_FOUND", "fetch > b > safe.inner")},
    ),
    "a decorator with arguments": (
        {
            "server": "def safe(kind):\n    def outer(fn):\n        def inner(*args):\n            try:\n                return fn(*args)\n            except kind:\n                return None\n            except OSError:\n                return None\n        return inner\n    return outer\n\n"
            "@tool\ndef fetch():\n    a()\n\n@safe(ValueError)\ndef a():\n    raise OSError\n    raise conflict('x')\n"
        },
        {("CONFLICT", "fetch > a")},
    ),
    "a context manager of the project that catches": (
        {
            "server": "from contextlib import contextmanager\n\n@contextmanager\ndef translated():\n    try:\n        yield\n    except KeyError as error:\n        raise not_found('x') from error\n\n"
            "@tool\ndef fetch():\n    with translated():\n        a()\n\ndef a():\n    raise KeyError\n    raise OSError\n"
        },
        {("NOT_FOUND", "fetch > translated"), ("OSError", "fetch > a")},
    ),
    "a class method and a static method": (
        {
            "server": "class A:\n    @classmethod\n    def make(cls) -> 'A':\n        cls.check()\n        return cls()\n    @staticmethod\n    def check():\n        raise not_found('x')\n    def run(self):\n        raise conflict('x')\n\n@tool\ndef fetch():\n    A.make().run()\n"
        },
        {("NOT_FOUND", "fetch > A.make > A.check"), ("CONFLICT", "fetch > A.run")},
    ),
    "what a function returns, by its annotation and without one": (
        {
            "server": "class A:\n    def run(self):\n        raise not_found('x')\n\nasync def one() -> A: ...\n\ndef two():\n    return A()\n\n@tool\nasync def fetch():\n    a = await one()\n    a.run()\n    (two()).run()\n"
        },
        {("NOT_FOUND", "fetch > A.run")},
    ),
    "the object that a with statement gives": (
        {
            "server": "class A:\n    async def __aenter__(self) -> 'A':\n        raise conflict('x')\n    async def __aexit__(self, *a): ...\n    def run(self):\n        raise not_found('x')\n\n@tool\nasync def fetch():\n    async with A() as a:\n        a.run()\n"
        },
        {("CONFLICT", "fetch > A.__aenter__"), ("NOT_FOUND", "fetch > A.run")},
    ),
    "an object that can be called": (
        {"server": "class A:\n    def __call__(self):\n        raise not_found('x')\n\nrun = A()\n\n@tool\ndef fetch():\n    run()\n"},
        {("NOT_FOUND", "fetch > A.__call__")},
    ),
    "match": (
        {
            "server": "@tool\ndef fetch(n: int):\n    match n:\n        case 1:\n            a()\n        case {'x': y}:\n            raise conflict('x')\n\ndef a():\n    raise not_found('x')\n"
        },
        {("NOT_FOUND", "fetch > a"), ("CONFLICT", "fetch")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_errors_of_called_functions_are_found(project, name):
    """Each error that a called function raises is found with its call path, unless a caller catches it."""
    files, expected = CASES[name]
    project.write(**{module: HEAD + text for module, text in files.items()})
    assert project.thrown() == expected


def test_a_call_that_cannot_be_resolved_is_reported_as_unknown(project):
    """A call on an object of unknown class is reported as unresolved, with its place, and adds no error."""
    project.write(
        server=HEAD
        + "@tool\ndef fetch(ctx: Context, store):\n    _go(ctx, store)\n\ndef _go(ctx, store):\n    store.load(1)\n    'x'.strip()\n"
    )
    reach = project.reach()
    assert reach.throws == ()
    assert [(call.name, call.path, call.project) for call in reach.unresolved] == [
        ("store.load", ("fetch", "_go"), True)
    ]


def test_a_call_that_receives_the_context_is_marked(project):
    """Any function that receives the context could call `ctx.fail`."""
    project.write(server=HEAD + "import other\n\n@tool\ndef fetch(ctx: Context):\n    other.run(ctx)\n")
    (call,) = project.reach().unresolved
    assert (call.name, call.takes_context) == ("other.run", True)


def test_reasons_and_codes_survive_calls(project):
    """An error raised in a service keeps its code and reason, whether from constants, choices or `data`."""
    project.write(
        server=HEAD + "from store import load\n\n@tool\ndef fetch():\n    load()\n",
        store=HEAD
        + "GONE = 'gone'\n\ndef load(n=1):\n    raise CodedError(ErrorCode.NOT_FOUND if n else ErrorCode.CONFLICT, 'x', reason=GONE)\n    raise not_found('x', data={'reason': 'other'})\n    raise not_found('x', reason=n)\n",
    )
    errors = [(throw.codes, throw.reasons) for throw in project.reach().throws]
    assert errors == [(("NOT_FOUND", "CONFLICT"), ("gone",)), (("NOT_FOUND",), ("other",)), (("NOT_FOUND",), None)]


def test_a_long_chain_of_calls_is_followed_to_its_end(project):
    """Deep call chains neither overflow the stack nor hit a limit."""
    count = 3000
    chain = "".join(f"def f{n}():\n    f{n + 1}()\n" for n in range(count))
    project.write(server=HEAD + f"{chain}def f{count}():\n    raise not_found('x')\n\n@tool\ndef fetch():\n    f0()\n")
    (throw,) = project.reach().throws
    assert len(throw.path) == count + 2


def test_except_clauses_of_called_functions_are_listed(project):
    """Each called function lists its `except` clauses once, including those of nested functions."""
    project.write(
        server="""
            from mcpcore import tool
            from store import load

            @tool
            def fetch():
                def inner():
                    try:
                        load()
                    except ValueError:
                        pass
                inner()
        """,
        store="""
            def load():
                try:
                    return deeper()
                except KeyError:
                    return load()

            def deeper():
                raise KeyError("x")
        """,
    )
    run = project.run()
    tool = next(tool for tools in run.tools.values() for tool in tools)
    on_the_way = run.graph.on_the_way(tool.handler)
    assert ["load", "deeper"] == [function.qualname for function in on_the_way]
    assert [("builtins.KeyError",)] == [clause.types for function in on_the_way for clause in function.catches]
    assert [("builtins.ValueError",)] == [clause.types for clause in tool.handler.catches]


STORE = "from mcpcore import not_found\n\ndef load():\n    raise not_found('x')\n"
CALLS = "\n\n@tool\ndef fetch():\n    load()\n"
RUNS = "\nif __name__ == '__main__':\n    run()\n"


@pytest.mark.parametrize(
    ("folder", "packages", "module", "more"),
    [
        ("app", ["init", "app__init"], "app.store", ""),
        ("part__src__app", ["part__src__init", "part__src__app__init"], "app.store", ""),
        ("app", ["app__init"], "store", RUNS),
    ],
    ids=["the root", "src", "the folder of a program"],
)
def test_imports_start_in_a_folder_even_if_it_is_a_package(project, folder, packages, module, more):
    """A stray `__init__.py` does not change how imports are resolved, also of other files in the folder of a program."""
    server = f"{HEAD}from {module} import load{CALLS}{more}"
    project.write(**dict.fromkeys(packages, ""), **{f"{folder}__store": STORE, f"{folder}__server": server})
    assert project.thrown() == {("NOT_FOUND", "fetch > load")}


@pytest.mark.parametrize(
    ("store", "helpers", "server"),
    [
        ("", "", "from app.helpers import run"),
        ("", "from .server import fetch", ""),
        ("from store import load as more", "", ""),
    ],
)
def test_an_import_in_a_package_does_not_mean_the_file_beside_it(project, store, helpers, server):
    """`import redis` in `app/server.py` means another package, although there is `app/redis.py`, if `app` is a package."""
    project.write(
        app__init="",
        app__store=f"from mcpcore import not_found\n{store}\n\ndef load():\n    raise not_found('x')\n",
        app__helpers=helpers,
        app__server=HEAD
        + f"from store import load\n{server}\n\n@tool\ndef fetch():\n    load()\n\nif __name__ == '__main__':\n    run()\n",
    )
    assert project.thrown() == set()
