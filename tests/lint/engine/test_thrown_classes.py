"""Calls through objects: whichever class an object is an instance of, its methods are followed."""

from __future__ import annotations

from typing import Final

import pytest

from tests.lint.engine.thrown_cases import Cases, Gap, expected_of, found_of, params

STORE = """
        #-- store.py
        class Store:
            def get(self):
                raise not_found("x")
            async def load(self):
                raise conflict("x")
"""

CASES: Final[Cases] = {
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
    "an alias of a class, by assignment, by `type` and by NewType": (
        """
        from typing import NewType, TypeAlias
        from store import Store
        Alias = Store
        Noted: TypeAlias = "Store"
        Mine = NewType("Mine", Store)
        @tool
        def fetch(a: Alias, b: Noted, c: Mine):
            a.get()
            b.get()
            c.get()
        """ + STORE,
        "NOT_FOUND: fetch > Store.get",
    ),
    "a type variable with a bound": (
        """
        from typing import TypeVar
        from store import Store
        T = TypeVar("T", bound=Store)
        @tool
        def fetch(store: Store):
            helper(store)
        def helper(store: T) -> T:
            store.get()
            return store
        """ + STORE,
        "NOT_FOUND: fetch > helper > Store.get",
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
    "a property, a cached property, and a chain of both": (
        """
        from functools import cached_property
        class Client:
            @property
            def token(self) -> str:
                raise forbidden("x")
            def call(self):
                raise timeout("x")
        class App:
            @cached_property
            def client(self) -> Client:
                raise conflict("x")
        @tool
        def fetch(app: App):
            app.client.call()
            return app.client.token
        """,
        "CONFLICT: fetch > App.client\nTIMEOUT: fetch > Client.call\nFORBIDDEN: fetch > Client.token",
    ),
    "a setter and a deleter": (
        """
        class App:
            @property
            def size(self):
                return 1
            @size.setter
            def size(self, value):
                raise conflict("x")
            @size.deleter
            def size(self):
                raise forbidden("x")
        @tool
        def fetch(app: App):
            app.size = 3
            app.size += 1
            del app.size
        """,
        "CONFLICT: fetch > App.size\nFORBIDDEN: fetch > App.size",
    ),
    "reading a property runs its getter alone": (
        """
        class App:
            @property
            def size(self):
                raise not_found("x")
            @size.setter
            def size(self, value):
                raise conflict("x")
        @tool
        def fetch(app: App):
            return app.size
        """,
        "NOT_FOUND: fetch > App.size",
    ),
    "a property made with property()": (
        """
        class App:
            def _read(self):
                raise not_found("x")
            size = property(_read)
        @tool
        def fetch(app: App):
            return app.size
        """,
        "NOT_FOUND: fetch > App._read",
    ),
    "a property read from the result of a call": (
        """
        class App:
            @property
            def size(self):
                raise not_found("x")
        def make() -> App: ...
        @tool
        def fetch():
            return make().size
        """,
        "NOT_FOUND: fetch > App.size",
    ),
    "a descriptor": (
        """
        class Field:
            def __get__(self, instance, owner):
                raise not_found("x")
            def __set__(self, instance, value):
                raise conflict("x")
        class App:
            size = Field()
        @tool
        def fetch(app: App):
            app.size = 1
            return app.size
        """,
        "NOT_FOUND: fetch > Field.__get__\nCONFLICT: fetch > Field.__set__",
    ),
    "__getattr__ answers for attributes that are not there": (
        """
        class App:
            known = 1
            def __getattr__(self, name):
                raise not_found("x")
        @tool
        def fetch(app: App):
            app.known
            return app.other
        """,
        "NOT_FOUND: fetch > App.__getattr__",
    ),
    "a method of a subclass behind the base's annotation": (
        """
        from base import Store
        import sql, memory
        @tool
        def fetch(store: Store):
            store.get()
        #-- base.py
        from abc import ABC, abstractmethod
        class Store(ABC):
            @abstractmethod
            def get(self): ...
        #-- sql.py
        from base import Store
        class SqlStore(Store):
            def get(self):
                raise not_found("x")
        #-- memory.py
        from base import Store
        class MemoryStore(Store):
            def get(self):
                raise conflict("x")
        """,
        "NOT_FOUND: fetch > SqlStore.get\nCONFLICT: fetch > MemoryStore.get",
    ),
    "a method that a subclass overrides, and the base has too": (
        """
        class Store:
            def get(self):
                raise not_found("x")
        class Fast(Store):
            def get(self):
                raise conflict("x")
        class Faster(Fast): ...
        @tool
        def fetch(store: Store):
            store.get()
        """,
        "NOT_FOUND: fetch > Store.get\nCONFLICT: fetch > Fast.get",
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
    "a protocol with one implementation": (
        """
        from typing import Protocol
        class Store(Protocol):
            def get(self) -> str: ...
        class SqlStore:
            def get(self) -> str:
                raise not_found("x")
        class Unrelated:
            def put(self) -> str:
                raise conflict("x")
        @tool
        def fetch(store: Store):
            store.get()
        """,
        "NOT_FOUND: fetch > SqlStore.get",
    ),
    "a protocol with several implementations": (
        """
        from typing import Protocol
        class Store(Protocol):
            def get(self) -> str: ...
            def put(self) -> str: ...
        class SqlStore:
            def get(self) -> str:
                raise not_found("x")
            def put(self) -> str: ...
        class MemoryStore:
            def get(self) -> str:
                raise conflict("x")
            def put(self) -> str: ...
        class Half:
            def get(self) -> str:
                raise forbidden("x")
        @tool
        def fetch(store: Store):
            store.get()
        """,
        "NOT_FOUND: fetch > SqlStore.get\nCONFLICT: fetch > MemoryStore.get",
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
    "constructors: __init__, __new__, one inherited, one of a metaclass": (
        """
        class A:
            def __init__(self):
                raise not_found("x")
        class B(A): ...
        class C:
            def __new__(cls):
                raise conflict("x")
        class Meta(type):
            def __call__(cls, *args):
                raise forbidden("x")
        class D(metaclass=Meta): ...
        @tool
        def fetch():
            A()
            B()
            C()
            D()
        """,
        "NOT_FOUND: fetch > A.__init__\nCONFLICT: fetch > C.__new__\nFORBIDDEN: fetch > Meta.__call__",
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
        KINDS = {"a": A, "b": B}
        @tool
        def fetch(name: str):
            kind = KINDS[name]
            kind().get()
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
    "a method bound to a name, and one got with getattr": (
        """
        class A:
            def get(self):
                raise not_found("x")
            def put(self):
                raise conflict("x")
        @tool
        def fetch(a: A):
            run = a.get
            run()
            getattr(a, "put")()
        """,
        "NOT_FOUND: fetch > A.get\nCONFLICT: fetch > A.put",
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
    "isinstance narrows an object that nobody annotated": (
        """
        class A:
            def get(self):
                raise not_found("x")
        @tool
        def fetch(given: object):
            if isinstance(given, A):
                given.get()
        """,
        "NOT_FOUND: fetch > A.get",
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
    "items of containers": (
        """
        from store import Store
        @tool
        def fetch(stores: list[Store], by: dict[str, Store], pair: tuple[Store, int]):
            stores[0].get()
            for name, each in by.items():
                each.get()
            for each in by.values():
                each.get()
            first, second = pair
            first.get()
            [each.get() for each in stores]
            by.get("x").get()
            for n, each in enumerate(stores):
                each.get()
        """ + STORE,
        "NOT_FOUND: fetch > Store.get",
    ),
    "a container of the module": (
        """
        from store import Store
        STORES = {"a": Store(), "b": Store()}
        @tool
        def fetch(name: str):
            STORES[name].get()
            STORES.get(name).get()
        """ + STORE,
        "NOT_FOUND: fetch > Store.get",
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
    "a value of a third party stays outside": (
        """
        import acme
        class App:
            def __init__(self):
                self.client = acme.Client()
        @tool
        def fetch(app: App):
            app.client.call().more[0].get()
        """,
        "",
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
    "an unannotated parameter of a helper has what it is given": (
        """
        from store import Store
        @tool
        def fetch():
            helper(Store())
        def helper(store):
            store.get()
        """ + STORE,
        "NOT_FOUND: fetch > helper > Store.get",
    ),
    "an unannotated argument of a constructor has what it is given": (
        """
        from store import Store
        class Service:
            def __init__(self, store):
                self.store = store
            def run(self):
                self.store.get()
        service = Service(Store())
        @tool
        def fetch():
            service.run()
        """ + STORE,
        "NOT_FOUND: fetch > Service.run > Store.get",
    ),
}  # fmt: skip


GAPS: Final[dict[str, Gap]] = {}
"""What is not answered as it should be, and how."""


@pytest.mark.parametrize("name", params(CASES, GAPS))
def test_calls_through_objects(project, name):
    """A method is followed wherever the class of its object can be told; elsewhere the call is unknown."""
    text, expected = CASES[name]
    assert expected_of(expected) == found_of(project, text)
