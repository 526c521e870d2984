"""Finds the guards around a node: `except` clauses, context managers, task groups, and the decorators of a function."""

import ast
from typing import Final, NamedTuple

from mcpcore_lint.dataclasses import cached_method
from mcpcore_lint.engine.flow.bodies.raises import SUPPRESS, types_of
from mcpcore_lint.engine.flow.effects import (
    NOTHING,
    Blind,
    Clause,
    Event,
    Guard,
    Key,
    Parameter,
    Program,
    key_of,
    parameter_of,
)
from mcpcore_lint.engine.flow.facts.callees import Callees, arguments_for
from mcpcore_lint.engine.flow.facts.converting import guard_of_context, guards_made, unread_guard
from mcpcore_lint.engine.flow.facts.spelling import spelled
from mcpcore_lint.engine.flow.facts.stdout import REDIRECTS, replaces_stdout
from mcpcore_lint.engine.semantics.branches import ends
from mcpcore_lint.engine.semantics.evaluate import Resolver, evaluate
from mcpcore_lint.engine.semantics.type_model import Instance, Outside, method_of, name_of
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import (
    SCOPES,
    Function,
    all_parameters,
    own_nodes,
    own_statements,
    returned,
    walk,
    walk_shallow,
)
from mcpcore_lint.engine.syntax.scopes import Scope
from mcpcore_lint.model import CallValue, FunctionNode, Symbol, Value, options

_TASK_GROUPS: Final = frozenset(
    {"asyncio.TaskGroup", "anyio.create_task_group", "trio.open_nursery", "anyio.abc.TaskGroup"}
)
_DOUBT: Final = Guard(doubt=True)


