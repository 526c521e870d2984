"""Single patterns: what is converted, and what is left with which line in the report."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.migrate.migrating import run

HEAD = """import contextlib
import functools
import json
from typing import Any

import requests
from cachetools import cached
from library import wrapped
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, TextContent
from mcpcore import Context as Own, ErrorCode, FailureMode, Server, tool

mcp = MCPServer("x")
NOT_FOUND = "Order not found"
EXTRA = {"x": 1}
"""

CONVERTED: dict[str, tuple[str, str]] = {
    "a conditional clause": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            try:
                return x
            except (KeyError, getattr(json, "JSONDecodeError")) as e:
                return f"Error: {e}"
        """,
        'raise ctx.fail("f_failed", str(e)) from e',
    ),
    "a choice of classes": (
        """
        CAUGHT = KeyError if EXTRA else OSError

        @mcp.tool()
        def f(x: str) -> str:
            try:
                return x
            except CAUGHT as e:
                return f"Error: {x} is bad: {e}"
        """,
        'raise ctx.fail("is_bad", f"{x} is bad: {e}") from e',
    ),
    "imports and globals of a function": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            import os as ctx
            from json import dumps as fails
            global EXTRA
            raise ValueError("x is bad")
        """,
        'raise failures.fail("x_is_bad", "x is bad")',
    ),
    "a message with percent": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            raise ValueError("There is no %s in %(y)d orders" % {"y": 1})
        """,
        '"there_is_no_in_orders"',
    ),
    "a message with format": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            raise ValueError("There is no order {}".format(x))
        """,
        'raise ctx.fail("there_is_no_order", "There is no order {}".format(x))',
    ),
    "a message of a constant": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            return {"error": NOT_FOUND}
        """,
        'raise ctx.fail("order_not_found", NOT_FOUND)',
    ),
    "a message of several texts": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            return "Error: " + (x or "2 and the for") + \\
                "!"
        """,
        'raise ctx.fail("f_failed", (x or "2 and the for")',
    ),
    "a number at the start": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            raise ValueError("404 order is gone for")
        """,
        '"order_is_gone"',
    ),
    "a message that may be None": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            return {"error": x or "Order is bad"}
        """,
        "",
    ),
    "a nested mapping": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            return {"success": False, "error": {"message": "Order is bad", "code": 7}}
        """,
        'raise ctx.fail("order_is_bad", "Order is bad", data={"code": 7})',
    ),
    "a word and a message": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            return {"error": "BadOrder", "message": f"Order {x} is bad", "reason": "why"}
        """,
        'raise ctx.fail("badorder", f"Order {x} is bad", data={"reason_text": "why"})',
    ),
    "an error of the protocol": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            raise MCPError(1, "Order is bad")
        """,
        'raise ctx.fail("order_is_bad", "Order is bad")',
    ),
    "a decorator of a library": (
        """
        @mcp.tool()
        @wrapped
        def f(x: str) -> str:
            raise ValueError("Order is bad")
        """,
        'raise ctx.fail("order_is_bad", "Order is bad")',
    ),
    "a decorator that returns the function": (
        """
        def marked(name):
            def mark(function):
                function.name = name
                return function
            return mark

        def noted(function):
            return function

        @mcp.tool()
        @marked("f")
        @noted
        def f(x: str) -> str:
            raise ValueError("Order is bad")
        """,
        'raise ctx.fail("order_is_bad", "Order is bad")',
    ),
    "a decorator that catches one class": (
        """
        def caught(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                try:
                    return function(*args, **kwargs)
                except* OSError:
                    pass
                try:
                    return function(*args, **kwargs)
                except KeyError:
                    raise
            return wrapper

        @mcp.tool()
        @caught
        def f(x: str) -> str:
            raise ValueError("Order is bad")
        """,
        'raise ctx.fail("order_is_bad", "Order is bad")',
    ),
    "a context manager that passes failures on": (
        """
        class Timed:
            def __enter__(self):
                return self
            def __exit__(self, *args):
                return None

        @contextlib.contextmanager
        def logged():
            yield

        @mcp.tool()
        def f(x: str) -> str:
            with Timed(), logged(), open(x), wrapped:
                raise ValueError("Order is bad")
        """,
        'raise ctx.fail("order_is_bad", "Order is bad")',
    ),
    "a clause that raises again": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            try:
                raise ValueError("Order is bad")
            except ValueError as e:
                raise e
        """,
        'raise ctx.fail("order_is_bad", "Order is bad")',
    ),
    "a positional option": (
        """
        @mcp.tool("f", "Does.",
            # a comment
            "more",
        )
        def f(x: str) -> str:
            raise ValueError("Order is bad")
        """,
        "@tool(",
    ),
    "options with a comment": (
        """
        @mcp.tool(
            name="f",  # a comment
        )
        def f(x: str) -> str:
            raise ValueError("Order is bad")
        """,
        '    name="f",  # a comment\n    errors=[',
    ),
    "starred options": (
        """
        @mcp.tool(*["f"])
        def f(x: str) -> str:
            raise ValueError("Order is bad")
        """,
        '@mcp.tool(*["f"])\n@tool(',
    ),
    "options without brackets": (
        """
        @mcp.tool(name="f")
        def f(x: str) -> str:
            "Has a context without reasons."
            raise ValueError("Order is bad")
        """,
        'name="f",\n    errors=[',
    ),
    "a contract with a context without reasons": (
        """
        @tool(errors=[FailureMode("order_is_bad", ErrorCode.VALIDATION_ERROR, when="x", recovery="Do something else.")])
        def f(ctx: Own, x: str) -> str:
            if x:
                raise ValueError("Order is worse")
            raise ctx.fail("order_is_bad")
        """,
        'raise ctx.fail("order_is_worse", "Order is worse")',
    ),
    "many constants": (
        """
        ORDER_1_IS_BAD = FailureMode("order_1_is_bad", ErrorCode.VALIDATION_ERROR, when="x", recovery="Do this then.")
        ORDER_2_IS_BAD = 1
        """
        + "".join(
            f"""
        @mcp.tool()
        def f{number}(x: str) -> str:
            if x == "1":
                raise ValueError("Order 1 is bad")
            if x == "2":
                raise ValueError("Order 2 is bad")
            if x == "3":
                raise ValueError("Another order of this shop is bad")
            raise ValueError("The last order of this shop is also bad")
        """
            for number in range(2)
        ),
        "ORDER_2_IS_BAD_FAILURE,",
    ),
    "an exception that takes several arguments": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            raise UnicodeDecodeError
        """,
        'raise ctx.fail("f_failed")',
    ),
    "a context manager of an unknown kind": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            with EXTRA["x"](x):
                raise ValueError(str(x) or "Order is bad")
        """,
        'raise ctx.fail("f_failed", str(x) or "Order is bad")',
    ),
    "a static method": (
        """
        class Shop:
            @staticmethod
            def sell(x: str) -> str:
                raise ValueError("Order is bad")

        mcp.tool()(Shop.sell)
        """,
        'def sell(ctx: Own[Literal["order_is_bad"]], x: str) -> str:',
    ),
    "a decorator that is no call": (
        """
        server = Server("y")

        @server.tool
        def f(x: str) -> str:
            raise ValueError()

        @server.resource("a://b")
        def g() -> str:
            raise ValueError("Order is bad")
        """,
        "@server.tool(\n    errors=[",
    ),
    "a reason that is declared": (
        """
        # A comment.
        @tool(errors=[FailureMode("order_is_bad", ErrorCode.VALIDATION_ERROR, when="x", recovery="Do something else.")])
        def f(ctx: Own, x: str) -> str:
            raise ValueError("Order is bad")
        """,
        'raise ctx.fail("order_is_bad", "Order is bad")',
    ),
    "a comment above the first tool": (
        """
        LOADED = json.loads("a", EXTRA.b)

        # A comment.
        @mcp.tool()
        def f(x: str) -> str:
            raise ValueError("Order is bad")

        @mcp.tool()
        def g(x: str) -> str:
            raise ValueError("Order is bad")

        mcp.tool(name="h")(lambda x: x)
        """,
        ")\n\n\n# A comment.\n@mcp.tool(",
    ),
    "a text and a message": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            return {"error": "Order is bad", "message": f"{x} is no order"}
        """,
        'raise ctx.fail("order_is_bad", "Order is bad", data={"message": f"{x} is no order"})',
    ),
    "a label and a choice": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            return "Error: " + ("a" if x else "b")
        """,
        'raise ctx.fail("f_failed", ("a" if x else "b"))',
    ),
    "a method of a class": (
        """
        class Shop:
            def sell(self, x: str) -> dict[str, Any]:
                return {"error": "Order is bad"}

            def other(self) -> None:
                self.sell("x")
                [each.sell("x") for each in ()]

        class Other:
            def sell(self) -> None:
                self.sell()

        mcp.tool()(Shop().sell)
        """,
        "",
    ),
}
"""Source, and what its new text contains; empty if it stays as it is."""

LEFT: dict[str, tuple[str, str]] = {
    "except star": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            try:
                raise ValueError("Order is bad")
            except* ValueError:
                pass
            return x
        """,
        "a failure inside except*",
    ),
    "finally": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            try:
                raise ValueError("Order is bad")
            finally:
                return x
        """,
        "a finally that leaves the function",
    ),
    "transaction": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            with wrapped.begin():
                return "Error: order is bad"
        """,
        "a failure is returned inside a transaction",
    ),
    "swallowing class": (
        """
        class Quiet:
            def __enter__(self):
                return self
            def __exit__(self, *args):
                return True

        @mcp.tool()
        def f(x: str) -> str:
            with Quiet():
                raise ValueError("Order is bad")
        """,
        "a context manager around the failure",
    ),
    "swallowing function": (
        """
        @contextlib.contextmanager
        def quiet():
            try:
                yield
            except ValueError:
                pass

        @mcp.tool()
        def f(x: str) -> str:
            with quiet():
                raise ValueError("Order is bad")
        """,
        "a context manager around the failure",
    ),
    "cached": (
        """
        @mcp.tool()
        @cached
        def f(x: str) -> str:
            raise ValueError("Order is bad")
        """,
        "the decorator @cached",
    ),
    "class as a decorator": (
        """
        class Wrap:
            def __init__(self, function):
                self.function = function

        @mcp.tool()
        @Wrap
        def f(x: str) -> str:
            raise ValueError("Order is bad")
        """,
        "the decorator @Wrap",
    ),
    "decorator that cannot be read": (
        """
        def strange(function):
            return functools.partial(function)

        @mcp.tool()
        @strange
        def f(x: str) -> str:
            raise ValueError("Order is bad")
        """,
        "the decorator @strange",
    ),
    "decorator with its own argument": (
        """
        def checked(function):
            @functools.wraps(function)
            def wrapper(ctx, *args, **kwargs):
                return function(ctx, *args, **kwargs)
            return wrapper

        @mcp.tool()
        @checked
        def f(x: str) -> str:
            raise ValueError("Order is bad")
        """,
        "the decorator @checked",
    ),
    "decorator without arguments": (
        """
        def checked(function):
            @functools.wraps(function)
            def wrapper(x):
                return function(x)
            return wrapper

        @mcp.tool()
        @checked
        def f(x: str) -> str:
            raise ValueError("Order is bad")
        """,
        "the decorator @checked",
    ),
    "decorator that catches the class": (
        """
        class Bad(Exception):
            pass

        def caught(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                try:
                    return function(*args, **kwargs)
                except Bad:
                    return "bad"
            return wrapper

        @mcp.tool()
        @caught
        def f(x: str) -> str:
            raise Bad("Order is bad")
        """,
        "raise of Bad: a decorator catches this class",
    ),
    "caller that catches the class": (
        """
        class Bad(Exception):
            pass

        @mcp.tool()
        def f(x: str) -> str:
            raise Bad("Order is bad")

        def g() -> None:
            try:
                f("x")
            except Exception:
                pass
            try:
                f("x")
            except (KeyError, Bad):
                pass
        """,
        "Bad is caught by a caller",
    ),
    "caller that runs it": (
        """
        import asyncio

        @mcp.tool()
        async def f(x: str) -> str:
            return "Error: order is bad"

        asyncio.run(f("x"))
        found = asyncio.run(f("x"))
        """,
        "a failure is returned to other code too",
    ),
    "comment within": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            return {
                # a comment
                "error": "Order is bad",
            }
        """,
        "a comment within the failure",
    ),
    "nested": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            def inner() -> str:
                raise ValueError("Order is bad")
            return inner()
        """,
        "a failure inside a nested function",
    ),
    "generator": (
        """
        @mcp.tool()
        def f(x: str):
            yield x
            raise ValueError("Order is bad")
        """,
        "the tool yields",
    ),
    "contract elsewhere": (
        """
        ERRORS = [*EXTRA]

        @tool(errors=ERRORS)
        def f(ctx: Own, x: str) -> str:
            raise ValueError("Order is bad")
        """,
        "the contract cannot be read",
    ),
    "context in another place": (
        """
        @tool(errors=[FailureMode("order_is_bad", ErrorCode.VALIDATION_ERROR, when="x", recovery="Do something else.")])
        def f(x: str, fails: Own) -> str:
            raise ValueError("Order is bad")
        """,
        "the context is not the first parameter",
    ),
    "contract in a constant": (
        """
        ERRORS = [FailureMode("order_is_bad", ErrorCode.VALIDATION_ERROR, when="x", recovery="Do something else.")]

        @tool(errors=ERRORS)
        def f(ctx: Own, x: str) -> str:
            raise ValueError("Order is worse")
        """,
        "",
    ),
    "no place for the context": (
        """
        @mcp.tool()
        def f(
            # no argument
        ) -> str:
            raise ValueError("Order is bad")
        """,
        "the code is written in a way that cannot be changed safely",
    ),
    "a name of another function": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            return f"Order {x} not found"

        def g(f: Any) -> None:
            f("x")

        @mcp.tool()
        def h(x: str) -> str:
            def inner() -> dict[str, Any]:
                return {"error": "Order is bad"}
            return inner()["error"]

        def i(h: Any) -> None:
            h("x")
        """,
        "a text may be a failure",
    ),
    "result with structured content": (
        """
        @mcp.tool()
        def f(x: str) -> CallToolResult:
            return CallToolResult(
                is_error=True, content=[TextContent(type="text", text=f"Order {x}")], structured_content={"x": 1}
            )
        """,
        "a result is marked as failed by hand",
    ),
    "no name is free": (
        """
        @mcp.tool()
        def f(ctx: int, fails: int, failures: int, tool_context: int, mcpcore_context: int) -> str:
            raise ValueError("Order is bad")
        """,
        "the code is written in a way that cannot be changed safely",
    ),
    "no cause is free": (
        """
        @mcp.tool()
        def f(exc: int, error: int, cause: int, caught: int) -> str:
            try:
                return str(exc)
            except KeyError:
                return "Error: order is bad"
        """,
        "the code is written in a way that cannot be changed safely",
    ),
    "several arguments": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            raise OSError(2, "Order is bad")
        """,
        "raise of OSError with several arguments",
    ),
    "a value": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            raise ValueError({"order": "bad"})
        """,
        "raise of ValueError with a value",
    ),
    "own messages": (
        """
        class Bad(Exception):
            def __init__(self):
                super().__init__("bad")

        class Worse(Exception):
            def __init__(self, message):
                message = message.upper()
                super().__init__(message)

        class Worst(Exception):
            def __init__(self, message):
                self.message = message

        class Kept(Exception):
            def __init__(self, message):
                self.message = message
                super().__init__(self.message)

        @mcp.tool()
        def f(x: str) -> str:
            if x:
                raise Worse("Order is bad")
            if x:
                raise Worst("Order is bad")
            if x:
                raise Kept("Order is kept")
            raise Bad("x")
        """,
        "the class makes its message itself",
    ),
    "data of the protocol": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            raise MCPError(1, "Order is bad", {"x": 1})
        """,
        "raise of the SDK's own error",
    ),
    "conditional": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            return {"x": x} if x else {"error": "Order is bad"}
        """,
        "a failure in a conditional expression",
    ),
    "nested beside": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            return {"success": False, "error": {"message": "Order is bad", **EXTRA}}
        """,
        "an error is returned beside data",
    ),
    "without a text": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            return {"success": False, "code": 7}
        """,
        "a failure without a text is returned",
    ),
    "invalid": (
        """
        @mcp.tool()
        def validate(x: str) -> str:
            return "Invalid order"
        """,
        "a text says that something is invalid",
    ),
    "soft": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            return f"Order {x} not found"
        """,
        "a text may be a failure",
    ),
    "result with content": (
        """
        @mcp.tool()
        def f(x: str) -> CallToolResult:
            if x:
                return CallToolResult(content=[])
            return CallToolResult(is_error=True, content=[], structured_content={"x": 1})
        """,
        "a result is marked as failed by hand",
    ),
    "unknown helper": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            try:
                return x
            except Exception as e:
                return wrapped.answer(e)
        """,
        "answer() makes the failure that the tool returns",
    ),
    "clauses": (
        """
        @mcp.tool()
        def f(x: str) -> list[str]:
            try:
                x.upper()
            except Exception:
                "Nothing to do."
            try:
                x.upper()
            except Exception:
                pass
            try:
                x.upper()
            except Exception as e:
                print(e)
                return
            try:
                x.upper()
            except Exception:
                return ""
            try:
                x.upper()
            except Exception:
                return []
            try:
                x.upper()
            except Exception:
                return wrapped
        """,
        "a clause returns an empty value",
    ),
    "unclear makers": (
        """
        def generated(e):
            yield e

        def empty(e) -> ValueError:
            print(e)

        def unknown(e):
            return wrapped(e)

        def own(e):
            return e

        @mcp.tool()
        def f(x: str) -> str:
            if x == "1":
                raise generated(x)
            if x == "2":
                raise empty(x)
            if x == "3":
                raise unknown(x)
            if x == "4":
                raise own(x)
            if x == "5":
                raise wrapped
            raise wrapped(x)
        """,
        "raise of wrapped, whose class the project does not define",
    ),
    "declined": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            if x:
                return {"success": False, "message": "The user declined"}
            return {"success": False, "message": "Order is bad", **EXTRA}
        """,
        "an error is returned beside data",
    ),
}
"""Source, and a part of the report; empty if nothing is said about the tool."""


