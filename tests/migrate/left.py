"""Patterns that are left, for `test_patterns`."""

from __future__ import annotations

LEFT: dict[str, tuple[str, str]] = {
    "a value that the schema refuses": (
        """
        @mcp.tool()
        def f(x: Literal["left", "right"]) -> str:
            if x not in ("left", "right"):
                raise ValueError(f"The x {x} must be left or right")
            return x
        """,
        "f: ValueError keeps its class and its text",
    ),
    "a result as the message of an exception": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            raise ValueError(json.dumps({"x": x}))
        """,
        "f: ValueError keeps its class and its text",
    ),
    "a result as JSON that clients parse": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            shown = json.dumps({"x": x})
            raise ValueError(shown)
        """,
        "f: ValueError keeps its class and its text, JSON that gets words around it",
    ),
    "a result as JSON that a helper raises": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            return sent(x)

        def sent(x: str) -> str:
            raise RuntimeError(json.dumps({"x": x}, indent=2))
        """,
        "f: RuntimeError of a helper has a text, JSON that gets words around it, so clients that parse it cannot go on",
    ),
    "a text that shows an error behind what failed": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            result = requests.get(x)
            if result.error:
                return f"Packing the order failed: {result.error}"
            return result.text
        """,
        "f: a text says that something failed",
    ),
    "an error that is a number": (
        """
        @mcp.tool()
        def f(x: list[float]) -> dict[str, Any]:
            err = sum(x)
            return {"error": err, "x": x}
        """,
        "f: a mapping may be a result about an error",
    ),
    "the code of an error that happened elsewhere": (
        """
        @mcp.tool()
        def last_error(x: bool) -> dict[str, Any]:
            if x:
                return {"error": "E42"}
            return {}
        """,
        "last_error: a mapping may be a result about an error",
    ),
    "the state of a job": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            return {"status": "error", "message": "The job failed in step 3"}
        """,
        "f: a mapping may be a result about an error",
    ),
    "a flag in a model of results": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            if x:
                return json.dumps({"ok": False, "message": "The signature is wrong"})
            return json.dumps({"ok": True, "message": "The signature is right"})
        """,
        "f: a mapping may be a result about an error",
    ),
    "an answer of a service that lacks something": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            raise ValueError("No input data found in response")
        """,
        "f: ValueError keeps its class and its text",
    ),
    "a condition that reads a table that is filled later": (
        """
        SESSIONS: dict[str, str] = {}

        @mcp.tool()
        def f(x: str) -> dict:
            if x not in SESSIONS:
                return {"error": f"The session {x} ended long ago"}
            return {}
        """,
        "f: a failure is returned whose text tells no code",
    ),
    "a condition that reads a table that another function fills": (
        """
        JOBS = {"demo": "done"}

        def start(job: str) -> None:
            JOBS[job] = "running"

        @mcp.tool()
        def f(x: str) -> dict:
            if x not in JOBS:
                return {"error": f"The job {x} ended long ago"}
            return {}
        """,
        "f: a failure is returned whose text tells no code",
    ),
    "a condition that reads a number that another function counts": (
        """
        calls = 0

        def count() -> None:
            global calls
            calls += 1

        @mcp.tool()
        def f(x: str) -> dict:
            if x and calls == 0:
                return {"error": "The shop is closed today"}
            return {}
        """,
        "f: a failure is returned whose text tells no code",
    ),
    "a condition that asks the file system": (
        """
        @mcp.tool()
        def f(path: Path) -> dict:
            if path.exists():
                return {"error": "The backup of today is there"}
            return {}
        """,
        "f: a failure is returned whose text tells no code",
    ),
    "a condition behind a result": (
        """
        @mcp.tool()
        def f(x: str, required: bool = False) -> dict:
            row = lookup(x)
            if row:
                return row
            if required:
                return {"error": "The shop holds nothing of that kind"}
            return {}
        """,
        "f: a failure is returned whose text tells no code",
    ),
    "a condition behind a try that succeeded": (
        """
        @mcp.tool()
        def f(x: str, strict: bool = False) -> dict:
            try:
                lookup(x)
            except KeyError:
                pass
            else:
                if strict:
                    return {"error": "The shop holds that already"}
            return {}
        """,
        "f: a failure is returned whose text tells no code",
    ),
    "a case with a condition": (
        """
        @mcp.tool()
        def f(x: str) -> dict:
            match x:
                case "buy" if shelves():
                    return {"error": "The shop is closed today"}
            return {}
        """,
        "f: a failure is returned whose text tells no code",
    ),
    "a response, beside which a variable of the environment is named": (
        """
        import os

        DEBUG = os.environ.get("DEBUG_MODE")

        @mcp.tool()
        def f(x: str) -> dict:
            answer = lookup(x)
            if answer.odd:
                return {"error": "The shop sent something odd. Set DEBUG_MODE=1 to log it."}
            return {}
        """,
        "f: a failure is returned whose text tells no code",
    ),
    "a condition that reads a flag as well": (
        """
        READY = False

        @mcp.tool()
        def f(x: str) -> dict:
            if not x or not READY:
                return {"error": "The shop is closed today"}
            return {}
        """,
        "f: a failure is returned whose text tells no code",
    ),
    "a condition that reads what a function knows": (
        """
        @mcp.tool()
        def f(x: str) -> dict:
            x = wrapped(x)
            if not x:
                return {"error": "The shop is closed today"}
            return {}
        """,
        "f: a failure is returned whose text tells no code",
    ),
    "a condition that waits": (
        """
        @mcp.tool()
        async def f(x: Any) -> dict:
            if not await x.opened():
                return {"error": "The shop is closed today"}
            return {}
        """,
        "f: a failure is returned whose text tells no code",
    ),
    "a lock, which passes with time": (
        """
        @mcp.tool()
        def f(x: str) -> dict:
            return {"error": "The order is locked"}
        """,
        "f: a failure is returned whose text tells no code",
    ),
    "a decorator suppresses": (
        """
        def quiet(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                with contextlib.suppress(ValueError):
                    return function(*args, **kwargs)
            return wrapper

        @mcp.tool()
        @quiet
        def f(x: str) -> str:
            raise ValueError("Order is too long")
        """,
        "f: the decorator @quiet: convert the tool by hand",
    ),
    "except star": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            try:
                raise ValueError("Order is too long")
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
                raise ValueError("Order is too long")
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
                return "Error: order is too long"
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
                raise ValueError("Order is too long")
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
                raise ValueError("Order is too long")
        """,
        "a context manager around the failure",
    ),
    "cached": (
        """
        @mcp.tool()
        @cached
        def f(x: str) -> str:
            raise ValueError("Order is too long")
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
            raise ValueError("Order is too long")
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
            raise ValueError("Order is too long")
        """,
        "the decorator @strange",
    ),
    "decorator with arguments": (
        """
        def strange(text):
            return lambda function: functools.partial(function)

        @mcp.tool()
        @strange("a text that differs for each tool")
        def f(x: str) -> str:
            raise ValueError("Order is too long")
        """,
        "the decorator @strange(): convert",
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
            raise ValueError("Order is too long")
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
            raise ValueError("Order is too long")
        """,
        "the decorator @checked",
    ),
    "caller that catches the class": (
        """
        class Bad(Exception):
            pass

        @mcp.tool()
        def f(x: str) -> str:
            raise Bad("Order is too long")

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
            return "Error: order is too long"

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
                "error": "Order is too long",
            }
        """,
        "a comment within the failure",
    ),
    "generator": (
        """
        @mcp.tool()
        def f(x: str):
            yield x
            raise ValueError("Order is too long")
        """,
        "the tool yields",
    ),
    "contract elsewhere": (
        """
        ERRORS = [*EXTRA]

        @tool(errors=ERRORS)
        def f(ctx: Own, x: str) -> str:
            raise ValueError("Order is too long")
        """,
        "the contract cannot be read",
    ),
    "context in another place": (
        """
        @tool(errors=[FailureMode("order_is_too_long", ErrorCode.VALIDATION_ERROR, when="x", recovery="Do something else.")])
        def f(x: str, fails: Own) -> str:
            raise ValueError("Order is too long")
        """,
        "the context is not the first parameter",
    ),
    "contract in a constant": (
        """
        ERRORS = [FailureMode("order_is_too_long", ErrorCode.VALIDATION_ERROR, when="x", recovery="Do something else.")]

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
            raise ValueError("Order is too long")
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
                return {"error": "Order is too long"}
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
            raise ValueError("Order is too long")
        """,
        "the code is written in a way that cannot be changed safely",
    ),
    "no cause is free": (
        """
        @mcp.tool()
        def f(exc: int, error: int, cause: int, caught: int) -> str:
            print(exc)
            try:
                return str(exc)
            except KeyError:
                return "Error: order is too long"
        """,
        "the code is written in a way that cannot be changed safely",
    ),
    "several arguments": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            raise OSError(2, "Order is too long")
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
                raise Worse("Order is too long")
            if x:
                raise Worst("Order is too long")
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
            raise MCPError(1, "Order is too long", {"x": 1})
        """,
        "raise of MCPError, which is no exception class of the project",
    ),
    "nested beside": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            return {"success": False, "error": {"message": "Order is too long", **EXTRA}}
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
        "raise of wrapped, which is no exception class of the project",
    ),
    "declined": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            if x:
                return {"success": False, "message": "The user declined"}
            return {"success": False, "message": "Order is too long", **EXTRA}
        """,
        "an error is returned beside data",
    ),
    "a field error": (
        """
        from pydantic import BaseModel

        class Found(BaseModel):
            items: list[str]
            error: str | None = None

        @mcp.tool()
        def find(x: str) -> Found:
            if not x:
                raise ValueError("the name is empty")
            return Found(items=[x])

        @mcp.tool()
        def other(x: str) -> Any:
            raise ValueError("the order is gone")

        @mcp.tool()
        def passes(x: str) -> Found:
            return other(x)

        @mcp.tool(structured_output=False)
        def text(x: str) -> Found:
            raise ValueError("the text is long")
        """,
        "find: the field error of the result Found: give it another name, since clients look for a failure there",
    ),
}
"""Source, and a part of the report; empty if nothing is said about the tool."""
