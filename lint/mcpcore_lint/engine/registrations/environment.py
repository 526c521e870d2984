"""Scopes with known values for some names, and expressions read in them.

A frame is a scope in which the variables of a loop have the values of one round, or the parameters of a function the
arguments of one call. Names, attributes and subscripts are followed through frames, assignments, imports and the
construction of objects.
"""

import ast
from collections.abc import Iterator, Set as AbstractSet
from typing import Final, NamedTuple

from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.symbols import class_info, class_round, last_name
from mcpcore_lint.engine.semantics.type_model import ancestry, class_named, definition_of, method_of, name_of
from mcpcore_lint.engine.semantics.types import Inference
from mcpcore_lint.engine.syntax.module import ClassInfo, Module
from mcpcore_lint.engine.syntax.parse import FUNCTIONS, Function, all_parameters, defaults_of, returned
from mcpcore_lint.engine.syntax.scopes import Binding, Bindings, Scope
from mcpcore_lint.model import CallValue, FunctionNode, Symbol, string
from mcpcore_lint.names import FRAMEWORKS

DEEP: Final = 8
"""How many bindings of a name are followed, and how many imports."""

_SAME_ARGUMENTS: Final = frozenset({"staticmethod", "classmethod", "abstractmethod"})
"""Decorators of functions that take the arguments of the undecorated one."""
_PLAIN: Final = "<plain>"
"""The name of a function without its decorator."""

Placed = tuple[ast.expr, Scope]
"""An expression and the scope to read it in."""
Env = dict[str, Placed]
"""Names, each with its value."""


class Frame(Scope):
    """A scope in which some names have expressions of other scopes as their values.

    Whatever reads a scope reads a frame too: a name that is filled in looks like one that is assigned once. What the
    body of the loop assigns is read again in the frame, so that `wrapped = trace(fn)` is about the `fn` of this round.
    """

    __slots__ = ("_bound_names", "_filled_here", "filled")

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
        self._filled_here = {**filled}
        self._bound_names: dict[str, BoundName] = {}  # of the names that were asked for

    def lookup(self, name: str) -> tuple[Scope, list[Binding]] | None:
        """The scope that binds a name, as seen from here, and its bindings there."""
        placed = self._filled_here.get(name)
        if placed is not None:
            bound_name = self._bound_names.get(name) or self._bound_names.setdefault(name, BoundName(name, *placed))
            return bound_name, bound_name.bindings[name]
        assert self.parent is not None
        assigned = self.bindings.get(name)
        if assigned is None:
            return self.parent.lookup(name)
        filled_outside = isinstance(self.parent, Frame) and self.parent.holds(name)
        # In `fn = trace(fn)` the right side is about the variable of the loop.
        return (self.parent if filled_outside else self), assigned

    def holds(self, name: str) -> bool:
        """Whether this frame itself fills in a name."""
        return name in self._filled_here


class BoundName(Scope):
    """Binds one name, to an expression that is read in the scope that it comes from."""

    __slots__ = ()

    def __init__(self, name: str, value: ast.expr, home: Scope) -> None:
        binding = Binding("assign", value, value)
        super().__init__(home.module, home.node, home, home.qualname, home.owner, {name: [binding]})

    def lookup(self, name: str) -> tuple[Scope, list[Binding]] | None:
        """The scope that binds a name, as seen from where the expression is written."""
        assert self.parent is not None
        return self.parent.lookup(name)


def read_again(frame: Frame, body: list[ast.stmt], *, filled_first: bool = False) -> Frame:
    """A frame in which also what some statements assign is about the names that are filled in.

    With `filled_first`, a name that is both filled in and assigned stays what it is filled in with.
    """
    first, last = body[0].lineno, body[-1].end_lineno or body[-1].lineno
    written = written_scope(frame)
    assigned = written.module.once(
        ("read again", written.node, first, last),
        lambda: {
            name: inside
            for name, bindings in written.bindings.items()
            if (
                inside := [
                    binding
                    for binding in bindings
                    if binding.kind in {"assign", "annotated"} and first <= getattr(binding.node, "lineno", 0) <= last
                ]
            )
        },
    )
    named = {name: inside for name, inside in assigned.items() if not (filled_first and frame.holds(name))}
    return Frame(frame, {}, named)


