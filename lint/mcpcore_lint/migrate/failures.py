"""Finds the places where a function says that it failed: it raises, it returns, or a clause hides it."""

import ast
import re
from collections.abc import Collection, Sequence
from typing import Final

from mcpcore_lint.engine.semantics.symbols import class_info
from mcpcore_lint.engine.syntax.parse import FUNCTIONS, all_parameters, mentions, walk, walk_shallow
from mcpcore_lint.migrate.body import Body, only_logs
from mcpcore_lint.migrate.messages import is_text, may_be_text, parts_of, pieces
from mcpcore_lint.migrate.model import Left, Place
from mcpcore_lint.model import Symbol
from mcpcore_lint.names import BUILTIN_EXCEPTIONS, canonical
from mcpcore_lint.patterns import (
    ERROR_DOING,
    FAILED_STATUS,
    FAILURE_KEYS,
    SIGNS,
    STATUS_KEYS,
    SUCCESS_KEYS,
    VERDICT_KEYS,
)


def failures_of(body: Body) -> tuple[list[Place], list[Left], set[ast.AST]]:
    """The failures of a function that can be written with `ctx.fail`, and those that cannot, with their statements."""
    places: list[Place] = []
    left: list[Left] = []
    statements: set[ast.AST] = set()
    for node in body.nodes:
        place: Place | Left | None = None
        if isinstance(node, ast.Raise):
            place = raised_failure(node, body)
        elif isinstance(node, ast.Return):
            place = returned_failure(node, body)
        if isinstance(place, Place):
            places.append(place)
        elif place is not None:
            left.append(place)
            if not place.perhaps:
                statements.add(node)
    return places, [*left, *assigned_failures(body), *_left_in_clauses(body)], statements


# -- clauses that hide a failure: they log and go on, or answer with a value that looks like a result ------------------


def _left_in_clauses(body: Body) -> list[Left]:
    """The clauses of a function that are left as they are."""
    left: list[Left] = []
    for node in body.nodes:
        if not isinstance(node, ast.ExceptHandler) or not body.is_broad(node):
            continue
        if all(only_logs(statement) for statement in node.body):
            pattern, decide = "a broad clause logs and goes on", "raise ctx.fail if the tool has then not done its work"
            left.append(body.left(node, pattern, decide)._replace(perhaps=True))
        for part in walk_shallow([*node.body]):
            if isinstance(part, ast.Return) and _says_nothing(part.value):
                pattern, decide = "a clause returns an empty value", "raise ctx.fail if nothing could be looked up"
                left.append(body.left(part, pattern, decide)._replace(perhaps=True))
    return left


def _says_nothing(value: ast.expr | None) -> bool:
    return value is None or _is_empty(value) or (isinstance(value, ast.Constant) and not value.value)


# -- failures that are raised ------------------------------------------------------------------------------------------

PROTOCOL: Final = "mcp.MCPError"
_NOT_FAILURES: Final = frozenset({
    "BaseException", "BaseExceptionGroup", "ExceptionGroup", "KeyboardInterrupt", "SystemExit", "GeneratorExit",
    "StopIteration", "StopAsyncIteration", "NotImplementedError", "AssertionError",
})  # fmt: skip
"""Built-in exceptions that end a program, steer it, or say that it is wrong."""
_FRAMEWORK: Final = frozenset({"mcp.ToolError", "fastmcp.ToolError"})
_SHOWN: Final = 40
"""How much of an expression the report shows."""


