"""What a handler can throw through the functions that it calls: summaries of functions, computed on demand.

A function's facts are the errors that it raises, the functions that it calls, and for each the `except` clauses round
it. Its summary is what leaves it: its own errors, and those of the functions that it calls, minus what the clauses
catch. Functions that call each other in a circle are computed together, until nothing changes. Calls that cannot be
resolved are kept as such: what they raise is unknown, and never guessed.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, TypeVar

from mcpcore_lint.effects import (
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
    key_of,
)
from mcpcore_lint.facts.extract import Extractor
from mcpcore_lint.facts.guards import yield_guards
from mcpcore_lint.model import (
    FunctionNode,
    Reach,
    ReachedThrow,
    Site,
    Symbol,
    UnresolvedCall,
)
from mcpcore_lint.resolve import evaluate
from mcpcore_lint.syntax import all_parameters, own_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpcore_lint.diagnostics import Span
    from mcpcore_lint.hierarchy import Hierarchy
    from mcpcore_lint.model import Handler
    from mcpcore_lint.project import Module, Project


K = TypeVar("K")
_GROUP_TYPES: Final = frozenset({"builtins.ExceptionGroup", "builtins.BaseExceptionGroup"})
_BROAD: Final = frozenset({"builtins.Exception", "builtins.BaseException"})
MAX_SUMMARY: Final = 2_000
"""More errors than this out of one function are no longer told apart."""


class CallGraph:
    """Summaries for one project, each computed once."""

    def __init__(self, project: Project, hierarchy: Hierarchy, raises: Mapping[str, tuple[str, ...]]) -> None:
        self.project = project
        self.hierarchy = hierarchy
        self.raises = raises
        self._facts: dict[Key, Facts | None] = {}
        self._summaries: dict[Key, Summary] = {}

    # -- what is asked -------------------------------------------------------------------------------------------

    def reach(self, handler: Handler, skip: ast.AST | None = None) -> Reach:
        """What leaves a handler through the functions that it calls.

        Args:
            handler: The handler.
            skip: The decorator that makes it a tool, which is not followed.
        """
        del skip
        receiver = handler.module.classes.get(handler.owner) if handler.owner is not None else None
        key = key_of(handler.node, handler.module, receiver, raw=True)
        facts = self.facts(key)
        if facts is None:
            return Reach()
        outer = self._around(handler, key)
        collector = _Collector(self, handler, outer)
        collector.events(facts, (), key, set())
        return collector.result()

    def _around(self, handler: Handler, key: Key) -> list[tuple[tuple[Guard, ...], ...]]:
        """For each decorator of the handler that is the project's own, the guards at its calls of the handler."""
        found: list[tuple[tuple[Guard, ...], ...]] = []
        if isinstance(handler.node, ast.Lambda):
            return found
        for wrapper, parameter in self._wrappers(handler.node, handler.module):
            summary = self.summary(wrapper)
            chains = tuple(each.guards for each in summary.parameters if each.parameter == parameter)
            found.append(chains or ((),))
        if guards := self._decorator_guards(handler.node, handler.module):
            found.append((guards,))
        del key
        return found

    def wrapper_summaries(self, handler: Handler) -> list[Summary]:
        """The summaries of the functions that the handler's decorators put round it."""
        if isinstance(handler.node, ast.Lambda):
            return []
        return [self.summary(wrapper) for wrapper, _ in self._wrappers(handler.node, handler.module)]

    def passes(self, throw: Throw, guards: Iterable[Guard]) -> Throw | None:
        """An error after the guards round it, innermost first; None where they catch it for certain."""
        current = throw
        for guard in guards:
            if guard.group:
                current = current._replace(grouped=True)
                continue
            if guard.converts:
                if self.hierarchy.is_kind_of(current.type_name, "mcpcore.CodedError") is not True:
                    current = current._replace(
                        type_name="mcpcore.CodedError", form="other", codes=None, reasons=(), grouped=False
                    )
                continue
            if guard.only or guard.but:
                kinds = [each and self.hierarchy.is_kind_of(current.type_name, each) for each in guard.only]
                if guard.only and all(each is False for each in kinds):
                    return None
                if any(each and self.hierarchy.is_kind_of(current.type_name, each) for each in guard.but):
                    return None
                continue
            for clause in guard.clauses:
                if not self._catches(clause, current):
                    continue
                onward = next(
                    (p for p in (self.passes(current, inner) for inner in clause.passes) if p is not None), None
                )
                if onward is None:
                    return None
                current = onward
                break
        return current

    def _catches(self, clause: Clause, throw: Throw) -> bool:
        for each in clause.types:
            if each is None:
                continue
            if throw.grouped and not clause.star:
                if each in _GROUP_TYPES or each in _BROAD:
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
        found = self._find(key)
        if found is not None:
            node, module = found
            if key.raw:
                self._facts[key] = self._extract(node, module, key)
            else:
                facts = self._decorated(node, module, key) or self._extract(node, module, key)
                if guards := self._decorator_guards(node, module):
                    for event in facts.events:
                        event.guards = (*event.guards, *guards)
                self._facts[key] = facts
        return self._facts[key]

    def _find(self, key: Key) -> tuple[FunctionNode, Module] | None:
        module = self.project.module_at(key.path)
        if module is None:
            return None
        node = module.function_at(key.line, key.column)
        return (node, module) if node is not None else None

    def _extract(self, node: FunctionNode, module: Module, key: Key) -> Facts:
        receiver = self.project.class_at(key.receiver) if key.receiver else None
        return Extractor(self, node, module, receiver, key.given).extract(key)

    def _decorated(self, node: FunctionNode, module: Module, key: Key) -> Facts | None:
        """The facts of calling a function that the project's own decorators wrap."""
        if isinstance(node, ast.Lambda) or not node.decorator_list:
            return None
        wrappers = self._wrappers(node, module)
        if not wrappers:
            return None
        span = module.source.span(node)
        inner = key._replace(raw=True)
        facts = Facts(key, wrapped=key.name)
        raw = self._extract(node, module, inner)
        facts.returned, facts.returned_from = raw.returned, raw.returned_from
        # The nearest decorator is the last one written; each further one wraps what came before.
        current: Key = inner
        for number, (wrapper, parameter) in enumerate(reversed(wrappers)):
            event = Event("call", span, (), targets=(wrapper,), bindings=((parameter, current),))
            if number == len(wrappers) - 1:
                facts.events.append(event)
                break
            step = key._replace(name=f"{key.name}@{number}", raw=True)
            self._facts[step] = Facts(step, [event], wrapped=key.name)
            current = step
        return facts

    def _decorator_guards(self, node: FunctionNode, module: Module) -> tuple[Guard, ...]:
        """The context managers that stand round a function as its decorators, the nearest first."""
        if isinstance(node, ast.Lambda) or not node.decorator_list:
            return ()
        found: list[Guard] = []
        outside = module.scope_of(node).parent or module.scope
        for decorator in reversed(node.decorator_list):
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            value = evaluate(target, outside)
            if not isinstance(value, Symbol):
                continue
            if value.name == "mcpcore.guard":
                found.append(Guard(converts=True))
            elif isinstance(decorator, ast.Call) and isinstance(value.definition, ast.FunctionDef):
                owner = self.project.module_defining(value.definition)
                if owner is not None and value.definition is not node:
                    found.extend(yield_guards(self, value.definition, owner))
        return tuple(found)

    def _wrappers(self, node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> list[tuple[Key, Parameter]]:
        """For each decorator of the project's own: the function that takes the place, and the parameter it calls."""
        found: list[tuple[Key, Parameter]] = []
        scope = module.scope_of(node)
        outside = scope.parent or module.scope
        for decorator in node.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            value = evaluate(target, outside)
            if not isinstance(value, Symbol) or not isinstance(value.definition, ast.FunctionDef):
                continue
            owner = self.project.module_defining(value.definition)
            if owner is None:
                continue
            maker: ast.FunctionDef = value.definition
            if isinstance(decorator, ast.Call):
                inner = _returned_function(maker)
                # `def retry(fn=None, *, times=3)` used both ways has its wrapper at the first level.
                maker = inner if isinstance(inner, ast.FunctionDef) and _returned_function(inner) is not None else maker
            wrapper = _returned_function(maker)
            parameters = all_parameters(maker.args)
            if wrapper is None or not parameters:
                continue
            first = parameters[0].arg
            found.append(
                (
                    key_of(wrapper, owner, None),
                    Parameter(owner.path, maker.lineno, maker.col_offset, first),
                )
            )
        return found

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
            for blind, path in self.blinds(event):
                changed = _keep(summary.blinds, blind, way(path)) or changed
            for each in self.parameter_calls(event):
                if each not in summary.parameters:
                    summary.parameters[each] = None
                    changed = True
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
                for bound in _bound(event.bindings, call.parameter):
                    if isinstance(bound, Key):
                        inner = self._summaries.get(bound)
                        for throw, path in list(inner.throws.items()) if inner is not None else ():
                            onward = self.passes(throw, call.guards)
                            if onward is not None:
                                yield onward, (_shown(target), *path)

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
                for bound in _bound(event.bindings, call.parameter):
                    if isinstance(bound, Key):
                        inner = self._summaries.get(bound)
                        for blind, path in list(inner.blinds.items()) if inner is not None else ():
                            yield blind, (_shown(target), *path)
                if not _bound(event.bindings, call.parameter) and call.parameter[:3] == target[:3]:
                    blind = Blind(
                        call.parameter.name,
                        call.parameter.path,
                        event.span,
                        takes_context=False,
                        project=True,
                        why="a function that is handed over",
                    )
                    yield blind, ()

    def parameter_calls(self, event: Event) -> Iterator[ParameterCall]:
        """The calls of parameters that an event leads to."""
        if event.kind == "parameter" and event.parameter is not None:
            yield ParameterCall(event.parameter, event.guards[:8])
        for target in event.targets:
            summary = self._summaries.get(target)
            if summary is None or event.kind == "result":
                continue
            for call in list(summary.parameters):
                bound = _bound(event.bindings, call.parameter)
                for each in bound:
                    if isinstance(each, Parameter):
                        yield ParameterCall(each, (*call.guards, *event.guards)[:8])
                if not bound and call.parameter[:3] != target[:3]:
                    yield ParameterCall(call.parameter, (*call.guards, *event.guards)[:8])


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


def _bound(bindings: tuple[tuple[Parameter, Key | Parameter], ...], parameter: Parameter) -> list[Key | Parameter]:
    return [value for name, value in bindings if name == parameter]


def _shown(key: Key) -> str:
    return key.name


def _returned_function(node: ast.FunctionDef) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The nested function that a decorator returns."""
    nested = {each.name: each for each in own_nodes(node) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    for each in own_nodes(node):
        if isinstance(each, ast.Return) and isinstance(each.value, ast.Name) and each.value.id in nested:
            return nested[each.value.id]
    return None


class _Collector:
    """Gathers what leaves a handler, by the call in the handler that leads there."""

    def __init__(self, graph: CallGraph, handler: Handler, outer: list[tuple[tuple[Guard, ...], ...]]) -> None:
        self.graph = graph
        self.handler = handler
        self.outer = outer
        self.own: dict[tuple[object, ...], ReachedThrow] = {}
        self.throws: dict[tuple[object, ...], ReachedThrow] = {}
        self.unresolved: dict[Blind, UnresolvedCall] = {}
        start, end = handler.node.lineno, handler.node.end_lineno or handler.node.lineno
        self.lines = range(start, end + 1)

    def events(self, facts: Facts, guards: tuple[Guard, ...], key: Key, seen: set[Key]) -> None:
        """Take the events of the handler, and those of the functions nested in it where they are called."""
        seen = {*seen, key}
        name = self.handler.qualname
        trail = (name,) if key.name == name else (name, key.name)
        for event in facts.events:
            nested = [each for each in event.targets if event.kind != "result" and self._inside(each)]
            others = tuple(each for each in event.targets if each not in nested)
            for each in nested:
                for target in self._with_bindings(each, event):
                    inner = self.graph.facts(target)
                    self.graph.summary(target)
                    if inner is not None and target not in seen:
                        self.events(inner, (*event.guards, *guards), target, seen)
            if event.targets and not others:
                continue
            partial = (
                event
                if not nested
                else Event(
                    event.kind,
                    event.span,
                    event.guards,
                    event.throw,
                    event.blind,
                    others,
                    event.bindings,
                    event.parameter,
                )
            )
            for target in others:
                self.graph.summary(target)
            for _, bound in partial.bindings:
                if isinstance(bound, Key):
                    self.graph.summary(bound)
            for throw, path in self.graph.contribution(partial):
                self._throw(throw, (*trail, *path), partial, guards)
            for blind, path in self.graph.blinds(partial):
                if blind not in self.unresolved:
                    self.unresolved[blind] = UnresolvedCall(
                        blind.name, (*trail, *path), partial.span, Site(blind.path, blind.span), blind.takes_context,
                        blind.project, blind.why,
                    )  # fmt: skip

    def _with_bindings(self, key: Key, event: Event) -> list[Key]:
        found = [key]
        summary = self.graph.summary(key)
        for call in summary.parameters:
            found.extend(
                each for each in _bound(event.bindings, call.parameter) if isinstance(each, Key) and self._inside(each)
            )
        return found

    def _inside(self, key: Key) -> bool:
        return key.path == self.handler.module.path and key.line in self.lines and key.name != self.handler.qualname

    def _throw(self, throw: Throw, path: tuple[str, ...], event: Event, guards: tuple[Guard, ...]) -> None:
        onward = self.graph.passes(throw, (*event.guards, *guards))
        for chains in reversed(self.outer):
            if onward is None:
                return
            onward = next((p for p in (self.graph.passes(onward, chain) for chain in chains) if p is not None), None)
        if onward is None:
            return
        own = event.throw is not None and not event.throw.known_by
        reached = ReachedThrow(
            onward.type_name, onward.form, onward.codes, onward.reasons, path, event.span,
            Site(throw.path, throw.span), "knowledge" if throw.known_by else "project",
        )  # fmt: skip
        identity = (onward.type_name, onward.codes, onward.reasons, throw.path, throw.span, event.span)
        table = self.own if own else self.throws
        known = table.get(identity)
        if known is None or len(path) < len(known.path):
            table[identity] = reached

    def result(self) -> Reach:
        """All of it, in the order of the calls in the handler."""

        def order(each: ReachedThrow) -> tuple[Span, tuple[str, ...], str, Span]:
            return (each.call, each.path, each.site.path, each.site.span)

        for summary in self.graph.wrapper_summaries(self.handler):
            for throw, path in summary.throws.items():
                span = self.handler.span
                reached = ReachedThrow(
                    throw.type_name, throw.form, throw.codes, throw.reasons, (self.handler.qualname, *path), span,
                    Site(throw.path, throw.span), "knowledge" if throw.known_by else "project",
                )  # fmt: skip
                self.throws.setdefault((throw, span), reached)
        return Reach(
            tuple(sorted(self.throws.values(), key=order)),
            tuple(sorted(self.unresolved.values(), key=lambda each: (each.call, each.path))),
            tuple(sorted(self.own.values(), key=order)),
        )


def explain(reach: Reach, name: str, *, unknown: bool = True) -> str:
    """What a tool can throw, for people: each error with the way to it, and what could not be seen."""
    lines = [f"{name} can throw:"]
    for each in (*reach.own, *reach.throws):
        label = ", ".join(each.codes) if each.codes else each.type_name.removeprefix("builtins.")
        if each.codes is None:
            label = f"{each.type_name.removeprefix('mcpcore.')} with a code that is not known"
        reason = ""
        if each.reasons is None:
            reason = " (a reason that is not known)"
        elif each.reasons:
            reason = f" ({', '.join(each.reasons)})"
        way = " > ".join(each.path)
        at = f"{each.site.path}:{each.site.span.line}:{each.site.span.column}"
        lines.append(f"  {label}{reason}\n      {way}\n      at {at}")
    if len(lines) == 1:
        lines.append("  nothing that can be seen")
    if unknown:
        blind = [each for each in reach.unresolved if each.project or each.takes_context]
        if blind:
            lines.append("Not seen, since it cannot be told what is called:")
            for each_call in blind:
                at = f"{each_call.site.path}:{each_call.site.span.line}:{each_call.site.span.column}"
                lines.append(f"  {each_call.name} at {at}: {each_call.why}\n      {' > '.join(each_call.path)}")
    return "\n".join(lines)


__all__ = ["CallGraph", "explain"]
