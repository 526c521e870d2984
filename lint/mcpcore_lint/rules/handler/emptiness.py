"""What a handler answers when it has failed: nothing, as if there were nothing."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Const, Items, Mapping, Symbol, Text, Unknown, Value, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.reading.syntax import walk_shallow
from mcpcore_lint.rules._bodies import Body, body_of, mentions, origin, short, text_start, unpacked, where_to
from mcpcore_lint.rules._endings import unreachable
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext
from mcpcore_lint.rules.handler._failures import ERROR_KEYS, FAILURE_KEYS, SUCCESS_KEYS
from mcpcore_lint.rules.handler.swallowing import is_logging

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from mcpcore_lint.model import CatchSite, Handler, ToolDef

_NOTHING: Final = regex(
    r"\s*(?:no|nothing)\b.{0,60}\b(?:found|available|results?|matches|data|items?|records?)\b", re.IGNORECASE
)
_ABSENCE: Final = regex(r"NotFound|DoesNotExist|NoResult|NoSuch|Missing|Empty|NotExist|Absent|Stop(?:Async)?Iteration")
ABSENT: Final = frozenset(
    {"builtins.FileNotFoundError", "builtins.NotADirectoryError", "builtins.KeyError", "builtins.IndexError",
     "builtins.LookupError", "builtins.StopIteration", "builtins.StopAsyncIteration", "builtins.AttributeError",
     "builtins.ImportError", "builtins.ModuleNotFoundError", "builtins.ProcessLookupError", "asyncio.CancelledError",
     "builtins.EOFError", "builtins.KeyboardInterrupt", "builtins.GeneratorExit"}
)  # fmt: skip
"""Exceptions by which the language says that there is nothing: an empty answer tells the truth."""
ERROR_ISH: Final = ERROR_KEYS | SUCCESS_KEYS | FAILURE_KEYS | {
    "message", "detail", "details", "status", "warning", "warnings", "reason", "errors", "note", "hint", "msg",
    "failures",
}  # fmt: skip
_SAYS_WHY: Final = regex(
    r"error|warn|fail|note|hint|reason|status|detail|message|partial|complete|degraded|stale", re.IGNORECASE
)
"""Names beside an empty answer that may say why it is empty."""
_NOTHINGS: Final = {
    "None": "None",
    "''": "an empty string",
    "False": "False",
    "0": "0",
    "0.0": "0.0",
    "b''": "no bytes",
}


class NoFakeEmpty(Rule):
    """An `except` that answers with nothing."""

    id = "no-fake-empty"
    severity = Severity.WARNING
    family = "handler"
    summary = 'an `except` that returns an empty or default value, so that "failed" looks like "nothing found"'
    why = (
        "An agent that reads an empty list stops looking: it tells the person that there are no such articles, when "
        "the database was down for a minute. Nothing in the answer says that trying again would help."
    )
    bad = "except httpx.HTTPError:\n    return []"
    good = 'except httpx.HTTPError as error:\n    raise ctx.fail("upstream_down") from error'
    how_to_fix = "Raise what failed. Return the empty value only where the exception means that there is nothing."
    when_to_suppress = "Where the value is optional for the tool's answer, and the answer says that it is missing."
    valid = (
        """
        import httpx
        from mcpcore import tool

        class ArticleNotFound(Exception): ...

        @tool
        async def fetch(a: str) -> list[str]:
            try:
                return open(a).readlines()
            except FileNotFoundError:
                return []
            except (KeyError, ArticleNotFound):
                return []
            except httpx.HTTPStatusError as error:
                if error.response.status_code == 404:
                    return []
                raise
            except httpx.HTTPError as error:
                return {"items": [], "warning": "the index is down"}
            except Exception:
                return cached
            return []

        def service():
            try:
                return load()
            except Exception:
                return []
        """,
        """
        from mcpcore import tool

        @tool
        def fetch(a: str) -> dict:
            try:
                tags = load(a)
            except Exception:
                tags = []
            return {"name": a, "tags": tags}
        """,
        """
        import sys
        from typing import Any, Literal, NoReturn, overload
        import typing as t
        from mcpcore import not_found, tool

        @overload
        def answer(error: Exception, *, raises: Literal[True] = True) -> NoReturn: ...
        @overload
        def answer(error: Exception, *, raises: Literal[False]) -> dict[str, Any]: ...
        def answer(error: Exception, *, raises: bool = True) -> dict[str, Any]:
            if raises:
                raise not_found("x")
            return {}

        def give_up(why):
            if why:
                raise not_found(why)
            else:
                raise not_found("x")

        class Tools:
            def _failed(self, error: Exception) -> "t.Never": ...

            @tool
            async def fetch(self, a: str) -> dict | None:
                try:
                    return load(a)
                except KeyboardInterrupt:
                    sys.exit(1)
                    return None
                except ConnectionError as error:
                    answer(error)
                    return None  # for those who check returns
                except TimeoutError as error:
                    give_up(str(error))
                    return None
                except Exception as error:
                    self._failed(error)
                    return None
        """,
    )
    invalid = (
        Invalid(
            """
            import json
            import sqlite3
            import httpx
            from pydantic import BaseModel
            from mcpcore import tool

            class Page(BaseModel):
                items: list[str] = []
                total: int = 0

            class StoreError(Exception): ...

            @tool
            async def fetch(a: str) -> list[str]:
                try:
                    return await load(a)
                except httpx.HTTPError:
                    return []  # here
                except sqlite3.Error as error:
                    log(error)
                    return {"items": [], "total": 0, "query": a}  # here
                except StoreError:
                    return Page(items=[], total=0)  # here
                except TimeoutError:
                    return None  # here
                except ValueError:
                    return ""  # here
                except OSError:
                    return "No results found."  # here
                except ConnectionError:
                    return json.dumps([])  # here
                except Exception:
                    return  # here
            """,
            "returns an empty list",
        ),
        Invalid(
            """
            from mcp.server.fastmcp import FastMCP

            mcp = FastMCP("x")

            @mcp.tool()
            async def fetch(a: str) -> list[str]:
                def inner():
                    try:
                        return load(a)
                    except:
                        return dict()  # here

                try:
                    rows = inner()
                except Exception:
                    rows = []  # here
                return rows
            """,
            "returns an empty dict",
        ),
        # What is shown of it and nothing else is as empty.
        Invalid(
            """
            import json
            from mcp.types import TextContent
            from mcpcore import tool

            def as_text(value):
                return [TextContent(type="text", text=json.dumps(value))]

            @tool
            async def one(a: str) -> list[TextContent]:
                try:
                    rows = await load(a)
                except Exception:
                    rows = []  # here
                return as_text(rows)

            @tool
            async def two(a: str) -> dict:
                try:
                    rows = await load(a)
                except ConnectionError:
                    rows = []  # here
                return {"rows": rows, "count": len(rows)}

            @tool
            async def three(a: str) -> dict:
                warning = None
                try:
                    rows = await load(a)
                except Exception:
                    rows = []
                    warning = "the database does not answer"
                return {"rows": rows, "warning": warning}

            @tool
            async def four(a: str) -> dict:
                try:
                    rows = await load(a)
                except Exception:
                    rows = []
                return merged(rows, a)
            """,
            "returns an empty list",
        ),
        # To log it, to count it and to ask whether it is empty says nothing of the failure.
        Invalid(
            """
            import logging
            from mcp.server.fastmcp import FastMCP
            from mcp.types import TextContent

            mcp = FastMCP("x")

            @mcp.tool()
            def one(a: str) -> str:
                try:
                    rows = load(a)
                except Exception as error:
                    logging.error(error)
                    rows = []  # here
                logging.info(f"{len(rows)} rows")
                if len(rows) == 0:
                    return "No rows found"
                return f"{a}: {rows}"

            @mcp.tool()
            def two(a: str) -> dict:
                try:
                    row = load(a)
                except ConnectionError:
                    row = None  # here
                if row is not None and row:
                    return {"row": row}
                return {"rows": [], "total": 0} if not row else {"row": row}

            @mcp.tool()
            def three(a: str) -> dict:
                with lock:
                    try:
                        rows = load(a)
                    except OSError:
                        rows, seen = [], 0
                        rows = []  # here
                    count = len(rows)
                return {"rows": rows, "count": count}

            @mcp.tool()
            def most(a: str, more: list) -> list:
                try:
                    rows = load(a)
                except Exception as error:
                    rows = []  # here
                if len(rows) == 0 and not more:
                    return [TextContent(type="text", text=f"No rows found for {a}")]
                return [*rows, *more]

            @mcp.tool()
            def least(a: str) -> list:
                wrong = []
                try:
                    rows = load(a)
                except Exception as error:
                    rows = []
                    wrong.append(error)
                if not rows and not wrong:
                    return "No rows found"
                return rows

            @mcp.tool()
            def four(a: str) -> dict:
                why = None
                try:
                    rows = load(a)
                except Exception as error:
                    rows = []
                    why = type(error).__name__
                if why:
                    return {"rows": rows, "warning": why}
                if not rows:
                    return "No rows found"
                return rows

            @mcp.tool()
            def five(a: str) -> dict:
                try:
                    rows = load(a)
                except Exception as error:
                    rows = []
                    why = type(error).__name__
                if not rows:
                    return f"No rows found: {why}"
                return rows

            @mcp.tool()
            def six(a: str) -> dict:
                try:
                    rows = load(a)
                except Exception:
                    rows = []
                if not rows:
                    rows = other(a)
                return rows

            @mcp.tool()
            def seven(a: str) -> dict:
                try:
                    rows = load(a)
                except Exception:
                    rows = []
                if not rows:
                    return "Could not load the rows"
                return rows

            @mcp.tool()
            def eight(a: str) -> str:
                try:
                    note = forget(a)
                except Exception:
                    note = None
                return "No results available"
            """,
            'one returns "No rows found" after Exception',
        ),
        Invalid(
            """
            from typing import Literal, NoReturn, overload
            from mcpcore import not_found, tool

            @overload
            def answer(error: Exception, raises: Literal[True]) -> NoReturn: ...
            @overload
            def answer(error: Exception, raises: Literal[False] = False) -> dict: ...
            def answer(error, raises=False): ...

            def maybe(why):
                if why:
                    raise not_found(why)

            @tool
            def fetch(a: str) -> dict | None:
                try:
                    return load(a)
                except ConnectionError as error:
                    answer(error)
                    return None  # here
                except Exception as error:
                    maybe(str(error))
                    return None  # here
            """,
            "returns None",
        ),
    )

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each empty answer of a clause that hides a failure."""
        if not handler.catches:
            return
        body = body_of(handler)
        for node in body.all(ast.Return):
            catch = body.clause_of(node)
            nested = body.function_of(node) is not handler.node
            if (
                catch is None
                or not self._hides(catch, ctx, body, nested=nested)
                or self._conditional(node, catch, body)
                or unreachable(node, body)
            ):
                continue
            value = body.value(node.value) if node.value is not None else Const(node, handler.module, None)
            if nested and isinstance(value, Const) and value.value is None:
                continue  # a helper says "there is none", and who calls it looks
            empty = _empty(value)
            if empty is not None:
                self._report(node, empty, catch, handler, tool, ctx)
        for place, empty, catch in self._set_and_returned(body):
            if self._hides(catch, ctx, body, nested=False):
                self._report(place, empty, catch, handler, tool, ctx)

    @staticmethod
    def _report(node: ast.AST, empty: str, catch: CatchSite, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        names = [short(each) for each in catch.types if each is not None]
        caught = "any exception" if catch.bare or not names else " or ".join(names[:2])
        looks = "an answer" if empty in {"False", "0", "0.0"} else "nothing found"
        ctx.report(
            node,
            f"{tool.display_name} returns {empty} after {caught}, so that a failure looks like {looks}",
            help=where_to(tool) + "; return nothing only where the exception means that there is nothing",
            tool=tool,
            module=handler.module,
        )

    @staticmethod
    def _hides(catch: CatchSite, ctx: RuleContext, body: Body, *, nested: bool) -> bool:
        """Whether a clause catches what is a failure, rather than the absence of something."""
        if catch.broad:
            return True
        for name in catch.types:
            if name is None or name in ABSENT or _ABSENCE.search(short(name)):
                continue
            whose = origin(name, ctx, body.module.name)
            if whose in {"unknown", "framework"}:
                continue
            parsing = name in {"builtins.ValueError", "builtins.TypeError"}
            if not (parsing and nested):
                return True
        return False

    @staticmethod
    def _conditional(node: ast.AST, catch: CatchSite, body: Body) -> bool:
        """Whether the clause looks at the exception before it answers: a 404 is not a failure."""
        for each in body.above(node):
            if each is catch.node:
                return False
            if isinstance(each, ast.If) and catch.name is not None and mentions(each.test, catch.name):
                return True
            if isinstance(each, ast.Match) and catch.name is not None and mentions(each.subject, catch.name):
                return True
        return False

    @staticmethod
    def _set_and_returned(body: Body) -> Iterator[tuple[ast.AST, str, CatchSite]]:
        """`except Exception: rows = []`, where all that is done with `rows` before it is answered is to look at it."""
        seen: set[ast.AST] = set()
        for node in body.all(ast.Assign):
            parent = body.parents.get(node)
            if not isinstance(parent, ast.ExceptHandler) or len(node.targets) != 1 or parent in seen:
                continue
            statement = body.parents.get(parent)
            if statement is None or body.function_of(node) is not body.root:
                continue
            empty = _empty(body.value(node.value))
            if empty is None or not isinstance(node.targets[0], ast.Name):
                continue
            answered = _Emptied(parent, body).answered_behind(statement)
            if answered is not None:
                seen.add(parent)
                yield node, answered or empty, body.catches[parent]


_GOES_ON: Final = "..."


class _Emptied:
    """Follows what a clause made empty to the answer."""

    def __init__(self, clause: ast.ExceptHandler, body: Body) -> None:
        self.body = body
        self.values: dict[str, ast.expr] = {}
        """What is empty, and with what."""
        self.asked = False
        """Whether a test has led to where it is followed to."""
        self.said = {clause.name}
        """Other names that the clause sets: they may say why."""
        self.touched = {each.id for each in walk_shallow([*clause.body]) if isinstance(each, ast.Name)}
        """The names that stand in it."""
        for each in clause.body:
            if isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name):
                name = each.targets[0].id
                if _empty(body.value(each.value)) is not None:
                    self.values[name] = each.value
                else:
                    self.said.add(name)

    def answered_behind(self, statement: ast.AST) -> str | None:
        """What kind of nothing is answered behind a `try`, "" where it is what is empty; None where something is."""
        current = statement
        while True:
            told = self._answered(self.body.after(current))
            if told != _GOES_ON:
                return told
            above = self.body.parents.get(current)
            if not isinstance(above, (ast.With, ast.AsyncWith, ast.If)):
                return None
            current = above

    def _answered(self, statements: list[ast.stmt]) -> str | None:
        """What some statements answer; that they go on where they do not."""
        for each in statements:
            match each:
                case ast.Pass() | ast.Expr(value=ast.Constant()):
                    pass
                case ast.Expr(value=value) if is_logging(value, self.body):
                    pass
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._shows(value):
                    counts = isinstance(value, ast.Call) and getattr(value.func, "id", "") == "len"
                    self.values[name] = ast.Constant(0) if counts else value
                case ast.If():
                    holds = self._holds(each.test)
                    if holds is None:
                        self.asked = self._may_hold(each.test)
                        told = self._answered(each.body) if self.asked else None
                        return None if told == _GOES_ON else told
                    self.asked = True
                    told = self._answered(each.body if holds else each.orelse)
                    if told != _GOES_ON:
                        return told
                case ast.Return(value=ast.expr() as value):
                    return self._told(value)
                case _:
                    return None
        return _GOES_ON

    def _told(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.IfExp):
            holds = self._holds(node.test)
            self.asked = True
            return None if holds is None else self._told(node.body if holds else node.orelse)
        if self._shows(node):
            return ""
        if not self.asked:
            return None  # the answer is the same whatever was found
        return None if any(mentions(node, each) for each in self.said if each) else _empty(self.body.value(node))

    def _shows(self, node: ast.expr) -> bool:
        return _shown_alone(node, self.values.keys(), self.body)

    def _holds(self, test: ast.expr) -> bool | None:
        """Whether a test holds for what is empty; None where it is about something else."""
        match test:
            case ast.Name() | ast.Call(func=ast.Name(id="len")) if self._shows(test):
                return False
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                holds = self._holds(inner)
                return None if holds is None else not holds
            case ast.BoolOp(values=values):
                held = [self._holds(each) for each in values]
                decisive = isinstance(test.op, ast.Or)
                return decisive if decisive in held else None if None in held else not decisive
            case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=value)]) if self._shows(left):
                return self._compares(left, op, value)
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.List(elts=[]) | ast.Dict(keys=[])]):
                return True if isinstance(left, ast.Name) and left.id in self.values else None
        return None

    def _may_hold(self, test: ast.expr) -> bool:
        """Whether a test holds for what is empty, as far as it is not about what else the clause touches."""
        if not (isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)):
            return False
        held = {each: self._holds(each) for each in test.values}
        return (
            True in held.values()
            and False not in held.values()
            and not any(mentions(each, name) for each, holds in held.items() if holds is None for name in self.touched)
        )

    def _compares(self, left: ast.expr, op: ast.cmpop, value: object) -> bool | None:
        made = self.values.get(left.id) if isinstance(left, ast.Name) else ast.Constant(0)
        if value is None and isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            is_none = isinstance(made, ast.Constant) and made.value is None
            return is_none is isinstance(op, (ast.Is, ast.Eq))
        if type(value) is not int or not isinstance(made, ast.Constant) or made.value != 0:
            return None
        match op:
            case ast.Eq():
                return value == 0
            case ast.NotEq() | ast.Gt():
                return value != 0 if isinstance(op, ast.NotEq) else value < 0
            case ast.Lt():
                return value > 0
            case ast.GtE():
                return value <= 0
        return None


