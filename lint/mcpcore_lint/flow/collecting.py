"""What leaves a handler, gathered by the call in the handler that leads there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.flow.effects import (
    CODED,
    Bindings,
    Blind,
    Event,
    Facts,
    Guard,
    Key,
    Summary,
    Throw,
    Write,
    bound_to,
    handed_over,
    swallowed,
)
from mcpcore_lint.model import Reach, ReachedThrow, ReachedWrite, Site, UnresolvedCall

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Span
    from mcpcore_lint.flow.calls import CallGraph
    from mcpcore_lint.model import Handler


class Collector:
    """Gathers what leaves a handler, by the call in the handler that leads there."""

    def __init__(self, graph: CallGraph, handler: Handler, outer: list[tuple[tuple[Guard, ...], ...]]) -> None:
        self.graph = graph
        self.handler = handler
        self.outer = outer
        self.own: dict[tuple[object, ...], ReachedThrow] = {}
        self.throws: dict[tuple[object, ...], ReachedThrow] = {}
        self.unresolved: dict[Blind, UnresolvedCall] = {}
        self.written: dict[Write, ReachedWrite] = {}
        start, end = handler.node.lineno, handler.node.end_lineno or handler.node.lineno
        self.lines = range(start, end + 1)

    def events(self, facts: Facts, guards: tuple[Guard, ...], key: Key, seen: set[Key], bound: Bindings = ()) -> None:
        """Take the events of the handler, and those of the functions nested in it where they are called.

        Args:
            facts: What the function does.
            guards: What stands round its call in the handler.
            key: The function.
            seen: The functions on the way.
            bound: What its parameters are given.
        """
        seen = {*seen, key}
        name = self.handler.qualname
        trail = (name,) if key.name == name else (name, key.name)
        for each_event in facts.events:
            event = self._given(each_event, bound, trail) if each_event.kind == "parameter" else each_event
            if event.kind == "throw":
                for throw, path in self.graph.contribution(event):
                    self._throw(throw, (*trail, *path), event, guards)
                continue
            nested = [each for each in event.targets if event.kind != "result" and self._inside(each)]
            others = tuple(each for each in event.targets if each not in nested)
            for each in nested:
                for target in self._with_bindings(each, event):
                    inner = self.graph.facts(target)
                    self.graph.summary(target)
                    if inner is not None and target not in seen:
                        self.events(inner, (*event.guards, *guards), target, seen, event.bindings)
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
                    event.use,
                )
            )
            for target in others:
                self.graph.summary(target)
            for _, value in partial.bindings:
                if isinstance(value, Key):
                    self.graph.summary(value)
            for throw, path in self.graph.contribution(partial):
                self._throw(throw, (*trail, *path), partial, guards)
            if swallowed((*event.guards, *guards)) or any(all(map(swallowed, each)) for each in self.outer if each):
                continue
            for blind, path in self.graph.blinds(partial):
                self._blind(blind, (*trail, *path), partial.span)
            for call in self.graph.parameter_calls(partial):
                if call.use != "hands on" and partial.kind != "parameter":
                    self._blind(handed_over(call.parameter, call.use, partial.span), trail, partial.span)

    def writes(self, facts: Facts) -> None:
        """Take what writes to standard output, in the handler and behind its calls."""
        name = self.handler.qualname
        for write in facts.writes:
            self._write(write, (name,), write.span)
        for event in () if facts.redirects else facts.events:
            for write, path in self.graph.writes(event):
                self._write(write, (name, *path), event.span)

    def _write(self, write: Write, path: tuple[str, ...], call: Span) -> None:
        known = self.written.get(write)
        if known is None or len(path) < len(known.path):
            site = Site(write.path, write.span)
            self.written[write] = ReachedWrite(write.label, write.kind, write.function, path, call, site)

    def _given(self, event: Event, bound: Bindings, trail: tuple[str, ...]) -> Event:
        """What is done with a parameter, as the call of what it is given."""
        if event.parameter is None:
            return event
        values = bound_to(bound, event.parameter)
        keys = tuple(each for each in values if isinstance(each, Key) and not self._inside(each))
        for each in values:
            if isinstance(each, Throw) and event.use == "raises":
                return Event("throw", event.span, event.guards, throw=each)
        if not values and event.use != "hands on":
            self._blind(handed_over(event.parameter, event.use, event.span), trail, event.span)
        return Event("result" if event.use == "raises" else "call", event.span, event.guards, targets=keys)

    def _blind(self, blind: Blind, path: tuple[str, ...], call: Span) -> None:
        if blind not in self.unresolved:
            self.unresolved[blind] = UnresolvedCall(
                blind.name, path, call, Site(blind.path, blind.span), blind.takes_context, blind.project, blind.why
            )

    def _with_bindings(self, key: Key, event: Event) -> list[Key]:
        found = [key]
        summary = self.graph.summary(key)
        for call in summary.parameters:
            found.extend(
                each
                for each in bound_to(event.bindings, call.parameter)
                if isinstance(each, Key) and self._inside(each)
            )
        return found

    def _inside(self, key: Key) -> bool:
        return key.path == self.handler.module.path and key.line in self.lines and key.name != self.handler.qualname

    def _throw(self, throw: Throw, path: tuple[str, ...], event: Event, guards: tuple[Guard, ...]) -> None:
        around = (*event.guards, *guards)
        onward = self.graph.passes(throw, around) if around else throw
        for chains in reversed(self.outer):
            if onward is None:
                return
            onward = next((p for p in (self.graph.passes(onward, chain) for chain in chains) if p is not None), None)
        if onward is None:
            return
        if not onward.sure:
            name = ", ".join(onward.codes or ()) or onward.type_name.removeprefix("builtins.")
            why = "it is caught on the way, and whether it is raised again depends on what cannot be read"
            project = onward.form in CODED
            blind = Blind(name, throw.path, throw.span, takes_context=False, project=project, why=why)
            self._blind(blind, path, event.span)
            return
        own = event.kind == "throw" and event.throw is not None and not event.throw.known_by
        identity = (onward.type_name, onward.codes, onward.reasons, onward.path, onward.span, event.span)
        table = self.own if own else self.throws
        known = table.get(identity)
        rank = (onward.is_named_only, onward.data_keys is None, len(path))
        if known is None or rank < (known.is_named_only, known.data_keys is None, len(known.path)):
            table[identity] = ReachedThrow(
                onward.type_name, onward.form, onward.codes, onward.reasons, path, event.span,
                Site(onward.path, onward.span), "knowledge" if onward.known_by else "project", onward.is_named_only,
                onward.data_keys,
            )  # fmt: skip

    def result(self, wrapped: list[Summary]) -> Reach:
        """All of it, in the order of the calls in the handler.

        Args:
            wrapped: What leaves the functions that the handler's decorators put round it.
        """

        def order(each: ReachedThrow) -> tuple[Span, tuple[str, ...], str, Span]:
            return (each.call, each.path, each.site.path, each.site.span)

        for summary in wrapped:
            for throw, path in summary.throws.items():
                span = self.handler.span
                reached = ReachedThrow(
                    throw.type_name, throw.form, throw.codes, throw.reasons, (self.handler.qualname, *path), span,
                    Site(throw.path, throw.span), "knowledge" if throw.known_by else "project", throw.is_named_only,
                    throw.data_keys,
                )  # fmt: skip
                self.throws.setdefault((throw, span), reached)
            for write, path in summary.writes.items():
                self._write(write, (self.handler.qualname, *path), self.handler.span)
        return Reach(
            tuple(sorted(self.throws.values(), key=order)),
            tuple(sorted(self.unresolved.values(), key=lambda each: (each.call, each.path))),
            tuple(sorted(self.own.values(), key=order)),
            tuple(sorted(self.written.values(), key=lambda write: (write.site.path, write.site.span))),
        )


__all__ = ["Collector"]
