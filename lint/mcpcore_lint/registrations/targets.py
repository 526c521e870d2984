"""The functions behind an expression that is registered, and the items behind the ones registered in a loop."""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.meaning.kinds import ancestry, method_of
from mcpcore_lint.meaning.resolve import evaluate
from mcpcore_lint.meaning.symbols import class_info, class_round
from mcpcore_lint.model import CallValue, Const, Symbol, Unknown, Value, options
from mcpcore_lint.names import FRAMEWORKS
from mcpcore_lint.reading.syntax import alternatives, own_nodes, statements, walk
from mcpcore_lint.registrations.servers import arguments_of, method_called

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpcore_lint.model import FunctionNode
    from mcpcore_lint.reading.module import ClassInfo, Module
    from mcpcore_lint.reading.scopes import Binding, Scope

DEEP: Final = 8
"""How many names, wrappers and factories deep a handler is looked for."""
MANY: Final = 300
"""How many items of a list are looked at."""
STEPS: Final = 400
"""How many expressions are looked at for one registration: names bound over and over make more ways than can be walked.
"""

Placed = tuple[ast.expr, "Scope"]
"""An expression and the scope to read it in."""
Env = dict[str, Placed]
"""What the variables of a loop stand for in one round of it."""
NO_ENV: Final[Env] = {}


class Target(NamedTuple):
    """A function that is registered."""

    node: FunctionNode
    module: Module
    name: Value
    """What it is called where no name is given."""
    taken: int = 0
    """How many of its first parameters are filled in already: `partial(f, 1)`."""
    given: tuple[tuple[str, ast.expr], ...] = ()
    """Parameters that have another default: `partial(f, limit=1)`."""
    signed: bool = False
    """Whether what wraps it may have given it a signature of its own."""