def raised_failure(node: ast.Raise, body: Body) -> Place | Left | None:
    """The failure that a `raise` is; None for a re-raise, or for what already is a failure of mcpcore."""
    if node.exc is None or _again(node.exc, body):
        return None
    call = node.exc if isinstance(node.exc, ast.Call) else None
    symbol = body.symbol(call.func if call is not None else node.exc)
    name = symbol.name if symbol is not None else ""
    short = name.rpartition(".")[2]
    rule = _rule(name, body)
    if rule is None:
        if name.startswith("mcpcore.") or getattr(getattr(node.exc, "func", None), "attr", "") == "fail":
            return None
        return _unknown(node, node.exc, name, body)
    if rule == "project-error" and (why := _changes_message(name, body)):
        return body.left(node, f"raise of {short}", why)
    if rule == "raise" and body.clause_of(node) is not None:
        rule = "rethrow"
    if call is None:
        return Place(node, rule, None, name)
    if call.keywords or len(call.args) > 1 or any(isinstance(arg, ast.Starred) for arg in call.args):
        return body.left(node, f"raise of {short} with several arguments", "say which of them is the message")
    message = call.args[0] if call.args else None
    if message is not None and not is_text(message, body.scope) and not may_be_text(message):
        return body.left(node, f"raise of {short} with a value", "write a message, and give the value as data")
    return Place(node, rule, message, name, call)


def _unknown(node: ast.Raise, error: ast.expr, name: str, body: Body) -> Left:
    """A `raise` of something that is no exception class of the project, such as one that another function makes."""
    short = name.rpartition(".")[2]
    if name.startswith("builtins."):
        pattern, decide = f"raise of {short}", "raise ctx.fail if the agent can do something about it"
    else:
        pattern = f"raise of {short or ast.unparse(error)[:_SHOWN]}, which is no exception class of the project"
        decide = "raise ctx.fail instead, if clients need a code or advice"
    return body.left(node, pattern, decide)


def _rule(name: str, body: Body) -> str | None:
    short = name.removeprefix("builtins.")
    if name.startswith("builtins.") and short in BUILTIN_EXCEPTIONS:
        return None if short in _NOT_FAILURES or short.endswith("Warning") else "raise"
    if canonical(name) in _FRAMEWORK:
        return "tool-error"
    if body.hierarchy.is_kind_of(name, "builtins.Exception") and body.module.project.class_named(name) is not None:
        # A subclass of the SDK's error has its own arguments and its own way to the client.
        return None if body.hierarchy.ancestors(name)[0] & {PROTOCOL, "mcpcore.CodedError"} else "project-error"
    return None


def _again(node: ast.expr, body: Body) -> bool:
    """Whether an expression is an exception that was caught before: the clause's own, or one that was kept."""
    if not isinstance(node, ast.Name) or body.symbol(node) is not None:
        return False
    caught = {part.name for part in body.nodes if isinstance(part, ast.ExceptHandler)}
    kept = {
        target.id
        for part in body.nodes
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Name) and part.value.id in caught
        for target in part.targets
        if isinstance(target, ast.Name)
    }
    return node.id in caught | kept


def _changes_message(name: str, body: Body) -> str:
    """Why the message of a project's exception is not its only argument; empty if it is."""
    # The base classes are among the ancestors of the class, so all of them are looked at, in any order.
    above = [name, *(ancestor for ancestor in body.hierarchy.ancestors(name)[0] if ancestor != name)]
    infos = [info for info in map(body.module.project.class_named, above) if info is not None]
    names = {info.node.name for info in infos}
    for info in infos:
        made = info.methods.get("__init__")
        inherits = any(ast.unparse(base).rpartition(".")[2] in names for base in info.node.bases)
        if info.methods.keys() & {"__str__", "__new__"} or (
            made is not None and not _passes_message(made, alone=not inherits)
        ):
            return "the class makes its message itself; raise it through ctx.fail, with what it keeps as data"
    return ""


def _passes_message(method: ast.FunctionDef | ast.AsyncFunctionDef, *, alone: bool) -> bool:
    """Whether the `__init__` of an exception passes its first argument on: `super().__init__(message)`.

    Args:
        method: The method.
        alone: Whether it must be the only argument, since a built-in class shows all of them.
    """
    names = [parameter.arg for parameter in (*method.args.posonlyargs, *method.args.args)][:2]
    if len(names) < 2:
        return False
    me, message = names
    same = {message, f"{me}.{message}"}
    for node in walk([*method.body]):
        match node:
            case ast.Assign(targets=[ast.Attribute() as target], value=ast.Name(id=name)) if name == message:
                same.add(ast.unparse(target))
            case ast.Assign(targets=[ast.Name(id=name)]) if name == message:
                return False
    calls = [
        node
        for node in walk([*method.body])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__init__"
    ]
    if len(calls) != 1 or not calls[0].args or (alone and (len(calls[0].args) > 1 or calls[0].keywords)):
        return False
    return ast.unparse(calls[0].args[0]) in same


