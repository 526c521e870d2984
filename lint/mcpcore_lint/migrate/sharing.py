"""Defines a failure mode once, next to its exception class, if tools of several files declare it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from mcpcore_lint.diagnostics import Edit
from mcpcore_lint.migrate.constants import joined
from mcpcore_lint.migrate.contracts import Names, Writer
from mcpcore_lint.migrate.sentences import blank

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from mcpcore_lint.engine.syntax.module import Module
    from mcpcore_lint.migrate.reached import Mapped


class Declares(Protocol):
    """A tool that declares exceptions of other functions."""

    declared: list[Mapped]


class Shared(NamedTuple):
    """The failure modes that tools of several files share.

    Attributes:
        constants: Their names, by that of the class.
        inserts: The edits by file that define them.
        names: The imports that these need.
    """

    constants: dict[str, str]
    inserts: dict[Module, list[Edit]]
    names: dict[Module, Names]

    def edits(self, module: Module) -> tuple[Edit, ...]:
        """All edits of a file whose tools get no contracts."""
        names = self.names[module]
        return joined([*names.edits(names.spelled), *self.inserts[module]])


def share(tools: Mapping[Module, Sequence[Declares]], files: Container[str]) -> Shared:
    """Define the failure modes that tools of several files declare beside their classes."""
    uses: dict[str, dict[Module, list[Mapped]]] = {}
    for module, declaring in tools.items():
        for item in (item for tool in declaring for item in tool.declared):
            uses.setdefault(item.name, {}).setdefault(module, []).append(item)
    shared = Shared({}, {}, {})
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
        line = info.node.end_lineno or 0 if info is not None else len(home.source.line_starts)
        if constant in bound | taken or line >= len(home.source.line_starts):
            continue
        taken.add(constant)
        shared.constants[name] = constant
        names = shared.names.setdefault(home, Names(home))
        short = name.rpartition(".")[2]
        mode = entry._replace(mapped=f".on({short}, message=str)")
        text, newline = Writer(home, names).constant(constant, mode), home.source.newline
        place = home.source.line_starts[line]
        shared.inserts.setdefault(home, []).append(Edit(place, place, f"{newline * 2}{text}"))
    return shared
