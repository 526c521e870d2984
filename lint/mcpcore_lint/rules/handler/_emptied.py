"""Values that a clause made empty, followed to the answer."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import CallValue, Const, Items, Mapping, Symbol, Text, Unknown, Value, string
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._bodies import Body, mentions, short, text_start, unpacked
from mcpcore_lint.rules.handler._clauses import following, guarding_statement, is_logging, only_passes
from mcpcore_lint.rules.handler._failures import ERROR_KEYS, FAILURE_KEYS, STATUS_KEYS, SUCCESS_KEYS
from mcpcore_lint.rules.handler._optional import only_reads_values, root_name, stored_by
from mcpcore_lint.syntax.parse import all_parameters, walk_shallow

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from mcpcore_lint.model import CatchSite

_NOTHING: Final = regex(
    r"\s*(?:no|nothing)\b.{0,60}\b(?:found|available|results?|matches|data|items?|records?)\b", re.IGNORECASE
)
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
_WELL: Final = frozenset({"ok", "success", "succeeded", "successful", "completed", "complete", "done"})
"""What a `status` says where all went well."""
_DUMPS: Final = frozenset({"model_dump", "model_dump_json", "dict", "to_dict", "json"})
"""Methods by which a model becomes an answer."""
_GOES_ON: Final = "..."


class Emptied:
    """Follows what a clause made empty, or left so, to the answer."""

    def __init__(self, catch: CatchSite, body: Body) -> None:
        self.body = body
        self.values: dict[str, ast.expr] = {}
        """What is empty, and with what."""
        self.asked = False
        """Whether a test has led to where it is followed to."""
        self.said = {catch.name}
        """Other names that the clause sets: they may say why."""
        self.touched = {node.id for node in walk_shallow([*catch.body]) if isinstance(node, ast.Name)}
        """The names that the clause uses."""
        for statement in catch.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                name = statement.targets[0].id
                if len(statement.targets) == 1 and empty_value(body.value(statement.value)) is not None:
                    self.values[name] = statement.value
                else:
                    self.said.add(name)
        self.echoes: set[str] = set()
        """The parameters, where an answer that repeats them tells nothing more."""
        start = guarding_statement(catch, body)
        if isinstance(start, ast.stmt):
            self._left_empty(catch, start)
            if is_all_the_work(start, catch, body):
                self.echoes = {each.arg for each in all_parameters(body.root.args)} - self.touched

    def _left_empty(self, catch: CatchSite, start: ast.stmt) -> None:
        """Note what is empty before the guarded code and would be filled by it."""
        scope = self.body.scope(start)
        guarded = walk_shallow([*catch.try_body])
        flags = {
            target.id
            for node in guarded
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for name in {root_name(target) for target in stored_by(guarded)} - flags - self.touched:
            before = scope.bound_before(name, start)
            values = [binding.value for binding in before if binding.kind in {"assign", "annotated"}]
            if len(values) != 1 or len(before) != 1 or values[0] is None or self._is_read_before(name, start):
                continue
            if empty_value(self.body.value(values[0])) is not None:
                self.values[name] = values[0]
        self.touched |= {node.id for node in guarded if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}

    def _is_read_before(self, name: str, start: ast.stmt) -> bool:
        return any(
            node.id == name and isinstance(node.ctx, ast.Load) and node.lineno < start.lineno
            for node in self.body.all(ast.Name)
        )

    def answered_behind(self, statement: ast.AST) -> str | None:
        """How the answer behind a `try` is empty: "" for the emptied value itself, None where it is not empty."""
        current = statement
        while True:
            told = self._answered(self.body.after(current))
            if told != _GOES_ON:
                return told
            above = self.body.parents.get(current)
            outer = isinstance(above, ast.Try) and current in above.body and not above.orelse and not above.finalbody
            if above is None or not (outer or isinstance(above, (ast.With, ast.AsyncWith, ast.If))):
                return None
            current = above

    def _answered(self, statements: list[ast.stmt]) -> str | None:
        """What some statements answer; that they go on where they do not."""
        for each in statements:
            match each:
                case ast.Pass() | ast.Expr(value=ast.Constant()):
                    pass
                case ast.Expr(value=value) if is_logging(value, self.body):
                    pass
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._shows(value):
                    counts = isinstance(value, ast.Call) and getattr(value.func, "id", "") == "len"
                    self.values[name] = ast.Constant(0) if counts else value
                case ast.If():
                    holds = self._holds(each.test)
                    if holds is None:
                        self.asked = self._may_hold(each.test)
                        told = self._answered(each.body) if self.asked else None
                        return None if told == _GOES_ON else told
                    self.asked = True
                    told = self._answered(each.body if holds else each.orelse)
                    if told != _GOES_ON:
                        return told
                case ast.Return(value=ast.expr() as value):
                    return self._told(value)
                case _:
                    return None
        return _GOES_ON

    def _told(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.IfExp):
            holds = self._holds(node.test)
            self.asked = True
            return None if holds is None else self._told(node.body if holds else node.orelse)
        if self._shows(node):
            return ""
        if not self.asked:
            return None  # the answer is the same whatever was found
        return None if any(mentions(node, each) for each in self.said if each) else empty_value(self.body.value(node))

    def _shows(self, node: ast.expr) -> bool:
        return shown_alone(node, self.values.keys(), self.body, self.echoes)

    def _holds(self, test: ast.expr) -> bool | None:
        """Whether a test holds for what is empty; None where it is about something else."""
        match test:
            case ast.Name() | ast.Call(func=ast.Name(id="len")) if self._shows(test):
                return False
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                holds = self._holds(inner)
                return None if holds is None else not holds
            case ast.BoolOp(values=values):
                held = [self._holds(each) for each in values]
                decisive = isinstance(test.op, ast.Or)
                return decisive if decisive in held else None if None in held else not decisive
            case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=value)]) if self._shows(left):
                return self._compares(left, op, value)
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.List(elts=[]) | ast.Dict(keys=[])]):
                return True if isinstance(left, ast.Name) and left.id in self.values else None
        return None

    def _may_hold(self, test: ast.expr) -> bool:
        """Whether a test holds for what is empty, as far as it is not about what else the clause touches."""
        if not (isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)):
            return False
        held = {each: self._holds(each) for each in test.values}
        return (
            True in held.values()
            and False not in held.values()
            and not any(mentions(each, name) for each, holds in held.items() if holds is None for name in self.touched)
        )

    def _compares(self, left: ast.expr, op: ast.cmpop, value: object) -> bool | None:
        made = self.values.get(left.id) if isinstance(left, ast.Name) else ast.Constant(0)
        if value is None and isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            is_none = isinstance(made, ast.Constant) and made.value is None
            return is_none is isinstance(op, (ast.Is, ast.Eq))
        if type(value) is not int or not isinstance(made, ast.Constant) or made.value != 0:
            return None
        match op:
            case ast.Eq():
                return value == 0
            case ast.NotEq() | ast.Gt():
                return value != 0 if isinstance(op, ast.NotEq) else value < 0
            case ast.Lt():
                return value > 0
            case ast.GtE():
                return value <= 0
        return None


def emptied_parts(catch: CatchSite, body: Body) -> Iterator[tuple[ast.Assign, str, str]]:
    """The parts of the answer that a clause makes empty, each with its name: `except Exception: result["rows"] = []`.

    The guarded code sets the same part, the clause says nothing else, and nothing behind it looks at that part again.
    None and False are left alone: they say that there is no value, and that something is not so.
    """
    start = guarding_statement(catch, body)
    if start is None or catch.suppress or only_reads_values(catch, body):
        return
    rest = [node for node in catch.body if not isinstance(node, ast.Assign)]
    assigned = [node for node in catch.body if isinstance(node, ast.Assign)]
    if not only_passes(rest, body) or any(empty_value(body.value(node.value)) is None for node in assigned):
        return
    otherwise = start.orelse if isinstance(start, (ast.Try, ast.TryStar)) else []
    filled = {ast.unparse(target) for target in stored_by(walk_shallow([*catch.try_body, *otherwise]))}
    after = walk_shallow([*following(start, body)])
    for node in assigned:
        target = node.targets[0]
        part = _part_of(target)
        empty = empty_value(body.value(node.value))
        if (
            part is None
            or empty is None
            or empty in {"None", "False"}
            or _SAYS_WHY.search(part[1])
            or ast.unparse(target) not in filled
        ):
            continue
        whole, name = part
        answered = any(isinstance(each, ast.Return) and mentions(each, whole) for each in after)
        if answered and not any(name in {getattr(each, "value", None), getattr(each, "attr", None)} for each in after):
            yield node, name, empty


def _part_of(target: ast.expr) -> tuple[str, str] | None:
    """The variable and the part of it that is set: `result["rows"]`, `result.rows`."""
    match target:
        case ast.Subscript(value=ast.Name(id=whole), slice=ast.Constant(value=str(name))):
            return whole, name
        case ast.Attribute(value=ast.Name(id=whole), attr=name) if whole not in {"self", "cls"}:
            return whole, name
    return None


def shown_alone(node: ast.expr, names: Collection[str], body: Body, echoes: Collection[str] = ()) -> bool:
    """Whether an answer is one of some names, or shows them and nothing else that could say why they are empty.

    Args:
        node: The answer.
        names: The names.
        body: Where it stands.
        echoes: Parameters that the answer may repeat.
    """
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, (ast.Await, ast.Starred, ast.FormattedValue)):
        return shown_alone(node.value, names, body, echoes)
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        parts = {str(key.value) if isinstance(key, ast.Constant) else None: value for key, value in pairs}
        return None not in parts and _fields_shown(parts, names, body, echoes)
    if isinstance(node, (ast.List, ast.Tuple)):
        return _all_shown(node.elts, names, body)
    if isinstance(node, ast.JoinedStr):
        return _all_shown([each for each in node.values if isinstance(each, ast.FormattedValue)], names, body)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in _DUMPS and isinstance(node.func.value, ast.Call):
            return not node.args and shown_alone(node.func.value, names, body, echoes)
        value = body.value(node.func)
        if not isinstance(value, Symbol):
            return False
        if isinstance(value.definition, ast.ClassDef):
            fields: dict[str | None, ast.expr] = {each.arg: each.value for each in node.keywords}
            return not node.args and None not in fields and _fields_shown(fields, names, body, echoes)
        if any(_SAYS_WHY.search(each.arg or "**") for each in node.keywords):
            return False
        arguments = [*node.args, *(each.value for each in node.keywords)]
        if value.definition is not None:
            return len(arguments) == 1 and shown_alone(arguments[0], names, body, echoes)
        if not value.name.startswith(("builtins.", "json.", "mcp.")):
            return False
        return _all_shown(arguments, names, body, echoes if value.name.startswith("json.") else ())
    return False


def _fields_shown(
    fields: dict[str | None, ast.expr], names: Collection[str], body: Body, echoes: Collection[str]
) -> bool:
    """Whether an answer with names for its parts shows some names alone: `{"success": True, "rows": rows}`."""
    left: list[ast.expr] = []
    echoed = False
    for key, value in fields.items():
        word = (key or "").lower()
        constant = value.value if isinstance(value, ast.Constant) else ...
        if word in SUCCESS_KEYS and constant is True:
            continue
        if word in STATUS_KEYS and str(constant).lower() in _WELL:
            continue
        if word in ERROR_ISH or _SAYS_WHY.search(word):
            return False
        if isinstance(value, ast.Name) and value.id in echoes and value.id not in names:
            echoed = True
        elif constant is ...:
            left.append(value)
    # `{"query": query, "rows": rows, "count": len(rows)}` is about the rows; `{"name": name, "tags": tags}` may not be.
    return not (echoed and len(left) < 2) and _all_shown(left, names, body, echoes)


def _all_shown(nodes: Sequence[ast.expr], names: Collection[str], body: Body, echoes: Collection[str] = ()) -> bool:
    """Whether some expressions are constants but for those that show names alone, of which there is one at least."""
    left = [each for each in nodes if not isinstance(each, ast.Constant)]
    return bool(left) and all(shown_alone(each, names, body, echoes) for each in left)


def is_all_the_work(start: ast.stmt, catch: CatchSite, body: Body) -> bool:
    """Whether nothing is done before some guarded code but what it uses is made ready."""
    used = {node.id for node in walk_shallow([*catch.try_body]) if isinstance(node, ast.Name)}
    for node in body.all(ast.Call):
        if node.lineno >= start.lineno or body.function_of(node) is not body.root or is_logging(node, body):
            continue
        statement = body.statement_of(node)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if not any(isinstance(target, ast.Name) and target.id in used for target in targets):
            return False
    return True


def empty_value(value: Value) -> str | None:
    """How a value is empty, such as "an empty list"; None where it is not empty or not known."""
    value = unpacked(value)
    if isinstance(value, Const):
        return _NOTHINGS.get(repr(value.value)) or (
            f'"{value.value.strip()[:30]}"' if isinstance(value.value, str) and _NOTHING.match(value.value) else None
        )
    if isinstance(value, Text):
        start = text_start(value)
        return f'"{start.strip()[:30]}..."' if start and _NOTHING.match(start) else None
    if isinstance(value, Items):
        if value.complete and len(value.items) == 1 and _is_text_content(value.items[0]):
            return empty_value(value.items[0])
        return f"an empty {value.kind}" if value.complete and not value.items else None
    if isinstance(value, Mapping):
        if not value.complete:
            return None
        if not value.items:
            return "an empty dict"
        pairs = [((string(key) or "").lower() or None, each) for key, each in value.items]
        return "a result with nothing in it" if _all_empty(pairs) else None
    if isinstance(value, CallValue):
        if _is_text_content(value):
            return empty_value(value.argument("text", 1))
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


def _is_text_content(value: Value) -> bool:
    return isinstance(value, CallValue) and value.func.name == "mcp.TextContent"


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
