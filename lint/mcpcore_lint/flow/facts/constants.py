"""Texts and flags by which functions do one thing or another: `fail("missing")`, `load(key, strict=True)`."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, Final

from mcpcore_lint.flow.effects import Given, Handed
from mcpcore_lint.semantics.branches import Branches, ends
from mcpcore_lint.semantics.call_args import parameter_of
from mcpcore_lint.syntax.parse import BLOCKS, all_parameters, own_nodes, statements, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.syntax.module import Module


_FLAGS: Final[dict[str, bool | None]] = {"None": None, "True": True, "False": False}
_PLAIN: Final = frozenset({bool, type(None)})


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


def flags_given(
    call: ast.Call, function: FunctionNode, module: Module, known: Mapping[str, bool | None], *, bound: bool
) -> tuple[Given, ...]:
    """Which of None, True and False a call gives to parameters that decide whether its function raises.

    The arguments are those of `constants_given`; what a call leaves out is its default.
    """
    asked = _asked(function, module)
    if not asked or any(isinstance(each, ast.Starred) for each in call.args):
        return ()
    written: dict[str | None, ast.expr] = {each.arg: each.value for each in call.keywords}
    if None in written:
        return ()
    positional = [each.arg for each in (*function.args.posonlyargs, *function.args.args)][int(bound) :]
    written.update(zip(positional, call.args, strict=False))
    found: list[Given] = []
    for name, default in asked.items():
        value = written.get(name, default)
        if isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, bool)):
            flag = value.value
        elif isinstance(value, ast.Name) and value.id in known and value is not default:
            flag = known[value.id]
        else:
            continue
        found.append(Given(parameter_of(function, module, name), (Handed("flag", str(flag)),)))
    return tuple(found)


def flags_of(function: FunctionNode, module: Module, given: tuple[Given, ...]) -> dict[str, bool | None]:
    """Which of None, True and False parameters of a function are in one call."""
    here = (module.path, function.lineno, function.col_offset)
    return {
        each.parameter.name: _FLAGS.get(each.what[0].place)
        for each in given
        if len(each.what) == 1 and each.what[0].sort in {"flag", "none"} and each.parameter[:3] == here
    }


def unused(function: FunctionNode, flags: Mapping[str, bool | None]) -> set[ast.AST]:
    """The statements of a function that do not run where its parameters are None, True or False."""
    found: set[ast.AST] = set()
    for block in _blocks(function):
        for at, each in enumerate(block):
            holds = _holds(each.test, flags) if isinstance(each, ast.If) else None
            if holds is None or not isinstance(each, ast.If):
                continue
            found.update(each.orelse if holds else each.body)
            if ends(each.body if holds else each.orelse):
                found.update(block[at + 1 :])
                break
    return found


def _blocks(function: FunctionNode) -> Iterator[list[ast.stmt]]:
    if isinstance(function, ast.Lambda):
        return
    yield function.body
    for each in statements(function.body):
        for name in BLOCKS.get(type(each), ()):
            block = getattr(each, name)
            if block and isinstance(block[0], ast.stmt):
                yield block


def _holds(test: ast.expr, flags: Mapping[str, bool | None]) -> bool | None:
    """Whether a condition holds; None where the flags do not tell."""
    if isinstance(test, ast.Name):
        return bool(flags[test.id]) if test.id in flags else None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _holds(test.operand, flags)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        parts = [_holds(each, flags) for each in test.values]
        decides = isinstance(test.op, ast.Or)
        return decides if decides in parts else None if None in parts else not decides
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name):
        other = test.comparators[0]
        if test.left.id in flags and isinstance(other, ast.Constant):
            same = flags[test.left.id] is other.value
            if isinstance(test.ops[0], (ast.Is, ast.Eq)):
                return same
            return not same if isinstance(test.ops[0], (ast.IsNot, ast.NotEq)) else None
    return None


def _asked(function: FunctionNode, module: Module) -> dict[str, ast.expr | None]:
    """The parameters of a function that decides by them whether it raises, and never sets them, with their defaults."""
    key = ("flags", function)
    known: dict[str, ast.expr | None] | None = module.memo.get(key)
    if known is None:
        known = module.memo[key] = _read(function, module)
    return known


def _read(function: FunctionNode, module: Module) -> dict[str, ast.expr | None]:
    args = function.args
    defaults: list[ast.expr | None] = [*args.defaults, *args.kw_defaults]
    plain = any(isinstance(each, ast.Constant) and type(each.value) in _PLAIN for each in defaults)
    if not plain or isinstance(function, ast.Lambda):
        return {}
    starts, text = module.source.line_starts, module.source.text
    begin = starts[function.lineno - 1]
    last = function.end_lineno or function.lineno
    end = starts[last] if last < len(starts) else len(text)
    if text.find("raise", begin, end) < 0:
        return {}
    positional = [*args.posonlyargs, *args.args]
    without: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
    named = {
        **dict(zip((each.arg for each in positional), [*without, *args.defaults], strict=True)),
        **dict(zip((each.arg for each in args.kwonlyargs), args.kw_defaults, strict=True)),
    }
    asked = {
        one.id: named[one.id]
        for each in statements(function.body)
        if isinstance(each, ast.If)
        for one in walk([each.test])
        if isinstance(one, ast.Name) and one.id in named
    }
    bindings = module.scope_of(function).bindings if asked else {}
    return {
        name: default
        for name, default in asked.items()
        if len(bindings.get(name, ())) == 1 and isinstance(default, ast.Constant) and type(default.value) in _PLAIN
    }


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


__all__ = ["constants_given", "constants_of", "flags_given", "flags_of", "idle", "unused"]
