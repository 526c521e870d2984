"""no-swallowed-error: a broad `except` clause that only passes, continues or logs."""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Final

from mcpcore_lint.diagnostics import Severity
from mcpcore_lint.engine.semantics.symbols import last_name
from mcpcore_lint.engine.syntax.parse import mentions, walk, walk_shallow
from mcpcore_lint.model import CatchSite, Handler, ToolDef
from mcpcore_lint.patterns import regex
from mcpcore_lint.rule import Rule, RuleContext
from mcpcore_lint.rules._bodies import Body, body_of, inside, names_of
from mcpcore_lint.rules.handler._returned_failures import helpers_of
from mcpcore_lint.rules.handler.no_fake_empty import describe_empty

_LOGGING: Final = regex(
    r"(?:log[^.]*|console|\b(?:ctx|context))"
    r"\.(?:debug|info|warn(?:ing)?|error|exception|critical|fatal|log|notice|trace|print)$"
    r"|\b(?:p?print|warn|print_exc|print_exception|capture_exception|log|send_log_message)$|\bstd(?:out|err)\.write$"
    r"|\b(?:report_progress|send_progress_notification)$",
    re.IGNORECASE,
)
"""Functions that only write to a log, to a console or to the client's log."""
_CLEANUP: Final = frozenset(
    {"close", "aclose", "cleanup", "disconnect", "shutdown", "terminate", "kill", "unlink", "rmtree", "rmdir", "remove",
     "release", "rollback", "cancel", "stop", "quit", "exit", "teardown", "__exit__", "__aexit__", "logout", "dispose",
     "wait_closed", "detach", "killpg", "send_signal", "removedirs"}
)  # fmt: skip
"""Functions that clean up. Their failure is expected, and nothing depends on it."""
_ITEM_METHODS: Final = frozenset({"append", "extend", "add", "insert"})
_ADDING_METHODS: Final = _ITEM_METHODS | {"update", "setdefault"}
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
_HARMLESS: Final = (
    *(ast.Pass, ast.Delete, ast.If, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith),
    *(ast.Import, ast.ImportFrom),
)
"""Statements that are clean-up if the statements inside them are."""
_BACKGROUND: Final = regex(r"^(?:Thread|Timer|create_task|ensure_future|submit|start_soon|add_task|Process|spawn)$")
"""Functions that run another function in the background."""


class NoSwallowedError(Rule):
    """A broad `except` clause that only passes.

    Summary: the agent reads a success: a broad `except` (or `suppress`) only passes, continues, logs or prints
    Why: The tool goes on after the failure, so a typo in the next release, an outage and a full disk all look like a
        good answer. A log line informs the operator, not the agent. `OSError` counts as broad, because both a full disk
        and a missing file raise it. A clause in a function of the project counts too, if it swallows the failure behind
        the function's result and a tool returns that result unchanged. On a server of the SDK or FastMCP, a clause that
        logs the failure is reported as information, because it is deliberate.
    How to fix: Catch the narrow exception that you expect here, or let the exception through: the boundary reports it
        to the client.
    When to suppress: If the work really is optional and may fail in any way. Say why.

    Bad:
        try:
            await index(page)
        except Exception:
            pass
    Good:
        try:
            await index(page)
        except IndexBusyError:
            pass  # it is indexed again tonight
    """

    severity = Severity.WARNING

    def check_handler(self, handler: Handler, tool: ToolDef, ctx: RuleContext) -> None:
        """Report each broad clause that does nothing about the failure, also in a helper whose result is the answer."""
        for catch, swallowed, is_quiet in _swallowing(handler):
            ctx.report(
                catch.span,
                f"{_clause(catch)} in {tool.display_name} swallows {swallowed}, so the agent reads a success",
                help="catch the narrow exception that is expected here, or let it through",
                tool=tool,
                module=handler.module,
                weight=None if is_quiet or tool.flavour == "mcpcore" else Severity.INFO,
            )
        for helper, answer in helpers_of(handler, ctx):
            for catch, swallowed, is_quiet in _swallowing(helper):
                nested = helper.node in body_of(handler).parents
                if nested or catch.function is not helper.node or not _makes_answer(catch, helper):
                    continue
                ctx.report(
                    catch.span,
                    f"{_clause(catch)} in {helper.name}() swallows {swallowed}, and the client gets the result, so the "
                    "agent reads a success",
                    help="catch the narrow exception that is expected here, or let it through",
                    tool=tool,
                    module=helper.module,
                    related=[ctx.related(answer, f"{tool.display_name} returns the result", handler.module)],
                    weight=None if is_quiet or tool.flavour == "mcpcore" else Severity.INFO,
                    shared=True,
                )


