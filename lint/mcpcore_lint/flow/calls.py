"""Computes the errors that a handler can raise through the functions that it calls.

The facts of a function list the errors that it raises, the functions that it calls, and the `except` clauses around
each. Its summary lists the errors that leave it: its own and those of the functions that it calls, without the errors
that the clauses catch. Summaries are computed on demand. Functions that call each other recursively are solved
together, until nothing changes. A call that cannot be resolved stays in the summary as unresolved; the engine never
guesses its errors.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from mcpcore_lint.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.flow.collecting import Collector
from mcpcore_lint.flow.effects import (
    BROAD,
    Becomes,
    Blind,
    Clause,
    Event,
    Facts,
    Guard,
    Key,
    Parameter,
    ParameterCall,
    Summary,
    Throw,
    Write,
    bound_to,
    handed_over,
    key_of,
    redirected,
    swallowed,
)
from mcpcore_lint.flow.facts.callees import Callees
from mcpcore_lint.flow.facts.converting import guard_of_context, guards_made
from mcpcore_lint.flow.facts.except_clauses import Guards, yield_guards
from mcpcore_lint.flow.facts.extract import Extractor
from mcpcore_lint.flow.program import Program
from mcpcore_lint.flow.wrappers import Wrapper, is_unread, wrappers_of
from mcpcore_lint.model import (
    FunctionNode,
    Reach,
    Symbol,
)
from mcpcore_lint.semantics.evaluate import Resolver, evaluate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpcore_lint.model import Handler
    from mcpcore_lint.semantics.hierarchy import Hierarchy
    from mcpcore_lint.syntax.module import Module
    from mcpcore_lint.syntax.project import Project
    from mcpcore_lint.syntax.scopes import Scope


K = TypeVar("K")
_GROUP_TYPES: Final = frozenset({"builtins.ExceptionGroup", "builtins.BaseExceptionGroup"})
_CODED_ERROR: Final = "mcpcore.CodedError"
MAX_SHOWN: Final = 200
"""`--explain-calls` reads at most this many functions between a handler and its errors."""
MAX_SUMMARY: Final = 2_000
"""A summary keeps at most this many errors of one function."""


class Decorations(NamedTuple):
    """The wrappers and guards that the decorators of a function add."""

    wrappers: list[Wrapper]
    """The functions that replace it, for each decorator that the project defines."""
    guards: tuple[Guard, ...]
    """The context managers that decorate it, the innermost first."""
    unread: tuple[Event, ...] = ()
    """The decorators of the project that are not followed, as unresolved calls."""


class CallGraph:
    """Computes and caches the function summaries of one project."""

    def __init__(self, project: Project, hierarchy: Hierarchy, raises: Mapping[str, tuple[str, ...]]) -> None:
        self.program = Program(project, hierarchy, raises)
        self.hierarchy = hierarchy
        self._facts: dict[Key, Facts | None] = {}
        self._summaries: dict[Key, Summary] = {}

    # -- queries -------------------------------------------------------------------------------------------------

    def reach(self, handler: Handler, through: Iterable[tuple[Handler, ast.Call]] = ()) -> Reach:
        """Return everything that leaves a handler: its own errors and those of the functions that it calls.

        Args:
            handler: The handler.
            through: The functions that dispatch to the handler, the outermost first, each with its call. Errors that
                they catch do not leave.
        """
        receiver = handler.module.classes.get(handler.owner) if handler.owner is not None else None
        key = key_of(handler.node, handler.module, receiver, raw=True)
        facts = self.facts(key)
        if facts is None:
            return Reach()
        outer = [chains for caller, call in through for chains in self._guards_around_call(caller, call)]
        decorations = self._decorations(handler.node, handler.module)
        outer += self._guards_in(decorations)
        collector = Collector(self, handler, outer)
        collector.events(facts, (), key, set())
        collector.writes(facts)
        collector.events(Facts(key, [*_named_by(decorations.guards), *decorations.unread]), (), key, set())
        return collector.result([self.summary(wrapper.key) for wrapper in decorations.wrappers])

    def called(self, handler: Handler, call: ast.Call) -> list[FunctionNode]:
        """Return the functions of the project that a call in a handler may run."""
        receiver = handler.module.classes.get(handler.owner) if handler.owner is not None else None
        keys = Callees(self.program, handler.node, handler.module, receiver).targets(call)[0]
        return [located[0] for key in keys if (located := self.program.find(key)) is not None]

    def _guards_around_call(self, handler: Handler, call: ast.Call) -> list[tuple[tuple[Guard, ...], ...]]:
        """Return the guards around a call in a function, and around that function."""
        receiver = handler.module.classes.get(handler.owner) if handler.owner is not None else None
        here = Guards(Callees(self.program, handler.node, handler.module, receiver)).of(call)
        return [*self._guards_in(self._decorations(handler.node, handler.module)), (here,)]

    def _guards_in(self, decorations: Decorations) -> list[tuple[tuple[Guard, ...], ...]]:
        """Return the guards around each call of a handler in the decorators that the project defines."""
        guards: list[tuple[tuple[Guard, ...], ...]] = []
        for wrapper in decorations.wrappers:
            summary = self.summary(wrapper.key)
            chains = tuple(use.guards for use in summary.parameters if use.parameter == wrapper.parameter)
            guards.append(chains or ((),))
        if decorations.guards:
            guards.append((decorations.guards,))
        return guards

    def wrappers(self, handler: Handler) -> list[Handler]:
        """Return the wrapper functions of the handler's decorators."""
        located = [
            self.program.find(wrapper.key) for wrapper in self._decorations(handler.node, handler.module).wrappers
        ]
        return [HandlerBuilder.of(*place, self.hierarchy).model for place in located if place is not None]

    def on_the_way(self, handler: Handler) -> list[Handler]:
        """Return the functions that a handler reaches, the nearest first, up to `MAX_SHOWN`."""
        receiver = handler.module.classes.get(handler.owner) if handler.owner is not None else None
        start = key_of(handler.node, handler.module, receiver, raw=True)
        handlers: dict[FunctionNode, Handler] = {handler.node: handler}
        waiting, seen = [start], {start}
        while waiting and len(handlers) <= MAX_SHOWN:
            for key in self._successors(waiting.pop(0)):
                located = self.program.find(key)
                if key in seen or located is None:
                    continue
                seen.add(key)
                waiting.append(key)
                inside = handler.node.lineno < located[0].lineno <= (handler.node.end_lineno or 0)
                if not (
                    inside and located[1] is handler.module
                ):  # the handler's model already has the clauses of its nested functions
                    handlers.setdefault(located[0], HandlerBuilder.of(*located, self.hierarchy).model)
        return list(handlers.values())[1:]

    def passes(self, throw: Throw, guards: Iterable[Guard]) -> Throw | None:
        """Return an error as it leaves the guards around it, innermost first; None if they definitely catch it."""
        current = throw
        for guard in guards:
            if guard.group:
                current = current._replace(grouped=True)
                continue
            if guard.converts:
                if self.hierarchy.is_kind_of(current.type_name, "mcpcore.CodedError") is not True:
                    current = self._converted(current, guard)
                continue
            if guard.doubt:
                current = current._replace(sure=False)
                continue
            for clause in guard.clauses:
                if not self._catches(clause, current):
                    continue
                onward = self._by_any(current, clause.passes)
                if onward is None:
                    return None
                current = onward
                break
        return current

    def _by_any(self, throw: Throw, ways: Iterable[Iterable[Guard]]) -> Throw | None:
        """Return an error after one of several ways out, preferably a definite one; None if all are closed."""
        passed = [passing for passing in (self.passes(throw, way) for way in ways) if passing is not None]
        return next((passing for passing in passed if passing.sure), next(iter(passed), None))

    def _converted(self, throw: Throw, guard: Guard) -> Throw:
        """Return the error that `mcpcore.guard` raises instead of another. The most specific class decides."""
        best: tuple[str, Becomes] | None = None
        plain = throw._replace(type_name=_CODED_ERROR, form="other", codes=None, reasons=(), grouped=False)
        for entry in guard.becomes:
            for name in entry.types:
                fits = self.hierarchy.is_kind_of(throw.type_name, name) if name is not None else None
                if fits is None or throw.grouped:
                    return plain
                if fits and (best is None or self.hierarchy.is_kind_of(name or "", best[0])):
                    best = (name or "", entry)
        if best is None or (best[1].throw.codes is None and not best[1].throw.reasons):
            return plain
        return best[1].throw._replace(is_named_only=False, sure=throw.sure)

    def _catches(self, clause: Clause, throw: Throw) -> bool:
        for name in clause.types:
            if name is None:
                continue
            if throw.grouped and not clause.star:
                if name in _GROUP_TYPES or name in BROAD:
                    return True
                continue
            if self.hierarchy.is_kind_of(throw.type_name, name):
                return True
        return False

    # -- facts ---------------------------------------------------------------------------------------------------

    def facts(self, key: Key) -> Facts | None:
        """Return the facts of a function; None if the project no longer has it."""
        if key in self._facts:
            return self._facts[key]
        self._facts[key] = None
        located = self.program.find(key)
        if located is not None:
            node, module = located
            if key.raw:
                self._facts[key] = self._extract(node, module, key)
            else:
                decorations = self._decorations(node, module)
                if decorations.wrappers:
                    facts = self._decorated(node, module, key, decorations.wrappers)
                else:
                    facts = self._extract(node, module, key)
                for event in facts.events if decorations.guards else ():
                    event.guards = (*event.guards, *decorations.guards)
                facts.events += [*_named_by(decorations.guards), *decorations.unread]
                self._facts[key] = facts
        return self._facts[key]

    def _extract(self, node: FunctionNode, module: Module, key: Key) -> Facts:
        receiver = self.program.project.class_at(key.receiver) if key.receiver else None
        return Extractor(self.program, node, module, receiver, key.flags).extract(key)

    def _decorated(self, node: FunctionNode, module: Module, key: Key, wrappers: list[Wrapper]) -> Facts:
        """Return the facts of a call that goes through decorators which the project defines."""
        span = module.source.span(node)
        inner = key._replace(raw=True)
        facts = Facts(key, wrapped=key.name)
        raw = self._extract(node, module, inner)
        facts.returned, facts.returned_from = raw.returned, raw.returned_from
        # The last decorator in the source is the innermost. Each one above it wraps the result of the previous one.
        current: Key = inner
        for number, wrapper in enumerate(reversed(wrappers)):
            event = wrapper.event(span, current)
            if number == len(wrappers) - 1:
                facts.events.append(event)
                break
            step = key._replace(name=f"{key.name}@{number}", raw=True)
            self._facts[step] = Facts(step, [event], wrapped=key.name)
            current = step
        return facts

    def _decorations(self, node: FunctionNode, module: Module) -> Decorations:
        """Return the wrappers and guards that the decorators of a function add."""
        wrappers: list[Wrapper] = []
        guards: list[Guard] = []
        unread: list[Event] = []
        if isinstance(node, ast.Lambda) or not node.decorator_list:
            return Decorations(wrappers, ())
        outside = module.scope_of(node).parent or module.scope
        for decorator in node.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            if call is not None and _is_guard_of_context(call.func, outside):
                guards[:0] = [guard_of_context(call, outside)]
                continue
            # The last decorator in the source is the innermost, so its guards come first.
            if converting := guards_made(decorator, outside):
                guards[:0] = converting
                continue
            if is_unread(decorator, outside):
                span = module.source.span(decorator)
                why = "this decorator is not followed"
                blind = Blind(ast.unparse(decorator), module.path, span, takes_context=False, project=True, why=why)
                unread.append(Event("blind", span, (), blind=blind))
            else:
                wrappers += wrappers_of(decorator, outside)
            value = evaluate(call.func if call is not None else decorator, outside)
            if not isinstance(value, Symbol):
                continue
            definition = value.definition
            owner = (
                self.program.project.module_defining(definition) if isinstance(definition, ast.FunctionDef) else None
            )
            if isinstance(definition, ast.FunctionDef) and owner is not None and call is not None:
                guards[:0] = yield_guards(self.program, definition, owner) if definition is not node else []
        return Decorations(wrappers, tuple(guards), tuple(unread))

    # -- summaries -----------------------------------------------------------------------------------------------

    def summary(self, key: Key) -> Summary:
        """Return the errors, writes and unresolved calls that leave a function."""
        summary = self._summaries.get(key)
        if summary is None:
            self._compute(key)
            summary = self._summaries[key]
        return summary

    def _successors(self, key: Key) -> list[Key]:
        facts = self.facts(key)
        if facts is None:
            return []
        successors: dict[Key, None] = {}
        for event in facts.events:
            successors.update(dict.fromkeys(event.targets))
            for _, bound in event.bindings:
                if isinstance(bound, Key):
                    successors[bound] = None
        successors.update(dict.fromkeys(facts.returned_from))
        return list(successors)

    def _compute(self, root: Key) -> None:
        """Find strongly connected components with Tarjan's algorithm, without recursion, and solve each one."""
        index: dict[Key, int] = {}
        low: dict[Key, int] = {}
        on_stack: set[Key] = set()
        stack: list[Key] = []
        work: list[tuple[Key, Iterator[Key]]] = []

        def open_(key: Key) -> None:
            index[key] = low[key] = len(index)
            stack.append(key)
            on_stack.add(key)
            work.append((key, iter(self._successors(key))))

        open_(root)
        while work:
            key, successors = work[-1]
            for successor in successors:
                if successor in self._summaries:
                    continue
                if successor not in index:
                    open_(successor)
                    break
                if successor in on_stack:
                    low[key] = min(low[key], index[successor])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[key])
                if low[key] == index[key]:
                    component: list[Key] = []
                    while True:
                        successor = stack.pop()
                        on_stack.discard(successor)
                        component.append(successor)
                        if successor == key:
                            break
                    self._solve(component)

    def _solve(self, component: list[Key]) -> None:
        for key in component:
            self._summaries[key] = Summary()
        single = len(component) == 1 and component[0] not in self._successors(component[0])
        for _ in range(len(component) * 4 + 60):
            changed = False
            for key in component:
                changed = self._update(key) or changed
            if not changed or single:
                break

    def _update(self, key: Key) -> bool:
        summary = self._summaries[key]
        facts = self._facts.get(key)
        if facts is None:
            return False
        changed = False

        def way(path: tuple[str, ...]) -> tuple[str, ...]:
            # Paths leave out the wrapper of a decorator: a > b, not a > wrapper > a > b.
            if facts.wrapped and facts.wrapped in path[:2]:
                return path[path.index(facts.wrapped) :]
            return (facts.wrapped or key.name, *path)

        for event in facts.events:
            for throw, path in self.contribution(event):
                onward = self.passes(throw, event.guards)
                if onward is not None:
                    changed = _keep(summary.throws, onward, way(path)) or changed
            for blind, path in () if swallowed(event.guards) else self.blinds(event):
                changed = _keep(summary.blinds, blind, way(path)) or changed
            for call in self.parameter_calls(event):
                if call not in summary.parameters:
                    summary.parameters[call] = None
                    changed = True
            for write, path in () if facts.redirects else self.writes(event):
                changed = _keep(summary.writes, write, way(path)) or changed
        for write in facts.writes:
            changed = _keep(summary.writes, write, (key.name,)) or changed
        for throw in facts.returned:
            changed = _keep(summary.returned, throw, (key.name,)) or changed
        for target in facts.returned_from:
            inner = self._summaries.get(target)
            if inner is not None:
                for throw, path in list(inner.returned.items()):
                    changed = _keep(summary.returned, throw, (key.name, *path)) or changed
        return changed

    def contribution(self, event: Event) -> Iterator[tuple[Throw, tuple[str, ...]]]:
        """Yield the errors of an event, before its guards apply, with the path of functions to each."""
        if event.throw is not None:
            yield event.throw, ((event.throw.known_by,) if event.throw.known_by else ())
        for target in event.targets:
            summary = self._summaries.get(target) or (self.summary(target) if target not in self._facts else Summary())
            if event.kind == "result":
                yield from list(summary.returned.items())
                continue
            yield from list(summary.throws.items())
            for call in list(summary.parameters):
                for bound in bound_to(event.bindings, call.parameter):
                    if isinstance(bound, Key):
                        inner = self._summaries.get(bound)
                        for throw, path in list(inner.throws.items()) if inner is not None else ():
                            onward = self.passes(throw, call.guards)
                            if onward is not None:
                                yield onward, (target.name, *path)

    def blinds(self, event: Event) -> Iterator[tuple[Blind, tuple[str, ...]]]:
        """Yield the unresolved calls that an event leads to."""
        if event.blind is not None:
            yield event.blind, ()
        for target in event.targets:
            summary = self._summaries.get(target)
            if summary is None:
                continue
            yield from list(summary.blinds.items())
            for call in list(summary.parameters):
                for bound in bound_to(event.bindings, call.parameter):
                    if isinstance(bound, Key):
                        inner = self._summaries.get(bound)
                        for blind, path in list(inner.blinds.items()) if inner is not None else ():
                            yield blind, (target.name, *path)
                if call.use == "hands on" or call.parameter[:3] != target[:3]:
                    continue
                if not bound_to(event.bindings, call.parameter):
                    yield handed_over(call.parameter, event.span), ()

    def writes(self, event: Event) -> Iterator[tuple[Write, tuple[str, ...]]]:
        """Yield the writes to standard output that an event leads to."""
        if redirected(event.guards):
            return
        for target in event.targets:
            summary = self._summaries.get(target)
            if summary is None:
                continue
            yield from list(summary.writes.items())
            for call in list(summary.parameters):
                for bound in bound_to(event.bindings, call.parameter):
                    inner = self._summaries.get(bound) if isinstance(bound, Key) else None
                    for write, path in list(inner.writes.items()) if inner and not redirected(call.guards) else ():
                        yield write, (target.name, *path)

    def parameter_calls(self, event: Event) -> Iterator[ParameterCall]:
        """Yield the uses of parameters that an event leads to."""
        if event.kind == "parameter" and event.parameter is not None:
            yield ParameterCall(event.parameter, event.guards[:8], event.use)
        for target in event.targets:
            summary = self._summaries.get(target)
            if summary is None or event.kind == "result":
                continue
            for call in list(summary.parameters):
                values = bound_to(event.bindings, call.parameter)
                for value in values:
                    if isinstance(value, Parameter):
                        yield ParameterCall(value, (*call.guards, *event.guards)[:8], call.use)
                if not values and call.parameter[:3] != target[:3]:
                    yield ParameterCall(call.parameter, (*call.guards, *event.guards)[:8], call.use)


def _named_by(guards: tuple[Guard, ...]) -> list[Event]:
    """Return the errors that guards name, each with the guards outside its own."""
    return [
        Event("guard", entry.throw.span, guards[at + 1 :], entry.throw)
        for at, guard in enumerate(guards)
        for entry in guard.becomes
    ]


def _keep(paths: dict[K, tuple[str, ...]], item: K, path: tuple[str, ...]) -> bool:
    known = paths.get(item)
    if known is None:
        if len(paths) >= MAX_SUMMARY:
            return False
        paths[item] = path
        return True
    if len(path) < len(known):
        paths[item] = path
        return True
    return False


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


__all__ = ["CallGraph"]
