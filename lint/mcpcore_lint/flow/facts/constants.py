"""Texts that are given to functions which do one thing for one text and another for the next: `fail("missing")`."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from mcpcore_lint.flow.effects import Given, Handed
from mcpcore_lint.meaning.branches import Branches
from mcpcore_lint.meaning.given import parameter_of
from mcpcore_lint.reading.syntax import all_parameters, own_nodes, walk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.reading.module import Module


def constants_given(
    call: ast.Call, function: FunctionNode, module: Module, known: Mapping[str, str], *, bound: bool
) -> tuple[Given, ...]:
    """The texts that a call gives to parameters which its function compares with texts.

    Args:
        call: The call.
        function: What is called.
        module: The file of that.
        known: The texts that the caller's own parameters are.
        bound: Whether the first parameter is the object or the class itself.
    """
    texts: dict[int | str, str] = {}
    written: list[tuple[int | str, ast.expr]] = [*enumerate(call.args)]
    written += [(each.arg, each.value) for each in call.keywords if each.arg is not None]
    for place, each in written:
        if isinstance(each, ast.Starred):
            break
        text = known.get(each.id) if isinstance(each, ast.Name) else getattr(each, "value", None)
        if isinstance(text, str):
            texts[place] = text
    if not texts:
        return ()
    asked = _compared(function, module)
    positional = [each.arg for each in (*function.args.posonlyargs, *function.args.args)][int(bound) :] if asked else []
    found: list[Given] = []
    for place, text in texts.items():
        name = place if isinstance(place, str) else positional[place] if place < len(positional) else None
        if name in asked:
            found.append(Given(parameter_of(function, module, name), (Handed("constant", text),)))
    return tuple(found)


def constants_of(function: FunctionNode, module: Module, given: tuple[Given, ...]) -> dict[str, str]:
    """The texts that parameters of a function are in one call."""
    here = (module.path, function.lineno, function.col_offset)
    return {
        each.parameter.name: one.place
        for each in given
        for one in each.what
        if one.sort == "constant" and each.parameter[:3] == here
    }


def idle(function: FunctionNode, module: Module, constants: Mapping[str, str]) -> set[ast.AST]:
    """The statements of a function that do not run where its parameters are some texts."""
    found: set[ast.AST] = set()
    scope = module.scope_of(function)
    for name, text in constants.items():
        branches = Branches(partial(_is, name), scope).of(function)
        found.update(statement for each in branches if not each.runs_for(text) for statement in each.body)
    return found


def _is(name: str, node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _compared(function: FunctionNode, module: Module) -> frozenset[str]:
    """The parameters of a function that it compares with something, or looks up in a table, and never sets."""
    key = ("compared", function)
    known: frozenset[str] | None = module.memo.get(key)
    if known is None:
        names = {each.arg for each in all_parameters(function.args)}
        asked: set[str] = set()
        for each in own_nodes(function):
            parts: list[ast.AST] = []
            if isinstance(each, ast.If):
                parts = [one for one in walk([each.test]) if isinstance(one, ast.Compare)]
                parts = [side for one in parts if isinstance(one, ast.Compare) for side in (one.left, *one.comparators)]
            elif isinstance(each, ast.Match):
                parts = [each.subject]
            elif isinstance(each, ast.Subscript):
                parts = [each.slice]
            asked.update(one.id for one in parts if isinstance(one, ast.Name) and one.id in names)
        bindings = module.scope_of(function).bindings if asked else {}
        known = frozenset(each for each in asked if len(bindings.get(each, ())) == 1)
        module.memo[key] = known
    return known


__all__ = ["constants_given", "constants_of", "idle"]
