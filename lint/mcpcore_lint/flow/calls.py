"""What a handler can throw through the functions that it calls: summaries of functions, computed on demand.

A function's facts are the errors that it raises, the functions that it calls, and for each the `except` clauses round
it. Its summary is what leaves it: its own errors, and those of the functions that it calls, minus what the clauses
catch. Functions that call each other in a circle are computed together, until nothing changes. Calls that cannot be
resolved are kept as such: what they raise is unknown, and never guessed.
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
    ParameterUse,
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
from mcpcore_lint.flow.wrappers import Wrapper, wrappers_of
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
MAX_TOLD: Final = 200
"""More functions than this on the way from a handler are not told of to people."""
MAX_SUMMARY: Final = 2_000
"""More errors than this out of one function are no longer told apart."""


class Round(NamedTuple):
    """What the decorators of a function put round it."""

    wrappers: list[Wrapper]
    """What takes its place, for each decorator of the project's own."""
    guards: tuple[Guard, ...]
    """The context managers that stand round it as decorators, the nearest first."""


class CallGraph:
    """Summaries for one project, each computed once."""

    def __init__(self, project: Project, hierarchy: Hierarchy, raises: Mapping[str, tuple[str, ...]]) -> None:
        self.program = Program(project, hierarchy, raises)
        self.hierarchy = hierarchy
        self._facts: dict[Key, Facts | None] = {}
        self._summaries: dict[Key, Summary] = {}

    # -- what is asked -------------------------------------------------------------------------------------------

    def reach(self, handler: Handler, through: Iterable[tuple[Handler, ast.Call]] = ()) -> Reach:
        """What leaves a handler through the functions that it calls.

        Args:
            handler: The handler.
            through: The functions that hand calls to it, the outermost first, each with the call: what they catch
                does not leave.
        """
        receiver = handler.module.classes.get(handler.owner) if handler.owner is not None else None
        key = key_of(handler.node, handler.module, receiver, raw=True)
        facts = self.facts(key)
        if facts is None:
            return Reach()
        outer = [chains for each, call in through for chains in self._round_call(each, call)]
        round_it = self._round(handler.node, handler.module)
        outer += self._around(round_it)
        collector = Collector(self, handler, outer)
        collector.events(facts, (), key, set())
        collector.writes(facts)
        collector.events(Facts(key, _named_by(round_it.guards)), (), key, set())
        return collector.result([self.summary(wrapper.key) for wrapper in round_it.wrappers])

    def called(self, handler: Handler, call: ast.Call) -> list[FunctionNode]:
        """The functions of the project that a call in a handler may run."""
        receiver = handler.module.classes.get(handler.owner) if handler.owner is not None else None
        keys = Callees(self.program, handler.node, handler.module, receiver).targets(call)[0]
        return [found[0] for key in keys if (found := self.program.find(key)) is not None]

    def _round_call(self, handler: Handler, call: ast.Call) -> list[tuple[tuple[Guard, ...], ...]]:
        """What stands round a call in a function, and round that function."""
        receiver = handler.module.classes.get(handler.owner) if handler.owner is not None else None
        here = Guards(Callees(self.program, handler.node, handler.module, receiver)).of(call)
        return [*self._around(self._round(handler.node, handler.module)), (here,)]

    def _around(self, round_it: Round) -> list[tuple[tuple[Guard, ...], ...]]:
        """For each decorator of a handler that is the project's own, the guards at its calls of the handler."""
        found: list[tuple[tuple[Guard, ...], ...]] = []
        for wrapper in round_it.wrappers:
            summary = self.summary(wrapper.key)
            chains = tuple(each.guards for each in summary.parameters if each.parameter == wrapper.parameter)
            found.append(chains or ((),))
        if round_it.guards:
            found.append((round_it.guards,))
        return found

    def wrappers(self, handler: Handler) -> list[Handler]:
        """What is read of the functions that the handler's decorators put round it."""
        found = [self.program.find(wrapper.key) for wrapper in self._round(handler.node, handler.module).wrappers]
        return [HandlerBuilder.of(*each, self.hierarchy).model for each in found if each is not None]

    def on_the_way(self, handler: Handler) -> list[Handler]:
        """What is read of the functions that a handler reaches, the nearest first; as many as people will read of."""
        receiver = handler.module.classes.get(handler.owner) if handler.owner is not None else None
        start = key_of(handler.node, handler.module, receiver, raw=True)
        found: dict[FunctionNode, Handler] = {handler.node: handler}
        waiting, seen = [start], {start}
        while waiting and len(found) <= MAX_TOLD:
            for key in self._successors(waiting.pop(0)):
                located = self.program.find(key)
                if key in seen or located is None:
                    continue
                seen.add(key)
                waiting.append(key)
                inside = handler.node.lineno < located[0].lineno <= (handler.node.end_lineno or 0)
                if not (inside and located[1] is handler.module):  # the handler's own clauses have those of its own
                    found.setdefault(located[0], HandlerBuilder.of(*located, self.hierarchy).model)
        return list(found.values())[1:]

    def passes(self, throw: Throw, guards: Iterable[Guard]) -> Throw | None:
        """An error after the guards round it, innermost first; None where they catch it for certain."""
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
        """An error that goes on by one of several ways, for certain if it does so by one; None where none leads on."""
        found = [each for each in (self.passes(throw, way) for way in ways) if each is not None]
        return next((each for each in found if each.sure), next(iter(found), None))

    def _converted(self, throw: Throw, guard: Guard) -> Throw:
        """What `mcpcore.guard` makes of an error: the most specific class decides."""
        best: tuple[str, Becomes] | None = None
        plain = throw._replace(type_name=_CODED_ERROR, form="other", codes=None, reasons=(), grouped=False)
        for each in guard.becomes:
            for name in each.types:
                fits = self.hierarchy.is_kind_of(throw.type_name, name) if name is not None else None
                if fits is None or throw.grouped:
                    return plain
                if fits and (best is None or self.hierarchy.is_kind_of(name or "", best[0])):
                    best = (name or "", each)
        if best is None or (best[1].throw.codes is None and not best[1].throw.reasons):
            return plain
        return best[1].throw._replace(is_named_only=False, sure=throw.sure)

    def _catches(self, clause: Clause, throw: Throw) -> bool:
        for each in clause.types:
            if each is None:
                continue
            if throw.grouped and not clause.star:
                if each in _GROUP_TYPES or each in BROAD:
                    return True
                continue
            if self.hierarchy.is_kind_of(throw.type_name, each):
                return True
        return False

    # -- facts ---------------------------------------------------------------------------------------------------

    def facts(self, key: Key) -> Facts | None:
        """What a function does; None where it cannot be found any more."""
        if key in self._facts:
            return self._facts[key]
        self._facts[key] = None
        found = self.program.find(key)
        if found is not None:
            node, module = found
            if key.raw:
                self._facts[key] = self._extract(node, module, key)
            else:
                round_it = self._round(node, module)
                if round_it.wrappers:
                    facts = self._decorated(node, module, key, round_it.wrappers)
                else:
                    facts = self._extract(node, module, key)
                for event in facts.events if round_it.guards else ():
                    event.guards = (*event.guards, *round_it.guards)
                facts.events += _named_by(round_it.guards)
                self._facts[key] = facts
        return self._facts[key]

    def _extract(self, node: FunctionNode, module: Module, key: Key) -> Facts:
        receiver = self.program.project.class_at(key.receiver) if key.receiver else None
        return Extractor(self.program, node, module, receiver, key.passed).extract(key)

    def _decorated(self, node: FunctionNode, module: Module, key: Key, wrappers: list[Wrapper]) -> Facts:
        """The facts of calling a function that the project's own decorators wrap."""
        span = module.source.span(node)
        inner = key._replace(raw=True)
        facts = Facts(key, wrapped=key.name)
        raw = self._extract(node, module, inner)
        facts.returned, facts.returned_from = raw.returned, raw.returned_from
        # The nearest decorator is the last one written; each further one wraps what came before.
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

    def _round(self, node: FunctionNode, module: Module) -> Round:
        """What the decorators of a function put round it."""
        wrappers: list[Wrapper] = []
        guards: list[Guard] = []
        if isinstance(node, ast.Lambda) or not node.decorator_list:
            return Round(wrappers, ())
        outside = module.scope_of(node).parent or module.scope
        for decorator in node.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            if call is not None and _is_guard_of_context(call.func, outside):
                guards[:0] = [guard_of_context(call, outside)]
                continue
            # The last decorator written is the nearest to the function: its guards come first.
            if made := guards_made(decorator, outside):
                guards[:0] = made
                continue
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
        return Round(wrappers, tuple(guards))

    # -- summaries -----------------------------------------------------------------------------------------------

    def summary(self, key: Key) -> Summary:
        """What leaves a function."""
        found = self._summaries.get(key)
        if found is None:
            self._compute(key)
            found = self._summaries[key]
        return found

    def _successors(self, key: Key) -> list[Key]:
        facts = self.facts(key)
        if facts is None:
            return []
        found: dict[Key, None] = {}
        for event in facts.events:
            found.update(dict.fromkeys(event.targets))
            for _, bound in event.bindings:
                if isinstance(bound, Key):
                    found[bound] = None
        found.update(dict.fromkeys(facts.returned_from))
        return list(found)

    def _compute(self, root: Key) -> None:
        """Tarjan's strongly connected components, without recursion; each is solved when it is complete."""
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
            for each in successors:
                if each in self._summaries:
                    continue
                if each not in index:
                    open_(each)
                    break
                if each in on_stack:
                    low[key] = min(low[key], index[each])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[key])
                if low[key] == index[key]:
                    component: list[Key] = []
                    while True:
                        each = stack.pop()
                        on_stack.discard(each)
                        component.append(each)
                        if each == key:
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
            # What a decorator's wrapper passes on is shown without the wrapper: a > b, not a > wrapper > a > b.
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
            for each in self.parameter_calls(event):
                if each not in summary.parameters:
                    summary.parameters[each] = None
                    changed = True
            for write, path in () if facts.redirects else self.writes(event):
                changed = _keep(summary.writes, write, way(path)) or changed
        for write in facts.writes:
            changed = _keep(summary.writes, write, (key.name,)) or changed
        for throw in facts.returned:
            changed = _keep(summary.returned, throw, (key.name,)) or changed
        for each_key in facts.returned_from:
            inner = self._summaries.get(each_key)
            if inner is not None:
                for throw, path in list(inner.returned.items()):
                    changed = _keep(summary.returned, throw, (key.name, *path)) or changed
        return changed

    def contribution(self, event: Event) -> Iterator[tuple[Throw, tuple[str, ...]]]:
        """The errors that an event brings, before the guards round it, with the functions on the way."""
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
                    if isinstance(bound, Throw) and call.use == "raises":
                        onward = self.passes(bound, call.guards)
                        if onward is not None:
                            yield onward, (target.name,)
                    elif isinstance(bound, Key):
                        inner = self._summaries.get(bound)
                        made = inner is not None and (inner.returned if call.use == "raises" else inner.throws)
                        for throw, path in list(made.items()) if made else ():
                            onward = self.passes(throw, call.guards)
                            if onward is not None:
                                yield onward, (target.name, *path)

    def blinds(self, event: Event) -> Iterator[tuple[Blind, tuple[str, ...]]]:
        """The calls that cannot be resolved, behind an event."""
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
                if not any(_tells(each, call.use) for each in bound_to(event.bindings, call.parameter)):
                    yield handed_over(call.parameter, call.use, event.span), ()

    def writes(self, event: Event) -> Iterator[tuple[Write, tuple[str, ...]]]:
        """What writes to standard output behind an event."""
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
        """The calls of parameters that an event leads to."""
        if event.kind == "parameter" and event.parameter is not None:
            yield ParameterCall(event.parameter, event.guards[:8], event.use)
        for target in event.targets:
            summary = self._summaries.get(target)
            if summary is None or event.kind == "result":
                continue
            for call in list(summary.parameters):
                bound = bound_to(event.bindings, call.parameter)
                for each in bound:
                    if isinstance(each, Parameter):
                        yield ParameterCall(each, (*call.guards, *event.guards)[:8], call.use)
                if not bound and call.parameter[:3] != target[:3]:
                    yield ParameterCall(call.parameter, (*call.guards, *event.guards)[:8], call.use)