class Guards:
    """Finds the guards around the nodes of one function."""

    def __init__(self, callees: Callees) -> None:
        self.callees = callees
        self.program = callees.program
        self.builder = callees.builder
        self.module = callees.module
        self.scope = callees.scope
        self.parents = callees.builder.body.parents
        self.enclosing = callees.builder.body.enclosing

    def of(self, node: ast.AST) -> tuple[Guard, ...]:
        """Return the guards around a node in its function, innermost first."""
        statement = node
        while not isinstance(statement, (ast.stmt, ast.ExceptHandler)) and statement in self.parents:
            statement = self.parents[statement]
        # All nodes of a statement share its guards.
        return self._around(statement)

    @cached_method
    def _around(self, statement: ast.AST, stop: ast.AST | None = None) -> tuple[Guard, ...]:
        guards: list[Guard] = []
        for block, inner in self.enclosing.of(statement):
            if block is stop or isinstance(block, SCOPES):
                break
            if isinstance(block, (ast.Try, ast.TryStar)):
                if inner in block.body and block.handlers:
                    guards.append(self._try(block))
                if inner not in block.finalbody and _swallows(block.finalbody):
                    guards.append(NOTHING)
            elif isinstance(block, (ast.With, ast.AsyncWith)) and inner in block.body:
                managers = (self._of_context_manager(item.context_expr, block) for item in reversed(block.items))
                guards.extend(guard for those in managers for guard in those)
        return tuple(guards)

    # -- clauses -------------------------------------------------------------------------------------------------

    @cached_method
    def _try(self, node: ast.Try | ast.TryStar) -> Guard:
        clauses = [self._clause(handler, star=isinstance(node, ast.TryStar)) for handler in node.handlers]
        return Guard(tuple(clauses))

    def _clause(self, handler: ast.ExceptHandler, *, star: bool) -> Clause:
        types: tuple[str | None, ...] = ("builtins.BaseException",)
        if handler.type is not None:
            types = types_of(handler.type, self.scope)
        passes: list[tuple[Guard, ...]] = []
        kept: set[str] = set()
        for node in walk_shallow([*handler.body]):
            if isinstance(node, ast.Raise):
                inside = self._around(node, stop=handler)
                if self._raises_caught(node, handler):
                    passes.append((*self._doubts(node, handler), *inside))
            elif isinstance(node, ast.Assign) and handler.name and getattr(node.value, "id", "") == handler.name:
                kept.update(target.id for target in node.targets if isinstance(target, ast.Name))
        # `last = error` in a loop of attempts, and `raise last` behind it.
        late = (node for node in self.builder.body.raises if kept and getattr(node.exc, "id", "") in kept)
        passes += (self._around(node, stop=handler) for node in late)
        return Clause(types, tuple(passes), star)

    def _doubts(self, node: ast.Raise, handler: ast.ExceptHandler) -> tuple[Guard, ...]:
        """Return a doubt if a condition on the error decides whether it is raised again."""
        if handler.name is None or (len(handler.body) == 1 and handler.body[0] is node):
            return ()
        tests: list[ast.AST] = []
        for part in walk_shallow([*handler.body]):
            inside = node in walk([part]) if isinstance(part, (ast.If, ast.Match)) else False
            if isinstance(part, ast.If) and (inside or ends(part.body) or ends(part.orelse)):
                tests.append(part.test)
            elif isinstance(part, ast.Match):
                tests.append(part.subject)
        names = {handler.name}
        for name in {part.id for part in walk(tests) if isinstance(part, ast.Name)}:
            match = self.scope.lookup(name)
            for binding in match[1] if match is not None and match[0] is self.scope else ():
                if binding.value is not None and handler.name in _names_in(binding.value):
                    names.add(name)
        return (_DOUBT,) if any(not names.isdisjoint(_names_in(test)) for test in tests) else ()

    def _raises_caught(self, node: ast.Raise, handler: ast.ExceptHandler) -> bool:
        """Whether a `raise` in a clause raises what this clause caught."""
        if node.exc is None:
            clause = self.builder.raises.catch_of(node)
            return clause is not None and clause.node is handler
        name = node.exc
        while isinstance(name, ast.Call) and spelled(name.func).endswith(".with_traceback"):
            name = name.func.value  # type: ignore[attr-defined]
        return isinstance(name, ast.Name) and handler.name is not None and name.id == handler.name

    # -- context managers ----------------------------------------------------------------------------------------

    def _of_context_manager(self, node: ast.expr, statement: ast.With | ast.AsyncWith) -> list[Guard]:
        if converting := self.converting(node):
            return converting
        match = self.scope.lookup(node.id) if isinstance(node, ast.Name) else None
        if match is not None and len(match[1]) == 1 and isinstance(match[1][0].value, ast.Call):
            node = match[1][0].value
        kinds = self.callees.inference.of(node, self.scope)
        if not isinstance(node, ast.Call):
            groups = [kind for kind in kinds if isinstance(kind, Outside) and kind.name in _TASK_GROUPS]
            return [Guard(group=True)] if groups else []
        guards: list[Guard] = []
        for value in options(evaluate(node.func, self.scope)):
            name = value.name if isinstance(value, Symbol) else ""
            if name in SUPPRESS:
                types = tuple(name for arg in node.args for name in types_of(arg, self.scope))
                guards.append(Guard((Clause(types, (), star=True),)))
            elif name in _TASK_GROUPS:
                guards.append(Guard(group=True))
            elif name in REDIRECTS:
                guards.append(Guard(redirects=True))
        if guards:
            return guards
        for key in self.callees.callable(node.func)[0]:
            located = self.program.find(key)
            # A context manager that enters itself would be read for ever.
            if located is not None and located[0] is not self.callees.node:
                guards.extend(yield_guards(self.program, *located))
        instances = [kind for kind in kinds if isinstance(kind, Instance)] if not guards else []
        return [*guards, *(guard for kind in instances for guard in self._of_exit(kind, statement))]

    def converting(self, node: ast.expr) -> list[Guard]:
        """Return the mcpcore guards that an expression may be."""
        if isinstance(node, ast.Call) and self._guards_by_context(node):
            return [guard_of_context(node, self.scope)]
        if isinstance(node, ast.Name) and (match := self.scope.lookup(node.id)) is not None and len(match[1]) == 1:
            call = match[1][0].value
            if isinstance(call, ast.Call) and self._guards_by_context(call):
                return [guard_of_context(call, self.scope, node)]
        guards = guards_made(node, self.scope)
        holder = node.func if isinstance(node, ast.Call) else node
        if not guards and isinstance(holder, (ast.Name, ast.Attribute)) and self.module.source.has("guard"):
            # The guard comes from an attribute or a function result; its arguments are not followed.
            kinds = self.callees.inference.of(node, self.scope)
            if any(isinstance(kind, Outside) and kind.name == "mcpcore.guard" for kind in kinds):
                return [unread_guard(node, self.scope)]
        return guards

    def _guards_by_context(self, call: ast.Call) -> bool:
        """Whether a call is `ctx.guard`, on an annotated parameter or on a context that was passed on."""
        if self.builder.contexts.is_context_call(call, "guard"):
            return True
        return self.module.source.has("guard") and "mcpcore.Context.guard" in self.callees.targets(call)[1]

    def _of_exit(self, kind: Instance, statement: ast.With | ast.AsyncWith) -> list[Guard]:
        """Return the guards that `__enter__` and `__exit__` of a project's class add."""
        prefix = "__a" if isinstance(statement, ast.AsyncWith) else "__"
        guards: list[Guard] = []
        if (method := method_of(kind.info, f"{prefix}exit__")) is not None:
            returned = [node.value for node in own_nodes(method[0]) if isinstance(node, ast.Return)]
            raises = any(isinstance(node, ast.Raise) for node in own_nodes(method[0]))
            may_swallow = [value for value in returned if not isinstance(value, ast.Constant | None) or _truth(value)]
            if returned and all(map(_truth, returned)) and ends(method[0].body):
                guards.append(NOTHING)
            elif may_swallow or raises:
                guards.append(_DOUBT)
        if (method := method_of(kind.info, f"{prefix}enter__")) is not None:
            owner = method[1].module
            if owner.source.has("sys.stdout"):
                owner.complete(method[0])
                if replaces_stdout(own_nodes(method[0])):
                    guards.append(Guard(redirects=True))
        return guards

    def gathered(self, node: ast.AST, targets: tuple[Key, ...]) -> tuple[Guard, ...]:
        """Return the guard of `gather(..., return_exceptions=True)` around the call of a coroutine."""
        if not targets or not self.module.source.has("return_exceptions"):
            return ()
        current = node
        while (parent := self.parents.get(current)) is not None and not isinstance(current, ast.stmt):
            if (
                isinstance(parent, ast.Call)
                and current is not parent.func
                and any(
                    keyword.arg == "return_exceptions"
                    and isinstance(keyword.value, ast.Constant)
                    and keyword.value.value is True
                    for keyword in parent.keywords
                )
            ):
                return (Guard((Clause(("builtins.Exception",), (), star=True),)),)
            current = parent
        return ()

    def awaited_by(self, node: ast.AST, targets: tuple[Key, ...]) -> tuple[Guard, ...]:
        """Return the guards around the `await` of a parameter, for the call of a coroutine that is passed as it."""
        parent = self.parents.get(node)
        call = self.parents.get(parent) if isinstance(parent, ast.keyword) else parent
        if not targets or not isinstance(node, ast.Call) or not isinstance(call, ast.Call) or node is call.func:
            return ()
        receivers = [self.program.find(key) for key in self.callees.targets(call)[0]]
        functions = [located[0] for located in map(self.program.find, targets) if located is not None]
        are_coroutines = all(isinstance(function, ast.AsyncFunctionDef) for function in functions)
        if len(receivers) != 1 or receivers[0] is None or receivers[0][0] is self.callees.node or not are_coroutines:
            return ()
        function, module = receivers[0]
        names = [name for name, argument in arguments_for(function, module, call).items() if argument is node]
        reads = [part for part in walk([function]) if isinstance(part, ast.Name) and part.id in names]
        guards = Guards(Callees(self.program, function, module))
        # A parameter that is read elsewhere, too, may be awaited there.
        is_awaited = len(reads) == 1 and isinstance(guards.parents.get(reads[0]), ast.Await)
        return guards.of(reads[0]) if is_awaited else ()