# -- failures that are returned ----------------------------------------------------------------------------------------

_ERROR: Final = ("error", "error_message", "errormessage")
_MESSAGE: Final = ("message", "msg", "detail", "details", "error_description")
_HINT: Final = ("hint", "suggestion", "help", "recovery")
_FACTS: Final = frozenset({"detail", "details", "code", "type", "error_type", "errortype", "error_code", "errorcode",
                           "status_code", "statuscode", "tool", "traceback", "exception"})  # fmt: skip
"""Keys that describe a failure further; they become data of the failure."""
_BEGINS: Final = re.compile(
    rf"\s*(?:{SIGNS}+\s*)?(?:\*\*)?(?:error|failure)(?:\*\*)?\s*(?::|!|-\s|\u2013)|\s*\u274c"
    rf"|\s*(?:an? )?(?:unexpected )?error (?:(?:occurred|while|when|in|during)\b|{ERROR_DOING})"
    r"|\s*(?:failed|unable) to \w+|\s*failed [a-z]+ing\b|\s*encountered an error\b"
    r"|\s*(?:cannot|can't|could not|couldn't) \w+|\s*invalid \w+|\s*\[error\]|\s*(?:unknown|unsupported) tool\b",
    re.IGNORECASE,
)
_BEGINS_IN_CLAUSE: Final = re.compile(
    rf"\s*(?:{SIGNS}+\s*)?\W*(?:(?:an? )?(?:\w+ ){{0,3}}(?:error|exception|failure|timed out)\b"
    r"|(?:failed|failure|invalid|unable to|could not|couldn't|can't|cannot|something went wrong)\b)"
    r"|.{0,60}\b(?:failed|error)\b\s*[:.!]",
    re.IGNORECASE,
)
_SOFT: Final = re.compile(r".{0,60}\b(?:not found|does not exist|not available|not configured)\b", re.IGNORECASE)
_SHOWS: Final = re.compile(r"\s*(?:(?P<sign>[\u2717\u2718])|.{0,60}\bfailed:)\s*", re.IGNORECASE)
"""The text in front of a value that says why something failed: the tool, or a thing such as a job that it is about."""
_WHY: Final = re.compile(r"err(?:or)?(?:_?(?:msg|message|text))?\b|exception\b", re.IGNORECASE)
"""The name of such a value, and not of several, as a report has them."""
_DECLINED: Final = re.compile(r"\b(?:cancel+ed|declined|rejected|aborted)\b", re.IGNORECASE)
_CHECKS: Final = re.compile(r"valid|check|verif|lint|diagnos|health|test", re.IGNORECASE)
"""Tools whose result may be that something is invalid."""
_REPORTS: Final = re.compile(r"(?:^|_)(?:status|health|healthcheck|ping|diagnos\w*|doctor)(?:_|$)", re.IGNORECASE)
"""Tools that answer how something is: that it is down is their result."""
_ABOUT_ERRORS: Final = re.compile(r"(?:^|_)(?:errors?|failures?)(?:_|$)", re.IGNORECASE)
"""Tools whose result is an error that happened elsewhere."""
_MAKING: Final = frozenset({"__init__", "__new__", "__post_init__", "model_post_init"})
"""Methods by which a class does more than hold its values."""
_MAKES_ERRORS: Final = re.compile(r"err|fail|exception|problem", re.IGNORECASE)
_BESIDE: Final = ("an error is returned beside data", "raise ctx.fail with the data, or return the result without it")
_LATER: Final = ("a failure is put into what is returned later", "raise ctx.fail instead, with the rest as data")
_JSON: Final = re.compile(r"\s*\{\s*\"error\"\s*:\s*\"(?!\")")
"""The beginning of a failure that is JSON already."""
CONTENT: Final = "mcp.TextContent"
RESULT: Final = "mcp.CallToolResult"