def _clause(catch: CatchSite) -> str:
    return "`suppress`" if catch.suppress else "the `except`"


def _swallowing(function: Handler) -> Iterator[tuple[CatchSite, str, bool]]:
    """The broad clauses of a function that do nothing about a failure, each with what it catches and if it is quiet.

    A clause that logs is not quiet, nor is a narrower one that goes on with the next item of a loop: these are meant.
    """
    body = body_of(function)
    for catch in function.catches:
        swallowed = "every exception" if catch.broad else "every OSError" if "builtins.OSError" in catch.types else ""
        if not swallowed or not (catch.suppress or _only_passes(catch.body)) or _only_cleans_up(catch.try_body):
            continue
        statement = catch.node if isinstance(catch.node, ast.stmt) else body.parents[catch.node]
        loop = next((parent for parent in body.above(statement) if isinstance(parent, _LOOPS)), None)
        leaves = body.raises([*catch.body]) or _is_aside(statement, body)
        if leaves or _is_answered(catch.try_body, statement, loop, body):
            continue
        expressions = (node.value for node in walk_shallow([*catch.body]) if isinstance(node, ast.Expr))
        logs = any(map(_is_logging, expressions))
        yield catch, swallowed, not logs and (catch.broad or loop is None)


def _makes_answer(catch: CatchSite, function: Handler) -> bool:
    """Whether the guarded code of a clause returns the answer of a function, or a part of it."""
    guarded = walk_shallow([*catch.try_body])
    parts = {_root(target) for target in _stored_by(guarded)}
    answers = [site.node.value for site in function.returns if site.node.value is not None]
    return any(inside(answer, catch.try_body) or any(mentions(answer, part) for part in parts) for answer in answers)


def _is_logging(node: ast.expr) -> bool:
    """Whether an expression only writes to a log, to a console or to the client's log."""
    call = node.value if isinstance(node, ast.Await) else node
    return isinstance(call, ast.Call) and _LOGGING.search(ast.unparse(call.func)) is not None


def _only_passes(statements: Sequence[ast.stmt]) -> bool:
    """Whether some statements do nothing but pass, continue, log or print."""
    return all(
        isinstance(node, (ast.Pass, ast.Continue, ast.If))
        or (isinstance(node, ast.Expr) and (isinstance(node.value, ast.Constant) or _is_logging(node.value)))
        for node in walk_shallow([*statements])
        if isinstance(node, ast.stmt)
    )


def _only_cleans_up(statements: Sequence[ast.stmt]) -> bool:
    """Whether statements only clean up, report progress, or prepare and write a line of the log."""
    last = statements[-1] if statements else None
    logs = isinstance(last, ast.Expr) and _is_logging(last.value)
    for statement in walk_shallow([*statements]):
        match statement:
            case ast.Expr(value=value):
                call = value.value if isinstance(value, ast.Await) else value
                # A call may wrap another one: asyncio.wait_for(client.close(), 5)
                calls = [call, *call.args] if isinstance(call, ast.Call) else []
                names = {last_name(part.func) for part in calls if isinstance(part, ast.Call)}
                if not _is_logging(call) and names.isdisjoint(_CLEANUP):
                    return False
            case ast.Assign() if logs:
                pass
            case ast.stmt() if not isinstance(statement, _HARMLESS):
                return False
    return True


def _is_aside(statement: ast.AST, body: Body) -> bool:
    """Whether another exception already leaves the function, or the code runs in the background."""
    child = statement
    for parent in body.above(statement):
        if isinstance(parent, (ast.Try, ast.TryStar)) and child in parent.finalbody:
            return True
        if isinstance(parent, ast.ExceptHandler) and body.raises(parent.body):
            return True
        child = parent
    function = body.function_of(statement)
    if function is body.root or isinstance(function, ast.Lambda):
        return False
    calls = (call for call in body.all(ast.Call) if _BACKGROUND.search(last_name(call.func)))
    return any(mentions(call, function.name) for call in calls)


