"""Tests that call a converted tool: `pytest.raises` follows, and asserts about returned failures are listed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.syntax.parse import walk
from mcpcore_lint.migrate.contracts import Names
from mcpcore_lint.migrate.messages import constant_text, pieces
from mcpcore_lint.migrate.model import Left, Place
from mcpcore_lint.model import Symbol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.engine.syntax.scopes import Scope

_FAILURE: Final = ("mcpcore", "CodedError")


def follow(module: Module, converted: Mapping[ast.AST, Sequence[tuple[Place, Scope]]]) -> tuple[list[Edit], list[Left]]:
    """The edits of a file of tests, and the asserts that somebody has to change.

    Args:
        module: The file.
        converted: The failures of the tools that are converted, by the function of the tool.
    """
    edits: list[Edit] = []
    left: list[Left] = []
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
            for part in walk([block]):
                if isinstance(part, ast.Assert) and "error" in ast.unparse(part.test).lower():
                    tool = getattr(call.func, "attr", getattr(call.func, "id", ""))
                    pattern = f"an assert about a failure that {tool}() returned"
                    left.append(Left(module.path, part.lineno, (), pattern, "expect CodedError with pytest.raises"))
    return ([*edits, *names.edits({_FAILURE})] if edits else []), left


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
