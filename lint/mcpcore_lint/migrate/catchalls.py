"""Clauses that catch everything to say it in a text: they go, since the boundary answers for what nobody declared."""

from __future__ import annotations

import ast
import re
from typing import Final, NamedTuple

from mcpcore_lint.codemods import edits as codemods
from mcpcore_lint.diagnostics import Change, Edit
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import mentions, walk
from mcpcore_lint.migrate.body import Body
from mcpcore_lint.migrate.messages import LABEL, VAGUE, code_of, constant_text, pieces
from mcpcore_lint.migrate.model import Place
from mcpcore_lint.migrate.sentences import of_class

_SPEAKING: Final = ("builtins.", "mcp.", "fastmcp.", "mcpcore.")
"""The packages of classes that say more than their name: those of Python and of the frameworks."""
_RESTATES: Final = re.compile(
    r"\W*(?:an? )?(?:\w+ ){0,4}?(?:errors?|failed|failure|unable|could not|couldn't|cannot|can't)\b|\W*$", re.IGNORECASE
)
"""A text that only says that something failed."""
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
    # The exception itself may say more than its class, such as the status of a response.
    no_more = codes <= VAGUE or _RESTATES.match(text) is not None
    return repeats and bool(kinds) and (len(codes) > 1 or (not own and no_more))


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
    for clause, place in ((found.clause, found.place) for found in clauses if not found.goes):
        changes.append(Edit(*source.node_range(place.node), "raise"))
        others = {*walk([*clause.body])} - {*walk([place.node])}
        if clause.name and clause.type and all(getattr(part, "id", "") != clause.name for part in others):
            end, start = source.node_range(clause.type)[1], source.node_range(clause.body[0])[0]
            changes.append(Edit(end, start, re.sub(r"\s*\bas\s+\w+", "", source.text[end:start], count=1)))
    gone = [found.clause for found in clauses if found.goes]
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
