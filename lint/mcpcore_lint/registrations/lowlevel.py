"""What a low-level handler, which serves every tool, does with each tool's name: the functions that it hands calls to.

The name is followed from the handler's parameter through local names and through the functions that it is handed on
to. It is told apart by comparisons, by `match`, by tables of functions or of objects, by the names of methods and in
loops over objects that have a name.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.model import Const, FunctionNode, Symbol, Value, string
from mcpcore_lint.registrations.bindings import bind, bound, see
from mcpcore_lint.registrations.lookups import Tables
from mcpcore_lint.registrations.servers import arguments_of
from mcpcore_lint.semantics.branches import Branch, Branches
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.symbols import class_round
from mcpcore_lint.semantics.type_model import ancestry
from mcpcore_lint.syntax.parse import alternatives, own_nodes, walk, walk_shallow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpcore_lint.registrations.frames import Env, Placed
    from mcpcore_lint.registrations.handlers import Target, Targets
    from mcpcore_lint.syntax.module import Module

DEEP: Final = 4
"""Through how many functions a name is followed."""
_GETS: Final = frozenset({"get", "pop", "__getitem__", "setdefault"})
_SAME: Final = frozenset({f"builtins.{each}" for each in ("str", "list", "tuple", "dict", "repr")})
"""Builtins that give back all of what they are given."""
Way = tuple[tuple[FunctionNode, "Module", ast.Call], ...]


class Handed(NamedTuple):
    """What is done with one tool's name."""

    name: Value
    function: FunctionNode
    """The function that tells this name from others."""
    module: Module
    target: Target | None
    """The function that does the tool's work; None where its work is done in the branch itself."""
    call: ast.Call | None
    """Where that function is called."""
    way: Way
    """The functions that lead there, the registered one first, each with the call that hands the name on."""
    branches: tuple[Branch, ...]
    """All branches of the function that tells the names apart."""


class Dispatching:
    """Answers for one file's low-level handlers."""

    def __init__(self, targets: Targets) -> None:
        self.targets = targets

    def handed(self, node: FunctionNode, module: Module) -> list[Handed]:
        """What a registered handler does with each name, in the order of the source; each name and function once."""
        if isinstance(node, ast.Lambda):
            return []
        args = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
        if module.scope_of(node).owner is not None and args[:1] in (["self"], ["cls"]):
            args = args[1:]
        place = _Place(self, node, module, set(args[:1]) if len(args) > 1 else set(), set(args))
        found: dict[tuple[str | None, FunctionNode | None], Handed] = {}
        for each in place.handed((), 0):
            key = (string(each.name), each.target.node if each.target is not None else None)
            found.setdefault(key, each)
        done = {name for name, target in found if target is not None}
        return [each for (name, target), each in found.items() if target is not None or name not in done]

    def looked_up(self, node: FunctionNode, module: Module) -> ast.Call | None:
        """The call in a registered handler whose function is looked up by the name, as `TABLE[name](arguments)`."""
        if isinstance(node, ast.Lambda):
            return None
        args = [each.arg for each in (*node.args.posonlyargs, *node.args.args) if each.arg not in {"self", "cls"}]
        place = _Place(self, node, module, set(args[:1]) if len(args) > 1 else set(), set(args))
        return next((each for each in own_nodes(node) if isinstance(each, ast.Call) and place.picks(each.func)), None)