class Called(NamedTuple):
    """A function of the project that a call runs."""

    function: Function
    owner: Module
    around: Scope
    """The scope around the function, as the call which made it left it; else the scope of the call."""
    bound_first: bool
    """Whether the first parameter is an object or a class."""


def functions_called(func: ast.expr, scope: Scope, depth: int = 0) -> Iterator[Called]:
    """The functions of the project that a call of an expression may run, also those that another call returns."""
    value = evaluate(func, scope)
    function = value.definition if isinstance(value, Symbol) else None
    owner = scope.module.project.module_defining(function) if isinstance(function, FUNCTIONS) else None
    method = method_called(func, scope) if isinstance(func, ast.Attribute) and function is None else None
    if method is not None:
        yield Called(*method, scope, bound_first=True)
    elif isinstance(function, FUNCTIONS) and owner is not None:
        decorators = {decorator.id for decorator in function.decorator_list if isinstance(decorator, ast.Name)}
        yield Called(function, owner, scope, "classmethod" in decorators)
    elif isinstance(value, CallValue) and isinstance(func, ast.Name) and (info := class_info(value.func)) is not None:
        made = method_of(info, "__call__")
        yield from [Called(made[0], made[1].module, scope, bound_first=True)] if made is not None else []
    elif function is None and depth < DEEP // 2:
        if isinstance(func, ast.Attribute) and (method := method_made(func, scope, depth)) is not None:
            yield Called(*method, scope, bound_first=True)
        if isinstance(func, ast.Call):
            if name_of(func.func, scope) == "functools.partial" and func.args:
                yield from functions_called(func.args[0], scope, depth + 1)
            for maker in functions_called(func.func, scope, depth + 1):
                frame = call_frame(maker, func, scope)
                for result in returned(maker.function):
                    yield from functions_called(result, frame, depth + 1)
        for placed in (*assignments_of(func, scope), *values_of(func, scope)):
            yield from functions_called(*placed, depth + 1)


def functions_run(call: ast.Call, scope: Scope) -> Iterator[Called]:
    """The functions of the project that a call may run, also the constructor of a class."""
    info = class_named(call.func, scope)
    made = method_of(info, "__init__") if info is not None else None
    if made is not None:
        yield Called(made[0], made[1].module, scope, bound_first=True)
    yield from functions_called(call.func, scope)


def values_of(node: ast.expr, scope: Scope) -> list[Placed]:
    """The values of the table in `TABLE[key]` and `TABLE.get(key)`, if it is written out; one if the key is known."""
    match node:
        case (
            ast.Subscript(value=holder, slice=key)
            | ast.Call(func=ast.Attribute(value=holder, attr="get"), args=[key, *_])
        ):
            table, where = constructed(holder, scope)
            wanted = string(evaluate(key, scope))
            pairs = [*zip(table.keys, table.values, strict=True)] if isinstance(table, ast.Dict) else []
            chosen = [value for name, value in pairs if wanted and getattr(name, "value", None) == wanted]
            return [(value, where) for value in chosen or [value for _, value in pairs]]
    return []


def named_member(node: ast.expr) -> ast.expr:
    """`x.name` for `getattr(x, "name")`; other expressions as they are."""
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[holder, ast.Constant(value=str(attr)), *_]):
            return ast.copy_location(ast.Attribute(holder, attr, ast.Load()), node)
    return node


def callee_frame(call: ast.Call, scope: Scope, depth: int = 0) -> tuple[Function, Frame] | None:
    """The function of the project that a call runs, and its scope with the arguments filled in, or None."""
    called = next(functions_called(call.func, scope, depth), None)
    return (called.function, call_frame(called, call, scope)) if called is not None else None