def yield_guards(program: Program, node: FunctionNode, module: Module) -> list[Guard]:
    """Return the guards around the `yield` of a `@contextmanager`, which apply to the `with` body."""
    if isinstance(node, ast.Lambda) or not any(
        "contextmanager" in spelled(decorator) for decorator in node.decorator_list
    ):
        return []
    redirects = module.source.has("sys.stdout") and replaces_stdout(own_nodes(node))
    for part in own_nodes(node):
        if isinstance(part, ast.Yield):
            guards = Guards(Callees(program, node, module)).of(part)
            return [*guards, *([Guard(redirects=True)] if redirects else [])]
    return []


def _truth(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)


def _names_in(node: ast.AST) -> set[str]:
    return {part.id for part in walk([node]) if isinstance(part, ast.Name)}


def _swallows(body: list[ast.stmt]) -> bool:
    """Whether a `finally` always jumps, returns or raises, so that the original error is dropped."""
    return any(isinstance(statement, (ast.Break, ast.Continue, ast.Raise)) for statement in body) or any(
        isinstance(part, ast.Return) for part in walk_shallow([*body])
    )


class Decorations(NamedTuple):
    """The wrappers and guards that the decorators of a function add."""

    wrappers: tuple[tuple[Key, Parameter], ...] = ()
    """The functions that replace it, each with the parameter that holds the decorated function."""
    guards: tuple[Guard, ...] = ()
    """The context managers that decorate it, the innermost first."""
    events: tuple[Event, ...] = ()
    """The errors that the guards name, and the decorators that are not followed as unresolved calls."""

    def __bool__(self) -> bool:
        return any(self)