def _named_by(guards: tuple[Guard, ...]) -> list[Event]:
    """The errors that guards name, each behind the guards that come after its own."""
    return [
        Event("guard", each.throw.span, guards[at + 1 :], each.throw)
        for at, guard in enumerate(guards)
        for each in guard.becomes
    ]


def _keep(found: dict[K, tuple[str, ...]], item: K, path: tuple[str, ...]) -> bool:
    known = found.get(item)
    if known is None:
        if len(found) >= MAX_SUMMARY:
            return False
        found[item] = path
        return True
    if len(path) < len(known):
        found[item] = path
        return True
    return False


def _tells(bound: Key | Parameter | Throw, use: ParameterUse) -> bool:
    """Whether what a parameter is given tells what its use leads to."""
    return not isinstance(bound, Throw) or use == "raises"


def _is_guard_of_context(func: ast.expr, scope: Scope) -> bool:
    """Whether a decorator is `ctx.guard`, of a parameter that is annotated as a `Context`."""
    if not (isinstance(func, ast.Attribute) and func.attr == "guard" and isinstance(func.value, ast.Name)):
        return False
    found = scope.lookup(func.value.id)
    for binding in found[1] if found is not None else ():
        if binding.kind == "parameter" and found is not None:
            symbol = Resolver().annotation_symbol(binding.annotation, found[0].parent or found[0])
            return symbol is not None and symbol.name == "mcpcore.Context"
    return False


__all__ = ["CallGraph"]