def call_frame(called: Called, call: ast.Call, scope: Scope) -> Frame:
    """The scope of a function with the arguments of a call filled in."""
    function, owner, around, bound_first = called
    inside = owner.scope_of(function)
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    outside = inside.parent or inside
    # A nested function also sees the arguments of the function around it.
    filled: Env = {**around.filled} if isinstance(around, Frame) and written_scope(around) is outside else {}
    for name, default in defaults_of(args).items():
        # A body often replaces the default None: `name = name or fn.__name__`.
        if not (isinstance(default, ast.Constant) and len(inside.bindings[name]) > 1):
            filled[name] = default, outside
    filled |= {name: (value, scope) for name, value in arguments_of(function, call, bound_first=bound_first).items()}
    if bound_first and positional and isinstance(call.func, ast.Attribute):
        held = substitute(call.func.value, scope)
        # An object that a loop goes through has other attributes in each round.
        filled |= {positional[0].arg: held} if held[0] is not call.func.value else {}
    if args.vararg is not None:
        rest = ast.Tuple(call.args[len(positional) - bound_first :], ast.Load())
        filled[args.vararg.arg] = ast.copy_location(rest, call), scope
    if args.kwarg is not None:
        named = {parameter.arg for parameter in (*positional, *args.kwonlyargs)}
        more = [keyword for keyword in call.keywords if keyword.arg not in named]
        keys = [None if binding.arg is None else ast.copy_location(ast.Constant(binding.arg), call) for binding in more]
        options = ast.Dict([*keys], [keyword.value for keyword in more])
        filled[args.kwarg.arg] = ast.copy_location(options, call), scope
    return read_again(Frame(inside, filled), function.body, filled_first=True)


def method_called(func: ast.Attribute, scope: Scope) -> tuple[Function, Module] | None:
    """The method of a class of the project that `value.name` is, with its file."""
    for kind in Inference().of(func.value, scope):
        info = getattr(kind, "info", None)
        method = method_of(info, func.attr) if info is not None else None
        if method is not None:
            return method[0], method[1].module
    return None


def method_made(func: ast.Attribute, scope: Scope, depth: int = 0) -> tuple[Function, Module] | None:
    """The method that `value.name` is, if the value is made behind a name: by a loop, or by a decorator."""
    made, where = constructed(func.value, scope, 2 * depth)
    info = class_named(made.func, where) if isinstance(made, ast.Call) and made is not func.value else None
    method = method_of(info, func.attr) if info is not None else None
    return (method[0], method[1].module) if method is not None else None


def arguments_of(function: FunctionNode, call: ast.Call, *, bound_first: bool = False) -> dict[str, ast.expr]:
    """The argument for each parameter of a function, as far as the call shows it."""
    positional = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)][bound_first:]
    arguments: dict[str, ast.expr] = {}
    for name, argument in zip(positional, call.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        arguments[name] = argument
    names = {parameter.arg for parameter in all_parameters(function.args)}
    arguments.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg in names})
    return arguments


def takes(
    function: Function, call: ast.Call, *, bound_first: bool = False, more: AbstractSet[str] | None = None
) -> bool:
    """Whether a function takes the arguments of a call. If not, the call raises TypeError and the function never runs.

    A decorator may take other arguments.

    Args:
        function: The function.
        call: The call.
        bound_first: Whether the first parameter is an object or a class.
        more: The keywords that the call passes with `**`; None if they are not known.
    """
    if any(last_name(decorator) not in _SAME_ARGUMENTS for decorator in function.decorator_list):
        return True
    args = function.args
    in_order = [parameter.arg for parameter in (*args.posonlyargs, *args.args)][bound_first:]
    named = {parameter.arg for parameter in (*args.args, *args.kwonlyargs)}
    keywords = {keyword.arg for keyword in call.keywords if keyword.arg is not None} | (more or set())
    if (keywords - named and args.kwarg is None) or (len(call.args) > len(in_order) and args.vararg is None):
        return False
    # How many parameters it fills is not known.
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return True
    filled = in_order[: len(call.args)]
    if not (keywords & named).isdisjoint(filled):
        return False
    required = {*in_order, *(parameter.arg for parameter in args.kwonlyargs)} - defaults_of(args).keys()
    unknown = more is None and any(keyword.arg is None for keyword in call.keywords)
    return unknown or required <= keywords | {*filled}


def written_scope(scope: Scope) -> Scope:
    """The scope of the source behind a frame."""
    while isinstance(scope, (Frame, BoundName)):
        assert scope.parent is not None
        scope = scope.parent
    return scope


# -- expressions ------------------------------------------------------------------------------------------------------