def _shown_alone(node: ast.expr, names: Collection[str], body: Body) -> bool:
    """Whether an answer is one of some names, or shows them and nothing else that could say why they are empty."""
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, (ast.Await, ast.Starred, ast.FormattedValue)):
        return _shown_alone(node.value, names, body)
    if isinstance(node, ast.Dict):
        keys = {str(each.value).lower() if isinstance(each, ast.Constant) else None for each in node.keys}
        if None in keys or keys & (ERROR_ISH | SUCCESS_KEYS) or any(_SAYS_WHY.search(each) for each in keys if each):
            return False
        return _all_shown(node.values, names, body)
    if isinstance(node, (ast.List, ast.Tuple)):
        return _all_shown(node.elts, names, body)
    if isinstance(node, ast.JoinedStr):
        return _all_shown([each for each in node.values if isinstance(each, ast.FormattedValue)], names, body)
    if isinstance(node, ast.Call):
        value = body.value(node.func)
        given = [*node.args, *(each.value for each in node.keywords)]
        if not isinstance(value, Symbol) or any(_SAYS_WHY.search(each.arg or "**") for each in node.keywords):
            return False
        if isinstance(value.definition, (ast.FunctionDef, ast.AsyncFunctionDef)) and len(given) != 1:
            return False
        shapes = value.definition is not None or value.name.startswith(("builtins.", "json.", "mcp."))
        return shapes and _all_shown(given, names, body)
    return False


