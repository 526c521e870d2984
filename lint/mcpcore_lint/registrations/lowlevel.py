"""The functions to which a low-level handler, which serves all tools, passes the call of each tool.

The tool's name is followed from the handler's parameter through local names and through the functions that get it as an
argument. Comparisons, `match` and tables of functions or of objects tell the tools apart.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple

from mcpcore_lint.model import FunctionNode, Symbol, Value, options, string
from mcpcore_lint.registrations.callers import arguments_of
from mcpcore_lint.registrations.environment import Frame, bind, see
from mcpcore_lint.semantics.branches import Branch, Branches
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.syntax.parse import alternatives, own_nodes, walk, walk_shallow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpcore_lint.registrations.environment import Env, Placed
    from mcpcore_lint.registrations.functions import Functions, Target
    from mcpcore_lint.syntax.module import Module

DEEP: Final = 4
"""Through how many functions a name is followed."""
_GETS: Final = frozenset({"get", "pop", "__getitem__", "setdefault"})
_SAME: Final = frozenset({f"builtins.{each}" for each in ("str", "list", "tuple", "dict", "repr")})
"""Builtins that keep all of their argument."""
Way = tuple[tuple[FunctionNode, "Module", ast.Call], ...]


class Dispatched(NamedTuple):
    """The function to which one tool's name leads."""

    name: Value
    function: FunctionNode
    """The function that tells this name from others."""
    module: Module
    target: Target | None
    """The function that does the tool's work; None if the branch itself does it."""
    call: ast.Call | None
    """Where that function is called."""
    way: Way
    """The functions that lead there, the registered one first, each with the call that passes the name on."""
    branches: tuple[Branch, ...]
    """All branches of the function that tells the names apart."""


