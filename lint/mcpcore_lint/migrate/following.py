"""Tests that call a converted tool follow: `pytest.raises`, and asserts about returned failures; others are listed."""

from __future__ import annotations

import ast
import re
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.migrate.contracts import Names
from mcpcore_lint.migrate.failures.raises import mentions_name
from mcpcore_lint.migrate.messages import constant_text, pieces
from mcpcore_lint.migrate.model import Left, Place
from mcpcore_lint.model import Symbol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.engine.syntax.scopes import Scope

_FAILURE: Final = ("mcpcore", "CodedError")
# A test that may be about a failure. A tool that it calls through the server keeps what it returns.
_FAILS: Final = re.compile(r"error|exception|fail|reject|invalid|missing", re.IGNORECASE)
_FIRST: Final = re.compile(r"[\"'\s]*(?:\.[*+]|[|\[({^$]).*")
"""What a pattern says behind its first words."""


def follow(
    module: Module, converted: Mapping[ast.AST, Sequence[tuple[Place, Scope]]], whole: Collection[ast.AST]
) -> tuple[list[Edit], list[Left]]:
    """The edits of a file of tests, and the asserts that somebody has to change.

    Args:
        module: The file.
        converted: The failures of the tools that are converted, by the function of the tool.
        whole: The functions of the tools that return no other failure.
    """
    edits: list[Edit] = []
    left: list[tuple[ast.Assert, str]] = []
    done: set[int] = set()
    names = Names(module)
    by_name: dict[str, list[ast.AST]] = {}
    for node in converted:
        by_name.setdefault(getattr(node, "name", ""), []).append(node)
    for call, scope in module.calls_near(*{f"{name}(" for name in by_name}):
        symbol = evaluate(call.func, scope) if isinstance(call.func, (ast.Name, ast.Attribute)) else None
        places = converted.get(symbol.definition, ()) if isinstance(symbol, Symbol) and symbol.definition else ()
        unknown = isinstance(call.func, ast.Attribute) and not isinstance(symbol, Symbol)
        same = by_name.get(getattr(call.func, "attr", ""), []) if unknown else []
        if len(same) == 1:
            # A method of an object that a fixture makes, by its name and by what it raises.
            places = [place for place in converted[same[0]] if place[0].raised]
        block = module.parents.get(call)
        while places and block is not None and not isinstance(block, (ast.FunctionDef, ast.AsyncFunctionDef)):
            items = block.items if isinstance(block, (ast.With, ast.AsyncWith)) else ()
            for item in items:
                kind, certain = _expected(item.context_expr, places, scope)
                if kind is not None:
                    failure = names.spell(*_FAILURE)
                    certain = certain or getattr(symbol, "definition", None) in whole
                    text = failure if certain else f"({module.source.segment(kind)}, {failure})"
                    edits.append(Edit(*module.source.node_range(kind), text))
            block = module.parents.get(block)
        if block is not None and any(place.raised == "" for place, _ in places):
            certain = symbol is not None and getattr(symbol, "definition", None) in whole
            if certain and (rewritten := _rewritten(call, block, module, names)):
                edits += rewritten
                done |= {edit.start for edit in rewritten}
                continue
            tool = getattr(call.func, "attr", getattr(call.func, "id", ""))
            asserts = [part for part in walk([block]) if isinstance(part, ast.Assert)]
            left += [(part, tool) for part in asserts if "error" in ast.unparse(part.test).lower()]
    source, decide = module.source, "expect CodedError with pytest.raises"
    lines = [
        Left(module.path, part.lineno, (), f"{tool}() returned a failure, and a test asserts that", decide)
        for part, tool in left
        if done.isdisjoint({source.node_range(part)[0], source.line_starts[part.lineno - 1]})
    ]
    return ([*edits, *names.edits({_FAILURE})] if edits else []), lines


class Asserted(NamedTuple):
    """What tests expect of the failures of a tool.

    Attributes:
        returned: Where a test reads one that the tool returns; empty if none does.
        follows: Whether all of these tests can be rewritten.
        raised: The classes that tests expect, as they are written.
    """

    returned: str = ""
    follows: bool = True
    raised: frozenset[str] = frozenset()


