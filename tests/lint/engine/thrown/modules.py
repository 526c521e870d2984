"""Projects of several modules: a name is resolved however it is imported.

A name means the same wherever it is imported, and is unknown if the module does not define it.
"""

from __future__ import annotations

from typing import Final

CASES: Final[dict[str, tuple[str, str]]] = {
    "relative imports, up and across": (
        """
        from app.tools.fetch import fetch
        #-- app/__init__.py
        #-- app/tools/__init__.py
        #-- app/tools/fetch.py
        from ..store import load
        from .. import other
        from . import near
        from .near import deep as deeper
        @tool
        def fetch():
            load()
            other.run()
            near.go()
            deeper()
        #-- app/tools/near.py
        def go():
            raise forbidden("x")
        def deep():
            raise timeout("x")
        #-- app/store.py
        def load():
            raise not_found("x")
        #-- app/other.py
        def run():
            raise conflict("x")
        """,
        "NOT_FOUND: fetch > load\nCONFLICT: fetch > run\nFORBIDDEN: fetch > go\nTIMEOUT: fetch > deep",
    ),
    "re-exports through two packages, renamed": (
        """
        from app import get
        @tool
        def fetch():
            get()
        #-- app/__init__.py
        from .inner import load as get
        #-- app/inner/__init__.py
        from .deep import really as load
        #-- app/inner/deep.py
        def really():
            raise not_found("x")
        """,
        "NOT_FOUND: fetch > really",
    ),
    "star imports, chained, without private names": (
        """
        from app.all import *
        @tool
        def fetch():
            load()
            _hidden()
        #-- app/__init__.py
        #-- app/all.py
        from .store import *
        #-- app/store.py
        def load():
            raise not_found("x")
        def _hidden():
            raise conflict("x")
        """,
        "NOT_FOUND: fetch > load\n?: _hidden",
    ),
    "a star import limited by __all__": (
        """
        from store import *
        @tool
        def fetch():
            load()
            other()
        #-- store.py
        __all__ = ["load"]
        def load():
            raise not_found("x")
        def other():
            raise conflict("x")
        """,
        "NOT_FOUND: fetch > load\n?: other",
    ),
    "a namespace package": (
        """
        from space.part.store import load
        import space.part.other as other
        @tool
        def fetch():
            load()
            other.run()
        #-- space/part/store.py
        def load():
            raise not_found("x")
        #-- space/part/other.py
        def run():
            raise conflict("x")
        """,
        "NOT_FOUND: fetch > load\nCONFLICT: fetch > run",
    ),
    "a src layout": (
        """
        x = 1
        #-- src/app/__init__.py
        #-- src/app/server.py
        from app.store import load
        import app.other
        @tool
        def fetch():
            load()
            app.other.run()
        #-- src/app/store.py
        def load():
            raise not_found("x")
        #-- src/app/other.py
        def run():
            raise conflict("x")
        """,
        "NOT_FOUND: fetch > load\nCONFLICT: fetch > run",
    ),
    "a conditional import": (
        """
        try:
            from fast import load
        except ImportError:
            from slow import load
        @tool
        def fetch():
            load()
        #-- fast.py
        def load():
            raise not_found("x")
        #-- slow.py
        def load():
            raise conflict("x")
        """,
        "NOT_FOUND: fetch > load\nCONFLICT: fetch > load",
    ),
    "an import of a third party with a fallback in the project": (
        """
        try:
            from acme import load
        except ImportError:
            def load():
                raise not_found("x")
        @tool
        def fetch():
            load()
        """,
        "NOT_FOUND: fetch > load",
    ),
    "an import inside the function": (
        """
        @tool
        def fetch():
            from store import load
            import other as o
            load()
            o.run()
        #-- store.py
        def load():
            raise not_found("x")
        #-- other.py
        def run():
            raise conflict("x")
        """,
        "NOT_FOUND: fetch > load\nCONFLICT: fetch > run",
    ),
    "importlib": (
        """
        import importlib
        store = importlib.import_module("store")
        @tool
        def fetch():
            store.load()
        #-- store.py
        def load():
            raise not_found("x")
        """,
        "NOT_FOUND: fetch > load",
    ),
    "a module held in a name and handed over": (
        """
        import store
        backend = store
        @tool
        def fetch():
            backend.load()
        #-- store.py
        def load():
            raise not_found("x")
        """,
        "NOT_FOUND: fetch > load",
    ),
    "modules that import each other": (
        """
        import a
        @tool
        def fetch():
            a.run()
        #-- a.py
        import b
        def run():
            b.run()
        #-- b.py
        import a
        def run():
            raise not_found("x")
        """,
        "NOT_FOUND: fetch > run > run",
    ),
    "a module of the project that is named like one of the standard library": (
        """
        from app import json
        @tool
        def fetch():
            json.load()
        #-- app/__init__.py
        #-- app/json.py
        def load():
            raise not_found("x")
        """,
        "NOT_FOUND: fetch > load",
    ),
    "a submodule that only its package imports": (
        """
        import app
        @tool
        def fetch():
            app.store.load()
        #-- app/__init__.py
        from . import store
        #-- app/store.py
        def load():
            raise not_found("x")
        """,
        "NOT_FOUND: fetch > load",
    ),
    "a name that the module does not have": (
        """
        from store import nothing
        import store
        @tool
        def fetch():
            nothing()
            store.other()
        #-- store.py
        x = 1
        """,
        "?: nothing\n?: store.other",
    ),
    "exceptions of one module, caught by another's alias": (
        """
        from errors import Gone
        import errors as e
        from store import load
        @tool
        def fetch():
            try:
                load()
            except e.Missing:
                raise conflict("x")
        #-- errors.py
        class Gone(Exception): ...
        Missing = Gone
        #-- store.py
        from errors import Missing
        def load():
            raise Missing("x")
            raise KeyError("x")
        """,
        "CONFLICT: fetch\nKeyError: fetch > load",
    ),
    "a function that another module replaces is still the one that is written": (
        """
        import store
        @tool
        def fetch():
            store.load()
        #-- store.py
        def load():
            raise not_found("x")
        #-- patch.py
        import store
        def other():
            raise conflict("x")
        store.load = other
        """,
        "NOT_FOUND: fetch > load",
    ),
    "the handler is in another module than the registration": (
        """
        from mcpcore import Server
        from handlers import fetch
        server = Server("x")
        server.add_tool(fetch)
        #-- handlers.py
        from store import load
        def fetch():
            load()
        #-- store.py
        def load():
            raise not_found("x")
        """,
        "NOT_FOUND: fetch > load",
    ),
    "__getattr__ of a module": (
        """
        import lazy
        @tool
        def fetch():
            lazy.anything()
        #-- lazy.py
        def __getattr__(name):
            raise AttributeError(name)
        """,
        "?: lazy.anything",
    ),
}  # fmt: skip
