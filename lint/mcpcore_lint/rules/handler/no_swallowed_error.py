"""no-swallowed-error: a broad `except` clause that only passes, continues or logs."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, callee, mentions
from mcpcore_lint.semantics.signatures import last_name
from mcpcore_lint.syntax.parse import walk_shallow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpcore_lint.model import CatchSite, Handler, ToolDef

_LOG_METHODS: Final = frozenset(
    {"debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log", "notice", "trace", "print"}
)
_LOGGER: Final = regex(r"log|console|^(?:ctx|context)$", re.IGNORECASE)
_LOG_CALLS: Final = frozenset(
    {"print", "builtins.print", "warnings.warn", "traceback.print_exc", "traceback.print_exception", "sys.stderr.write",
     "sys.stdout.write", "pprint.pprint", "sentry_sdk.capture_exception"}
)  # fmt: skip
_PROGRESS: Final = frozenset({"report_progress", "send_progress_notification", "send_log_message", "log"})
_CLEANUP: Final = frozenset(
    {"close", "aclose", "cleanup", "disconnect", "shutdown", "terminate", "kill", "unlink", "rmtree", "rmdir", "remove",
     "release", "rollback", "cancel", "stop", "quit", "exit", "teardown", "__exit__", "__aexit__", "logout", "dispose",
     "wait_closed", "detach", "killpg", "send_signal", "removedirs"}
)  # fmt: skip
"""Functions that clean up. Their failure is expected, and nothing depends on it."""
_ADDING_METHODS: Final = frozenset({"update", "setdefault", "append", "extend", "add", "insert"})
_NOTHING: Final = frozenset({"pass", "return", "return None", "return ''", "return []", "return {}", "return False"})
"""Statements that are no other attempt at an answer."""
_BACKGROUND: Final = regex(r"^(?:Thread|Timer|create_task|ensure_future|submit|start_soon|add_task|Process|spawn)$")
"""Functions that run another function in the background."""


class NoSwallowedError(Rule):
    """A broad `except` clause that only passes."""

    id = "no-swallowed-error"
    severity = Severity.WARNING
    family = "handler"
    summary = "the agent reads a success: a broad `except` (or `suppress`) only passes, continues, logs or prints"
    why = (
        "The tool goes on after the failure, so a typo in the next release, an outage and a full disk all look like a "
        "good answer. A log line informs the operator, not the agent. `OSError` counts as broad: a full disk and a "
        "missing file are both one. On a server of the SDK or FastMCP a clause that logs the failure is "
        "reported as information, because it is deliberate."
    )
    bad = "try:\n    await index(page)\nexcept Exception:\n    pass"
    good = "try:\n    await index(page)\nexcept IndexBusyError:\n    pass  # it is indexed again tonight"
    how_to_fix = (
        "Catch the narrow exception that is expected here, or let the exception through: the boundary reports it to "
        "the client."
    )
    when_to_suppress = "If the work really is optional and may fail in any way. Say why."

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each broad clause whose body does nothing about the failure."""
        body = body_of(handler)
        for catch in handler.catches:
            swallowed = (
                "every exception" if catch.broad else "every OSError" if "builtins.OSError" in catch.types else ""
            )
            node = body.parents.get(catch.node) if isinstance(catch.node, ast.ExceptHandler) else catch.node
            statement = body.statement_of(node) if node is not None else None
            if not swallowed or statement is None or not (catch.suppress or _only_passes(catch.body, body)):
                continue
            if (
                _only_cleans_up(catch.try_body, body)
                or _is_aside(statement, body)
                or _is_answered(catch, statement, body)
            ):
                continue
            logs = any(
                _is_logging(node.value, body) for node in walk_shallow([*catch.body]) if isinstance(node, ast.Expr)
            )
            deliberate = logs or (not catch.broad and body.loop_of(statement) is not None)
            ctx.report(
                catch.span,
                f"{'`suppress`' if catch.suppress else 'the `except`'} in {tool.display_name} swallows {swallowed}, so "
                "the agent reads a success",
                help="catch the narrow exception that is expected here, or let it through",
                tool=tool,
                module=handler.module,
                weight=Severity.INFO if deliberate and tool.flavour != "mcpcore" else None,
            )