class _Place:
    """One function that has a tool's name in its hands."""

    def __init__(
        self, dispatching: Dispatching, node: FunctionNode, module: Module, names: set[str], given: set[str]
    ) -> None:
        self.dispatching = dispatching
        self.targets = dispatching.targets
        self.node = node
        self.module = module
        self.scope = module.scope_of(node)
        self.names = names
        """Local names that hold the tool's name."""
        self.requests = given - names
        """Parameters that may hold it: `params.name`, `request.params.name`."""
        self.wholes = set(self.requests)
        """Names that hold all arguments of the call, or what was made of all of them."""
        self.derived = set(self.requests)
        """Names that hold anything that comes from the arguments."""
        self._behind: dict[ast.expr, list[Target]] = {}
        self._follow_names()
        self._by_name = {
            each
            for target, value in _assignments(own_nodes(node))
            if not self.is_name(value) and self._looks_up(value)
            for each in _stored(target)
        }
        """Local names that hold what was looked up by the tool's name."""

    def _follow_names(self) -> None:
        body = own_nodes(self.node)
        for _ in range(2):
            for target, value in _assignments(body):
                self._assigned(target, value)
            for each in body:
                if isinstance(each, (ast.With, ast.AsyncWith)):
                    for item in each.items:
                        if item.optional_vars is not None and self.takes(item.context_expr):
                            self.derived.update(_stored(item.optional_vars))
                elif isinstance(each, (ast.For, ast.AsyncFor)) and self.takes(each.iter):
                    self.derived.update(_stored(each.target))

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
            for each, one in zip(target.elts, value.elts, strict=False):
                self._assigned(each, one)
            return
        if self.is_name(value):
            self.names.update(_stored(target))
            return
        if self.takes(value):
            self.derived.update(_stored(target))
            if self._is_whole(value):
                self.wholes.update(_stored(target))

    def is_name(self, node: ast.expr) -> bool:
        """Whether an expression is the tool's name."""
        while isinstance(node, (ast.NamedExpr, ast.Await)):
            node = node.value
        if isinstance(node, ast.Name):
            return node.id in self.names
        if isinstance(node, ast.Attribute):
            if node.attr == "value":
                return self.is_name(node.value)
            root = node.value
            while isinstance(root, ast.Attribute):
                root = root.value
            return node.attr == "name" and isinstance(root, ast.Name) and root.id in self.requests
        if isinstance(node, ast.Call):
            # `str(name)`, `Tools(name)`, `name.strip()`.
            if isinstance(node.func, ast.Attribute) and not node.args:
                return node.func.attr in {"strip", "lower", "casefold"} and self.is_name(node.func.value)
            if len(node.args) == 1 and not node.keywords and self.is_name(node.args[0]):
                made = evaluate(node.func, self.scope)
                return isinstance(made, Symbol) and (
                    made.name == "builtins.str" or isinstance(made.definition, ast.ClassDef)
                )
        return False

    def takes(self, node: ast.AST) -> bool:
        """Whether an expression has something of the arguments in it."""
        return any(
            isinstance(each, ast.Name) and each.id in self.derived and isinstance(each.ctx, ast.Load)
            for each in walk([node])
        )

    def _is_whole(self, node: ast.expr) -> bool:
        """Whether an expression holds all arguments, or is made of all of them."""
        picked: set[ast.AST] = set()
        for each in walk([node]):
            if isinstance(each, ast.Subscript) or (
                isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _GETS
            ):
                picked.update(walk([each]))
        left = (each for each in walk([node]) if each not in picked)
        return any(isinstance(each, ast.Name) and each.id in self.wholes for each in left)

    # -- what is found -----------------------------------------------------------------------------------------------

    def handed(self, way: Way, depth: int) -> Iterator[Handed]:
        """What this function does with each name, here or in the functions that it hands the name to."""
        branches = Branches(self.is_name, self.scope).of(self.node)
        calls = [_calls(each.body) for each in branches]
        chosen = self._chosen(branches, calls)
        looked_up = list(self._looked_up())
        every = (*branches, *self._for_none({string(name) for name, _, _ in looked_up}))
        passed: set[ast.Call] = set()
        for branch, inside in zip(branches, calls, strict=True):
            for call in inside:
                for one in self._handed_on(call, way, depth):
                    if not branch.names or string(one.name) in {string(each) for each in branch.names}:
                        passed.add(call)
                        yield one
        for branch in branches:
            mine = [each for each in chosen.get(branch, ()) if each[0] not in passed]
            on = any(inside in passed for inside in calls[branches.index(branch)])
            for name in branch.names:
                for call, target in mine:
                    yield Handed(name, self.node, self.module, target, call, way, every)
                if not mine and not on:
                    yield Handed(name, self.node, self.module, None, None, way, every)
        for name, target, call in looked_up:
            yield Handed(name, self.node, self.module, target, call, way, every)

    def _for_none(self, names: set[str | None]) -> Iterator[Branch]:
        """What runs where the name is in no table: `if handler is None`, `if name not in TABLE`."""
        known = frozenset(each for each in names if each is not None)
        for each in own_nodes(self.node) if known else ():
            if isinstance(each, ast.If) and self._finds_none(each.test):
                yield Branch((), each.body, known)

    def _finds_none(self, test: ast.expr) -> bool:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._looked(test.operand)
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return False
        operator, other = test.ops[0], test.comparators[0]
        if isinstance(operator, ast.NotIn):
            return self.is_name(test.left)
        none = isinstance(other, ast.Constant) and other.value is None
        return isinstance(operator, (ast.Is, ast.Eq)) and none and self._looked(test.left)

    def _looked(self, node: ast.expr) -> bool:
        """Whether an expression is what was looked up by the name."""
        if isinstance(node, ast.NamedExpr):
            node = node.target
        return isinstance(node, ast.Name) and node.id in self._by_name

    def _handed_on(self, call: ast.Call, way: Way, depth: int) -> Iterator[Handed]:
        """What a function does with the name that it is handed, or with the whole request."""
        given = [*call.args, *(each.value for each in call.keywords)]
        if depth >= DEEP or not any(self.is_name(each) or self._is_request(each) for each in given):
            return
        for target in self.behind(call.func):
            function = target.node
            if isinstance(function, ast.Lambda) or any(each[0] is function for each in (*way, (self.node,))):
                continue
            bound_first = target.module.scope_of(function).owner is not None
            handed = arguments_of(function, call, bound_first=bound_first)
            names = {parameter for parameter, each in handed.items() if self.is_name(each)}
            requests = {parameter for parameter, each in handed.items() if self.takes(each)}
            if names or any(self._is_request(each) for each in handed.values()):
                inner = _Place(self.dispatching, function, target.module, names, names | requests)
                yield from inner.handed((*way, (self.node, self.module, call)), depth + 1)

    def _is_request(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute) and node.attr == "params":
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.requests

    def behind(self, node: ast.expr) -> list[Target]:
        """The functions of the project that an expression is; none where the tool's name decides it."""
        found = self._behind.get(node)
        if found is None:
            found = []
            if not any(isinstance(each, ast.expr) and self._decides(each) for each in walk([node])):
                self.targets.steps = 0
                found = self.targets.behind(node, self.scope)
            self._behind[node] = found
        return found

    def picks(self, node: ast.expr) -> bool:
        """Whether a function that is called was picked by the name."""
        looked_up = isinstance(node, ast.Subscript) and self.is_name(node.slice)
        return looked_up or (isinstance(node, ast.Name) and node.id in self._by_name)

    def _decides(self, node: ast.expr) -> bool:
        """Whether an expression is the name, or what was looked up by it."""
        return self.is_name(node) or (isinstance(node, ast.Name) and node.id in self._by_name)

    # -- branches ----------------------------------------------------------------------------------------------------

    def _chosen(
        self, branches: list[Branch], calls: list[list[ast.Call]]
    ) -> dict[Branch, list[tuple[ast.Call, Target]]]:
        """For each branch that names tools, the functions that do their work; none where that cannot be told."""
        fitting: dict[Branch, list[tuple[ast.Call, Target]]] = {}
        users: dict[FunctionNode, set[int]] = {}
        for index, (branch, inside) in enumerate(zip(branches, calls, strict=True)):
            if not branch.names:
                continue
            found: list[tuple[ast.Call, Target]] = []
            for call in inside:
                given = [*call.args, *(each.value for each in call.keywords)]
                if given and not any(self.takes(each) for each in given):
                    continue
                for target in self.behind(call.func):
                    found.append((call, target))
                    users.setdefault(target.node, set()).add(index)
            fitting[branch] = found
        # What several branches call prepares or shapes something, unless it is all that there is in each of them.
        helps: set[FunctionNode] = set()
        for found in fitting.values():
            if any(len(users[target.node]) == 1 for _, target in found):
                helps.update(target.node for _, target in found if len(users[target.node]) > 1)
        shared = [each for branch in branches if not branch.names for each in branch.body]
        for branch, found in fitting.items():
            fitting[branch] = self._best(branch, shared, [each for each in found if each[1].node not in helps])
        return fitting

    def _best(
        self, branch: Branch, shared: list[ast.stmt], found: list[tuple[ast.Call, Target]]
    ) -> list[tuple[ast.Call, Target]]:
        if len({id(call) for call, _ in found}) > 1:
            awaited = {each.value for one in branch.body for each in walk([one]) if isinstance(each, ast.Await)}
            waited = [each for each in found if each[0] in awaited]
            found = waited or found
        returned = _returned(branch.body)
        direct = [each for each in found if each[0] in returned]
        if direct:
            return direct
        found = [each for each in found if not self._is_service(each[0])]
        if found:
            passed = self._passed_on([*branch.body, *shared], {call for call, _ in found})
            found = [each for each in found if each[0] in passed or _bears_name(each[1], branch)]
        if len({id(call) for call, _ in found}) > 1:
            found = [each for each in found if any(self._is_whole(one) for one in _given(each[0]))]
        return found if len({id(call) for call, _ in found}) == 1 else []

    def _passed_on(self, body: list[ast.stmt], calls: set[ast.Call]) -> set[ast.AST]:
        """Those of some calls whose results are returned as they are: by a name, in a list, as a text, in an object.

        What is put into a sentence, counted, tested or taken apart is what the branch makes its own answer of.
        """
        nodes = [*walk_shallow([*body])]
        assigned: dict[str, list[ast.expr]] = {}
        for target, value in _assignments(nodes):
            if isinstance(target, ast.Name):
                assigned.setdefault(target.id, []).append(value)
        found: set[ast.AST] = set()
        stack = [each.value for each in nodes if isinstance(each, ast.Return) and each.value is not None]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Call):
                if node in calls:
                    found.add(node)
                else:
                    stack += self._put_into(node)
            elif isinstance(node, ast.Name):
                stack += assigned.pop(node.id, ())
            elif isinstance(node, (ast.Await, ast.NamedExpr, ast.Starred)):
                stack.append(node.value)
            elif isinstance(node, (ast.IfExp, ast.BoolOp)):
                stack += alternatives(node)
            elif isinstance(node, (ast.List, ast.Tuple)):
                stack += node.elts
            elif isinstance(node, ast.Dict):
                stack += node.values
            elif isinstance(node, ast.JoinedStr):
                whole = len(node.values) == 1 and isinstance(node.values[0], ast.FormattedValue)
                stack += [each.value for each in node.values if whole and isinstance(each, ast.FormattedValue)]
        return found

    def _put_into(self, call: ast.Call) -> list[ast.expr]:
        """What a call gives back in another form: `TextContent(text=found)`, `json.dumps(found)`, `found.to_json()`."""
        func = evaluate(call.func, self.scope)
        if isinstance(func, Symbol) and func.name.startswith("builtins.") and func.name not in _SAME:
            return []
        given = _given(call)
        return [call.func.value] if not given and isinstance(call.func, ast.Attribute) else given

    def _is_service(self, call: ast.Call) -> bool:
        """Whether a call asks an object for something with some of the arguments, and shapes the answer itself."""
        func = call.func
        if not isinstance(func, ast.Attribute):
            return False
        if isinstance(func.value, ast.Name) and func.value.id in {"self", "cls"}:
            return False
        if isinstance(evaluate(func.value, self.scope), Symbol):
            return False
        return not any(self._is_whole(each) for each in _given(call))

    # -- tables ------------------------------------------------------------------------------------------------------

    def _looked_up(self) -> Iterator[tuple[Value, Target, ast.Call]]:
        """The functions that the name is looked up in: a table, the methods of an object, a list of objects."""
        nodes = own_nodes(self.node)
        calls = [each for each in nodes if isinstance(each, ast.Call)]
        assigned = list(_assignments(nodes))
        for target, value in assigned:
            for name, item in self._entries(value):
                env: Env = {}
                bind(target, item, env)
                for later, part in assigned:
                    # `handler, model = entry`, `run = entry.run`
                    seen = see(part, self.scope, env)
                    if seen[0] is not part:
                        bind(later, seen, env)
                yield from self._called_on(name, env, calls)
        for call in calls:
            func = call.func
            for name, item in self._entries(func):
                yield from self._found(name, item, call)
            if isinstance(func, ast.Attribute):
                for name, (node, where) in self._entries(func.value):
                    method = ast.copy_location(ast.Attribute(node, func.attr, ast.Load()), node)
                    yield from self._found(name, (method, where), call)
        yield from self._in_loops(nodes)

    def _called_on(self, name: Value, env: Env, calls: Iterable[ast.Call]) -> Iterator[tuple[Value, Target, ast.Call]]:
        for call in calls:
            root = call.func
            while isinstance(root, (ast.Attribute, ast.Subscript)):
                root = root.value
            if isinstance(root, ast.Name) and root.id in env and any(self.takes(each) for each in _given(call)):
                seen = see(call.func, self.scope, env)
                if seen[0] is not call.func:
                    yield from self._found(name, seen, call)

    def _found(self, name: Value, item: Placed, call: ast.Call) -> Iterator[tuple[Value, Target, ast.Call]]:
        self.targets.steps = 0
        for target in self.targets.behind(*item):
            yield name, _through_lambda(target, self.targets), call

    def _entries(self, node: ast.expr) -> Iterator[tuple[Value, Placed]]:
        """What looking the name up gives, for each name: `TABLE[name]`, `TABLE.get(name)`, `getattr(self, name)`."""
        while isinstance(node, (ast.Await, ast.NamedExpr)):
            node = node.value
        if isinstance(node, ast.BoolOp):
            for each in node.values:
                yield from self._entries(each)
        elif (found := _first_of(node)) is not None:
            yield from self._searched(*found)
        elif isinstance(node, ast.Subscript) and self.is_name(node.slice):
            yield from Tables(self.targets, self.module).entries(node.value, self.scope)
        elif isinstance(node, ast.Call) and node.args:
            func = node.func
            if isinstance(func, ast.Attribute) and func.attr in _GETS and self.is_name(node.args[0]):
                yield from Tables(self.targets, self.module).entries(func.value, self.scope)
            elif isinstance(func, ast.Name) and func.id == "getattr" and len(node.args) > 1:
                yield from self._methods(node)

    def _searched(self, element: ast.expr, generator: ast.comprehension) -> Iterator[tuple[Value, Placed]]:
        """What a search by the name gives, for each name: `next(tool.run for tool in TOOLS if tool.name == name)`."""
        named = next((each for test in generator.ifs for each in self._compared(test)), None)
        if named is None:
            return
        self.targets.steps = 0
        for item in self.targets.elements(generator.iter, self.scope):
            env: Env = {}
            bind(generator.target, item, env)
            seen = see(named, self.scope, env)
            if seen[0] is not named:
                yield evaluate(*seen), see(element, self.scope, env)

    def _compared(self, test: ast.AST) -> Iterator[ast.expr]:
        """What the name is compared with in a condition."""
        for each in walk_shallow([test]):
            if isinstance(each, ast.Compare) and len(each.ops) == 1 and isinstance(each.ops[0], ast.Eq):
                if self.is_name(each.comparators[0]):
                    yield each.left
                elif self.is_name(each.left):
                    yield each.comparators[0]

    def _looks_up(self, node: ast.expr) -> bool:
        """Whether the name is looked up in an expression."""
        return any(
            _first_of(each) is not None
            or (isinstance(each, ast.Subscript) and self.is_name(each.slice))
            or (isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _GETS)
            for each in walk([node])
        ) and any(isinstance(each, ast.expr) and self.is_name(each) for each in walk([node]))

    def _methods(self, node: ast.Call) -> Iterator[tuple[Value, Placed]]:
        """`getattr(self, f"handle_{name}")`: the methods whose names begin and end so."""
        holder, wanted = node.args[:2]
        before, after = "", ""
        if isinstance(wanted, ast.Name) and not self.is_name(wanted):
            made = bound(wanted, self.scope)
            wanted = made[0][0] if len(made) == 1 else wanted
        if isinstance(wanted, ast.JoinedStr):
            parts = wanted.values
            holes = [each for each in parts if isinstance(each, ast.FormattedValue)]
            if len(holes) != 1 or not self.is_name(holes[0].value):
                return
            index = parts.index(holes[0])
            before, after = ("".join(str(getattr(each, "value", "")) for each in some) for some in (
                parts[:index], parts[index + 1 :]
            ))  # fmt: skip
        elif isinstance(wanted, ast.BinOp) and isinstance(wanted.left, ast.Constant) and self.is_name(wanted.right):
            before = str(wanted.left.value)
        else:
            return
        info = class_round(self.scope) if isinstance(holder, ast.Name) and holder.id == "self" else None
        if info is None or not (before or after):
            return
        seen: set[str] = set()
        for each in ancestry(info):
            for method, function in each.methods.items():
                middle = method[len(before) : len(method) - len(after)]
                if method.startswith(before) and method.endswith(after) and middle and method not in seen:
                    seen.add(method)
                    attribute = ast.copy_location(ast.Attribute(holder, method, ast.Load()), wanted)
                    yield Const(function, each.module, middle), (attribute, self.scope)

    def _in_loops(self, nodes: list[ast.AST]) -> Iterator[tuple[Value, Target, ast.Call]]:
        """`for tool in TOOLS: if tool.name == name: return await tool.run(arguments)`."""
        for loop in nodes:
            if not isinstance(loop, (ast.For, ast.AsyncFor)):
                continue
            tests = [side for each in loop.body for side in self._compared(each)]
            calls = [each for each in walk_shallow([*loop.body]) if isinstance(each, ast.Call)]
            if not tests:
                continue
            self.targets.steps = 0
            for item in self.targets.elements(loop.iter, self.scope):
                env: Env = {}
                bind(loop.target, item, env)
                seen = see(tests[0], self.scope, env)
                if seen[0] is not tests[0]:
                    yield from self._called_on(evaluate(*seen), env, calls)


