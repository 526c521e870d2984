"""What a handler catches and says nothing of."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.model import Const, Mapping, Text, Value
from mcpcore_lint.patterns import regex
from mcpcore_lint.reading.syntax import walk, walk_shallow
from mcpcore_lint.rules._bodies import Body, body_of, callee, mentions, text_start, unpacked
from mcpcore_lint.rules.base import Invalid, Rule, RuleContext
from mcpcore_lint.rules.handler._failures import ERROR_KEYS, SUCCESS_KEYS

if TYPE_CHECKING:
    from mcpcore_lint.model import CatchSite, Handler, ToolDef

LOG_METHODS: Final = frozenset(
    {"debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log", "notice", "trace", "print"}
)
_LOGGER: Final = regex(r"log|console|^(?:ctx|context)$", re.IGNORECASE)
LOG_CALLS: Final = frozenset(
    {"print", "builtins.print", "warnings.warn", "traceback.print_exc", "traceback.print_exception", "sys.stderr.write",
     "sys.stdout.write", "pprint.pprint", "sentry_sdk.capture_exception"}
)  # fmt: skip
CLEANUP: Final = frozenset(
    {"close", "aclose", "cleanup", "disconnect", "shutdown", "terminate", "kill", "unlink", "rmtree", "rmdir", "remove",
     "release", "rollback", "cancel", "stop", "quit", "exit", "teardown", "__exit__", "__aexit__", "logout", "dispose",
     "wait_closed", "detach"}
)  # fmt: skip
"""Calls that put things back: that they may fail is expected, and nothing depends on it."""
PROGRESS: Final = frozenset({"report_progress", "send_progress_notification", "send_log_message", "log"})
_ASIDE: Final = regex(
    r"telemetr|posthog|sentry|mixpanel|statsd|heartbeat|^_?(?:track|record|emit|log)_(?:event|usage|call|tool|metric)"
    r"|^_?(?:save|write|store|update)_\w*cache|^_?cache_\w|(?:list|lists)_changed$|resource_updated$",
    re.IGNORECASE,
)
"""Names of what is done beside the work: counting, tracing, caching, notifying. The answer does not depend on it."""
CONVERSIONS: Final = frozenset(
    {"json.loads", "ast.literal_eval", "datetime.datetime.fromisoformat", "datetime.date.fromisoformat", "uuid.UUID",
     "datetime.datetime.strptime", "decimal.Decimal", "urllib.parse.urlparse", "base64.b64decode"}
    | {f"builtins.{each}" for each in ("int", "float", "str", "bool", "len", "isinstance", "abs", "min", "max", "round",
                                       "dict", "list", "tuple", "set", "sorted", "range", "getattr", "hasattr", "sum")}
)  # fmt: skip
"""Calls that only make one value of another."""
LOOKS: Final = frozenset(
    {"get", "strip", "lower", "upper", "split", "splitlines", "startswith", "endswith", "replace", "items", "keys",
     "values", "group", "groups", "partition", "removeprefix", "removesuffix", "isdigit", "decode", "encode"}
)  # fmt: skip
"""Methods that look something up in a value at hand."""
ADDS: Final = frozenset({"update", "setdefault", "append", "extend", "add", "insert"})
"""Methods that add to what is there."""
_HANDED_ON: Final = regex(r"^(?:Thread|Timer|create_task|ensure_future|submit|start_soon|add_task|Process|spawn)$")
"""What runs a function by itself, while the handler goes on."""


_FAILED: Final = regex(
    r"\W*(?:error|failed|failure|could(?: not|n't)|cannot|can't|unable|not able|no \w+ could)\b", re.IGNORECASE
)
"""How a sentence begins that tells of a failure."""
_REASON: Final = regex(
    r"#\s*(?!noqa|type:|pylint:|pragma:|mcpcore:|nosec|todo|fixme|here\b)\w+(?:\W+\w+)+", re.IGNORECASE
)
"""A comment of two words and more that is none for a tool."""


def _last(node: ast.expr) -> str:
    while isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def is_logging(node: ast.expr, body: Body) -> bool:
    """Whether an expression only tells a log, a console or the client's log of something."""
    if isinstance(node, ast.Await):
        node = node.value
    if not isinstance(node, ast.Call):
        return False
    func = node.func
    if isinstance(func, ast.Attribute):
        if func.attr in LOG_METHODS and _LOGGER.search(_last(func.value)):
            return True
        if func.attr in PROGRESS:
            return True
    return callee(node, body) in LOG_CALLS


def _only_passes(statements: tuple[ast.stmt, ...] | list[ast.stmt], body: Body) -> bool:
    for each in statements:
        match each:
            case ast.Pass() | ast.Continue():
                continue
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Expr(value=value) if is_logging(value, body):
                continue
            case ast.If():
                if _only_passes(each.body, body) and _only_passes(each.orelse, body):
                    continue
        return False
    return True


