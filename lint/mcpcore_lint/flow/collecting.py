"""Collects everything that leaves a handler, grouped by the call in the handler that leads there."""

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
    """Collects the errors, unresolved calls and writes that leave one handler."""

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
        """Add the events of the handler, and those of its nested functions where it calls them.

        Args:
            facts: The facts of the function.
            guards: The guards around its call in the handler.
            key: The function.
            seen: The functions that led here, so that recursion ends.
            bound: The values of its parameters.
        """
        seen = {*seen, key}
        name = self.handler.qualname
        trail = (name,) if key.name == name else (name, key.name)
        for original in facts.events:
            event = self._resolved(original, bound, trail) if original.kind == "parameter" else original
            if event.kind == "throw":
                for throw, path in self.graph.contribution(event):
                    self._throw(throw, (*trail, *path), event, guards)
                continue
            nested = [target for target in event.targets if event.kind != "result" and self._inside(target)]
            others = tuple(target for target in event.targets if target not in nested)
            for function in nested:
                for target in self._with_bindings(function, event):
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
            if swallowed((*event.guards, *guards)) or any(
                all(map(swallowed, chains)) for chains in self.outer if chains
            ):
                continue
            for blind, path in self.graph.blinds(partial):
                self._blind(blind, (*trail, *path), partial.span)
            for call in self.graph.parameter_calls(partial):
                if call.use != "hands on" and partial.kind != "parameter":
                    self._blind(handed_over(call.parameter, partial.span), trail, partial.span)

    def writes(self, facts: Facts) -> None:
        """Add the writes to standard output, in the handler and behind its calls."""
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

    def _resolved(self, event: Event, bound: Bindings, trail: tuple[str, ...]) -> Event:
        """Return the use of a parameter as a call of the value that is bound to it."""
        if event.parameter is None:
            return event
        values = bound_to(bound, event.parameter)
        keys = tuple(value for value in values if isinstance(value, Key) and not self._inside(value))
        if not values and event.use != "hands on":
            self._blind(handed_over(event.parameter, event.span), trail, event.span)
        return Event("call", event.span, event.guards, targets=keys)

    def _blind(self, blind: Blind, path: tuple[str, ...], call: Span) -> None:
        if blind not in self.unresolved:
            self.unresolved[blind] = UnresolvedCall(
                blind.name, path, call, Site(blind.path, blind.span), blind.takes_context, blind.project, blind.why
            )

    def _with_bindings(self, key: Key, event: Event) -> list[Key]:
        keys = [key]
        summary = self.graph.summary(key)
        for call in summary.parameters:
            keys.extend(
                value
                for value in bound_to(event.bindings, call.parameter)
                if isinstance(value, Key) and self._inside(value)
            )
        return keys

    def _inside(self, key: Key) -> bool:
        return key.path == self.handler.module.path and key.line in self.lines and key.name != self.handler.qualname

    def _throw(self, throw: Throw, path: tuple[str, ...], event: Event, guards: tuple[Guard, ...]) -> None:
        around = (*event.guards, *guards)
        onward = self.graph.passes(throw, around) if around else throw
        for chains in reversed(self.outer):
            if onward is None:
                return
            onward = next(
                (passed for passed in (self.graph.passes(onward, chain) for chain in chains) if passed is not None),
                None,
            )
        if onward is None:
            return
        if not onward.sure:
            name = ", ".join(onward.codes or ()) or onward.type_name.removeprefix("builtins.")
            why = "it is caught on the way, and the condition for raising it again cannot be read"
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
        """Return everything collected, in the order of the calls in the handler.

        Args:
            wrapped: The summaries of the wrappers that the handler's decorators add.
        """

        def order(throw: ReachedThrow) -> tuple[Span, tuple[str, ...], str, Span]:
            return (throw.call, throw.path, throw.site.path, throw.site.span)

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
            tuple(sorted(self.unresolved.values(), key=lambda call: (call.call, call.path))),
            tuple(sorted(self.own.values(), key=order)),
            tuple(sorted(self.written.values(), key=lambda write: (write.site.path, write.site.span))),
        )


__all__ = ["Collector"]