def _all_shown(nodes: Sequence[ast.expr], names: Collection[str], body: Body) -> bool:
    """Whether some expressions are constants but for those that show names alone, of which there is one at least."""
    left = [each for each in nodes if not isinstance(each, ast.Constant)]
    return bool(left) and all(_shown_alone(each, names, body) for each in left)


def _empty(value: Value) -> str | None:
    """What kind of nothing a value is; None where it is something, or nobody can tell."""
    value = unpacked(value)
    if isinstance(value, Const):
        return _NOTHINGS.get(repr(value.value)) or (
            f'"{value.value.strip()[:30]}"' if isinstance(value.value, str) and _NOTHING.match(value.value) else None
        )
    if isinstance(value, Text):
        start = text_start(value)
        return f'"{start.strip()[:30]}..."' if start and _NOTHING.match(start) else None
    if isinstance(value, Items):
        if value.complete and len(value.items) == 1 and _is_text_content(value.items[0]):
            return _empty(value.items[0])
        return f"an empty {value.kind}" if value.complete and not value.items else None
    if isinstance(value, Mapping):
        if not value.complete:
            return None
        if not value.items:
            return "an empty dict"
        pairs = [((string(key) or "").lower() or None, each) for key, each in value.items]
        return "a result with nothing in it" if _all_empty(pairs) else None
    if isinstance(value, CallValue):
        if _is_text_content(value):
            return _empty(value.argument("text", 1))
        name = short(value.func.name)
        if (
            isinstance(value.func, Symbol)
            and name[:1].isupper()
            and not value.args
            and value.complete
            and value.keywords
        ):
            return f"an empty {name}" if _all_empty([*value.keywords]) else None
        return None
    return None


def _is_text_content(value: Value) -> bool:
    return isinstance(value, CallValue) and value.func.name == "mcp.TextContent"


def _all_empty(pairs: list[tuple[str | None, Value]]) -> bool:
    """Whether a result holds an empty collection, nothing that is not empty or an echo of a name, and no word why."""
    some = False
    for key, value in pairs:
        if key is None or key in ERROR_ISH - SUCCESS_KEYS:
            return False
        if key in SUCCESS_KEYS and not (isinstance(value, Const) and value.value is True):
            return False
        if isinstance(value, (Items, Mapping)):
            if value.items or not value.complete:
                return False
            some = True
        elif isinstance(value, Const):
            if value.value not in {None, "", 0} and key not in SUCCESS_KEYS:
                return False
        elif not isinstance(value, Unknown) or not isinstance(value.node, (ast.Name, ast.arg)):
            return False
    return some
