"""Stacked decorators: the tool is found beneath them, and the errors that each catches or raises are known."""

from __future__ import annotations

from typing import Final

import pytest
from mcpcore_lint.runner.engine import lint_source
from mcpcore_lint.settings import Settings

from tests.lint.engine.registering import check

START: Final = """
import functools
from mcpcore import ErrorCode, FailureMode, not_found, rate_limited, tool
MISSING = FailureMode("missing", ErrorCode.NOT_FOUND, when="It is gone.", recovery="Call list_items to see the items.")
BUSY = FailureMode("busy", ErrorCode.RATE_LIMITED, when="The store is busy.", recovery="Call the tool again later on.")
def translated(fn):
    @functools.wraps(fn)
    async def wrapper(*args, **kwargs):
        try:
            return await fn(*args, **kwargs)
        except KeyError as exc:
            raise not_found("gone", reason="missing") from exc
    return wrapper
def limited(times):
    def decorate(fn):
        @functools.wraps(fn)
        async def wrapper(*args, **kwargs):
            if times > 3:
                raise rate_limited("busy", reason="busy")
            return await fn(*args, **kwargs)
        return wrapper
    return decorate
class Limited:
    def __init__(self, times):
        self.times = times
    def __call__(self, fn):
        @functools.wraps(fn)
        async def wrapper(*args, **kwargs):
            if self.times > 3:
                raise rate_limited("busy", reason="busy")
            return await fn(*args, **kwargs)
        return wrapper
class Translated:
    def __init__(self, fn):
        self.fn = fn
        functools.update_wrapper(self, fn)
    async def __call__(self, *args, **kwargs):
        try:
            return await self.fn(*args, **kwargs)
        except KeyError as exc:
            raise not_found("gone", reason="missing") from exc
def composed(*decorators):
    def apply(fn):
        for each in reversed(decorators):
            fn = each(fn)
        return fn
    return apply
def both(fn):
    return translated(limited(3)(fn))
def named(fn):
    inner = limited(3)(fn)
    outer = translated(inner)
    return outer
def with_times(times):
    def decorate(fn):
        return translated(limited(times)(fn))
    return decorate
def logged(fn):
    @functools.wraps(fn)
    @translated
    async def wrapper(*args, **kwargs):
        return await fn(*args, **kwargs)
    return wrapper
STACK = composed(translated, limited(2))
LIMITED_TWICE = functools.partial(limited, times=2)
"""
STACKS: Final = {
    "one above the other": "@translated\n@limited(3)",
    "classes": "@Translated\n@Limited(3)",
    "a wrapper that is wrapped": "@logged\n@limited(3)",
    "a decorator that applies two": "@both",
    "a decorator that applies two, by names": "@named",
    "a decorator with arguments that applies two": "@with_times(3)",
    "decorators composed": "@composed(translated, limited(3))",
    "a name for decorators composed": "@STACK",
    "a partial decorator": "@translated\n@LIMITED_TWICE()",
    "decorators composed of composed ones": "@composed(composed(translated), Limited(3))",
}


def _findings(stack, contract):
    source = (
        f"{START}\n@tool(errors=[{contract}])\n{stack}\nasync def fetch(q: str) -> str:\n"
        '    """Fetch."""\n    return {}[q]\n\n'
        # An entry that nothing raises is reported where another tool with the same entry raises it.
        f"@tool(errors=[{contract}])\nasync def other(q: str) -> str:\n"
        '    """Fetch."""\n    raise rate_limited("busy", reason="busy")\n'
    )
    settings = Settings(select=frozenset({"error-contract-unthrown", "error-contract-undeclared-reason"}))
    report = lint_source(source, settings=settings)
    assert not report.failures
    return [(diagnostic.rule, diagnostic.tool) for diagnostic in report.diagnostics if diagnostic.tool == "fetch"]


@pytest.mark.parametrize("stack", STACKS)
def test_reasons_raised_by_decorators_count_as_raised(stack):
    """No stack of decorators makes the linter report a reason that one of them raises as never raised."""
    assert not _findings(STACKS[stack], "MISSING, BUSY")


@pytest.mark.parametrize("stack", ["one above the other", "a wrapper that is wrapped"])
def test_reasons_raised_by_decorators_have_to_be_declared(stack):
    """A contract without these reasons is reported."""
    assert ("error-contract-undeclared-reason", "fetch") in _findings(STACKS[stack], "MISSING")


TOOLS: Final = {
    "a decorator that registers what others made": (
        """
        def stacked(fn):
            return mcp.tool()(safe(fn))
        @stacked
        @timed("y")
        async def fetch(q: str):
            raise ValueError(q)
        """,
        "fetch: tool fastmcp fetch(q)",
    ),
    "a decorator that applies another one that registers": (
        """
        def my_tool(name=None):
            def decorate(fn):
                mcp.tool(name=name)(safe(timed("x")(fn)))
                return fn
            return decorate
        def chain(fn):
            return my_tool(name="chained")(timed("a")(fn))
        @chain
        @safe
        async def fetch(q: str):
            raise ValueError(q)
        """,
        "chained: tool fastmcp fetch(q)",
    ),
    "a wrapper that is registered inside, below others": (
        """
        def audited(name):
            def outer(fn):
                @mcp.tool(name=name)
                @safe
                @functools.wraps(fn)
                async def inner(*args, **kwargs):
                    return await fn(*args, **kwargs)
                return inner
            return outer
        @safe
        @audited("six")
        @timed("x")
        async def fetch(q: str):
            raise ValueError(q)
        """,
        "six: tool fastmcp fetch(q)",
    ),
    "classes and objects": (
        """
        class Wrapped:
            def __init__(self, fn):
                self.fn = fn
            def __call__(self, *a, **k):
                return self.fn(*a, **k)
        class Api:
            @mcp.tool
            @staticmethod
            @safe
            async def first(q: str):
                raise ValueError(q)
        @mcp.tool
        @Wrapped
        @functools.lru_cache(maxsize=None)
        async def second(q: str):
            raise ValueError(q)
        """,
        "first: tool fastmcp Api.first(q)\nsecond: tool fastmcp second(q)",
    ),
}


@pytest.mark.parametrize("case", TOOLS)
def test_the_tool_is_found_below_all_decorators(project, case):
    """The handler is the function in the source, and the name is that of the registration."""
    source, expected = TOOLS[case]
    start = """
        import functools
        from fastmcp import FastMCP
        mcp = FastMCP("x")
        def safe(fn):
            @functools.wraps(fn)
            async def wrapper(*args, **kwargs):
                return await fn(*args, **kwargs)
            return wrapper
        class timed:
            def __init__(self, name):
                self.name = name
            def __call__(self, fn):
                @functools.wraps(fn)
                async def inner(*a, **k):
                    return await fn(*a, **k)
                return inner
    """
    check(project, start + source, expected)