class Targets:
    """Finds them; `counted` tells which calls register something by themselves."""

    def __init__(self, counted: Callable[[ast.Call, Scope], bool]) -> None:
        self.counted = counted
        self.steps = 0
        self.filled: tuple[Env, Scope | None] = (NO_ENV, None)
        """What the variables of a loop stand for in the round that is looked at, and the scope to read them in."""

    def too_much(self) -> bool:
        """Whether one more expression is one too many."""
        self.steps += 1
        return self.steps > STEPS

    # -- functions ---------------------------------------------------------------------------------------------------

    def behind(self, node: ast.expr, scope: Scope, depth: int = 0) -> list[Target]:
        """The functions that an expression may be: a name, a lambda, `partial(f)`, a method, a callable object."""
        if depth > DEEP or self.too_much():
            return []
        if isinstance(node, ast.Lambda):
            scope.module.note_lambda(node, scope)
            return [Target(node, scope.module, Const(node, scope.module, "<lambda>"))]
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            return [found for each in alternatives(node) for found in self.behind(each, scope, depth + 1)]
        if isinstance(node, (ast.NamedExpr, ast.Await)):
            return self.behind(node.value, scope, depth + 1)
        if isinstance(node, ast.Call):
            return self._called(node, scope, depth)
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return []
        if scope is self.filled[1]:
            seen = see(node, scope, self.filled[0])
            if seen[0] is not node:
                return self.behind(*seen, depth + 1)
        several = _defined_several_times(node, scope) if isinstance(node, ast.Name) else []
        if several:
            return [target for each, module in several for target in self._function(each, module)]
        value = evaluate(node, scope)
        found: list[Target] = []
        known = False
        for each in options(value):
            if isinstance(each, Symbol) and isinstance(each.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
                known = True
                found.extend(self._function(each.definition, scope.module))
        if known:
            return found
        if isinstance(node, ast.Attribute) and node.attr in {"fn", "__func__", "__wrapped__", "func"}:
            inner = self.behind(node.value, scope, depth + 1)
            if inner:
                return inner
        for each_node, where in bound(node, scope):
            found.extend(self.behind(each_node, where, depth + 1))
        if not found and isinstance(node, ast.Attribute) and isinstance(value, Unknown):
            method = method_called(node, scope)
            if method is not None:
                found.append(_plain(*method))
        return found

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, asking: Module) -> list[Target]:
        owner = asking.project.module_defining(node)
        if owner is None:
            return []
        # What stands in for a function that is handed in is found where that function is.
        return [] if wrapped_parameter(node, owner) is not None else [_plain(node, owner)]

    def _called(self, node: ast.Call, scope: Scope, depth: int) -> list[Target]:
        if self.counted(node, scope):
            return []
        if scope is self.filled[1] and isinstance(node.func, ast.Name) and node.func.id in self.filled[0]:
            # A factory that stands in a table.
            return [
                target
                for each in self.behind(node.func, scope, depth + 1)
                if not isinstance(each.node, ast.Lambda)
                for target in self._returned(each.node, each.module, node, scope, depth)
            ]
        func = evaluate(node.func, scope)
        if not isinstance(func, Symbol):
            if isinstance(node.func, ast.Attribute):
                method = method_called(node.func, scope)
                if method is not None:
                    return self._returned(method[0], method[1], node, scope, depth, bound_first=True)
            return self._wrapped(node, scope, depth) if isinstance(node.func, ast.Call) else []
        if func.name == "functools.partial":
            return self._partial(node, scope, depth)
        definition = func.definition
        if isinstance(definition, ast.ClassDef):
            info = scope.module.project.class_info(definition)
            call = method_of(info, "__call__") if info is not None else None
            if info is not None and call is not None:
                return [_plain(call[0], call[1].module)._replace(name=Const(definition, info.module, definition.name))]
            return []
        if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            owner = scope.module.project.module_defining(definition)
            return [] if owner is None else self._returned(definition, owner, node, scope, depth)
        return self._wrapped(node, scope, depth)

    def _wrapped(self, node: ast.Call, scope: Scope, depth: int) -> list[Target]:
        """`decorate(f)`, by a decorator that cannot be read."""
        if len(node.args) != 1 or not isinstance(node.args[0], (ast.Name, ast.Attribute, ast.Lambda, ast.Call)):
            return []
        return self.behind(node.args[0], scope, depth + 1)

    def _partial(self, node: ast.Call, scope: Scope, depth: int) -> list[Target]:
        if not node.args:
            return []
        given = tuple((each.arg, each.value) for each in node.keywords if each.arg is not None)
        unknown = Unknown(node, scope.module, "what partial() makes has no name of its own")
        return [
            each._replace(name=unknown, taken=each.taken + len(node.args) - 1, given=(*each.given, *given))
            for each in self.behind(node.args[0], scope, depth + 1)
        ]

    def _returned(
        self,
        function: ast.FunctionDef | ast.AsyncFunctionDef,
        owner: Module,
        call: ast.Call,
        scope: Scope,
        depth: int,
        *,
        bound_first: bool = False,
    ) -> list[Target]:
        """What a function of the project returns: a function nested in it, or one of those handed to it."""
        inside = owner.scope_of(function)
        handed = arguments_of(function, call, bound_first=bound_first or inside.owner is not None)
        found: list[Target] = []
        for each in own_nodes(function):
            if not isinstance(each, ast.Return) or each.value is None:
                continue
            parameter = parameter_behind(each.value, inside, function)
            if parameter is not None and parameter[0] in handed:
                signed = owner.source.has("__signature__")
                found.extend(
                    target._replace(signed=signed or target.signed)
                    for target in self.behind(handed[parameter[0]], scope, depth + 1)
                )
            elif parameter is None:
                found.extend(self.behind(each.value, inside, depth + 1))
        return found

    # -- items -------------------------------------------------------------------------------------------------------

    def elements(self, node: ast.expr, scope: Scope, depth: int = 0) -> list[Placed]:
        """The items that going through an expression gives, as far as they can be seen."""
        if depth > 2 * DEEP or self.too_much():
            return []
        return list(islice(self._elements(node, scope, depth), MANY))

    def _elements(self, node: ast.expr, scope: Scope, depth: int) -> Iterator[Placed]:
        deeper = depth + 1
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            for each in node.elts:
                if isinstance(each, ast.Starred):
                    yield from self.elements(each.value, scope, deeper)
                else:
                    yield each, scope
        elif isinstance(node, ast.Dict):
            yield from ((key, scope) for key in node.keys if key is not None)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            chain: ast.expr = node
            parts: list[ast.expr] = []
            while isinstance(chain, ast.BinOp) and len(parts) < MANY:
                parts.append(chain.right)
                chain = chain.left
            for each in (chain, *reversed(parts)):
                yield from self.elements(each, scope, deeper)
        elif isinstance(node, (ast.IfExp, ast.BoolOp)):
            for each in alternatives(node):
                yield from self.elements(each, scope, deeper)
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            yield from self._comprehended(node, scope, deeper)
        elif isinstance(node, ast.Call):
            yield from self._called_elements(node, scope, deeper)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            for each, where in bound(node, scope):
                yield from self.elements(each, where, deeper)
            if isinstance(node, ast.Name):
                yield from self._unpacked(node, scope, deeper)
                if scope.module.changes_in_place(node.id):
                    yield from self._put_in(node.id, scope, deeper)

    def _put_in(self, name: str, scope: Scope, depth: int) -> Iterator[Placed]:
        """What is put into a list or a set once it is made: `x.append(fn)`, `x.extend([...])`, `x += [...]`."""
        place = scope.lookup(name)
        if place is None:
            return
        home = place[0]
        for call, where in scope.module.calls_near(f"{name}.append(", f"{name}.add(", f"{name}.extend("):
            func = call.func
            if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name) or func.value.id != name:
                continue
            found = where.lookup(name)
            if len(call.args) != 1 or found is None or found[0] is not home:
                continue
            if func.attr == "extend":
                yield from self.elements(call.args[0], where, depth)
            elif not isinstance(call.args[0], ast.Name) or not _looped(call.args[0].id, where):
                yield call.args[0], where
        for each in statements(list(home.node.body)) if not isinstance(home.node, ast.Lambda) else ():
            if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name) and each.target.id == name:
                yield from self.elements(each.value, home, depth)

    def _comprehended(
        self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: Scope, depth: int
    ) -> Iterator[Placed]:
        generator = node.generators[0]
        for element in self.elements(generator.iter, scope, depth):
            env: Env = {}
            bind(generator.target, element, env)
            yield self._made_of(node.elt, scope, env)

    def _made_of(self, node: ast.expr, scope: Scope, env: Env) -> Placed:
        """An item of a comprehension: `fn`, `wrap(fn) if risky else fn`, `Record.of(spec)`."""
        if isinstance(node, ast.IfExp):
            for each in (node.body, node.orelse):
                if isinstance(each, ast.Name) and each.id in env:
                    return env[each.id]
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            only = node.args[0]
            if isinstance(only, ast.Name) and only.id in env and not self.counted(node, scope):
                return env[only.id]
        return see(node, scope, env)

    def _handed_back(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call, scope: Scope, depth: int
    ) -> Iterator[Placed]:
        """The items that a function of the project returns: its own, or those that it is given, perhaps fewer."""
        owner = scope.module.project.module_defining(function)
        if owner is None:
            return
        inside = owner.scope_of(function)
        handed = arguments_of(function, call, bound_first=inside.owner is not None)
        for each in own_nodes(function):
            if not isinstance(each, ast.Return) or each.value is None:
                continue
            value = each.value
            if isinstance(value, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
                source = value.generators[0].iter
                if isinstance(source, ast.Name) and source.id in handed:
                    for element in self.elements(handed[source.id], scope, depth):
                        env: Env = {}
                        bind(value.generators[0].target, element, env)
                        yield self._made_of(value.elt, inside, env)
                    continue
            if isinstance(value, ast.Name) and value.id in handed:
                yield from self.elements(handed[value.id], scope, depth)
            else:
                yield from self.elements(value, inside, depth)

    def _unpacked(self, node: ast.Name, scope: Scope, depth: int) -> Iterator[Placed]:
        """`tools, rest = prepare()`, where a function of the project returns several things."""
        place = scope.lookup(node.id)
        for binding in place[1] if place is not None else ():
            statement = binding.node
            if place is None or not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
                continue
            for target in statement.targets:
                names = [each.id if isinstance(each, ast.Name) else "" for each in getattr(target, "elts", ())]
                symbol = evaluate(statement.value.func, place[0]) if node.id in names else None
                function = symbol.definition if isinstance(symbol, Symbol) else None
                if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    continue
                owner = scope.module.project.module_defining(function)
                for each in own_nodes(function) if owner is not None else ():
                    if (
                        owner is not None
                        and isinstance(each, ast.Return)
                        and isinstance(each.value, ast.Tuple)
                        and len(each.value.elts) == len(names)
                    ):
                        part = each.value.elts[names.index(node.id)]
                        yield from self.elements(part, owner.scope_of(function), depth)

    def _called_elements(self, node: ast.Call, scope: Scope, depth: int) -> Iterator[Placed]:
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in {"values", "items", "keys"} and not node.args:
            for table, where in self._dicts(func.value, scope, depth):
                for key, value in zip(table.keys, table.values, strict=True):
                    if key is not None:
                        pair = ast.copy_location(ast.Tuple([key, value], ast.Load()), value)
                        yield {"values": value, "items": pair, "keys": key}[func.attr], where
            return
        symbol = evaluate(func, scope)
        if not isinstance(symbol, Symbol):
            return
        last = symbol.name.rpartition(".")[2]
        if last in {"list", "tuple", "set", "frozenset", "sorted", "reversed", "iter"} and node.args:
            yield from self.elements(node.args[0], scope, depth)
        elif symbol.name == "builtins.filter" and len(node.args) == 2:
            yield from self.elements(node.args[1], scope, depth)
        elif symbol.name == "itertools.chain":
            for each in node.args:
                yield from self.elements(each, scope, depth)
        elif symbol.name == "builtins.enumerate" and node.args:
            for item, where in self.elements(node.args[0], scope, depth):
                count = ast.copy_location(ast.Name("_", ast.Load()), item)
                yield ast.copy_location(ast.Tuple([count, item], ast.Load()), item), where
        elif symbol.name == "builtins.zip" and node.args:
            columns = [self.elements(each, scope, depth) for each in node.args]
            for row in zip(*columns, strict=False):
                if len({id(where) for _, where in row}) == 1:
                    items = [each for each, _ in row]
                    yield ast.copy_location(ast.Tuple(items, ast.Load()), items[0]), row[0][1]
        elif isinstance(symbol.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from self._handed_back(symbol.definition, node, scope, depth)

    def _dicts(self, node: ast.expr, scope: Scope, depth: int) -> list[tuple[ast.Dict, Scope]]:
        if isinstance(node, ast.Dict):
            return [(node, scope)]
        if depth > DEEP or self.too_much():
            return []
        return [found for each, where in bound(node, scope) for found in self._dicts(each, where, depth + 1)]

    # -- loops -------------------------------------------------------------------------------------------------------

    def rounds(self, call: ast.Call, target: ast.expr, scope: Scope) -> list[Env]:
        """What the variables stand for in each round of the loop that a registration is in; one round without any."""
        names = {each.id for each in walk([target]) if isinstance(each, ast.Name)}
        if not any(_looped(name, scope) for name in names):
            return [NO_ENV]
        parents = scope.module.parents
        current = parents.get(call)
        while current is not None and not isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef)):
            loops: list[ast.For | ast.AsyncFor | ast.comprehension] = []
            if isinstance(current, (ast.For, ast.AsyncFor)):
                loops = [current]
            elif isinstance(current, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
                loops = [*reversed(current.generators)]
            for loop in loops:
                if any(isinstance(each, ast.Name) and each.id in names for each in walk([loop.target])):
                    found: list[Env] = []
                    for element in self.elements(loop.iter, scope):
                        env: Env = {}
                        bind(loop.target, element, env)
                        found.append(env)
                    return found or [NO_ENV]
            current = parents.get(current)
        return [NO_ENV]


def taken_from(node: ast.expr, scope: Scope) -> ast.expr:
    """What a name was given in the round of a loop: `spec.fn`, where `fn = spec.fn` stands before."""
    found = scope.lookup(node.id) if isinstance(node, ast.Name) else None
    if found is None or found[0] is not scope or len(found[1]) != 1:
        return node
    value = found[1][0].value
    if isinstance(value, (ast.Attribute, ast.Subscript)) and isinstance(value.value, ast.Name):
        return value if _looped(value.value.id, scope) else node
    return node


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
    """A part of an object that is made in front of our eyes."""
    if isinstance(item, ast.Name):
        made = bound(item, scope)
        if len(made) != 1 or isinstance(made[0][0], ast.Name):
            return None
        item, scope = made[0]
    if isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(item, ast.Dict):
            for each, value in zip(item.keys, item.values, strict=True):
                if isinstance(each, ast.Constant) and each.value == key:
                    return value, scope
        elif isinstance(item, (ast.Tuple, ast.List)) and isinstance(key, int) and -1 <= key < len(item.elts) > 0:
            return item.elts[key], scope
        return None
    if isinstance(item, ast.Dict):
        # A record that is made of a dict.
        for each, value in zip(item.keys, item.values, strict=True):
            if isinstance(each, ast.Constant) and each.value == node.attr:
                return value, scope
    if not isinstance(item, ast.Call):
        return None
    symbol = evaluate(item.func, scope)
    if isinstance(symbol, Symbol) and symbol.name.partition(".")[0] in FRAMEWORKS:
        return None  # what the frameworks make is registered where it is made
    for keyword in item.keywords:
        if keyword.arg == node.attr:
            return keyword.value, scope
    info = class_info(symbol) if isinstance(symbol, Symbol) else None
    if info is not None and "__init__" not in info.methods:
        fields = [name for name, bindings in info.attributes.items() if bindings[0].kind == "annotated"]
        if node.attr in fields and fields.index(node.attr) < len(item.args):
            return item.args[fields.index(node.attr)], scope
    return None


def _looped(name: str, scope: Scope) -> bool:
    """Whether a name may be the variable of a loop."""
    found = scope.lookup(name)
    if found is None:
        return True
    return any(isinstance(each.node, (ast.For, ast.AsyncFor, ast.comprehension)) for each in found[1])


def bind(target: ast.expr, element: Placed, env: Env) -> None:
    """Fill in what the variables of a loop or of an assignment stand for."""
    item, scope = element
    if isinstance(target, ast.Name):
        env[target.id] = element
    elif isinstance(target, (ast.Tuple, ast.List)):
        if isinstance(item, ast.Name):
            made = bound(item, scope)
            if len(made) == 1:
                item, scope = made[0]
        items: list[ast.expr] = []
        if isinstance(item, (ast.Tuple, ast.List)):
            items = item.elts
        elif isinstance(item, ast.Call):
            items = item.args
        if len(items) == len(target.elts) and not any(isinstance(each, ast.Starred) for each in target.elts):
            for each, one in zip(target.elts, items, strict=True):
                bind(each, (one, scope), env)


# -- what names are bound to -----------------------------------------------------------------------------------------


def bound(node: ast.expr, scope: Scope) -> list[Placed]:
    """The expressions that a name or an attribute is bound to, each with the scope to read it in, through imports."""
    if isinstance(node, ast.Name):
        found = scope.lookup(node.id)
        if found is not None:
            return _bound_by(found[1], found[0], node)
        for source, level in scope.module.star_imports:
            module = scope.module.project.module_of(scope.module, source, level)
            if module is not None and node.id in module.scope.bindings:
                return _bound_by(module.scope.bindings[node.id], module.scope, node)
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


def _defined_several_times(node: ast.Name, scope: Scope) -> list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, Module]]:
    """The functions of one name that branches of the code define, where there are several."""
    place = scope.lookup(node.id)
    if place is None or len(place[1]) < 2:
        return []
    module = place[0].module
    functions = [each.node for each in place[1] if isinstance(each.node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if len(functions) < 2:
        return []
    found: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, Module]] = []
    for each in functions:
        if module.parents.get(each) is place[0].node:
            found.clear()  # what stands in no branch replaces all before it
        found.append((each, module))
    return found


