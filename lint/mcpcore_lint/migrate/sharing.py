"""Defines a failure mode once, next to its exception class, if tools of several files declare it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.migrate.contracts import Names, Writer
from mcpcore_lint.migrate.sentences import blank

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.migrate.classes import NewClasses
    from mcpcore_lint.migrate.reached import Mapped


class Declares(Protocol):
    """A tool that declares exceptions of other functions."""

    declared: list[Mapped]


def share(tools: Mapping[Module, Sequence[Declares]], classes: NewClasses, files: Iterable[str]) -> dict[str, str]:
    """The constants by the name of the class; the edits that define them go to those of the new classes."""
    uses: dict[str, dict[Module, list[Mapped]]] = {}
    for module, declaring in tools.items():
        for item in (item for tool in declaring for item in tool.declared):
            uses.setdefault(item.name, {}).setdefault(module, []).append(item)
    constants: dict[str, str] = {}
    taken: set[str] = set()
    for name, by_module in uses.items():
        items = [item for group in by_module.values() for item in group]
        home, entry = items[0].home, items[0].entry
        same = {(item.entry.reason, item.entry.code, blank(item.entry.when), item.entry.recovery) for item in items}
        spelled = all(
            item.imported is not None for module, group in by_module.items() if module is not home for item in group
        )
        if home is None or len(by_module) < 2 or len(same) > 1 or not spelled or home.absolute not in files:
            continue
        constant = entry.reason.upper()
        bound = {
            other
            for module in (home, *by_module)
            for scope in (module.scope, *module.functions.values())
            for other in scope.bindings
        }
        info = home.project.class_named(name)
        line = info.node.end_lineno or 0 if info is not None else 0
        if constant in bound | taken or line >= len(home.source.line_starts):
            continue
        taken.add(constant)
        constants[name] = constant
        names = classes.names.setdefault(home, Names(home))
        short = name.rpartition(".")[2]
        mode = entry._replace(mapped=f".on({short}, message=str)")
        text, newline = Writer(home, names).constant(constant, mode), home.source.newline
        inserts = classes.inserts.setdefault(home, [])
        if info is not None:
            place = home.source.line_starts[line]
            inserts.append(Edit(place, place, f"{newline * 2}{text}"))
        else:
            inserts.append(Edit(inserts[0].start, inserts[0].start, f"{text}{newline * 2}"))
    return constants