def decorations_of(node: FunctionNode, module: Module, program: Program) -> Decorations:
    """Return the wrappers and guards that the decorators of a function add."""
    if isinstance(node, ast.Lambda) or not node.decorator_list:
        return Decorations()
    return module.once(("decorations of", node), lambda: _read(node, module, program))


def _read(node: Function, module: Module, program: Program) -> Decorations:
    wrappers: list[tuple[Key, Parameter]] = []
    guards: list[Guard] = []
    unread: list[Event] = []
    outside = module.scope_of(node).parent or module.scope
    for decorator in node.decorator_list:
        # The last decorator in the source is the innermost, so its guards come first.
        if isinstance(decorator, ast.Call) and _is_guard_of_context(decorator.func, outside):
            guards[:0] = [guard_of_context(decorator, outside)]
            continue
        if converting := guards_made(decorator, outside):
            guards[:0] = converting
            continue
        maker = evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator, outside)
        definition = maker.definition if isinstance(maker, Symbol) else None
        owner = program.project.module_defining(definition) if isinstance(definition, ast.FunctionDef) else None
        if _is_unread(maker, owner, called=isinstance(decorator, ast.Call)):
            span = module.source.span(decorator)
            why = "this decorator is not followed"
            blind = Blind(ast.unparse(decorator), module.path, span, takes_context=False, project=True, why=why)
            unread.append(Event(span, (), blind))
        elif isinstance(definition, ast.FunctionDef) and owner is not None:
            wrappers += _wrapper_of_function(definition, owner, node, called=isinstance(decorator, ast.Call))
            if isinstance(decorator, ast.Call) and definition is not node:
                guards[:0] = yield_guards(program, definition, owner)
    named = (
        # Only the guards outside its own apply to an error that a guard names.
        Event(entry.throw.span, tuple(guards[at + 1 :]), entry.throw)
        for at, guard in enumerate(guards)
        for entry in guard.becomes
    )
    return Decorations(tuple(wrappers), tuple(guards), (*named, *unread))


def _is_guard_of_context(func: ast.expr, scope: Scope) -> bool:
    """Whether a decorator is `ctx.guard` on a parameter that is annotated as `Context`."""
    if not (isinstance(func, ast.Attribute) and func.attr == "guard" and isinstance(func.value, ast.Name)):
        return False
    match = scope.lookup(func.value.id)
    for binding in match[1] if match is not None else ():
        if binding.kind == "parameter" and match is not None:
            symbol = Resolver().annotation_symbol(binding.annotation, match[0].parent or match[0])
            return symbol is not None and symbol.name == "mcpcore.Context"
    return False