# -- parameters ------------------------------------------------------------------------------------------------------


def wrapped_parameter(node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> str | None:
    """The parameter of a function round it that a function stands in for: `@wraps(fn) def inner(...)`."""
    scope = module.functions.get(node)
    if scope is None or scope.parent is None or scope.parent.is_module or not node.decorator_list:
        return None
    wrapped = _wrapped(node, scope.parent)
    found = scope.parent.lookup(wrapped.id) if wrapped is not None else None
    return wrapped.id if wrapped is not None and found is not None and found[1][0].kind == "parameter" else None


def _wrapped(node: ast.FunctionDef | ast.AsyncFunctionDef, outside: Scope) -> ast.Name | None:
    """The name of the function that a nested function stands in for."""
    for each in node.decorator_list:
        if isinstance(each, ast.Call) and each.args and isinstance(each.args[0], ast.Name):
            func = evaluate(each.func, outside)
            if isinstance(func, Symbol) and func.name == "functools.wraps":
                return each.args[0]
    return None


def parameter_behind(
    node: ast.expr, scope: Scope, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> tuple[str, bool] | None:
    """The parameter of a function that an expression in it is, or wraps; and whether it is an item of it."""
    seen: set[tuple[int, str]] = set()
    again: set[str] = set()
    stack: list[tuple[ast.expr, Scope, bool]] = [(node, scope, False)]
    while stack and len(seen) < STEPS:
        current, inside, item = stack.pop()
        if isinstance(current, ast.Call):
            # `fn = wrap(fn, options)` is about the function that it was before.
            if not any(isinstance(each, ast.Name) and each.id in again for each in current.args):
                stack.extend((each, inside, item) for each in reversed(current.args))
            continue
        place = inside.lookup(current.id) if isinstance(current, ast.Name) else None
        if place is None or not isinstance(current, ast.Name):
            continue
        where, bindings = place
        if (id(where), current.id) in seen:
            continue
        seen.add((id(where), current.id))
        again = {name for _, name in seen}
        for binding in bindings:
            at = binding.node
            if binding.kind == "parameter":
                if where.node is function:
                    return current.id, item
            elif isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef)):
                wrapped = None if where.is_module else _wrapped(at, where)
                if wrapped is not None:
                    stack.append((wrapped, where, item))
            elif binding.value is not None and not where.is_module:
                stack.append((binding.value, where, item))
            elif (
                isinstance(at, (ast.For, ast.AsyncFor))
                and isinstance(at.target, ast.Name)
                and isinstance(at.iter, ast.Name)
            ):
                stack.append((at.iter, where, True))
    return None


def _plain(node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> Target:
    return Target(node, module, Const(node, module, node.name))
