"""What a handler catches and says nothing of."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const, Mapping, Symbol, Text, Value
from mcpcore_lint.patterns import regex
from mcpcore_lint.reading.syntax import all_parameters, walk_shallow
from mcpcore_lint.rules._bodies import Body, body_of, callee, mentions, text_start, unpacked
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext
from mcpcore_lint.rules.handler._clauses import explained, following, guarding_statement, only_passes, thought_of
from mcpcore_lint.rules.handler._emptied import Emptied, empty_value, is_all_the_work
from mcpcore_lint.rules.handler._failures import ERROR_KEYS, SUCCESS_KEYS
from mcpcore_lint.rules.handler._optional import (
    goes_another_way,
    is_aside,
    is_in_passing,
    only_looks_at_files,
    only_puts_back,
    only_reads_values,
)

if TYPE_CHECKING:
    from mcpcore_lint.model import CatchSite, Handler, ToolDef

_FAILED: Final = regex(
    r"\W*(?:error|failed|failure|could(?: not|n't)|cannot|can't|unable|not able|no \w+ could)\b", re.IGNORECASE
)
"""How a sentence begins that tells of a failure."""


class NoSwallowedError(Rule):
    """A broad `except` that only passes."""

    id = "no-swallowed-error"
    severity = Severity.WARNING
    family = "handler"
    summary = "a broad `except` (or `suppress`) that only passes, continues, logs or prints"
    why = (
        "The tool goes on as if nothing had happened, and the agent reads a success: a typo in the next release, an "
        "outage and a full disk all look like a good answer. A log line tells the operator, not the agent. `OSError` "
        "counts as broad: a full disk and a missing file are both one. On a server of the SDK or FastMCP a clause that "
        "logs the failure, or says in a comment why it may pass, weighs less: somebody thought of it there. A log line "
        'changes nothing where the answer is false without the guarded code, as in `return {"rows": rows}`.'
    )
    bad = "try:\n    await index(page)\nexcept Exception:\n    pass"
    good = "try:\n    await index(page)\nexcept IndexBusyError:\n    pass  # it is indexed again tonight"
    how_to_fix = (
        "Catch the narrow exception that is expected here, or let it go: the boundary answers for what nobody expected."
    )
    when_to_suppress = "Where the work really is optional and may fail in any way; say why."
    valid = (
        """
        import json
        from fastmcp import FastMCP

        mcp = FastMCP("x")

        @mcp.tool
        def detail(a: dict) -> dict:
            found = {}
            try:
                parts = json.loads(a["parts"])
                keys = list(parts.keys())
                if keys:
                    found["owner"] = parts[keys[0]].get("owner", {}).get("id")
            except Exception:
                pass
            return found

        @mcp.tool
        def link(a: str) -> str:
            try:
                return load(a)
            except Exception as error:
                print(error)
            return "Could not load it."

        @mcp.tool
        def move(a: list[dict]) -> dict:
            moved = []
            for each in a:
                if "at" in each:
                    try:
                        moved.append(place(each["at"]))
                        continue
                    except Exception:
                        pass
                return {"success": False, "message": f"{each} stands nowhere"}
            return {"success": True, "moved": moved}
        """,
        """
        from contextlib import suppress
        from mcpcore import service_unavailable, tool

        @tool
        async def fetch(a: str) -> str:
            try:
                open(a)
            except FileNotFoundError:
                pass
            with suppress(FileNotFoundError, KeyError):
                open(a)
            try:
                open(a)
            except Exception:
                raise
            try:
                await client.aclose()
            except Exception:
                pass
            with suppress(Exception):
                client.close()
            errors = []
            try:
                open(a)
            except Exception as error:
                errors.append(error)
            for _ in range(3):
                try:
                    return open(a).read()
                except Exception as error:
                    logger.warning("again: %s", error)
            raise service_unavailable("three times")
        """,
        """
        from mcpcore import tool

        def service():
            try:
                open("x")
            except Exception:
                pass

        @tool
        async def fetch(ctx, a: str) -> str:
            try:
                await ctx.report_progress(1, 2)
            except Exception:
                pass
            try:
                shown = redacted(a)
                logger.info("called with %s", shown)
            except Exception:
                logger.warning("called")
            found = None
            try:
                found = load(a)
            except Exception:
                logger.warning("the defaults will do")
            chosen = found or DEFAULTS
            return chosen

        @tool
        async def look_up(a: str) -> dict:
            try:
                telemetry = get_telemetry()
                telemetry.upload(a)
            except Exception:
                pass
            try:
                return exact(a)
            except Exception as error:
                logger.info("no exact match: %s", error)
            owner = None
            try:
                owner = load(a)
            except Exception:
                logger.debug("nobody owns it")
            if owner is not None:
                check(owner)
            answer = {"a": a}
            try:
                count = len(load(a))
                if count:
                    answer["count"] = count
            except Exception as error:
                logger.warning("not counted: %s", error)
            for each in a:
                try:
                    if int(answer.get(each, 1)) < 1:
                        answer[each] = 1
                except Exception:
                    pass
            for each in a:
                owner = None
                try:
                    owner = load(each)
                except Exception:
                    logger.debug("nobody owns it")
                answer[each] = owner
            def later():
                try:
                    load(a)
                except Exception:
                    logger.exception("not loaded")
            threading.Thread(target=later).start()
            try:
                write(a)
            except Exception:
                try:
                    undo(a)
                except Exception:
                    logger.exception("not undone")
                raise
            return {**answer, "items": search(a)}
        """,
    )
    invalid = (
        Invalid(
            """
            import os
            from contextlib import suppress
            from pathlib import Path
            from mcpcore import tool

            @tool
            def save(path: str, text: str) -> str:
                try:
                    Path(path).write_text(text)
                except OSError:  # here
                    pass
                with suppress(IOError):  # here
                    index(path)
                try:
                    os.chmod(path, 0o600)
                except OSError:
                    pass
                size = 0
                try:
                    size = Path(path).stat().st_size
                except OSError:
                    pass
                try:
                    index(path)
                except (ConnectionError, FileNotFoundError):
                    pass
                with suppress(OSError):
                    os.unlink(path)
                return f"{size} bytes"
            """,
            "swallows every OSError",
        ),
        # The answer is false without the guarded code, logged or not.
        Invalid(
            """
            import json
            import logging
            from mcpcore import tool
            from pydantic import BaseModel

            logger = logging.getLogger(__name__)

            class Rows(BaseModel):
                rows: list
                total: int

            @tool
            def left_empty(query: str) -> dict:
                rows, total = [], 0
                try:
                    rows = search(query)
                    total = len(rows)
                except Exception as error:  # here
                    logger.error("no rows: %s", error)
                return {"success": True, "query": query, "rows": rows, "count": total}

            @tool
            def filled(query: str) -> str:
                data = {"rows": [], "total": 0}
                try:
                    data["rows"] = search(query)
                except Exception as error:  # here
                    logger.error("no rows: %s", error)
                return json.dumps(data)

            @tool
            def model(query: str) -> dict:
                rows = []
                try:
                    for page in pages(query):
                        rows.extend(page)
                except Exception as error:  # here
                    logger.error("no rows: %s", error)
                return Rows(rows=rows, total=len(rows)).model_dump()

            @tool
            def saved(name: str) -> str:
                store = connect()
                try:
                    store.write(name)
                except Exception as error:  # here
                    logger.error("not written: %s", error)
                return f"{name} is saved"

            @tool
            def nothing(name: str) -> list:
                try:
                    return search(name)
                except Exception as error:  # here
                    logger.error("no rows: %s", error)
                return []

            @tool
            def warned(query: str) -> dict:
                rows, warnings = [], []
                try:
                    rows = search(query)
                except Exception as error:
                    warnings.append(str(error))
                return {"rows": rows, "warnings": warnings}

            @tool
            def flagged(query: str) -> dict:
                rows = []
                loaded = False
                try:
                    rows = search(query)
                    loaded = True
                except Exception as error:
                    logger.error("no rows: %s", error)
                return {"rows": rows, "loaded": loaded}

            @tool
            def replaced(query: str) -> dict:
                rows = None
                try:
                    rows = search(query)
                except Exception as error:
                    logger.error("no rows: %s", error)
                if rows is None:
                    rows = stored(query)
                return {"rows": rows}

            @tool
            def beside(query: str) -> dict:
                page = load(query)
                owner = None
                try:
                    owner = owner_of(page)
                except Exception as error:
                    logger.error("no owner: %s", error)
                return {"page": page, "owner": owner}

            @tool
            def shared(query: str) -> dict:
                try:
                    return search(query)
                except ConnectionError as error:
                    logger.error("not reached: %s", error)
                except Exception as error:
                    logger.error("failed: %s", error)
                return {"error": "the search failed"}
            """,
            "swallows every exception",
        ),
        Invalid(
            """
            import contextlib
            import logging
            from contextlib import suppress as ignore
            from mcpcore import Context, tool

            log = logging.getLogger(__name__)
            Broad = (ValueError, Exception)

            @tool
            async def fetch(ctx: Context, a: str) -> str:
                try:
                    open(a)
                except Exception:  # here
                    pass
                for each in a:
                    try:
                        open(each)
                    except Broad as error:  # here
                        log.warning("no %s: %s", each, error)
                        continue
                try:
                    open(a)
                except (KeyError, Exception):  # here
                    await ctx.info("skipped")
                with ignore(Exception):  # here
                    open(a)
                try:
                    open(a)
                except:  # here
                    ...
                def inner():
                    with contextlib.suppress(BaseException):  # here
                        open(a)
                return a
            """,
            "swallows every exception",
        ),
        Invalid(
            """
            from mcp.server.fastmcp import FastMCP

            mcp = FastMCP("x")

            class Tools:
                @mcp.tool()
                def fetch(self, a: str) -> str:
                    try:
                        open(a)
                    except* Exception as group:  # here
                        if a:
                            print(group)
                    return "done"
            """,
            "swallows every exception",
        ),
        Invalid(
            """
            from fastmcp import FastMCP

            mcp = FastMCP("x")

            @mcp.tool
            def fetch(ids: list[str]) -> list[str] | None:
                found = []
                for each in ids:
                    try:
                        found.append(load(each))
                    except Exception:  # here
                        continue
                rows = None
                try:
                    rows = load(ids)
                except Exception as error:  # here
                    print(error)
                return rows

            @mcp.tool
            def save(a: str) -> dict | None:
                result = {}
                try:
                    result["rows"] = write(a)
                except Exception:  # here
                    pass
                try:
                    return write(a)
                except Exception as error:  # here
                    print(error)
                return None
            """,
            "swallows every exception",
        ),
    )

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each broad clause whose body does nothing about the failure."""
        body = body_of(handler)
        for catch in handler.catches:
            swallowed = _swallowed(catch)
            if not swallowed or not (catch.suppress or only_passes(catch.body, body)):
                continue
            if only_puts_back(catch.try_body, body) or _told_afterwards(catch, body):
                continue
            if _told_by_the_answer(catch, body):
                continue
            if only_reads_values(catch, body) or is_aside(catch) or is_in_passing(catch, body):
                continue
            if not catch.broad and only_looks_at_files(catch):
                continue
            false = _answers_falsely(catch, body)
            if not false and goes_another_way(catch, body):
                continue
            what = "`suppress`" if catch.suppress else "the `except`"
            # To log it is no reason to answer as if there were nothing.
            settled = explained(catch, body) or (
                not false and (thought_of(catch, body) or (not catch.broad and _in_a_loop(catch, body)))
            )
            ctx.report(
                catch.span,
                f"{what} in {tool.display_name} swallows {swallowed}, so the agent reads a success",
                help="catch the narrow exception that is expected here, or let it through",
                tool=tool,
                module=handler.module,
                weight=Severity.INFO if settled and tool.flavour != "mcpcore" else None,
            )


