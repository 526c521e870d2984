"""Method calls are followed through whatever class an object is an instance of.

A method is followed if the class of its object is known; otherwise the call is unresolved.
"""

from __future__ import annotations

from typing import Final

STORE = """
        #-- store.py
        class Store:
            def get(self):
                raise not_found("x")
            async def load(self):
                raise conflict("x")
"""

CASES: Final[dict[str, tuple[str, str]]] = {
    "an annotated parameter, quoted, optional, a union with None and Annotated": (
        """
        from typing import Annotated, Optional, Union
        from store import Store
        @tool
        def fetch(a: "Store", b: Optional[Store], c: "Store | None", d: Annotated[Store, 1], e: Union[None, Store]):
            a.get()
            b.get()
            c.get()
            d.get()
            e.get()
        """ + STORE,
        "NOT_FOUND: fetch > Store.get",
    ),
    "a union of two classes": (
        """
        class A:
            def get(self):
                raise not_found("x")
        class B:
            def get(self):
                raise conflict("x")
        @tool
        def fetch(store: A | B):
            store.get()
        """,
        "NOT_FOUND: fetch > A.get\nCONFLICT: fetch > B.get",
    ),
    "an alias of a class, by assignment and by `TypeAlias`": (
        """
        from typing import TypeAlias
        from store import Store
        Alias = Store
        Noted: TypeAlias = "Store"
        @tool
        def fetch(a: Alias, b: Noted):
            a.get()
            b.get()
        """ + STORE,
        "NOT_FOUND: fetch > Store.get",
    ),
    "a TYPE_CHECKING import": (
        """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from store import Store
        @tool
        def fetch(store: "Store"):
            store.get()
        """ + STORE,
        "NOT_FOUND: fetch > Store.get",
    ),
    "attributes: annotated, assigned in __init__, of the class, several deep": (
        """
        from store import Store
        class Inner:
            noted: Store
            def __init__(self, given: Store):
                self.given = given
                self.made = Store()
                self.first, self.second = given, 1
        class Outer:
            inner: Inner
            shared = Store()
        @tool
        async def fetch(outer: Outer):
            outer.inner.noted.get()
            await outer.inner.given.load()
            outer.inner.made.get()
            outer.inner.first.get()
            outer.shared.get()
        """ + STORE,
        "NOT_FOUND: fetch > Store.get\nCONFLICT: fetch > Store.load",
    ),
    "self.a.b.method()": (
        """
        class Client:
            def call(self):
                raise timeout("x")
        class Gateway:
            def __init__(self):
                self.client = Client()
        class Service:
            def __init__(self, gateway: Gateway):
                self.gateway = gateway
            @tool
            def fetch(self):
                return self.gateway.client.call()
        """,
        "TIMEOUT: Service.fetch > Client.call",
    ),
    "a dataclass field, and one with a default factory": (
        """
        from dataclasses import dataclass, field
        from store import Store
        @dataclass
        class App:
            store: Store
            other: "Store | None" = None
            made: Store = field(default_factory=Store)
        @tool
        def fetch(app: App):
            app.store.get()
            app.other.get()
            app.made.get()
        """ + STORE,
        "NOT_FOUND: fetch > Store.get",
    ),
    "a dataclass, its constructor inherited": (
        """
        from dataclasses import dataclass
        @dataclass
        class Base:
            n: int
            def __post_init__(self):
                if self.n < 0:
                    raise conflict("x")
        class Sub(Base): ...
        @tool
        def fetch():
            Sub(1)
        """,
        "CONFLICT: fetch > Base.__post_init__",
    ),
    "an instance that is made on the spot has its own class": (
        """
        class Store:
            def get(self):
                raise not_found("x")
        class Fast(Store):
            def get(self):
                raise conflict("x")
        @tool
        def fetch():
            store = Store()
            store.get()
        """,
        "NOT_FOUND: fetch > Store.get",
    ),
    "an abstract method without an implementation that can be seen": (
        """
        from abc import ABC, abstractmethod
        class Store(ABC):
            @abstractmethod
            def get(self): ...
        @tool
        def fetch(store: Store):
            store.get()
        """,
        "?: store.get",
    ),
    "a protocol that nothing here implements": (
        """
        from typing import Protocol
        class Store(Protocol):
            def get(self) -> str: ...
        @tool
        def fetch(store: Store):
            store.get()
        """,
        "?: store.get",
    ),
    "the template method of a base calls the subclass": (
        """
        class Base:
            def run(self):
                self.before()
                return self.work()
            def before(self): ...
            def work(self):
                raise NotImplementedError
        class Job(Base):
            def work(self):
                raise not_found("x")
        @tool
        def fetch(job: Job):
            job.run()
        """,
        "NOT_FOUND: fetch > Base.run > Job.work",
    ),
    "super() through mixins, in the order of Python": (
        """
        class Base:
            def get(self):
                raise not_found("x")
        class A(Base):
            def get(self):
                check()
                return super().get()
        class B(Base):
            def get(self):
                raise conflict("x")
        class C(A, B): ...
        def check():
            raise forbidden("x")
        @tool
        def fetch():
            C().get()
        """,
        "FORBIDDEN: fetch > A.get > check\nCONFLICT: fetch > A.get > B.get",
    ),
    "a diamond: the first of the linearization": (
        """
        class Base:
            def get(self):
                raise not_found("x")
        class A(Base): ...
        class B(Base):
            def get(self):
                raise conflict("x")
        class C(A, B): ...
        @tool
        def fetch():
            C().get()
        """,
        "CONFLICT: fetch > B.get",
    ),
    "super() with arguments, and a call through the class": (
        """
        class Base:
            def get(self):
                raise not_found("x")
        class A(Base):
            def get(self):
                return super(A, self).get()
        class B(Base):
            def get(self):
                return Base.get(self)
        @tool
        def fetch():
            A().get()
            B().get()
        """,
        "NOT_FOUND: fetch > A.get > Base.get\nNOT_FOUND: fetch > B.get > Base.get",
    ),
    "a class that is chosen": (
        """
        class A:
            def __init__(self):
                raise not_found("x")
            def get(self): ...
        class B:
            def get(self):
                raise conflict("x")
        @tool
        def fetch(name: str):
            (A if name else B)().get()
        """,
        "NOT_FOUND: fetch > A.__init__\nCONFLICT: fetch > B.get",
    ),
    "a class that is handed over": (
        """
        class A:
            def __init__(self):
                raise not_found("x")
            def get(self):
                raise conflict("x")
        def make(kind: type[A]):
            return kind()
        @tool
        def fetch():
            make(A).get()
        """,
        "NOT_FOUND: fetch > make > A.__init__\nCONFLICT: fetch > A.get",
    ),
    "alternative constructors, Self and chained calls": (
        """
        from typing import Self
        class Query:
            @classmethod
            def of(cls) -> Self:
                return cls()
            def where(self) -> "Query":
                raise conflict("x")
            def run(self) -> Self:
                raise not_found("x")
        @tool
        def fetch():
            Query.of().where().run()
        """,
        "CONFLICT: fetch > Query.where\nNOT_FOUND: fetch > Query.run",
    ),
    "a function held in an attribute": (
        """
        def load():
            raise not_found("x")
        class App:
            run = staticmethod(load)
            def __init__(self):
                self.loader = load
                self.other = lambda: save()
        def save():
            raise conflict("x")
        @tool
        def fetch(app: App):
            app.loader()
            app.run()
            app.other()
        """,
        "NOT_FOUND: fetch > load\nCONFLICT: fetch > App.__init__.<lambda> > save",
    ),
    "an enum with methods": (
        """
        from enum import Enum
        class Kind(Enum):
            A = "a"
            def check(self):
                raise conflict("x")
        @tool
        def fetch(kind: Kind):
            kind.check()
            Kind.A.check()
            Kind("a").check()
        """,
        "CONFLICT: fetch > Kind.check",
    ),
    "a NamedTuple and a generic class": (
        """
        from typing import Generic, NamedTuple, TypeVar
        T = TypeVar("T")
        class Pair(NamedTuple):
            a: int
            def check(self):
                raise conflict("x")
        class Box(Generic[T]):
            def open(self) -> T:
                raise not_found("x")
        @tool
        def fetch(box: Box[int]):
            Pair(1).check()
            box.open()
        """,
        "CONFLICT: fetch > Pair.check\nNOT_FOUND: fetch > Box.open",
    ),
    "a nested class": (
        """
        class Outer:
            class Inner:
                def __init__(self):
                    raise not_found("x")
                def get(self):
                    raise conflict("x")
        @tool
        def fetch():
            Outer.Inner().get()
        """,
        "NOT_FOUND: fetch > Outer.Inner.__init__\nCONFLICT: fetch > Outer.Inner.get",
    ),
    "a class made in a function": (
        """
        @tool
        def fetch():
            class Local:
                def get(self):
                    raise not_found("x")
            Local().get()
        """,
        "NOT_FOUND: fetch > fetch.Local.get",
    ),
    "a container that fills up elsewhere": (
        """
        from store import Store
        STORES: dict[str, Store] = {}
        @tool
        def fetch(name: str):
            store = STORES.get(name)
            if store is None:
                store = STORES[name] = Store()
            store.get()
        """ + STORE,
        "NOT_FOUND: fetch > Store.get",
    ),
    "an instance behind a getter with a cache": (
        """
        from functools import lru_cache
        from store import Store
        _store: Store | None = None
        def get_store() -> Store:
            global _store
            if _store is None:
                _store = Store()
            return _store
        @lru_cache(maxsize=1)
        def other():
            return Store()
        @tool
        async def fetch():
            get_store().get()
            await other().load()
        """ + STORE,
        "NOT_FOUND: fetch > Store.get\nCONFLICT: fetch > Store.load",
    ),
    "a class of the project that inherits from a third party": (
        """
        import acme
        class Client(acme.Base):
            def own(self):
                raise not_found("x")
        @tool
        def fetch(client: Client):
            client.own()
            client.theirs()
        """,
        "NOT_FOUND: fetch > Client.own",
    ),
    "an unannotated parameter stays unknown": (
        """
        @tool
        def fetch(store):
            store.load()
        """,
        "?: store.load",
    ),
}  # fmt: skip
