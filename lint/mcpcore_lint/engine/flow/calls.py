"""Computes the errors that a handler can raise through the functions that it calls.

The facts of a function list its effects (errors, writes to standard output, calls that cannot be resolved), the
functions that it calls, and the guards around each. Its summary lists the effects that leave it: its own and those of
the functions that it calls, without those that the guards stop. Summaries are computed on demand. A function that is
called with functions as arguments has facts and a summary for each such call. The engine never guesses the errors of a
call that cannot be resolved.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeVar

from mcpcore_lint.dataclasses import cached_method, replace
from mcpcore_lint.diagnostics import Span
from mcpcore_lint.engine.flow.bodies.builder import HandlerBuilder
from mcpcore_lint.engine.flow.effects import (
    BROAD,
    CODED,
    Becomes,
    Bindings,
    Blind,
    Bound,
    Clause,
    Effect,
    Event,
    Facts,
    Guard,
    Key,
    Parameter,
    Program,
    Summary,
    Throw,
    Write,
    key_of,
    swallowed,
)
from mcpcore_lint.engine.flow.facts.callees import Callees, arguments_for
from mcpcore_lint.engine.flow.facts.extract import Extractor, code_name, labels_of
from mcpcore_lint.engine.flow.facts.guards import Guards, decorations_of
from mcpcore_lint.engine.semantics.evaluate import evaluate
from mcpcore_lint.engine.semantics.hierarchy import Hierarchy
from mcpcore_lint.engine.syntax.module import ClassInfo
from mcpcore_lint.engine.syntax.parse import defaults_of
from mcpcore_lint.engine.syntax.project import Project
from mcpcore_lint.model import FunctionNode, Handler, Reach, ReachedThrow, ReachedWrite, Site, UnresolvedCall, string

K = TypeVar("K")
_GROUP_TYPES: Final = frozenset({"builtins.ExceptionGroup", "builtins.BaseExceptionGroup"})
_CODED_ERROR: Final = "mcpcore.CodedError"
MAX_SHOWN: Final = 200
"""`--explain-calls` reads at most this many functions between a handler and its errors."""
MAX_SUMMARY: Final = 2_000
"""A summary keeps at most this many effects of one function."""
MAX_ROUNDS: Final = 100
"""Functions that call each other recursively are looked at this often."""
MAX_NESTING: Final = 6
"""Functions are passed to functions that are passed to functions at most this deep."""


class CallGraph:
    """Computes and caches the function summaries of one project."""

    def __init__(self, project: Project, hierarchy: Hierarchy, raises: Mapping[str, tuple[str, ...]]) -> None:
        self.program = Program(project, hierarchy, raises)
        self.hierarchy = hierarchy
        self._summaries: dict[Key, Summary] = {}

    # -- queries -------------------------------------------------------------------------------------------------

    def reach(
        self, handler: Handler, through: Iterable[tuple[Handler, ast.Call]] = (), mapping: Guard | None = None
    ) -> Reach:
        """Return everything that leaves a handler: its own errors and those of the functions that it calls.

        Args:
            handler: The handler.
            through: The functions that dispatch to the handler, the outermost first, each with its call. Errors that
                they catch do not leave.
            mapping: The guard that the contract is around the handler.
        """
        # A contract that maps nothing changes no error.
        outer: list[list[tuple[Guard, ...]]] = [[(mapping,)]] if mapping is not None and mapping.becomes else []
        for caller, call in through:
            outer += [self._around(caller), [Guards(self._callees(caller)).of(call)]]
        collector = Collector(self, handler, [*outer, self._around(handler)])
        collector.collect(_raw(handler))
        for entry in mapping.becomes if mapping is not None else ():
            collector.keep(entry.throw, (handler.qualname,), handler.span)
        decorations = decorations_of(handler.node, handler.module, self.program)
        for event in decorations.events:
            if event.effect is not None:
                collector.add(event.effect, (handler.qualname,), event.span, event.guards)
        for wrapper, _ in decorations.wrappers:
            for effect, path in self.summary(wrapper).effects.items():
                if not isinstance(effect, Blind):
                    collector.keep(effect, (handler.qualname, *path), handler.span)
        return collector.result()

    def called(self, handler: Handler, call: ast.Call) -> list[FunctionNode]:
        """Return the functions of the project that a call in a handler may run."""
        keys = self._callees(handler).targets(call)[0]
        return [located[0] for key in keys if (located := self.program.find(key)) is not None]

    def stopped(self, handler: Handler) -> Iterator[tuple[Throw, tuple[str, ...], Span]]:
        """Yield the errors that the guards of a handler stop, each with the path to it and its place in the handler."""
        for event in self.facts(_raw(handler)).events:
            for effect, path in self.leaving(event, _raw(handler)):
                if isinstance(effect, Throw) and not effect.is_named_only and self.passes(effect, event.guards) is None:
                    yield effect, path, event.span

    def wrappers(self, handler: Handler, registration: ast.expr | None = None) -> list[Handler] | None:
        """Return the wrapper functions of the handler's decorators; None if one of them is not followed.

        Args:
            handler: The function.
            registration: The decorator that registers it, which need not be followed.
        """
        decorations = decorations_of(handler.node, handler.module, self.program)
        own = handler.module.source.span(registration) if registration is not None and decorations.events else None
        if any(isinstance(event.effect, Blind) and event.span != own for event in decorations.events):
            return None
        located = [self.program.find(wrapper) for wrapper, _ in decorations.wrappers]
        return [HandlerBuilder.of(*place, self.hierarchy).model for place in located if place is not None]

    def on_the_way(self, handler: Handler) -> list[Handler]:
        """Return the functions that a handler reaches, the nearest first, up to `MAX_SHOWN`."""
        handlers: dict[FunctionNode, Handler] = {handler.node: handler}
        waiting = [_raw(handler)]
        seen = {*waiting}
        while waiting and len(handlers) <= MAX_SHOWN:
            for key in self._successors(waiting.pop(0)):
                located = self.program.find(key)
                if key in seen or located is None:
                    continue
                seen.add(key)
                waiting.append(key)
                # The handler's model already has the clauses of its nested functions.
                if not handler.contains(Site(key.path, located[1].source.span(located[0]))):
                    handlers.setdefault(located[0], HandlerBuilder.of(*located, self.hierarchy).model)
        return list(handlers.values())[1:]

    def _callees(self, handler: Handler) -> Callees:
        return Callees(self.program, handler.node, handler.module, _receiver(handler))

    def _around(self, handler: Handler) -> list[tuple[Guard, ...]]:
        """Return the guards around each call of a handler in its decorators; no guards if none calls it."""
        if not decorations_of(handler.node, handler.module, self.program):
            return [()]
        raw = _raw(handler)
        return [*self._guards_between(raw._replace(raw=False), raw, set())] or [()]

    def _guards_between(self, key: Key, goal: Key, seen: set[Key]) -> Iterator[tuple[Guard, ...]]:
        """Yield the guards on each path from a function to one that is passed to it."""
        seen.add(key)
        for event in self.facts(key).events:
            for target in event.targets:
                if target == goal:
                    yield event.guards
                elif target.bound and target not in seen:
                    yield from ((*inner, *event.guards) for inner in self._guards_between(target, goal, seen))

    # -- guards ----------------------------------------------------------------------------------------------------

    def passes(self, effect: Effect, guards: tuple[Guard, ...]) -> Effect | None:
        """Return an effect as it leaves the guards around it, innermost first; None if they definitely stop it."""
        if isinstance(effect, Blind):
            return None if swallowed(guards) else effect
        if isinstance(effect, Write):
            return None if any(guard.redirects for guard in guards) else effect
        current = effect
        for guard in guards:
            if guard.group:
                current = current._replace(grouped=True)
            elif guard.converts:
                is_coded = self.hierarchy.is_kind_of(current.type_name, _CODED_ERROR) is True
                current = self._recoded(current, guard) if is_coded else self._converted(current, guard)
            elif guard.doubt:
                current = current._replace(sure=False)
            else:
                clause = next((clause for clause in guard.clauses if self._catches(clause, current)), None)
                onward = self.passes_any(current, clause.passes) if clause is not None else current
                if not isinstance(onward, Throw):
                    return None
                current = onward
        return current

    def passes_any(self, effect: Effect, paths: Iterable[tuple[Guard, ...]]) -> Effect | None:
        """Return an effect after one of several paths out, preferably a definite one; None if all are closed."""
        passed = [onward for guards in paths if (onward := self.passes(effect, guards)) is not None]
        return min(passed, key=lambda onward: isinstance(onward, Throw) and not onward.sure, default=None)

    def _converted(self, throw: Throw, guard: Guard) -> Throw:
        """Return the error that `mcpcore.guard` raises instead of another. The most specific class decides."""
        best: tuple[str, Becomes] | None = None
        plain = throw._replace(type_name=_CODED_ERROR, form="other", codes=None, reasons=(), grouped=False)
        for entry in guard.becomes:
            for name in entry.types:
                fits = self.hierarchy.is_kind_of(throw.type_name, name) if name is not None else None
                # A class that is not known may be the one that fits, so the code and the reason are not known either.
                if name is None or fits is None or throw.grouped:
                    return plain
                if fits and (best is None or self.hierarchy.is_kind_of(name, best[0])):
                    best = (name, entry)
        if best is None and guard.keeps:
            return throw
        if best is None or (best[1].throw.codes is None and not best[1].throw.reasons):
            return plain
        return best[1].throw._replace(is_named_only=False, sure=throw.sure)

    def _recoded(self, throw: Throw, guard: Guard) -> Throw:
        """Return the error that a guard raises instead of a coded error; one with a reason stays what it is."""
        for entry in guard.becomes:
            if throw.codes and throw.reasons == () and entry.codes.issuperset(throw.codes):
                return entry.throw._replace(is_named_only=False, sure=throw.sure)
        return throw

    def _catches(self, clause: Clause, throw: Throw) -> bool:
        names = [name for name in clause.types if name is not None]
        if throw.grouped and not clause.star:
            return any(name in _GROUP_TYPES or name in BROAD for name in names)
        return any(self.hierarchy.is_kind_of(throw.type_name, name) for name in names)

    # -- facts ---------------------------------------------------------------------------------------------------

    @cached_method
    def facts(self, key: Key) -> Facts:
        """Return the facts of a function with the functions that are passed to it."""
        facts = self._without_arguments(key._replace(bound=()) if key.bound else key)
        return replace(facts, events=[self._bind(event, key.bound) for event in facts.events])

    @cached_method
    def _without_arguments(self, key: Key) -> Facts:
        """Return the facts of a function, whatever functions are passed to it."""
        located = self.program.find(key)
        if located is None:
            return Facts(key.name, [], [], [])
        node, module = located
        if key.raw:
            receiver = self.program.project.class_at(key.receiver) if key.receiver else None
            return Extractor(self.program, node, module, receiver).extract(key)
        decorations = decorations_of(node, module, self.program)
        target = key._replace(raw=True)
        inner = self._without_arguments(target)
        if not decorations:
            return inner
        # The last decorator in the source is the innermost. Each one above it wraps the result of the previous one.
        for wrapper, parameter in reversed(decorations.wrappers):
            target = wrapper._replace(bound=((parameter, target),))
        call = Event(module.source.span(node), decorations.guards, targets=(target,))
        return Facts(key.name, [call, *decorations.events], inner.returned, inner.returned_from, decorated=True)

    def _bind(self, event: Event, bound: Bindings) -> Event:
        """Return an event of a function to whose parameters some functions are bound."""
        if event.parameter is not None:
            functions = tuple(value for name, value in bound if name == event.parameter and isinstance(value, Key))
            return Event(event.span, event.guards, targets=functions) if functions else event
        if not bound and not any(target.bound for target in event.targets):
            return event
        return replace(event, targets=tuple(self._called(target, bound) for target in event.targets))

    def _called(self, key: Key, bound: Bindings) -> Key:
        """Return a function as it is called where some functions are bound to parameters."""
        values: dict[tuple[Parameter, Bound], None] = {}
        for parameter, value in key.bound:
            if isinstance(value, Parameter):
                values.update(((parameter, outer), None) for name, outer in bound if name == value)
            else:
                values[parameter, self._called(value, bound)] = None
        # A nested function uses the parameters of the functions around it.
        for parameter, value in bound:
            if isinstance(value, Key) and self._inside(key, parameter):
                values[parameter, value] = None
        called = key._replace(bound=tuple(values))
        return called if _nesting(called) <= MAX_NESTING else key._replace(bound=())

    def _inside(self, key: Key, parameter: Parameter) -> bool:
        located = self.program.find(parameter) if key.path == parameter.path and key[:3] != parameter[:3] else None
        return located is not None and parameter.line <= key.line <= (located[0].end_lineno or 0)

    # -- summaries -----------------------------------------------------------------------------------------------

    def summary(self, key: Key) -> Summary:
        """Return the effects that leave a function, and the errors that it returns."""
        if key not in self._summaries:
            self._compute(key)
        return self._summaries[key]

    def _successors(self, key: Key) -> list[Key]:
        facts = self.facts(key)
        return [*dict.fromkeys([target for event in facts.events for target in event.targets] + facts.returned_from)]

    def _compute(self, root: Key) -> None:
        """Compute the summary of a function, after those of the functions that it calls.

        Functions that call each other recursively are computed again until nothing changes.
        """
        order: list[Key] = []
        callers: dict[Key, list[Key]] = {root: []}
        # Without recursion, as functions may call each other deeper than Python's stack is.
        work = [(root, iter(self._successors(root)))]
        while work:
            key, successors = work[-1]
            for successor in successors:
                if successor in self._summaries:
                    continue
                if successor in callers:
                    callers[successor].append(key)
                    continue
                callers[successor] = [key]
                work.append((successor, iter(self._successors(successor))))
                break
            else:
                order.append(key)
                work.pop()
        # All of them, so that a recursive call reads what is known of its function so far.
        self._summaries.update((key, Summary()) for key in order)
        outdated = set(order)
        for _ in range(MAX_ROUNDS):
            for key in order if outdated else ():
                if key in outdated:
                    outdated.discard(key)
                    if self._update(key):
                        outdated.update(callers[key])

    def _update(self, key: Key) -> bool:
        """Compute the summary of a function from those of the functions that it calls; return whether it changed."""
        summary, facts = self._summaries[key], self.facts(key)
        changed = False
        for event in facts.events:
            for effect, path in self.leaving(event, key):
                onward = self.passes(effect, event.guards)
                if onward is not None:
                    # Paths leave out the wrapper of a decorator: a > b, not a > wrapper > a > b.
                    inside = facts.decorated and facts.name in path
                    way = path[path.index(facts.name) :] if inside else (facts.name, *path)
                    changed = _keep(summary.effects, onward, way) or changed
        for effect in facts.returned:
            changed = _keep(summary.returned, effect, (facts.name,)) or changed
        for target in facts.returned_from:
            for effect, path in list(self.summary(target).returned.items()):
                changed = _keep(summary.returned, effect, (facts.name, *path)) or changed
        return changed

    def leaving(self, event: Event, key: Key) -> Iterator[tuple[Effect, tuple[str, ...]]]:
        """Yield the effects of an event of a function, before its guards apply, with the path of functions to each."""
        effect = event.effect
        if effect is not None:
            yield effect, ((effect.known_by,) if isinstance(effect, Throw) and effect.known_by else ())
        for target in event.targets:
            summary = self.summary(target)
            # A copy, since a function that calls itself adds to the summary that is read.
            for left, path in list(summary.returned.items() if event.results else summary.effects.items()):
                parameters = (left.reason_from, left.code_from, left.context_from) if isinstance(left, Throw) else ()
                is_open = any(parameter is not None and parameter[:3] == target[:3] for parameter in parameters)
                yield self._with_arguments(left, key, event.span) if is_open else left, path  # type: ignore[arg-type]

    def _with_arguments(self, throw: Throw, key: Key, span: Span) -> Throw:
        """Return an error that depends on a parameter as it leaves the call at a place of a function."""
        of_reason, of_code, of_context = throw.reason_from, throw.code_from, throw.context_from
        callee = of_reason or of_code or of_context or key
        located, target = self.program.find(key), self.program.find(callee)
        if located is None or target is None or located[0] is target[0]:
            return throw
        builder = HandlerBuilder.of(*located, self.hierarchy)
        places = ((call, _raising(call, builder.body.parents)) for call in builder.body.calls)
        call = next((call for call, *nodes in places if span in map(builder.module.source.span, (call, *nodes))), None)
        if call is None or any(isinstance(argument, ast.Starred) for argument in call.args):
            return throw  # a wrapper passes everything on
        callees = self._callees(builder.model)
        scope = builder.body.scope_at(call)
        is_direct = any(run[:3] == callee[:3] for run in callees.targets(call)[0])
        arguments = {**defaults_of(target[0].args), **arguments_for(*target, call)} if is_direct else {}
        for parameter, kind, label in ((of_reason, "reason", string), (of_code, "code", code_name)):
            argument = arguments.get(parameter.name) if parameter is not None else None
            labels = labels_of(evaluate(argument, scope), scope, label) if argument is not None else (None, None)
            if parameter is not None:
                throw = throw._replace(**{f"{kind}s": labels[0], f"{kind}_from": labels[1]})  # type: ignore[arg-type]
        argument = arguments.get(of_context.name) if of_context is not None else None
        if argument is not None:
            further = (
                None if builder.contexts.is_context(argument, scope) else callees.parameter(argument) or of_context
            )
            throw = throw._replace(context_from=further)
        return throw


def _raising(call: ast.Call, parents: dict[ast.AST, ast.AST]) -> ast.AST:
    """Return the `raise` of the result of a call; else the call."""
    parent = parents.get(call, call)
    while isinstance(parent, ast.Await):
        parent = parents.get(parent, call)
    return parent if isinstance(parent, ast.Raise) else call


def _receiver(handler: Handler) -> ClassInfo | None:
    return handler.module.classes.get(handler.owner) if handler.owner is not None else None


def _raw(handler: Handler) -> Key:
    """Return the key of a handler without its decorators."""
    return key_of(handler.node, handler.module, _receiver(handler), raw=True)


def _nesting(key: Key) -> int:
    return 1 + max((_nesting(value) for _, value in key.bound if isinstance(value, Key)), default=0)


def _keep(paths: dict[K, tuple[str, ...]], item: K, path: tuple[str, ...]) -> bool:
    """Keep the shortest path of an item; return whether something changed."""
    known = paths.get(item)
    if len(paths) >= MAX_SUMMARY if known is None else len(path) >= len(known):
        return False
    paths[item] = path
    return True


class Collector:
    """Collects the errors, unresolved calls and writes that leave one handler."""

    def __init__(self, graph: CallGraph, handler: Handler, outer: list[list[tuple[Guard, ...]]]) -> None:
        """Prepare to read one handler.

        Args:
            graph: The call graph.
            handler: The handler.
            outer: For each decorator and caller, the outermost first, the guards around each call of the handler.
        """
        self.graph = graph
        self.handler = handler
        self.outer = [paths for paths in reversed(outer) if paths != [()]]
        self.own: dict[tuple[object, ...], ReachedThrow] = {}
        self.throws: dict[tuple[object, ...], ReachedThrow] = {}
        self.unresolved: dict[Blind, UnresolvedCall] = {}
        self.written: dict[Write, ReachedWrite] = {}

    def collect(self, key: Key, guards: tuple[Guard, ...] = (), seen: frozenset[Key] = frozenset()) -> None:
        """Add the effects of the handler, and those of its nested functions where it calls them.

        Args:
            key: The function.
            guards: The guards around its call in the handler.
            seen: The functions that led here, so that recursion ends.
        """
        name = self.handler.qualname
        trail = (name,) if key.name == name else (name, key.name)
        for event in self.graph.facts(key).events:
            around = (*event.guards, *guards)
            nested = () if event.results else tuple(target for target in event.targets if self._inside(target))
            for target in nested:
                if target not in seen:
                    self.collect(target, around, seen | {key})
            if nested:
                event = replace(event, targets=tuple(target for target in event.targets if target not in nested))  # noqa: PLW2901
            for effect, path in self.graph.leaving(event, key):
                own = isinstance(effect, Throw) and effect is event.effect and not path and not effect.is_named_only
                self.add(effect, (*trail, *path), event.span, around, own=own)

    def _inside(self, key: Key) -> bool:
        node = self.handler.node
        inside = key.path == self.handler.module.path and node.lineno <= key.line <= (node.end_lineno or node.lineno)
        return inside and key.name != self.handler.qualname

    def add(
        self, effect: Effect, path: tuple[str, ...], call: Span, guards: tuple[Guard, ...], *, own: bool = False
    ) -> None:
        """Add an effect, if it leaves the guards around it in the handler and those outside."""
        onward = self.graph.passes(effect, guards)
        for paths in self.outer:
            onward = self.graph.passes_any(onward, paths) if onward is not None else None
        if onward is not None:
            self.keep(onward, path, call, own=own)

    def keep(self, effect: Effect, path: tuple[str, ...], call: Span, *, own: bool = False) -> None:
        """Record an effect that leaves, with the shortest path to it."""
        site = Site(effect.path, effect.span)
        if isinstance(effect, Throw) and (not effect.sure or effect.context_from is not None):
            name = ", ".join(effect.codes or ()) or effect.type_name.removeprefix("builtins.")
            why = "it is caught on the way, and the condition for raising it again cannot be read"
            if effect.context_from is not None:
                name, why = f"{effect.context_from.name}.fail", "the raised error is created elsewhere"
            project = effect.form in CODED
            effect = Blind(name, effect.path, effect.span, takes_context=False, project=project, why=why)
        if isinstance(effect, Throw):
            identity = (effect.type_name, effect.codes, effect.reasons, effect.path, effect.span, call)
            table = self.own if own else self.throws
            known = table.get(identity)
            rank = (effect.is_named_only, effect.data_keys is None, len(path))
            if known is None or rank < (known.is_named_only, known.data_keys is None, len(known.path)):
                table[identity] = ReachedThrow(
                    effect.type_name, effect.form, effect.codes, effect.reasons, path, call, site,
                    "settings" if effect.known_by else "project", effect.is_named_only, effect.data_keys,
                )  # fmt: skip
        elif isinstance(effect, Blind):
            if effect not in self.unresolved:
                self.unresolved[effect] = UnresolvedCall(
                    effect.name, path, call, site, effect.takes_context, effect.project, effect.why
                )
        elif effect not in self.written or len(path) < len(self.written[effect].path):
            self.written[effect] = ReachedWrite(effect.label, effect.kind, effect.function, path, call, site)

    def result(self) -> Reach:
        """Return everything collected, in the order of the calls in the handler."""

        def order(throw: ReachedThrow) -> tuple[Span, tuple[str, ...], str, Span]:
            return (throw.call, throw.path, throw.site.path, throw.site.span)

        return Reach(
            tuple(sorted(self.throws.values(), key=order)),
            tuple(sorted(self.unresolved.values(), key=lambda call: (call.call, call.path))),
            tuple(sorted(self.own.values(), key=order)),
            tuple(sorted(self.written.values(), key=lambda write: (write.site.path, write.site.span))),
        )
