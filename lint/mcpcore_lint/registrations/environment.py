"""Scopes with known values for some names, and expressions read in them.

A frame is a scope in which the variables of a loop have the values of one round, or the parameters of a function the
arguments of one call. Names, attributes and subscripts are followed through frames, assignments, imports and the
construction of objects.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.model import CallValue, Symbol
from mcpcore_lint.names import FRAMEWORKS
from mcpcore_lint.registrations.callers import arguments_of, method_called
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.symbols import class_info, class_round
from mcpcore_lint.semantics.type_model import ancestry
from mcpcore_lint.syntax.parse import own_nodes
from mcpcore_lint.syntax.scopes import Binding, Scope

if TYPE_CHECKING:
    from mcpcore_lint.syntax.module import ClassInfo
    from mcpcore_lint.syntax.scopes import Bindings

DEEP: Final = 8
"""How many bindings of a name are followed, and how many imports."""
Function = ast.FunctionDef | ast.AsyncFunctionDef

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
    function: Function, call: ast.Call, scope: Scope, *, bound_first: bool | None = None, optional: bool = False
) -> Frame | None:
    """The scope of a function of the project with its parameters filled in by a call; None for other functions.

    Args:
        function: The function.
        call: The call.
        scope: The scope that the call is written in.
        bound_first: Whether the first parameter is bound already; by default, whether the function is a method.
        optional: Whether parameters that default to None are None when the call leaves them out.
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
        if default is not None and (optional or not (isinstance(default, ast.Constant) and default.value is None)):
            filled[parameter.arg] = default, outside
    filled |= {name: (value, scope) for name, value in arguments_of(function, call, bound_first=bound_first).items()}
    if args.vararg is not None:
        rest = ast.Tuple(call.args[len(positional) - bound_first :], ast.Load())
        filled[args.vararg.arg] = ast.copy_location(rest, call), scope
    if args.kwarg is not None:
        named = {parameter.arg for parameter in (*positional, *args.kwonlyargs)}
        more = [keyword for keyword in call.keywords if keyword.arg not in named]
        keys: list[ast.expr | None] = [
            None if each.arg is None else ast.copy_location(ast.Constant(each.arg), call) for each in more
        ]
        options = ast.Dict(keys, [keyword.value for keyword in more])
        filled[args.kwarg.arg] = ast.copy_location(options, call), scope
    return read_again(Frame(inside, filled), function.body, filled_first=True)


def written_scope(scope: Scope) -> Scope:
    """The scope of the source behind a frame."""
    while isinstance(scope, (Frame, _Held)):
        assert scope.parent is not None
        scope = scope.parent
    return scope


# -- expressions ------------------------------------------------------------------------------------------------------


def bound(node: ast.expr, scope: Scope) -> list[Placed]:
    """The expressions that a name or an attribute is bound to, each with the scope to read it in, through imports."""
    if isinstance(node, ast.Name):
        found = scope.lookup(node.id)
        if found is not None:
            return _bound_by(found[1], found[0], node)
        return []
    if not isinstance(node, ast.Attribute):
        return []
    base = evaluate(node.value, scope)
    if isinstance(base, Symbol) and isinstance(base.definition, ast.Module):
        owner = scope.module.project.module_by_name(base.name, base.definition)
        if owner is not None and node.attr in owner.scope.bindings:
            return _bound_by(owner.scope.bindings[node.attr], owner.scope, node)
        return []
    info: ClassInfo | None = None
    if isinstance(base, Symbol) and isinstance(base.definition, ast.ClassDef):
        info = scope.module.project.class_info(base.definition)
    elif isinstance(base, CallValue) and isinstance(base.func.definition, ast.ClassDef):
        info = scope.module.project.class_info(base.func.definition)
    elif isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
        info = class_round(scope)
    for each in ancestry(info) if info is not None else ():
        own = [
            (binding.value, each.body_scope)
            for binding in each.attributes.get(node.attr, ())
            if binding.value is not None
        ]
        own += [(value, where) for _, value, where in each.instance_attributes.get(node.attr, ()) if value is not None]
        if own:
            return own
    return []


def _bound_by(bindings: list[Binding], where: Scope, node: ast.expr, depth: int = 0) -> list[Placed]:
    found: list[Placed] = []
    for binding in bindings[:DEEP]:
        if binding.kind in {"assign", "annotated"} and binding.value is not None and binding.value is not node:
            found.append((binding.value, where))
        elif binding.kind == "import" and binding.target is not None and binding.target[1] is not None:
            source, name, level = binding.target
            module = where.module.project.module_of(where.module, source, level)
            if module is not None and name in module.scope.bindings and depth < DEEP:
                found.extend(_bound_by(module.scope.bindings[name], module.scope, node, depth + 1))
    return found


