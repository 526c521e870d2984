"""Decides what happens to a raised failure on its way out: clauses around it, decorators, and callers of the tool."""

import ast
import re
from typing import Final, NamedTuple

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Change, Edit
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import FUNCTIONS, all_parameters, mentions, own_nodes, walk, walk_shallow
from mcpcore_lint.migrate.body import Body, only_logs
from mcpcore_lint.migrate.messages import LABEL, VAGUE, code_of, constant_text, pieces
from mcpcore_lint.migrate.model import Left, Place
from mcpcore_lint.migrate.sentences import of_class
from mcpcore_lint.model import CallValue, Symbol, ToolDef

_UNDOES: Final = re.compile(r"transaction|begin|atomic|savepoint|\bconn(?:ection)?\b|connect\(", re.IGNORECASE)
"""Context managers that may commit on a `return` and roll back on a `raise`."""
_CACHES: Final = re.compile(r"cache|memo", re.IGNORECASE)
_PLAIN: Final = frozenset({"staticmethod", "abstractmethod", "abc.abstractmethod", "override", "typing.override"})
_FAILURE = "mcpcore.CodedError"


def check(place: Place, answers: set[ast.AST], body: Body) -> list[ast.Try] | Left | None:
    """The `try` statements that need `except CodedError: raise` first; None if the raise is caught and handled.

    Args:
        place: The failure.
        answers: The statements of the function that say that it failed.
        body: The function.
    """
    shields: list[ast.Try] = []
    for context in body.withs(place.node):
        if _swallows(context, body):
            return body.left(
                place.node, "a context manager around the failure", "say what it does with a raised failure"
            )
        if isinstance(place.node, ast.Return) and _UNDOES.search(ast.unparse(context)):
            return body.left(
                place.node, "a failure is returned inside a transaction", "raise ctx.fail if that may roll it back"
            )
    handled, raised = place.raised == "", place.raised
    for statement in body.tries(place.node):
        leaves = any(isinstance(part, (ast.Return, ast.Break, ast.Continue)) for part in statement.finalbody)
        if leaves or not isinstance(statement, ast.Try):
            pattern = "a failure inside except*, or before a finally that leaves the function"
            return body.left(place.node, pattern, "raise ctx.fail where nothing drops or groups it")
        clause = next(
            (handler for handler in statement.handlers if not handled and body.catches(handler, raised)), None
        )
        if clause is not None and not _raises_again(clause):
            # The exception that the clause raises instead goes on to the next `try`.
            last = clause.body[-1]
            handled = not isinstance(last, ast.Raise)
            raised = _raised_class(last, body) if isinstance(last, ast.Raise) else raised
            verdict = _verdict(clause, answers)
            if verdict == "goes on":
                return None
            if verdict == "cleans up":
                return body.left(
                    place.node, "the clause that catches this does more than log", "do that before ctx.fail as well"
                )
        if any(body.is_broad(handler) for handler in statement.handlers) and not _shielded(statement, place, body):
            shields.append(statement)
    return shields


def _raises_again(clause: ast.ExceptHandler) -> bool:
    """Whether a clause always raises the exception that it caught, after logging or cleaning up."""
    last = clause.body[-1]
    again = isinstance(last, ast.Raise) and (
        last.exc is None or (isinstance(last.exc, ast.Name) and last.exc.id == clause.name)
    )
    return again and not any(
        isinstance(part, (ast.Return, ast.Break, ast.Continue, ast.Raise)) and part is not last
        for part in walk_shallow([*clause.body])
    )


def _raised_class(statement: ast.Raise, body: Body) -> str:
    """The class that a statement raises, by its qualified name; empty if it is not known."""
    error = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return body.name_of(error) if error is not None else ""


def _verdict(clause: ast.ExceptHandler, answers: set[ast.AST]) -> str:
    """How a clause handles an exception: it "answers", "cleans up" and answers, or "goes on"."""
    *before, last = clause.body
    if not (isinstance(last, ast.Raise) or last in answers):
        nested = [part for part in walk([last]) if part in answers or isinstance(part, ast.Raise)]
        return "cleans up" if nested and isinstance(last, (ast.If, ast.Match)) else "goes on"
    plain = all(only_logs(statement) or isinstance(statement, (ast.Assign, ast.AnnAssign)) for statement in before)
    return "answers" if plain else "cleans up"


def _shielded(statement: ast.Try, place: Place, body: Body) -> bool:
    """Whether a `try` with a clause that catches everything already lets a failure pass as before."""
    first = next(clause for clause in statement.handlers if body.is_broad(clause) or _FAILURE in body.caught(clause))
    # A failure that was returned is not in the log of the clause, and undoes nothing.
    quiet = place.raised != "" or len(first.body) == 1
    return _FAILURE in body.caught(first) or (_raises_again(first) and quiet)


