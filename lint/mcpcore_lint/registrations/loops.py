"""The rounds of the loops round a call, each as a frame with the variables of the loops filled in."""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from mcpcore_lint.names import BUILTIN_NAMES
from mcpcore_lint.registrations.bindings import bind
from mcpcore_lint.registrations.filters import Filters
from mcpcore_lint.registrations.frames import Frame, read_again
from mcpcore_lint.syntax.parse import children, statements, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpcore_lint.registrations.frames import Env
    from mcpcore_lint.registrations.handlers import Targets
    from mcpcore_lint.syntax.scopes import Scope

Loop: TypeAlias = "ast.For | ast.AsyncFor | ast.comprehension"
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.comprehension)
MANY: Final = 600
"""How many rounds are gone through for one call."""


class Loops:
    """Goes through them."""

    def __init__(self, targets: Targets) -> None:
        self.targets = targets
        self.filters = Filters(targets)
        self._active: list[Loop] = []
        """The loops that are being gone through."""

    def rounds(self, node: ast.expr, scope: Scope, about: ast.expr | None = None) -> list[Scope]:
        """The scopes to read an expression in: one for each round of the loops round it that it depends on.

        The scope itself where there is no such loop, or where the items of the loop cannot be seen.

        Args:
            node: The expression.
            scope: The scope that it is written in.
            about: The part of it whose names decide which loops count; the expression itself where left out.
        """
        loops = self._loops(node, about if about is not None else node, scope)
        if not loops:
            return [scope]
        frames: list[Scope] = [scope]
        for loop in loops:
            rounds = (each for frame in frames for each in self._rounds(loop, node, frame))
            frames = list(islice(rounds, MANY))
        return frames

    def _rounds(self, loop: Loop, node: ast.expr, scope: Scope) -> list[Scope]:
        """The rounds of one loop that come to an expression in it."""
        if loop in self._active:
            return []  # a list that is made of itself
        if not self._active:
            self.targets.steps = 0
        self._active.append(loop)
        try:
            return list(islice(self._frames(loop, node, scope), MANY))
        finally:
            self._active.pop()

    def _frames(self, loop: Loop, node: ast.expr, scope: Scope) -> Iterator[Scope]:
        elements = self.targets.elements(loop.iter, scope)
        if not elements:
            # The items cannot be seen, but a target that does not depend on them still can.
            yield scope
        for element in elements:
            if len(self._active) == 1:
                self.targets.steps = 0
            env: Env = {}
            bind(loop.target, element, env)
            frame = Frame(scope, env)
            if isinstance(loop, ast.comprehension):
                tests = [(test, True) for test in loop.ifs]
            else:
                frame = _taken_apart(read_again(frame, loop.body), loop.body)
                tests = self._guards(loop, node, scope)
            results = [self.filters.holds(test, frame) for test, _ in tests]
            if any(
                result is not None and result is not wanted for result, (_, wanted) in zip(results, tests, strict=True)
            ):
                continue
            if None in results and _is_private(element[0]) and goes_through_members(loop.iter):
                continue
            yield frame

    def names(self, node: ast.expr, scope: Scope, about: ast.expr) -> set[str]:
        """The names that decide what a part of an expression is, also by the loops round it."""
        found = _names_behind(about, scope)
        for loop in self._loops(node, about, scope):
            found |= _names_behind(loop.iter, scope)
        return found

    def _loops(self, node: ast.expr, about: ast.expr, scope: Scope) -> list[Loop]:
        """The loops round an expression on whose variables a part of it depends, the outermost first."""
        names = _names_behind(about, scope)
        text = scope.module.source.line(node.lineno)
        if " for " not in text and not any(_may_vary(name, scope) for name in names):
            return []  # the parents of all nodes cost a walk over the file
        parents = scope.module.parents
        found: list[Loop] = []
        inner: ast.AST = node
        current = parents.get(node)
        while current is not None and not isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef)):
            loops: list[Loop] = []
            if isinstance(current, (ast.For, ast.AsyncFor)):
                loops = [current] if inner is not current.iter else []
            elif isinstance(current, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
                loops = [*reversed(current.generators)] if not isinstance(inner, ast.comprehension) else []
            for loop in loops:
                if any(isinstance(each, ast.Name) and each.id in names for each in walk([loop.target])):
                    found.append(loop)
                    names |= _names_behind(loop.iter, scope)
            inner, current = current, parents.get(current)
        found.reverse()
        return found

    @staticmethod
    def _guards(loop: ast.For | ast.AsyncFor, node: ast.AST, scope: Scope) -> list[tuple[ast.expr, bool]]:
        """The conditions under which the body of a loop comes to an expression, each with what it has to be."""
        parents = scope.module.parents
        found: list[tuple[ast.expr, bool]] = []
        current: ast.AST = node
        while current is not loop:
            above = parents[current]
            if isinstance(above, ast.If) and current is not above.test:
                found.append((above.test, current in above.body))
            elif isinstance(above, ast.IfExp) and current is not above.test:
                found.append((above.test, current is above.body))
            for block in ("body", "orelse", "finalbody"):
                statements = getattr(above, block, None)
                if isinstance(statements, list) and current in statements:
                    found += [
                        (each.test, False)
                        for each in statements[: statements.index(current)]
                        if isinstance(each, ast.If) and not each.orelse and isinstance(each.body[-1], ast.Continue)
                    ]
            current = above
        return found


def _taken_apart(frame: Frame, body: list[ast.stmt]) -> Frame:
    """A frame with the names that the body of a loop takes an item apart into: `name, fn = spec`."""
    env: Env = {}
    for each in statements(body):
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], (ast.Tuple, ast.List)):
            bind(each.targets[0], (each.value, frame), env)
    return Frame(frame, env) if env else frame


def goes_through_members(node: ast.AST) -> bool:
    """Whether a loop or a function goes through all that a module or an object has."""
    words = {each.id for each in walk([node]) if isinstance(each, ast.Name)}
    words |= {each.attr for each in walk([node]) if isinstance(each, ast.Attribute)}
    return not words.isdisjoint({"dir", "vars", "globals", "__dict__", "getmembers", "getmembers_static"})


def _is_private(item: ast.expr) -> bool:
    """Whether an item is a private member: under a condition that cannot be read, it is rather a helper than a tool."""
    first = item.elts[0] if isinstance(item, ast.Tuple) and item.elts else item
    name = first.id if isinstance(first, ast.Name) else first.value if isinstance(first, ast.Constant) else ""
    return isinstance(name, str) and name.startswith("_")


def _may_vary(name: str, scope: Scope) -> bool:
    """Whether a name may be the variable of a loop or of a comprehension, which has its own names."""
    place = scope.lookup(name)
    if place is None:
        return name not in BUILTIN_NAMES
    return any(isinstance(binding.node, _LOOPS) for binding in place[1])


def _names_behind(node: ast.expr, scope: Scope) -> set[str]:
    """The names in an expression, and those in what the names of the same function are assigned."""
    found: set[str] = set()
    stack: list[ast.AST] = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, ast.Name) and current.id not in found:
            found.add(current.id)
            place = scope.lookup(current.id)
            if place is not None and place[0].node is scope.node:
                stack += [each.value for each in place[1] if each.value is not None and each.kind != "with"]
                stack += [each.node.value for each in place[1] if isinstance(each.node, ast.Assign)]
                # A function at the top of a file is in no loop, so no variable of one is in it.
                inner = [each.node for each in place[1] if each.kind == "function"]
                stack += [each for each in inner if not scope.is_module or getattr(each, "col_offset", 0) > 0]
        stack += children(current)
    return found
