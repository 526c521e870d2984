"""The functions to which a low-level handler, which serves all tools, passes the call of each tool.

The tool's name is followed from the handler's parameter through local names and through the functions that get it as an
argument. Comparisons, `match` and tables of functions or of objects tell the tools apart.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from copy import copy
from typing import Final, NamedTuple

from mcpcore_lint.dataclasses import cached_method
from mcpcore_lint.engine.registrations.elements import is_private, starts_with_loop
from mcpcore_lint.engine.registrations.environment import Env, Frame, Placed, arguments_of, bind, substitute
from mcpcore_lint.engine.registrations.functions import Functions, Target
from mcpcore_lint.engine.semantics.branches import Branch, Branches
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.type_model import definition_of
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import FUNCTIONS, all_parameters, alternatives, own_nodes, walk, walk_shallow
from mcpcore_lint.model import Const, FunctionNode, Symbol, Text, Value, options, string

_ENTRY: Final = "<entry>"
"""The name of a table's entry in the expressions that take a part of it."""
DEEP: Final = 4
"""Through how many functions a name is followed."""
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


def dispatched(functions: Functions, node: FunctionNode, module: Module) -> list[Dispatched]:
    """The functions to which a registered handler passes each name, in source order, without repetition."""
    if isinstance(node, ast.Lambda):
        return []
    args = [parameter.arg for parameter in (*node.args.posonlyargs, *node.args.args)]
    if module.scope_of(node).owner is not None and args[:1] in (["self"], ["cls"]):
        args = args[1:]
    # A single parameter is the whole request, which has the name as an attribute.
    names = set(args[:1]) if len(args) > 1 else set()
    entries: dict[tuple[str | None, FunctionNode | None], Dispatched] = {}
    place = _Place(functions, node, module, names, set(args))
    for entry in place.dispatched((), 0):
        entries.setdefault((string(entry.name), entry.target.node if entry.target is not None else None), entry)
    if not entries and not functions.unseen:
        functions.unseen += [*place.unread()] or place.passed_on()[:1]
    return list(entries.values())


def named_around(functions: Functions, node: FunctionNode, module: Module) -> list[ast.expr]:
    """Where a registered function looks up another one by a name from around it, which tells several tools apart.

    `async def handler(**kwargs): return await backend.call_tool(name, kwargs)`
    """
    around = getattr(module.scope_of(node).parent, "node", None)
    if isinstance(node, ast.Lambda) or node.args.kwarg is None or not isinstance(around, FUNCTIONS):
        return []
    passed = {getattr(argument, "id", "") for call in _calls([*node.body]) for argument in _arguments(call)}
    names = {parameter.arg for parameter in all_parameters(around.args)} & passed
    functions.unseen.clear()
    entries = [*_Place(functions, node, module, names, {node.args.kwarg.arg}).dispatched((), 0)]
    return [*functions.unseen, *(entry.call.func for entry in entries if entry.call is not None)][:1]