def returned_failure(node: ast.Return, body: Body, content: ast.expr | None = None) -> Place | Left | None:
    """The failure that a `return` is, or the content in it; None if it returns a result."""
    value = node.value if content is None else content
    match value:
        case (ast.Dict() as mapping) | ast.List(elts=[ast.Dict() as mapping]):
            return _mapping(node, _items(mapping), "mapping", body)
        case (ast.Call() as block) | ast.List(elts=[ast.Call() as block]) if body.name_of(block.func) == CONTENT:
            text = next((keyword.value for keyword in block.keywords if keyword.arg == "text"), None)
            is_json = isinstance(text, ast.Call) and body.name_of(text.func) == "json.dumps"
            return (
                returned_failure(node, body, text)
                if text is not None and (is_json or is_text(text, body.scope))
                else None
            )
        case ast.Call(func=func, args=[ast.Dict() as mapping, *_]) if body.name_of(func) == "json.dumps":
            return _mapping(node, _items(mapping), "json", body)
        case ast.Call(func=func) if body.name_of(func) == RESULT:
            return _result(node, value, body)
    if value is not None and (is_text(value, body.scope) or _is_exception(value, body, node)):
        return _text(node, value, body)
    return _call(node, value, body) if isinstance(value, ast.Call) else None


def passed_on(body: Body) -> set[ast.AST]:
    """The expressions whose values a function returns, as they are or as JSON."""
    stack: list[ast.expr | None] = [node.value for node in body.nodes if isinstance(node, ast.Return)]
    answers: set[ast.AST] = set()
    while stack:
        value = stack.pop()
        if value is None or value in answers:
            continue
        answers.add(value)
        match value:
            case ast.Await(value=inner):
                stack.append(inner)
            case ast.Call(func=func, args=[inner, *_]):
                if body.name_of(func) == "json.dumps":
                    stack.append(inner)
            case ast.Name(id=name):
                stack += [binding.value for binding in body.scope.bindings.get(name, ())]
            case ast.IfExp(body=first, orelse=other):
                stack += [first, other]
    return answers


def assigned_failures(body: Body) -> list[Left]:
    """The lines about failures that a function puts into a variable, or below a key of one, and returns later."""
    passed = passed_on(body)
    names = {value.id for value in passed if isinstance(value, ast.Name)}
    left: list[Left] = []
    for node in (node for node in body.nodes if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr))):
        items: list[tuple[str | None, ast.expr]] = []
        match node:
            case ast.Assign(value=ast.Dict() as mapping) | ast.AnnAssign(value=ast.Dict() as mapping):
                items = _items(mapping) if mapping in passed else []
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key)))]):
                items = [(key, node.value)] if name in names and _says(node.value, body) else []
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), "update"), [ast.Dict() as mapping], [])):
                items = _items(mapping) if name in names else []
        # As if the function returned it there.
        place = ast.copy_location(ast.Return(node.value), node)
        body.parents[place] = body.parents[node]
        outcome = _mapping(place, items, "mapping", body)
        if isinstance(outcome, Place) or (outcome is not None and outcome.pattern == _BESIDE[0]):
            left.append(body.left(node, *_LATER)._replace(perhaps=not isinstance(node.value, ast.Dict)))
    return left


# -- mappings ----------------------------------------------------------------------------------------------------------


def _items(mapping: ast.Dict) -> list[tuple[str | None, ast.expr]]:
    """The items of a mapping, with None for a key that is not a constant text."""
    keys = [key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None for key in mapping.keys]
    return [*zip(keys, mapping.values, strict=True)]


