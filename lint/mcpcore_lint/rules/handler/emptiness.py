"""What a handler answers when it has failed: nothing, as if there were nothing."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import CallValue, Const, Items, Mapping, Symbol, Text, Unknown, Value, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._bodies import Body, body_of, mentions, origin, short, text_start, unpacked, where_to
from mcpcore_lint.rules._endings import unreachable
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext
from mcpcore_lint.rules.handler._failures import ERROR_KEYS, FAILURE_KEYS, SUCCESS_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
        """`except Exception: rows = []`, where the next thing that happens is `return rows`."""
        for node in body.all(ast.Assign):
            parent = body.parents.get(node)
            if not isinstance(parent, ast.ExceptHandler) or len(node.targets) != 1:
                continue
            target = node.targets[0]
            statement = body.parents.get(parent)
            if not isinstance(target, ast.Name) or statement is None or body.function_of(node) is not body.root:
                continue
            after = body.after(statement)
            if not after or not isinstance(after[0], ast.Return) or after[0].value is None:
                continue
            empty = _empty(body.value(node.value))
            if empty is not None and _shown_alone(after[0].value, target.id, body):
                yield node, empty, body.catches[parent]


def _shown_alone(node: ast.expr, name: str, body: Body) -> bool:
    """Whether an answer is a name, or shows it and nothing else that could say why it is empty."""
    if isinstance(node, ast.Name):
        return node.id == name
    if isinstance(node, (ast.Await, ast.Starred, ast.FormattedValue)):
        return _shown_alone(node.value, name, body)
    if isinstance(node, ast.Dict):
        keys = {str(each.value).lower() if isinstance(each, ast.Constant) else None for each in node.keys}
        if None in keys or keys & (ERROR_ISH | SUCCESS_KEYS) or any(_SAYS_WHY.search(each) for each in keys if each):
            return False
        return _all_shown(node.values, name, body)
    if isinstance(node, (ast.List, ast.Tuple)):
        return _all_shown(node.elts, name, body)
    if isinstance(node, ast.JoinedStr):
        return _all_shown([each for each in node.values if isinstance(each, ast.FormattedValue)], name, body)
    if isinstance(node, ast.Call):
        value = body.value(node.func)
        given = [*node.args, *(each.value for each in node.keywords)]
        if not isinstance(value, Symbol) or any(_SAYS_WHY.search(each.arg or "**") for each in node.keywords):
            return False
        if isinstance(value.definition, (ast.FunctionDef, ast.AsyncFunctionDef)) and len(given) != 1:
            return False
        shapes = value.definition is not None or value.name.startswith(("builtins.", "json.", "mcp."))
        return shapes and _all_shown(given, name, body)
    return False


def _all_shown(nodes: Sequence[ast.expr], name: str, body: Body) -> bool:
    """Whether some expressions are constants but for those that show a name alone, of which there is one at least."""
    left = [each for each in nodes if not isinstance(each, ast.Constant)]
    return bool(left) and all(_shown_alone(each, name, body) for each in left)


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
        return f"an empty {value.kind}" if value.complete and not value.items else None
    if isinstance(value, Mapping):
        if not value.complete:
            return None
        if not value.items:
            return "an empty dict"
        pairs = [((string(key) or "").lower() or None, each) for key, each in value.items]
        return "a result with nothing in it" if _all_empty(pairs) else None
    if isinstance(value, CallValue):
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
