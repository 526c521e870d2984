"""Names that are empty after an `except` clause, followed to the answer."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import Symbol
from mcpcore_lint.patterns import regex
from mcpcore_lint.rules._bodies import Body, mentions
from mcpcore_lint.rules.handler._empty_values import EXPLAINING_KEYS, describe_empty
from mcpcore_lint.rules.handler._except_clauses import guarding_statement, is_logging, root_name
from mcpcore_lint.rules.handler._failures import STATUS_KEYS, SUCCESS_KEYS
from mcpcore_lint.rules.handler._optional_work import stored_by
from mcpcore_lint.syntax.parse import all_parameters, walk_shallow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpcore_lint.model import CatchSite

_EXPLAINS: Final = regex(
    r"error|warn|fail|note|hint|reason|status|detail|message|partial|complete|degraded|stale", re.IGNORECASE
)
"""Names next to an empty value that may say why it is empty."""
_SUCCEEDED: Final = frozenset({"ok", "success", "succeeded", "successful", "completed", "complete", "done"})
_DUMPS: Final = frozenset({"model_dump", "model_dump_json", "dict", "to_dict", "json"})
"""Methods that convert a model into an answer."""
_CONTINUES: Final = "..."


class EmptiedNames:
    """The names that are empty after a clause, because it empties them or the guarded code did not fill them."""

    def __init__(self, catch: CatchSite, body: Body) -> None:
        self._body = body
        self._names: set[str] = set()
        self._is_none: set[str] = set()
        """The names that are None."""
        self._tested = False
        """Whether a test of an empty name leads to the statement at hand."""
        self._explanations = {catch.name} if catch.name else set()
        """Names that may say why: the exception, and other names that the clause sets."""
        self._echoes: set[str] = set()
        """Parameters, which say nothing new if the answer repeats them."""
        for statement in catch.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                name = statement.targets[0].id
                if len(statement.targets) == 1 and describe_empty(body.value(statement.value)) is not None:
                    self._add(name, statement.value)
                else:
                    self._explanations.add(name)
        start = guarding_statement(catch, body)
        if start is not None:
            used = {node.id for node in walk_shallow([*catch.body]) if isinstance(node, ast.Name)}
            self._add_unfilled(catch, start, used)
            if is_all_work(start, catch, body):
                self._echoes = {parameter.arg for parameter in all_parameters(body.root.args)} - used

    def _add(self, name: str, value: ast.expr) -> None:
        self._names.add(name)
        if isinstance(value, ast.Constant) and value.value is None:
            self._is_none.add(name)

    def _add_unfilled(self, catch: CatchSite, start: ast.stmt, used: set[str]) -> None:
        """Add the names that are empty before the guarded code, which would fill them."""
        scope = self._body.scope(start)
        guarded = walk_shallow([*catch.try_body])
        flags = {
            target.id
            for node in guarded
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for name in {root_name(target) for target in stored_by(guarded)} - flags - used:
            bindings = scope.bound_before(name, start)
            value = bindings[0].value if len(bindings) == 1 else None
            if value is None or bindings[0].kind not in {"assign", "annotated"} or self._is_read_before(name, start):
                continue
            if describe_empty(self._body.value(value)) is not None:
                self._add(name, value)

    def _is_read_before(self, name: str, start: ast.stmt) -> bool:
        return any(
            node.id == name and isinstance(node.ctx, ast.Load) and node.lineno < start.lineno
            for node in self._body.all(ast.Name)
        )

    def answer_after(self, statement: ast.stmt) -> str | None:
        """How the answer after a `try` is empty: "" for the empty name itself, None if it is not empty."""
        node: ast.AST | None = statement
        while node is not None:
            answer = self._answer(self._body.after(node))
            if answer != _CONTINUES:
                return answer
            parent = self._body.parents.get(node)
            is_try = isinstance(parent, ast.Try) and node in parent.body and not parent.orelse and not parent.finalbody
            node = parent if is_try or isinstance(parent, (ast.With, ast.AsyncWith, ast.If)) else None
        return None

    def _answer(self, statements: list[ast.stmt]) -> str | None:
        """What some statements return; `_CONTINUES` if they go on."""
        for statement in statements:
            match statement:
                case ast.Pass() | ast.Expr(value=ast.Constant()):
                    pass
                case ast.Expr(value=value) if is_logging(value, self._body):
                    pass
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._shows(value):
                    self._names.add(name)
                case ast.If():
                    holds = self._holds(statement.test)
                    if holds is None:
                        return None
                    self._tested = True
                    answer = self._answer(statement.body if holds else statement.orelse)
                    if answer != _CONTINUES:
                        return answer
                case ast.Return(value=ast.expr() as value):
                    return self._returned(value)
                case _:
                    return None
        return _CONTINUES

    def _returned(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.IfExp):
            holds = self._holds(node.test)
            self._tested = True
            return None if holds is None else self._returned(node.body if holds else node.orelse)
        if self._shows(node):
            return ""
        # Without a test, the answer is the same whatever was found.
        if not self._tested or any(mentions(node, name) for name in self._explanations):
            return None
        return describe_empty(self._body.value(node))

    def _holds(self, test: ast.expr) -> bool | None:
        """Whether a test holds for the empty names; None if it is about something else."""
        match test:
            case ast.Name() | ast.Call(func=ast.Name(id="len")) if self._shows(test):
                return False
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                holds = self._holds(operand)
                return None if holds is None else not holds
            case ast.BoolOp(values=values):
                results = [self._holds(value) for value in values]
                decisive = isinstance(test.op, ast.Or)
                return decisive if decisive in results else None if None in results else not decisive
            case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(value=None)]):
                if name in self._names and isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
                    return (name in self._is_none) is isinstance(op, (ast.Is, ast.Eq))
            case ast.Compare(left=left, ops=[ast.Eq() | ast.Gt() as op], comparators=[ast.Constant(value=0)]):
                return isinstance(op, ast.Eq) if isinstance(left, ast.Call) and self._shows(left) else None
        return None

    # Answers that show an empty name

    def _shows(self, node: ast.expr) -> bool:
        """Whether an expression is an empty name, or shows one and nothing else that could say why it is empty."""
        match node:
            case ast.Name(id=name):
                return name in self._names
            case ast.Await(value=value) | ast.Starred(value=value) | ast.FormattedValue(value=value):
                return self._shows(value)
            case ast.Dict(keys=keys, values=values):
                names = [str(key.value) if isinstance(key, ast.Constant) else None for key in keys]
                return self._shows_fields(list(zip(names, values, strict=True)))
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return self._shows_only(items)
            case ast.JoinedStr(values=values):
                return self._shows_only([value for value in values if isinstance(value, ast.FormattedValue)])
            case ast.Call(func=ast.Attribute(attr=method, value=ast.Call() as model), args=[]) if method in _DUMPS:
                return self._shows(model)
            case ast.Call():
                return self._shows_call(node)
        return False

    def _shows_call(self, node: ast.Call) -> bool:
        function = self._body.value(node.func)
        if not isinstance(function, Symbol):
            return False
        if isinstance(function.definition, ast.ClassDef):
            return not node.args and self._shows_fields([(keyword.arg, keyword.value) for keyword in node.keywords])
        if any(_EXPLAINS.search(keyword.arg or "status") for keyword in node.keywords):
            return False
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        if function.definition is not None:
            return len(arguments) == 1 and self._shows(arguments[0])
        return function.name.startswith(("builtins.", "json.", "mcp.")) and self._shows_only(arguments)

    def _shows_fields(self, fields: Sequence[tuple[str | None, ast.expr]]) -> bool:
        """Whether an answer with named parts shows only empty names: `{"success": True, "rows": rows}`."""
        rest: list[ast.expr] = []
        repeats = False
        for name, value in fields:
            word = (name or "").lower()
            constant = value.value if isinstance(value, ast.Constant) else ...
            if word in SUCCESS_KEYS and constant is True:
                continue
            if word in STATUS_KEYS and str(constant).lower() in _SUCCEEDED:
                continue
            if not word or word in EXPLAINING_KEYS | SUCCESS_KEYS or _EXPLAINS.search(word):
                return False
            if isinstance(value, ast.Name) and value.id in self._echoes - self._names:
                repeats = True
            elif constant is ...:
                rest.append(value)
        # `{"query": query, "rows": rows, "count": len(rows)}` is about the rows, but `{"name": name, "tags": tags}`
        # need not be about the tags.
        return not (repeats and len(rest) < 2) and self._shows_only(rest)

    def _shows_only(self, nodes: Iterable[ast.expr]) -> bool:
        """Whether some expressions are constants, and at least one that shows an empty name."""
        rest = [node for node in nodes if not isinstance(node, ast.Constant)]
        return bool(rest) and all(map(self._shows, rest))


def is_all_work(start: ast.stmt, catch: CatchSite, body: Body) -> bool:
    """Whether the code before some guarded code only prepares what the guarded code uses."""
    used = {node.id for node in walk_shallow([*catch.try_body]) if isinstance(node, ast.Name)}
    for call in body.all(ast.Call):
        if call.lineno >= start.lineno or body.function_of(call) is not body.root or is_logging(call, body):
            continue
        statement = body.statement_of(call)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if not any(isinstance(target, ast.Name) and target.id in used for target in targets):
            return False
    return True
