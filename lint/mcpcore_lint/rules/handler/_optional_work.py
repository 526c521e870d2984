"""Guarded code that is optional: the answer is just as true if it fails."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._bodies import Body, callee, mentions
from mcpcore_lint.rules.handler._except_clauses import (
    else_block,
    following,
    guarding_statement,
    is_logging,
    last_name,
    root_name,
)
from mcpcore_lint.syntax.parse import walk, walk_shallow

if TYPE_CHECKING:
    from mcpcore_lint.model import CatchSite

_CLEANUP: Final = frozenset(
    {"close", "aclose", "cleanup", "disconnect", "shutdown", "terminate", "kill", "unlink", "rmtree", "rmdir", "remove",
     "release", "rollback", "cancel", "stop", "quit", "exit", "teardown", "__exit__", "__aexit__", "logout", "dispose",
     "wait_closed", "detach", "killpg", "send_signal", "removedirs"}
)  # fmt: skip
"""Functions that clean up. Their failure is expected, and nothing depends on it."""
_SIDE_WORK: Final = regex(
    r"telemetr|posthog|sentry|mixpanel|statsd|heartbeat|^_?(?:track|record|emit|log)_(?:event|usage|call|tool|metric)"
    r"|^_?(?:save|write|store|update)_\w*cache|^_?cache_\w|(?:list|lists)_changed$|resource_updated$",
    re.IGNORECASE,
)
"""Names of functions that count, trace, cache or notify. The answer does not depend on them."""
_CONVERSIONS: Final = frozenset(
    {"json.loads", "ast.literal_eval", "datetime.datetime.fromisoformat", "datetime.date.fromisoformat", "uuid.UUID",
     "datetime.datetime.strptime", "decimal.Decimal", "urllib.parse.urlparse", "base64.b64decode"}
    | {f"builtins.{name}" for name in ("int", "float", "str", "bool", "len", "isinstance", "abs", "min", "max", "round",
                                       "dict", "list", "tuple", "set", "sorted", "range", "getattr", "hasattr", "sum")}
)  # fmt: skip
"""Functions that only convert a value."""
_VALUE_METHODS: Final = frozenset(
    {"get", "strip", "lower", "upper", "split", "splitlines", "startswith", "endswith", "replace", "items", "keys",
     "values", "group", "groups", "partition", "removeprefix", "removesuffix", "isdigit", "decode", "encode"}
)  # fmt: skip
"""Methods that read a value."""
_ADDING_METHODS: Final = frozenset({"update", "setdefault", "append", "extend", "add", "insert"})
_FILE_STATUS: Final = frozenset(
    {"stat", "lstat", "getsize", "getmtime", "getctime", "exists", "is_file", "is_dir", "isfile", "isdir", "islink",
     "is_symlink", "samefile", "access", "resolve", "realpath", "readlink", "chmod", "chown", "utime", "touch", "flush",
     "fsync", "flock", "lockf", "poll", "kill"}
)  # fmt: skip
"""Functions that read or set the status of a file, a lock or a process. Without them a detail is missing, no work."""
_PATH_FUNCTIONS: Final = frozenset({"Path", "join", "joinpath", "str", "int", "getattr", "fromtimestamp", "isoformat"})
_BACKGROUND: Final = regex(r"^(?:Thread|Timer|create_task|ensure_future|submit|start_soon|add_task|Process|spawn)$")
"""Functions that run another function in the background."""


def is_optional(catch: CatchSite, body: Body) -> bool:
    """Whether the guarded code only cleans up, converts values, does side work, or runs aside from the answer."""
    return (
        _only_cleans_up(catch.try_body, body)
        or only_converts_values(catch, body)
        or _is_side_work(catch)
        or _is_aside(catch, body)
        or (not catch.broad and _only_asks_for_status(catch))
    )


def _only_cleans_up(statements: tuple[ast.stmt, ...] | list[ast.stmt], body: Body) -> bool:
    """Whether statements only clean up, report progress, or prepare and write a line of the log."""
    last = statements[-1] if statements else None
    if isinstance(last, ast.Expr) and is_logging(last.value, body):
        statements = [statement for statement in statements if not isinstance(statement, ast.Assign)]
    for statement in statements:
        match statement:
            case ast.Pass() | ast.Delete():
                pass
            case ast.Expr(value=value):
                call = value.value if isinstance(value, ast.Await) else value
                # A call may wrap another one: asyncio.wait_for(client.close(), 5)
                calls = [call, *call.args] if isinstance(call, ast.Call) else []
                names = {last_name(part.func) for part in calls if isinstance(part, ast.Call)}
                if not is_logging(call, body) and names.isdisjoint(_CLEANUP):
                    return False
            case ast.If():
                if not _only_cleans_up(statement.body, body) or not _only_cleans_up(statement.orelse, body):
                    return False
            case ast.For() | ast.AsyncFor() | ast.With() | ast.AsyncWith():
                if not _only_cleans_up(statement.body, body):
                    return False
            case _:
                return False
    return True


def only_converts_values(catch: CatchSite, body: Body) -> bool:
    """Whether the guarded code only makes values of values: `int(text)`, `json.loads(text)`, `int(row.get("a"))`."""
    nodes = walk_shallow([*catch.try_body])
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    conversions = {call for call in calls if callee(call, body) in _CONVERSIONS}
    if not conversions:
        return False
    converted: set[str] = set()
    for node in sorted((node for node in nodes if isinstance(node, ast.Assign)), key=lambda node: node.lineno):
        if any(
            part in conversions or (isinstance(part, ast.Name) and part.id in converted) for part in walk([node.value])
        ):
            converted.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return all(
        call in conversions
        or (
            isinstance(call.func, ast.Attribute)
            and call.func.attr in _VALUE_METHODS
            and (body.parents.get(call) in conversions or root_name(call.func) in converted)
        )
        for call in calls
    )


def _only_asks_for_status(catch: CatchSite) -> bool:
    """Whether the guarded code only asks for the status of a file: `size = path.stat().st_size`."""
    calls = [last_name(node.func) for node in walk_shallow([*catch.try_body]) if isinstance(node, ast.Call)]
    return not _FILE_STATUS.isdisjoint(calls) and (_FILE_STATUS | _PATH_FUNCTIONS | _ADDING_METHODS).issuperset(calls)


def _is_side_work(catch: CatchSite) -> bool:
    """Whether the guarded code counts, traces, caches or notifies, by the names in its calls."""
    for node in walk_shallow([*catch.try_body]):
        func: ast.expr | None = node if isinstance(node, ast.Call) else None
        while isinstance(func, (ast.Attribute, ast.Call)):
            if isinstance(func, ast.Attribute) and _SIDE_WORK.search(func.attr):
                return True
            func = func.value if isinstance(func, ast.Attribute) else func.func
        if isinstance(func, ast.Name) and _SIDE_WORK.search(func.id):
            return True
    return False


def _is_aside(catch: CatchSite, body: Body) -> bool:
    """Whether another exception already leaves the function, or the code runs in the background."""
    statement = guarding_statement(catch, body)
    if statement is None:
        return False
    child: ast.AST = statement
    for parent in body.above(statement):
        if isinstance(parent, (ast.Try, ast.TryStar)) and child in parent.finalbody:
            return True
        if isinstance(parent, ast.ExceptHandler) and parent.body and isinstance(parent.body[-1], ast.Raise):
            return True
        child = parent
    function = body.function_of(statement)
    if function is body.root or isinstance(function, ast.Lambda) or statement not in function.body:
        return False
    return any(
        mentions(argument, function.name) and _BACKGROUND.search(last_name(call.func)) is not None
        for call in body.all(ast.Call)
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
    )


def has_fallback(catch: CatchSite, body: Body) -> bool:
    """Whether the code after the `try` visibly goes on without the guarded code.

    It does if the guarded code returns the answer and another attempt follows, and if the guarded code only adds to
    something that existed before, or sets names that already have a value. In a loop, "before" means in the same round:
    an item that is left out of a list goes unnoticed.
    """
    statement = guarding_statement(catch, body)
    if statement is None:
        return False
    loop = body.loop_of(statement)
    nodes = walk_shallow([*catch.try_body])
    after = following(statement, body)
    returns = (*nodes, *walk_shallow([*else_block(statement)]))
    if any(isinstance(node, ast.Return) and node.value is not None for node in returns):
        return loop is None and any(not _is_nothing(node) for node in after)
    stored = stored_by(nodes)
    if not stored or not after:
        return False
    answer = after[0].value.id if isinstance(after[0], ast.Return) and isinstance(after[0].value, ast.Name) else None
    if any(isinstance(node, ast.Name) and node.id == answer for node in stored):
        return False  # the answer itself is missing
    return all(_existed_before(node, statement, loop, catch, body) for node in stored)


def stored_by(nodes: list[ast.AST]) -> list[ast.expr]:
    """The targets that some nodes set or add to: `a = ...`, `a.b = ...`, `a["b"] = ...`, `a.update(...)`."""
    targets: list[ast.expr] = []
    for node in nodes:
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            targets.append(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDING_METHODS:
            targets.append(node.func)
    return targets


def _is_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Return(value=None | ast.Constant() | ast.List(elts=[]) | ast.Dict(keys=[])):
            return True
    return False


def _existed_before(target: ast.expr, statement: ast.stmt, loop: ast.AST | None, catch: CatchSite, body: Body) -> bool:
    """Whether a target had a value before the `try`: in the same round, if that is in a loop."""
    node = target
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    if not isinstance(node, ast.Name):
        return loop is None
    match = body.scope(statement).lookup(node.id)
    if match is None:
        return False
    is_name = node is target
    guarded = {id(part) for part in walk_shallow([*catch.try_body])}
    for binding in match[1]:
        if id(binding.node) in guarded or id(binding.value) in guarded:
            # `page = load(); page.seen = True`, `for row in rows: row.seen = True`
            if not is_name and (binding.value is not None or isinstance(binding.node, (ast.For, ast.AsyncFor))):
                return True
            continue
        line = getattr(binding.node, "lineno", 0)
        if (binding.kind == "parameter" and loop is None) or getattr(loop, "lineno", 0) < line < statement.lineno:
            empty = isinstance(binding.value, (ast.List, ast.Dict)) and len(ast.unparse(binding.value)) == len("[]")
            if is_name or not empty:
                return True
    # The code after the `try` does not read the name.
    return is_name and not any(mentions(after, node.id) for after in following(statement, body))