def _swallows(context: ast.expr, body: Body) -> bool:
    """Whether a context manager may swallow or change an exception."""
    value = evaluate(context, body.scope)
    func = value.func if isinstance(value, CallValue) else body.symbol(getattr(context, "func", context))
    if func is None:
        return False
    if func.name in {"contextlib.suppress", "mcpcore.guard"}:
        return True
    definition = func.definition
    if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
        # A context manager of the project that catches around its `yield`, and does more than look.
        return any(
            isinstance(part, ast.Try) and not all(map(_raises_again, part.handlers)) for part in own_nodes(definition)
        )
    exits = [part for part in getattr(definition, "body", ()) if getattr(part, "name", "") in {"__exit__", "__aexit__"}]
    return any(
        isinstance(part, ast.Return)
        and part.value is not None
        and not (isinstance(part.value, ast.Constant) and not part.value.value)
        for part in walk(exits)
    )


# -- decorators --------------------------------------------------------------------------------------------------------


def blocking(body: Body, registrations: set[ast.expr]) -> tuple[str, str] | None:
    """The decorator of a tool that may keep a context or a failure out, and what to do; None if all let them pass."""
    outside = body.scope.parent or body.module.scope
    for decorator in body.node.decorator_list:
        written = ast.unparse(decorator)
        maker = evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator, outside)
        # The decorators of mcpcore and FastMCP pass on what the function raises.
        is_own = isinstance(maker, Symbol) and maker.name in {"mcpcore.tool", "fastmcp.tool"}
        if decorator in registrations or is_own or written in _PLAIN:
            continue
        definition = maker.definition if isinstance(maker, Symbol) else None
        if registers(decorator) and definition is not None and any(map(registers, walk([definition]))):
            continue  # it hands the function to the decorator of the server
        # A library's decorator passes on what it does not know.
        passes = (
            _returns_argument(definition, decorator)
            if isinstance(definition, FUNCTIONS)
            else isinstance(maker, Symbol) and definition is None
        )
        if not passes or written in {"classmethod", "property"} or _CACHES.search(written):
            name = written.partition("(")[0] + "()" * isinstance(decorator, ast.Call)
            return f"the decorator @{name}", "convert the tool by hand, since the decorator may answer for it"
    return None


def registers(node: ast.AST) -> bool:
    """Whether an expression is written as a decorator that registers a tool, such as `@app.tool()`."""
    return getattr(node.func if isinstance(node, ast.Call) else node, "attr", "") == "tool"


def _returns_argument(maker: ast.FunctionDef | ast.AsyncFunctionDef, decorator: ast.expr) -> bool:
    """Whether a decorator returns the function itself, or the function that it returns does so when it is called."""
    inner = (
        [node for node in own_nodes(maker) if isinstance(node, FUNCTIONS)] if isinstance(decorator, ast.Call) else []
    )
    for function in inner or [maker]:
        names = {parameter.arg for parameter in all_parameters(function.args)}
        returned = [node.value for node in own_nodes(function) if isinstance(node, ast.Return)]
        if not returned or not all(isinstance(value, ast.Name) and value.id in names for value in returned):
            return False
    return True


def is_plain(tool: ToolDef) -> bool:
    """Whether a tool is no `async def`, and no decorator of the project replaces it by one."""
    handler = tool.handler
    outside = handler.module.scope_of(handler.node).parent or handler.module.scope
    decorators = [getattr(part, "func", part) for part in getattr(handler.node, "decorator_list", ())]
    written = {*map(ast.unparse, decorators)}
    # `mcp.tool = threaded`: a method of the server that the project replaces.
    replaced = [
        part.value
        for part in handler.module.tree.body
        if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) in written
    ]
    makers = [evaluate(part, outside) for part in (*decorators, *replaced)]
    definitions = [getattr(maker, "definition", None) for maker in makers]
    return not handler.is_async and not any(map(_makes_async, (*definitions, *(way.node for way in tool.wrappers))))


def _makes_async(node: ast.AST | None) -> bool:
    """Whether a function is async, or makes only async functions, one of which it returns instead of another."""
    if isinstance(node, ast.AsyncFunctionDef):
        return True
    inner = (
        [part for part in own_nodes(node) if isinstance(part, FUNCTIONS)] if isinstance(node, ast.FunctionDef) else []
    )
    return bool(inner) and all(map(_makes_async, inner))


# -- clauses that catch everything to say it in a text -----------------------------------------------------------------

