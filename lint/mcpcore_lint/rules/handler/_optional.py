"""Which guarded work is optional: the answer is as true without it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._bodies import Body, callee, mentions
from mcpcore_lint.rules.handler._clauses import following, guarding_statement, is_logging, last_name
from mcpcore_lint.syntax.parse import walk, walk_shallow

if TYPE_CHECKING:
    from mcpcore_lint.model import CatchSite

CLEANUP: Final = frozenset(
    {"close", "aclose", "cleanup", "disconnect", "shutdown", "terminate", "kill", "unlink", "rmtree", "rmdir", "remove",
     "release", "rollback", "cancel", "stop", "quit", "exit", "teardown", "__exit__", "__aexit__", "logout", "dispose",
     "wait_closed", "detach", "killpg", "send_signal", "removedirs"}
)  # fmt: skip
"""Calls that put things back: that they may fail is expected, and nothing depends on it."""
_ASIDE: Final = regex(
    r"telemetr|posthog|sentry|mixpanel|statsd|heartbeat|^_?(?:track|record|emit|log)_(?:event|usage|call|tool|metric)"
    r"|^_?(?:save|write|store|update)_\w*cache|^_?cache_\w|(?:list|lists)_changed$|resource_updated$",
    re.IGNORECASE,
)
"""Names of side work: counting, tracing, caching, notifying. The answer does not depend on it."""
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
FILE_LOOKS: Final = frozenset(
    {"stat", "lstat", "getsize", "getmtime", "getctime", "exists", "is_file", "is_dir", "isfile", "isdir", "islink",
     "is_symlink", "samefile", "access", "resolve", "realpath", "readlink", "chmod", "chown", "utime", "touch", "flush",
     "fsync", "flock", "lockf", "poll", "kill"}
)  # fmt: skip
"""Calls that look at a file, a lock or a process, or set what is aside: without them a value is missing, no work."""
_OF_PATHS: Final = frozenset({"Path", "join", "joinpath", "str", "int", "getattr", "fromtimestamp", "isoformat"})
"""What makes the paths and the values of those calls."""
_HANDED_ON: Final = regex(r"^(?:Thread|Timer|create_task|ensure_future|submit|start_soon|add_task|Process|spawn)$")
"""What runs a function by itself, while the handler goes on."""


def only_puts_back(statements: tuple[ast.stmt, ...] | list[ast.stmt], body: Body) -> bool:
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
                if isinstance(inner, ast.Call) and (last_name(inner.func) in CLEANUP or is_logging(inner, body)):
                    continue
                if isinstance(inner, ast.Call) and any(
                    isinstance(part, ast.Call) and last_name(part.func) in CLEANUP for part in inner.args
                ):
                    continue  # asyncio.wait_for(client.close(), 5)
            case ast.If():
                if only_puts_back(each.body, body) and only_puts_back(each.orelse, body):
                    continue
            case ast.For() | ast.AsyncFor() | ast.With() | ast.AsyncWith():
                if only_puts_back(each.body, body):
                    continue
            case ast.Delete():
                continue
        return False
    return True


def only_reads_values(catch: CatchSite, body: Body) -> bool:
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
            and (body.parents.get(each) in converting or root_name(each.func) in made)
        )
        for each in calls
    )


def only_looks_at_files(catch: CatchSite) -> bool:
    """Whether what is guarded only asks the file system about a file: `size = path.stat().st_size`."""
    calls = [last_name(node.func) for node in walk_shallow([*catch.try_body]) if isinstance(node, ast.Call)]
    return not FILE_LOOKS.isdisjoint(calls) and FILE_LOOKS.union(_OF_PATHS, ADDS).issuperset(calls)


def root_name(node: ast.expr) -> str:
    """The name that an expression of attributes, items and calls begins with."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def is_aside(catch: CatchSite) -> bool:
    """Whether the guarded code is side work, judged by the names of the functions that it calls."""
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


def goes_another_way(catch: CatchSite, body: Body) -> bool:
    """Whether the code behind the `try` goes on without what could not be had, in plain sight.

    That is so where the guarded code would have returned the answer and another attempt follows, and where it only adds
    to something that was there before, or sets names that have a value already. In a loop, "before" is in the same
    round: what is left out of a list is missed by nobody.
    """
    statement = guarding_statement(catch, body)
    if statement is None:
        return False
    loop = next((each for each in body.above(statement) if isinstance(each, (ast.For, ast.AsyncFor, ast.While))), None)
    nodes = walk_shallow([*catch.try_body])
    after = following(statement, body)
    otherwise = walk_shallow([*statement.orelse]) if isinstance(statement, (ast.Try, ast.TryStar)) else []
    if any(isinstance(each, ast.Return) and each.value is not None for each in (*nodes, *otherwise)):
        return loop is None and any(not _is_nothing(each) for each in after)
    stored = stored_by(nodes)
    if not stored or not after:
        return False
    answer = after[0].value.id if isinstance(after[0], ast.Return) and isinstance(after[0].value, ast.Name) else None
    if any(isinstance(each, ast.Name) and each.id == answer for each in stored):
        return False  # what the answer consists of could not be had
    return all(_had_before(each, statement, loop, catch, body) for each in stored)


def stored_by(nodes: list[ast.AST]) -> list[ast.expr]:
    """What some statements set or add to: `a = ...`, `a.b = ...`, `a["b"] = ...`, `a.update(...)`."""
    found: list[ast.expr] = []
    for each in nodes:
        if isinstance(each, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(each.ctx, ast.Store):
            found.append(each)
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in ADDS:
            found.append(each.func)
    return found


def is_in_passing(catch: CatchSite, body: Body) -> bool:
    """Whether another exception already leaves the function, or the code runs in a separate thread or task."""
    statement = guarding_statement(catch, body)
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
    # No caller waits for the answer of a separate thread or task.
    return any(
        mentions(argument, function.name) and _HANDED_ON.search(last_name(call.func)) is not None
        for call in body.all(ast.Call)
        for argument in (*call.args, *(each.value for each in call.keywords))
    )


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
    return whole and not any(mentions(each, node.id) for each in following(statement, body))