class Dispatching:
    """Answers for one file's low-level handlers."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions

    def dispatched(self, node: FunctionNode, module: Module) -> list[Dispatched]:
        """The functions to which a registered handler passes each name, in source order, without repetition."""
        if isinstance(node, ast.Lambda):
            return []
        args = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
        if module.scope_of(node).owner is not None and args[:1] in (["self"], ["cls"]):
            args = args[1:]
        place = _Place(self, node, module, set(args[:1]) if len(args) > 1 else set(), set(args))
        found: dict[tuple[str | None, FunctionNode | None], Dispatched] = {}
        for each in place.dispatched((), 0):
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
    """A function that gets a tool's name as an argument."""

    def __init__(
        self, dispatching: Dispatching, node: FunctionNode, module: Module, names: set[str], parameters: set[str]
    ) -> None:
        self.dispatching = dispatching
        self.functions = dispatching.functions
        self.node = node
        self.module = module
        self.scope = module.scope_of(node)
        self.names = names
        """Local names that hold the tool's name."""
        self.requests = parameters - names
        """Parameters that may hold it: `params.name`, `request.params.name`."""
        self.wholes = set(self.requests)
        """Names for all arguments of the call, or for a value made of all of them."""
        self.derived = set(self.requests)
        """Names for any value that comes from the arguments."""
        self._behind: dict[ast.expr, list[Target]] = {}
        self._follow_names()
        self._by_name = {
            each
            for target, value in _assignments(own_nodes(node))
            if not self.is_name(value) and self._looks_up(value)
            for each in _stored(target)
        }
        """Local names for values that were looked up by the tool's name."""

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

    # -- dispatching -------------------------------------------------------------------------------------------------

    def dispatched(self, way: Way, depth: int) -> Iterator[Dispatched]:
        """The functions to which this one passes each name, itself or through other functions."""
        branches = Branches(self.is_name, self.scope).of(self.node)
        calls = [_calls(each.body) for each in branches]
        chosen = self._chosen(branches, calls)
        looked_up = list(self._looked_up())
        every = (*branches, *self._for_none({string(name) for name, _, _ in looked_up}))
        passed: set[ast.Call] = set()
        for branch, inside in zip(branches, calls, strict=True):
            for call in inside:
                for dispatched in self._passed_to(call, way, depth):
                    if not branch.names or string(dispatched.name) in {string(name) for name in branch.names}:
                        passed.add(call)
                        yield dispatched
        for branch in branches:
            mine = [each for each in chosen.get(branch, ()) if each[0] not in passed]
            on = any(inside in passed for inside in calls[branches.index(branch)])
            for name in branch.names:
                for call, target in mine:
                    yield Dispatched(name, self.node, self.module, target, call, way, every)
                if not mine and not on:
                    yield Dispatched(name, self.node, self.module, None, None, way, every)
        for name, target, call in looked_up:
            yield Dispatched(name, self.node, self.module, target, call, way, every)

    def _for_none(self, names: set[str | None]) -> Iterator[Branch]:
        """The branches for a name that is in no table: `if handler is None`, `if name not in TABLE`."""
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
        """Whether an expression was looked up by the name."""
        if isinstance(node, ast.NamedExpr):
            node = node.target
        return isinstance(node, ast.Name) and node.id in self._by_name

    def _passed_to(self, call: ast.Call, way: Way, depth: int) -> Iterator[Dispatched]:
        """The results of a function that gets the name, or the whole request, as an argument."""
        if depth >= DEEP or not any(self.is_name(each) or self._is_request(each) for each in _arguments(call)):
            return
        for target in self.behind(call.func):
            function = target.node
            if isinstance(function, ast.Lambda) or any(step[0] is function for step in (*way, (self.node,))):
                continue
            bound_first = target.module.scope_of(function).owner is not None
            arguments = arguments_of(function, call, bound_first=bound_first)
            names = {parameter for parameter, argument in arguments.items() if self.is_name(argument)}
            requests = {parameter for parameter, argument in arguments.items() if self.takes(argument)}
            if names or any(self._is_request(argument) for argument in arguments.values()):
                inner = _Place(self.dispatching, function, target.module, names, names | requests)
                yield from inner.dispatched((*way, (self.node, self.module, call)), depth + 1)

    def _is_request(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute) and node.attr == "params":
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.requests

    def behind(self, node: ast.expr) -> list[Target]:
        """The functions of the project behind an expression; none if the tool's name decides which."""
        found = self._behind.get(node)
        if found is None:
            found = []
            if not any(isinstance(each, ast.expr) and self._decides(each) for each in walk([node])):
                self.functions.steps = 0
                found = self.functions.behind(node, self.scope)
            self._behind[node] = found
        return found

    def picks(self, node: ast.expr) -> bool:
        """Whether the name decides which function is called."""
        looked_up = isinstance(node, ast.Subscript) and self.is_name(node.slice)
        return looked_up or (isinstance(node, ast.Name) and node.id in self._by_name)

    def _decides(self, node: ast.expr) -> bool:
        """Whether an expression is the name, or was looked up by it."""
        return self.is_name(node) or (isinstance(node, ast.Name) and node.id in self._by_name)

    # -- branches ----------------------------------------------------------------------------------------------------

    def _chosen(
        self, branches: list[Branch], calls: list[list[ast.Call]]
    ) -> dict[Branch, list[tuple[ast.Call, Target]]]:
        """For each branch that names tools, the functions that do their work; none if that is not clear."""
        fitting: dict[Branch, list[tuple[ast.Call, Target]]] = {}
        users: dict[FunctionNode, set[int]] = {}
        for index, (branch, inside) in enumerate(zip(branches, calls, strict=True)):
            if not branch.names:
                continue
            found: list[tuple[ast.Call, Target]] = []
            for call in inside:
                arguments = _arguments(call)
                if arguments and not any(self.takes(argument) for argument in arguments):
                    continue
                for target in self.behind(call.func):
                    found.append((call, target))
                    users.setdefault(target.node, set()).add(index)
            fitting[branch] = found
        # A function that several branches call is a helper, unless each of them calls nothing else.
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
            found = [each for each in found if any(self._is_whole(one) for one in _arguments(each[0]))]
        return found if len({id(call) for call, _ in found}) == 1 else []

    def _passed_on(self, body: list[ast.stmt], calls: set[ast.Call]) -> set[ast.AST]:
        """The calls whose results are returned unchanged: by a name, in a list, as a text, in an object.

        A branch that formats, counts or tests a result builds another answer.
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
        """The values that a call converts: `TextContent(text=result)`, `json.dumps(result)`, `result.to_json()`."""
        func = evaluate(call.func, self.scope)
        if isinstance(func, Symbol) and func.name.startswith("builtins.") and func.name not in _SAME:
            return []
        arguments = _arguments(call)
        return [call.func.value] if not arguments and isinstance(call.func, ast.Attribute) else arguments

    def _is_service(self, call: ast.Call) -> bool:
        """Whether a call passes only some of the arguments to a method of another object."""
        func = call.func
        if not isinstance(func, ast.Attribute):
            return False
        if isinstance(func.value, ast.Name) and func.value.id in {"self", "cls"}:
            return False
        if isinstance(evaluate(func.value, self.scope), Symbol):
            return False
        return not any(self._is_whole(each) for each in _arguments(call))

    # -- tables ------------------------------------------------------------------------------------------------------

    def _looked_up(self) -> Iterator[tuple[Value, Target, ast.Call]]:
        """The functions in the table in which the name is looked up."""
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

    def _called_on(self, name: Value, env: Env, calls: Iterable[ast.Call]) -> Iterator[tuple[Value, Target, ast.Call]]:
        for call in calls:
            root = call.func
            while isinstance(root, (ast.Attribute, ast.Subscript)):
                root = root.value
            if isinstance(root, ast.Name) and root.id in env and any(self.takes(each) for each in _arguments(call)):
                seen = see(call.func, self.scope, env)
                if seen[0] is not call.func:
                    yield from self._found(name, seen, call)

    def _found(self, name: Value, item: Placed, call: ast.Call) -> Iterator[tuple[Value, Target, ast.Call]]:
        self.functions.steps = 0
        for target in self.functions.behind(*item):
            yield name, _through_lambda(target, self.functions), call

    def _entries(self, node: ast.expr) -> Iterator[tuple[Value, Placed]]:
        """The entries, by name, of the table in an expression: `TABLE[name]`, `TABLE.get(name)`."""
        while isinstance(node, (ast.Await, ast.NamedExpr)):
            node = node.value
        table: ast.expr | None = None
        if isinstance(node, ast.BoolOp):
            for value in node.values:
                yield from self._entries(value)
        elif isinstance(node, ast.Subscript) and self.is_name(node.slice):
            table = node.value
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _GETS
            and self.is_name(next(iter(node.args), node))
        ):
            table = node.func.value
        for key, value, where in self.functions.elements.pairs(table, self.scope) if table is not None else ():
            for name in options(evaluate(key, where)):
                yield name, see(value, where, where.filled if isinstance(where, Frame) else {})

    def _looks_up(self, node: ast.expr) -> bool:
        """Whether the name is looked up in an expression."""
        return any(
            (isinstance(each, ast.Subscript) and self.is_name(each.slice))
            or (isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _GETS)
            for each in walk([node])
        ) and any(isinstance(each, ast.expr) and self.is_name(each) for each in walk([node]))


def _bears_name(target: Target, branch: Branch) -> bool:
    """Whether a function that is no method has the name of a tool that a branch is for."""
    if isinstance(target.node, ast.Lambda) or target.module.scope_of(target.node).owner is not None:
        return False
    return target.node.name in {(string(each) or "").replace("-", "_") for each in branch.names}


def _through_lambda(target: Target, functions: Functions) -> Target:
    """The function to which a lambda passes its arguments: `lambda args: search(**args)`."""
    node = target.node
    if not isinstance(node, ast.Lambda):
        return target
    body: ast.expr = node.body
    while isinstance(body, ast.Await):
        body = body.value
    if isinstance(body, ast.Call):
        functions.steps = 0
        inner = functions.behind(body.func, target.module.scope_of(node))
        if len(inner) == 1:
            return inner[0]
    return target


def _calls(body: list[ast.stmt]) -> list[ast.Call]:
    return [each for each in walk_shallow([*body]) if isinstance(each, ast.Call)]


def _arguments(call: ast.Call) -> list[ast.expr]:
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
    """The targets of assignments, each with its value."""
    for each in nodes:
        if isinstance(each, ast.Assign):
            for target in each.targets:
                yield target, each.value
        elif isinstance(each, (ast.AnnAssign, ast.NamedExpr)) and each.value is not None:
            yield each.target, each.value


__all__ = ["Dispatched", "Dispatching"]
