"""Functions that other code runs: callbacks, tasks, threads, generators and implicit calls.

The errors of a function are found where the function is run, and only there.
"""

from __future__ import annotations

from typing import Final

CASES: Final[dict[str, tuple[str, str]]] = {
    "nested functions: called, returned, handed over and left alone": (
        """
        @tool
        def fetch():
            def called():
                raise not_found("x")
            def handed():
                raise conflict("x")
            def alone():
                raise forbidden("x")
            called()
            run(handed)
        def run(what):
            return what()
        """,
        "NOT_FOUND: fetch > fetch.called\nCONFLICT: fetch > run > fetch.handed",
    ),
    "a closure that is returned and then called": (
        """
        def maker(n):
            def inner():
                raise not_found("x")
            return inner
        def maker_lambda():
            return lambda: load()
        def load():
            raise conflict("x")
        @tool
        def fetch():
            run = maker(1)
            run()
            maker_lambda()()
        """,
        "NOT_FOUND: fetch > maker.inner\nCONFLICT: fetch > maker_lambda.<lambda> > load",
    ),
    "a closure that is returned and not called": (
        """
        def maker(n):
            def inner():
                raise not_found("x")
            return inner
        @tool
        def fetch():
            run = maker(1)
            return run.__name__
        """,
        "",
    ),
    "a nested function under a decorator": (
        """
        def safe(run):
            def call():
                try:
                    return run()
                except KeyError:
                    raise conflict("x")
            return call
        @tool
        def fetch():
            @safe
            def inner():
                raise KeyError("x")
            inner()
        """,
        "CONFLICT: fetch > fetch.inner > safe.call",
    ),
    "a known key of a table": (
        """
        def one(x):
            raise not_found("x")
        def two(x):
            raise conflict("x")
        HANDLERS = {"one": one, "two": two}
        @tool
        def fetch(name: str):
            HANDLERS["one"](1)
        """,
        "NOT_FOUND: fetch > one",
    ),
    "a loop over functions": (
        """
        def one():
            raise not_found("x")
        def two():
            raise conflict("x")
        STEPS = [one, two]
        @tool
        def fetch(name: str):
            for step in STEPS:
                step()
            for step in (one,):
                step()
        """,
        "NOT_FOUND: fetch > one\nCONFLICT: fetch > two",
    ),
    "a table that functions register themselves in": (
        """
        HANDLERS = {}
        def register(name):
            def decorate(run):
                HANDLERS[name] = run
                return run
            return decorate
        @register("a")
        def one():
            raise not_found("x")
        @tool
        def fetch(name: str):
            HANDLERS[name]()
        """,
        "?: HANDLERS[]",
    ),
    "overloads": (
        """
        from typing import overload
        @overload
        def load(n: int) -> int: ...
        @overload
        def load(n: str) -> str: ...
        def load(n):
            raise not_found("x")
        @tool
        def fetch():
            load(1)
        """,
        "NOT_FOUND: fetch > load",
    ),
    "gather that returns the exceptions": (
        """
        import asyncio
        async def a():
            raise not_found("x")
        @tool
        async def fetch():
            found = await asyncio.gather(a(), *[a() for _ in range(3)], return_exceptions=True)
            return str(found)
        """,
        "",
    ),
    "asyncio.TaskGroup wraps in a group": (
        """
        import asyncio
        async def a():
            raise not_found("x")
        async def b():
            raise conflict("x")
        @tool
        async def fetch():
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(a())
                    await b()
            except* CodedError as group:
                raise forbidden("x")
        """,
        "FORBIDDEN: fetch",
    ),
    "anyio.to_thread, from_thread and starlette's threadpool": (
        """
        import anyio
        from anyio import to_thread
        from starlette.concurrency import run_in_threadpool
        def a(n):
            raise not_found("x")
        def b():
            raise conflict("x")
        def c():
            raise forbidden("x")
        @tool
        async def fetch():
            await anyio.to_thread.run_sync(a, 1)
            await to_thread.run_sync(lambda: b())
            await run_in_threadpool(c)
        """,
        "NOT_FOUND: fetch > a\nCONFLICT: fetch > fetch.<lambda> > b\nFORBIDDEN: fetch > c",
    ),
    "an executor": (
        """
        import asyncio
        from concurrent.futures import ThreadPoolExecutor
        def a(n):
            raise not_found("x")
        def b(n):
            raise conflict("x")
        @tool
        async def fetch():
            with ThreadPoolExecutor() as pool:
                list(pool.map(a, [1]))
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, b, 1)
        """,
        "NOT_FOUND: fetch > a\nCONFLICT: fetch > b",
    ),
    "asyncio.run and as_completed": (
        """
        import asyncio
        async def a():
            raise not_found("x")
        async def b():
            raise conflict("x")
        @tool
        def fetch():
            asyncio.run(a())
        async def other():
            for each in asyncio.as_completed([b()]):
                await each
        """,
        "NOT_FOUND: fetch > a",
    ),
    "a coroutine that is never awaited does nothing": (
        """
        async def a():
            raise not_found("x")
        @tool
        async def fetch():
            later = a
            return later
        """,
        "",
    ),
    "a lambda handed over, with what it closes over": (
        """
        def retry(run, times=3):
            for _ in range(times):
                try:
                    return run()
                except OSError:
                    pass
            raise timeout("x")
        def load(n):
            raise not_found("x")
            raise OSError("x")
        @tool
        def fetch(n: int):
            return retry(lambda: load(n), times=2)
        """,
        "TIMEOUT: fetch > retry\nNOT_FOUND: fetch > retry > fetch.<lambda> > load",
    ),
    "a callback that is handed on with arguments": (
        """
        import asyncio
        async def run(what, *args):
            return await asyncio.to_thread(what, *args)
        def load(n):
            raise not_found("x")
        @tool
        async def fetch():
            await run(load, 1)
        """,
        "NOT_FOUND: fetch > run > load",
    ),
    "a callback that nobody runs": (
        """
        def keep(what):
            return str(what)
        def load(n):
            raise not_found("x")
        @tool
        def fetch():
            keep(load)
        """,
        "",
    ),
    "sorted, map, filter, max and reduce": (
        """
        from functools import reduce
        def a(x):
            raise not_found("x")
        def b(x):
            raise conflict("x")
        def c(x, y):
            raise forbidden("x")
        def d(x):
            raise timeout("x")
        @tool
        def fetch(items: list[int]):
            sorted(items, key=a)
            list(filter(b, items))
            reduce(c, items)
            return max(items, key=lambda x: d(x))
        """,
        "NOT_FOUND: fetch > a\nCONFLICT: fetch > b\nFORBIDDEN: fetch > c\nTIMEOUT: fetch > fetch.<lambda> > d",
    ),
    "atexit, signal and add_done_callback run later": (
        """
        import atexit, signal, asyncio
        def a(*args):
            raise not_found("x")
        @tool
        async def fetch():
            atexit.register(a)
            signal.signal(1, a)
            asyncio.get_running_loop().call_soon(a)
        """,
        "",
    ),
    "a generator of the project": (
        """
        def rows(n):
            yield 1
            raise not_found("x")
        @tool
        def fetch():
            for each in rows(1):
                print(each)
        """,
        "NOT_FOUND: fetch > rows",
    ),
    "an async generator, and yield from": (
        """
        async def pages():
            raise not_found("x")
            yield 1
        def inner():
            raise conflict("x")
            yield 1
        def outer():
            yield from inner()
        @tool
        async def fetch():
            async for page in pages():
                print(page)
            found = [each async for each in pages()]
            return list(outer()), found
        """,
        "NOT_FOUND: fetch > pages\nCONFLICT: fetch > outer > inner",
    ),
    "implicit calls: awaiting a coroutine does not await what it comes to": (
        """
        class Job:
            def __await__(self):
                raise ValueError("x")
        async def start() -> Job:
            raise conflict("x")
        @tool
        async def fetch():
            await start()
        """,
        "CONFLICT: fetch > start",
    ),
    "context managers: what enters, leaves, and is bound": (
        """
        class Session:
            def __enter__(self):
                raise not_found("x")
            def __exit__(self, *args):
                raise conflict("x")
            def run(self): ...
        class Later:
            async def __aenter__(self):
                raise forbidden("x")
            async def __aexit__(self, *args): ...
        @tool
        async def fetch():
            with Session() as session:
                session.run()
            async with Later():
                pass
        """,
        "NOT_FOUND: fetch > Session.__enter__\nCONFLICT: fetch > Session.__exit__\nFORBIDDEN: fetch > Later.__aenter__",
    ),
    "a context manager whose __exit__ swallows everything": (
        """
        class Quiet:
            def __enter__(self): ...
            def __exit__(self, *args):
                return True
        class Loud:
            def __enter__(self): ...
            def __exit__(self, *args):
                return None
        @tool
        def fetch():
            with Quiet():
                load()
            with Loud():
                other()
        def load():
            raise not_found("x")
        def other():
            raise conflict("x")
        """,
        "CONFLICT: fetch > other",
    ),
    "a generator as a context manager: before, around and after the yield": (
        """
        from contextlib import asynccontextmanager, contextmanager
        @contextmanager
        def session():
            before()
            try:
                yield 1
            except KeyError:
                pass
            finally:
                after()
        @asynccontextmanager
        async def later():
            try:
                yield
            except Exception as error:
                raise forbidden("x") from error
        def before():
            raise not_found("x")
        def after():
            raise conflict("x")
        def load():
            raise KeyError("x")
            raise OSError("x")
        @tool
        async def fetch():
            with session() as one:
                load()
            async with later():
                load()
        """,
        ("NOT_FOUND: fetch > session > before\nCONFLICT: fetch > session > after\nOSError: fetch > load\n"
        "FORBIDDEN: fetch > later"),
    ),
    "a generator as a context manager that is a method, and as a decorator": (
        """
        from contextlib import contextmanager
        class Store:
            @contextmanager
            def converted(self):
                try:
                    yield
                except KeyError as error:
                    raise not_found("x") from error
        @contextmanager
        def quiet():
            try:
                yield
            except OSError:
                pass
        @quiet()
        def other():
            raise OSError("x")
            raise ValueError("x")
        @tool
        def fetch(store: Store):
            with store.converted():
                load()
            other()
        def load():
            raise KeyError("x")
        """,
        "NOT_FOUND: fetch > Store.converted\nValueError: fetch > other",
    ),
    "what a context manager yields": (
        """
        from collections.abc import AsyncIterator, Iterator
        from contextlib import asynccontextmanager, contextmanager
        class Store:
            def get(self):
                raise not_found("x")
            async def load(self):
                raise conflict("x")
        @contextmanager
        def noted() -> Iterator[Store]:
            yield Store()
        @asynccontextmanager
        async def plain():
            store = Store()
            yield store
        @tool
        async def fetch():
            with noted() as store:
                store.get()
            async with plain() as other:
                await other.load()
        """,
        "NOT_FOUND: fetch > Store.get\nCONFLICT: fetch > Store.load",
    ),
    "mutual recursion over modules": (
        """
        from a import one
        @tool
        def fetch():
            one(3)
        #-- a.py
        import b
        def one(n):
            if n:
                b.two(n)
            raise not_found("x")
        #-- b.py
        import a
        def two(n):
            try:
                a.one(n - 1)
            except CodedError:
                raise conflict("x")
        """,
        "NOT_FOUND: fetch > one\nCONFLICT: fetch > one > two",
    ),
    "a method that calls itself through another": (
        """
        class Tree:
            def __init__(self, left: "Tree | None"):
                self.left = left
            def walk(self):
                if self.left:
                    self.left.step()
            def step(self):
                self.walk()
                raise not_found("x")
        @tool
        def fetch(tree: Tree):
            tree.walk()
        """,
        "NOT_FOUND: fetch > Tree.walk > Tree.step",
    ),
    "an unknown text that is compared": (
        """
        def translate(kind):
            if kind == "gone":
                return not_found("x")
            match kind:
                case "taken" | "locked":
                    return conflict("x")
                case "slow":
                    raise rate_limited("x")
            return forbidden("x")
        @tool
        def fetch(kind: str):
            raise translate(kind)
        """,
        "NOT_FOUND: fetch > translate\nCONFLICT: fetch > translate\nFORBIDDEN: fetch > translate\nRATE_LIMITED: fetch > translate",
    ),
    "a text that is changed before it is compared": (
        """
        def fail(kind):
            kind = other(kind)
            if kind == 'a':
                raise not_found('x')
        @tool
        def fetch():
            fail('b')
        """,
        "NOT_FOUND: fetch > fail\n?: other",
    ),
}  # fmt: skip