def asserted(module: Module, handlers: Collection[ast.AST], known: dict[ast.AST, Asserted]) -> None:
    """Add what a file of tests expects of the failures of tools, by their functions."""
    by_name: dict[str, list[ast.AST]] = {}
    for node in handlers:
        by_name.setdefault(getattr(node, "name", ""), []).append(node)
    nodes = cache(lambda block: [*walk([block])])
    for call, scope in module.calls_near("call_tool(", *{f"{name}(" for name in by_name}):
        called = getattr(call.func, "attr", getattr(call.func, "id", ""))
        symbol = evaluate(call.func, scope) if isinstance(call.func, (ast.Name, ast.Attribute)) else None
        if by_string := called == "call_tool" and bool(call.args) and isinstance(call.args[0], ast.Constant):
            called = getattr(call.args[0], "value", "")
        tool = symbol.definition if isinstance(symbol, Symbol) and symbol.definition in handlers else None
        if tool is None and not isinstance(symbol, Symbol) and len(by_name.get(called, ())) == 1:
            tool = by_name[called][0]
        if tool is None:
            continue
        block, before = scope.node, known.get(tool, Asserted())
        # If no name keeps the result, only its own statement reads it.
        kept = any(isinstance(part, ast.Assign) and call in walk([part]) for part in nodes(block))
        tests = [ast.unparse(part.test) for part in nodes(block) if isinstance(part, ast.Assert)]
        tests = [test for test in tests if kept or f"{called}(" in test]
        withs = [part for part in nodes(block) if isinstance(part, (ast.With, ast.AsyncWith))]
        expected = {
            ast.unparse(item.context_expr.args[0])
            for part in withs
            for item in part.items
            if isinstance(item.context_expr, ast.Call) and item.context_expr.args and call in walk([part])
        }
        known[tool] = before = before._replace(raised=before.raised | expected)
        follows = not by_string and bool(_rewritten(call, block, module, Names(module)))
        reads = bool(_FAILS.search(ast.unparse(block))) if by_string else any("error" in test.lower() for test in tests)
        if not expected and (follows or reads):
            where = f"{module.path}:{call.lineno}" if before.follows else before.returned
            known[tool] = before._replace(returned=where, follows=before.follows and follows)


def _expected(node: ast.expr, places: Sequence[tuple[Place, Scope]], scope: Scope) -> tuple[ast.expr | None, bool]:
    """The class in `pytest.raises(...)` if the tool raised it, and whether its text is certainly the one expected."""
    match node:
        case ast.Call(func=func, args=[kind], keywords=options) if ast.unparse(func) in {"pytest.raises", "raises"}:
            named = evaluate(kind, scope)
            text = next((option.value for option in options if option.arg == "match"), None)
            expected = _FIRST.split(str(text.value).replace("\\", ""))[0] if isinstance(text, ast.Constant) else ""
            said = [
                constant_text(pieces(place.message, own))
                for place, own in places
                if isinstance(named, Symbol) and place.raised == named.name
            ]
            if any(expected in message for message in said):
                return kind, expected != ""
    return None, False


# -- asserts about a failure that a tool returned ----------------------------------------------------------------------


def _rewritten(call: ast.Call, block: ast.AST, module: Module, names: Names) -> list[Edit]:
    """The edits that expect an exception, if nothing but asserts that the tool failed use what the call returned."""
    parents, source = module.parents, module.source
    value: ast.AST = parents[call] if isinstance(parents[call], ast.Await) else call
    statement = parents[value]
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) if "pytest" in module.scope.bindings:
            body: list[ast.stmt] = getattr(parents[statement], "body", [])
        case _:
            return []
    following = body[body.index(statement) + 1 :] if statement in body else []
    asserts = [*takewhile(lambda part: isinstance(part, ast.Assert) and mentions_name(part, name), following)]
    expected = [_expected_text(part.test, name) for part in asserts if isinstance(part, ast.Assert)]
    uses = [part for part in walk([block]) if isinstance(part, ast.Name) and part.id == name]
    if not asserts or None in expected or len(uses) != 1 + len(asserts) or mentions_name(block, "caught"):
        return []
    line = source.line(statement.lineno)
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    head = f"with pytest.raises({names.spell(*_FAILURE)}) as caught:{source.newline}{indent}    "
    edits = [Edit(source.node_range(statement)[0], source.node_range(value)[0], head)]
    starts = [*source.line_starts, len(source.text)]
    for part, text in zip(asserts, expected, strict=True):
        if text:
            edits.append(
                Edit(*source.node_range(part), f"assert {source.segment(text[0])} {text[1]} str(caught.value)")
            )
        else:
            edits.append(Edit(starts[part.lineno - 1], starts[part.end_lineno or part.lineno], ""))
    return edits


def _expected_text(test: ast.expr, name: str) -> tuple[ast.expr, str] | tuple[()] | None:
    """The text that an assert expects in the error of a result, and how; empty if it only says that there is one."""
    match test:
        case ast.Compare(left=ast.Constant(value="error"), ops=[ast.In()], comparators=[ast.Name(id=where)]):
            return () if where == name else None
        case ast.UnaryOp(
            op=ast.Not(), operand=ast.Subscript(value=ast.Name(id=where), slice=ast.Constant(value="success"))
        ):
            return () if where == name else None
        case ast.Compare(
            left=ast.Subscript(value=ast.Name(id=where), slice=ast.Constant(value="success")),
            ops=[ast.Is() | ast.Eq()],
            comparators=[ast.Constant(value=False)],
        ):
            return () if where == name else None
        case ast.Compare(
            left=ast.Constant(value=str()) as text,
            ops=[ast.In()],
            comparators=[ast.Subscript(value=ast.Name(id=where), slice=ast.Constant(value="error"))],
        ):
            return (text, "in") if where == name else None
        case ast.Compare(
            left=ast.Subscript(value=ast.Name(id=where), slice=ast.Constant(value="error")),
            ops=[ast.Eq()],
            comparators=[ast.Constant(value=str()) as text],
        ):
            return (text, "==") if where == name else None
    return None
