"""What a handler answers when it has failed: the failure, as if it were a result."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.flow.effects import BROAD
from mcpcore_lint.meaning.resolve import evaluate
from mcpcore_lint.model import Symbol, Value, options
from mcpcore_lint.patterns import regex
from mcpcore_lint.reading.syntax import walk_shallow
from mcpcore_lint.rules._bodies import Body, body_of, inside, text_start, where_to
from mcpcore_lint.rules._endings import unreachable
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext
from mcpcore_lint.rules.handler._failures import HAND_MADE, RESULTS, SHOWN, TELLING, Judge

if TYPE_CHECKING:
    from mcpcore_lint.model import Handler, ToolDef
    from mcpcore_lint.reading.scopes import Scope

_CHECKUP: Final = regex(
    r"(?:^|_)(?:health|healthcheck|ping|diagnose|diagnostics?|doctor)(?:_|$)"
    r"|(?:check|test|verify)_(?:\w+_)?connect(?:ion|ivity)|connection_(?:check|test|status)"
)
"""Names of tools that are asked how something is: "it fails" is their answer."""
_CHECKING: Final = regex(r"(?:^|_)(?:validat\w*|valid|check|verify|lint|parse|dry_run|precheck|preflight)(?:_|$)")
"""Names of tools that are asked what is wrong with a text: what the parser says is their answer."""
_FOLLOWING: Final = regex(r"(?:^|_)(?:status|state|poll|progress|wait|watch|follow|job|run|runs|task)(?:_|$)")
"""Names of tools that are asked how some work stands: "it failed" is their answer, unless an `except` gives it."""
_EITHER: Final = regex(r"\W*(?:unable|failed) to\b.{1,100}\bor no\b.{1,60}\b(?:found|available)\b", re.IGNORECASE)
_ASKED: Final = regex(r"(?:^|_)(?:validate|lint|dry_run|precheck|preflight)(?:_|$)")
"""Names of tools that are asked whether something will do: "no" is their answer, unless an `except` gives it."""


class NoErrorAsData(Rule):
    """A failure returned as if it were a result."""

    id = "no-error-as-data"
    severity = Severity.WARNING
    family = "handler"
    summary = (
        'a failure returned as a result: {"ok": False}, {"error": ...}, "Error: ...", CallToolResult(is_error=True)'
    )
    why = (
        "The host reads a success. Nothing counts it as a failure, no retry advice or recovery goes with it, the "
        "output model must allow for it, and the agent has to guess from prose that nothing was done. A hand-made "
        "`CallToolResult(is_error=True)` is marked as failed, and says no more than that: on tools of the SDK and "
        "FastMCP it is information only. What a decorator of the project, or a function that runs a lambda, answers "
        "for every exception is told once, where it does so."
    )
    bad = 'return {"error": f"no article {pmid}"}'
    good = 'raise ctx.fail("no_match", data={"pmid": pmid})'
    how_to_fix = "Raise the failure: the boundary makes the result, marked as failed, with both surfaces filled in."
    when_to_suppress = (
        "Where the failure is the answer that was asked for: a validator's verdict, the state of somebody's job."
    )
    valid = (
        """
        from fastmcp import Context, FastMCP

        mcp = FastMCP("x")

        @mcp.tool
        async def delete(ctx: Context, a: str) -> dict:
            asked = await ctx.elicit("Really?")
            if asked.action == "cancel":
                return {"success": False, "message": f"Deletion of {a!r} was cancelled."}
            if asked.action == "decline":
                return {"success": False, "status": "declined"}
            return {"success": True}
        """,
        """
        import json
        from mcpcore import tool

        @tool
        def fetch(a: str, error: str | None) -> dict:
            if a == "1":
                return {"ok": True, "error": None}
            if a == "2":
                return {"valid": False, "error": "line 3: unexpected token"}
            if a == "3":
                return {"rows": [], "error": error}
            if a == "4":
                return {"mean": 1.5, "error": 0.03}
            if a == "5":
                return {"job": a, "status": "failed"}
            if a == "5b":
                return {"job": a, "state": "error", "retries": 3}
            if a == "6":
                return {"success": bool(a)}
            if a == "7":
                return "Error codes of HTTP are 4xx and 5xx"
            if a == "8":
                return json.dumps({"errors": [], "items": [1]})
            result = {"ok": False}
            result["ok"] = True
            return result

        @tool
        def health_check() -> dict:
            try:
                ping()
            except OSError as error:
                return {"status": "unhealthy", "error": error.strerror}
            return {"status": "healthy"}

        @tool
        def test_connection() -> dict:
            return {"success": False, "error": "refused"}

        @tool
        def validate_settings(text: str) -> dict:
            if "=" not in text:
                return {"ok": False, "problems": ["nothing is set"]}
            return {"ok": True, "problems": []}
        """,
        """
        import json
        from fastmcp import FastMCP
        from mcp.types import TextContent

        mcp = FastMCP("x")

        def as_text(message: str, *, loud: bool = False) -> list[TextContent]:
            return [TextContent(type="text", text=message)]

        def about(topic: str) -> str:
            return f"See {topic}."

        def check(a: str) -> str | None:
            return f"{a} is fine" if a else None

        def find(a: str):
            return (a, None) if a else (None, f"nothing known of {a}")

        class Tools:
            def as_text(self, message: str) -> str:
                return message

            @mcp.tool
            def show(self, a: str) -> str:
                return self.as_text(f"found {a}")

        @mcp.tool
        async def fetch(a: str) -> list:
            if a == "1":
                return as_text(f"Found {a}", loud=True)
            if a == "2":
                return about("Error: what it means")
            if note := check(a):
                return note
            row, note = find(a)
            if note:
                return note
            data = await request(a)
            rows = data.get("rows", [])
            if not rows:
                return "Unable to fetch the rows or no rows found."
            if a == "3":
                return {"ERROR": 3, "WARNING": 7}
            if a == "4":
                return [{"error": 0.1, "mean": 2}, {"error": 0.2, "mean": 3}]
            try:
                return load(a)
            except StopIteration as done:
                return done.value
            except ValueError as e:
                return f"{a} has no number: {e}"

        @mcp.tool
        def validate_query(text: str) -> str:
            try:
                parse(text)
            except SyntaxError as e:
                return str(e)
            except ValueError as e:
                return f"Invalid query: {e}"
            return "ok"

        @mcp.tool
        def job_status(a: str) -> dict:
            if a in STOPPED:
                return {"status": "failed", "message": f"{a} has stopped"}
            return {"status": "running", "message": a}
        """,
        """
        from mcp.server.lowlevel import Server
        from mcp.types import CallToolResult, TextContent

        server = Server("x")

        def failed(text: str) -> CallToolResult:
            return CallToolResult(content=[TextContent(type="text", text=text)], isError=True)

        @server.call_tool()
        async def call(name: str, arguments: dict):
            return failed("Error: no such row")
        """,
        """
        from typing import NoReturn
        from mcpcore import tool

        def fail(why: str) -> NoReturn: ...

        @tool
        def fetch(a: str) -> dict:
            fail(a)
            return {"error": a}
        """,
        """
        from mcp.server.lowlevel import Server
        from mcp.types import CallToolResult, TextContent

        server = Server("x")

        @server.call_tool()
        async def call(name: str, arguments: dict):
            return CallToolResult(content=[TextContent(type="text", text="no")], isError=True)
        """,
        """
        from mcp.types import CallToolResult
        from mcpcore import tool

        @tool
        def fetch(a: str):
            return CallToolResult(content=[], is_error=False)

        def service(a):
            return {"error": a}
        """,
    )
    invalid = (
        Invalid(
            """
            import json
            from mcp import types
            from pydantic import BaseModel
            from mcpcore import tool

            class Result(BaseModel):
                success: bool
                error: str | None = None

            def failed(why):
                return {"error": why, "code": 1}

            @tool
            def fetch(a: str, bad: bool) -> dict:
                if a == "1":
                    return {"ok": False, "why": a}  # here
                if a == "2":
                    return {"error": a}  # here
                if a == "3":
                    return f"Error: no {a}"  # here
                if a == "4":
                    return types.CallToolResult(content=[], is_error=True)  # here
                if a == "5":
                    return json.dumps({"error": "no"}, indent=2)  # here
                if a == "6":
                    return [types.TextContent(type="text", text="Failed to fetch " + a)]  # here
                if a == "7":
                    return {"status": "error", "message": "no"}  # here
                if a == "8":
                    return Result(success=False, error="no")  # here
                if a == "9":
                    return failed(a)  # here
                if a == "10":
                    return {"error": "no"} if bad else {"rows": []}  # here
                answer = dict(isError=True)
                return answer  # here
            """,
            '{"ok": False}',
        ),
        Invalid(
            """
            from fastmcp import FastMCP
            from mcp.types import CallToolResult, TextContent

            mcp = FastMCP("x")

            @mcp.tool
            def fetch(a: str):
                if a:
                    return CallToolResult(content=[], structuredContent={"why": a}, isError=True)
                return CallToolResult(content=[TextContent(type="text", text="no")], isError=True)  # here
            """,
            "returns a hand-made CallToolResult(isError=True), a failure without a code",
        ),
        Invalid(
            """
            from fastmcp import FastMCP

            mcp = FastMCP("x")

            @mcp.tool
            async def fetch(a: str) -> str:
                try:
                    return await load(a)
                except KeyError as exc:
                    return "Could not load: " + str(exc)  # here
                except Exception as exc:
                    result = {"status": "failed", "details": exc}
                    return result  # here

            @mcp.tool
            async def validate(a: str) -> dict:
                try:
                    return {"ok": await load(a)}
                except KeyError:
                    return {"ok": False}  # here

            def shown(value):
                return json.dumps(value, indent=2)

            @mcp.tool
            async def show(a: str) -> str:
                if not a:
                    return shown({"ok": False, "message": "a is missing"})  # here
                return shown({"ok": True, "a": a})

            @mcp.resource("x://y")
            def read() -> str:
                try:
                    return open("y").read()
                except OSError as e:
                    return f"Error reading y: {e}"  # here

            mcp.add_tool(lambda a: {"error": a}, name="short")  # here
            """,
            "Could not load",
        ),
        # Keys and values in any letters, and a list of one.
        Invalid(
            """
            from fastmcp import FastMCP

            mcp = FastMCP("x")

            @mcp.tool
            async def fetch(a: str) -> dict:
                if not a:
                    return {"Status": "Failed", "Message": "no a"}  # here
                if a == "1":
                    return {"IsError": True, "Content": a}  # here
                try:
                    return await load(a)
                except KeyError as e:
                    return [{"error": f"no {a}"}]  # here
                except Exception as e:
                    return {"STATUS": "Failed", "Instance": a}  # here
                data = await load(a)
                if not data:
                    return "Unable to fetch the rows or no rows found."  # here
            """,
            'returns {"Status": "Failed"}',
        ),
        # The caught exception is the answer.
        Invalid(
            """
            import traceback
            from fastmcp import FastMCP
            from mcp.types import TextContent

            mcp = FastMCP("x")

            @mcp.tool
            async def fetch(a: str) -> str:
                try:
                    return await load(a)
                except KeyError as e:
                    return str(e)  # here
                except ValueError as e:
                    return f"{type(e).__name__}: {e}"  # here
                except OSError as e:
                    return [TextContent(type="text", text=repr(e))]  # here
                except RuntimeError:
                    return "Encountered an error while loading."  # here
                except TypeError:
                    return f"Invalid kind: {a}"  # here
            """,
            "returns the text of the caught exception",
        ),
        # What a function makes of the failure that it is given, and a chain of them.
        Invalid(
            """
            import json
            from fastmcp import FastMCP
            from mcp.types import CallToolResult, TextContent

            mcp = FastMCP("x")

            def as_text(message: str) -> list[TextContent]:
                return [TextContent(type="text", text=message)]

            def envelope(success: bool, message: str) -> str:
                answer = {"success": success, "message": message}
                return dumped(answer)

            def dumped(value: object) -> str:
                return json.dumps(value, default=str)

            def failed(why: str) -> str:
                answer = {"error": why}
                return dumped(answer)

            def of_network(why: str) -> str:
                return failed(f"network: {why}")

            def again(why: str) -> str:
                return of_network(f"{why}, try again")

            async def late(why: str) -> str:
                return again(why)

            def by_hand(why: str) -> CallToolResult:
                return CallToolResult(content=as_text(why), isError=True)

            class Tools:
                def as_text(self, message: str) -> list[TextContent]:
                    return [TextContent(type="text", text=message)]

                @mcp.tool
                def show(self, a: str) -> list[TextContent]:
                    try:
                        return self.as_text(load(a))
                    except Exception as e:
                        return self.as_text(f"Upstream API error: {e}")  # here

            @mcp.tool
            async def fetch(a: str) -> str:
                if a == "1":
                    return envelope(False, "no")  # here
                if a == "2":
                    return envelope(True, "yes")
                if a == "3":
                    return as_text(f"Error: no {a}")  # here
                if a == "4":
                    return again(a)  # here
                if a == "5":
                    return await late(a)  # here
                if a == "6":
                    return by_hand(a)  # here
                return as_text(a)
            """,
            'returns the text "Upstream API error:..."',
        ),
        # What wraps a tool, and answers for it: told once, where it answers.
        Invalid(
            """
            import functools
            from fastmcp import FastMCP
            from mcp.server.fastmcp.exceptions import ToolError

            mcp = FastMCP("x")

            def answered(func):
                @functools.wraps(func)
                async def wrapper(*args, **kwargs):
                    try:
                        return await func(*args, **kwargs)
                    except ToolError:
                        raise
                    except Exception as e:
                        return {"error": str(e)}  # here
                return wrapper

            def named(name):
                def decorate(func):
                    def wrapper(*args, **kwargs):
                        try:
                            return func(*args, **kwargs)
                        except Exception as e:
                            return f"Failed: {e}"  # here
                    return wrapper
                return decorate

            def raised(func):
                def wrapper(*args, **kwargs):
                    try:
                        return func(*args, **kwargs)
                    except KeyError:
                        return {"error": "no such key"}
                    except Exception as e:
                        raise ToolError("it failed") from e
                return wrapper

            def safely(run, *, fallback=None):
                try:
                    return run()
                except Exception as e:
                    return [{"error": f"it failed: {e}"}]  # here

            def timed(run):
                try:
                    return run()
                finally:
                    log()

            @mcp.tool
            @answered
            async def one(a: str) -> dict:
                return await load(a)

            @mcp.tool
            @answered
            async def two(a: str) -> dict:
                return await load(a)

            @mcp.tool
            @named("three")
            def three(a: str) -> dict:
                return load(a)

            @mcp.tool
            @raised
            def four(a: str) -> dict:
                return load(a)

            @mcp.tool
            def five(a: str) -> list:
                return safely(lambda: load(a))

            @mcp.tool
            def six(a: str) -> list:
                return timed(lambda: load(a))

            @answered
            async def service(a: str) -> dict:
                return await load(a)
            """,
            'answered() returns {"error": ...} for every exception of the tools that it wraps',
        ),
        # A function that gives a failure or None.
        Invalid(
            """
            import json
            from fastmcp import FastMCP

            mcp = FastMCP("x")

            def lacking(action: str, **given: object) -> str | None:
                names = [each for each, value in given.items() if not value]
                return f"Error: {action} needs {names}" if names else None

            def resolve(a: str):
                if not a:
                    return None, json.dumps({"error": "no a"})
                return {"id": a}, None

            def resolved(a: str):
                row, error = resolve(a)
                if error:
                    return None, error
                return row, None

            async def check(a: str) -> dict | None:
                if a.isdigit():
                    return {"status": "error", "reason": "a number"}

            @mcp.tool
            async def fetch(action: str, a: str) -> str:
                if error := lacking(action, a=a):
                    return error  # here
                row, error2 = resolved(a)
                if error2:
                    return error2  # here
                wrong = await check(a)
                if wrong is not None:
                    return wrong  # here
                return json.dumps(row)
            """,
            "returns what lacking() makes of it",
        ),
    )

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each answer that is a failure for certain."""
        body = body_of(handler)
        judge = Judge(handler, tool, ctx)
        answers: list[tuple[ast.expr, Value, bool]] = [
            (each.node.value, judge.called(each.node.value, each.value, each.scope), each.catch is not None)
            for each in handler.returns
            if each.node.value is not None and not _tells_nothing(each.node.value, each.scope)
        ]
        if isinstance(handler.node, ast.Lambda):
            answers.append((handler.node.body, body.value(handler.node.body), False))
        for node, value, caught in answers:
            shape = self._shape(node, value, caught, judge, body) or _checked(node, judge, body)
            if shape is None or (tool.kind == "prompt" and shape.startswith("the text")):
                continue
            statement = body.parents.get(node)
            if isinstance(statement, ast.Return) and unreachable(statement, body):
                continue
            if not shape.startswith(HAND_MADE) and _asked_for(shape, handler.name, caught=caught):
                continue
            if not caught and shape.startswith("the text") and _either_way(node, value, body):
                continue
            self._report(node, shape, handler, tool, ctx)
        self._round(handler, tool, judge, ctx)

    @staticmethod
    def _round(handler: Handler, tool: ToolDef, judge: Judge, ctx: RuleContext) -> None:
        """Report, where it is made, what a decorator or a function that runs a lambda makes of every exception."""
        decorated = not isinstance(handler.node, ast.Lambda) and len(handler.node.decorator_list) > 1
        running = [
            each
            for each in handler.returns
            if isinstance(each.node.value, ast.Call)
            and any(isinstance(one, ast.Lambda) for one in each.node.value.args)
        ]
        if not decorated and not running:
            return
        from mcpcore_lint.rules.handler._round import clauses_round, clauses_running

        clauses = clauses_round(handler, tool) if decorated else []
        for each in running:
            clauses += clauses_running(each.value)
        for around in clauses:
            if BROAD.isdisjoint(around.types()) or tool.kind == "prompt":
                continue
            judge.caught = {around.clause.name} if around.clause.name else set()
            for node in walk_shallow([*around.clause.body]):
                if not isinstance(node, ast.Return) or node.value is None:
                    continue
                shapes = [judge.failure(one, in_clause=True) for one in options(around.value(node.value))]
                shape = shapes[0]
                if shape is not None and None not in shapes and not shape.startswith(HAND_MADE):
                    ctx.report(
                        node.value,
                        f"{around.owner}() returns {shape} for every exception of the tools that it wraps, so their "
                        "failures look like successes",
                        help="let the exception through, or raise one that says what the caller can do next",
                        module=around.module,
                    )

    @staticmethod
    def _report(node: ast.expr, shape: str, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        by_hand = shape.startswith(HAND_MADE)
        ctx.report(
            node,
            f"{tool.display_name} returns {shape}, a failure without a code, a reason or a recovery"
            if by_hand
            else f"{tool.display_name} returns {shape} as if it were a result, so the failure looks like a success",
            help=where_to(tool),
            tool=tool,
            module=handler.module,
            weight=Severity.INFO if by_hand and tool.flavour != "mcpcore" else None,
        )

    @staticmethod
    def _shape(node: ast.expr, value: Value, caught: bool, judge: Judge, body: Body) -> str | None:  # noqa: FBT001
        found: list[tuple[Value, str | None]] = []
        for each in options(value):
            own = each.node is not None and inside(each.node, [node])
            in_clause = caught or (
                not own
                and each.node is not None
                and each.node in body.parents
                and body.clause_of(each.node) is not None
            )
            found.append((each, judge.failure(each, in_clause=in_clause, own=own)))
            if own and found[-1][1] is not None:
                return found[-1][1]
        failing = [shape for _, shape in found if shape is not None]
        if not failing:
            return None
        # A name that several places set is a failure where a clause set it, or where all of them did.
        set_by_clause = any(
            shape is not None and each.node in body.parents and body.clause_of(each.node) is not None
            for each, shape in found
            if each.node is not None
        )
        return failing[0] if len(failing) == len(found) or set_by_clause else None


def _either_way(node: ast.expr, value: Value, body: Body) -> bool:
    """Whether an answer says "unable to fetch it, or there is none" where there is none.

    What was asked for is at hand there, and what it holds is looked at: `rows = data.get("rows"); if not rows: ...`.
    """
    if _EITHER.match(text_start(value) or "") is None:
        return False
    test = next((each.test for each in body.above(node) if isinstance(each, ast.If)), None)
    if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Name)):
        return False
    found = body.scope(node).lookup(test.operand.id)
    return found is not None and all(
        isinstance(each.value, (ast.Subscript, ast.ListComp))
        or (
            isinstance(each.value, ast.Call)
            and isinstance(each.value.func, ast.Attribute)
            and each.value.func.attr == "get"
            and isinstance(each.value.func.value, ast.Name)
        )
        for each in found[1]
    )