def bind(target: ast.expr, element: Placed, env: Env) -> None:
    """Fill in the variables of a loop or of an assignment."""
    if isinstance(target, ast.Name):
        env[target.id] = element
    elif isinstance(target, (ast.Tuple, ast.List)):
        item, scope = constructed(*element)
        items = item.elts if isinstance(item, (ast.Tuple, ast.List)) else []
        if len(items) == len(target.elts) and not any(isinstance(each, ast.Starred) for each in target.elts):
            for each, part in zip(target.elts, items, strict=True):
                bind(each, (part, scope), env)


def see(node: ast.expr, scope: Scope, env: Env) -> Placed:
    """An expression with the variables of a loop filled in: `fn`, `spec.fn`, `spec["fn"]`, `spec[0]`."""
    if not env:
        return node, scope
    if isinstance(node, ast.Name):
        return env.get(node.id, (node, scope))
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.value, ast.Name) and node.value.id in env:
        item, where = env[node.value.id]
        found = _part(item, where, node)
        if found is not None:
            return found
        if isinstance(node, ast.Attribute):
            return ast.copy_location(ast.Attribute(item, node.attr, ast.Load()), node), where
    return node, scope


def _part(item: ast.expr, scope: Scope, node: ast.Attribute | ast.Subscript) -> Placed | None:
    """A part of an object whose construction can be seen."""
    item, scope = constructed(item, scope)
    key = node.slice if isinstance(node, ast.Subscript) else ast.Constant(node.attr)
    if not isinstance(key, ast.Constant):
        return None
    if isinstance(item, ast.Dict):
        # A subscript, or an attribute of a record that is made of the dict.
        for each, value in zip(item.keys, item.values, strict=True):
            if isinstance(each, ast.Constant) and each.value == key.value:
                return value, scope
        return None
    if isinstance(item, (ast.Tuple, ast.List)):
        index = key.value
        return (item.elts[index], scope) if isinstance(index, int) and -1 <= index < len(item.elts) > 0 else None
    if not isinstance(item, ast.Call):
        return None
    symbol = evaluate(item.func, scope)
    if isinstance(symbol, Symbol) and symbol.name.partition(".")[0] in FRAMEWORKS:
        return None  # objects of the frameworks are registered where they are created
    for keyword in item.keywords:
        if keyword.arg == key.value:
            return keyword.value, scope
    info = class_info(symbol) if isinstance(symbol, Symbol) else None
    parts = dict(zip(_fields(info), item.args, strict=False)) if info is not None else {}
    return (parts[key.value], scope) if key.value in parts else None


def constructed(item: ast.expr, scope: Scope, depth: int = 0) -> Placed:
    """The expression that makes an object, behind the names it is assigned to and the functions that return it."""
    if depth > DEEP:
        return item, scope
    if isinstance(item, ast.Name):
        made = [scope.filled[item.id]] if isinstance(scope, Frame) and item.id in scope.filled else bound(item, scope)
        return constructed(*made[0], depth + 1) if len(made) == 1 else (item, scope)
    if isinstance(item, ast.Call):
        symbol = evaluate(item.func, scope)
        function = symbol.definition if isinstance(symbol, Symbol) else None
        bound_first: bool | None = None
        if not isinstance(symbol, Symbol) and isinstance(item.func, ast.Attribute):
            method = method_called(item.func, scope)
            function, bound_first = (method[0], True) if method is not None else (None, None)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            returned = [each.value for each in own_nodes(function) if isinstance(each, ast.Return)]
            frame = called_frame(function, item, scope, bound_first=bound_first) if len(returned) == 1 else None
            if frame is not None and returned[0] is not None:
                return constructed(returned[0], frame, depth + 1)
    return item, scope


def _fields(info: ClassInfo) -> list[str]:
    """The fields of a dataclass or a named tuple of the project, those of its bases first."""
    names: dict[str, None] = {}
    for base in reversed(list(ancestry(info))):
        names |= {name: None for name, bindings in base.attributes.items() if bindings[0].kind == "annotated"}
    return list(names)


__all__ = [
    "DEEP",
    "Env",
    "Frame",
    "Placed",
    "bind",
    "bound",
    "called_frame",
    "constructed",
    "read_again",
    "see",
    "written_scope",
]
