"""Where the failure of what runs beside a function comes out: where its task or its future is waited for."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.flow.facts.spelling import FUTURES, WAITED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpcore_lint.flow.bodies.builder import HandlerBuilder
    from mcpcore_lint.syntax.scopes import Scope

_GROUPED: Final = frozenset({"create_task", "start_soon"})

_HOLDS: Final = frozenset({"as_completed", "list", "tuple", "set", "reversed", "enumerate", "zip"})
"""What hands on what it is given, one by one."""
_NOW: Final = frozenset({"run", "run_until_complete"})
_FILLS: Final = frozenset({"append", "add", "insert", "appendleft", "extend", "update"})
_TAKES: Final = frozenset({"values", "items", "copy", "pop", "popleft", "get"})
_ASKS: Final = frozenset(
    {"isinstance", "print", "len", "str", "repr", "id", "bool", "callable", "iscoroutine", "isfuture"}
)
_PASSES: Final = (
    ast.Starred, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.BoolOp, ast.ListComp, ast.SetComp, ast.GeneratorExp,
    ast.DictComp,
)  # fmt: skip
_ONLY_ASKED: Final = (
    ast.Expr, ast.Compare, ast.UnaryOp, ast.If, ast.While, ast.Assert, ast.Delete, ast.FormattedValue,
)  # fmt: skip


class Outcomes:
    """Follows a task from where it is made to where it is waited for."""

    def __init__(self, builder: HandlerBuilder, scope: Scope) -> None:
        self.builder = builder
        self.parents = builder.parents
        self.scope = scope

    def of(self, node: ast.expr) -> list[ast.AST] | None:
        """Where what a call leads to comes out; nothing where nobody waits for it, None where that cannot be seen.

        Args:
            node: The call of a coroutine, or of what takes a function to be run elsewhere.
        """
        self.started = isinstance(node, ast.Call) and _last(node.func) in FUTURES
        self.places: list[ast.AST] = []
        self.unknown = False
        self._seen: set[str] = set()
        group = self._group(node) if isinstance(node, ast.Call) and self.started else None
        if group is not None:
            return [group]
        if isinstance(node, ast.Call) and _last(node.func) == "start_soon":
            return [node]
        waiting: list[ast.AST] = [node]
        while waiting:
            waiting.extend(self._follow(waiting.pop()))
        if not self.started:
            return [node]
        return self.places or (None if self.unknown else [])

    def _follow(self, current: ast.AST) -> Iterable[ast.AST]:
        """One step: what the parent of an expression makes of it."""
        parent = self.parents.get(current)
        if isinstance(parent, (ast.Await, ast.Return, ast.Yield, ast.YieldFrom, ast.Lambda)):
            self.places.append(current)
        elif isinstance(parent, _PASSES) or (isinstance(parent, ast.IfExp) and current is not parent.test):
            return [parent]
        elif isinstance(parent, ast.NamedExpr):
            return [parent, *self._uses(parent.target.id)]
        elif isinstance(parent, ast.keyword):
            return self._handed(self.parents[parent])
        elif isinstance(parent, ast.Call) and current is not parent.func:
            return self._handed(parent)
        elif isinstance(parent, ast.Attribute):
            call = self.parents.get(parent)
            if parent.attr == "result":
                self.places.append(parent)
            elif parent.attr in _TAKES and isinstance(call, ast.Call) and call.func is parent:
                return [call]
        elif isinstance(parent, ast.Subscript):
            return [parent] if isinstance(parent.ctx, ast.Load) and current is parent.value else []
        elif isinstance(parent, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            return [use for each in targets for use in self._kept(each)]
        elif isinstance(parent, (ast.For, ast.AsyncFor, ast.comprehension)):
            return self._kept(parent.target)
        elif not isinstance(parent, _ONLY_ASKED):
            self.unknown = True
        return []

    def _handed(self, call: ast.AST) -> Iterable[ast.AST]:
        """What a call makes of what it is given."""
        assert isinstance(call, ast.Call)
        name = _last(call.func)
        if name in WAITED:
            self.started = True
            group = self._group(call)
            if group is not None:
                self.places.append(group)
            elif not _returns_errors(call):
                return [call]
        elif name in _HOLDS:
            return [call]
        elif name in _NOW:
            self.places.append(call)
        elif name == "wait":
            return self._done(call)
        elif name in _FILLS and isinstance(call.func, ast.Attribute):
            return self._kept(call.func.value)
        elif name not in _ASKS:
            # A function of nobody knows what mostly waits for it, if it is waited for itself.
            if isinstance(self.parents.get(call), ast.Await):
                self.places.append(call)
            else:
                self.unknown = True
        return []

    def _done(self, call: ast.Call) -> Iterable[ast.AST]:
        """`done, pending = await asyncio.wait(tasks)` raises nothing; the tasks in `done` still do."""
        made: ast.AST = call
        outer = self.parents.get(call)
        if isinstance(outer, ast.Await):
            made, outer = outer, self.parents.get(outer)
        if isinstance(outer, ast.Assign):
            return [use for each in outer.targets for use in self._kept(each)]
        if isinstance(outer, (ast.Subscript, ast.For)):
            return [made]
        if not isinstance(outer, ast.Expr):
            self.unknown = True
        return []

    def _kept(self, target: ast.expr) -> list[ast.AST]:
        """The uses of what a target names."""
        if isinstance(target, ast.Name):
            return self._uses(target.id)
        if isinstance(target, (ast.Tuple, ast.List)):
            return [use for each in target.elts for use in self._kept(each)]
        if isinstance(target, ast.Starred) or (
            isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)
        ):
            return self._kept(target.value)
        self.unknown = True
        return []

    def _uses(self, name: str) -> list[ast.AST]:
        if name in self._seen:
            return []
        self._seen.add(name)
        found = self.scope.lookup(name)
        if found is None or found[0] is not self.scope:
            self.unknown = True
            return []
        uses = self.builder.loads.get(name, ())
        nested = self.builder.function_of
        own: list[ast.AST] = [each for each in uses if each not in nested]
        self.unknown = self.unknown or len(own) < len(uses)
        return own

    def _group(self, call: ast.Call) -> ast.AST | None:
        """Where the block of a task group ends that a task is started in."""
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr not in _GROUPED or not isinstance(func.value, ast.Name):
            return None
        found = self.scope.lookup(func.value.id)
        for each in found[1] if found is not None and found[0] is self.scope else ():
            if each.kind == "with" and isinstance(each.node, (ast.With, ast.AsyncWith)):
                return each.node.body[-1]
        return None


def _last(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _returns_errors(call: ast.Call) -> bool:
    """Whether it is `gather(..., return_exceptions=True)`: failures are results then."""
    return any(
        each.arg == "return_exceptions" and isinstance(each.value, ast.Constant) and each.value.value is True
        for each in call.keywords
    )


__all__ = ["Outcomes"]