def _is_answered(try_body: Sequence[ast.stmt], statement: ast.AST, loop: ast.AST | None, body: Body) -> bool:
    """Whether the code after the `try` raises the failure, or visibly goes on without the guarded code.

    It goes on if the guarded code returns the answer and another attempt follows, and if the guarded code only adds to
    something that existed before, or sets names that already have a value. In a loop, "before" means in the same round:
    an item that is left out of a list goes unnoticed, unless the loop ends with the first item that works.
    """
    after = _following(statement, body)
    if any(isinstance(node, ast.Raise) for node in after):
        return True
    guarded = walk_shallow([*try_body])
    targets = _stored_by(guarded)
    returns = any(isinstance(node, ast.Return) and node.value is not None for node in guarded)
    breaks = loop is not None and any(isinstance(node, ast.Break) for node in guarded)
    collects = any(map(_adds_an_item, guarded))
    waits = loop is not None and not collects and _tries_again(loop, guarded, body)
    if waits and (isinstance(getattr(loop, "test", None), ast.Constant) or not (returns or breaks)):
        return True
    # A loop that looks for the first item that works, after which the code may ask or say whether there is one.
    finds = waits or (isinstance(loop, _LOOPS) and isinstance((try_body if returns else loop.body)[-1], ast.Return))
    if returns or (finds and not breaks):
        if loop is not None:
            after = _following(loop, body) if finds else []
        return not all(_says_nothing(node, body) for node in after)
    asks = (
        any(mentions(node.test, _root(target)) for target in targets) and not _only_passes([*node.body, *node.orelse])
        for node in after
        if isinstance(node, ast.If)
    )
    if breaks and not collects and (any(asks) or not _only_passes(getattr(loop, "orelse", []))):
        return True
    match after:
        case []:
            return False
        case [ast.Return(value=ast.Name(id=answer)), *_] if any(getattr(node, "id", "") == answer for node in targets):
            return False  # the answer itself is missing
    # What happens to a thing that the guarded code creates itself follows from its name.
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    return bool(targets) and all(
        _existed_before(target, statement, loop, guarded, body)
        or (isinstance(target, ast.Name) and not any(mentions(node, target.id) for node in after))
        for target in targets
        if isinstance(target, ast.Name) or _root(target) not in names
    )


def _adds_an_item(node: ast.AST) -> bool:
    """Whether a node adds something to what there is: `rows.append(row)`, `rows[key] = row`, `count += len(rows)`."""
    match node:
        case ast.Call(func=ast.Attribute(attr=method)):
            return method in _ITEM_METHODS
        case ast.Subscript(ctx=ast.Store(), slice=key) | ast.AugAssign(value=key):
            return not isinstance(key, ast.Constant)
    return False


def _tries_again(loop: ast.AST, guarded: list[ast.AST], body: Body) -> bool:
    """Whether a loop waits, and does the same in each round, not something with each item."""
    items = walk([loop.target]) if isinstance(loop, (ast.For, ast.AsyncFor)) else []
    names = {name for item in items if isinstance(item, ast.Name) for name in names_of(item.id, body)}
    return not any(isinstance(node, ast.Name) and node.id in names for node in guarded) and any(
        isinstance(node, ast.Call) and last_name(node.func) == "sleep" for node in walk([loop])
    )


def _says_nothing(node: ast.stmt, body: Body) -> bool:
    """Whether a statement is no other attempt at an answer: it logs, or returns something empty without a word."""
    if isinstance(node, ast.Return) and node.value is not None:
        return not (describe_empty(body.value(node.value)) or '"').startswith('"')
    return isinstance(node, ast.Return) or _only_passes([node])


def _following(statement: ast.AST, body: Body) -> list[ast.stmt]:
    """The statements after a statement, in its own block and in those around it."""
    return [later for node in (statement, *body.above(statement)) for later in body.after(node)]


def _stored_by(nodes: list[ast.AST]) -> list[ast.expr]:
    """The targets that some nodes set or add to: `a = ...`, `a.b = ...`, `a["b"] = ...`, `a.update(...)`."""
    targets: list[ast.expr] = []
    for node in nodes:
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            targets.append(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDING_METHODS:
            targets.append(node.func)
    return targets


def _root(target: ast.expr) -> str:
    """The name that a target begins with; empty if it begins with a call."""
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def _existed_before(
    target: ast.expr, statement: ast.AST, loop: ast.AST | None, guarded: list[ast.AST], body: Body
) -> bool:
    """Whether a target had a value before the `try`: in the same round, if that is in a loop."""
    if not _root(target):
        return loop is None
    match = body.scope(statement).lookup(_root(target))
    for binding in match[1] if match is not None else ():
        if binding.node in guarded or binding.value in guarded:
            continue
        first, line, last = (getattr(node, "lineno", 0) for node in (loop, binding.node, statement))
        # An empty collection that only the guarded code fills is as good as missing.
        empty = isinstance(binding.value, (ast.List, ast.Dict)) and len(ast.unparse(binding.value)) == len("[]")
        is_before = first < line < last or (binding.kind == "parameter" and loop is None)
        if is_before and (isinstance(target, ast.Name) or not empty):
            return True
    return False