def _mapping(
    node: ast.Return, items: Sequence[tuple[str | None, ast.expr]], rule: str, body: Body
) -> Place | Left | None:
    table = {key.lower(): value for key, value in items if key is not None}
    spelled = {key.lower(): key for key, _ in items if key is not None}
    whole = len(table) == len(items)
    if not _is_failure(table) or table.keys() & VERDICT_KEYS:
        return None
    if table.keys() & STATUS_KEYS and _REPORTS.search(body.tool):
        decide = "raise ctx.fail if the tool could not find out"
        return body.left(node, "a tool answers with a status that may be its result", decide)._replace(perhaps=True)
    if _may_be_result(node, table, rule, body):
        decide = "raise ctx.fail if the tool could not do its work"
        return body.left(node, "a mapping may be a result about an error", decide)._replace(perhaps=True)
    nested = table.get("error")
    if isinstance(nested, ast.Dict) and whole:
        inner = {key.lower(): (key, value) for key, value in _items(nested) if key is not None}
        if len(inner) < len(nested.keys) or inner.keys() & (table.keys() - {"error"}):
            return _beside(node, body)
        del table["error"], spelled["error"]
        table.update((key, value) for key, (_, value) in inner.items())
        spelled.update((key, name) for key, (name, _) in inner.items())
    texts = [key for key in (*_ERROR, *_MESSAGE, "reason") if key in table and _says(table[key], body)]
    hint = ""
    if len(texts) > 1 and texts[0] == "error" and texts[1] in {"message", "msg"}:
        match table["error"]:
            case ast.Constant(value=str(word)) if re.fullmatch(r"[A-Za-z][\w-]*", word):
                hint = word
                del table["error"], texts[0]
    if not texts:
        return body.left(node, "a failure without a text is returned", "say in a message what went wrong")
    message = table.pop(texts[0])
    rest = {key: value for key, value in table.items() if not (_only_marks(key, value) or _is_empty(value))}
    facts = _FACTS | {*_HINT, *_MESSAGE, *_ERROR, "reason"}
    if not whole or not all(key in facts or _is_known(value, body) for key, value in rest.items()):
        return _beside(node, body)
    if any(_DECLINED.search(part) for part in pieces(message, body.scope) if part):
        return None
    return Place(node, rule, message, hint=hint, arguments=tuple(_arguments(rest, spelled, body)))


def _may_be_result(node: ast.Return, table: dict[str, ast.expr], rule: str, body: Body) -> bool:
    """Whether nothing in the function says that a mapping with an error is a failure, and not a result about one."""
    flagged = any(
        _only_marks(key, value)
        for key, value in table.items()
        if key in SUCCESS_KEYS | FAILURE_KEYS | STATUS_KEYS | {"error"}
    )
    error = next((table[key] for key in _ERROR if key in table), None)
    in_clause = body.clause_of(node) is not None
    is_code = isinstance(error, ast.Constant) and isinstance(error.value, str) and " " not in error.value
    describes = (error is None and bool(table.keys() & {*_MESSAGE, "reason"})) or (len(table) == 1 and is_code)
    # Without another `return` or `raise`, the function fails always or not at all.
    leaving = [part for part in body.nodes if isinstance(part, (ast.Return, ast.Raise))] if describes else []
    if rule != "model" and leaving == [node] and body.parents[node] is body.node:
        return True
    if flagged:
        has_text = error is not None and _says(error, body)
        return rule != "model" and not in_clause and not has_text and _is_result_model(node, {*table}, body)
    if error is None or isinstance(error, ast.Dict):
        return False
    about_errors = _ABOUT_ERRORS.search(body.tool) is not None and isinstance(error, ast.Constant)
    return not _is_message(error, node, body) or (about_errors and not in_clause)


def _beside(node: ast.AST, body: Body) -> Left:
    return body.left(node, *_BESIDE)


def _is_failure(table: dict[str, ast.expr]) -> bool:
    """Whether a mapping with these keys says that the tool failed."""
    for key, value in table.items():
        constant = value.value if isinstance(value, ast.Constant) else ...
        if (
            (key in SUCCESS_KEYS and constant is True)
            or (key in FAILURE_KEYS and constant is False)
            or (key in STATUS_KEYS and isinstance(constant, str) and constant.lower() in {"ok", "success", "succeeded"})
        ):
            return False
    for key, value in table.items():
        constant = value.value if isinstance(value, ast.Constant) else ...
        if (key in SUCCESS_KEYS and constant is False) or (key in FAILURE_KEYS and constant is True):
            return True
        if key in STATUS_KEYS and isinstance(constant, str) and constant.lower() in FAILED_STATUS:
            return bool(table.keys() & {*_ERROR, *_MESSAGE, "reason"})
        if key in _ERROR and constant not in {None, False, ""} and not _may_be_none(value):
            return True
    return False