_SPEAKING: Final = ("builtins.", "mcp.", "fastmcp.", "mcpcore.")
"""The packages of classes that say more than their name: those of Python and of the frameworks."""
_RESTATES: Final = re.compile(
    r"\W*(?:an? )?(?:\w+ ){0,4}?(?:errors?|failed|failure|unable|could not|couldn't|cannot|can't)\b|\W*$", re.IGNORECASE
)
"""A text that only says that something failed."""
_OF_CALLERS: Final = frozenset({"VALIDATION_ERROR", "NOT_FOUND"})
"""The codes of mistakes in arguments, whose advice is the same: change them."""
_BUILDING: Final = frozenset({"str", "repr", "type", "format_exc", "format", "getattr", "strip"})
"""Functions that a text is made with."""


class CatchAll(NamedTuple):
    """A clause that only wraps what it catches into a text."""

    statement: ast.Try
    clause: ast.ExceptHandler
    place: Place
    goes: bool
    """Whether the clause does nothing else, so that it goes; otherwise it raises again."""


def catch_all(place: Place, body: Body) -> CatchAll | None:
    """The clause that a failure is in, if it catches everything and says nothing that only its author knew."""
    clause = body.clause_of(place.node)
    statement = body.parents[clause] if clause is not None else None
    if clause is None or not isinstance(statement, ast.Try) or not _is_catch_all(place, clause, body):
        return None
    *before, last = clause.body
    # The project's log stays, and a clause that raises again changes one line.
    return CatchAll(statement, clause, place, goes=last is place.node and all(map(_only_builds, before)))


def _is_catch_all(place: Place, clause: ast.ExceptHandler, body: Body) -> bool:
    text = constant_text(pieces(place.message, body.scope)).replace("\N{HORIZONTAL ELLIPSIS}", " ")
    label = LABEL.match(text)
    text = text[label.end() :] if label is not None else text
    repeats = clause.name is not None and place.message is not None and mentions(place.message, clause.name)
    if body.is_broad(clause):
        # A text without the exception's own may be one that only the author knew.
        says_no_more = _RESTATES.match(text) is not None and code_of("", text) in VAGUE
        # Another text, such as "INVALID: ...", may be the answer of the tool.
        return place.message is None or says_no_more or (repeats and _RESTATES.match(text) is not None)
    # A class above all errors of a library or of a service says no more than Exception does.
    kinds = {kind for kind in body.caught(clause) if kind is not None}
    own = any(kind.startswith(_SPEAKING) or _is_described(kind, text, body) for kind in kinds)
    codes = {code_of(kind, text) for kind in kinds}
    # One code for a class that may be transient and for another would freeze the advice of one of them.
    # Several classes that are all about the arguments are one mistake of the caller if the text says so.
    mixes = len(codes) > 1 and not _OF_CALLERS.issuperset({*codes, code_of("", text)})
    # The exception itself may say more than its class, such as the status of a response.
    no_more = codes <= VAGUE or _RESTATES.match(text) is not None
    return repeats and bool(kinds) and (mixes or (not own and no_more))


def _is_described(kind: str, text: str, body: Body) -> bool:
    """Whether a class of the project has a text that says more than that something failed."""
    info = body.module.project.class_named(kind)
    return info is not None and (of_class(kind, info.node) is not None or _RESTATES.match(text) is None)


def _only_builds(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but build a text."""
    calls = [part.func for part in walk([statement]) if isinstance(part, ast.Call)]
    names = {getattr(func, "attr", getattr(func, "id", "")) for func in calls}
    return isinstance(statement, (ast.Assign, ast.AnnAssign)) and names <= _BUILDING


def removal(clauses: list[CatchAll], module: Module) -> list[Change | Edit] | None:
    """The changes that remove some clauses of one `try`, or let them raise again; None if that would lose something."""
    statement, source = clauses[0].statement, module.source
    changes: list[Change | Edit] = []
    for clause, place in ((catch.clause, catch.place) for catch in clauses if not catch.goes):
        changes.append(Edit(*source.node_range(place.node), "raise"))
        others = {*walk([*clause.body])} - {*walk([place.node])}
        if clause.name and clause.type and all(getattr(part, "id", "") != clause.name for part in others):
            end, start = source.node_range(clause.type)[1], source.node_range(clause.body[0])[0]
            changes.append(Edit(end, start, re.sub(r"\s*\bas\s+\w+", "", source.text[end:start], count=1)))
    gone = [catch.clause for catch in clauses if catch.goes]
    if not gone:
        return changes
    lines = [*source.line_starts, len(source.text)]
    if len(gone) == len(statement.handlers) and not statement.finalbody:
        tail = source.text[lines[statement.body[-1].end_lineno or 0] : lines[gone[0].lineno - 1]]
        return None if codemods.has_comment(tail) else [*changes, Change("unwrap", *source.node_range(statement))]
    if len(gone) == len(statement.handlers) and statement.orelse:
        return None
    for clause in gone:
        start, end = lines[clause.lineno - 1], lines[clause.end_lineno or clause.lineno]
        changes.append(Edit(start, end, ""))
    return changes
