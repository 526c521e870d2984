"""Patterns that are converted, or that are no failures, for `test_patterns`."""

from __future__ import annotations

CONVERTED: dict[str, tuple[str, str]] = {
    "a condition that reads arguments alone": (
        """
        WRITES = frozenset({"DROP", "DELETE"})

        @mcp.tool()
        def f(query: str) -> dict:
            words = query.strip().upper().split()
            if any(word in WRITES for word in words):
                return {"error": "Only queries are allowed here"}
            return {}
        """,
        """
            ErrorCode.VALIDATION_ERROR,
            when="Only queries are allowed here.",
""",
    ),
    "a condition that reads a table with an argument": (
        """
        TEMPLATES = {"day": "select 1"}

        @mcp.tool()
        def f(name: str) -> str:
            template = TEMPLATES.get(name)
            if not template:
                return f"Error: no template for {name}, see the manual"
            return template
        """,
        "raise validation_error(f",
    ),
    "a variable of the environment that is not set": (
        """
        import os

        TOKEN = os.environ.get("SHOP_TOKEN")

        @mcp.tool()
        def f(x: str) -> dict:
            if not TOKEN:
                return {"error": "The shop is closed. Set SHOP_TOKEN."}
            return {}
        """,
        """
            ErrorCode.CONFIGURATION_ERROR,
            when="The shop is closed.",
            recovery="Set SHOP_TOKEN.",
""",
    ),
    "what could not be found": (
        """
        @mcp.tool()
        def f(x: str) -> dict:
            if not requests.get(x):
                return {"error": f"Could not find order with number: {x}"}
            return {}
        """,
        """
            ErrorCode.NOT_FOUND,
            when="The server could not find order with that number.",
""",
    ),
    "a text behind a label": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            try:
                return x
            except PermissionError as e:
                return f"Error: {str(e)}"
        """,
        'fail("permission_denied", str(e)) from e',
    ),
    "a text about errors": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            return "Error handling guide: chapter 4"
        """,
        "",
    ),
    "a text of what was done": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            if x:
                return f"Error processing file: {x}"
            return x
        """,
        "return f",
    ),
    "an error that a name holds": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            text = f"Order {x} is too long"
            return {"error": text}
        """,
        "raise ctx.fail(",
    ),
    "an error that is joined": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            if x:
                return {"error": x + " is required"}
            return {}
        """,
        "raise validation_error(",
    ),
    "a clause that answers with a text that is no failure": (
        """
        @mcp.tool()
        def f(x: int) -> str:
            try:
                if x < 0:
                    raise LookupError("Order is too long")
            except KeyError:
                return "missing"
            except Exception:
                return "fallback"
            return "found"
        """,
        "",
    ),
    "the exception of a clause is handled outside": (
        """
        @mcp.tool()
        def f(x: int) -> str:
            try:
                try:
                    raise ValueError("Order is too long")
                except ValueError as e:
                    raise RuntimeError("Order is worse") from e
            except RuntimeError:
                return "fallback"
        """,
        "",
    ),
    "a class that is not known is raised again": (
        """
        @mcp.tool()
        def f(x: int) -> str:
            try:
                try:
                    raise ValueError("Order is too long")
                except ValueError as e:
                    raise wrapped(e)
            except RuntimeError:
                return "fallback"
        """,
        "",
    ),
    "a conditional clause": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            try:
                return x
            except (KeyError, getattr(json, "JSONDecodeError")) as e:
                return f"Error: the text is too long: {e}"
        """,
        'raise ctx.fail("text_is_too_long", f"the text is too long: {e}") from e',
    ),
    "a choice of classes": (
        """
        CAUGHT = KeyError if EXTRA else OSError

        @mcp.tool()
        def f(x: str) -> str:
            try:
                return x
            except CAUGHT as e:
                return f"Error: {x} is too long: {e}"
        """,
        'raise validation_error(f"{x} is too long: {e}") from e',
    ),
    "several classes of mistakes in arguments": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            try:
                return DATA[x]
            except (KeyError, FileNotFoundError, ValueError) as e:
                return f"Error: Invalid input: {e}"
        """,
        'raise validation_error(f"Invalid input: {e}") from e',
    ),
    "imports and globals of a function": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            import os as ctx
            from json import dumps as fails
            global EXTRA
            raise ValueError("x is too long")
        """,
        'raise failures.fail("x_is_too_long", "x is too long")',
    ),
    "a message with percent": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            raise ValueError("There is no %s in orders" % x)
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
                " is too long!"
        """,
        'raise validation_error((x or "2 and the for")',
    ),
    "advice that stays in the message": (
        """
        @mcp.tool()
        def f(style: str) -> str:
            text = f"Invalid style name {style!r}. Use letters only."
            raise ValueError(text)
        """,
        "raise ValueError(text)",
    ),
    "a name in parentheses": (
        """
        from mcp.server.fastmcp import FastMCP
        other = FastMCP(("other"))
        """,
        'Server(("other"), expose_internal_errors="message")',
    ),
    "a package that the caller names": (
        """
        class PackageNotFoundError(Exception): ...

        @mcp.tool()
        def f(name: str) -> dict[str, Any]:
            try:
                return g(name)
            except PackageNotFoundError:
                return {"error": f"Package {name} was not found"}
        """,
        'raise ctx.fail("package_was_not_found", f"Package {name} was not found") from exc',
    ),
    "a package that the server needs": (
        """
        class PackageNotFoundError(Exception): ...

        @mcp.tool()
        def f(name: str) -> dict[str, Any]:
            try:
                return g(name)
            except PackageNotFoundError:
                return {"error": "A package was not found"}
        """,
        'raise internal_error("A package was not found") from exc',
    ),
    "a reason with a number": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            raise ValueError("404 order is gone for")
        """,
        "raise ValueError(",
    ),
    "a message that may be None": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            return {"error": x or "Order is too long"}
        """,
        "",
    ),
    "a nested mapping": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            return {"success": False, "error": {"message": "Order is too long", "code": 7}}
        """,
        'raise ctx.fail("order_is_too_long", "Order is too long", data={"code": 7})',
    ),
    "a word and a message": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            return {"error": "BadOrder", "message": f"Order {x} is too long", "reason": "why"}
        """,
        'raise ctx.fail("badorder", f"Order {x} is too long", data={"reason_text": "why"})',
    ),
    "advice at the end of a message, which is its recovery": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            raise ValueError(f"Table {x} not found. Use list_tables first.")
        """,
        """, f"Table {x} not found.")""",
    ),
    "advice in a separate literal": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            raise ValueError(
                f"Table {x} not found — "
                "use list_tables first"
            )
        """,
        """        "table_not_found",
        f"Table {x} not found"
