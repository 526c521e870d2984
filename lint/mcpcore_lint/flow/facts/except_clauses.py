"""What stands between an error and the end of its function: clauses, context managers, task groups."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from mcpcore_lint.flow.effects import NOTHING, Chain, Clause, Guard, Key
from mcpcore_lint.flow.facts.callees import CalleeReader
from mcpcore_lint.flow.facts.converting import guard_of_context, guards_made, unread_guard
from mcpcore_lint.flow.facts.spelling import spelled
from mcpcore_lint.flow.facts.stdout import REDIRECTS, replaces_stdout
from mcpcore_lint.model import (
    FunctionNode,
    Symbol,
    options,
)
from mcpcore_lint.semantics.branches import ends
from mcpcore_lint.semantics.evaluate import evaluate
from mcpcore_lint.semantics.type_model import Instance, Outside, method_of
from mcpcore_lint.semantics.types import is_static
from mcpcore_lint.syntax.parse import own_nodes, walk_shallow

if TYPE_CHECKING:
    from mcpcore_lint.flow.calls import CallGraph
    from mcpcore_lint.syntax.module import Module


_TASK_GROUPS: Final = frozenset(
    {"asyncio.TaskGroup", "anyio.create_task_group", "trio.open_nursery", "anyio.abc.TaskGroup"}
)

_EXITS: Final = frozenset({"__exit__", "__aexit__"})


class GuardReader(CalleeReader):
    """Reads the guards round the nodes of a function."""

    def _begin(self) -> None:
        super()._begin()
        self._guards_of: dict[ast.AST, tuple[Guard, ...]] = {}
        self._try_guards: dict[ast.AST, Guard] = {}

    def guards(self, node: ast.AST) -> tuple[Guard, ...]:
        """What stands between a node and the end of its function, innermost first."""
        statement = node
        while not isinstance(statement, (ast.stmt, ast.ExceptHandler)) and statement in self.parents:
            statement = self.parents[statement]
        # An item of a `with` header is guarded by the items before it; the body by all of them.
        found = self._guards_of.get(statement)
        if found is None:
            found = self._guards(statement)
            self._guards_of[statement] = found
        return found

    def _guards(self, statement: ast.AST, stop: ast.AST | None = None) -> tuple[Guard, ...]:
        found: list[Guard] = []
        current = statement
        while True:
            parent = self.parents.get(current)
            if parent is None or current is stop or parent is stop or parent is self.node:
                return tuple(found)
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                return tuple(found)
            if isinstance(parent, (ast.Try, ast.TryStar)):
                if current in parent.body and parent.handlers:
                    found.append(self._try(parent))
                if current not in parent.finalbody and _swallows(parent.finalbody):
                    found.append(NOTHING)
            elif isinstance(parent, (ast.With, ast.AsyncWith)) and current in parent.body:
                found.extend(self._stacked(parent, current))
                for item in reversed(parent.items):
                    found.extend(self._context_guards(item.context_expr, parent))
            current = parent

    def _try(self, node: ast.Try | ast.TryStar) -> Guard:
        guard = self._try_guards.get(node)
        if guard is None:
            clauses: list[Clause] = []
            for handler in node.handlers:
                types: tuple[str | None, ...] = ("builtins.BaseException",)
                if handler.type is not None:
                    types = self.builder.types_of(handler.type, self.scope)
                passes: list[tuple[Guard, ...]] = []
                for each in _own_statements(handler.body):
                    if isinstance(each, ast.Raise):
                        inside = self._guards(each, stop=handler)
                        if self._raises_caught(each, handler):
                            passes.append((*self._asked(each, handler), *inside))
                        elif handler.name is not None and isinstance(each.exc, ast.Call):
                            passes.extend((*back, *inside) for back in self._handed_back(each.exc, handler.name))
                late = tuple(self._guards(each) for each in self._raised_late(handler))
                clauses.append(Clause(types, tuple(passes), isinstance(node, ast.TryStar), late))
            guard = Guard(tuple(clauses))
            self._try_guards[node] = guard
        return guard

    def _asked(self, node: ast.Raise, handler: ast.ExceptHandler) -> Chain:
        """What a clause asks of the error that it caught before it raises it again."""
        if handler.name is None or (len(handler.body) == 1 and handler.body[0] is node):
            return ()
        from mcpcore_lint.flow.facts.conditions import Asking

        return Asking(self.builder, self.scope, (handler.name,)).before(node, handler)

    def _raises_caught(self, node: ast.Raise, handler: ast.ExceptHandler) -> bool:
        """Whether a `raise` in a clause raises what the clause caught, rather than what one inside it did."""
        current: ast.AST | None = self.parents.get(node)
        if node.exc is None:
            while current is not None and not isinstance(current, ast.ExceptHandler):
                current = self.parents.get(current)
            return current is handler
        name = node.exc
        while (
            isinstance(name, ast.Call) and isinstance(name.func, ast.Attribute) and name.func.attr == "with_traceback"
        ):
            name = name.func.value
        return isinstance(name, ast.Name) and handler.name is not None and name.id == handler.name

    def _raised_late(self, handler: ast.ExceptHandler) -> list[ast.Raise]:
        """The `raise` statements after a clause that raise what the clause kept under another name."""
        if handler.name is None:
            return []
        kept: set[str] = set()
        for each in _own_statements(handler.body):
            if (
                isinstance(each, (ast.Assign, ast.NamedExpr))
                and isinstance(each.value, ast.Name)
                and each.value.id == handler.name
            ):
                targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                kept.update(target.id for target in targets if isinstance(target, ast.Name))
        if not kept:
            return []
        inside = {id(each) for each in _own_statements(handler.body)}
        return [
            each
            for each in self.builder.raises
            if id(each) not in inside
            and each not in self.builder.function_of
            and isinstance(each.exc, ast.Name)
            and each.exc.id in kept
        ]

    def _handed_back(self, call: ast.Call, name: str) -> list[tuple[Guard, ...]]:
        """For each `return` of a function that gives back the error that it is given: what it asks before."""
        place = next((at for at, each in enumerate(call.args) if isinstance(each, ast.Name) and each.id == name), None)
        if place is None:
            return []
        from mcpcore_lint.flow.facts.conditions import Asking

        found: list[tuple[Guard, ...]] = []
        for key in self._targets(call)[0]:
            located = self.graph._find(key)  # noqa: SLF001
            if located is None or located[0] is self.node:
                continue
            function, module = located
            positional = [*function.args.posonlyargs, *function.args.args]
            if module.scope_of(function).owner is not None and not is_static(function):
                positional = positional[1:]
            if place >= len(positional):
                continue
            parameter = positional[place].arg
            builder = GuardReader(self.graph, function, module, None).builder
            asking = Asking(builder, module.scope_of(function), (parameter,))
            found.extend(
                asking.before(each, function)
                for each in own_nodes(function)
                if isinstance(each, ast.Return) and isinstance(each.value, ast.Name) and each.value.id == parameter
            )
        return found

    def _context_guards(self, node: ast.expr, statement: ast.With | ast.AsyncWith) -> list[Guard]:
        if converting := self.converting(node):
            return converting
        if not isinstance(node, ast.Call):
            if isinstance(node, ast.Name) and (bound := self.scope.lookup(node.id)) is not None and len(bound[1]) == 1:
                made = bound[1][0].value
                if bound[1][0].kind == "assign" and isinstance(made, ast.Call):
                    return self._context_guards(made, statement)
            for kind in self.inference.of(node, self.scope):
                if isinstance(kind, Outside) and kind.name in _TASK_GROUPS:
                    return [Guard(group=True)]
            return []
        value = evaluate(node.func, self.scope)
        found: list[Guard] = []
        for each in options(value):
            if not isinstance(each, Symbol):
                continue
            if each.name in {"contextlib.suppress", "anyio.suppress"}:
                types = tuple(name for arg in node.args for name in self.builder.types_of(arg, self.scope))
                found.append(Guard((Clause(types, (), star=True),)))
            elif each.name in _TASK_GROUPS:
                found.append(Guard(group=True))
            elif each.name in REDIRECTS:
                found.append(Guard(redirects=True))
            elif isinstance(each.definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.extend(self._generator_guards(each))
        if not found and isinstance(node.func, ast.Attribute):
            keys, _ = self._callable(node.func)
            for key in keys:
                located = self.graph._find(key)  # noqa: SLF001
                if located is not None and isinstance(located[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
                    found.extend(self._yield_guards(*located))
        if not found:
            for kind in self.inference.of(node, self.scope):
                if isinstance(kind, Instance):
                    found.extend(self._exit_guards(kind, statement))
                    if _enters_without_stdout(kind, statement):
                        found.append(Guard(redirects=True))
        return found

    def converting(self, node: ast.expr) -> list[Guard]:
        """The guards of mcpcore that an expression may be."""
        if isinstance(node, ast.Call) and self._guards_by_context(node):
            return [guard_of_context(node, self.scope)]
        if isinstance(node, ast.Name) and (bound := self.scope.lookup(node.id)) is not None and len(bound[1]) == 1:
            call = bound[1][0].value
            if isinstance(call, ast.Call) and self._guards_by_context(call):
                return [guard_of_context(call, self.scope, node)]
        found = guards_made(node, self.scope)
        holder = node.func if isinstance(node, ast.Call) else node
        if not found and isinstance(holder, ast.Attribute) and self.module.source.has("guard"):
            # An object keeps or returns the guard; its arguments are not followed.
            kinds = self.inference.of(node, self.scope)
            if any(isinstance(kind, Outside) and kind.name == "mcpcore.guard" for kind in kinds):
                return [unread_guard(node, self.scope)]
        return found

    def _guards_by_context(self, call: ast.Call) -> bool:
        """Whether a call is one of `ctx.guard`: of a parameter that says so, or of a context that was handed on."""
        if self.builder._is_context_call(call, "guard"):  # noqa: SLF001
            return True
        return self.module.source.has("guard") and "mcpcore.Context.guard" in self._targets(call)[1]

    def _generator_guards(self, symbol: Symbol) -> list[Guard]:
        assert isinstance(symbol.definition, (ast.FunctionDef, ast.AsyncFunctionDef))
        owner = self.module.project.module_defining(symbol.definition)
        return self._yield_guards(symbol.definition, owner) if owner is not None else []

    def _yield_guards(self, node: FunctionNode, module: Module) -> list[Guard]:
        return yield_guards(self.graph, node, module) if node is not self.node else []

    def _exit_guards(self, kind: Instance, statement: ast.With | ast.AsyncWith) -> list[Guard]:
        """What the `__exit__` of a class of the project does with an error, as a clause that catches all of them."""
        name = "__aexit__" if isinstance(statement, ast.AsyncWith) else "__exit__"
        found = method_of(kind.info, name)
        if found is None or found[0] is self.node:
            return []
        node, owner = found
        key = ("exit", node)
        if key not in owner.module.memo:
            owner.module.memo[key] = ()  # where it is entered in itself
            owner.module.memo[key] = tuple(GuardReader(self.graph, node, owner.module, None).left())
        guards: tuple[Guard, ...] = owner.module.memo[key]
        return [*guards]

    def left(self) -> list[Guard]:
        """What the function does with an error, where it is an `__exit__`."""
        from mcpcore_lint.flow.facts.conditions import Asking

        node = self.node
        names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
        rest = [node.args.vararg.arg] if node.args.vararg is not None else []
        asking = Asking(self.builder, self.scope, names[2:3], names[1:2], (*names[3:4], *rest))
        passes = [] if isinstance(node, ast.Lambda) or ends(node.body) else [asking.behind(node.body)]
        for each in own_nodes(node):
            if isinstance(each, ast.Return):
                value = each.value.value if isinstance(each.value, ast.Await) else each.value
                if isinstance(value, ast.Constant) and value.value:
                    continue
                again = () if value is None or _leaves(value) else asking.where(value, wanted=False)
                passes.append((*asking.before(each, node), *again))
            elif isinstance(each, ast.Raise) and (
                each.exc is None or (isinstance(each.exc, ast.Name) and each.exc.id in asking.errors)
            ):
                passes.append(asking.before(each, node))
        if () in passes:
            return []
        passes = [each for each in passes if NOTHING not in each]
        return [Guard((Clause(("builtins.BaseException",), tuple(passes), star=True),))]

    def _stacked(self, node: ast.With | ast.AsyncWith, statement: ast.AST) -> list[Guard]:
        """What was entered through an exit stack before a statement of its block, the last first."""
        stacks = {
            item.optional_vars.id
            for item in node.items
            if isinstance(item.optional_vars, ast.Name)
            and isinstance(item.context_expr, ast.Call)
            and spelled(item.context_expr.func).endswith("ExitStack")
        }
        found: list[Guard] = []
        for each in node.body if stacks else ():
            if each is statement:
                break
            value = each.value if isinstance(each, (ast.Expr, ast.Assign)) else None
            call = value.value if isinstance(value, ast.Await) else value
            if (
                isinstance(call, ast.Call)
                and len(call.args) == 1
                and isinstance(call.func, ast.Attribute)
                and call.func.attr in {"enter_context", "enter_async_context"}
                and isinstance(call.func.value, ast.Name)
                and call.func.value.id in stacks
            ):
                found[:0] = self._context_guards(call.args[0], node)
        return found

    def _gathered(self, node: ast.AST, targets: tuple[Key, ...]) -> tuple[Guard, ...]:
        """What `gather(..., return_exceptions=True)` round the call of a coroutine keeps as a result."""
        if not targets or not self.module.source.has("return_exceptions"):
            return ()
        current = node
        while (parent := self.parents.get(current)) is not None and not isinstance(current, ast.stmt):
            if (
                isinstance(parent, ast.Call)
                and current is not parent.func
                and spelled(parent.func).rpartition(".")[2] == "gather"
                and any(
                    each.arg == "return_exceptions"
                    and isinstance(each.value, ast.Constant)
                    and each.value.value is True
                    for each in parent.keywords
                )
            ):
                located = [self.graph._find(each) for each in targets]  # noqa: SLF001
                if all(each is not None and isinstance(each[0], ast.AsyncFunctionDef) for each in located):
                    return (Guard((Clause(("builtins.Exception",), (), star=True),)),)
                return ()
            current = parent
        return ()


def _enters_without_stdout(kind: Instance, statement: ast.With | ast.AsyncWith) -> bool:
    """Whether entering a context manager of the project replaces `sys.stdout`."""
    defined = method_of(kind.info, "__aenter__" if isinstance(statement, ast.AsyncWith) else "__enter__")
    if defined is None:
        return False
    method, owner = defined
    if not owner.module.source.has("sys.stdout"):
        return False
    owner.module.complete(method)
    return replaces_stdout(own_nodes(method))


def yield_guards(graph: CallGraph, node: FunctionNode, module: Module) -> list[Guard]:
    """The guards round the `yield` of a generator that is a context manager: they hold for the `with` body."""
    if isinstance(node, ast.Lambda) or not any("contextmanager" in spelled(each) for each in node.decorator_list):
        return []
    reader = GuardReader(graph, node, module, None)
    redirects = module.source.has("sys.stdout") and replaces_stdout(own_nodes(node))
    for each in own_nodes(node):
        if isinstance(each, ast.Yield):
            return [*reader.guards(each), *([Guard(redirects=True)] if redirects else [])]
    return []


def _leaves(node: ast.expr) -> bool:
    """Whether a value is what another context manager answers, which mostly lets everything pass."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _EXITS


def _swallows(body: list[ast.stmt]) -> bool:
    """Whether a `finally` leaves otherwise than it was entered, so that what came to it does not go on."""
    return any(isinstance(each, (ast.Break, ast.Continue, ast.Raise)) for each in body) or any(
        isinstance(each, ast.Return) for each in _own_statements(body)
    )


def _own_statements(body: list[ast.stmt]) -> list[ast.AST]:
    return walk_shallow([*body])
