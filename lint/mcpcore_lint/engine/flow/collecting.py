"""Collects everything that leaves a handler, grouped by the call in the handler that leads there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpcore_lint.dataclasses import replace
from mcpcore_lint.engine.flow.effects import CODED, Blind, Effect, Guard, Key, Throw, Write
from mcpcore_lint.model import Handler, Reach, ReachedThrow, ReachedWrite, Site, UnresolvedCall

if TYPE_CHECKING:
    from mcpcore_lint.diagnostics import Span
    from mcpcore_lint.engine.flow.calls import CallGraph


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