""",
    ),
    "advice that cannot be cut off": (
        """
        HOW = "Use list_tables first."

        @mcp.tool()
        def f(x: str) -> str:
            raise ValueError(f"Table {x} not found. {HOW}")
        """,
        "recovery=TODO",
    ),
    "a decorator of a library": (
        """
        @mcp.tool()
        @wrapped
        def f(x: str) -> str:
            raise ValueError("Order is too long")
        """,
        'raise ctx.fail("order_is_too_long", "Order is too long")',
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
            raise ValueError("Order is too long")
        """,
        'raise ctx.fail("order_is_too_long", "Order is too long")',
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
                raise ValueError("Order is too long")
        """,
        'raise ctx.fail("order_is_too_long", "Order is too long")',
    ),
    "a clause that raises again": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            try:
                raise ValueError("Order is too long")
            except ValueError as e:
                raise e
        """,
        'raise ctx.fail("order_is_too_long", "Order is too long")',
    ),
    "a returned failure before a clause that logs and raises again": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            try:
                if not x:
                    return "Error: Order is too long"
                return wrapped(x)
            except Exception:
                print("the service is down")
                raise
        """,
        "    except CodedError:\n        raise\n    except Exception:\n        print(",
    ),
    "a text whose lines are indented in another way": (
        """
        NOTE = '''The orders:
          all of them
        '''

        @mcp.tool()
        def f(x: str) -> str:
            raise ValueError("Order is too long")
        """,
        "\n    errors=[\n        FailureMode(\n",
    ),
    "a positional option": (
        """
        @mcp.tool("f", "Does.",
            # a comment
            "more",
        )
        def f(x: str) -> str:
            raise ValueError("Order is too long")
        """,
        "@tool(",
    ),
    "options with a comment": (
        """
        @mcp.tool(
            name="f",  # a comment
        )
        def f(x: str) -> str:
            raise ValueError("Order is too long")
        """,
        '    name="f",  # a comment\n)\n@tool(',
    ),
    "starred options": (
        """
        @mcp.tool(*["f"])
        def f(x: str) -> str:
            raise ValueError("Order is too long")
        """,
        '@mcp.tool(*["f"])\n@tool(',
    ),
    "options without brackets": (
        """
        @mcp.tool(name="f")
        def f(x: str) -> str:
            "Has a context without reasons."
            raise ValueError("Order is too long")
        """,
        'name="f",\n    errors=[',
    ),
    "a contract with a context without reasons": (
        """
        @tool(errors=[FailureMode("order_is_too_long", ErrorCode.VALIDATION_ERROR, when="x", recovery="Do something else.")])
        def f(ctx: Own, x: str) -> str:
            if x:
                raise ValueError("Order is worse")
            raise ctx.fail("order_is_too_long")
        """,
        'raise ctx.fail("order_is_worse", "Order is worse")',
    ),
    "many constants": (
        """
        ONE_ORDER_IS_TOO_LONG = FailureMode("one_order_is_too_long", ErrorCode.VALIDATION_ERROR, when="x", recovery="Do this then.")
        TWO_ORDERS_IS_TOO_LONG = 1
        """
        + "".join(
            f"""
        @mcp.tool()
        def f{number}(x: str) -> str:
            if x == "1":
                raise ValueError("One order is too long")
            if x == "2":
                raise ValueError("Two orders is too long")
            if x == "3":
                raise ValueError("Another order of this shop is too long")
            raise ValueError("The last order of this shop is also bad")
        """
            for number in range(2)
        ),
        "TWO_ORDERS_IS_TOO_LONG_FAILURE,",
    ),
    "an exception without a text": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            raise PermissionError
        """,
        'raise ctx.fail("permission_denied")',
    ),
    "a context manager of an unknown kind": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            with EXTRA["x"](x):
                raise ValueError(f"Order {x} is too long")
        """,
        'raise ctx.fail("order_is_too_long", f"Order {x} is too long")',
    ),
    "a static method": (
        """
        class Shop:
            @staticmethod
            def sell(x: str) -> str:
                raise ValueError("Order is too long")

        mcp.tool()(Shop.sell)
        """,
        'def sell(ctx: Own[Literal["order_is_too_long"]], x: str) -> str:',
    ),
    "a label in brackets": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            return f"[ERROR] The order {x} is too long"
        """,
        'raise ctx.fail("order_is_too_long", f"The order {x} is too long")',
    ),
    "a template of the file": (
        """
        MISSING = "[ERROR] There is no order {x}"

        @mcp.tool()
        def f(x: str) -> str:
            return MISSING.format(x=x)
        """,
        "raise not_found(MISSING.format(x=x))",
    ),
    "a decorator that is no call": (
        """
        server = Server("y")

        @server.tool
        def f(x: str) -> str:
            raise ValueError("Order is too long")

        @server.resource("a://b")
        def g() -> str:
            raise ValueError("Order is too long")
        """,
        "@server.tool(\n    errors=[",
    ),
    "a reason that is declared": (
        """
        # A comment.
        @tool(errors=[FailureMode("order_is_too_long", ErrorCode.VALIDATION_ERROR, when="x", recovery="Do something else.")])
        def f(ctx: Own, x: str) -> str:
            raise ValueError("Order is too long")
        """,
        'raise ctx.fail("order_is_too_long", "Order is too long")',
    ),
    "a comment above the first tool": (
        """
        LOADED = json.loads("a", EXTRA.b)

        # A comment.
        @mcp.tool()
        def f(x: str) -> str:
            raise ValueError("Order is too long")

        @mcp.tool()
        def g(x: str) -> str:
            raise ValueError("Order is too long")

        mcp.tool(name="h")(lambda x: x)
        """,
        ")\n\n\n# A comment.\n@mcp.tool(",
    ),
    "a text and a message": (
        """
        @mcp.tool()
        def f(x: str) -> dict[str, Any]:
            return {"error": "Order is too long", "message": f"{x} is no order"}
        """,
        'raise ctx.fail("order_is_too_long", "Order is too long", data={"message": f"{x} is no order"})',
    ),
    "a label and a choice": (
        """
        @mcp.tool()
        def f(x: str) -> str:
            return "Error: " + ("a" if x else "b") + " is too long"
        """,
        'raise validation_error(("a" if x else "b") + " is too long")',
    ),
    "a method of a class": (
        """
        class Shop:
            def sell(self, x: str) -> dict[str, Any]:
                return {"error": "Order is too long"}

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
