"""Finds the guards around a node: `except` clauses, context managers and task groups."""

import ast
from typing import Final

from mcpcore_lint.engine.flow.bodies.raises import SUPPRESS, types_of
from mcpcore_lint.engine.flow.effects import NOTHING, Clause, Guard, Key, Program
from mcpcore_lint.engine.flow.facts.callees import Callees
from mcpcore_lint.engine.flow.facts.converting import guard_of_context, guards_made, unread_guard
from mcpcore_lint.engine.flow.facts.spelling import spelled
from mcpcore_lint.engine.flow.facts.stdout import REDIRECTS, replaces_stdout
from mcpcore_lint.engine.semantics.branches import ends
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.type_model import Instance, Outside, method_of
from mcpcore_lint.engine.syntax.module import Module
from mcpcore_lint.engine.syntax.parse import SCOPES, own_nodes, walk, walk_shallow
from mcpcore_lint.model import FunctionNode, Symbol, options

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
        self._of_statement: dict[ast.AST, tuple[Guard, ...]] = {}
        self._of_try: dict[ast.AST, Guard] = {}

    def of(self, node: ast.AST) -> tuple[Guard, ...]:
        """Return the guards around a node in its function, innermost first."""
        statement = node
        while not isinstance(statement, (ast.stmt, ast.ExceptHandler)) and statement in self.parents:
            statement = self.parents[statement]
        # All nodes of a statement share its guards.
        guards = self._of_statement.get(statement)
        if guards is None:
            guards = self._of_statement[statement] = self._around(statement)
        return guards

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

    def _try(self, node: ast.Try | ast.TryStar) -> Guard:
        guard = self._of_try.get(node)
        if guard is None:
            clauses = [self._clause(handler, star=isinstance(node, ast.TryStar)) for handler in node.handlers]
            guard = self._of_try[node] = Guard(tuple(clauses))
        return guard

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