def _only_puts_back(statements: tuple[ast.stmt, ...] | list[ast.stmt], body: Body) -> bool:
    """Whether guarded statements only clean up, or only report progress, or prepare a line of the log."""
    last = statements[-1] if statements else None
    if isinstance(last, ast.Expr) and is_logging(last.value, body):
        statements = [each for each in statements if not isinstance(each, ast.Assign)]
    for each in statements:
        match each:
            case ast.Pass():
                continue
            case ast.Expr(value=value):
                inner = value.value if isinstance(value, ast.Await) else value
                if isinstance(inner, ast.Call) and (_last(inner.func) in CLEANUP or is_logging(inner, body)):
                    continue
                if isinstance(inner, ast.Call) and any(
                    isinstance(part, ast.Call) and _last(part.func) in CLEANUP for part in inner.args
                ):
                    continue  # asyncio.wait_for(client.close(), 5)
            case ast.If():
                if _only_puts_back(each.body, body) and _only_puts_back(each.orelse, body):
                    continue
            case ast.For() | ast.AsyncFor() | ast.With() | ast.AsyncWith():
                if _only_puts_back(each.body, body):
                    continue
            case ast.Delete():
                continue
        return False
    return True


def _told_afterwards(catch: CatchSite, body: Body) -> bool:
    """Whether the failure is told, or made good, right behind the `try`, or behind the loop that tries again."""
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
            # `items = loaded or DEFAULTS`: what could not be had is replaced in plain sight.
            return any(mentions(first.value, each) for each in guarded)
        if isinstance(first, ast.If) and any(mentions(first.test, each) for each in guarded):
            return any(isinstance(each, ast.Raise) for each in walk_shallow([*first.body]))
    return False


def _told_by_the_answer(catch: CatchSite, body: Body) -> bool:
    """Whether what comes next is an answer that says that it failed: `return "Could not find it."`."""
    statement = _statement(catch, body)
    if statement is None or any(isinstance(each, ast.Continue) for each in walk_shallow([*catch.body])):
        return False
    first = next(iter(_following(statement, body)), None)
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


def _thought_of(catch: CatchSite, body: Body) -> bool:
    """Whether somebody settled that the work goes on: it is logged, or a comment says why."""
    if any(isinstance(each, ast.Expr) and is_logging(each.value, body) for each in walk_shallow([*catch.body])):
        return True
    if not catch.body:
        return False
    source = body.module.source
    lines = range(catch.span.line, (catch.body[-1].end_lineno or catch.body[-1].lineno) + 1)
    return any(_REASON.search(source.line(number)) for number in lines)


def _only_reads_values(catch: CatchSite, body: Body) -> bool:
    """Whether what is guarded only makes values of values: `int(text)`, `json.loads(text)`, `int(row.get("a"))`.

    What does not fit is left as it is. No work can fail in it.
    """
    nodes = walk_shallow([*catch.try_body])
    calls = [each for each in nodes if isinstance(each, ast.Call)]
    converting = {each for each in calls if callee(each, body) in CONVERSIONS}
    if not converting:
        return False
    made: set[str] = set()
    for each in sorted((each for each in nodes if isinstance(each, ast.Assign)), key=lambda one: one.lineno):
        if any(part in converting or (isinstance(part, ast.Name) and part.id in made) for part in walk([each.value])):
            made.update(target.id for target in each.targets if isinstance(target, ast.Name))
    return all(
        each in converting
        or (
            isinstance(each.func, ast.Attribute)
            and each.func.attr in LOOKS
            and (body.parents.get(each) in converting or _root(each.func) in made)
        )
        for each in calls
    )