class Outcome(NamedTuple):
    """What became of a file."""

    before: str
    after: str
    report: str


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """All sources, migrated in one run."""
    folder = tmp_path_factory.mktemp("patterns")
    sources = {name: HEAD + textwrap.dedent(source) for name, (source, _) in {**CONVERTED, **LEFT}.items()}
    paths = {name: f"case_{number}.py" for number, name in enumerate(sources)}
    migration, files = run(folder, {paths[name]: source for name, source in sources.items()})
    lines = [(Path(left.path).name, left.text(left.path, left.line)) for left in migration.left]
    return {
        name: Outcome(source, files[paths[name]], "\n".join(line for path, line in lines if path == paths[name]))
        for name, source in sources.items()
    }


@pytest.mark.parametrize("name", CONVERTED)
def test_a_pattern_is_converted(name: str, outcomes: dict[str, Outcome]) -> None:
    """The new text compiles and has the expected part, or the tool stays as it is."""
    outcome = outcomes[name]
    compile(outcome.after, "after.py", "exec")
    expected = CONVERTED[name][1]
    if expected:
        assert expected in outcome.after
    else:
        assert "ctx.fail" not in outcome.after


@pytest.mark.parametrize("name", LEFT)
def test_a_pattern_is_left(name: str, outcomes: dict[str, Outcome]) -> None:
    """The report has the expected part."""
    outcome = outcomes[name]
    compile(outcome.after, "after.py", "exec")
    assert LEFT[name][1] in outcome.report