def _is_unread(maker: Value, owner: Module | None, *, called: bool) -> bool:
    """Whether a decorator of the project may replace the function in a way that is not followed.

    Such are objects, and decorators that apply other decorators.

    Args:
        maker: The decorator, or the function that makes it.
        owner: The file of that function.
        called: Whether the decorator is a call, as in `@retry(3)`.
    """
    if isinstance(maker, CallValue):
        is_partial = maker.func.name == "functools.partial" and not _makes_tools(maker.at(0))
        return is_partial or maker.func.definition is not None
    definition = maker.definition if isinstance(maker, Symbol) else None
    if not isinstance(definition, ast.FunctionDef) or owner is None:
        is_partial = isinstance(maker, Symbol) and maker.name == "functools.partial"
        return isinstance(definition, ast.ClassDef) or is_partial
    # A decorator with arguments returns the function that gets the decorated one.
    made = [function for function, outer in _returned(definition, owner) if outer is definition] if called else []
    return not all(
        _is_plain(value, owner.scope_of(function))
        for function in (definition, *made)
        for value in _replacements(function, owner)
    )


def _is_plain(node: ast.expr | None, scope: Scope) -> bool:
    """Whether an expression is a function or a parameter, or the call of a nested function or of mcpcore's `tool`."""
    name = node.func if isinstance(node, ast.Call) else node
    if name is not node and name is not None and _makes_tools(evaluate(name, scope)):
        return True
    if not isinstance(name, ast.Name):
        return not isinstance(node, ast.Call)
    kinds = {binding.kind for binding in scope.bindings.get(name.id, ())}
    return kinds == {"function"} if isinstance(node, ast.Call) else kinds <= {"function", "parameter"}


def _makes_tools(maker: Value) -> bool:
    return isinstance(maker, Symbol) and maker.name.startswith("mcpcore.")


def _wrapper_of_function(
    maker: ast.FunctionDef, module: Module, node: Function, *, called: bool
) -> list[tuple[Key, Parameter]]:
    """Return the function that a decorator returns. The decorator may take arguments, none, or support both.

    A decorator may have one wrapper for functions that are async, and one for others.
    """

    def fits(pair: tuple[Function, Function]) -> bool:
        return type(pair[0]) is not type(node)

    for function, decorator in sorted(_returned(maker, module), key=fits):
        declared = {parameter.arg for parameter in all_parameters(function.args)}
        if called and {getattr(value, "id", "") for value in _replacements(function, module)} in [
            {name} for name in declared
        ]:
            return []  # `@register("name")` returns the function that it gets
        # `def retry(times)` returns the decorator, `def retry(run)` the replacement of `run`.
        inner = [] if decorator is not maker else sorted(_returned(function, module), key=fits)
        if inner and isinstance(function, ast.FunctionDef):
            function, decorator = inner[0][0], function  # noqa: PLW2901 - continue one level deeper
        parameters = all_parameters(decorator.args)
        if parameters:
            return [(key_of(function, module, None), parameter_of(decorator, module, parameters[0].arg))]
    return []


def _replacements(node: Function, module: Module) -> list[ast.expr]:
    """The expressions that a decorator returns; of `cast(F, wrapper)` the second argument."""
    values = returned(node)
    for at, value in enumerate(values):
        match value:
            case ast.Call(func=func, args=[_, inner]):
                values[at] = inner if name_of(func, module.scope_of(node)) == "typing.cast" else value
    return values


def _returned(node: Function, module: Module) -> list[tuple[Function, Function]]:
    """Return the nested functions that a function returns, each with the function whose parameter it closes over."""
    inside = own_statements(node)
    nested = {inner.name: inner for inner in inside if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef))}
    pairs: list[tuple[Function, Function]] = []
    values = _replacements(node, module) if nested else []
    while values:
        match values.pop(0):
            case ast.IfExp(body=body, orelse=orelse):
                values += [body, orelse]
            case ast.Name(id=name) if name in nested:
                pairs.append((nested[name], node))
            case ast.Call(func=ast.Name(id=name)) if name in nested:
                decorator = nested[name]
                pairs.extend(pair for pair in _returned(decorator, module) if pair[1] is decorator)
    return pairs