def assignments_of(node: ast.expr, scope: Scope) -> list[Placed]:
    """The expressions that a name or an attribute is bound to, each with the scope to read it in, through imports."""
    if isinstance(node, ast.Name):
        where, bindings = scope.lookup(node.id) or (scope, [])
        bound = [placed for binding in bindings[:DEEP] for placed in _bound_by(node.id, binding, where)]
        return [placed for placed in bound if placed[0] is not node]
    if not isinstance(node, ast.Attribute):
        return []
    base = evaluate(node.value, scope)
    if isinstance(base, Symbol) and isinstance(base.definition, ast.Module):
        owner = scope.module.project.module_by_name(base.name, base.definition)
        return in_module(node.attr, owner, node)
    info = class_of(node.value, scope)
    for ancestor in ancestry(info) if info is not None else ():
        own = [
            (binding.value, ancestor.body_scope)
            for binding in ancestor.attributes.get(node.attr, ())
            if binding.value is not None
        ]
        own += [
            (value, where) for _, value, where in ancestor.instance_attributes.get(node.attr, ()) if value is not None
        ]
        if own:
            return own
    return []


def class_of(node: ast.expr, scope: Scope) -> ClassInfo | None:
    """The class of the project that an expression is, or of which it is an instance."""
    value = evaluate(node, scope)
    symbol = value.func if isinstance(value, CallValue) else value
    if isinstance(symbol, Symbol) and isinstance(symbol.definition, ast.ClassDef):
        return scope.module.project.class_info(symbol.definition)
    if isinstance(node, ast.Name) and node.id in {"self", "cls"}:
        return class_round(scope)
    if isinstance(symbol, Symbol):
        return None
    infos = (getattr(kind, "info", None) for kind in Inference().of(node, scope))
    return next((info for info in infos if info is not None), None)


def _bound_by(name: str, binding: Binding, where: Scope) -> list[Placed]:
    if binding.kind in {"assign", "annotated"} and binding.value is not None:
        return [(binding.value, where)]
    if binding.kind == "opaque" and isinstance(binding.node, ast.Assign):
        return [*_unpacked(name, binding.node, where)]
    source, imported, level = binding.target or ("", None, 0)
    if imported is None:
        return []
    return in_module(imported, where.module.project.module_of(where.module, source, level), binding.node)


def _unpacked(name: str, assigned: ast.Assign, where: Scope) -> Iterator[Placed]:
    """What `a, b = make()` binds a name to: the item of each tuple that the call returns."""
    inner = callee_frame(assigned.value, where) if isinstance(assigned.value, ast.Call) else None
    for result in returned(inner[0]) if inner is not None else ():
        env: Env = {}
        for target in assigned.targets:
            bind(target, (result, inner[1] if inner is not None else where), env)
        if name in env:
            yield env[name]


def in_module(name: str, module: Module | None, at: ast.AST) -> list[Placed]:
    """A name in the file that binds it: its bindings there, and what is appended to a list there, count."""
    known = module is not None and name in module.scope.bindings
    return [(ast.copy_location(ast.Name(name, ast.Load()), at), module.scope)] if known and module is not None else []


def bind(target: ast.expr, element: Placed, env: Env) -> None:
    """Fill in the variables of a loop or of an assignment."""
    if isinstance(target, ast.Name):
        env[target.id] = element
    elif isinstance(target, (ast.Tuple, ast.List)):
        item, scope = constructed(*element)
        items = item.elts if isinstance(item, (ast.Tuple, ast.List)) else []
        stars = [index for index, entry in enumerate(target.elts) if isinstance(entry, ast.Starred)]
        if stars or len(items) == len(target.elts):
            # `run, name, *rest` takes the first two
            for entry, part in zip(target.elts[: stars[0] if stars else None], items, strict=False):
                bind(entry, (part, scope), env)


def substitute(node: ast.expr, scope: Scope, env: Env | None = None) -> Placed:
    """An expression with the names of a frame, or others, filled in: `fn`, `spec.fn`, `spec["fn"]`, `spec[0]`."""
    env = env or (scope.filled if isinstance(scope, Frame) else {})
    if isinstance(node, ast.Name):
        return env.get(node.id, (node, scope))
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.value, ast.Name) and node.value.id in env:
        item, where = env[node.value.id]
        part = _part(item, where, node)
        if part is not None:
            return part
        if isinstance(node, ast.Attribute):
            return ast.copy_location(ast.Attribute(item, node.attr, ast.Load()), node), where
    return node, scope