def _root(node: ast.expr) -> str:
    """The name that an expression of attributes, items and calls begins with."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _aside(catch: CatchSite) -> bool:
    """Whether what is guarded is done beside the work, as far as the names of what is called tell."""
    for each in walk_shallow([*catch.try_body]):
        if not isinstance(each, ast.Call):
            continue
        node: ast.expr = each.func
        while isinstance(node, (ast.Attribute, ast.Call)):
            if isinstance(node, ast.Attribute):
                if _ASIDE.search(node.attr):
                    return True
                node = node.value
            else:
                node = node.func
        if isinstance(node, ast.Name) and _ASIDE.search(node.id):
            return True
    return False


def _goes_another_way(catch: CatchSite, body: Body) -> bool:
    """Whether the code behind the `try` goes on without what could not be had, in plain sight.

    That is so where the guarded code would have returned the answer and another attempt follows, and where it only adds
    to something that was there before, or sets names that have a value already. In a loop, "before" is in the same
    round: what is left out of a list is missed by nobody.
    """
    statement = _statement(catch, body)
    if statement is None:
        return False
    loop = next((each for each in body.above(statement) if isinstance(each, (ast.For, ast.AsyncFor, ast.While))), None)
    nodes = walk_shallow([*catch.try_body])
    after = _following(statement, body)
    otherwise = walk_shallow([*statement.orelse]) if isinstance(statement, (ast.Try, ast.TryStar)) else []
    if any(isinstance(each, ast.Return) and each.value is not None for each in (*nodes, *otherwise)):
        return loop is None and any(not _is_nothing(each) for each in after)
    stored = _stored(nodes)
    if not stored or not after:
        return False
    answer = after[0].value.id if isinstance(after[0], ast.Return) and isinstance(after[0].value, ast.Name) else None
    if any(isinstance(each, ast.Name) and each.id == answer for each in stored):
        return False  # what the answer consists of could not be had
    return all(_had_before(each, statement, loop, catch, body) for each in stored)


def _statement(catch: CatchSite, body: Body) -> ast.AST | None:
    """The `try` or `with` that a clause belongs to."""
    return body.parents.get(catch.node) if isinstance(catch.node, ast.ExceptHandler) else catch.node


def _stored(nodes: list[ast.AST]) -> list[ast.expr]:
    """What some statements set or add to: `a = ...`, `a.b = ...`, `a["b"] = ...`, `a.update(...)`."""
    found: list[ast.expr] = []
    for each in nodes:
        if isinstance(each, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(each.ctx, ast.Store):
            found.append(each)
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in ADDS:
            found.append(each.func)
    return found


def _in_passing(catch: CatchSite, body: Body) -> bool:
    """Whether the failure is already told by another way: on the way out of the function, or in work handed on."""
    statement = _statement(catch, body)
    if statement is None:
        return False
    below: ast.AST = statement
    for each in body.above(statement):
        if isinstance(each, (ast.Try, ast.TryStar)) and below in each.finalbody:
            return True
        if isinstance(each, ast.ExceptHandler) and each.body and isinstance(each.body[-1], ast.Raise):
            return True
        below = each
    function = body.function_of(statement)
    if function is body.root or isinstance(function, ast.Lambda) or statement not in function.body:
        return False
    # What a thread or a task of its own runs has nobody to tell.
    return any(
        mentions(argument, function.name) and _HANDED_ON.search(_last(call.func)) is not None
        for call in body.all(ast.Call)
        for argument in (*call.args, *(each.value for each in call.keywords))
    )


def _following(statement: ast.AST, body: Body) -> list[ast.stmt]:
    """What is done behind a statement: in its own block, and behind the blocks round that one."""
    found: list[ast.stmt] = []
    current: ast.AST | None = statement
    while current is not None and current is not body.root:
        if isinstance(current, ast.stmt):
            found += body.after(current)
        current = body.parents.get(current)
        if isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            break
    return found


def _is_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Return(value=None) | ast.Return(value=ast.Constant()):
            return True
        case ast.Return(value=ast.List(elts=[])) | ast.Return(value=ast.Dict(keys=[])):
            return True
    return False


def _had_before(target: ast.expr, statement: ast.AST, loop: ast.AST | None, catch: CatchSite, body: Body) -> bool:
    """Whether what is stored into had a value before the `try`: in the same round, where that is in a loop."""
    node = target
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    if not isinstance(node, ast.Name):
        return loop is None
    whole = node is target
    found = body.scope(statement).lookup(node.id)
    if found is None:
        return False
    guarded = {id(each) for each in walk_shallow([*catch.try_body])}
    first, last = getattr(loop, "lineno", 0), getattr(statement, "lineno", 0)
    for binding in found[1]:
        if id(binding.node) in guarded or id(binding.value) in guarded:
            if not whole and (binding.value is not None or isinstance(binding.node, (ast.For, ast.AsyncFor))):
                return True  # `found = load(); found.seen = True`, `for each in found: each.seen = True`
            continue
        line = getattr(binding.node, "lineno", 0)
        if (binding.kind == "parameter" and loop is None) or first < line < last:
            empty = isinstance(binding.value, (ast.List, ast.Dict)) and len(ast.unparse(binding.value)) == len("[]")
            if whole or not empty:
                return True
    # A name that nothing behind the guarded code reads.
    return whole and not any(mentions(each, node.id) for each in _following(statement, body))


class NoSwallowedError(Rule):
    """A broad `except` that only passes."""

    id = "no-swallowed-error"
    severity = Severity.WARNING
    family = "handler"
    summary = "a broad `except` (or `suppress`) that only passes, continues, logs or prints"
    why = (
        "The tool goes on as if nothing had happened, and the agent reads a success: a typo in the next release, an "
        "outage and a full disk all look like a good answer. A log line tells the operator, not the agent. On a server "
        "of the SDK or FastMCP a clause that logs the failure, or says in a comment why it may pass, weighs less: "
        "somebody thought of it there, and what is left out may well be missed by nobody."
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
            if not catch.broad or not (catch.suppress or _only_passes(catch.body, body)):
                continue
            if _only_puts_back(catch.try_body, body) or _told_afterwards(catch, body):
                continue
            if _told_by_the_answer(catch, body):
                continue
            if (
                _only_reads_values(catch, body)
                or _aside(catch)
                or _in_passing(catch, body)
                or _goes_another_way(catch, body)
            ):
                continue
            what = "`suppress`" if catch.suppress else "the `except`"
            ctx.report(
                catch.span,
                f"{what} in {tool.display_name} swallows every exception, so the agent reads a success",
                help="catch the narrow exception that is expected here, or let it through",
                tool=tool,
                module=handler.module,
                weight=Severity.INFO if tool.flavour != "mcpcore" and _thought_of(catch, body) else None,
            )