def _first_of(node: ast.AST) -> tuple[ast.expr, ast.comprehension] | None:
    """What the first one of a comprehension with a condition is: `next((a for b in c if d), None)`, `[...][0]`."""
    inside: ast.expr | None = None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "next" and node.args:
        inside = node.args[0]
        if isinstance(inside, ast.Call) and isinstance(inside.func, ast.Name) and inside.func.id == "iter":
            inside = inside.args[0] if inside.args else None
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == 0:
        inside = node.value
    if not isinstance(inside, (ast.GeneratorExp, ast.ListComp)) or len(inside.generators) != 1:
        return None
    return (inside.elt, inside.generators[0]) if inside.generators[0].ifs else None


def _bears_name(target: Target, branch: Branch) -> bool:
    """Whether a function that is no method has the name of a tool that a branch is for."""
    if isinstance(target.node, ast.Lambda) or target.module.scope_of(target.node).owner is not None:
        return False
    return target.node.name in {(string(each) or "").replace("-", "_") for each in branch.names}


def _through_lambda(target: Target, targets: Targets) -> Target:
    """The function that a lambda hands everything to: `lambda args: search(**args)`."""
    node = target.node
    if not isinstance(node, ast.Lambda):
        return target
    body: ast.expr = node.body
    while isinstance(body, ast.Await):
        body = body.value
    if isinstance(body, ast.Call):
        targets.steps = 0
        inner = targets.behind(body.func, target.module.scope_of(node))
        if len(inner) == 1:
            return inner[0]
    return target


def _calls(body: list[ast.stmt]) -> list[ast.Call]:
    return [each for each in walk_shallow([*body]) if isinstance(each, ast.Call)]


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(each.value for each in call.keywords)]


def _returned(body: list[ast.stmt]) -> set[ast.AST]:
    """The calls whose results are returned as they are."""
    found: set[ast.AST] = set()
    for each in walk_shallow([*body]):
        if isinstance(each, ast.Return) and each.value is not None:
            stack: list[ast.expr] = [each.value]
            while stack:
                node = stack.pop()
                if isinstance(node, ast.Await):
                    stack.append(node.value)
                elif isinstance(node, ast.IfExp):
                    stack += [node.body, node.orelse]
                else:
                    found.add(node)
    return found


def _stored(target: ast.expr) -> set[str]:
    return {each.id for each in walk([target]) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _assignments(nodes: list[ast.AST]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is assigned to what."""
    for each in nodes:
        if isinstance(each, ast.Assign):
            for target in each.targets:
                yield target, each.value
        elif isinstance(each, (ast.AnnAssign, ast.NamedExpr)) and each.value is not None:
            yield each.target, each.value


__all__ = ["Dispatching", "Handed"]