def _is_logging(node: ast.expr, body: Body) -> bool:
    """Whether an expression only writes to a log, to a console or to the client's log."""
    if isinstance(node, ast.Await):
        node = node.value
    if not isinstance(node, ast.Call):
        return False
    func = node.func
    if isinstance(func, ast.Attribute) and (
        func.attr in _PROGRESS or (func.attr in _LOG_METHODS and _LOGGER.search(last_name(func.value)))
    ):
        return True
    return callee(node, body) in _LOG_CALLS


def _only_passes(statements: Sequence[ast.stmt], body: Body) -> bool:
    """Whether some statements do nothing but pass, continue, log or print."""
    for statement in statements:
        match statement:
            case ast.Pass() | ast.Continue() | ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=value) if _is_logging(value, body):
                pass
            case ast.If() if _only_passes([*statement.body, *statement.orelse], body):
                pass
            case _:
                return False
    return True


def _only_cleans_up(statements: Sequence[ast.stmt], body: Body) -> bool:
    """Whether statements only clean up, report progress, or prepare and write a line of the log."""
    last = statements[-1] if statements else None
    if isinstance(last, ast.Expr) and _is_logging(last.value, body):
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
                if not _is_logging(call, body) and names.isdisjoint(_CLEANUP):
                    return False
            case ast.If():
                if not _only_cleans_up([*statement.body, *statement.orelse], body):
                    return False
            case ast.For() | ast.AsyncFor() | ast.With() | ast.AsyncWith():
                if not _only_cleans_up(statement.body, body):
                    return False
            case _:
                return False
    return True


def _is_aside(statement: ast.stmt, body: Body) -> bool:
    """Whether another exception already leaves the function, or the code runs in the background."""
    child: ast.AST = statement
    for parent in body.above(statement):
        if isinstance(parent, (ast.Try, ast.TryStar)) and child in parent.finalbody:
            return True
        if isinstance(parent, ast.ExceptHandler) and isinstance(parent.body[-1], ast.Raise):
            return True
        child = parent
    function = body.function_of(statement)
    if function is body.root or isinstance(function, ast.Lambda) or statement not in function.body:
        return False
    return any(
        _BACKGROUND.search(last_name(call.func)) is not None and mentions(call, function.name)
        for call in body.all(ast.Call)
    )


def _is_answered(catch: CatchSite, statement: ast.stmt, body: Body) -> bool:
    """Whether the code after the `try` raises the failure, or visibly goes on without the guarded code.

    It goes on if the guarded code returns the answer and another attempt follows, and if the guarded code only adds to
    something that existed before, or sets names that already have a value. In a loop, "before" means in the same round:
    an item that is left out of a list goes unnoticed.
    """
    after = _following(statement, body)
    if any(isinstance(node, ast.Raise) for node in after):
        return True
    loop = body.loop_of(statement)
    nodes = walk_shallow([*catch.try_body])
    if any(isinstance(node, ast.Return) and node.value is not None for node in nodes):
        return loop is None and any(ast.unparse(node) not in _NOTHING for node in after)
    stored = _stored_by(nodes)
    if not stored or not after:
        return False
    answer = after[0].value.id if isinstance(after[0], ast.Return) and isinstance(after[0].value, ast.Name) else None
    if any(isinstance(node, ast.Name) and node.id == answer for node in stored):
        return False  # the answer itself is missing
    return all(_existed_before(node, statement, loop, catch, body) for node in stored)


def _following(statement: ast.stmt, body: Body) -> list[ast.stmt]:
    """The statements after a statement in its function, starting with its own block."""
    statements: list[ast.stmt] = []
    for node in (statement, *body.above(statement)):
        statements += body.after(node)
    return statements


def _stored_by(nodes: list[ast.AST]) -> list[ast.expr]:
    """The targets that some nodes set or add to: `a = ...`, `a.b = ...`, `a["b"] = ...`, `a.update(...)`."""
    targets: list[ast.expr] = []
    for node in nodes:
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            targets.append(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDING_METHODS:
            targets.append(node.func)
    return targets


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
    return is_name and not any(mentions(after, node.id) for after in _following(statement, body))
