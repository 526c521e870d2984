"""Tests that call a converted tool follow: `pytest.raises`, and asserts about returned failures; others are listed."""

from __future__ import annotations

import ast
from itertools import takewhile
from typing import TYPE_CHECKING, Final

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
    for call, scope in module.calls_near(*{f"{getattr(node, 'name', '')}(" for node in converted}):
        symbol = evaluate(call.func, scope) if isinstance(call.func, (ast.Name, ast.Attribute)) else None
        places = converted.get(symbol.definition, ()) if isinstance(symbol, Symbol) and symbol.definition else ()
        block = module.parents.get(call)
        while places and block is not None and not isinstance(block, (ast.FunctionDef, ast.AsyncFunctionDef)):
            items = block.items if isinstance(block, (ast.With, ast.AsyncWith)) else ()
            kinds = filter(None, (_expected(item.context_expr, places, scope) for item in items))
            edits += [Edit(*module.source.node_range(kind), names.spell(*_FAILURE)) for kind in kinds]
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


def _expected(node: ast.expr, places: Sequence[tuple[Place, Scope]], scope: Scope) -> ast.expr | None:
    """The class in `pytest.raises(...)`, if the tool raised it with the text that is expected."""
    match node:
        case ast.Call(func=func, args=[kind], keywords=options) if ast.unparse(func) in {"pytest.raises", "raises"}:
            named = evaluate(kind, scope)
            text = next((option.value for option in options if option.arg == "match"), None)
            expected = str(text.value).replace("\\", "") if isinstance(text, ast.Constant) else ""
            said = [
                constant_text(pieces(place.message, own))
                for place, own in places
                if isinstance(named, Symbol) and place.raised == named.name
            ]
            return kind if any(expected in message for message in said) else None
    return None


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