def _tells_nothing(node: ast.expr, scope: Scope) -> bool:
    """Whether an answer is a table or a model without a key that tells of a failure: then none of its values counts."""
    if isinstance(node, ast.Dict):
        return all(isinstance(each, ast.Constant) and str(each.value).lower() not in TELLING for each in node.keys)
    if not isinstance(node, ast.Call) or any(each.arg is None or each.arg.lower() in TELLING for each in node.keywords):
        return False
    made = evaluate(node.func, scope)
    return isinstance(made, Symbol) and isinstance(made.definition, ast.ClassDef) and made.name not in RESULTS


def _asked_for(shape: str, name: str, *, caught: bool) -> bool:
    """Whether a tool of some name is asked for what looks like a failure."""
    if shape.startswith("{") and _CHECKUP.search(name):
        return True
    if not caught and shape.lower().endswith(('"failed"}', '"failure"}', '"fail"}')) and _FOLLOWING.search(name):
        return True
    if shape == SHOWN or shape.startswith('the text "Invalid'):
        return _CHECKING.search(name) is not None
    return not caught and shape.endswith(": False}") and _ASKED.search(name) is not None


def _checked(node: ast.expr, judge: Judge, body: Body) -> str | None:
    """What shows that a name is a failure where an `if` round it says that it is something.

    `if error := check(a): return error`, where the function that gives it returns a failure, or None.
    """
    if not isinstance(node, ast.Name) or not any(
        isinstance(each, ast.If) and inside(node, each.body) and _is_something(each.test, node.id)
        for each in body.above(node)
    ):
        return None
    return judge.failure_or_none(node.id, body.scope(node))


def _is_something(test: ast.expr, name: str) -> bool:
    """Whether a test holds only where a name is neither None nor empty."""
    match test:
        case ast.Name(id=each) | ast.NamedExpr(target=ast.Name(id=each)):
            return each == name
        case ast.Compare(left=left, ops=[ast.IsNot() | ast.NotEq()], comparators=[ast.Constant(value=None)]):
            return _is_something(left, name)
        case ast.BoolOp(op=ast.And()):
            return any(_is_something(each, name) for each in test.values)
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=each), *_]):
            return each == name
    return False
