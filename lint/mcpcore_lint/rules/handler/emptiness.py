"""What a handler answers when it has failed: nothing, as if there were nothing."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._bodies import Body, body_of, mentions, origin, short, where_to
from mcpcore_lint.rules._endings import unreachable
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext
from mcpcore_lint.rules.handler._emptied import Emptied, emptied_parts, empty_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.model import CatchSite, Handler, ToolDef

_ABSENCE: Final = regex(r"NotFound|DoesNotExist|NoResult|NoSuch|Missing|Empty|NotExist|Absent|Stop(?:Async)?Iteration")
ABSENT: Final = frozenset(
    {"builtins.FileNotFoundError", "builtins.NotADirectoryError", "builtins.KeyError", "builtins.IndexError",
     "builtins.LookupError", "builtins.StopIteration", "builtins.StopAsyncIteration", "builtins.AttributeError",
     "builtins.ImportError", "builtins.ModuleNotFoundError", "builtins.ProcessLookupError", "asyncio.CancelledError",
     "builtins.EOFError", "builtins.KeyboardInterrupt", "builtins.GeneratorExit"}
)  # fmt: skip
"""Exceptions by which the language says that there is nothing: an empty answer tells the truth."""


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
        # A part of the answer is as empty.
        Invalid(
            """
            import json
            import logging
            from mcpcore import tool

            @tool
            def tagged(name: str) -> dict:
                result = {"page": load(name)}
                try:
                    result["tags"] = tags_of(name)
                except Exception:
                    result["tags"] = {}  # here
                return result

            @tool
            def counted(name: str) -> str:
                result = load(name)
                try:
                    number = count(name)
                    result.number = number
                except ConnectionError as error:
                    logging.warning("not counted: %s", error)
                    result.number = 0  # here
                return json.dumps({"data": result})

            @tool
            def searched(query: str) -> dict:
                try:
                    rows = search(query)
                except Exception:
                    rows = []  # here
                return {"query": query, "rows": rows, "count": len(rows)}

            @tool
            def explained(name: str) -> dict:
                result = {"page": load(name)}
                try:
                    result["tags"] = tags_of(name)
                except Exception as error:
                    result["tags"] = {}
                    result["tags_error"] = str(error)
                return result

            @tool
            def unknown(name: str) -> dict:
                result = {"page": load(name)}
                try:
                    result["owner"], result["online"] = owner_of(name)
                except Exception:
                    result["owner"] = None
                    result["online"] = False
                return result

            @tool
            def replaced(name: str) -> dict:
                result = {"page": load(name)}
                try:
                    result["tags"] = tags_of(name)
                except Exception:
                    result["tags"] = []
                if not result["tags"]:
                    result["tags"] = stored(name)
                return result

            @tool
            def parsed(name: str) -> dict:
                result = {"page": load(name)}
                try:
                    result["number"] = int(name)
                except Exception:
                    result["number"] = 0
                return result
            """,
            'returns an empty dict as "tags" after Exception',
        ),
        # Of several assignments, the one that reaches the `return` counts.
        Invalid(
            """
            from mcpcore import tool

            @tool
            def late(name: str) -> dict:
                result = {}
                try:
                    result = load(name)
                    return result
                except ConnectionError:
                    result = stored(name)
                    return result
                except OSError:
                    result = []
                    return result  # here

            @tool
            def branched(name: str) -> dict:
                value = load(name)
                try:
                    return search(value)
                except OSError:
                    if name:
                        value = []
                    return value
                except Exception:
                    value = []
                    return value  # here
            """,
            "returns an empty list after OSError",
        ),
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
            empty = empty_value(value)
            if empty is not None:
                self._report(node, empty, catch, handler, tool, ctx)
        for place, empty, catch in self._set_and_returned(body):
            if self._hides(catch, ctx, body, nested=False):
                self._report(place, empty, catch, handler, tool, ctx)
        for catch in handler.catches:
            if catch.function is handler.node and self._hides(catch, ctx, body, nested=True):
                for place, part, empty in emptied_parts(catch, body):
                    self._report(place, empty, catch, handler, tool, ctx, part=part)

    @staticmethod
    def _report(
        node: ast.AST,
        empty: str,
        catch: CatchSite,
        handler: Handler,
        tool: ToolDef,
        ctx: RuleContext,
        *,
        part: str = "",
    ) -> None:
        names = [short(each) for each in catch.types if each is not None]
        caught = "any exception" if catch.bare or not names else " or ".join(names[:2])
        looks = "an answer" if empty in {"False", "0", "0.0"} else "nothing found"
        whole = f' as "{part}"' if part else ""
        # On plain servers a part that is left empty is often meant so, and the rest of the answer is true.
        thought = bool(part) and tool.flavour != "mcpcore"
        ctx.report(
            node,
            f"{tool.display_name} returns {empty}{whole} after {caught}, so that a failure looks like {looks}",
            help="add a key that says which part failed, and why"
            if part
            else where_to(tool) + "; return nothing only where the exception means that there is nothing",
            tool=tool,
            module=handler.module,
            weight=Severity.INFO if thought else None,
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
            empty = empty_value(body.value(node.value))
            if empty is None or not isinstance(node.targets[0], ast.Name):
                continue
            answered = Emptied(body.catches[parent], body).answered_behind(statement)
            if answered is not None:
                seen.add(parent)
                yield node, answered or empty, body.catches[parent]
