"""Failures that a tool gets from functions which it calls: `return {"error": ...}` in a function that is no tool."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from mcpcore_lint.migrate.body import Body
from mcpcore_lint.migrate.failures.returns import returned
from mcpcore_lint.migrate.model import Function, Left

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from contextlib import AbstractContextManager

    from mcpcore_lint.engine.semantics.hierarchy import Hierarchy

_DEPTH: Final = 3
"""How many functions below the tool are looked at."""
_Node: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_KINDS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


class _Helper(NamedTuple):
    """A function that is no tool."""

    path: str
    line: int
    fails: bool
    """Whether it returns a failure itself."""
    calls: dict[_Node, bool]
    """The functions of the project that it calls, and whether it returns their values."""


class Helpers:
    """The functions of the project that tools call, each of which is read once."""

    def __init__(
        self,
        hierarchy: Hierarchy,
        handlers: Collection[ast.AST],
        guarded: Callable[[str], AbstractContextManager[None]],
    ) -> None:
        """Start without any; `guarded` goes on without a file whose analysis crashes, by its absolute path."""
        self._guarded = guarded
        self._hierarchy = hierarchy
        self._handlers = handlers
        self._known: dict[ast.AST, _Helper | None] = {}

    def left(self, body: Body, named: Collection[tuple[str, int]]) -> list[Left]:
        """The functions that return a failure to a tool, directly or through other functions.

        Args:
            body: The function of the tool.
            named: The path and the line of functions that the report names anyway.
        """
        left: list[Left] = []
        seen: set[ast.AST] = {body.node, *self._handlers}
        layer = _calls(body)
        for _ in range(_DEPTH):
            following: dict[_Node, bool] = {}
            for definition, certain in layer.items():
                helper = None if definition in seen else self._read(definition, body)
                seen.add(definition)
                if helper is None or (helper.path, helper.line) in named:
                    continue
                if helper.fails:
                    passes = "and the tool passes it on" if certain else "which the tool may pass on"
                    pattern = f"{definition.name}() returns a failure, {passes}"
                    decide = "raise an exception there, or ctx.fail in the tool"
                    last = definition.end_lineno or 0
                    tools = (body.function.name,)
                    left.append(
                        Left(
                            helper.path,
                            helper.line,
                            tools,
                            pattern,
                            decide,
                            comment=certain,
                            last=last,
                            perhaps=not certain,
                        )
                    )
                for call, passed in helper.calls.items():
                    following[call] = following.get(call, False) or (certain and passed)
            layer = following
        return left

    def _read(self, definition: _Node, body: Body) -> _Helper | None:
        if definition not in self._known:
            self._known[definition] = None
            owner = body.module.project.module_defining(definition)
            if (
                owner is not None
            ):  # pragma: no branch - each function that a name leads to is in a module of the project
                with self._guarded(owner.absolute):
                    inner = Body(Function(definition, owner, body.function.name), self._hierarchy)
                    results = [returned(node, inner) for node in inner.nodes if isinstance(node, ast.Return)]
                    fails = any(
                        result is not None and not (isinstance(result, Left) and result.perhaps) for result in results
                    )
                    line = min([definition.lineno, *(decorator.lineno for decorator in definition.decorator_list)])
                    self._known[definition] = _Helper(owner.path, line, fails, _calls(inner))
        return self._known[definition]


def _calls(body: Body) -> dict[_Node, bool]:
    """The functions of the project that a function calls, and whether it returns their values."""
    passed = _passed(body)
    known: dict[_Node, bool] = {}
    for call in body.nodes:
        symbol = body.symbol(call.func) if isinstance(call, ast.Call) else None
        definition = symbol.definition if symbol is not None else None
        if isinstance(definition, _KINDS):
            known[definition] = known.get(definition, False) or call in passed
    return known


def _passed(body: Body) -> set[ast.AST]:
    """The calls whose values a function returns, as they are or as JSON."""
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
                symbol = body.symbol(func)
                if symbol is not None and symbol.name == "json.dumps":
                    stack.append(inner)
            case ast.Name(id=name):
                stack += [binding.value for binding in body.scope.bindings.get(name, ())]
            case ast.IfExp(body=one, orelse=other):
                stack += [one, other]
    return answers