def _swallowed(catch: CatchSite) -> str:
    """The exceptions that a broad clause catches, as words; empty for a narrow clause."""
    return "every exception" if catch.broad else "every OSError" if "builtins.OSError" in catch.types else ""


def _in_a_loop(catch: CatchSite, body: Body) -> bool:
    """Whether a clause is in a loop."""
    statement = guarding_statement(catch, body)
    loops = (ast.For, ast.AsyncFor, ast.While)
    return statement is not None and any(isinstance(node, loops) for node in body.above(statement))


def _answers_falsely(catch: CatchSite, body: Body) -> bool:
    """Whether the answer is false where the guarded code fails.

    It is where it shows nothing but what that code would have filled, where it is empty and that code would have
    returned something, and where the tool does nothing else and answers the same whatever happens.
    """
    statement = guarding_statement(catch, body)
    if not isinstance(statement, ast.stmt) or body.function_of(statement) is not body.root or _in_a_loop(catch, body):
        return False
    if Emptied(catch, body).answered_behind(statement) is not None:
        return True
    after = (node for node in following(statement, body) if not only_passes([node], body))
    answer = next(after, None)
    if not isinstance(answer, ast.Return) or answer.value is None:
        return False
    otherwise = statement.orelse if isinstance(statement, (ast.Try, ast.TryStar)) else []
    if any(isinstance(node, ast.Return) for node in walk_shallow([*catch.try_body, *otherwise])):
        return empty_value(body.value(answer.value)) not in {None, "None", "False"}
    return is_all_the_work(statement, catch, body) and _claims(answer.value, body)