class _Place:
    """A function that gets a tool's name as an argument."""

    def __init__(
        self,
        functions: Functions,
        node: FunctionNode,
        module: Module,
        names: set[str],
        parameters: set[str],
        depth: int = 0,
    ) -> None:
        self.functions = functions
        self.depth = depth
        self.node = node
        self.module = module
        self.scope = module.scope_of(node)
        self.names = names
        """Local names that hold the tool's name."""
        self.requests = parameters - names
        """Parameters that hold all arguments, and perhaps the name: `params.name`, `request.params.name`."""
        self.derived = set(self.requests)
        """Names for any value that comes from the arguments."""
        self.by_name: set[str] = set()
        """Local names for values that were looked up by the tool's name."""
        self.asked: set[str] = set()
        """Local names for what other calls return for the name."""
        # Twice, since a name may come from another one that gets its value further down.
        for _ in range(2):
            for target, value in _assignments(own_nodes(node)):
                names_in = (part for part in walk([target]) if isinstance(part, ast.Name))
                stored = {name.id for name in names_in if isinstance(name.ctx, ast.Store)}
                if self.is_name(value):
                    self.names |= stored
                elif self._table(value) is not None or self._asked(value):
                    self.by_name |= stored
                elif isinstance(call := getattr(value, "value", value), ast.Call) and any(
                    map(self.is_name, _arguments(call))
                ):
                    self.asked |= stored
                elif self.takes(value):
                    self.derived |= stored
                    self.requests |= stored if isinstance(value, ast.Dict) and self._tells_name(value) else set()
            for loop in (part for part in own_nodes(node) if isinstance(part, (ast.For, ast.AsyncFor))):
                # It may look for the key or the record of the name: `if key == name: found = TABLE[key]`
                items = {part.id for part in walk([loop.target]) if isinstance(part, ast.Name)}
                kept = {
                    target.id
                    for test in walk_shallow([*loop.body])
                    if isinstance(test, ast.If) and self._same(test.test) is not None
                    for target, value in _assignments(walk_shallow([*test.body]))
                    if isinstance(target, ast.Name) and getattr(getattr(value, "slice", value), "id", "") in items
                }
                self.names |= kept
                self.by_name |= kept

    def is_name(self, node: ast.AST) -> bool:
        """Whether an expression is the tool's name."""
        match node:
            case ast.NamedExpr(value=value) | ast.Call(func=ast.Name(id="str"), args=[value]):
                return self.is_name(value)
            case ast.Attribute(attr="name", value=value):
                return self._is_request(value)
        return getattr(node, "id", "") in self.names

    def takes(self, node: ast.AST) -> bool:
        """Whether an expression has something of the arguments in it."""
        return any(isinstance(part, ast.Name) and part.id in self.derived for part in walk([node]))

    def _tells_name(self, node: ast.expr) -> bool:
        """Whether an expression has the tool's name in it, or all that the client sent."""
        return getattr(node, "id", "") in self.requests or any(map(self.is_name, walk([node])))

    def _is_request(self, node: ast.AST) -> bool:
        while isinstance(node, ast.Attribute) and node.attr == "params":
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.requests

    # -- dispatching -------------------------------------------------------------------------------------------------

    def dispatched(self, way: Way, depth: int) -> Iterator[Dispatched]:
        """The functions to which this one passes each name, itself or through other functions."""
        branches = Branches(self.is_name, self.scope).of(self.node)
        work = self._work(branches)
        looked_up = list(self._looked_up())
        every = (*branches, *self._for_none({string(name) for name, _, _ in looked_up}))
        for branch in branches:
            names = {string(name) for name in branch.names}
            passed_on = False
            # A function whose result is dropped, such as one that logs the call, does not do the work.
            dropped = [part.value for part in walk_shallow([*branch.body]) if isinstance(part, ast.Expr)]
            for call in (call for call in _calls(branch.body) if call not in dropped):
                for dispatched in self._passed_to(call, way, depth):
                    if not names or string(dispatched.name) in names:
                        passed_on = True
                        yield dispatched
            for name in branch.names if not passed_on else ():
                for work_call, target in work[branch]:
                    yield Dispatched(name, self.node, self.module, target, work_call, way, every)
        for name, target, call in looked_up:
            yield Dispatched(name, self.node, self.module, target, call, way, every)

    def _for_none(self, names: set[str | None]) -> Iterator[Branch]:
        """The branches for a name that is in no table: `if handler is None`, `if name not in TABLE`."""
        known = frozenset(name for name in names if name is not None)
        for node in own_nodes(self.node) if known else ():
            match node:
                case ast.If(test=ast.Compare(left=value, ops=[ast.NotIn()])):
                    finds_none = self.is_name(value)
                case (
                    ast.If(test=ast.UnaryOp(op=ast.Not(), operand=ast.Name() | ast.NamedExpr() as value))
                    | ast.If(test=ast.Compare(left=value, ops=[ast.Is()], comparators=[ast.Constant(value=None)]))
                ):
                    finds_none = self._decides(value)
                case _:
                    continue
            if finds_none:
                yield Branch((), node.body, known)

    def _passed_to(self, call: ast.Call, way: Way, depth: int) -> Iterator[Dispatched]:
        """The results of a function that gets the name, or the whole request, as an argument."""
        if depth >= DEEP or not any(self.is_name(passed) or self._is_request(passed) for passed in _arguments(call)):
            return
        # Another function may run it: `run_in_executor(self._dispatch, name, arguments)`.
        passed = [
            (part, call.args[at:])
            for at, part in enumerate(call.args, 1)
            if isinstance(part, (ast.Name, ast.Attribute)) and any(map(self.is_name, call.args[at:]))
            if not self.is_name(part) and self.behind(part)
        ]
        call = ast.copy_location(ast.Call(*passed[0], []), call) if passed else call
        for target in self.behind(call.func):
            function = target.node
            if isinstance(function, ast.Lambda) or any(step[0] is function for step in (*way, (self.node,))):
                continue
            bound_first = target.module.scope_of(function).owner is not None
            arguments = arguments_of(function, call, bound_first=bound_first)
            names = {parameter for parameter, argument in arguments.items() if self.is_name(argument)}
            requests = {parameter for parameter, argument in arguments.items() if self.takes(argument)}
            inner = _Place(self.functions, function, target.module, names, names | requests)
            yield from inner.dispatched((*way, (self.node, self.module, call)), depth + 1)

    def unread(self) -> Iterator[ast.expr]:
        """What gets the name and the arguments without being read.

        That is a function in a variable, or a method whose name is that of functions of the project.
        """
        for call in self._returned([*getattr(self.node, "body", ())]):
            passed, func = _arguments(call), call.func
            if not any(map(self.takes, passed)) or self.behind(func):
                continue
            named = any(map(self.is_name, passed))
            if isinstance(func, ast.Name) and func.id in self.scope.bindings and named:
                yield func
            if not isinstance(func, ast.Attribute) or not (named or getattr(func.value, "id", "") in self.asked):
                continue
            project, word = self.module.project, f"def {func.attr}("
            if project.modules_with(self.module, lambda text, word=word: word in text):  # type: ignore[misc]
                yield func

    def passed_on(self) -> list[ast.expr]:
        """The functions of the project that get the name or all arguments, and do not tell the tools apart."""
        # A call whose result is dropped, such as one that logs the name, does not do the work.
        values = (part.value for part in own_nodes(self.node) if isinstance(part, ast.Expr))
        dropped = {getattr(value, "value", value) for value in values}
        work = (call for call in _calls([*getattr(self.node, "body", ())]) if call not in dropped)
        calls = [(call, _arguments(call)) for call in work]
        passed = [call for call, parts in calls if any(map(self.takes, parts)) and any(map(self._tells_name, parts))]
        # Another function may run it: `to_thread(REGISTRY.call, name, arguments)`.
        return [part for call in passed for part in (call.func, *call.args) if self.behind(part)]

    @cached_method
    def behind(self, node: ast.expr) -> list[Target]:
        """The functions of the project behind an expression; none if the tool's name decides which."""
        decides = any(map(self._decides, walk([node])))
        self.functions.steps = 0
        targets: dict[FunctionNode, Target] = {}
        rounds = self.functions.elements.rounds
        frames = rounds(node, self.scope) if starts_with_loop(node, self.scope) else [self.scope]
        for frame in frames if not decides else ():
            targets |= {target.node: target for target in self.functions.behind(node, frame)}
        return [*targets.values()]

    def _decides(self, node: ast.AST) -> bool:
        """Whether an expression is the name, or was looked up by it."""
        node = node.target if isinstance(node, ast.NamedExpr) else node
        return self.is_name(node) or (isinstance(node, ast.Name) and node.id in self.by_name)

    # -- branches ----------------------------------------------------------------------------------------------------

    def _work(self, branches: list[Branch]) -> dict[Branch, list[tuple[ast.Call | None, Target | None]]]:
        """The function that does the work of each branch, with its call; None if the branch itself does it."""
        named = [branch for branch in branches if branch.names]
        calls = {branch: [call for call in _calls(branch.body) if self._does_work(call)] for branch in named}
        users = Counter(
            function for inside in calls.values() for function in {self.behind(call.func)[0].node for call in inside}
        )
        shared = [statement for branch in branches if not branch.names for statement in branch.body]
        work: dict[Branch, list[tuple[ast.Call | None, Target | None]]] = {}
        for branch, inside in calls.items():
            # A function that several branches call is a helper, unless each of them calls nothing else.
            own = [call for call in inside if users[self.behind(call.func)[0].node] == 1] or inside
            body = [*branch.body, *shared]
            fitting = [call for call in self._returned(body) if call in own]
            fitting += [call for call in own if self._bears_name(call, branch) and call not in fitting]
            awaited = {part.value for part in walk_shallow([*body]) if isinstance(part, ast.Await)}
            fitting = [call for call in fitting if call in awaited] or fitting
            work[branch] = [(call, made) for call in fitting[:1] for made in self.behind(call.func)] or [(None, None)]
        return work

    def _bears_name(self, call: ast.Call, branch: Branch) -> bool:
        """Whether a call is one of a function that has the name of the branch's tool."""
        return getattr(call.func, "id", None) in {(string(name) or "").replace("-", "_") for name in branch.names}

    def _does_work(self, call: ast.Call) -> bool:
        arguments = _arguments(call)
        if not self.behind(call.func) or (arguments and not any(self.takes(argument) for argument in arguments)):
            return False
        func = call.func
        if not isinstance(func, ast.Attribute) or (isinstance(func.value, ast.Name) and func.value.id == "self"):
            return True
        # A method of another object that gets only some of the arguments is a service.
        is_module = isinstance(evaluate(func.value, self.scope), Symbol)
        return is_module or any(self._is_request(argument) for argument in arguments)

    @staticmethod
    def _returned(body: list[ast.stmt]) -> Iterator[ast.Call]:
        """The calls whose results are returned, the outermost first: by a name, in a list, by another call."""
        nodes = walk_shallow([*body])
        assigned: dict[str, list[ast.expr]] = {}
        for target, value in _assignments(nodes):
            assigned.setdefault(getattr(target, "id", ""), []).append(value)
        queue = [part.value for part in nodes if isinstance(part, ast.Return) and part.value is not None]
        for node in queue:
            match node:
                case ast.Call(func=ast.Attribute(value=value), args=[], keywords=[]):
                    yield node
                    queue.append(value)
                case ast.Call():
                    yield node
                    queue += _arguments(node)
                case ast.Name(id=name):
                    queue += assigned.pop(name, ())
                case ast.Await(value=value) | ast.NamedExpr(value=value) | ast.Starred(value=value):
                    queue.append(value)
                case ast.IfExp() | ast.BoolOp():
                    queue += alternatives(node)
                case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Dict(values=items):
                    queue += items

    # -- tables ------------------------------------------------------------------------------------------------------

    def _looked_up(self) -> Iterator[tuple[Value, Target, ast.Call]]:
        """The functions in the table in which the name is looked up."""
        nodes, body = own_nodes(self.node), [*getattr(self.node, "body", ())]
        # A function nested in this one may call the entry: `await run(lambda: entry(arguments))`.
        calls = [node for node in walk([*body]) if isinstance(node, ast.Call)]
        answers = [*self._returned(body)]
        entries = [(name, item, call) for call in calls for name, item in self.entries(call.func)]
        run = {call for _, _, call in entries}
        for target, value in _assignments(nodes):
            for name, item in self.entries(value):
                env: Env = {}
                bind(target, item, env)
                for part, source in _assignments(nodes):
                    match source:
                        # `holder, method = entry`
                        case ast.Name(id=made) if made in env:
                            bind(part, env[made], env)
                        # `run = getattr(holder, method)`
                        case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id=made), *_]) if made in env:
                            bind(part, (source, Frame(self.scope, env)), env)
                for call in calls:
                    # A function whose result is returned may run the entry: `return await run(entry, arguments)`.
                    for part in (call.func, *(call.args if call in answers else ())):
                        seen = substitute(part, self.scope, env)
                        if seen[0] is not part and any(self.takes(argument) for argument in _arguments(call)):
                            entries.append((name, seen, call))
                            run |= {call} if part is call.func else set()
        entries += self._compared(nodes)
        for call in calls if not entries else ():
            self.functions.unseen += [call.func] if self._calls_entry(call) else []
        served: set[str | None] = set()
        without: list[tuple[str | None, ast.expr]] = []
        for name, item, call in entries:
            self.functions.steps = 0
            targets = self.functions.behind(*item)
            served |= {string(name)} if targets else set()
            is_class = isinstance(definition_of(*item), ast.ClassDef)
            # If the dispatcher runs a part of the entry itself, another part that it passes on is no function.
            without += [] if targets or is_class or (run and call not in run) else [(string(name), call.func)]
            yield from ((name, target, call) for target in targets)
        # Besides its function, a name may have a model of its arguments.
        self.functions.unseen += [func for text, func in without if text is None or text not in served]
        self.functions.unseen += [entries[0][2].func] if entries and not served and not without else []

    def _calls_entry(self, call: ast.Call) -> bool:
        """Whether a call hands the arguments to something that was looked up by the name."""
        parts = [part for part in walk([call.func]) if isinstance(part, ast.expr)]
        looked_up = any(
            self._table(part) is not None or self._asked(part) or getattr(part, "id", "") in self.by_name
            for part in parts
        )
        return looked_up and any(self.takes(argument) for argument in _arguments(call))

    def _compared(self, nodes: list[ast.AST]) -> Iterator[tuple[Value, Placed, ast.Call]]:
        """The calls in a loop that compares the name with that of each record: `if record.name == name`."""
        for node in nodes:
            key = self._same(node.test) if isinstance(node, ast.If) else None
            for call in _calls(node.body) if isinstance(node, ast.If) and key is not None else ():
                for frame in self.functions.elements.rounds(call.func, self.scope):
                    seen = substitute(call.func, frame)
                    names = options(evaluate(*substitute(key, frame))) if seen[0] is not call.func and key else ()
                    yield from ((name, seen, call) for name in names)

    def _same(self, test: ast.expr) -> ast.expr | None:
        """What a test compares with the name; a constant is the name of one tool."""
        sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) and type(test.ops[0]) is ast.Eq else []
        keys = [side for side in sides if not self.is_name(side) and not isinstance(side, ast.Constant)]
        return keys[0] if len(keys) == 1 and any(map(self.is_name, sides)) else None

    def _asked(self, node: ast.expr) -> list[tuple["_Place", ast.expr]]:
        """The look-ups that a function of the project makes of the name: `find(name)`, which returns `TABLE[name]`."""
        if isinstance(node, (ast.Await, ast.NamedExpr)):
            return self._asked(node.value)
        if not isinstance(node, ast.Call) or not any(map(self.is_name, _arguments(node))) or self.depth >= DEEP:
            return []
        key = "looked up", node
        if key not in self.module.memo:
            self.module.memo[key] = looked_up = []
            self.functions.steps = 0
            for target in self.functions.behind(node.func, self.scope):
                if isinstance(target.node, ast.Lambda):
                    continue
                bound_first = target.module.scope_of(target.node).owner is not None
                passed = arguments_of(target.node, node, bound_first=bound_first).items()
                names = {parameter for parameter, argument in passed if self.is_name(argument)}
                inner = _Place(self.functions, target.node, target.module, names, names, self.depth + 1)
                looked_up += [(inner, value) for value in inner.looked_up()]
        asked: list[tuple[_Place, ast.expr]] = self.module.memo[key]
        return asked

    def looked_up(self) -> Iterator[ast.expr]:
        """What the function returns of the entries that it looks up by the name."""
        nodes = own_nodes(self.node)
        values = [node.value for node in nodes if isinstance(node, ast.Return) and node.value is not None]
        names = {value.id for value in values if isinstance(value, ast.Name)} & self.by_name
        values += [value for target, value in _assignments(nodes) if getattr(target, "id", "") in names]
        return (value for value in values if self._table(value) is not None or self._asked(value))

    def _table(self, node: ast.expr) -> ast.expr | None:
        """The table in `TABLE[name]` or `TABLE.get(name)`, the records to search, `getattr(x, f"on_{name}")`."""
        match node:
            case ast.NamedExpr(value=value) | ast.Await(value=value):
                return self._table(value)
            case ast.Subscript(value=table, slice=key) if self.is_name(key):
                return table
            case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[key, *_]) if self.is_name(key):
                return table
            case ast.Call(func=ast.Name(id="next"), args=[ast.GeneratorExp() as items, *_]) if self._key(items):
                return items
            case ast.Call(func=ast.Name(id="getattr"), args=[_, text, *_]) if any(
                isinstance(part, ast.expr) and self.is_name(part) for part in walk([text])
            ):
                return node
        return None

    def _key(self, items: ast.GeneratorExp) -> ast.expr | None:
        """The name of each record in `(record.run for record in RECORDS if record.name == name)`."""
        return next(filter(None, map(self._same, items.generators[-1].ifs)), None)

    def entries(self, node: ast.expr) -> Iterator[tuple[Value, Placed]]:
        """The entries, by name, of the table in an expression."""
        asked = self._asked(node)
        table, elements = self._table(node) if not asked else None, self.functions.elements
        for place, value in asked:
            yield from place.entries(value)
        if table is None and isinstance(node, (ast.Attribute, ast.Subscript)):
            # `TABLE[name].run`, `TABLE[name]["run"]`
            for name, entry in self.entries(node.value):
                part = copy(node)
                part.value = ast.copy_location(ast.Name(_ENTRY, ast.Load()), node)
                yield name, substitute(part, self.scope, {_ENTRY: entry})
        elif isinstance(table, ast.GeneratorExp):
            for frame in elements.rounds(table.elt, self.scope):
                key = substitute(self._key(table) or table.elt, frame)
                yield from ((name, substitute(table.elt, frame)) for name in options(evaluate(*key)))
        elif isinstance(table, ast.Call) and table is node:
            start = evaluate(table.args[1], self.scope)
            before = start.parts[0] or "" if isinstance(start, Text) else ""
            members = elements.members.named_members(table.args[0], table.args[1], self.scope)
            if self.is_name(table.args[1]) and elements.members.module(table.args[0], self.scope) is not None:
                # A client may call every public function of the module.
                public = (
                    member for member in elements.members.of(table.args[0], self.scope) if not is_private(member[1])
                )
                members = [(value, where) for _, value, where in public if self.functions.behind(value, where)]
            for member, where in members:
                word = getattr(member, "attr", getattr(member, "id", ""))
                yield Const(member, where.module, word.removeprefix(before)), (member, where)
        elif table is not None:
            for word, value, where in elements.pairs(table, self.scope):
                yield from ((name, substitute(value, where)) for name in options(evaluate(word, where)))


def _calls(body: list[ast.stmt]) -> list[ast.Call]:
    """The calls of some statements, with those of a lambda that another function gets: `submit(lambda: run(name))`."""
    calls = [part for part in walk_shallow([*body]) if isinstance(part, ast.Call)]
    lambdas = [part.body for call in calls for part in _arguments(call) if isinstance(part, ast.Lambda)]
    return [*calls, *(part for part in walk([*lambdas]) if isinstance(part, ast.Call))]


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _assignments(nodes: list[ast.AST]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of assignments, each with its value; `a, b = x, y` counts as two."""
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                yield from zip(targets, values, strict=False)
            case ast.Assign(targets=targets, value=value):
                yield from ((target, value) for target in targets)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                yield target, value