def _may_be_none(value: ast.expr) -> bool:
    """Whether a value may be empty, so that the mapping may be a result."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Attribute) and value.func.attr in {"get", "pop"}
    # An object that shows its own state may have no error.
    return isinstance(value, (ast.IfExp, ast.List, ast.BoolOp)) or ast.unparse(value).startswith("self.")


def _says(value: ast.expr, body: Body) -> bool:
    return is_text(value, body.scope) or (may_be_text(value) and not isinstance(value, ast.Constant))


def _only_marks(key: str, value: ast.expr) -> bool:
    """Whether an item only marks the mapping as a failure: `"success": False`."""
    constant = value.value if isinstance(value, ast.Constant) else ...
    if key in SUCCESS_KEYS | FAILURE_KEYS | {"error"}:
        return isinstance(constant, bool)
    return key in STATUS_KEYS and isinstance(constant, str) and constant.lower() in FAILED_STATUS


def _is_empty(value: ast.expr) -> bool:
    """Whether a value is `None`, `[]` or `{}`: beside a failure, it says nothing."""
    return ast.unparse(value) in {"None", "[]", "()", "{}"}


def _is_known(value: ast.expr, body: Body) -> bool:
    """Whether a value is a constant or an argument of the call, so that it is no part of a result."""
    if isinstance(value, ast.Name):
        bindings = body.scope.bindings.get(value.id, ())
        return len(bindings) == 1 and value.id in {parameter.arg for parameter in all_parameters(body.node.args)}
    return isinstance(value.operand if isinstance(value, ast.UnaryOp) else value, ast.Constant)


def _arguments(rest: dict[str, ast.expr], spelled: dict[str, str], body: Body) -> list[str]:
    """`data=` and `recovery=` for the other items of a mapping."""
    segment = body.module.source.segment
    arguments: list[str] = []
    hint = next((key for key in _HINT if key in rest and is_text(rest[key], body.scope)), None)
    facts = {key: value for key, value in rest.items() if key != hint}
    if facts:
        # The keys that the envelope fills get another name.
        names = {"reason": "reason_text", "recovery": "recovery_text", "retryable": "can_be_retried"}
        written = ((names.get(spelled[key], spelled[key]), value) for key, value in facts.items())
        items = ", ".join(f'"{name}": {segment(value)}' for name, value in written)
        arguments.append(f"data={{{items}}}")
    if hint is not None:
        arguments.append(f"recovery={segment(rest[hint])}")
    return arguments


def _is_message(value: ast.expr, node: ast.AST, body: Body) -> bool:
    """Whether an expression is a text, or is made of the exception that was caught."""
    caught = (parent.name for parent, _ in body.above(node) if isinstance(parent, ast.ExceptHandler))
    if is_text(value, body.scope) or any(name is not None and mentions(value, name) for name in caught):
        return True
    match value:
        case ast.Name(id=name):
            values = [binding.value for binding in body.scope.bindings.get(name, ())]
            texts = (
                item is not None and not isinstance(item, ast.Name) and is_text(item, body.scope) for item in values
            )
            return bool(values) and all(texts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return is_text(left, body.scope) or is_text(right, body.scope)
    return False


def _is_result_model(node: ast.Return, keys: Collection[str], body: Body) -> bool:
    """Whether the function also returns a success with exactly the same keys."""
    for other in body.nodes:
        if not isinstance(other, ast.Return) or other is node:
            continue
        value = other.value.args[0] if isinstance(other.value, ast.Call) and other.value.args else other.value
        if not isinstance(value, ast.Dict):
            continue
        table = {key.lower(): part for key, part in _items(value) if key is not None}
        if table.keys() == set(keys) and not _is_failure(table):
            return True
    return False


# -- texts and results -------------------------------------------------------------------------------------------------


def _is_exception(value: ast.expr, body: Body, node: ast.Return) -> bool:
    clause = body.clause_of(node)
    return clause is not None and clause.name is not None and isinstance(value, ast.Name) and value.id == clause.name


def _text(node: ast.Return, value: ast.expr, body: Body) -> Place | Left | None:
    parts = pieces(value, body.scope)
    start = parts[0] if parts and parts[0] else ""
    clause = body.clause_of(node)
    if _JSON.match(start):
        return body.left(node, "a failure is returned as a JSON text", "raise ctx.fail with what it says")
    if _DECLINED.search("".join(filter(None, parts))):
        return None
    names_exception = clause is not None and clause.name is not None and mentions(value, clause.name)
    if clause is not None and (names_exception or _BEGINS_IN_CLAUSE.match(start)):
        return Place(node, "text", value)
    holes = [ast.unparse(part) for part in parts_of(value, body.scope)[1:2] if isinstance(part, ast.expr)]
    begins, checks = _BEGINS.match(start), _CHECKS.search(body.tool)
    shows = _SHOWS.fullmatch(start) if not begins and any(map(_WHY.search, holes)) else None
    if shows is not None and (checks or _REPORTS.search(body.tool) or not shows["sign"]):
        decide = "raise ctx.fail if the tool could not do its work"
        return body.left(node, "a text says that something failed", decide)._replace(perhaps=True)
    if begins or shows is not None:
        if checks and start.lstrip().lower().startswith("invalid"):
            return body.left(node, "a text says that something is invalid", "raise ctx.fail if that is a failure")
        return Place(node, "text", value)
    if _SOFT.match("".join(filter(None, parts))) or clause is not None:
        decide = "raise ctx.fail if the tool could not do its work"
        return body.left(node, "a text may be a failure", decide)._replace(perhaps=True)
    return None


def _result(node: ast.Return, call: ast.Call, body: Body) -> Place | Left | None:
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    marked = keywords.get("isError") or keywords.get("is_error")
    if not (isinstance(marked, ast.Constant) and marked.value is True):
        return None
    match keywords.get("content"):
        case ast.List(elts=[ast.Call(func=func, args=[], keywords=parts)]) if body.name_of(func) == CONTENT:
            text = {keyword.arg: keyword.value for keyword in parts}.get("text")
            if text is not None and len(keywords) == 2 and not call.args and _says(text, body):
                return Place(node, "result", text)
    return body.left(node, "a result is marked as failed by hand", "raise ctx.fail with the structured content as data")


def _call(node: ast.Return, call: ast.Call, body: Body) -> Place | Left | None:
    """A failure that another function or a model builds."""
    symbol = body.symbol(call.func)
    clause = body.clause_of(node)
    passes = clause is not None and clause.name is not None and mentions(call, clause.name)
    definition = symbol.definition if isinstance(symbol, Symbol) else None
    short = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if isinstance(definition, ast.ClassDef) and symbol is not None:
        fields = {(keyword.arg or "").lower(): keyword.value for keyword in call.keywords}
        # Outside of a clause, an error alone may be one of the values that a result holds.
        marked = {"message" if clause is None and key in _ERROR else key: value for key, value in fields.items()}
        info = class_info(symbol)
        if info is None or not _is_failure(marked):
            return None
        if info.methods.keys() & _MAKING:
            return body.left(node, f"{short}() says that the tool failed", "raise ctx.fail with what the class adds")
        arguments = [(None, argument) for argument in call.args] + [
            (keyword.arg, keyword.value) for keyword in call.keywords
        ]
        return _mapping(node, arguments, "model", body)
    if passes or (
        _MAKES_ERRORS.search(short) and (clause is not None or short.startswith(("err", "make_err", "_err")))
    ):
        pattern = f"{short}() makes the failure that the tool returns"
        decide = "let it raise an exception or make only the text, and raise ctx.fail in the tool"
        owner = body.module.project.module_defining(definition) if isinstance(definition, FUNCTIONS) else None
        if owner is None or definition is None:
            return body.left(node, pattern, decide)
        line = min([definition.lineno, *(decorator.lineno for decorator in definition.decorator_list)])  # type: ignore[attr-defined]
        return Left(owner.path, line, (body.tool,), pattern, decide)
    return None