def _claims(answer: ast.expr, body: Body) -> bool:
    """Whether an answer claims something, and is made of constants and of the parameters: `f"{name} is saved"`."""
    parameters = {each.arg for each in all_parameters(body.root.args)}
    claim = False
    for node in walk_shallow([answer]):
        if isinstance(node, ast.Constant):
            claim = claim or node.value is True or isinstance(node.value, str)
        if isinstance(node, ast.Call) and not callee(node, body).startswith(("json.", "builtins.str", "mcp.")):
            return False
        if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(body.parents.get(node), ast.Call):
            return False
        if isinstance(node, ast.Name) and node.id not in parameters and not isinstance(body.value(node), Symbol):
            return False
    return claim


def _told_afterwards(catch: CatchSite, body: Body) -> bool:
    """Whether the failure is raised, or its value replaced, right behind the `try` or behind the retry loop."""
    node: ast.AST = catch.node
    statement = body.parents.get(node) if isinstance(node, ast.ExceptHandler) else node
    if statement is None:
        return False
    guarded = {
        each.id
        for each in walk_shallow([*catch.try_body])
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    loop = next((each for each in body.above(statement) if isinstance(each, (ast.For, ast.AsyncFor, ast.While))), None)
    for start in (statement, loop):
        if start is None:
            continue
        after = body.after(start)
        if isinstance(start, (ast.For, ast.AsyncFor, ast.While)) and start.orelse:
            after = start.orelse
        if not after:
            continue
        first = after[0]
        if isinstance(first, ast.Raise):
            return True
        if isinstance(first, ast.Assign) and isinstance(first.value, (ast.BoolOp, ast.IfExp)):
            # `items = loaded or DEFAULTS`: the missing value is visibly replaced.
            return any(mentions(first.value, each) for each in guarded)
        if isinstance(first, ast.If) and any(mentions(first.test, each) for each in guarded):
            return any(isinstance(each, ast.Raise) for each in walk_shallow([*first.body]))
    return False


def _told_by_the_answer(catch: CatchSite, body: Body) -> bool:
    """Whether what comes next is an answer that says that it failed: `return "Could not find it."`."""
    statement = guarding_statement(catch, body)
    if statement is None or any(isinstance(each, ast.Continue) for each in walk_shallow([*catch.body])):
        return False
    first = next(iter(following(statement, body)), None)
    return isinstance(first, ast.Return) and first.value is not None and _says_failure(body.value(first.value))


def _says_failure(value: Value) -> bool:
    value = unpacked(value)
    if isinstance(value, (Const, Text)):
        return _FAILED.match(text_start(value) or "") is not None
    if isinstance(value, Mapping):
        table = {str(key.value).lower(): each for key, each in value.items if isinstance(key, Const)}
        denied = (table.get(key) for key in SUCCESS_KEYS)
        return not table.keys().isdisjoint(ERROR_KEYS) or any(
            isinstance(each, Const) and each.value is False for each in denied
        )
    return False
