"""Near misses of the cases that are followed: errors caught on the way, never raised, or unknown.

Impossible errors are not reported, and unknown ones are never left out silently.
"""

from __future__ import annotations

from typing import Final

CASES: Final[dict[str, tuple[str, str]]] = {
    "a subclass that nothing in sight imports": (
        """
        from base import Store
        @tool
        def fetch(store: Store):
            store.get()
        #-- base.py
        class Store:
            def get(self):
                raise not_found("x")
        #-- far.py
        from base import Store
        class Far(Store):
            def get(self):
                raise conflict("x")
        """,
        "NOT_FOUND: fetch > Store.get",
    ),
    "an instance that is made has no subclasses": (
        """
        class Store:
            def get(self):
                raise not_found("x")
        class Fast(Store):
            def get(self):
                raise conflict("x")
        def make():
            return Store()
        @tool
        def fetch():
            make().get()
        """,
        "NOT_FOUND: fetch > Store.get",
    ),
    "a class that has half of a protocol, and an abstract one of all of it": (
        """
        from abc import ABC, abstractmethod
        from typing import Protocol
        class Store(Protocol):
            name: str
            def get(self) -> str: ...
        class Half:
            def get(self) -> str:
                raise not_found("x")
        class Base(ABC):
            name = "x"
            @abstractmethod
            def get(self) -> str: ...
        @tool
        def fetch(store: Store):
            store.get()
        """,
        "?: store.get",
    ),
    "an override is caught like what it overrides": (
        """
        class Store:
            def get(self):
                raise KeyError("x")
        class Fast(Store):
            def get(self):
                raise IndexError("x")
        @tool
        def fetch(store: Store):
            try:
                store.get()
            except LookupError:
                pass
        """,
        "",
    ),
    "a helper with an unknown argument": (
        """
        def helper(store):
            store.load()
        @tool
        def fetch(name: str):
            helper(build(name))
        """,
        "?: build\n?: store.load",
    ),
    "an object that is made of itself, over and over": (
        """
        class Node:
            def __init__(self, below):
                self.below = below
            def walk(self):
                self.below.walk()
                raise not_found("x")
        def grow(node):
            return grow(Node(node))
        @tool
        def fetch():
            Node(Node(Node(Node(Node(None))))).walk()
            grow(Node(None))
        """,
        "NOT_FOUND: fetch > Node.walk\n?: self.below.walk",
    ),
    "a callback that is kept and never called": (
        """
        class Runner:
            def __init__(self, what):
                self.what = what
            def go(self):
                return str(self.what)
        def load():
            raise not_found("x")
        @tool
        def fetch():
            Runner(load).go()
        """,
        "",
    ),
    "a default that is not used, since something is given": (
        """
        def load():
            raise not_found("x")
        def other():
            raise conflict("x")
        def run(what=load):
            what()
        @tool
        def fetch(options: dict):
            run(other)
            run(**options)
        """,
        "CONFLICT: fetch > run > other\n?: what",
    ),
    "an error that is kept and never raised, and one that another clause kept": (
        """
        @tool
        def fetch():
            last = None
            try:
                load()
            except KeyError as error:
                last = error
            except ValueError as error:
                kept = str(error)
            return last
        def load():
            raise KeyError("x")
            raise ValueError("x")
        """,
        "",
    ),
    "an error that is raised late, within a clause that catches it": (
        """
        @tool
        def fetch():
            last = None
            try:
                load()
            except KeyError as error:
                last = error
            try:
                raise last
            except LookupError:
                pass
        def load():
            raise KeyError("x")
        """,
        "",
    ),
    "operators on what is no object of the project": (
        """
        class A:
            def __add__(self, other):
                raise not_found("x")
            def __len__(self):
                raise conflict("x")
        @tool
        def fetch(n: int, items: list[str]):
            n + 1
            len(items)
            if items:
                return items[0]
        """,
        "",
    ),
    "operators that are caught, and those that `is` and a chain of attributes do not run": (
        """
        class A:
            size: int
            def __eq__(self, other):
                raise not_found("x")
            def __bool__(self):
                raise conflict("x")
            def __getitem__(self, key):
                raise KeyError("x")
        @tool
        def fetch(a: A):
            a is None
            a.size
            try:
                a["x"]
            except KeyError:
                pass
        """,
        "",
    ),
    "__getattr__ does not answer for what is there, or for what a base outside may have": (
        """
        import acme
        class App:
            known: int
            def __init__(self):
                self.made = 1
            def __getattr__(self, name):
                raise not_found("x")
        class Other(acme.Base):
            def __getattr__(self, name):
                raise conflict("x")
        @tool
        def fetch(app: App, other: Other):
            app.known
            app.made
            other.anything
        """,
        "",
    ),
    "a module whose name is not a constant": (
        """
        import importlib
        @tool
        def fetch(name: str):
            importlib.import_module(name).load()
        #-- store.py
        def load():
            raise not_found("x")
        """,
        "?: importlib.import_module().load",
    ),
    "an assertion that is caught, and sys.exit in a bare except": (
        """
        import sys
        @tool
        def fetch():
            try:
                assert 1 > 2
            except AssertionError:
                pass
            try:
                sys.exit(1)
            except:
                pass
        """,
        "",
    ),
    "isinstance of the other branch": (
        """
        class A:
            def get(self):
                raise not_found("x")
        @tool
        def fetch(given: object):
            if isinstance(given, A):
                return
            given.get()
        """,
        "?: given.get",
    ),
}  # fmt: skip