def _part(item: ast.expr, scope: Scope, node: ast.Attribute | ast.Subscript) -> Placed | None:
    """A part of an object whose construction can be seen, or of the table that it is made of: `Record.of({...})`."""
    part = _own_part(*constructed(item, scope), node)
    if part is None and isinstance(item, ast.Call) and len(item.args) == 1 and not item.keywords:
        table, where = constructed(item.args[0], scope)
        return _own_part(table, where, node) if isinstance(table, ast.Dict) else None
    return part


def _own_part(item: ast.expr, scope: Scope, node: ast.Attribute | ast.Subscript) -> Placed | None:
    """A part of an object, as the expression that makes it shows."""
    key = node.slice if isinstance(node, ast.Subscript) else ast.Constant(node.attr)
    if not isinstance(key, ast.Constant):
        return None
    if isinstance(item, ast.Dict):
        # A subscript, or an attribute of a record that is made of the dict.
        for name, value in zip(item.keys, item.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key.value:
                return value, scope
        return None
    if isinstance(item, (ast.Tuple, ast.List)):
        index = key.value
        return (item.elts[index], scope) if isinstance(index, int) and -1 <= index < len(item.elts) > 0 else None
    if not isinstance(item, ast.Call):
        return None
    if name_of(item.func, scope).partition(".")[0] in FRAMEWORKS:
        return None  # objects of the frameworks are registered where they are created
    for keyword in item.keywords:
        if keyword.arg == key.value:
            return keyword.value, scope
    info = class_named(item.func, scope)
    parts = dict(zip(_fields(info), item.args, strict=False)) if info is not None else {}
    return (parts[key.value], scope) if key.value in parts else None


def constructed(item: ast.expr, scope: Scope, depth: int = 0) -> Placed:
    """The expression that makes an object, behind the names it is assigned to and the functions that return it."""
    if depth > DEEP:
        return item, scope
    if isinstance(item, ast.Name):
        made = (
            [scope.filled[item.id]]
            if isinstance(scope, Frame) and item.id in scope.filled
            else assignments_of(item, scope)
        )
        if len(made) == 1:
            return constructed(*made[0], depth + 1)
        return _decorated(item, scope) or (item, scope)
    # `node = node.parent()` leads back to itself.
    inner = callee_frame(item, scope, depth // 2 + 1) if isinstance(item, ast.Call) else None
    results = returned(inner[0]) if inner is not None else []
    if inner is not None and len(results) == 1:
        return constructed(results[0], inner[1], depth + 1)
    return item, scope


def _decorated(name: ast.Name, scope: Scope) -> Placed | None:
    """The object that a decorator of the project makes of a function: `return Spec(fn)`."""
    function = definition_of(name, scope)
    owner = scope.module.project.module_defining(function) if isinstance(function, FUNCTIONS) else None
    if owner is None or not isinstance(function, FUNCTIONS) or len(function.decorator_list) != 1:
        return None
    plain = ast.copy_location(ast.Name(_PLAIN, ast.Load()), name)
    outside = owner.scope_of(function).parent or owner.scope
    bindings = {_PLAIN: [Binding("function", function)]}
    around = Scope(owner, outside.node, outside, outside.qualname, outside.owner, bindings)
    call = ast.copy_location(ast.Call(function.decorator_list[0], [plain], []), function)
    inner = callee_frame(call, around)
    results = returned(inner[0]) if inner is not None else []
    made = inner is not None and len(results) == 1 and isinstance(results[0], ast.Call)
    return (results[0], inner[1]) if made and inner is not None else None


def _fields(info: ClassInfo) -> list[str]:
    """The fields of a dataclass or a named tuple of the project, those of its bases first."""
    names: dict[str, None] = {}
    for base in reversed(list(ancestry(info))):
        names |= {name: None for name, bindings in base.attributes.items() if bindings[0].kind == "annotated"}
    return list(names)
