"""Every way to catch an error: which errors are removed, which are converted, and which still pass.

Exactly the errors that a clause, context manager or decorator definitely catches are removed.
"""

from __future__ import annotations

from typing import Final

CASES: Final[dict[str, tuple[str, str]]] = {
    "a bare except": (
        """
        @tool
        def fetch():
            try:
                load()
            except:
                pass
        def load():
            raise not_found("x")
            raise KeyboardInterrupt
        """,
        "",
    ),
    "except Exception lets what is no Exception pass": (
        """
        import asyncio
        @tool
        def fetch():
            try:
                load()
            except Exception:
                pass
        def load():
            raise not_found("x")
            raise KeyboardInterrupt
            raise asyncio.CancelledError
        """,
        "KeyboardInterrupt: fetch > load\nasyncio.CancelledError: fetch > load",
    ),
    "a tuple of classes": (
        """
        @tool
        def fetch():
            try:
                load()
            except (KeyError, ValueError):
                pass
        def load():
            raise KeyError
            raise UnicodeError
            raise IndexError
        """,
        "IndexError: fetch > load",
    ),
    "a tuple held in a constant of another module": (
        """
        from errors import RETRIED
        import errors
        @tool
        def fetch():
            try:
                load()
            except RETRIED:
                pass
            except errors.MORE + (OSError,):
                pass
        def load():
            raise KeyError
            raise ValueError
            raise TypeError
            raise OSError
        #-- errors.py
        RETRIED = (KeyError,)
        MORE = (*RETRIED, ValueError)
        """,
        "TypeError: fetch > load",
    ),
    "the subclass first, then the superclass": (
        """
        @tool
        def fetch():
            try:
                load()
            except KeyError:
                raise conflict("x")
            except LookupError:
                raise forbidden("x")
        def load():
            raise KeyError
            raise IndexError
        """,
        "CONFLICT: fetch\nFORBIDDEN: fetch",
    ),
    "the superclass first hides the subclass": (
        """
        @tool
        def fetch():
            try:
                load()
            except LookupError:
                pass
            except KeyError:
                raise
        def load():
            raise KeyError
        """,
        "",
    ),
    "an inner try that catches, in an outer one that does not": (
        """
        @tool
        def fetch():
            try:
                try:
                    load()
                except KeyError:
                    other()
            except ValueError:
                pass
        def load():
            raise KeyError
            raise ValueError
            raise OSError
        def other():
            raise TypeError
        """,
        "OSError: fetch > load\nTypeError: fetch > other",
    ),
    "a project's own exceptions, by their bases in other modules": (
        """
        from app.errors import AppError
        from app import store
        @tool
        def fetch():
            try:
                store.load()
            except AppError:
                pass
        #-- app/__init__.py
        #-- app/errors.py
        class AppError(Exception): ...
        class Gone(AppError, KeyError): ...
        class Other(Exception): ...
        #-- app/store.py
        from .errors import Gone, Other
        def load():
            raise Gone("x")
            raise Other("x")
        """,
        "app.errors.Other: fetch > load",
    ),
    "a class that nobody can see may or may not be caught": (
        """
        from acme import AcmeError
        @tool
        def fetch():
            try:
                load()
            except AcmeError:
                return
        def load():
            raise not_found("x")
        """,
        "NOT_FOUND: fetch > load",
    ),
    "an error raised in a clause is not caught by its sibling clauses": (
        """
        @tool
        def fetch():
            try:
                load()
            except KeyError:
                raise ValueError("x")
            except ValueError:
                pass
        def load():
            raise KeyError
        """,
        "ValueError: fetch",
    ),
    "re-raise bare, in a nested statement": (
        """
        @tool
        def fetch(n: int):
            try:
                load()
            except Exception:
                with open("x") as file:
                    if n:
                        raise
        def load():
            raise not_found("x")
        """,
        "NOT_FOUND: fetch > load",
    ),
    "except Exception as error: raise error": (
        """
        @tool
        def fetch(n: int):
            try:
                load()
            except Exception as error:
                raise error
        def load():
            raise not_found("x")
        """,
        "NOT_FOUND: fetch > load",
    ),
    "a bare raise in a function that the clause calls": (
        """
        @tool
        def fetch(n: int):
            try:
                load()
            except KeyError:
                again()
        def load():
            raise KeyError("x")
        def again():
            raise
        """,
        "?: raise",
    ),
    "conversion through a function": (
        """
        @tool
        def fetch(n: int):
            try:
                load()
            except Exception as error:
                raise translate(error) from error
        def load():
            raise KeyError("x")
        def translate(error):
            if isinstance(error, KeyError):
                return not_found("x")
            return conflict("x")
        """,
        "NOT_FOUND: fetch > translate\nCONFLICT: fetch > translate",
    ),
    "finally that returns swallows": (
        """
        @tool
        def fetch(n: int):
            try:
                load()
            except KeyError:
                raise conflict("x")
            finally:
                return 1
        def load():
            raise KeyError("x")
            raise ValueError("x")
        """,
        "",
    ),
    "finally that breaks or continues swallows, in its own loop only": (
        """
        @tool
        def fetch(n: int):
            while n:
                try:
                    load()
                finally:
                    break
            for _ in range(n):
                try:
                    load()
                finally:
                    continue
            try:
                other()
            finally:
                for _ in range(n):
                    break
        def load():
            raise KeyError("x")
        def other():
            raise ValueError("x")
        """,
        "ValueError: fetch > other",
    ),
    "a finally that returns in a nested function does not swallow": (
        """
        @tool
        def fetch(n: int):
            try:
                load()
            finally:
                def inner():
                    return 1
        def load():
            raise KeyError("x")
        """,
        "KeyError: fetch > load",
    ),
    "an error raised in finally replaces the first one": (
        """
        @tool
        def fetch(n: int):
            try:
                load()
            finally:
                raise conflict("x")
        def load():
            raise KeyError("x")
        """,
        "CONFLICT: fetch",
    ),
    "else is not guarded": (
        """
        @tool
        def fetch(n: int):
            try:
                pass
            except KeyError:
                pass
            else:
                load()
        def load():
            raise KeyError("x")
        """,
        "KeyError: fetch > load",
    ),
    "suppress, of a module, with a tuple and as one of several": (
        """
        import contextlib
        QUIET = (KeyError, ValueError)
        @tool
        def fetch(n: int):
            with contextlib.suppress(*QUIET):
                load()
            with open("x") as file, contextlib.suppress(OSError):
                load()
        def load():
            raise KeyError("x")
        """,
        "KeyError: fetch > load",
    ),
    "suppress held in a name": (
        """
        from contextlib import suppress
        @tool
        def fetch(n: int):
            quiet = suppress(KeyError)
            with quiet:
                load()
        def load():
            raise KeyError("x")
            raise ValueError("x")
        """,
        "ValueError: fetch > load",
    ),
    "a callback of an exit stack": (
        """
        from contextlib import ExitStack
        @tool
        def fetch(n: int):
            with ExitStack() as stack:
                stack.callback(close, 1)
        def close(n):
            raise not_found("x")
        """,
        "NOT_FOUND: fetch > close",
    ),
    "except* takes its part of a group": (
        """
        @tool
        def fetch(n: int):
            try:
                load()
            except* KeyError:
                pass
            except* (OSError, ValueError) as group:
                raise conflict("x") from group
        def load():
            raise ExceptionGroup("x", [KeyError("x"), OSError("x"), TypeError("x")])
        """,
        "CONFLICT: fetch\nTypeError: fetch > load",
    ),
    "except* sees into nested groups": (
        """
        @tool
        def fetch(n: int):
            try:
                load()
            except* KeyError:
                pass
        def load():
            raise ExceptionGroup("x", [KeyError("x"), ExceptionGroup("y", [KeyError("x"), ValueError("x")])])
        """,
        "ValueError: fetch > load",
    ),
    "except* catches a plain error too": (
        """
        @tool
        def fetch(n: int):
            try:
                load()
            except* KeyError:
                pass
        def load():
            raise KeyError("x")
        """,
        "",
    ),
    "except* that raises again": (
        """
        @tool
        def fetch(n: int):
            try:
                load()
            except* KeyError:
                raise
        def load():
            raise KeyError("x")
        """,
        "KeyError: fetch > load",
    ),
    "a group held in a name, of errors gathered on the way": (
        """
        @tool
        def fetch(ids: list[str]):
            errors = []
            for each in ids:
                try:
                    load(each)
                except KeyError as error:
                    errors.append(error)
            if errors:
                raise ExceptionGroup("x", errors)
        def load(each):
            raise KeyError("x")
            raise ValueError("x")
        """,
        "ExceptionGroup: fetch\nValueError: fetch > load",
    ),
    "a plain clause does not see into a group, one of groups does": (
        """
        @tool
        def fetch(n: int):
            try:
                load()
            except KeyError:
                pass
            try:
                other()
            except ExceptionGroup:
                pass
        def load():
            raise ExceptionGroup("x", [KeyError("x")])
        def other():
            raise ExceptionGroup("x", [ValueError("x")])
        """,
        "KeyError: fetch > load",
    ),
    "an unknown context manager may swallow, but is not believed to": (
        """
        import acme
        @tool
        def fetch(n: int):
            with acme.quiet():
                load()
        def load():
            raise KeyError("x")
        """,
        "KeyError: fetch > load",
    ),
    "a retry decorator that gives up with its own error": (
        """
        import functools
        def retried(times):
            def decorate(run):
                @functools.wraps(run)
                async def again(*args, **kwargs):
                    for _ in range(times):
                        try:
                            return await run(*args, **kwargs)
                        except OSError:
                            continue
                    raise timeout("x")
                return again
            return decorate
        @retried(3)
        async def load():
            raise OSError("x")
            raise ValueError("x")
        @tool
        async def fetch():
            await load()
        """,
        "TIMEOUT: fetch > load > retried.decorate.again\nValueError: fetch > load",
    ),
    "a decorator that returns the function itself": (
        """
        def marked(run):
            run.mark = True
            return run
        @marked
        def load():
            raise KeyError("x")
        @tool
        @marked
        def fetch():
            load()
        """,
        "KeyError: fetch > load",
    ),
    "a decorator that works with or without arguments": (
        """
        def safe(run=None, *, kind=KeyError):
            def decorate(inner):
                def call(*args):
                    try:
                        return inner(*args)
                    except OSError:
                        return None
                return call
            return decorate(run) if run is not None else decorate
        @safe
        def one():
            raise OSError("x")
            raise KeyError("x")
        @safe(kind=ValueError)
        def two():
            raise OSError("x")
            raise ValueError("x")
        @tool
        def fetch():
            one()
            two()
        """,
        "KeyError: fetch > one\nValueError: fetch > two",
    ),
    "two decorators, the outer one converts what the inner raises": (
        """
        def inner(run):
            def call():
                try:
                    return run()
                except KeyError:
                    raise ValueError("x")
            return call
        def outer(run):
            def call():
                try:
                    return run()
                except ValueError:
                    raise conflict("x")
            return call
        @outer
        @inner
        def load():
            raise KeyError("x")
        @tool
        def fetch():
            load()
        """,
        "CONFLICT: fetch > load > outer.call",
    ),
    "a decorator whose wrapper is decorated": (
        """
        def converted(run):
            def call():
                try:
                    return run()
                except Exception:
                    raise conflict("x")
            return call
        def checked(run):
            @converted
            def call():
                return run()
            return call
        @tool
        @checked
        def fetch():
            load()
        def load():
            raise not_found("x")
        """,
        "CONFLICT: fetch > checked.call > converted.call",
    ),
    "a decorator of another module, on a method": (
        """
        from safety import safe
        class Store:
            @safe
            def get(self):
                raise KeyError("x")
                raise OSError("x")
        @tool
        def fetch(store: Store):
            store.get()
        #-- safety.py
        from functools import wraps
        def safe(run):
            @wraps(run)
            def call(self, *args):
                try:
                    return run(self, *args)
                except KeyError as error:
                    raise not_found("x") from error
            return call
        """,
        "NOT_FOUND: fetch > Store.get > safe.call\nOSError: fetch > Store.get",
    ),
    "mcpcore.guard": (
        """
        from mcpcore import guard
        @tool
        def fetch():
            with guard("load"):
                load()
            other()
        def load():
            raise KeyError("x")
        @guard("other")
        def other():
            raise ValueError("x")
        """,
        "mcpcore.CodedError?: fetch > load\nmcpcore.CodedError?: fetch > other",
    ),
    "asyncio.timeout and what it guards": (
        """
        import asyncio
        @tool
        async def fetch():
            try:
                async with asyncio.timeout(1):
                    await load()
            except TimeoutError as error:
                raise timeout("x") from error
        async def load():
            raise KeyError("x")
        """,
        "TIMEOUT: fetch\nKeyError: fetch > load",
    ),
    "anyio.fail_after and move_on_after": (
        """
        import anyio
        @tool
        async def fetch():
            with anyio.fail_after(1):
                await load()
            with anyio.move_on_after(1):
                await load()
        async def load():
            raise KeyError("x")
        """,
        "KeyError: fetch > load",
    ),
    "exits with star args": (
        """
        class Quiet:
            def __enter__(self): ...
            def __exit__(self, *args):
                return True
        class Asks:
            def __enter__(self): ...
            def __exit__(self, *args):
                return args[0] is not None
        class Closes:
            def __enter__(self): ...
            def __exit__(self, *args):
                if args[0] is None:
                    self.commit()
        def load(a):
            raise forbidden("x")
        def spare(a):
            raise conflict("x")
        @tool
        def fetch(a: int):
            with Quiet():
                load(a)
            with Asks():
                load(a)
            with Closes():
                spare(a)
        """,
        "CONFLICT: fetch > spare\n?: FORBIDDEN\n?: self.commit",
    ),
}  # fmt: skip
