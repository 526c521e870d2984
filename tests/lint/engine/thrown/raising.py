"""Every form of `raise`, however the error was created.

Exactly the errors that Python would raise are found, each with its call path; others are unknown.
"""

from __future__ import annotations

from typing import Final

CASES: Final[dict[str, tuple[str, str]]] = {
    "a factory under another name": (
        """
        from mcpcore import not_found as missing
        import mcpcore as m
        import mcpcore.errors
        @tool
        def fetch(n: int):
            if n == 1:
                raise missing("x")
            if n == 2:
                raise m.conflict("x")
            raise mcpcore.contract.errors.timeout("x")
        """,
        "NOT_FOUND: fetch\nCONFLICT: fetch\nTIMEOUT: fetch",
    ),
    "an error made first and raised later": (
        """
        @tool
        def fetch():
            error = load()
            raise error
        def load():
            error = not_found("x")
            error.add_note("y")
            raise error
        """,
        "NOT_FOUND: fetch > load",
    ),
    "an error made in one branch and raised after it": (
        """
        @tool
        def fetch(n: int):
            problem = None
            if n == 1:
                problem = not_found("x")
            elif n == 2:
                problem = conflict("x")
            if problem is not None:
                raise problem
        """,
        "NOT_FOUND: fetch\nCONFLICT: fetch",
    ),
    "a conditional, an `or` and a walrus": (
        """
        @tool
        def fetch(n: int):
            if n == 1:
                raise not_found("x") if n else conflict("x")
            if n == 2:
                raise None or forbidden("x")
            if (late := timeout("x")):
                raise late
        """,
        "NOT_FOUND: fetch\nCONFLICT: fetch\nFORBIDDEN: fetch\nTIMEOUT: fetch",
    ),
    "an error of the module": (
        """
        from store import GONE
        import store
        CLASH = conflict("x")
        @tool
        def fetch(n: int):
            if n == 1:
                raise GONE
            if n == 2:
                raise store.SLOW
            raise CLASH
        #-- store.py
        GONE = not_found("x")
        SLOW = timeout("x")
        """,
        "NOT_FOUND: fetch\nTIMEOUT: fetch\nCONFLICT: fetch",
    ),
    "an error held in an attribute": (
        """
        class Store:
            gone = not_found("x")
            def __init__(self):
                self.clash = conflict("x")
            def get(self, n):
                if n:
                    raise self.gone
                raise self.clash
        @tool
        def fetch(n: int):
            Store().get(n)
        """,
        "?: raise self.gone\n?: raise self.clash",
    ),
    "errors looked up with get": (
        """
        ERRORS = {404: not_found, 409: conflict}
        @tool
        def fetch(status: int):
            make = ERRORS.get(status, forbidden)
            raise make("x")
        """,
        "?: make",
    ),
    "raise await": (
        """
        from store import build
        @tool
        async def fetch():
            raise await build()
        #-- store.py
        async def build():
            return not_found("x")
        """,
        "NOT_FOUND: fetch > build",
    ),
    "a factory of the project through several modules": (
        """
        from app.errors import missing
        @tool
        def fetch():
            raise missing("x")
        #-- app/__init__.py
        #-- app/errors.py
        from .base import build
        def missing(text):
            return build(text)
        #-- app/base.py
        def build(text):
            error = not_found(text)
            return error
        """,
        "NOT_FOUND: fetch > missing > build",
    ),
    "a factory that is a method": (
        """
        class Errors:
            def missing(self):
                return not_found("x")
            @classmethod
            def clash(cls):
                return conflict("x")
            @staticmethod
            def slow():
                return timeout("x")
        errors = Errors()
        @tool
        def fetch(n: int):
            if n == 1:
                raise errors.missing()
            if n == 2:
                raise Errors.clash()
            raise Errors.slow()
        """,
        "NOT_FOUND: fetch > Errors.missing\nCONFLICT: fetch > Errors.clash\nTIMEOUT: fetch > Errors.slow",
    ),
    "a factory that raises instead of returning": (
        """
        @tool
        def fetch(n: int):
            raise build(n)
        def build(n):
            if n:
                raise conflict("x")
            return not_found("x")
        """,
        "NOT_FOUND: fetch > build\nCONFLICT: fetch > build",
    ),
    "the error of a factory is bound to a name first": (
        """
        @tool
        def fetch():
            error = build()
            raise error
        def build():
            return not_found("x")
        """,
        "NOT_FOUND: fetch > build",
    ),
    "what a factory returns gets a traceback, or is bound by a walrus": (
        """
        @tool
        def fetch(n: int):
            if n:
                raise build().with_traceback(None)
            if (error := build()):
                raise error from None
        def build():
            return not_found("x")
        """,
        "NOT_FOUND: fetch > build",
    ),
    "a lambda that makes the error": (
        """
        make = lambda text: conflict(text)
        @tool
        def fetch(n: int):
            if n:
                raise (lambda: not_found("x"))()
            raise make("x")
        """,
        "NOT_FOUND: fetch > fetch.<lambda>\nCONFLICT: fetch > <lambda>",
    ),
    "a partial of a factory": (
        """
        import functools
        from functools import partial
        missing = partial(not_found, "x")
        Forbidden = functools.partial(CodedError, ErrorCode.FORBIDDEN)
        @tool
        def fetch(n: int):
            if n:
                raise missing()
            if n == 2:
                raise partial(conflict, "x")()
            raise Forbidden("x")
        """,
        "NOT_FOUND: fetch\nFORBIDDEN: fetch\nCONFLICT: fetch",
    ),
    "a class raised without a call": (
        """
        class Gone(Exception): ...
        @tool
        def fetch(n: int):
            if n:
                raise Gone
            raise LookupError
        """,
        "server.Gone: fetch\nLookupError: fetch",
    ),
    "one of several classes": (
        """
        @tool
        def fetch(n: int):
            kind = KeyError if n else ValueError
            raise kind("x")
        """,
        "KeyError: fetch\nValueError: fetch",
    ),
    "raise from": (
        """
        @tool
        def fetch():
            try:
                load()
            except KeyError as error:
                raise not_found("x") from error
        def load():
            raise KeyError("x")
        """,
        "NOT_FOUND: fetch",
    ),
    "raise from None in a loop": (
        """
        @tool
        def fetch():
            for n in range(3):
                try:
                    return load()
                except KeyError:
                    continue
                except ValueError:
                    raise conflict("x") from None
            raise timeout("x")
        def load():
            raise KeyError("x")
            raise ValueError("x")
        """,
        "CONFLICT: fetch\nTIMEOUT: fetch",
    ),
    "assert": (
        """
        @tool
        def fetch():
            try:
                load()
            except AssertionError as error:
                raise conflict("x") from error
            check()
        def load():
            assert 1 > 2, "x"
        def check():
            try:
                load()
            except ValueError:
                pass
        """,
        "CONFLICT: fetch\nAssertionError: fetch > check > load",
    ),
    "SystemExit leaves past `except Exception`": (
        """
        import sys
        @tool
        def fetch():
            try:
                load()
            except Exception:
                return None
        def load():
            raise SystemExit(1)
        """,
        "SystemExit: fetch > load",
    ),
    "NotImplementedError": (
        """
        @tool
        def fetch(n: int):
            if n:
                raise NotImplementedError("x")
            raise NotImplementedError
        """,
        "NotImplementedError: fetch",
    ),
    "a subclass of CodedError whose code comes from elsewhere stays unknown": (
        """
        class Any(CodedError):
            def __init__(self, status):
                super().__init__(lookup(status), "x")
        @tool
        def fetch(n: int):
            raise Any(n)
        def lookup(status):
            return codes()[status]
        """,
        "server.Any?: fetch",
    ),
    "a subclass of CodedError that changes its code afterwards, or makes itself otherwise, stays unknown": (
        """
        class Changed(CodedError):
            def __init__(self, late=False):
                super().__init__(ErrorCode.NOT_FOUND, "x")
                if late:
                    self.code = ErrorCode.CONFLICT
        class Rebound(CodedError):
            def __init__(self, code):
                code = pick(code)
                super().__init__(code, "x")
        class Touched(CodedError):
            def __init__(self, **more):
                more.setdefault("code", ErrorCode.TIMEOUT)
                super().__init__(**more)
        class Itself(CodedError):
            def __init__(self):
                Itself.__init__(self)
        class Value(ValueError, CodedError): ...
        @tool
        def fetch(n: int):
            if n == 1:
                raise Changed()
            if n == 2:
                raise Rebound(ErrorCode.CONFLICT)
            if n == 3:
                raise Touched()
            if n == 4:
                raise Itself()
            raise Value(ErrorCode.CONFLICT)
        """,
        "server.Changed?: fetch\nserver.Rebound?: fetch\nserver.Touched?: fetch\nserver.Itself?: fetch\nserver.Value?: fetch",
    ),
    "an error in a default argument is no throw": (
        """
        @tool
        def fetch():
            helper()
        def helper(error=not_found("x"), run=lambda: None):
            return error
        """,
        "",
    ),
    "an error that is stored is no throw": (
        """
        @tool
        def fetch():
            errors = []
            errors.append(not_found("x"))
            found = {"error": conflict("x")}
            return str(errors) + str(found)
        """,
        "",
    ),
    "a comprehension and a generator expression": (
        """
        @tool
        def fetch(ids: list[str]):
            a = [one(each) for each in ids]
            b = {each: two(each) for each in ids if three(each)}
            return sum(four(each) for each in ids)
        def one(x):
            raise not_found("x")
        def two(x):
            raise conflict("x")
        def three(x):
            raise forbidden("x")
        def four(x):
            raise timeout("x")
        """,
        "NOT_FOUND: fetch > one\nCONFLICT: fetch > two\nFORBIDDEN: fetch > three\nTIMEOUT: fetch > four",
    ),
    "a call in a default, a decorator and an annotation of a nested function": (
        """
        @tool
        def fetch():
            def inner(x=load()):
                return x
            return inner
        def load():
            raise not_found("x")
        """,
        "NOT_FOUND: fetch > load",
    ),
    "a call in a format string, a subscript, a return and a condition": (
        """
        @tool
        def fetch(n: int):
            text = f"{a():>{b()}}"
            if c() and not text:
                return {"x": [d()]}
            return text[e():]
        def a():
            raise not_found("x")
        def b():
            raise conflict("x")
        def c():
            raise forbidden("x")
        def d():
            raise timeout("x")
        def e():
            raise rate_limited("x")
        """,
        "NOT_FOUND: fetch > a\nCONFLICT: fetch > b\nFORBIDDEN: fetch > c\nTIMEOUT: fetch > d\nRATE_LIMITED: fetch > e",
    ),
    "ctx.fail under another name": (
        """
        from mcpcore import ErrorCode, FailureMode
        @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def fetch(ctx: Context):
            fail = ctx.fail
            error = fail("gone")
            raise error
        """,
        "mcpcore.CodedError?: fetch",
    ),
    "ctx.fail in a helper that is given the context": (
        """
        from mcpcore import ErrorCode, FailureMode
        @tool(errors=[FailureMode("gone", ErrorCode.NOT_FOUND, when="x", recovery="y")])
        def fetch(ctx: Context):
            helper(ctx)
        def helper(ctx: Context):
            raise ctx.fail("gone")
        """,
        "mcpcore.CodedError?: fetch > helper",
    ),
    "every pattern of match": (
        """
        class Point:
            x: int
        @tool
        def fetch(value: object):
            match value:
                case 1 | 2:
                    raise not_found("x")
                case [first, *rest] if check(rest):
                    raise conflict("x")
                case {"key": found, **others}:
                    raise forbidden("x")
                case Point(x=0) as origin:
                    raise timeout("x")
                case None:
                    raise KeyError("x")
                case str(text):
                    raise ValueError(text)
                case _:
                    raise rate_limited("x")
        def check(rest):
            raise OSError("x")
        """,
        ("NOT_FOUND: fetch\nCONFLICT: fetch\nFORBIDDEN: fetch\nTIMEOUT: fetch\nKeyError: fetch\nValueError: fetch\n"
        "RATE_LIMITED: fetch\nOSError: fetch > check"),
    ),
    "names rebound": (
        """
        def load():
            raise not_found("x")
        first = load
        def load():
            raise conflict("x")
        @tool
        def fetch():
            load()
        """,
        "CONFLICT: fetch > load",
    ),
    "a local function that hides a global one": (
        """
        def load():
            raise not_found("x")
        @tool
        def fetch():
            def load():
                raise conflict("x")
            load()
        """,
        "CONFLICT: fetch > fetch.load",
    ),
    "an unknown exception of a third party": (
        """
        import acme
        from acme.errors import AcmeError
        @tool
        def fetch(n: int):
            if n:
                raise acme.Down("x")
            raise AcmeError("x")
        """,
        "acme.errors.AcmeError: fetch\n?: acme.Down",
    ),
    "an error that cannot be resolved is unknown": (
        """
        import acme
        @tool
        def fetch(n: int):
            if n:
                raise acme.make_error("x")
            if n == 2:
                raise globals()["x"]
            raise [ValueError, n][n]
        """,
        "?: acme.make_error\n?: raise ...[]\n?: raise globals()[]",
    ),
}  # fmt: skip
