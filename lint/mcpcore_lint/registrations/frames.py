"""Scopes with some names filled in: the variables of a loop in one round, the parameters of a function in one call."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mcpcore_lint.registrations.servers import arguments_of
from mcpcore_lint.syntax.scopes import Binding, Scope

if TYPE_CHECKING:
    from mcpcore_lint.syntax.scopes import Bindings

Placed = tuple[ast.expr, Scope]
"""An expression and the scope to read it in."""
Env = dict[str, Placed]
"""Names, each with its value."""


class Frame(Scope):
    """A scope in which some names have expressions of other scopes as their values.

    Whatever reads a scope reads a frame too: a name that is filled in looks like one that is assigned once. What the
    body of the loop assigns is read again in the frame, so that `wrapped = trace(fn)` is about the `fn` of this round.
    """

    __slots__ = ("_held", "filled")

    def __init__(self, outside: Scope, filled: Env, assigned: Bindings | None = None) -> None:
        """Fill in names of a scope.

        Args:
            outside: The scope.
            filled: The names, each with the expression of its value and the scope of that expression.
            assigned: Those of the scope's own bindings that are read again in the frame.
        """
        super().__init__(outside.module, outside.node, outside, outside.qualname, outside.owner, assigned or {})
        self.globals = outside.globals
        self.filled: Env = {**(outside.filled if isinstance(outside, Frame) else {}), **filled}
        for name in assigned or ():
            self.filled.pop(name, None)
        self._held = {name: _Held(name, *placed) for name, placed in filled.items()}

    def lookup(self, name: str) -> tuple[Scope, list[Binding]] | None:
        """The scope that binds a name, as seen from here, and its bindings there."""
        held = self._held.get(name)
        if held is not None:
            return held, held.bindings[name]
        assert self.parent is not None
        assigned = self.bindings.get(name)
        if assigned is None:
            return self.parent.lookup(name)
        filled_outside = isinstance(self.parent, Frame) and self.parent.holds(name)
        # In `fn = trace(fn)` the right side is about the variable of the loop.
        return (self.parent if filled_outside else self), assigned

    def holds(self, name: str) -> bool:
        """Whether this frame itself fills in a name."""
        return name in self._held


class _Held(Scope):
    """Binds one name, to an expression that is read in the scope that it comes from."""

    __slots__ = ()

    def __init__(self, name: str, value: ast.expr, home: Scope) -> None:
        binding = Binding("assign", value, value)
        super().__init__(home.module, home.node, home, home.qualname, home.owner, {name: [binding]})

    def lookup(self, name: str) -> tuple[Scope, list[Binding]] | None:
        assert self.parent is not None
        return self.parent.lookup(name)


def read_again(frame: Frame, body: list[ast.stmt], *, filled_first: bool = False) -> Frame:
    """A frame in which also what some statements assign is about the names that are filled in.

    With `filled_first`, a name that is both filled in and assigned stays what it is filled in with.
    """
    first, last = body[0].lineno, body[-1].end_lineno or body[-1].lineno
    found: Bindings = {}
    for name, bindings in written_scope(frame).bindings.items():
        inside = [
            each
            for each in bindings
            if each.kind in {"assign", "annotated"} and first <= getattr(each.node, "lineno", 0) <= last
        ]
        if inside and not (filled_first and frame.holds(name)):
            found[name] = inside
    return Frame(frame, {}, found)


def called_frame(
    function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call, scope: Scope, *, bound_first: bool | None = None
) -> Frame | None:
    """The scope of a function of the project with its parameters filled in by a call; None for other functions.

    Args:
        function: The function.
        call: The call.
        scope: The scope that the call is written in.
        bound_first: Whether the first parameter is filled in already; where left out, whether it is a method.
    """
    owner = scope.module.project.module_defining(function)
    if owner is None:
        return None
    inside = owner.scope_of(function)
    bound_first = inside.owner is not None if bound_first is None else bound_first
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    outside = inside.parent or inside
    filled: Env = {}
    defaults = [
        *zip(reversed(positional), reversed(args.defaults), strict=False),
        *zip(args.kwonlyargs, args.kw_defaults, strict=True),
    ]
    for parameter, default in defaults:
        if default is not None and not (isinstance(default, ast.Constant) and default.value is None):
            filled[parameter.arg] = default, outside
    filled |= {name: (value, scope) for name, value in arguments_of(function, call, bound_first=bound_first).items()}
    if args.vararg is not None:
        rest = ast.Tuple(call.args[len(positional) - bound_first :], ast.Load())
        filled[args.vararg.arg] = ast.copy_location(rest, call), scope
    return read_again(Frame(inside, filled), function.body, filled_first=True)


def written_scope(scope: Scope) -> Scope:
    """The scope of the source behind a frame."""
    while isinstance(scope, (Frame, _Held)):
        assert scope.parent is not None
        scope = scope.parent
    return scope


__all__ = ["Env", "Frame", "Placed", "called_frame", "read_again", "written_scope"]
